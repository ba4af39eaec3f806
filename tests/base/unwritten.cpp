// tests/base/unwritten.cpp: what new storage holds where TENON_FILL is 1.
// Floats are signalling NaNs, others 0xA5, unless the environment variable of the same name asks for one byte.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/unwritten.hpp>

#include <cmath>
#include <tenon/expr/operations/complex.hpp>
#include <vector>

#include "support/catch.hpp"

namespace {

/// Whether this process was started with a fill of its own.
bool has_own_fill() { return tenon::detail::fill_byte() >= 0; }

template <class T>
std::vector<T> filled(std::size_t count) {
  std::vector<T> elements(count);
  tenon::fill_unwritten<T>(elements.data(), count * sizeof(T));
  return elements;
}

template <class T>
bool is_nan(T value) {
  return std::isnan(static_cast<double>(value));
}

}  // namespace

TEMPLATE_TEST_CASE("floats that nobody wrote are NaN", "[unwritten]", float, double, tenon::half, tenon::bfloat16,
                   tenon::float8_e4m3, tenon::float8_e5m2) {
  if (has_own_fill()) return;
  for (const std::size_t count : {1U, 2U, 3U, 7U, 64U, 100U}) {
    for (const TestType& each : filled<TestType>(count)) CHECK(is_nan(each));
  }
}

TEST_CASE("NaNs of storage signal where the type has such", "[unwritten]") {
  if (has_own_fill()) return;
  CHECK(tenon::detail::unwritten_element<float>() == std::array<unsigned char, 4>{0xA5, 0xA5, 0xA5, 0x7F});
  CHECK(tenon::detail::unwritten_element<double>()[6] == 0xF5);       // the bit that makes a NaN quiet is 0x08
  CHECK(tenon::detail::unwritten_element<tenon::half>()[1] == 0x7D);  // here it is 0x02
}

TEST_CASE("complex numbers that nobody wrote are NaN in both parts", "[unwritten]") {
  if (has_own_fill()) return;
  for (const auto& each : filled<std::complex<float>>(5)) {
    CHECK(is_nan(each.real()));
    CHECK(is_nan(each.imag()));
  }
}

TEST_CASE("other elements that nobody wrote are bytes that no test expects", "[unwritten]") {
  const int byte = has_own_fill() ? tenon::detail::fill_byte() : 0xA5;
  for (const std::uint8_t each : filled<std::uint8_t>(100)) CHECK(each == byte);
  CHECK(filled<std::uint32_t>(3)[2] == static_cast<std::uint32_t>(byte) * 0x01010101U);
}

TEST_CASE("no bytes are filled of nothing", "[unwritten]") { tenon::fill_unwritten<double>(nullptr, 0); }
