// tests/conformance/cast.cpp: conversions of the element type.
// Only pairs of types that the cases use; elsewhere an element type is not known.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/pointwise.hpp"

namespace conformance {

namespace {

/// NumPy's name of ONNX's element type.
std::string name_of_type(index onnx_type) {
  const std::map<index, std::string> names{
      {1, "float32"}, {2, "uint8"},    {3, "int8"},     {4, "uint16"},  {5, "int16"},   {6, "int32"},    {7, "int64"},
      {9, "bool"},    {10, "float16"}, {11, "float64"}, {12, "uint32"}, {13, "uint64"}, {16, "bfloat16"}};
  return names.at(onnx_type);
}

template <class Space>
array converted(const array& source, const std::string& target) {
  return with_type<float, double, tn::half>(source.dtype, [&]<class From>() {
    return with_type<float, double, tn::half>(target, [&]<class To>() {
      const auto x = tensor_of<From, Space>(source);
      return evaluated<Space>(tn::cast<To>(x), source.rank());
    });
  });
}

template <class From, class To, class Space>
array same_bits(const array& source) {
  return evaluated<Space>(tn::bit_cast<To>(tensor_of<From, Space>(source)), source.rank());
}

/// Pairs of types of one size.
template <class Space>
array bit_cast(const call& from) {
  const std::string source = from.input(0).dtype, target = name_of_type(from.attributes.integer("to", 0));
  if (source == "float32" && target == "int32") return same_bits<float, std::int32_t, Space>(from.input(0));
  if (source == "int64" && target == "float64") return same_bits<std::int64_t, double, Space>(from.input(0));
  if (source == "int8" && target == "uint8") return same_bits<std::int8_t, std::uint8_t, Space>(from.input(0));
  if (source == "uint16" && target == "int16") return same_bits<std::uint16_t, std::int16_t, Space>(from.input(0));
  throw tn::dtype_error(tn::compose_text("BitCast: ", source, " to ", target, " is not compiled in"));
}

}  // namespace

void add_cast(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["BitCast"] = bit_cast<Space>;
    table["Cast"] = [](const call& from) {
      return converted<Space>(from.input(0), name_of_type(from.attributes.integer("to", 0)));
    };
    table["CastLike"] = [](const call& from) { return converted<Space>(from.input(0), from.input(1).dtype); };
  });
}

}  // namespace conformance
