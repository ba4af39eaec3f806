// tests/conformance/scan.cpp: running sums and products.
// ONNX keeps the element type, Tenon widens integers: the result is converted back.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/lines.hpp"

#include <tenon/algorithms.hpp>

namespace conformance {

namespace {

/// `function(x, axis, options)` of elements of one of `Types`.
template <class Space, class... Types, class Function>
operation scan(Function function) {
  return [function](const call& from) {
    const index axis = integers_of(from.input(1)).at(0);
    const tn::scan_options options{from.attributes.integer("exclusive", 0) != 0,
                                   from.attributes.integer("reverse", 0) != 0};
    return with_type<Types...>(from.input(0).dtype, [&]<class T>() {
      const auto x = lines_of<T, Space>(from.input(0), axis);
      tn::tensor<T, tn::rank<3>, Space> result(x.shape());
      result = function(x, middle_axis, options);
      return array_of_lines(result, from.input(0).extents, axis);
    });
  };
}

}  // namespace

void add_scan(device_tables& devices) {
  on_each_host_device(devices, []<class Space>(operation_table& table) {
    table["CumSum"] = scan<Space, float, double, std::int32_t, std::int64_t>(tn::cumsum);
    table["CumProd"] = scan<Space, float, double, std::int32_t, std::int64_t>(tn::cumprod);
  });
}

}  // namespace conformance
