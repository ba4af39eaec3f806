// tests/conformance/softmax.cpp: operations on the rows along one axis.
// Operand and result are strided views whose last axes are that axis.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/axes.hpp"

namespace conformance {

namespace {

/// Until version 12 the rows run over all axes from `axis` (default 1) on, since then along `axis` (default -1).
std::vector<bool> row_axes(const call& from) {
  const int rank = from.input(0).rank(),
            first = front_axis(from.attributes.integer("axis", from.opset < 13 ? 1 : -1), rank);
  std::vector<bool> is_named = named_axes({first}, rank);
  if (from.opset < 13) std::fill(is_named.begin() + first, is_named.end(), true);
  return is_named;
}

/// `function(x)` works on rows of the axes `named` of x.
template <class Space, class Function>
operation rowwise(Function function) {
  return [function](const call& from) {
    return with_type<float, double, tn::half>(from.input(0).dtype, [&]<class T>() {
      const auto x = tensor_of<T, Space>(from.input(0));
      tensor<T, Space> result(x.shape());
      const std::vector<bool> is_named = row_axes(from);
      split_axes(result, is_named) = function(split_axes(x, is_named));
      return array_of(result, from.input(0).rank());
    });
  };
}

/// 1 at the first greatest element of each row.
template <class View>
auto hardmax(const View& x) {
  const extents_type row(1, 1, 1, x.extent(3), x.extent(4), x.extent(5));
  return tn::cast<float>(tn::iota<std::int64_t>(row) == tn::argmax(x, named));
}

}  // namespace

void add_softmax(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Softmax"] = rowwise<Space>([](const auto& x) { return tn::softmax(x, named); });
    table["Hardmax"] = rowwise<Space>([](const auto& x) { return hardmax(x); });
    table["LogSoftmax"] = rowwise<Space>([](const auto& x) { return tn::log_softmax(x, named); });
  });
}

}  // namespace conformance
