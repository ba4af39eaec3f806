// tests/conformance/logical.cpp: comparisons, logic, and bits.
// Of every element type that ONNX allows.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

void add_logical(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["And"] = pointwise<Space, 2, bool>(tn::logical_and);
    table["Or"] = pointwise<Space, 2, bool>(tn::logical_or);
    table["Xor"] = pointwise<Space, 2, bool>(tn::logical_xor);
    table["Not"] = pointwise<Space, 1, bool>(tn::logical_not);
    table["BitwiseAnd"] = pointwise<Space, 2>(integer_types, tn::bitwise_and);
    table["BitwiseOr"] = pointwise<Space, 2>(integer_types, tn::bitwise_or);
    table["BitwiseXor"] = pointwise<Space, 2>(integer_types, tn::bitwise_xor);
    table["BitwiseNot"] = pointwise<Space, 1>(integer_types, tn::bitwise_not);
    table["BitShift"] =
        either([](const call& from) { return from.attributes.text("direction", "") == "LEFT"; },
               pointwise<Space, 2>(integer_types, tn::left_shift), pointwise<Space, 2>(integer_types, tn::right_shift));
    table["Equal"] = pointwise<Space, 2>(all_types, tn::equal);
    table["Greater"] = pointwise<Space, 2>(number_types, tn::greater);
    table["GreaterOrEqual"] = pointwise<Space, 2>(number_types, tn::greater_equal);
    table["Less"] = pointwise<Space, 2>(number_types, tn::less);
    table["LessOrEqual"] = pointwise<Space, 2>(number_types, tn::less_equal);
  });
}

}  // namespace conformance
