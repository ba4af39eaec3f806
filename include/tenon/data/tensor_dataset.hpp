// tenon/data/tensor_dataset.hpp: examples that lie in memory, as tensors or as windows of one.
// The first axis counts examples; a batch is a tuple of tensors, `for (const auto& [x, y] : batches.epoch(0))`.
// Floor 6: may include base, core, device, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/data/batch.hpp>
#include <utility>

namespace tenon::data {

/// A data set in memory. Example i is part i of every tensor: an image and its label, a row of a table and its value.
/// Of views and expressions it keeps the values.
/// extents   tensors [count, ...]; batches [batch, ...]
/// throws    shape_error when the tensors differ in their number of examples
/// source    torch.utils.data.TensorDataset
/// example   data::tensor_dataset examples(io::read_npy<float, 2>("x.npy"), io::read_npy<std::int64_t, 1>("y.npy"));
template <class... Tensors>
class tensor_dataset {
 public:
  using batch_type =
      std::tuple<batch_tensor<typename Tensors::element, example_shape<typename Tensors::shape_type>>...>;
  static_assert(sizeof...(Tensors) > 0, "tenon: a data set has at least one tensor");
  static_assert((Tensors::space::host_accessible && ...), "tenon: examples lie on the host; x.to<tenon::host>()");

  explicit tensor_dataset(Tensors... tensors) : tensors_(std::move(tensors)...), size_(first().extent(0)) {
    for_each([&](auto number) {
      const index count = std::get<number>(tensors_).extent(0);
      if (count == size_) return;
      throw shape_error(compose_text("tensor_dataset: tensor ", std::size_t{number}, ": axis 0: extent ", count,
                                     ", expected ", size_, " as of the first"));
    });
  }

  index size() const { return size_; }
  batch_type make_batch(index count) const {
    return std::apply(
        [&](const Tensors&... each) {
          return batch_type(make_batch_tensor<typename Tensors::element>(count, extents_of_example(each.shape()))...);
        },
        tensors_);
  }
  void copy_example(index i, batch_type& batch, index place) const {
    for_each([&](auto number) {
      copy_elements(example_at(std::get<number>(tensors_), i), example_at(std::get<number>(batch), place));
    });
  }
  const std::tuple<Tensors...>& tensors() const { return tensors_; }

 private:
  const auto& first() const { return std::get<0>(tensors_); }
  template <class Body>
  static void for_each(Body&& body) {
    [&]<std::size_t... I>(std::index_sequence<I...>) {
      (body(std::integral_constant<std::size_t, I>{}), ...);
    }(std::index_sequence_for<Tensors...>{});
  }

  std::tuple<Tensors...> tensors_;
  index size_;
};

namespace detail {
/// How a data set holds its examples: a view or an expression becomes the tensor of its values.
template <class Examples>
struct kept_examples {
  using type = Examples;
};
template <class T, shape_type Shape>
struct kept_examples<view<T, Shape, host>> {
  using type = tensor<std::remove_const_t<T>, Shape>;
};
template <expression_node Expression>
struct kept_examples<Expression> {
  using type = tensor<typename Expression::element, typename Expression::shape_type>;
};
}  // namespace detail
template <class... Parts>
tensor_dataset(Parts...) -> tensor_dataset<typename detail::kept_examples<Parts>::type...>;

/// Length of the windows of a sequence, and the distance between them.
struct window_options {
  index length = 64;
  index stride = 0;  ///< from the start of a window to the next one's; 0: as long as a window
};

/// Windows of a sequence of tokens, each with the window one token later: what a language model sees, and what it is
/// to say. Tokens behind the last whole window are left out.
/// extents   batches [batch, length] and [batch, length]
/// throws    shape_error for a length below 1 or a negative stride
class token_windows {
 public:
  using batch_type = std::tuple<batch_tensor<std::int64_t, rank<1>>, batch_tensor<std::int64_t, rank<1>>>;

  token_windows(tensor<std::int64_t, rank<1>> tokens, const window_options& options)
      : tokens_(std::move(tokens)), length_(options.length), stride_(options.stride == 0 ? length_ : options.stride) {
    if (length_ < 1 || stride_ < 1) {
      throw shape_error(compose_text("token_windows: length ", options.length, ", stride ", options.stride,
                                     ", expected at least 1 and 0"));
    }
  }
  index size() const { return tokens_.size() <= length_ ? 0 : (tokens_.size() - length_ - 1) / stride_ + 1; }
  batch_type make_batch(index count) const {
    const rank<1> extents(length_);
    return {make_batch_tensor<std::int64_t>(count, extents), make_batch_tensor<std::int64_t>(count, extents)};
  }
  void copy_example(index i, batch_type& batch, index place) const {
    copy_elements(window(i * stride_), example_at(std::get<0>(batch), place));
    copy_elements(window(i * stride_ + 1), example_at(std::get<1>(batch), place));
  }

 private:
  view<const std::int64_t, rank<1>> window(index first) const { return {tokens_.data() + first, rank<1>(length_)}; }

  tensor<std::int64_t, rank<1>> tokens_;
  index length_, stride_;
};

}  // namespace tenon::data
