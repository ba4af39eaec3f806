// tenon/contraction/select.hpp: which kernel a contraction runs on.
// Half and bfloat16 go to tensor cores, everything else to the kernel of full precision.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/epilogue.hpp>
#include <tenon/contraction/hopper_select.hpp>
#include <tenon/contraction/simt.hpp>
#include <tenon/contraction/wmma.hpp>

namespace tenon {

/// Elements that tensor cores multiply, accumulating in float.
template <class Node>
inline constexpr bool runs_on_tensor_cores = is_short_float<typename Node::element>;

/// Evaluates a statement of the form `contract` into `target`, in one launch on a device.
template <class Space, class Target, class E>
void run_contraction_kernel(const Target& target, const E& node) {
  const auto& product = contraction_of(node);
  using product_type = std::remove_cvref_t<decltype(product)>;
  constexpr int rank = product_type::shape_type::rank;
  const auto left = left_matrix(product);
  const auto right = right_matrix(product);
  const auto epilogue = make_epilogue<product_type>(target, node);
  using element = typename product_type::element;
  if (try_hopper_product<Space, element>(extents_of_product(product), left, right, epilogue)) return;
  using left_type = std::remove_const_t<decltype(left)>;
  using right_type = std::remove_const_t<decltype(right)>;
  using epilogue_type = std::remove_const_t<decltype(epilogue)>;
  using kernel_type = std::conditional_t<
      runs_on_tensor_cores<product_type>,
      wmma_product_kernel<typename product_type::element, rank, left_type, right_type, epilogue_type>,
      simt_product_kernel<typename product_type::accumulator, rank, left_type, right_type, epilogue_type>>;
  const kernel_type kernel{extents_of_product(product), left, right, epilogue};
  const auto blocks = [](index extent) {
    return static_cast<int>((extent + kernel_type::tile - 1) / kernel_type::tile);
  };
  const launch_shape shape{.grid = {blocks(kernel.extents.columns), blocks(kernel.extents.rows),
                                    static_cast<int>(kernel.extents.batch_count())},
                           .block = kernel_type::threads,
                           .shared_bytes = kernel_type::shared_bytes};
  launch<Space>(shape, kernel);
}

}  // namespace tenon
