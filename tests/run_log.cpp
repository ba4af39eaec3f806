// tests/run_log.cpp: what a log notes of the statements of its scope, and where their operands come from.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/profile.hpp>
#include <tenon/run_log.hpp>
#include <tenon/tenon.hpp>

#include <memory>
#include <sstream>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::counting;

TEMPLATE_LIST_TEST_CASE("a log has each statement, its bytes and its sources", "[run_log]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(30, 50)), y = counting<float, TestType>(rank<2>(50, 4));
  tenon::tensor<float, rank<2>, TestType> a({30, 50}), b({30, 4});
  tenon::run_log seen;
  seen.name(x, "x");
  a = x * 2 + x;
  b = tenon::relu(tenon::matmul(a, y)) + 1;
  a = a + tenon::sum(b, axis<1>);
  const auto& all = seen.statements();
  REQUIRE(all.size() == 3);
  CHECK(all[0].text == "float32 [30, 50] = add(multiply(x, c), x)");
  CHECK(all[0].from.empty());
  CHECK(all[0].names == std::vector<std::string>{"x"});
  CHECK(all[0].bytes_read == 6000);
  CHECK(all[0].bytes_written == 6000);
  CHECK(all[1].from == std::vector<int>{0});
  CHECK(all[1].names.empty());  // y has none
  CHECK(all[2].from == std::vector<int>{0, 1});
  CHECK(seen.launches() >= 3);
  a = a * 1;
  CHECK(seen.statements()[3].from == std::vector<int>{2});  // the last that wrote there
  std::ostringstream out;
  out << seen;
  CHECK(out.str() == seen.text());
  CHECK(seen.text().find("1  pointwise  float32 [30, 50] = add(multiply(x, c), x)  <- x\n2  ") == 0);
  CHECK(seen.text().find("\n4 statements, ") != std::string::npos);
}

TEST_CASE("a drawing has a box for each statement and an ellipse for each name", "[run_log]") {
  const auto x = counting<float, tenon::host>(rank<1>(4));
  tenon::tensor<float, rank<1>> a({4}), b({4});
  tenon::run_log seen;
  seen.name(x, "x");
  a = x + 1;
  b = a * x;
  CHECK(seen.dot() ==
        "digraph run {\n  node [shape=box, fontname=monospace];\n"
        "  s1 [label=\"1 pointwise\\nfloat32 [4] = add(x, c)\"];\n"
        "  \"x\" [shape=ellipse];\n  \"x\" -> s1;\n"
        "  s2 [label=\"2 pointwise\\nfloat32 [4] = multiply(x, x)\"];\n  s1 -> s2;\n  \"x\" -> s2;\n}\n");
}

TEST_CASE("a drawing takes any name", "[run_log]") {
  const auto x = counting<float, tenon::host>(rank<1>(4));
  tenon::tensor<float, rank<1>> a({4});
  tenon::run_log seen;
  seen.name(x, "the \"in\"\nput\\");
  a = x + 1;
  CHECK(seen.dot().find("\"the \\\"in\\\" put\\\\\" [shape=ellipse];\n") != std::string::npos);
}

TEST_CASE("logs and profiles end in any order", "[run_log]") {
  tenon::tensor<float, rank<1>> a({4});
  auto first = std::make_unique<tenon::run_log>();
  auto second = std::make_unique<tenon::profile>();
  auto third = std::make_unique<tenon::run_log>();
  first.reset();
  a = 1.0f;
  second.reset();
  a = a + 1;
  CHECK(third->statements().size() == 2);
  third.reset();
  CHECK(tenon::current_launch_observer() == nullptr);
  a = a + 1;
  CHECK(a(0) == 3);
}

TEST_CASE("logs and profiles within one another see the same", "[run_log]") {
  const auto x = counting<float, tenon::host>(rank<1>(4));
  tenon::tensor<float, rank<1>> a({4});
  tenon::run_log outer;
  a = x + 1;
  {
    tenon::profile timed(nullptr);
    tenon::run_log inner;
    a = a * 2;
    CHECK(inner.statements().size() == 1);
    CHECK(inner.statements()[0].from.empty());
    CHECK(timed.rows().size() == 1);
  }
  CHECK(outer.statements().size() == 2);
  CHECK(outer.statements()[1].from == std::vector<int>{0});
  CHECK(tenon_test::numbers_of(a) == std::vector<double>{2, 4, 6, 8});
}
