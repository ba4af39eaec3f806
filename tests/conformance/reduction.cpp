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

/// What ONNX gives where nothing is left to fold.
enum class empty_value { as_tenon, least, greatest };
/// ONNX keeps the element type, Tenon widens sums of integers: the result is converted back.
template <class T, class Result, class Space, class Function>
array reduced(const Function& function, const call& from, const std::vector<bool>& is_named, empty_value of_nothing) {
  const auto x = tensor_of<T, Space>(from.input(0));
  const bool keeps_axes = from.attributes.integer("keepdims", 1) != 0;
  const auto extents = reduced_extents(from.input(0).extents, is_named, keeps_axes);
  if (x.size() == 0 && of_nothing != empty_value::as_tenon) {
    return array_of(
        tn::full<T, Space>(padded_extents(extents), of_nothing == empty_value::least ? least<T>() : greatest<T>()),
        extents);
  }
  return array_of(tensor<Result, Space>(tn::cast<Result>(function(split_axes(x, is_named)))), extents);
}

/// `function(x)` folds the axes `named` of x.
template <class Space, class Function, class... Types>
operation reduction(type_list<Types...>, Function function, empty_value of_nothing = empty_value::as_tenon) {
  return [function, of_nothing](const call& from) {
    return with_type<Types...>(from.input(0).dtype, [&]<class T>() {
      return reduced<T, T, Space>(function, from, axes_to_reduce(from), of_nothing);
    });
  };
}

inline constexpr type_list<float, double, tn::half> real_types;
inline constexpr auto folded_types = real_types + type_list<std::int32_t, std::int64_t>{};
inline constexpr auto found_types = real_types + type_list<std::int32_t, std::int64_t, std::int8_t, std::uint8_t>{};
inline constexpr auto comparable_types = found_types + type_list<bool>{};

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
    return with_type(found_types, from.input(0).dtype, [&]<class T>() {
      return wants_last ? reduced<T, index, Space>(last, from, is_named, empty_value::as_tenon)
                        : reduced<T, index, Space>(first, from, is_named, empty_value::as_tenon);
    });
  };
}

}  // namespace

void add_reduction(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    const auto add = [&table](const char* name, auto types, auto function, empty_value of_nothing = {}) {
      table[name] = reduction<Space>(types, function, of_nothing);
    };
    add("ReduceSum", folded_types, [](const auto& x) { return tn::sum(x, named); });
    add("ReduceMean", folded_types, [](const auto& x) { return tn::mean(x, named); });
    add("ReduceProd", folded_types, [](const auto& x) { return tn::prod(x, named); });
    add("ReduceMax", comparable_types, [](const auto& x) { return tn::max(x, named); }, empty_value::least);
    add("ReduceMin", comparable_types, [](const auto& x) { return tn::min(x, named); }, empty_value::greatest);
    add("ReduceL1", folded_types, [](const auto& x) { return tn::sum(tn::abs(x), named); });
    add("ReduceL2", real_types, [](const auto& x) { return tn::sqrt(tn::sum(tn::square(x), named)); });
    add("ReduceSumSquare", folded_types, [](const auto& x) { return tn::sum(tn::square(x), named); });
    add("ReduceLogSum", real_types, [](const auto& x) { return tn::log(tn::sum(x, named)); });
    add("ReduceLogSumExp", real_types, [](const auto& x) { return tn::logsumexp(x, named); }, empty_value::least);
    table["ArgMax"] = position<Space>([](const auto& x) { return tn::argmax(x, named); });
    table["ArgMin"] = position<Space>([](const auto& x) { return tn::argmin(x, named); });
  });
}

}  // namespace conformance
