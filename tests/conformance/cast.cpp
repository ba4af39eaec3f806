// tests/conformance/cast.cpp: conversions of the element type.
// Between any two element types; bits go where sizes are equal.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

namespace {

template <class Space>
array converted(const array& source, const std::string& target) {
  return with_type(all_types, source.dtype, [&]<class From>() {
    const auto x = tensor_of<From, Space>(source);
    return with_type(all_types, target, [&]<class To>() { return evaluated<Space>(tn::cast<To>(x), source.rank()); });
  });
}

/// Types that a cast of bits takes, by size.
template <int Size>
inline constexpr auto types_of_size = type_list<std::int8_t, std::uint8_t>{};
template <>
inline constexpr auto types_of_size<2> = type_list<std::int16_t, std::uint16_t>{};
template <>
inline constexpr auto types_of_size<4> = type_list<float, std::int32_t, std::uint32_t>{};
template <>
inline constexpr auto types_of_size<8> = type_list<double, std::int64_t, std::uint64_t>{};

/// What elements are read and written as: those that are computed in other types are unsigned integers.
std::string bit_cast_name(const std::string& dtype) {
  return dtype == "bool" ? "uint8" : dtype == "float16" || dtype == "bfloat16" ? "uint16" : dtype;
}

template <class Space>
array same_bits(array source, const std::string& target) {
  source.dtype = bit_cast_name(source.dtype);
  array result = with_type(integer_types + type_list<float, double>{}, source.dtype, [&]<class From>() {
    return with_type(types_of_size<sizeof(From)>, bit_cast_name(target), [&]<class To>() {
      return evaluated<Space>(tn::bit_cast<To>(tensor_of<From, Space>(source)), source.rank());
    });
  });
  result.dtype = target;
  return result;
}

}  // namespace

void add_cast(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["BitCast"] = [](const call& from) {
      return same_bits<Space>(from.input(0), name_of_type(from.attributes.integer("to", 0)));
    };
    table["Cast"] = [](const call& from) {
      return converted<Space>(from.input(0), name_of_type(from.attributes.integer("to", 0)));
    };
    table["CastLike"] = [](const call& from) { return converted<Space>(from.input(0), from.input(1).dtype); };
  });
}

}  // namespace conformance
