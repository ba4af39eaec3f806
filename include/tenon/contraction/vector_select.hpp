// tenon/contraction/vector_select.hpp: which products run as those of a matrix with a few vectors.
// One operand has few rows or columns, and rows and columns of both are single axes of memory.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/vector_product.hpp>

namespace tenon {

inline constexpr int most_vectors = 8;           // that one reading of a matrix serves
inline constexpr index least_vector_depth = 32;  // where there is less, tiles are as good

namespace detail {

template <class Matrix>
inline constexpr bool is_folded_matrix = false;
template <class Program, int Rank, class Axes>
inline constexpr bool is_folded_matrix<folded_matrix<Program, Rank, Axes>> = true;

/// Launches the kernel of at most `Vectors` vectors; `along_depth` says of the matrix how its lines run.
template <class Space, class Number, int Vectors, bool AreRows, bool InPackets, int Rank, class Matrix, class Few,
          class Epilogue>
void launch_vector_product(const product_extents<Rank>& extents, const Matrix& matrix, bool along_depth, const Few& few,
                           const Epilogue& epilogue) {
  using kernel_type = vector_product_kernel<Number, Vectors, AreRows, InPackets, Rank, Matrix, Few, Epilogue>;
  const index results = AreRows ? extents.columns : extents.rows, batches = extents.batch_count();
  const auto sharing = vector_sharing::of(along_depth, results, extents.depth, batches, Matrix::packet);
  const index blocks = sharing.groups * batches;
  const index vectors = AreRows ? extents.rows : extents.columns;
  const auto places =
      workspace_places<Space, Number>::take(sharing.parts == 1 ? 0 : blocks * sharing.parts * sharing.tile * vectors);
  const kernel_type kernel{sharing, extents, matrix, few, epilogue, get<0>(places.values), places.counters};
  launch<Space>(launch_shape{.grid = {static_cast<int>(blocks), sharing.parts},
                             .block = vector_block,
                             .shared_bytes = kernel_type::shared_bytes},
                kernel);
  places.launched();
}

/// The same where the operands allow it. One vector and several, and packets and single elements, have kernels of their
/// own: none holds registers for what the others do. `IsOne` says that types know of a single vector.
template <class Space, class Number, bool AreRows, bool IsOne, int Rank, class Matrix, class Few, class Epilogue>
bool try_vectors(const product_extents<Rank>& extents, const Matrix& matrix, const Few& few, const Epilogue& epilogue) {
  const auto lines = lines_of(matrix, line_direction::adjacent);
  const auto vectors = lines_of(few, AreRows ? line_direction::rows : line_direction::columns);
  if (!lines.exist || !vectors.exist) return false;
  const auto launch_for = [&]<int Vectors, bool InPackets>(std::integral_constant<int, Vectors>,
                                                           std::bool_constant<InPackets>) {
    launch_vector_product<Space, Number, Vectors, AreRows, InPackets>(
        extents, lines.matrix, lines.are_columns == AreRows, vectors.matrix, epilogue);
  };
  const auto launch_with = [&](auto in_packets) {
    if constexpr (!IsOne) {
      const index count = AreRows ? extents.rows : extents.columns;
      if (count > 1) return launch_for(std::integral_constant<int, most_vectors>{}, in_packets);
    }
    launch_for(std::integral_constant<int, 1>{}, in_packets);
  };
  if (lines.matrix.in_packets) launch_with(std::true_type{});
  else launch_with(std::false_type{});
  return true;
}

}  // namespace detail

/// Evaluates a statement whose `product` has few rows or columns in one launch, its sums kept as `Number`; returns
/// false, and has done nothing, where there are more or the operands do not lie for it.
template <class Space, class Number, class Target, class E, class Product>
bool try_vector_product(const Target& target, const E& node, const Product& product) {
  const auto left = detail::without_casts(left_matrix(product));
  const auto right = detail::without_casts(right_matrix(product));
  if constexpr (detail::is_folded_matrix<std::remove_const_t<decltype(left)>> &&
                detail::is_folded_matrix<std::remove_const_t<decltype(right)>>) {
    const auto extents = extents_of_product(product);
    if (extents.depth < least_vector_depth) return false;
    const bool are_rows = extents.rows <= extents.columns;
    if ((are_rows ? extents.rows : extents.columns) > most_vectors) return false;
    const auto epilogue = make_kernel_epilogue<Product>(target, node);
    constexpr bool is_one_row = Product::left_axes::rows.size() == 0;
    if constexpr (!is_one_row) {
      if (!are_rows) return detail::try_vectors<Space, Number, false, false>(extents, left, right, epilogue);
    }
    return detail::try_vectors<Space, Number, true, is_one_row>(extents, right, left, epilogue);
  } else {
    return false;
  }
}

}  // namespace tenon
