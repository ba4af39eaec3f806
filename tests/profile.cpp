// tests/profile.cpp: what a profile notes of the statements of its scope.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/profile.hpp>
#include <tenon/tenon.hpp>

#include <sstream>
#include <thread>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::counting;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a profile has a row for each kernel of each statement", "[profile]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(30, 50));
  tenon::tensor<float, rank<2>, TestType> result({30, 50});
  tenon::profile profile(nullptr);
  for (int i = 0; i < 3; ++i) result = x * 2 + x;
  result = tenon::softmax(x, axis<-1>);
  result = x - tenon::mean(x, axis<0>);
  const auto& rows = profile.rows();
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].statement == "float32 [30, 50] = add(multiply(x, c), x)");
  CHECK(rows[0].kernel == "pointwise");
  CHECK(rows[0].launches == 3);
  CHECK(rows[0].bytes == 3 * 12000);
  CHECK(rows[1].kernel == "rows");
  CHECK(rows[1].launches == 1);
  CHECK(rows[1].bytes == 12000);
  CHECK(rows[2].statement == "float32 [1, 50] = mean(x)");
  CHECK(rows[2].bytes == 6200);
  CHECK(rows[3].bytes == 12200);
  for (const auto& row : rows) {
    CHECK(row.seconds > 0);
    CHECK(row.seconds < 100);
    CHECK(row.bytes_per_second() == static_cast<double>(row.bytes) / row.seconds);
    CHECK(row.fraction_of_copy() == row.bytes_per_second() / row.clock->copy_rate());
  }
  result = x * 2 + x;
  CHECK(profile.rows()[0].launches == 4);
}

TEMPLATE_LIST_TEST_CASE("results are the same in a profile", "[profile]", tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<1>(8), 1);
  tenon::tensor<float, rank<1>, TestType> alone({8}), profiled({8});
  alone = x * 2 + 1;
  {
    tenon::profile profile(nullptr);
    profiled = x * 2 + 1;
    profiled = profiled * 1;
  }
  CHECK(tenon_test::numbers_of(alone) == tenon_test::numbers_of(profiled));
}

TEST_CASE("a profile prints a table at its end, to where it is told", "[profile]") {
  const auto x = counting<float>(rank<1>(20));
  tenon::tensor<float, rank<1>> y({20});
  std::ostringstream out;
  {
    tenon::profile profile(&out);
    y = x * 2;
    CHECK(out.str().empty());
  }
  CHECK(out.str().find("launches       mean      total      bytes     GB/s  of copy  statement\n") !=
        std::string::npos);
  CHECK(out.str().find("  pointwise            1 ") != std::string::npos);
  CHECK(out.str().find(" 160 bytes ") != std::string::npos);
  CHECK(out.str().find("%  float32 [20] = multiply(x, c)\n") != std::string::npos);
}

TEST_CASE("an outer profile sees what an inner one sees, a later one nothing of it", "[profile]") {
  const auto x = counting<float>(rank<1>(20));
  tenon::tensor<float, rank<1>> y({20});
  tenon::profile outer(nullptr);
  y = x * 2;
  {
    tenon::profile inner(nullptr);
    y = x * 2;
    y = x + 1;
    CHECK(inner.rows().size() == 2);
    CHECK(inner.rows()[0].launches == 1);
  }
  y = x + 1;
  REQUIRE(outer.rows().size() == 2);
  CHECK(outer.rows()[0].launches == 2);
  CHECK(outer.rows()[1].launches == 2);
  tenon::profile later(nullptr);
  CHECK(later.rows().empty());
}

TEST_CASE("a profile belongs to its thread", "[profile]") {
  tenon::profile here(nullptr);
  std::size_t seen = 0;
  std::thread([&] {
    const auto x = counting<float>(rank<1>(20));
    tenon::tensor<float, rank<1>> y({20});
    y = x + 1;
    tenon::profile there(nullptr);
    y = x * 2;
    seen = there.rows().size();
  }).join();
  CHECK(seen == 1);
  CHECK(here.rows().empty());
}

TEST_CASE("what is explained in a profile is not launched", "[profile]") {
  const auto x = counting<float, tenon::emulated>(rank<1>(20));
  tenon::profile profile(nullptr);
  CHECK(tenon::explain(x * 2).find("launches pointwise") != std::string::npos);
  CHECK(profile.rows().empty());
}
