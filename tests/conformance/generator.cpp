// tests/conformance/generator.cpp: values that come from positions.
// Operands tell extents, and numbers.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/generate.hpp>
#include <tenon/expressions.hpp>

#include "conformance/operations.hpp"

namespace conformance {

namespace {

template <class T, class Space>
array constant(const std::vector<index>& extents, const std::optional<array>& value) {
  const T number = value ? *value->elements<T>() : T(0);
  return array_of(tn::full<T, Space>(padded_extents(extents), number), extents);
}

}  // namespace

void add_generator(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["ConstantOfShape"] = [](const call& from) {
      const auto value = from.attributes.tensor("value");
      return with_type(all_types, value ? value->dtype : "float32",
                       [&]<class T>() { return constant<T, Space>(integers_of(from.input(0)), value); });
    };
    table["EyeLike"] = [](const call& from) {
      const auto& extents = from.input(0).extents;
      const index told = from.attributes.integer("dtype", 0);
      return with_type(all_types, told == 0 ? from.input(0).dtype : name_of_type(told), [&]<class T>() {
        return evaluated<Space>(tn::eye<T>(extents.at(0), extents.at(1), from.attributes.integer("k", 0)), 2);
      });
    };
    table["Range"] = [](const call& from) {
      return with_type<float, double, tn::half, tn::bfloat16, std::int16_t, std::int32_t, std::int64_t>(
          from.input(0).dtype, [&]<class T>() {
            const auto number = [&](std::size_t i) { return *from.input(i).elements<T>(); };
            return evaluated<Space>(tn::arange<T>(number(0), number(1), number(2)), 1);
          });
    };
  });
}

}  // namespace conformance
