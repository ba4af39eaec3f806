// tests/conformance/arithmetic.cpp: arithmetic and extremes of ONNX's pointwise family.
// Element types are those that the cases use.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

void add_arithmetic(device_tables& devices) {
  using std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t, std::int8_t, std::int16_t, std::int32_t;
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Add"] = pointwise<Space, 2, double, int8_t, uint8_t, uint16_t, uint32_t, uint64_t>(tn::add);
    table["Sub"] = pointwise<Space, 2, float, int16_t, uint8_t, uint32_t>(tn::subtract);
    table["Mul"] = pointwise<Space, 2, float, int16_t, uint8_t, uint16_t>(tn::multiply);
    table["Div"] = pointwise<Space, 2, uint8_t, uint16_t>(tn::divide);
    table["Neg"] = pointwise<Space, 1, float>(tn::negate);
    table["Max"] = folded<Space, float, double, tn::half, int16_t, int32_t, uint8_t>(tn::maximum);
    table["Min"] = folded<Space, float, int8_t, int32_t, uint8_t, uint16_t, uint32_t>(tn::minimum);
    table["Mod"] = either([](const call& from) { return from.attributes.integer("fmod", 0) != 0; },
                          pointwise<Space, 2, float, double>(tn::fmod),
                          pointwise<Space, 2, int8_t, uint8_t, uint32_t>(tn::remainder));
    table["Sum"] = folded<Space, float>(tn::add);
  });
}

}  // namespace conformance
