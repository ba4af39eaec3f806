// tenon/nn/embedding.hpp: rows of a table looked up by number: words as vectors.
// Names, options, shapes and initialisation are those of torch.nn.Embedding.
// Floor 7: may include base, core, device, expr, plan, evaluate, algorithms, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <tenon/algorithms/scatter.hpp>
#include <tenon/expr/views/take.hpp>
#include <tenon/nn/layer.hpp>

namespace tenon::nn {

/// Options of embeddings, with PyTorch's names and defaults.
struct embedding_options {
  std::optional<index> padding_idx{};  // a row of zeros that gets no gradient; negative numbers count from the back
  std::optional<float> max_norm{};     // of rows; longer ones are made as short when they are looked up
  float norm_type = 2;                 // which p-norm that is
  bool scale_grad_by_freq = false;     // gradients of a row are averaged, not summed
};

/// A weight of `Count` rows of `Width` numbers, what embeddings look up; sizes are template arguments, or `dyn` and
/// given to the constructor.
template <class Layer, index Count, index Width, memory_space Space, dtype T>
struct row_table : callable<Layer> {
  using space = Space;
  using element = T;
  shape<Count, Width> extents{};  ///< of the weight
  embedding_options table_options{};
  index padding_row = -1;  ///< -1: none
  parameter<T, shape<Count, Width>, Space> weight;

  explicit row_table(const embedding_options& options = {}) : row_table(shape<Count, Width>{}, options) {
    static_assert((Count != dyn && Width != dyn) || must_hold<Layer>,
                  "tenon: sizes that the type does not know are given to the constructor");
  }
  /// throws    index_error when there is no such row; error for a norm that makes no sense
  row_table(const shape<Count, Width>& given, const embedding_options& options)
      : extents(given), table_options(options), weight(unwritten_parameter<T, Space>(given)) {
    if (!(options.norm_type > 0) || options.max_norm.value_or(0) < 0) {
      throw error(compose_text(Layer::name, ": norm_type ", options.norm_type, " and max_norm ",
                               options.max_norm.value_or(0), ", expected a positive number and none below 0"));
    }
    const std::optional<index>& padding = options.padding_idx;
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
    using number = typename Indices::element;
    static_assert(is_integer<number> || must_hold<Layer, number>, "tenon: the rows of an embedding have integers");
    if (indices.shape().count() == 0) return;
    const auto least = static_cast<number>(min(indices)), greatest = static_cast<number>(max(indices));
    if (least >= number(0) && tenon::detail::nearest_index(greatest) < extents.extent(0)) return;
    throw index_error(compose_text(Layer::name, ": index ", least < number(0) ? least : greatest,
                                   ", expected at least 0 and below ", extents.extent(0)));
  }
  /// Makes the rows that `indices` names as short as `max_norm`, if there is one, where they are longer.
  /// source    torch.embedding_renorm_, its 1e-7 included
  template <class Indices>
  void limit_norms(const Indices& indices) {
    if (!table_options.max_norm || indices.shape().count() == 0) return;
    this->check_numbers(as_node(indices));
    const tensor<index, rank<1>, Space> numbers(tenon::flatten(cast<index>(as_node(indices))));
    const tensor<T, shape<dyn, Width>, Space> rows(rows_at(numbers));
    const auto norms = norms_of(rows);
    const float greatest = *table_options.max_norm;
    index_add(weight.value, axis<0>, numbers, rows * where(norms > greatest, greatest / (norms + 1e-7f), 1), overwrite);
  }
  /// Sums the rows of `gradients` to the rows of the table that `indices` names, in order, or averages them.
  template <class Indices, class Gradients>
  void set_gradient(const Indices& indices, const Gradients& gradients) {
    weight.gradient = constants(extents, T(0.0f));
    index_add(weight.gradient, axis<0>, indices, gradients);
    if (table_options.scale_grad_by_freq) {
      tensor<float, shape<Count>, Space> counts = zeros<float, Space>(shape<Count>(extents.extent(0)));
      scatter(counts, axis<0>, indices, 1.0f, add);
      weight.gradient = weight.gradient / new_axis<-1>(maximum(counts, 1));
    }
    clear_padding(weight.gradient);
  }

 private:
  auto norms_of(const tensor<T, shape<dyn, Width>, Space>& rows) const {
    auto norms = evaluated_tensor(norm_l2(rows, axis<1>));  // its type by name would be one that nvcc takes for another
    if (std::isinf(table_options.norm_type)) norms = norm_inf(rows, axis<1>);
    else if (table_options.norm_type != 2) norms = norm(rows, table_options.norm_type, axis<1>);
    return norms;
  }
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
/// With `max_norm` the rows are shortened first, in place as PyTorch does; a const table stays as it is.
/// cost        two reductions of the indices and a wait, then one kernel; backward a sum in the order of the indices,
///             whatever the number of threads (`index_add`), before which a gradient that is no tensor is evaluated
template <index Count, index Width, memory_space Space = host, dtype T = float>
struct embedding : row_table<embedding<Count, Width, Space, T>, Count, Width, Space, T> {
  static constexpr const char* name = "embedding";
  template <space_or_element To>
  using moved = embedding<Count, Width, space_after<To, Space>, element_after<To, T>>;
  using table = row_table<embedding, Count, Width, Space, T>;

  embedding() = default;
  explicit embedding(const embedding_options& options) : table(options) {}
  embedding(index count, index width, const embedding_options& options = {})
      : table(shape<Count, Width>(count, width), options) {}
  /// The sizes and options of a layer in another memory space or of other elements.
  template <memory_space Other, dtype U>
  explicit embedding(const embedding<Count, Width, Other, U>& other) : table(other.extents, other.table_options) {}

  template <shape_type Input>
  constexpr auto output_shape(const Input& input) const {
    return tenon::detail::taken_shape<0>(this->extents, input);
  }
  template <class Input>
  auto forward(const Input& input) {
    this->limit_norms(input);
    return std::as_const(*this).forward(input);
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
