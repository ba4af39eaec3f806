// tests/conformance/reduction.cpp: reductions over axes that are data.
// The reduced axes stand behind the others in a strided view, where a compile-time list names them.
// SPDX-License-Identifier: Apache-2.0
#include "conformance/axes.hpp"

namespace conformance {

namespace {

/// None named means all, unless the call says that it means none.
std::vector<bool> axes_to_reduce(const call& from) {
  const int rank = from.input(0).rank();
  const std::vector<index> axes = from.integers(1, "axes");
  const bool reduces_all = axes.empty() && from.attributes.integer("noop_with_empty_axes", 0) == 0;
  return reduces_all ? std::vector<bool>(static_cast<std::size_t>(rank), true) : named_axes(axes, rank);
}

/// What ONNX gives where nothing is left to fold; absent where Tenon gives the same.
using empty_value = std::optional<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();

template <class T, class Space, class Function>
array reduced(const Function& function, const call& from, const std::vector<bool>& is_named, empty_value of_nothing) {
  const auto x = tensor_of<T, Space>(from.input(0));
  const bool keeps_axes = from.attributes.integer("keepdims", 1) != 0;
  const auto extents = reduced_extents(from.input(0).extents, is_named, keeps_axes);
  if (x.size() == 0 && of_nothing) {
    return array_of(tn::full<T, Space>(padded_extents(extents), static_cast<T>(*of_nothing)), extents);
  }
  const auto folded = function(split_axes(x, is_named));
  return array_of(tensor<typename decltype(folded)::element, Space>(folded), extents);
}

/// `function(x)` folds the axes `named` of x.
template <class Space, class... Types, class Function>
operation reduction(Function function, empty_value of_nothing = std::nullopt) {
  return [function, of_nothing](const call& from) {
    return with_type<Types...>(from.input(0).dtype, [&]<class T>() {
      return reduced<T, Space>(function, from, axes_to_reduce(from), of_nothing);
    });
  };
}

/// The position of an extreme along one axis: the first one, or the last, which is the first from behind.
template <class Space, class Function>
operation position(Function first) {
  return [first](const call& from) {
    const std::vector<bool> is_named = named_axes({from.attributes.integer("axis", 0)}, from.input(0).rank());
    const auto last = [&](const auto& x) {
      const auto reversed = tn::slice(x, tn::all_of, tn::all_of, tn::all_of, tn::range(tn::open_end, tn::open_end, -1));
      return (x.extent(kept_axes) - 1) - first(reversed);
    };
    const bool wants_last = from.attributes.integer("select_last_index", 0) != 0;
    return wants_last ? reduced<float, Space>(last, from, is_named, std::nullopt)
                      : reduced<float, Space>(first, from, is_named, std::nullopt);
  };
}

}  // namespace

void add_reduction(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["ReduceSum"] = reduction<Space, float>([](const auto& x) { return tn::sum(x, named); });
    table["ReduceMean"] = reduction<Space, float>([](const auto& x) { return tn::mean(x, named); });
    table["ReduceProd"] = reduction<Space, float>([](const auto& x) { return tn::prod(x, named); });
    table["ReduceMax"] = reduction<Space, float>([](const auto& x) { return tn::max(x, named); }, -infinity);
    table["ReduceMin"] = reduction<Space, float>([](const auto& x) { return tn::min(x, named); }, infinity);
    table["ReduceL1"] = reduction<Space, float>([](const auto& x) { return tn::sum(tn::abs(x), named); });
    table["ReduceL2"] = reduction<Space, float>([](const auto& x) { return tn::sqrt(tn::sum(tn::square(x), named)); });
    table["ReduceSumSquare"] = reduction<Space, float>([](const auto& x) { return tn::sum(tn::square(x), named); });
    table["ReduceLogSum"] = reduction<Space, float>([](const auto& x) { return tn::log(tn::sum(x, named)); });
    table["ReduceLogSumExp"] =
        reduction<Space, float, double>([](const auto& x) { return tn::logsumexp(x, named); }, -infinity);
    table["ArgMax"] = position<Space>([](const auto& x) { return tn::argmax(x, named); });
    table["ArgMin"] = position<Space>([](const auto& x) { return tn::argmin(x, named); });
  });
}

}  // namespace conformance
