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

}  // namespace

void add_cast(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Cast"] = [](const call& from) {
      return converted<Space>(from.input(0), name_of_type(from.attributes.integer("to", 0)));
    };
    table["CastLike"] = [](const call& from) { return converted<Space>(from.input(0), from.input(1).dtype); };
  });
}

}  // namespace conformance
