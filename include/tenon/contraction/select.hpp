// tenon/contraction/select.hpp: which kernel a contraction runs on, in which tiles, by how many blocks a tile.
// The type of the operands decides about the unit; how much there is to do, about tiles and blocks.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/choice.hpp>
#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/simt.hpp>
#include <tenon/contraction/tiled_product.hpp>
#include <tenon/contraction/wmma.hpp>

namespace tenon {

namespace detail {

/// The type whose fragments matrix units multiply for a product of `Element`; void where threads multiply.
template <class Element, class Precision>
using fragment_operand = std::conditional_t<
    is_short_float<Element> || std::is_same_v<Element, std::int8_t> || std::is_same_v<Element, double>, Element,
    std::conditional_t<std::is_same_v<Element, float> && std::is_same_v<Precision, precision::tf32>, tf32, void>>;

template <class Operand, class Accumulator>
struct units_of_operand {
  template <class Policy>
  using unit = wmma_unit<Operand, Policy>;
  using tiles = product_tiles<Operand>;
};
template <class Accumulator>
struct units_of_operand<void, Accumulator> {
  template <class Policy>
  using unit = simt_unit<Accumulator, Policy>;
  using tiles = lane_tiles<Accumulator>;
};

}  // namespace detail

/// The units and tiles that multiply the operands of a contraction.
template <class Node>
using product_units = detail::units_of_operand<detail::fragment_operand<typename Node::element, precision_of<Node>>,
                                               typename Node::accumulator>;

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

/// Evaluates a statement of the form `contract` into `target`, in one launch on a device, shared among blocks as chosen.
template <class Space, class Target, class E>
void run_contraction_kernel(const Target& target, const E& node, const product_choice& choice) {
  const auto& product = contraction_of(node);
  using units = product_units<std::remove_cvref_t<decltype(product)>>;
  using large = typename units::template unit<typename units::tiles::large>;
  using small = typename units::template unit<typename units::tiles::small>;
  const auto epilogue = make_kernel_epilogue<std::remove_cvref_t<decltype(product)>>(target, node);
  if (choice.tile == 0) detail::launch_product<large, Space>(product, epilogue, choice.parts);
  else detail::launch_product<small, Space>(product, epilogue, choice.parts);
}
template <class Space, class Target, class E>
void run_contraction_kernel(const Target& target, const E& node) {
  const auto& product = contraction_of(node);
  using product_type = std::remove_cvref_t<decltype(product)>;
  using tiles = typename product_units<product_type>::tiles;
  using unit = typename product_units<product_type>::template unit<typename tiles::large>;
  const auto extents = extents_of_product(product);
  const product_key key{{extents.rows, extents.columns, extents.depth, extents.batch_count()},
                        space_devices<Space>::architecture(),
                        space_devices<Space>::multiprocessors(),
                        unit::name,
                        dtype_name<typename product_type::element>()};
  run_contraction_kernel<Space>(target, node, choose_product(key, extents_of_tiles<tiles>()));
}

}  // namespace tenon
