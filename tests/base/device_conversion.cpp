// tests/base/device_conversion.cpp: a device's conversions of short floats are those of the definition.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/base/device_conversion.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace {

/// Every bit pattern of half: infinities, subnormal numbers and both zeros too, but no NaN.
auto all_halves() {
  tenon::tensor<tenon::half, tenon::rank<1>> numbers(tenon::rank<1>(0x10000));
  for (int i = 0; i < 0x10000; ++i) {
    const auto bits = static_cast<std::uint16_t>((i & 0x7fff) > 0x7c00 ? 0 : i);
    numbers.data()[i] = tenon::half::from_bits(bits);
  }
  return numbers;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("halves become floats and come back", "[device_conversion]", tenon_test::spaces) {
  const auto halves = all_halves();
  const auto moved = halves.template to<TestType>();
  const auto floats = tenon::evaluated_tensor(tenon::cast<float>(moved)).template to<tenon::host>();
  for (int i = 0; i < 0x10000; ++i)
    REQUIRE(floats.data()[i] == tenon::detail::float_from_half_bits(halves.data()[i].bits));
  // between two halves, and at the ties
  for (const float factor : {1.0f, 1.0f + 0x1p-11f, 1.0f + 0x1p-12f, 1.0f + 3 * 0x1p-12f, 0.5f}) {
    const auto scaled = tenon::evaluated_tensor(tenon::cast<tenon::half>(tenon::cast<float>(moved) * factor));
    const auto back = scaled.template to<tenon::host>();
    for (int i = 0; i < 0x10000; ++i) {
      REQUIRE(back.data()[i].bits == tenon::detail::half_bits_from_float(floats.data()[i] * factor));
    }
  }
}
