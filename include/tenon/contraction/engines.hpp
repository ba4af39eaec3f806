// tenon/contraction/engines.hpp: what the library tenon::compiled holds of this room.
// Products of matrices that lie along two axes of memory, with one epilogue as a call, and the tiles of all products.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host.hpp>
#include <tenon/device/engines.hpp>

namespace tenon {

#define TENON_ROWS(Rank) \
  TENON_ENGINE(void detail::run_all_batches(const product_extents<Rank>&, const detail::batch_product<Rank>&))
TENON_ROWS(1)
TENON_ROWS(2)
TENON_ROWS(3)
TENON_ROWS(4)
#undef TENON_ROWS

#define TENON_ROWS(T)                                                                                         \
  TENON_ENGINE(void vector_product<T, plain_matrix<T>, T>::run_rows() const)                                  \
  TENON_ENGINE(void vector_product<T, plain_matrix<T>, T>::run_columns() const)                               \
  TENON_ENGINE(void host_product<number_products<T>, plain_matrix<T>, plain_matrix<T>, host_results<T>>::run( \
      index, index, index) const)                                                                             \
  TENON_ENGINE(void multiply_tile(const tile_operands<number_products<T>>&, index, index, T*, index))
TENON_ROWS(float)
TENON_ROWS(double)
#undef TENON_ROWS

}  // namespace tenon
