// tests/algorithms/fft.cpp: what transforms ask of a library, extents, scales, axes and what is refused.
// The library is a sum by definition, for the emulated device; libraries themselves have tests of their own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#include "algorithms/fft_by_definition.hpp"
#include "support/catch.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::fft_norm;
using tenon::rank;
using tenon_test::by_definition;
using tenon_test::complex_numbers_of;
using tenon_test::distance;
using space = tenon::emulated;

auto operand_of(const rank<3>& extents) {
  tenon::tensor<double, rank<3>, space> x(extents);
  x = tenon::uniform<double>(extents, 3, -1.0, 1.0);
  return x;
}

}  // namespace

TEST_CASE("transforms along any axes are sums by definition", "[fft]") {
  const auto x = operand_of({3, 4, 5});
  const auto numbers = complex_numbers_of(x);
  const std::vector<tenon::index> extents{3, 4, 5};
  const auto forward = [&](bool first, bool second, bool third) {
    return by_definition(numbers, extents, {first, second, third}, -1);
  };
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<-1>)), forward(false, false, true)) < 1e-14);
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<0>)), forward(true, false, false)) < 1e-14);
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<1, 2>)), forward(false, true, true)) < 1e-14);
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<2, 0>)), forward(true, false, true)) < 1e-14);
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<0, 1, 2>)), forward(true, true, true)) < 1e-14);
  CHECK(distance(complex_numbers_of(tenon::fft(tenon::cast<std::complex<double>>(x), axis<1>)),
                 forward(false, true, false)) < 1e-14);
  CHECK(distance(complex_numbers_of(tenon::ifft(x, axis<1>)),
                 complex_numbers_of(tenon::conj(tenon::fft(x, axis<1>)) / 4)) < 1e-14);
}
TEST_CASE("expressions and strided views are transformed", "[fft]") {
  const auto x = operand_of({3, 4, 5});
  const tenon::tensor<double, rank<3>, space> doubled = x * 2;
  CHECK(distance(complex_numbers_of(tenon::fft(x * 2, axis<-1>)), complex_numbers_of(tenon::fft(doubled, axis<-1>))) ==
        0);
  const auto part = tenon::slice(x, tenon::range(), tenon::range(0, 4, 2), tenon::range(1, 4));
  const auto held = tenon::evaluated_tensor<space>(part);
  CHECK(distance(complex_numbers_of(tenon::fft(part, axis<-1>)), complex_numbers_of(tenon::fft(held, axis<-1>))) == 0);
  const auto numbers = tenon::evaluated_tensor<space>(tenon::cast<std::complex<double>>(x));
  const auto lines = tenon::permute(numbers, axis<0, 2, 1>);
  CHECK(distance(complex_numbers_of(tenon::fft(lines, axis<-1>)),
                 complex_numbers_of(tenon::permute(tenon::fft(numbers, axis<1>), axis<0, 2, 1>))) < 1e-14);
}
TEST_CASE("each norm divides where its name says", "[fft]") {
  const auto x = operand_of({2, 3, 4});
  const auto plain = complex_numbers_of(tenon::fft(x, axis<1, 2>));
  const auto times = [&](double factor) {
    auto numbers = plain;
    for (auto& each : numbers) each *= factor;
    return numbers;
  };
  const auto forward = [&](fft_norm norm) { return complex_numbers_of(tenon::fft(x, axis<1, 2>, {.norm = norm})); };
  CHECK(distance(forward(fft_norm::backward), plain) == 0);
  CHECK(distance(forward(fft_norm::ortho), times(1 / std::sqrt(12.0))) < 1e-15);
  CHECK(distance(forward(fft_norm::forward), times(1 / 12.0)) < 1e-15);
  for (const auto norm : {fft_norm::backward, fft_norm::ortho, fft_norm::forward}) {
    const auto back = tenon::ifft(tenon::fft(x, axis<1, 2>, {.norm = norm}), axis<1, 2>, {.norm = norm});
    CHECK(distance(complex_numbers_of(back), complex_numbers_of(x)) < 1e-14);
    const auto signal = tenon::irfft(tenon::rfft(x, axis<1>, {.norm = norm}), axis<1>, {.length = 3, .norm = norm});
    CHECK(distance(complex_numbers_of(signal), complex_numbers_of(x)) < 1e-14);
  }
}
TEST_CASE("real elements have half a spectrum", "[fft]") {
  const auto x = operand_of({2, 3, 6});
  const auto whole = tenon::fft(x, axis<2>);
  const auto half = tenon::rfft(x, axis<2>);
  CHECK(half.shape() == rank<3>(2, 3, 4));
  CHECK(distance(complex_numbers_of(half),
                 complex_numbers_of(tenon::slice(whole, tenon::range(), tenon::range(), tenon::range(0, 4)))) < 1e-14);
  CHECK(tenon::rfft(x, axis<2, 1>).shape() == rank<3>(2, 2, 6));
  const auto back = tenon::irfft(half, axis<2>);
  CHECK(back.shape() == rank<3>(2, 3, 6));
  CHECK(distance(complex_numbers_of(back), complex_numbers_of(x)) < 1e-14);
  CHECK(complex_numbers_of(half) == complex_numbers_of(tenon::rfft(x, axis<2>)));  // which was not overwritten
  const tenon::tensor<float, tenon::shape<4, 6>, space> typed = tenon::uniform<float>(tenon::shape<4, 6>(), 1);
  static_assert(std::is_same_v<decltype(tenon::rfft(typed, axis<-1>))::element, std::complex<float>>);
  static_assert(std::is_same_v<decltype(tenon::irfft(tenon::rfft(typed, axis<-1>), axis<-1>))::element, float>);
  static_assert(decltype(tenon::fft(typed, axis<-1>))::shape_type::static_extent(1) == 6);
}
TEST_CASE("transforms of nothing, and misfits", "[fft]") {
  CHECK(tenon::fft(operand_of({0, 3, 4}), axis<-1>).size() == 0);
  CHECK(tenon::irfft(tenon::rfft(operand_of({2, 0, 4}), axis<-1>), axis<-1>).shape() == rank<3>(2, 0, 4));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::fft(operand_of({2, 3, 0}), axis<1, 2>); }) ==
        "fft: axis 2: extent 0, expected at least 1 (operand [2, 3, 0])");
  const auto half = tenon::rfft(operand_of({2, 3, 8}), axis<-1>);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::irfft(half, axis<-1>, {.length = 10}); }) ==
        "irfft: axis 2: extent 5, expected 6 for a length of 10 (operand [2, 3, 5])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          tenon::irfft(tenon::fft(operand_of({2, 3, 1}), axis<-1>), axis<-1>);
        }) == "irfft: axis 2: extent 1, expected at least 2 (operand [2, 3, 1]); a single element needs {.length = 1}");
  CHECK(tenon::irfft(tenon::fft(operand_of({2, 3, 1}), axis<-1>), axis<-1>, {.length = 1}).shape() == rank<3>(2, 3, 1));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::irfft(half, axis<-1>, {.length = -1}); }) ==
        "irfft: axis 2: a length of -1, expected at least 1, or 0 for 2 (extent - 1)");
}
