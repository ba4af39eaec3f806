// tests/algorithms/fftw.cpp: transforms on the host by FFTW, against sums by definition.
// Compiled where FFTW is found.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/fftw.hpp>
#include <tenon/tenon.hpp>

#include <thread>

#include "support/catch.hpp"
#include "support/fourier.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::by_definition;
using tenon_test::complex_numbers_of;
using tenon_test::distance;

template <class T>
constexpr double bound = std::is_same_v<T, float> ? 2e-6 : 1e-14;

}  // namespace

TEMPLATE_TEST_CASE("lengths with small and large factors", "[fftw]", float, double) {
  for (const tenon::index length : {1, 2, 3, 4, 5, 7, 8, 12, 16, 17, 60, 97, 128}) {
    CAPTURE(length);
    const auto x = tenon::evaluated_tensor(tenon::uniform<TestType>(rank<2>(3, length), 1, TestType(-1), TestType(1)));
    const auto y = tenon::evaluated_tensor(tenon::uniform<TestType>(rank<2>(3, length), 2, TestType(-1), TestType(1)));
    const auto z = tenon::evaluated_tensor(tenon::cast<std::complex<TestType>>(x) +
                                           tenon::cast<std::complex<TestType>>(y) * std::complex<TestType>(0, 1));
    const auto numbers = complex_numbers_of(z);
    CHECK(distance(complex_numbers_of(tenon::fft(z, axis<-1>)),
                   by_definition(numbers, {3, length}, {false, true}, -1)) < bound<TestType>);
    auto back = by_definition(numbers, {3, length}, {false, true}, 1);
    for (auto& each : back) each /= static_cast<double>(length);
    CHECK(distance(complex_numbers_of(tenon::ifft(z, axis<-1>)), back) < bound<TestType>);
    const auto half = tenon::rfft(x, axis<-1>);
    const auto whole = tenon::fft(x, axis<-1>);
    CHECK(distance(complex_numbers_of(half),
                   complex_numbers_of(tenon::slice(whole, tenon::range(), tenon::range(0, length / 2 + 1)))) <
          bound<TestType>);
    CHECK(distance(complex_numbers_of(tenon::irfft(half, axis<-1>, {.length = length})), complex_numbers_of(x)) <
          bound<TestType>);
    CHECK(complex_numbers_of(half) == complex_numbers_of(tenon::rfft(x, axis<-1>)));
  }
}
TEST_CASE("several axes, in any order and of half spectra", "[fftw]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<double>(rank<4>(3, 4, 5, 6), 1, -1.0, 1.0));
  const auto numbers = complex_numbers_of(x);
  const std::vector<tenon::index> extents{3, 4, 5, 6};
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<1, 3>)),
                 by_definition(numbers, extents, {false, true, false, true}, -1)) < 1e-14);
  CHECK(distance(complex_numbers_of(tenon::fft(x, axis<3, 0, 2>)),
                 by_definition(numbers, extents, {true, false, true, true}, -1)) < 1e-14);
  CHECK(distance(complex_numbers_of(tenon::irfft(tenon::rfft(x, axis<0, 2>), axis<0, 2>, {.length = 5})), numbers) <
        1e-14);
  CHECK(distance(complex_numbers_of(tenon::irfft(tenon::rfft(x, axis<1, 2, 3>), axis<1, 2, 3>)), numbers) < 1e-14);
}
TEMPLATE_TEST_CASE("lines that begin within a vector of the processor have the same bits", "[fftw]", float, double) {
  for (const tenon::index length : {1, 2, 9, 16, 37, 64}) {
    CAPTURE(length);
    const auto many = tenon::evaluated_tensor(tenon::uniform<TestType>(rank<1>(5 * length + 3), 1));
    for (const tenon::index begin : {1, 2, 3}) {
      const tenon::view<const TestType, rank<2>> x(many.data() + begin, {5, length});
      const auto halves = tenon::rfft(x, axis<-1>);
      const auto wholes = tenon::fft(halves, axis<-1>);
      const auto lines = tenon::irfft(halves, axis<-1>, {.length = length});
      for (tenon::index i = 0; i < 5; ++i) {
        const tenon::tensor<TestType, rank<1>> line = x[i];
        const auto half = tenon::rfft(line, axis<-1>);
        CHECK(complex_numbers_of(half) == complex_numbers_of(halves[i]));
        CHECK(complex_numbers_of(tenon::fft(half, axis<-1>)) == complex_numbers_of(wholes[i]));
        CHECK(complex_numbers_of(tenon::irfft(half, axis<-1>, {.length = length})) == complex_numbers_of(lines[i]));
        CHECK(distance(complex_numbers_of(lines[i]), complex_numbers_of(line)) < bound<TestType>);
      }
    }
  }
}
TEST_CASE("long batches are shared among threads, with equal bits", "[fftw]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(300, 256), 1, -1.0f, 1.0f));
  const auto expected = complex_numbers_of(tenon::rfft(x, axis<-1>));
  const int before = tenon::thread_count();
  tenon::set_num_threads(1);
  CHECK(complex_numbers_of(tenon::rfft(x, axis<-1>)) == expected);
  tenon::set_num_threads(before);
  std::vector<tenon_test::complex_numbers> found(4);
  std::vector<std::thread> threads;
  for (std::size_t i = 0; i < found.size(); ++i) {
    threads.emplace_back([&, i] {
      for (tenon::index length = 200; length < 256; length += 1 + static_cast<tenon::index>(i)) {
        tenon::fft(tenon::slice(x, tenon::range(0, 2), tenon::range(0, length)), axis<-1>);
      }
      found[i] = complex_numbers_of(tenon::rfft(x, axis<-1>));
    });
  }
  for (auto& each : threads) each.join();
  for (const auto& each : found) CHECK(each == expected);
}
