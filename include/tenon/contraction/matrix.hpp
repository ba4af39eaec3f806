// tenon/contraction/matrix.hpp: programs seen as matrices.
// The core knows rows and columns only; these say which element of an operand, or which pixel of an image, each one is.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/convolve.hpp>
#include <tenon/plan/access.hpp>

namespace tenon {

/// A program over `Rank` axes as a matrix: `Axes` says over which axes the rows and the columns run.
template <class Program, int Rank, class Axes>
struct folded_matrix {
  using value_type = typename Program::value_type;
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
  /// The position along several axes, the last one fastest.
  template <int Count>
  TENON_HOST_DEVICE void unfold(array<index, Rank>& result, const array<int, Count>& axes, index offset) const {
    for (int place = Count - 1; place > 0; --place) {
      result[axes[place]] = offset % extents[axes[place]];
      offset /= extents[axes[place]];
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
    if (outer + 1 != columns[place + 1] || !strides.merge(outer, last, extents[last])) return;
    extents[last] *= extents[outer];
    extents[outer] = 1;
  }
}

/// The patches of an image [n, c, h, w] as a matrix: row (c, r, s), column (n, p, q); zero outside the image.
template <class Program>
struct patch_matrix {
  using value_type = typename Program::value_type;
  Program program;
  array<index, 4> image;
  array<index, 2> kernel;
  array<index, 2> output;
  window_geometry geometry;

  /// The row or column of the image that tap `tap` of window `window` sees, or -1.
  TENON_HOST_DEVICE index coordinate(int axis, index window, index tap) const {
    const index spread = window * geometry.stride[axis] + tap - geometry.padding[axis];
    if (spread < 0) return -1;
    const index step = geometry.image_step[axis];
    const index place = step == 1 ? spread : spread / step;
    return place < image[2 + axis] && place * step == spread ? place : -1;
  }
  TENON_HOST_DEVICE value_type value(index row, index column) const {
    const index s = row % kernel[1], r = row / kernel[1] % kernel[0], c = row / (kernel[1] * kernel[0]);
    const index q = column % output[1], p = column / output[1] % output[0], n = column / (output[1] * output[0]);
    const index y = coordinate(0, p, r), x = coordinate(1, q, s);
    if (y < 0 || x < 0) return value_type(0);
    return program.at(array<index, 4>{{n, c, y, x}}).value(0, no_slots{});
  }
  TENON_HOST_DEVICE patch_matrix at_batch(const array<index, 4>&) const { return *this; }
};

/// A matrix with rows and columns exchanged.
template <class Matrix>
struct transposed_matrix {
  using value_type = typename Matrix::value_type;
  Matrix matrix;

  TENON_HOST_DEVICE value_type value(index row, index column) const { return matrix.value(column, row); }
  TENON_HOST_DEVICE transposed_matrix at_batch(const array<index, 4>& other) const { return {matrix.at_batch(other)}; }
};

/// A program over `extents` as the matrix of batch 0, its column axes merged.
template <class Axes, class Program, int Rank>
folded_matrix<Program, Rank, Axes> merged_matrix(Program program, array<index, Rank> extents) {
  merge_columns<Axes>(extents, [&](auto&& visitor) { program.visit(visitor); });
  return {program, extents, {}};
}

/// The right operand of a contraction, batch 0.
template <class Node>
auto right_matrix(const Node& node) {
  if constexpr (requires { node.lower_image(); }) {
    auto program = node.lower_image();
    const patch_matrix<decltype(program)> patches{program, node.image_extents(), node.kernel(), node.output(),
                                                  node.geometry};
    if constexpr (Node::patches_transposed) {
      return transposed_matrix<patch_matrix<decltype(program)>>{patches};
    } else {
      return patches;
    }
  } else {
    return merged_matrix<typename Node::right_axes>(node.lower_right(), node.right_extents());
  }
}

/// The left operand of a contraction, batch 0.
template <class Node>
auto left_matrix(const Node& node) {
  return merged_matrix<typename Node::left_axes>(node.lower_left(), node.left_extents());
}

/// The extents of the axes `Axes::batches`, 1 for every other axis.
template <class Axes, int Rank>
constexpr array<index, Rank> batch_extents(const array<index, Rank>& extents) {
  auto result = filled_array<Rank>(index{1});
  for (const int axis : Axes::batches) result[axis] = extents[axis];
  return result;
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
  const auto extents = node.shape().to_array();
  return product_extents<Node::shape_type::rank>{extent_over(result_axes::rows, extents),
                                                 extent_over(result_axes::columns, extents), node.depth(),
                                                 batch_extents<result_axes>(extents)};
}

}  // namespace tenon
