// tenon/nn/embedding.hpp: rows of a table looked up by number: words as vectors.
// Names, options, shapes and initialisation are those of torch.nn.Embedding.
// Floor 7: may include base, core, device, expr, plan, evaluate, algorithms, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tenon/algorithms/scatter.hpp>
#include <tenon/expr/views/take.hpp>
#include <tenon/nn/module.hpp>

namespace tenon::nn {

/// Options of embeddings, with PyTorch's names and defaults.
struct embedding_options {
  std::optional<index> padding_idx{};  // a row of zeros that gets no gradient; negative numbers count from the back
};

/// A weight of `Count` rows of `Width` numbers, what embeddings look up; sizes are template arguments, or `dyn` and
/// given to the constructor.
template <class Layer, index Count, index Width, memory_space Space, dtype T>
struct row_table {
  using space = Space;
  shape<Count, Width> extents{};  ///< of the weight
  index padding_row = -1;         ///< -1: none
  parameter<T, shape<Count, Width>, Space> weight;

  explicit row_table(const std::optional<index>& padding = {}) : row_table(shape<Count, Width>{}, padding) {
    static_assert((Count != dyn && Width != dyn) || must_hold<Layer>,
                  "tenon: sizes that the type does not know are given to the constructor");
  }
  /// throws    index_error when there is no such row
  explicit row_table(const shape<Count, Width>& given, const std::optional<index>& padding = {}) : extents(given) {
    if (!padding) return;
    const index count = extents.extent(0);
    if (*padding < -count || *padding >= count) {
      throw index_error(
          compose_text(Layer::name, ": padding_idx: ", *padding, ", expected at least ", -count, " and below ", count));
    }
    padding_row = *padding < 0 ? *padding + count : *padding;
  }

  /// Draws rows from the standard normal distribution.
  void initialise(std::uint64_t seed) {
    weight = {tensor<T, shape<Count, Width>, Space>(normal<T>(extents, seed)), zeros<T, Space>(extents)};
    clear_padding(weight.value);
  }
  template <space_or_element To>
  auto to() const {
    typename Layer::template moved<To> copy(static_cast<const Layer&>(*this));
    copy.weight = weight.template to<To>();
    return copy;
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", weight);
  }

 protected:
  /// The rows with these numbers, a row at the place of each.
  template <class Indices>
  auto rows_at(const Indices& indices) const {
    return take(weight.value, trusted(indices), axis<0>);
  }
  /// throws    index_error naming a number that no row has
  template <class Indices>
  void check_numbers(const Indices& indices) const {
    using element = typename Indices::element;
    static_assert(is_integer<element> || must_hold<Layer, element>, "tenon: the rows of an embedding have integers");
    if (indices.shape().count() == 0) return;
    const auto least = static_cast<index>(static_cast<element>(min(indices)));
    const auto greatest = static_cast<index>(static_cast<element>(max(indices)));
    if (least >= 0 && greatest < extents.extent(0)) return;
    throw index_error(compose_text(Layer::name, ": index ", least < 0 ? least : greatest,
                                   ", expected at least 0 and below ", extents.extent(0)));
  }
  /// Sums the rows of `gradients` to the rows of the table that `indices` names, in order.
  template <class Indices, class Gradients>
  void set_gradient(const Indices& indices, const Gradients& gradients) {
    weight.gradient = constants(extents, T(0.0f));
    index_add(weight.gradient, axis<0>, indices, gradients);
    clear_padding(weight.gradient);
  }

 private:
  template <class Rows>
  void clear_padding(Rows& rows) const {
    if (padding_row >= 0) slice(rows, only(padding_row)) = 0;
  }
};

namespace detail {

/// An operand's elements, one position after another: a tensor as it is, all else evaluated.
template <class Operand>
decltype(auto) as_tensor(const Operand& operand) {
  if constexpr (tenon::detail::is_tensor<Operand>) return (operand);
  else return evaluated_tensor(operand);
}

}  // namespace detail

/// The rows of the weight that indices name.
/// parameters  weight [Count, Width]
/// extents     [...] -> [..., Width]
/// throws      index_error for an index outside [0, Count)
/// cost        two reductions of the indices and a wait, then one kernel; backward a sum in the order of the indices,
///             whatever the number of threads (`index_add`), before which a gradient that is no tensor is evaluated
template <index Count, index Width, memory_space Space = host, dtype T = float>
struct embedding : row_table<embedding<Count, Width, Space, T>, Count, Width, Space, T> {
  static constexpr const char* name = "embedding";
  template <space_or_element To>
  using moved = embedding<Count, Width, space_after<To, Space>, element_after<To, T>>;
  using table = row_table<embedding, Count, Width, Space, T>;

  embedding() = default;
  explicit embedding(const embedding_options& options) : table(options.padding_idx) {}
  embedding(index count, index width, const embedding_options& options = {})
      : table(shape<Count, Width>(count, width), options.padding_idx) {}
  /// The sizes and options of a layer in another memory space or of other elements.
  template <memory_space Other, dtype U>
  explicit embedding(const embedding<Count, Width, Other, U>& other) : table(other.extents) {
    this->padding_row = other.padding_row;
  }

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    return tenon::detail::taken_shape<0>(this->extents, input);
  }
  template <class Input>
  auto forward(const Input& input) const {
    this->check_numbers(as_node(input));
    return this->rows_at(input);
  }
  template <class Input, class Output, class Gradient, class Destination>
  void backward(const Input& input, const Output&, const Gradient& gradient, const Destination&) {
    static_assert(!is_wanted<Destination> || must_hold<Destination>, "tenon: indices have no gradient");
    const auto& indices = detail::as_tensor(input);
    const auto& gradients = detail::as_tensor(gradient);
    this->set_gradient(tenon::flatten(indices), reshape(gradients, rank<2>(indices.size(), this->extents.extent(1))));
  }
};

}  // namespace tenon::nn
