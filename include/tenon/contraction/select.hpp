// tenon/contraction/select.hpp: which kernel a contraction runs on, in which tiles, by how many blocks a tile.
// The first algorithm of a list that takes a product runs it; among tiles, types decide about the unit that multiplies.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/algorithm.hpp>
#include <tenon/contraction/attention_select.hpp>
#include <tenon/contraction/choice.hpp>
#include <tenon/contraction/depthwise.hpp>
#include <tenon/contraction/mma.hpp>
#include <tenon/contraction/tiled_product.hpp>
#include <tenon/contraction/vector_product.hpp>
#if defined(__CUDACC__)
#include <tenon/contraction/hopper_convolution.hpp>
#endif

namespace tenon {

/// Units that multiply Operand in registers, those that do by fragments, and threads.
template <class Operand>
struct register_units {
  using operand = Operand;
  template <class Policy>
  using unit = mma_unit<Operand, Policy>;
  using tiles = product_tiles<Operand>;
};
template <class Operand>
struct fragment_units {
  using operand = Operand;
  template <class Policy>
  using unit = wmma_unit<Operand, Policy>;
  using tiles = product_tiles<Operand>;
};
template <class Accumulator>
struct lane_units {
  using operand = void;
  template <class Policy>
  using unit = simt_unit<Accumulator, Policy>;
  using tiles = lane_tiles<Accumulator>;
};

namespace detail {

template <class Node>
using left_matrix_of = decltype(without_casts(left_matrix(std::declval<const Node&>())));
template <class Node>
using right_matrix_of = decltype(without_casts(right_matrix(std::declval<const Node&>())));

/// Whether bytes are multiplied, and no more than 32 bits of the sums are kept.
template <class Node>
inline constexpr bool multiplies_bytes = is_integer<typename Node::element> && sizeof(typename Node::element) <= 4 &&
                                         std::is_same_v<memory_element_of<left_matrix_of<Node>>, std::int8_t> &&
                                         std::is_same_v<memory_element_of<right_matrix_of<Node>>, std::int8_t>;

/// The type that matrix units multiply for a contraction; void where threads multiply. half holds all that floats of 8
/// bits do.
template <class Node>
constexpr auto matrix_operand() {
  using element = typename Node::element;
  constexpr bool may_round = std::is_same_v<precision_of<Node>, precision::tf32>;
  if constexpr (is_float8<element>) {
    return std::type_identity<half>{};
  } else if constexpr (is_short_float<element> || std::is_same_v<element, std::int8_t> ||
                       std::is_same_v<element, double>) {
    return std::type_identity<element>{};
  } else if constexpr (multiplies_bytes<Node>) {
    return std::type_identity<std::int8_t>{};
  } else if constexpr (std::is_same_v<element, float> && may_round) {
    return std::type_identity<tf32>{};
  } else {
    return std::type_identity<void>{};
  }
}

template <class Operand, class Accumulator>
using units_of_operand =
    std::conditional_t<std::is_void_v<Operand>, lane_units<Accumulator>,
                       std::conditional_t<mma_unit_exists<Operand>, register_units<Operand>, fragment_units<Operand>>>;

}  // namespace detail

/// The units and tiles that multiply the operands of a contraction.
template <class Node>
using product_units =
    detail::units_of_operand<typename decltype(detail::matrix_operand<Node>())::type, typename Node::accumulator>;

namespace detail {

/// Launches one kernel of `Unit` for the product in `node`.
template <class Unit, class Space, class Product, class Epilogue>
void launch_product(const Product& product, const Epilogue& epilogue, int parts, bool channels_last = false) {
  using element = typename Unit::element;
  using accumulator = typename Unit::accumulator;
  static_assert(!has_patches_of_images<Product> || sizeof(element) >= sizeof(typename Product::element),
                "tenon: the channels of a chunk have one tap");
  const auto extents = extents_of_product(product);
  const auto left = make_operand<element, operand_side::left>(without_casts(kernel_left_matrix(product, channels_last)),
                                                              extents.rows, extents.depth);
  const auto right = make_operand<element, operand_side::right>(
      without_casts(kernel_right_matrix(product, channels_last)), extents.depth, extents.columns);
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

/// The same in tiles, and shared among blocks, as chosen.
template <class Space, class Units, class Product, class Epilogue>
void launch_chosen(const Product& product, const Epilogue& epilogue, const product_choice& choice,
                   bool channels_last = false) {
  using large_tile = typename Units::template unit<typename Units::tiles::large_tile>;
  using small_tile = typename Units::template unit<typename Units::tiles::small_tile>;
  if (choice.tile == 0) launch_product<large_tile, Space>(product, epilogue, choice.parts, channels_last);
  else launch_product<small_tile, Space>(product, epilogue, choice.parts, channels_last);
}

/// The tiles and blocks that extents and the device suggest.
template <class Space, class Units, class Product>
product_choice suggested_choice(const Product& product) {
  const auto extents = extents_of_product(product);
  const product_key key{{extents.rows, extents.columns, extents.depth, extents.batch_count()},
                        space_devices<Space>::architecture(),
                        space_devices<Space>::multiprocessors(),
                        Units::template unit<typename Units::tiles::large_tile>::name,
                        dtype_name<typename Product::element>()};
  return choose_product(key, extents_of_tiles<typename Units::tiles>());
}

}  // namespace detail

/// Evaluates a statement with `product` into `target`, in one launch on a device, by one of `Units` and shared among
/// blocks as chosen.
template <class Space, class Units, class Target, class E, class Product>
void run_product_by(const Target& target, const E& node, const Product& product, const product_choice& choice) {
  const bool channels_last = numbers_channels_last(product, node);
  const channels_last_order<Product> order{channels_last};
  detail::launch_chosen<Space, Units>(product, make_exchangeable_epilogue<Product>(target, node, order), choice,
                                      channels_last);
}

/// A product on a device as its algorithms see it. It is the statement `node`; its results go to `target`.
template <class Space, class Target, class E, class Product>
struct device_problem {
  using space = Space;
  using product_type = Product;
  using left_type = detail::left_matrix_of<Product>;
  using right_type = detail::right_matrix_of<Product>;
  using units = product_units<Product>;
  using number = typename units::template unit<typename units::tiles::small_tile>::accumulator;

