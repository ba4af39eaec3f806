// tests/conformance/logical.cpp: comparisons, logic, and bits.
// Element types are those that the cases use.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

void add_logical(device_tables& devices) {
  using std::int16_t, std::int32_t, std::int8_t, std::uint16_t, std::uint32_t, std::uint64_t, std::uint8_t;
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["And"] = pointwise<Space, 2, bool>(tn::logical_and);
    table["Or"] = pointwise<Space, 2, bool>(tn::logical_or);
    table["Xor"] = pointwise<Space, 2, bool>(tn::logical_xor);
    table["Not"] = pointwise<Space, 1, bool>(tn::logical_not);
    table["BitwiseAnd"] = pointwise<Space, 2, int32_t, uint8_t>(tn::bitwise_and);
    table["BitwiseOr"] = pointwise<Space, 2, int32_t, uint64_t>(tn::bitwise_or);
    table["BitwiseXor"] = pointwise<Space, 2, uint64_t>(tn::bitwise_xor);
    table["BitwiseNot"] = pointwise<Space, 1, uint16_t>(tn::bitwise_not);
    table["BitShift"] = either([](const call& from) { return from.attributes.text("direction", "") == "LEFT"; },
                               pointwise<Space, 2, uint16_t>(tn::left_shift),
                               pointwise<Space, 2, uint8_t, uint16_t, uint32_t, uint64_t>(tn::right_shift));
    table["Equal"] = pointwise<Space, 2, uint16_t, uint32_t>(tn::equal);
    table["Greater"] = pointwise<Space, 2, float, int16_t, uint8_t, uint32_t, uint64_t>(tn::greater);
    table["GreaterOrEqual"] = pointwise<Space, 2, float, int8_t, int16_t, uint32_t, uint64_t>(tn::greater_equal);
    table["Less"] = pointwise<Space, 2, float, int8_t, uint8_t, uint32_t>(tn::less);
    table["LessOrEqual"] = pointwise<Space, 2, float, uint8_t, uint16_t, uint64_t>(tn::less_equal);
  });
}

}  // namespace conformance
