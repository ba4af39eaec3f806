// tenon/contraction/attention_select.hpp: the kernel that evaluates a statement around an attention node, in a space.
// Elements of 16 bits and at most 128 features and columns stay in registers; all others pass through shared memory.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention.hpp>
#include <tenon/contraction/register_attention.hpp>
#include <tenon/device/launch.hpp>

namespace tenon {

namespace detail {

/// Whether a space has products in registers, and they take so many features and columns.
template <class Space>
bool has_register_products(index features, index columns) {
  const int architecture = space_devices<Space>::architecture();  // 0 of emulated ones
  return (architecture == 0 || architecture >= 80) && features <= 128 && columns <= 128;
}
/// Whether elements of an operand's lines lie, or are evaluated, side by side.
template <class... Operands>
bool lie_along_depth(const Operands&... operands) {
  return ((operands.layout == tile_layout::along_depth) && ...);
}
template <class Node>
score_powers score_powers_of(const Node& node) {
  const score_rule<float> rule{static_cast<float>(node.scale()), static_cast<float>(node.options.softcap)};
  return {rule, node.options, Node::has_bias || rule.softcap != 0 || rule.scale < 0};
}

/// Launches attention of at most `Width` features and columns.
template <class Space, int Width, class Node, class Query, class Key, class Value, class Bias, class Factor,
          class Epilogue>
void run_register_attention(const Node& inner, const Query& query, const Key& key, const Value& value, const Bias& bias,
                            const Factor& factor, const Epilogue& epilogue) {
  using element = typename attention_units<typename Node::element>::unit::element;
  using kernel_type = register_attention_kernel<element, Width, Node::has_factor, Node::rank, Query, Key, Value, Bias,
                                                Factor, Epilogue>;
  const kernel_type kernel{extents_of_product(inner), inner.features(), query, key, value, bias, factor, epilogue,
                           score_powers_of(inner)};
  launch<Space>({.grid = {static_cast<int>(kernel.query_tiles() * kernel.extents.batch_count())},
                 .block = kernel.max_threads,
                 .shared_bytes = kernel.shared_bytes},
                kernel);
}

}  // namespace detail

/// Evaluates a statement around an attention node into `target`, in one launch on a device.
template <class Space, class Target, class E, class Node>
void run_attention_kernel(const Target& target, const E& node, const Node& inner) {
  using unit = typename attention_units<typename Node::element>::unit;
  using element = typename unit::element;
  using number = typename unit::accumulator;
  const auto extents = extents_of_product(inner);
  const index queries = extents.rows, keys = extents.depth, features = inner.features();
  const auto query = make_operand<element, operand_side::left>(operand_matrix<0>(inner), queries, features);
  const auto key = make_operand<element, operand_side::right>(operand_matrix<1>(inner), features, keys);
  const auto value = make_operand<element, operand_side::right>(operand_matrix<2>(inner), keys, extents.columns);
  const auto bias = operand_matrix<3>(inner);
  const auto factor = operand_matrix<4>(inner);
  const auto epilogue = make_kernel_epilogue<Node>(target, node);
  if constexpr (sizeof(element) == 2) {
    if (detail::has_register_products<Space>(features, extents.columns) && detail::lie_along_depth(query, key) &&
        value.layout == tile_layout::along_lines) {
      if (features <= 64 && extents.columns <= 64)
        detail::run_register_attention<Space, 64>(inner, query, key, value, bias, factor, epilogue);
      else detail::run_register_attention<Space, 128>(inner, query, key, value, bias, factor, epilogue);
      return;
    }
  }
  using kernel_type = attention_kernel<unit, Node::has_bias, Node::has_factor, Node::rank,
                                       std::remove_const_t<decltype(query)>, std::remove_const_t<decltype(key)>,
                                       std::remove_const_t<decltype(value)>, std::remove_const_t<decltype(bias)>,
                                       std::remove_const_t<decltype(factor)>, std::remove_const_t<decltype(epilogue)>>;
  const index tiles = (extents.columns + kernel_type::tile_columns - 1) / kernel_type::tile_columns;
  const index most =
      space_devices<Space>::architecture() < 80 ? 1 : kernel_type::most_columns / kernel_type::tile_columns;
  const index tiles_of_block = tiles < most ? tiles : most;
  const kernel_type kernel{extents,
                           features,
                           query,
                           key,
                           value,
                           bias,
                           factor,
                           epilogue,
                           inner.options,
                           {static_cast<number>(inner.scale()), static_cast<number>(inner.options.softcap)},
                           static_cast<int>(tiles_of_block) * kernel_type::tile_columns};
  const index blocks = kernel.query_tiles() * extents.batch_count();
  launch<Space>(
      launch_shape{.grid = {static_cast<int>(blocks), static_cast<int>((tiles + tiles_of_block - 1) / tiles_of_block)},
                   .block = kernel.max_threads,
                   .shared_bytes = kernel.shared_bytes()},
      kernel);
}

}  // namespace tenon
