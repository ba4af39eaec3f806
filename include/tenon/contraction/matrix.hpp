// tenon/contraction/matrix.hpp: programs seen as matrices.
// The core knows rows and columns only; these say which element of an operand, or which pixel of an image, each one is.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/convolution.hpp>
#include <tenon/plan/access.hpp>

namespace tenon {

/// A program over `Rank` axes as a matrix: `Axes` says over which axes the rows and the columns run.
template <class Program, int Rank, class Axes>
struct folded_matrix {
  using value_type = typename Program::value_type;
  using axes_type = Axes;
  Program program;
  array<index, Rank> extents;
  array<index, Rank> batch;  // the position of the axes that are neither row nor column

  TENON_HOST_DEVICE array<index, Rank> position(index row, index column) const {
    constexpr auto rows = Axes::rows;
    constexpr auto columns = Axes::columns;
    array<index, Rank> result = batch;
    unfold(result, rows, row);
    unfold(result, columns, column);
    return result;
  }
  /// How many columns from `column` on lie along the last column axis.
  TENON_HOST_DEVICE index run_from(index column) const {
    constexpr int count = Axes::columns.size(), last = Axes::columns[count - 1];
    return count == 1 ? extents[last] - column : extents[last] - column % extents[last];
  }
  TENON_HOST_DEVICE value_type value(index row, index column) const {
    return program.at(position(row, column)).value(0, no_slots{});
  }
  /// The matrix of the batch at `position` among the result's axes.
  template <int ResultRank>
  TENON_HOST_DEVICE folded_matrix at_batch(const array<index, ResultRank>& position) const {
    constexpr auto batches = Axes::batches;
    constexpr auto sources = Axes::result_batches;
    folded_matrix result = *this;
    for (int place = 0; place < batches.size(); ++place) result.batch[batches[place]] = position[sources[place]];
    return result;
  }

 private:
  /// The position along several axes, the last one fastest. Axes that have been merged into the last one take no
  /// division, others one of 32 bits where that will do: devices have none of 64.
  template <int Count>
  TENON_HOST_DEVICE void unfold(array<index, Rank>& result, const array<int, Count>& axes, index offset) const {
    for (int place = Count - 1; place > 0; --place) {
      const index extent = extents[axes[place]];
      index quotient = 0;
      if (offset >= extent) {
        quotient = (offset | extent) >> 32 == 0
                       ? static_cast<std::uint32_t>(offset) / static_cast<std::uint32_t>(extent)
                       : offset / extent;
      }
      result[axes[place]] = offset - quotient * extent;
      offset = quotient;
    }
    if constexpr (Count != 0) result[axes[0]] = offset;
  }
};

/// Merges the column axes into the last one as far as memory allows, so that columns come in long runs.
template <class Axes, int Rank, class Visit>
void merge_columns(array<index, Rank>& extents, Visit&& visit) {
  constexpr auto columns = Axes::columns;
  constexpr int last = columns[columns.size() - 1];
  stride_list<Rank> strides;
  visit(strides);
  if (strides.count > stride_list<Rank>::capacity) return;
  for (int place = columns.size() - 2; place >= 0; --place) {
    const int outer = columns[place];
    if (!strides.merge(outer, last, extents[last])) return;
    extents[last] *= extents[outer];
    extents[outer] = 1;
  }
}

/// The patches of images [groups, n, c, h, w] as a matrix: row (c, r, s), column (n, p, q); zero outside the image. Any
/// number of axes may follow the channels. Axis `GroupAxis` of a product's batches numbers the groups.
template <class Program, int Rank, int GroupAxis>
struct patch_matrix {
  using value_type = typename Program::value_type;
  Program program;
  patch_geometry<Rank> geometry;
  index group = 0;

  TENON_HOST_DEVICE value_type value(index row, index column) const {
    array<index, Rank + 3> position{};
    for (int axis = Rank - 1; axis >= 0; --axis) {
      const index place = geometry.place(axis, column % geometry.output[axis], row % geometry.kernel[axis]);
      if (place < 0) return value_type(0);
      position[3 + axis] = place;
      row /= geometry.kernel[axis], column /= geometry.output[axis];
    }
    position[0] = group, position[1] = column, position[2] = row;
    return program.at(position).value(0, no_slots{});
  }
  template <int ResultRank>
  TENON_HOST_DEVICE patch_matrix at_batch(const array<index, ResultRank>& position) const {
    return {program, geometry, position[GroupAxis]};
  }
};

/// A matrix with rows and columns exchanged.
template <class Matrix>
struct transposed_matrix {
  using value_type = typename Matrix::value_type;
  Matrix matrix;

