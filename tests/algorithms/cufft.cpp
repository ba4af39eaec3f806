// tests/algorithms/cufft.cpp: transforms on CUDA by cuFFT, against sums by definition.
// Compiled by nvcc where cuFFT is found, and run where there is a device.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/cufft.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/fourier.hpp"

#if defined(__CUDACC__)
using tenon::axis;
using tenon::rank;
using tenon_test::by_definition;
using tenon_test::complex_numbers_of;
using tenon_test::distance;

TEMPLATE_TEST_CASE("transforms of one and of several axes", "[cufft]", float, double) {
  constexpr double bound = std::is_same_v<TestType, float> ? 2e-6 : 1e-14;
  const auto host = tenon::evaluated_tensor(tenon::uniform<TestType>(rank<3>(3, 10, 7), 1, TestType(-1), TestType(1)));
  const auto x = host.template to<tenon::cuda>();
  const auto numbers = complex_numbers_of(host);
  const auto forward = [&](bool first, bool second, bool third) {
    return by_definition(numbers, {3, 10, 7}, {first, second, third}, -1);
  };
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<-1>)), forward(false, false, true)) < bound);
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<0, 1>)), forward(true, true, false)) < bound);
  CHECK(distance(complex_numbers_of(tenon::ifft(tenon::fft(x, axis<1>), axis<1>)), numbers) < bound);
  CHECK(distance(complex_numbers_of(tenon::irfft(tenon::rfft(x, axis<1>), axis<1>)), numbers) < bound);
  CHECK(distance(complex_numbers_of(tenon::irfft(tenon::rfft(x, axis<0, 2>), axis<0, 2>, {.length = 7})), numbers) <
        bound);
}
#endif
