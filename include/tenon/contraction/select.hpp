// tenon/contraction/select.hpp: which kernel a contraction runs on, in which tiles, by how many blocks a tile.
// The type of the operands decides about the unit; how much there is to do, about tiles and blocks.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/mma.hpp>
#include <tenon/contraction/simt.hpp>
#include <tenon/contraction/tiled_product.hpp>

namespace tenon {

/// Units that multiply Operand in registers, those that do by fragments, and threads.
template <class Operand>
struct register_units {
  template <class Policy>
  using unit = mma_unit<Operand, Policy>;
  using tiles = product_tiles<Operand>;
};
template <class Operand>
struct fragment_units {
  template <class Policy>
  using unit = wmma_unit<Operand, Policy>;
  using tiles = product_tiles<Operand>;
};
template <class Accumulator>
struct lane_units {
  template <class Policy>
  using unit = simt_unit<Accumulator, Policy>;
  using tiles = lane_tiles<Accumulator>;
};

namespace detail {

/// The type that matrix units multiply for a product of `Element`; void where threads multiply.
template <class Element, class Precision>
using matrix_operand = std::conditional_t<
    is_short_float<Element> || std::is_same_v<Element, std::int8_t> || std::is_same_v<Element, double>, Element,
    std::conditional_t<std::is_same_v<Element, float> && std::is_same_v<Precision, precision::tf32>, tf32, void>>;

template <class Operand, class Accumulator>
using units_of_operand =
    std::conditional_t<std::is_void_v<Operand>, lane_units<Accumulator>,
                       std::conditional_t<mma_unit_exists<Operand>, register_units<Operand>, fragment_units<Operand>>>;

}  // namespace detail

/// The units and tiles that multiply the operands of a contraction.
template <class Node>
using product_units = detail::units_of_operand<detail::matrix_operand<typename Node::element, precision_of<Node>>,
                                               typename Node::accumulator>;

/// How a product is shared among blocks.
struct product_choice {
  int tile;   ///< 0: large tiles, 1: small ones
  int parts;  ///< blocks that share the depth of a tile
};

/// The extents that a choice depends on.
struct product_size {
  index rows, columns, depth, batches;

  constexpr index tiles(int tile_rows, int tile_columns) const {
    return (rows + tile_rows - 1) / tile_rows * ((columns + tile_columns - 1) / tile_columns) * batches;
  }
};

/// Large tiles where they occupy every multiprocessor, else small ones; where these do not either, several blocks a
/// tile, each of which has eight steps at least.
template <class Tiles>
product_choice choose_product(const product_size& size, int multiprocessors) {
  using large = typename Tiles::large;
  using small = typename Tiles::small;
  constexpr index least_steps = 8;
  if (size.tiles(large::rows, large::columns) >= multiprocessors) return {0, 1};
  const index tiles = size.tiles(small::rows, small::columns), steps = (size.depth + small::depth - 1) / small::depth;
  if (tiles == 0 || tiles > workspace_counters) return {1, 1};
  const index fitting = multiprocessors / tiles, most = steps / least_steps, parts = fitting < most ? fitting : most;
  return {1, parts < 1 ? 1 : static_cast<int>(parts)};
}

namespace detail {

/// Launches one kernel of `Unit` for the product in `node`.
template <class Unit, class Space, class Product, class Epilogue>
void launch_product(const Product& product, const Epilogue& epilogue, int parts) {
  using element = typename Unit::element;
  using accumulator = typename Unit::accumulator;
  const auto extents = extents_of_product(product);
  const auto left = make_operand<element, operand_side::left>(left_matrix(product), extents.rows, extents.depth);
  const auto right = make_operand<element, operand_side::right>(right_matrix(product), extents.depth, extents.columns);
  using kernel_type = tiled_product_kernel<Unit, Product::shape_type::rank, std::remove_const_t<decltype(left)>,
                                           std::remove_const_t<decltype(right)>, Epilogue>;
  kernel_type kernel{extents, left, right, epilogue, parts, {}};
  const index tiles = kernel.tiles();
  const auto places = workspace_places<Space, accumulator>::take(parts == 1 ? 0 : tiles * parts * kernel.tile_size);
  kernel.partial = {get<0>(places.values), places.counters};
  launch<Space>(
      launch_shape{
          .grid = {static_cast<int>(tiles), parts}, .block = kernel.max_threads, .shared_bytes = kernel.shared_bytes},
      kernel);
  places.launched();
}

}  // namespace detail

/// Evaluates a statement of the form `contract` into `target`, in one launch on a device, by one of `Units` and shared
/// among blocks as chosen.
template <class Space, class Units, class Target, class E>
void run_contraction_by(const Target& target, const E& node, const product_choice& choice) {
  const auto& product = contraction_of(node);
  using large = typename Units::template unit<typename Units::tiles::large>;
  using small = typename Units::template unit<typename Units::tiles::small>;
  const auto epilogue = make_kernel_epilogue<std::remove_cvref_t<decltype(product)>>(target, node);
  if (choice.tile == 0) detail::launch_product<large, Space>(product, epilogue, choice.parts);
  else detail::launch_product<small, Space>(product, epilogue, choice.parts);
}

/// The same by the units of its operands.
template <class Space, class Target, class E>
void run_contraction_kernel(const Target& target, const E& node, const product_choice& choice) {
  using product = std::remove_cvref_t<decltype(contraction_of(node))>;
  run_contraction_by<Space, product_units<product>>(target, node, choice);
}
template <class Space, class Target, class E>
void run_contraction_kernel(const Target& target, const E& node) {
  const auto& product = contraction_of(node);
  const auto extents = extents_of_product(product);
  const product_size size{extents.rows, extents.columns, extents.depth, extents.batch_count()};
  using tiles = typename product_units<std::remove_cvref_t<decltype(product)>>::tiles;
  run_contraction_kernel<Space>(target, node, choose_product<tiles>(size, space_devices<Space>::multiprocessors()));
}

}  // namespace tenon