  TENON_HOST_DEVICE value_type value(index row, index column) const { return matrix.value(column, row); }
  template <int ResultRank>
  TENON_HOST_DEVICE transposed_matrix at_batch(const array<index, ResultRank>& position) const {
    return {matrix.at_batch(position)};
  }
};

/// A matrix of batch 0, its column axes merged.
template <class Program, int Rank, class Axes>
void merge_columns(folded_matrix<Program, Rank, Axes>& matrix) {
  merge_columns<Axes>(matrix.extents, [&](auto&& visitor) { matrix.program.visit(visitor); });
}
/// A program over `extents` as such a matrix.
template <class Axes, class Program, int Rank>
folded_matrix<Program, Rank, Axes> merged_matrix(const Program& program, const array<index, Rank>& extents) {
  folded_matrix<Program, Rank, Axes> result{program, extents, {}};
  merge_columns(result);
  return result;
}

/// Merges axes of which windows are single elements into the last one as far as memory allows: then a product with
/// patches is one of plain matrices.
template <int Rank, class Visit>
void merge_plain_axes(patch_geometry<Rank>& patches, Visit&& visit) {
  constexpr int last = Rank - 1;
  stride_list<Rank + 3> strides;
  visit(strides);
  if (strides.count > stride_list<Rank + 3>::capacity || !patches.is_plain(last)) return;
  for (int axis = last - 1; axis >= 0 && patches.is_plain(axis); --axis) {
    if (!strides.merge(3 + axis, 3 + last, patches.image[last])) return;
    patches.image[last] *= patches.image[axis], patches.image[axis] = 1;
    patches.output[last] *= patches.output[axis], patches.output[axis] = 1;
  }
}

/// The patches of a convolution's images, batch 0, all axes as they are.
template <class Node>
auto patches_of_images(const Node& node) {
  const auto program = node.lower_image();
  return patch_matrix<std::remove_const_t<decltype(program)>, Node::spatial_axes, Node::result_axes::result_batches[0]>{
      program, node.patches()};
}

/// The right operand of a contraction, batch 0.
template <class Node>
auto right_matrix(const Node& node) {
  if constexpr (requires { node.right(); }) {
    return node.right();
  } else if constexpr (requires { node.lower_image(); }) {
    auto patches = patches_of_images(node);
    merge_plain_axes(patches.geometry, [&](auto&& visitor) { patches.program.visit(visitor); });
    if constexpr (Node::patches_transposed) return transposed_matrix<decltype(patches)>{patches};
    else return patches;
  } else {
    return merged_matrix<typename Node::right_axes>(node.lower_right(), node.right_extents());
  }
}

/// The left operand of a contraction, batch 0.
template <class Node>
auto left_matrix(const Node& node) {
  return merged_matrix<typename Node::left_axes>(node.lower_left(), node.left_extents());
}

/// Operand `I` of a node whose operands all have the batches of the result, batch 0.
template <int I, class Node>
auto operand_matrix(const Node& node) {
  return merged_matrix<typename Node::result_axes>(node.template lower_operand<I>(),
                                                   node.template operand_extents<I>());
}

/// Where the axes of a product lie among those of the statement; groups of channels are an axis of their own.
template <class Product>
auto result_map(const Product& product) {
  if constexpr (requires { product.result_map(); }) return product.result_map();
  else return identity_map<Product::shape_type::rank>();
}
template <class Product>
auto result_extents(const Product& product) {
  if constexpr (requires { product.result_extents(); }) return product.result_extents();
  else return product.shape().to_array();
}

/// Product of the extents of `axes`.
template <int Count, int Rank>
constexpr index extent_over(const array<int, Count>& axes, const array<index, Rank>& extents) {
  index product = 1;
  for (const int axis : axes) product *= extents[axis];
  return product;
}

/// Rows, columns, depth and batches of a contraction; batches are numbered in row-major order of their axes.
template <int Rank>
struct product_extents {
  index rows, columns, depth;
  array<index, Rank> batches;

  TENON_HOST_DEVICE array<index, Rank> batch_position(index batch) const {
    array<index, Rank> position{};
    set_position(position, batches, 0, Rank, batch);
    return position;
  }
  constexpr index batch_count() const { return count_between(batches, 0, Rank); }
};

/// The extents of a contraction node.
template <class Node>
auto extents_of_product(const Node& node) {
  using result_axes = typename Node::result_axes;
  const auto extents = result_extents(node);
  constexpr auto batches = result_axes::batches;
  constexpr auto numbered = result_axes::result_batches;
  auto counts = filled_array<Node::shape_type::rank>(index{1});
  for (int place = 0; place < batches.size(); ++place) counts[numbered[place]] = extents[batches[place]];
  return product_extents<Node::shape_type::rank>{extent_over(result_axes::rows, extents),
                                                 extent_over(result_axes::columns, extents), node.depth(), counts};
}

}  // namespace tenon
