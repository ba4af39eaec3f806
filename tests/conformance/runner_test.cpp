// tests/conformance/runner_test.cpp: the runner counts what passes, fails and is not known.
// A tiny folder in the format of the cases, written here, so that the test needs no data.
// SPDX-License-Identifier: Apache-2.0
#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>
#include <tenon/io/npy.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace {

namespace fs = std::filesystem;
using tenon_test::has;

/// A folder that is gone at the end of its scope.
struct scratch_folder : tenon_test::scratch_file {
  using scratch_file::scratch_file;
  ~scratch_folder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
};

/// [1, 2, 3] times itself, which should be `expected`, as a case of `operation`.
template <class T>
void write_case(const fs::path& folder, const std::string& operation, std::initializer_list<T> expected) {
  fs::create_directories(folder);
  tenon::io::write_npy(folder / "x.npy", tenon::tensor<T, tenon::rank<1>>({3}, {T(1), T(2), T(3)}));
  tenon::io::write_npy(folder / "y.npy", tenon::tensor<T, tenon::rank<1>>({3}, expected));
  const auto described = [](const std::string& name) {
    return R"({"name": ")" + name + R"(", "file": ")" + name + R"(.npy", "dtype": ")" + tenon::dtype_name<T>() +
           R"(", "shape": [3]})";
  };
  std::ofstream(folder / "case.json") << R"({"op": ")" << operation << R"(", "domain": "ai.onnx", "opset": 14, )"
                                      << R"("attributes": {}, "inputs": [)" << described("x") << ", " << described("x")
                                      << R"(], "outputs": [)" << described("y") << "]}";
}

void write_cases(const fs::path& folder) {
  write_case(folder / "good", "Mul", {1.0f, 4.0f, 9.0f});
  write_case(folder / "wrong", "Mul", {1.0f, 4.1f, 9.0f});
  write_case(folder / "strange", "Frobnicate", {1.0f, 4.0f, 9.0f});
  std::ofstream(folder / "cases.json") << R"({"tolerance": {"float32": {"rtol": 1e-3, "atol": 1e-7}}, "cases": [
      {"name": "good", "op": "Mul", "family": "pointwise"},
      {"name": "wrong", "op": "Mul", "family": "pointwise"},
      {"name": "strange", "op": "Frobnicate", "family": "other"}]})";
}

struct outcome {
  int exit_code;
  std::string text;
};

outcome run_program(const std::string& arguments) {
  std::FILE* pipe = popen((std::string(TENON_CONFORMANCE) + " " + arguments + " 2>&1").c_str(), "r");
  REQUIRE(pipe != nullptr);
  std::string text;
  std::array<char, 256> part{};
  while (std::fgets(part.data(), static_cast<int>(part.size()), pipe) != nullptr) text += part.data();
  const int status = pclose(pipe);
  return {WIFEXITED(status) ? WEXITSTATUS(status) : -1, text};
}

}  // namespace

TEST_CASE("the runner counts cases that pass, fail and are not known", "[conformance]") {
  const scratch_folder folder("conformance");
  write_cases(folder.path);
  std::vector<std::string> devices{"host"};
  if (TENON_EMULATED_CASES) devices.push_back("emulated");
  for (const std::string& device : devices) {
    const outcome all_cases = run_program(folder.path.string() + " --device " + device);
    CHECK(all_cases.exit_code == 1);
    CHECK(all_cases.text ==
          "wrong (Mul): output 0: element 1 is 4.000000, expected 4.100000 (extents [3])\n"
          "operations not known: Frobnicate\n"
          "1 passed, 1 failed, 1 skipped\n");
  }
}

TEST_CASE("the runner selects by operation and family", "[conformance]") {
  const scratch_folder folder("conformance");
  write_cases(folder.path);
  CHECK(has(run_program(folder.path.string() + " --op Mul").text, "1 passed, 1 failed, 0 skipped\n"));
  const outcome other = run_program(folder.path.string() + " --family other");
  CHECK(other.exit_code == 0);
  CHECK(has(other.text, "0 passed, 0 failed, 1 skipped\n"));
}

TEST_CASE("a case that cannot be read has failed", "[conformance]") {
  const scratch_folder folder("conformance");
  write_cases(folder.path);
  fs::resize_file(folder.path / "good" / "x.npy", 64);
  CHECK(has(run_program(folder.path.string()).text, "good (Mul): read_npy: "));
  fs::remove(folder.path / "good" / "case.json");
  CHECK(has(run_program(folder.path.string()).text, "0 passed, 2 failed, 1 skipped\n"));
}

TEMPLATE_TEST_CASE("the runner knows operations of every type of numbers", "[conformance]", double, tenon::half,
                   std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t, std::uint16_t, std::uint32_t,
                   std::uint64_t) {
  const scratch_folder folder("conformance");
  const std::initializer_list<TestType> squares{TestType(1), TestType(4), TestType(9)};
  write_case(folder.path / "product", "Mul", squares);
  std::ofstream(folder.path / "cases.json") << R"({"tolerance": {}, "cases": [
      {"name": "product", "op": "Mul", "family": "pointwise"}]})";
  CHECK(run_program(folder.path.string()).text == "1 passed, 0 failed, 0 skipped\n");
}

TEST_CASE("the runner refuses a command line without sense", "[conformance]") {
  CHECK(run_program("").exit_code == 2);
  CHECK(run_program("/nowhere/at/all").exit_code == 2);
  CHECK(run_program("/nowhere --device abacus").exit_code == 2);
  CHECK(run_program("/nowhere --strange").exit_code == 2);
}
