// tests/host/fold.cpp: folding in a fixed order with small errors.
// The cascade is compared with its definition, sums with exact ones.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/fold.hpp>
#include <tenon/tenon.hpp>

#include <string>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/random.hpp"
#include "support/threads.hpp"

using tenon::rank;

namespace {

/// Writes down in which order it combines.
struct noting_monoid {
  template <class State>
  static State identity() {
    return {};
  }
  static std::string combine(const std::string& left, const std::string& right) {
    return left.empty() ? right : right.empty() ? left : "(" + left + right + ")";
  }
};

}  // namespace

TEST_CASE("a cascade combines as a balanced tree, in order", "[fold]") {
  tenon::cascade<noting_monoid, std::string> partial;
  CHECK(partial.total().empty());
  for (const char* each : {"a", "b", "c", "d", "e", "f", "g"}) partial.push(each);
  CHECK(partial.total() == "(((ab)(cd))((ef)g))");
}

TEST_CASE("sums, products and truths of nothing, along each axis", "[fold]") {
  using tenon::axis;
  for (const auto& extents :
       {rank<3>(0, 4, 1), rank<3>(0, 4, 9), rank<3>(3, 0, 5), rank<3>(3, 4, 0), rank<3>(2, 0, 1)}) {
    const tenon::tensor<float, rank<3>> x(extents);
    CAPTURE(extents.extent(0), extents.extent(1), extents.extent(2));
    const auto all_are = [](const auto& results, double expected) {
      for (const double each : tenon_test::numbers_of(results)) {
        if (each != expected) return false;
      }
      return true;
    };
    CHECK(all_are(tenon::sum(x, axis<0>), 0));
    CHECK(all_are(tenon::sum(x, axis<1>), 0));
    CHECK(all_are(tenon::sum(tenon::transpose(x), axis<1>), 0));
    CHECK(all_are(tenon::prod(tenon::exp(x), axis<2>), 1));
    CHECK(all_are(tenon::all(x > 0, axis<0, 1>), 1));
  }
}

TEST_CASE("the error of a sum hardly grows with its length", "[fold]") {
  for (const tenon::index count : {1000, 100000, 1 << 22}) {
    const auto values = tenon_test::random_values<float>(static_cast<std::size_t>(count), 5, 0, 1);
    double exact = 0;
    for (const float each : values) exact += static_cast<double>(each);
    const auto x = tenon_test::tensor_of<tenon::host>(rank<1>(count), values);
    const double found = static_cast<double>(static_cast<float>(tenon::sum(x)));
    CAPTURE(count);
    CHECK(std::fabs(found - exact) <= 3e-7 * exact);
  }
}

TEST_CASE("full reductions do not depend on threads", "[fold]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(1000, 333), 3, -1.0f, 1.0f));
  CHECK(tenon_test::is_same_on_any_threads([&] { return static_cast<float>(tenon::sum(x)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return static_cast<float>(tenon::variance(x)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return static_cast<float>(tenon::sum(tenon::transpose(x) * 2)); }));
}