  const Target& target;
  const E& node;
  const Product& product;
  product_extents<Product::shape_type::rank> extents = extents_of_product(product);

  auto left() const { return detail::without_casts(left_matrix(product)); }
  auto right() const { return detail::without_casts(right_matrix(product)); }
  auto epilogue() const { return make_kernel_epilogue<Product>(target, node); }
  auto exchangeable_epilogue() const { return make_exchangeable_epilogue<Product>(target, node); }
};

/// That of the statement `node`.
template <class Space, class Target, class E>
auto device_problem_of(const Target& target, const E& node) {
  const auto& product = contraction_of(node);
  return device_problem<Space, Target, E, std::remove_cvref_t<decltype(product)>>{target, node, product};
}

namespace on_device {

/// Tiles of the usual units: take all that no algorithm before them does.
struct tiles {
  static constexpr const char* name = "tiles";
  template <class Problem>
  static constexpr bool can_take = true;
  template <class Problem>
  static void run(const Problem& problem) {
    using space = typename Problem::space;
    using units = typename Problem::units;
    run_product_by<space, units>(problem.target, problem.node, problem.product,
                                 detail::suggested_choice<space, units>(problem.product));
  }
};

/// The algorithms of the kernels of `Space`, in the order in which they are asked, and those of them that multiply
/// matrices in tiles.
template <class Space>
struct algorithms_of;

/// Convolutions whose windows are single elements, as products of matrices in memory, one for each image. With channels
/// last, patches of all images are one matrix as they are.
struct plain_convolutions {
  static constexpr const char* name = "plain convolutions";
  template <class Problem>
  static constexpr bool can_take = detail::lies_in_memory<typename Problem::product_type>;
  static bool takes(const auto& problem) {
    return is_plain_product(problem.product) && !numbers_channels_last(problem.product, problem.node);
  }
  template <class Space, class Target, class E, class Product>
  static void run(const device_problem<Space, Target, E, Product>& problem) {
    const plain_convolution<Product> plain{problem.product};
    run_first(device_problem<Space, Target, E, plain_convolution<Product>>{problem.target, problem.node, plain},
              typename algorithms_of<Space>::tiled{});
  }
};

template <class Space>
struct algorithms_of {
  using tiled = algorithm_list<tiles>;
  using all = algorithm_list<depthwise_windows, few_vectors, plain_convolutions, tiles>;
};
#if defined(__CUDACC__)
template <>
struct algorithms_of<cuda> {
  using tiled = algorithm_list<warpgroup_tiles, tiles>;
  using all = algorithm_list<depthwise_windows, warpgroup_tiles, few_vectors, warpgroup_windows,
                             warpgroup_weight_gradients, plain_convolutions, tiles>;
};
#endif

}  // namespace on_device

/// Evaluates a statement of the form `contract` into `target`, in one launch on a device, but for operands that an
/// algorithm copies first.
template <class Space, class Target, class E>
void run_contraction_kernel(const Target& target, const E& node) {
  const auto& product = contraction_of(node);
  using product_type = std::remove_cvref_t<decltype(product)>;
  if constexpr (is_attention<product_type>) {
    run_attention_kernel<Space>(target, node, product);
  } else {
    run_first(device_problem_of<Space>(target, node), typename on_device::algorithms_of<Space>::all{});
  }
}
/// The same in tiles, shared among blocks as chosen.
template <class Space, class Target, class E>
void run_contraction_kernel(const Target& target, const E& node, const product_choice& choice) {
  const auto& product = contraction_of(node);
  run_product_by<Space, product_units<std::remove_cvref_t<decltype(product)>>>(target, node, product, choice);
}

}  // namespace tenon
