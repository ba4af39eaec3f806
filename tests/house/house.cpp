// tests/house/house.cpp: the tree keeps the rules of docs/house.md.
// First each rule on a made-up house that breaks it, then all of them on the real one.
// SPDX-License-Identifier: Apache-2.0
#include "house/rules.hpp"
#include "house/tree.hpp"
#include "support/catch.hpp"

namespace {

const std::string spdx = "// SPDX-License-Identifier: Apache-2.0\n";

std::string header_text(const std::string& name, const std::string& floor_line, const std::string& code) {
  return "// tenon/" + name + ": a test.\n// An idea.\n// " + floor_line + "\n" + spdx + "#pragma once\n\n" + code +
         "\n";
}

std::string test_text(const std::string& path) { return "// " + path + ": a test.\n// An idea.\n" + spdx; }

/// A house of three headers without fault.
house::texts small_house() {
  house::texts tree;
  tree["docs/house.md"] =
      "| floor | room | holds |\n|---|---|---|\n| 0 | base | x |\n| 1 | core | x |\n| 1 | device | x |\n"
      "| 2 | evaluate.hpp | x |\n\n| exception | what | why |\n|---|---|---|\n| base/config.hpp | cuda-syntax | x |\n";
  tree["include/tenon/base/config.hpp"] =
      header_text("base/config.hpp", "Floor 0: includes nothing.", "#define TENON_MARK __device__");
  tree["include/tenon/core/view.hpp"] =
      header_text("core/view.hpp", "Floor 1: may include base, core.", "#include <tenon/base/config.hpp>");
  tree["include/tenon/device/simd.hpp"] = header_text("device/simd.hpp", "Floor 1: may include base.", "");
  tree["include/tenon/evaluate.hpp"] =
      header_text("evaluate.hpp", "Floor 2: may include base, core.", "#include <tenon/core/view.hpp>");
  for (const char* test : {"base/config", "core/view", "device/simd", "evaluate"}) {
    const std::string path = std::string("tests/") + test + ".cpp";
    tree[path] = test_text(path);
  }
  return tree;
}

/// What is said when the code of core/view.hpp is `code`.
house::words complaints_about(const std::string& code,
                              const std::string& floor_line = "Floor 1: may include base, core.") {
  house::texts tree = small_house();
  tree["include/tenon/core/view.hpp"] = header_text("core/view.hpp", floor_line, code);
  return house::complaints_of(tree);
}

bool has_one(const house::words& complaints, const std::string& part) {
  return complaints.size() == 1 && complaints[0].find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a house without fault gives no complaint", "[house]") {
  const house::texts tree = small_house();
  for (const auto& complaint : house::complaints_of(tree)) FAIL_CHECK(complaint);
}

TEST_CASE("includes go down or stay in the room", "[house]") {
  const house::words beside = complaints_about("#include <tenon/device/simd.hpp>");
  REQUIRE(beside.size() == 2);
  CHECK(beside[0].find("core is on floor 1 and must not include device on floor 1") != std::string::npos);
  CHECK(beside[1].find("includes device, which line 3 does not name") != std::string::npos);
  CHECK(has_one(complaints_about("#include <tenon/base/gone.hpp>"), "there is no tenon/base/gone.hpp"));
  CHECK(has_one(complaints_about("#include <tenon/base/config.hpp>", "Floor 1: may include core."), "does not name"));
  const house::words up = complaints_about("#include <tenon/evaluate.hpp>");
  REQUIRE(up.size() == 2);
  CHECK(up[0].find("must not include evaluate.hpp on floor 2") != std::string::npos);
  CHECK(up[1].find("a circle: core/view.hpp -> evaluate.hpp -> core/view.hpp") != std::string::npos);
  std::string many;
  for (int i = 0; i < 9; ++i) many += "#include <tenon/base/config.hpp>\n";
  CHECK(has_one(complaints_about(many), "9 includes"));
}

TEST_CASE("names of std come with their header", "[house]") {
  CHECK(has_one(complaints_about("std::vector<int> f(std::vector<int>);"), ":7: std::vector without <vector>"));
  CHECK(complaints_about("#include <vector>\n\nstd::vector<int> f();").empty());
  CHECK(complaints_about("const char* text = \"std::vector\";  // std::map").empty());
  house::texts tree = small_house();
  const std::string includes_view = "#include <tenon/core/view.hpp>\n\nstd::vector<int> f();";
  tree["include/tenon/core/view.hpp"] = header_text("core/view.hpp", "Floor 1: may include base.", "#include <vector>");
  tree["include/tenon/evaluate.hpp"] = header_text("evaluate.hpp", "Floor 2: may include core.", includes_view);
  CHECK(house::complaints_of(tree).empty());
}

TEST_CASE("code keeps to macros, syntax and names", "[house]") {
  CHECK(has_one(complaints_about("#define MINE 1"), "a macro"));
  CHECK(has_one(complaints_about("__global__ void f();"), "CUDA syntax"));
  CHECK(has_one(complaints_about("f<<<1, 2>>>();"), "CUDA syntax"));
  CHECK(has_one(complaints_about("asm(\"nop\");"), "assembly"));
  CHECK(has_one(complaints_about("void f_impl();"), "_impl"));
  CHECK(has_one(complaints_about("int _f;"), "underscore"));
  CHECK(has_one(complaints_about("template <class T1> void f();"), "numbered"));
  CHECK(complaints_about("const char* text = \"threadIdx // <<<\";  // asm, __global__").empty());
}

TEST_CASE("files open as the house wants and have a test", "[house]") {
  CHECK(has_one(complaints_about("", "Floor 2: may include base."), "`// Floor 1: `"));
  CHECK(has_one(complaints_about("", "Floor 1: may include base, device."), "device is not below floor 1"));
  CHECK(has_one(complaints_about("", "Floor 1: may include cellar."), "no room is called cellar"));
  house::texts tree = small_house();
  tree["tests/core/view.cpp"] = "int x;\n";
  CHECK(house::complaints_of(tree).size() == 2);
  tree.erase("tests/core/view.cpp");
  CHECK(has_one(house::complaints_of(tree), "has no tests/core/view.cpp"));
  tree = small_house();
  tree["include/tenon/attic/box.hpp"] = "";
  CHECK(has_one(house::complaints_of(tree), "not in docs/house.md"));
  tree = small_house();
  tree.erase("include/tenon/base/config.hpp");
  CHECK(house::complaints_of(tree).size() == 2);
}

TEST_CASE("files are short and narrow", "[house]") {
  CHECK(has_one(complaints_about(std::string(121, '/')), ":7: more than 120 columns"));
  CHECK(complaints_about("// " + std::string(117, 'x')).empty());
  CHECK(has_one(complaints_about(std::string(395, '\n')), "402 lines"));
  house::texts tree = small_house();
  tree["tests/core/helper.hpp"] = test_text("tests/core/helper.hpp");
  CHECK(has_one(house::complaints_of(tree), "a name without an idea"));
}

TEST_CASE("what a header brings stays within its budget", "[house]") {
  const auto complaints_with = [](const std::string& row) {
    house::texts tree = small_house();
    tree["include/tenon/device/simd.hpp"] =
        header_text("device/simd.hpp", "Floor 1: may include base.", "#include <vector>");
    tree["docs/house.md"] +=
        "\n| header | headers | lines | chain | apart from |\n|---|---|---|---|---|\n" + row + "\n";
    return house::complaints_of(tree);
  };
  CHECK(complaints_with("| evaluate.hpp | 3 | 21 | 3 | device |").empty());
  CHECK(has_one(complaints_with("| evaluate.hpp | 2 | 21 | 3 | |"), "brings 3 headers, at most 2"));
  CHECK(has_one(complaints_with("| evaluate.hpp | 3 | 20 | 3 | |"), "brings 21 lines, at most 20"));
  CHECK(has_one(complaints_with("| evaluate.hpp | 3 | 21 | 2 | |"), "brings 3 headers in a chain, at most 2"));
  CHECK(has_one(complaints_with("| evaluate.hpp | 3 | 21 | 3 | device base |"), "reaches base/config.hpp"));
  CHECK(complaints_with("| device/simd.hpp | 1 | 8 | 1 | `<map>` |").empty());
  CHECK(has_one(complaints_with("| device/simd.hpp | 1 | 8 | 1 | `<vector>` |"), "reaches <vector> by way of device/"));
  CHECK(has_one(complaints_with("| gone.hpp | 3 | 21 | 3 | |"), "budget of a header that is gone: gone.hpp"));
}

TEST_CASE("the house stands", "[house]") {
  const house::texts tree = house::read_tree(TENON_SOURCE_DIR);
  CHECK(tree.size() > 100);
  for (const auto& complaint : house::complaints_of(tree)) FAIL_CHECK(complaint);
}
