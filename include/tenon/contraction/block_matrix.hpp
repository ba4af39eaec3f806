// tenon/contraction/block_matrix.hpp: matrices of weights in blocks of few bits, which products read as they are.
// Rows are blocks along the last axis, one behind the other; in a statement such a matrix stands for its numbers.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host_block_weights.hpp>
#include <tenon/device/threads.hpp>

namespace tenon {

namespace detail {

/// The bytes of a row of `columns` weights.
template <block_format Format>
constexpr index bytes_of_row(index columns) {
  return columns == dyn ? dyn : columns / Format::values * Format::bytes;
}

}  // namespace detail

/// A matrix of weights in blocks: `q8_0` takes 34 bytes for 32 weights, `q4_0` 18. In a statement it stands for its
/// numbers, of type float; the product `matmul(x, transpose(weights))` reads its bytes, and no number of it is ever in
/// memory. Bytes are those of GGUF, and what a network keeps of it as a buffer.
/// throws    shape_error where the columns are no whole blocks
/// example   const auto small = tn::block_quantise<tn::q4_0>(weight);  // [Out, In]
///           y = tn::relu(tn::matmul(x, tn::transpose(small)) + bias);
template <block_format Format, shape_type Shape = rank<2>, memory_space Space = host>
class block_matrix {
  static_assert(Shape::rank == 2, "tenon: weights in blocks are a matrix");
  static constexpr index row_bytes = detail::bytes_of_row<Format>(Shape::static_extent(1));
  static_assert(Shape::static_extent(1) == dyn || Shape::static_extent(1) % Format::values == 0 ||
                    must_hold<Format, at_axis<1>, Shape>,
                "tenon: rows of weights in blocks are whole blocks of 32");

 public:
  using kind = index_map_kind;
  using element = float;
  using space = Space;
  using shape_type = Shape;
  using bytes_type = tensor<std::uint8_t, tenon::shape<Shape::static_extent(0), row_bytes>, Space>;
  static constexpr tuple<> operands{};

  bytes_type bytes;  ///< [rows, bytes of a row]

  block_matrix() = default;
  explicit block_matrix(const Shape& extents) : bytes(shape_of_bytes(extents)) {}
  /// Takes the bytes of a file, [rows, bytes of a row].
  explicit block_matrix(bytes_type given) : bytes(std::move(given)) {
    if (bytes.extent(1) % Format::bytes == 0) return;
    throw shape_error(compose_text("block_matrix: ", Format::name, ": axis 1: ", bytes.extent(1),
                                   " bytes, expected a multiple of ", Format::bytes));
  }

  Shape shape() const {
    return Shape(array<index, 2>{{bytes.extent(0), bytes.extent(1) / Format::bytes * Format::values}});
  }
  index extent(int axis) const { return shape().extent(axis); }
  template <memory_space To>
  block_matrix<Format, Shape, To> to() const {
    return block_matrix<Format, Shape, To>(bytes.template to<To>());
  }

 private:
  static typename bytes_type::shape_type shape_of_bytes(const Shape& extents) {
    const index columns = extents.extent(1);
    if (columns % Format::values != 0) {
      throw shape_error(compose_text("block_matrix: ", Format::name, ": axis 1: extent ", columns,
                                     ", expected a multiple of ", Format::values));
    }
    return typename bytes_type::shape_type(array<index, 2>{{extents.extent(0), detail::bytes_of_row<Format>(columns)}});
  }
};

template <block_format Format, shape_type Shape, memory_space Space>
auto as_node(const block_matrix<Format, Shape, Space>& matrix) {
  const auto bytes = as_node(matrix.bytes);
  return block_values<Format, Shape, std::remove_const_t<decltype(bytes)>>{{{{bytes}}}, matrix.shape()};
}
template <block_format Format, shape_type Shape, memory_space Space>
auto as_node(block_matrix<Format, Shape, Space>& matrix) {
  return as_node(std::as_const(matrix));
}
template <block_format Format, shape_type Shape, memory_space Space>
auto as_node(block_matrix<Format, Shape, Space>&& matrix) {
  const auto extents = matrix.shape();
  const auto bytes = as_node(std::move(matrix.bytes));
  return block_values<Format, Shape, std::remove_const_t<decltype(bytes)>>{{{{bytes}}}, extents};
}

namespace detail {

/// A number that no block takes: one that is not finite, or one of which a step is beyond 16 bits.
template <block_format Format>
void check_block_numbers(const float* row, index columns, index number) {
  constexpr int most = 65504 * Format::steps;
  for (index i = 0; i < columns; ++i) {
    if (std::fabs(row[i]) <= static_cast<float>(most)) continue;
    throw error(compose_text("block_quantise: ", Format::name, ": row ", number, ", column ", i, ": ", row[i],
                             ", expected finite numbers of at most ", most));
  }
}

template <block_format Format>
void encode_rows(const float* from, const array<index, 2>& extents, std::uint8_t* to) {
  const index rows = extents[0], columns = extents[1];
  parallel_for(rows, 1 + 16384 / (columns + 1), [&](index first, index last) {
    for (index row = first; row < last; ++row) {
      const float* const numbers = from + row * columns;
      check_block_numbers<Format>(numbers, columns, row);
      std::uint8_t* block = to + row * bytes_of_row<Format>(columns);
      for (index i = 0; i < columns; i += Format::values, block += Format::bytes) Format::encode(numbers + i, block);
    }
  });
}

}  // namespace detail

/// A matrix of floats as weights in blocks along its rows. It lies where the operand does; its bytes are made on the
/// host.
/// extents   [rows, columns], of which the columns are a multiple of 32
/// accuracy  that of the format, `q8_0` or `q4_0`
/// throws    shape_error where the columns are no whole blocks, error for numbers that are not finite or too great
/// cost      reads each number twice; one block after another
/// source    quantize_row_q8_0_ref and quantize_row_q4_0_ref of ggml
/// example   const auto small = tn::block_quantise<tn::q8_0>(net.head.weight.value);
template <block_format Format, tensor_operand Operand>
auto block_quantise(Operand&& operand) {
  const auto node = as_node(std::forward<Operand>(operand));
  using node_type = std::remove_const_t<decltype(node)>;
  using shape_type = typename node_type::shape_type;
  static_assert(shape_type::rank == 2 || must_hold<node_type>, "tenon: weights in blocks are a matrix");
  using space =
      std::conditional_t<std::is_same_v<typename node_type::space, any_space>, host, typename node_type::space>;
  block_matrix<Format, shape_type> result(shape_type(node.shape().to_array()));
  const tensor<float, shape_type, space> there = cast<float>(node);
  const tensor<float, shape_type, host> numbers = there.template to<host>();
  detail::encode_rows<Format>(numbers.data(), {{node.shape().extent(0), node.shape().extent(1)}}, result.bytes.data());
  return result.template to<space>();
}

/// The numbers that a matrix of blocks stands for, in a statement or as a tensor.
/// cost      none of its own
/// example   const tn::tensor<float, tn::rank<2>> weight = tn::dequantise(small);
template <block_format Format, shape_type Shape, memory_space Space>
auto dequantise(const block_matrix<Format, Shape, Space>& matrix) {
  return as_node(matrix);
}

}  // namespace tenon
