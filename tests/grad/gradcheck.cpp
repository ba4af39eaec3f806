// tests/grad/gradcheck.cpp: right gradients pass, wrong ones are named; what is moved is put back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/gradcheck.hpp>

#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace {

/// x squared, whose derivative is wrong above 2.
struct wrong_square {
  double operator()(double x) const { return x * x; }
  static auto gradient(tenon::of_operand<0>, const auto& g, const auto&, const auto& x) {
    return g * tenon::where(x > 2, x, 2 * x);
  }
};

}  // namespace

TEST_CASE("right gradients pass and wrong ones are named", "[gradcheck]") {
  auto x = tenon_test::counting<double>(tenon::rank<2>(2, 2), 0.5);
  auto y = tenon_test::counting<double>(tenon::rank<1>(2), 1);
  const auto before = tenon_test::elements_of(x);
  const auto product = [](const auto& v, const auto& w) { return tenon::square(v) * w; };
  CHECK(tenon::gradcheck(product, x, y) == "");
  const auto wrong = tenon::gradcheck([](const auto& v, const auto& w) { return tenon::map(wrong_square{}, v) + w; },
                                      {.step = 1e-5, .tolerance = 1e-4}, x, y);
  CHECK(wrong.find("operand 0: at 2: ") == 0);
  CHECK(wrong.find("operand 1") == std::string::npos);
  CHECK(tenon_test::elements_of(x) == before);
}

TEST_CASE("gradients of other extents are told", "[gradcheck]") {
  auto x = tenon_test::counting<double>(tenon::rank<1>(3), 0.5);
  CHECK(tenon::difference_from_slopes(x, tenon::constants(tenon::rank<1>(2), 1.0), [] { return 0.0; }) ==
        "extents [2], expected [3]");
}
