// tenon/contraction/attention_gradient_select.hpp: the passes that gradients of attention take, in a space.
// What is wanted decides which of the kernels run; shared memory, how many tiles of results a block makes.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/attention_gradient.hpp>
#include <tenon/contraction/attention_select.hpp>
#include <tenon/contraction/host_attention_gradient.hpp>
#include <tenon/contraction/register_attention_gradient.hpp>
#include <tenon/device/workspace.hpp>

namespace tenon {

namespace detail {

/// An operand's lines along the depth on the left of a product, and on its right.
template <class Element, class Matrix>
auto left_operand(const matrix_both_ways<Matrix>& matrix, index lines, index depth) {
  return make_operand<Element, operand_side::left>(matrix.own, lines, depth);
}
template <class Element, class Matrix>
auto right_operand(const matrix_both_ways<Matrix>& matrix, index lines, index depth) {
  return make_operand<Element, operand_side::right>(matrix.exchanged, depth, lines);
}

/// A pass over the scores of all queries and keys in registers.
template <class Space, int Width, attention_pass Pass, class Node, class Operands, class Target>
void run_register_pass(const Node& node, const Operands& operands, const strided_target<Target, Node::rank>& of_rows,
                       const strided_target<Target, Node::rank>& of_rows_beside, float* sums) {
  using element = typename attention_units<typename Node::element>::unit::element;
  using kernel_type = register_attention_gradient_kernel<element, Width, Pass, Node, Operands, Target>;
  const kernel_type kernel{extents_of_product(node), node.features(), operands, of_rows, of_rows_beside, sums,
                           score_powers_of(node)};
  const index blocks = kernel.row_tiles() * kernel.extents.batch_count();
  if (blocks == 0) return;
  launch<Space>({.grid = {static_cast<int>(blocks)}, .block = kernel.max_threads, .shared_bytes = kernel.shared_bytes},
                kernel);
}
/// All passes, with rows of queries in the first operands and rows of keys in the second ones.
template <class Space, int Width, class Node, class OfQueries, class OfKeys, class Target>
void run_register_gradients(const Node& node, const OfQueries& of_queries, const OfKeys& of_keys,
                            const attention_targets<Target, Node::rank>& to, float* sums) {
  using pass = attention_pass;
  constexpr strided_target<Target, Node::rank> nowhere{nullptr, {}};
  run_register_pass<Space, Width, pass::sums>(node, of_queries, nowhere, nowhere, sums);
  if (to.query.data != nullptr) {
    run_register_pass<Space, Width, pass::queries>(node, of_queries, to.query, nowhere, sums);
  }
  if (to.key.data != nullptr || to.value.data != nullptr) {
    run_register_pass<Space, Width, pass::keys>(node, of_keys, to.key, to.value, sums);
  }
}

}  // namespace detail

/// The gradients of an attention node's operands that `to` wants, in a launch for the sums of queries, one for the
/// gradients of queries and one for those of keys and values. No two blocks add to the same gradient.
/// source    Dao 2023, "FlashAttention-2"
template <class Space, class Node, class Gradient, class Element>
void run_attention_gradient_kernels(const Node& node, const Gradient& gradient,
                                    const attention_targets<Element, Node::rank>& to) {
  using unit = typename attention_units<typename Node::element>::unit;
  using element = typename unit::element;
  using number = typename unit::accumulator;
  const auto extents = extents_of_product(node);
  const index queries = extents.rows, keys = extents.depth, features = node.features(), columns = extents.columns;
  if (extents.batch_count() == 0) return;
  const attention_operands<Node, Gradient> operands(node, gradient, extents);
  const auto query_lines = detail::left_operand<element>(operands.query, queries, features);
  const auto query_across = detail::right_operand<element>(operands.query, queries, features);
  const auto key_lines = detail::left_operand<element>(operands.key, keys, features);
  const auto key_across = detail::right_operand<element>(operands.key, keys, features);
  const auto value_lines = detail::left_operand<element>(operands.value, keys, columns);
  const auto value_across = detail::right_operand<element>(operands.value, keys, columns);
  const auto gradient_lines = detail::left_operand<element>(operands.gradient, queries, columns);
  const auto gradient_across = detail::right_operand<element>(operands.gradient, queries, columns);
  const auto places = workspace_places<Space, number>::take(2 * extents.batch_count() * queries);
  if constexpr (sizeof(element) == 2) {
    if (detail::has_register_products<Space>(features, columns) &&
        detail::lie_along_depth(query_lines, query_across, key_lines, key_across, value_lines, value_across,
                                gradient_lines, gradient_across)) {
      const register_gradient_operands of_queries{query_lines,  key_across,    gradient_lines,
                                                  value_across, operands.bias, operands.factor};
      const register_gradient_operands of_keys{key_lines,       query_across,  value_lines,
                                               gradient_across, operands.bias, operands.factor};
      float* const sums = get<0>(places.values);
      if (features <= 64 && columns <= 64)
        detail::run_register_gradients<Space, 64>(node, of_queries, of_keys, to, sums);
      else detail::run_register_gradients<Space, 128>(node, of_queries, of_keys, to, sums);
      places.launched();
      return;
    }
  }
  const auto queries_below = make_operand<element, operand_side::right>(operands.query.own, queries, features);
  const auto keys_below = make_operand<element, operand_side::right>(operands.key.own, keys, features);
  const auto gradients_below = make_operand<element, operand_side::right>(operands.gradient.own, queries, columns);
  const score_rule<number> rule{static_cast<number>(node.scale()), static_cast<number>(node.options.softcap)};
  constexpr strided_target<Element, Node::rank> nowhere{nullptr, {}};
  const auto start = [&]<attention_pass Pass>(std::integral_constant<attention_pass, Pass>, const auto& rows,
                                              const auto& across, const auto& rows_beside, const auto& across_beside,
                                              const auto& first, const auto& of_first, const auto& of_second) {
    const attention_matrices matrices{rows,  across,          rows_beside,   across_beside,
                                      first, gradients_below, operands.bias, operands.factor};
    attention_gradient_kernel<unit, Pass, Node, std::remove_const_t<decltype(matrices)>, Element> kernel{
        extents, features, matrices, of_first, of_second, get<0>(places.values), node.options, rule, 1};
    const int tiles = Pass == attention_pass::sums ? 1 : kernel.first_tiles() + kernel.second_tiles();
    const int architecture = space_devices<Space>::architecture();    // 0 of emulated ones
    const int most = architecture != 0 && architecture < 80 ? 1 : 2;  // what shared memory holds
    kernel.tiles_of_block = tiles < most ? tiles : most;
    const index blocks = kernel.row_tiles() * extents.batch_count();
    if (blocks == 0 || tiles == 0) return;
    launch<Space>(
        launch_shape{.grid = {static_cast<int>(blocks), (tiles + kernel.tiles_of_block - 1) / kernel.tiles_of_block},
                     .block = kernel.max_threads,
                     .shared_bytes = kernel.shared_bytes()},
        kernel);
  };
  using pass = attention_pass;
  start(std::integral_constant<pass, pass::sums>{}, query_lines, key_across, gradient_lines, value_across, keys_below,
        nowhere, nowhere);
  if (to.query.data != nullptr) {
    start(std::integral_constant<pass, pass::queries>{}, query_lines, key_across, gradient_lines, value_across,
          keys_below, to.query, nowhere);
  }
  if (to.key.data != nullptr || to.value.data != nullptr) {
    start(std::integral_constant<pass, pass::keys>{}, key_lines, query_across, value_lines, gradient_across,
          queries_below, to.key, to.value);
  }
  places.launched();
}

/// The gradients of an attention node's operands, from its result's, to where they are wanted.
template <class Space, class Node, class Gradient, class Element>
void run_attention_gradient(const Node& node, const Gradient& gradient,
                            const attention_targets<Element, Node::rank>& to) {
  if constexpr (std::is_same_v<Space, host>) run_attention_gradient_host(node, gradient, to);
  else run_attention_gradient_kernels<Space>(node, gradient, to);
}

}  // namespace tenon
