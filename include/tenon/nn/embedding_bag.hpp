// tenon/nn/embedding_bag.hpp: rows of a table looked up by number and joined bag by bag.
// Names, options and shapes are those of torch.nn.EmbeddingBag.
// Floor 7: may include base, core, device, expr, plan, evaluate, algorithms, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/algorithms/search.hpp>
#include <tenon/nn/embedding.hpp>

namespace tenon::nn {

/// What becomes of the rows of a bag.
enum class bag_mode { sum, mean, max };
constexpr const char* name_of(bag_mode mode) {
  return mode == bag_mode::sum ? "sum" : mode == bag_mode::mean ? "mean" : "max";
}

/// Options of embedding bags, with PyTorch's names and defaults.
struct embedding_bag_options {
  bag_mode mode = bag_mode::mean;
  bool include_last_offset = false;    // whether the offsets end with the number of indices
  std::optional<index> padding_idx{};  // of indices that count in no bag
  std::optional<float> max_norm{};     // of rows, which are held to it when they are looked up
  float norm_type = 2;
  bool scale_grad_by_freq = false;  // not in mode `max`
};

/// The sum, mean or greatest elements of the rows of the weight that the indices of each bag name. Bag b holds the
/// indices from `offsets[b]` to before the next offset; one without any gives zeros. In mode `sum` each row may
/// be weighted. With `max_norm` the rows are shortened first, in place as PyTorch does; a const table stays as it is.
/// parameters  weight [Count, Width]
/// extents     indices and weights [n], offsets [bags] -> [bags, Width]
/// throws      index_error for an index outside [0, Count); shape_error when offsets do not ascend from 0 to at most n
///             or weights are not n; error for weights in another mode, and for scale_grad_by_freq in mode `max`
/// cost        the rows of all indices are stored once each way; sums are in the order of the indices, whatever the
///             number of threads; the offsets are looked at on the host
template <index Count, index Width, memory_space Space = host, dtype T = float>
struct embedding_bag : row_table<embedding_bag<Count, Width, Space, T>, Count, Width, Space, T> {
  static constexpr const char* name = "embedding_bag";
  template <space_or_element To>
  using moved = embedding_bag<Count, Width, space_after<To, Space>, element_after<To, T>>;
  using table = row_table<embedding_bag, Count, Width, Space, T>;
  using result_type = tensor<T, shape<dyn, Width>, Space>;
  embedding_bag_options options;

  embedding_bag(const embedding_bag_options& given = {}) : table(of_table(given)), options(given) {}
  embedding_bag(index count, index width, const embedding_bag_options& given = {})
      : table(shape<Count, Width>(count, width), of_table(given)), options(given) {}
  /// The sizes and options of a layer in another memory space or of other elements.
  template <memory_space Other, dtype U>
  explicit embedding_bag(const embedding_bag<Count, Width, Other, U>& other)
      : table(other.extents, other.table_options), options(other.options) {}

  template <shape_type Indices, shape_type Offsets, class... Weights>
  constexpr shape<dyn, Width> output_shape(const Indices&, const Offsets& offsets, const Weights&...) const {
    return shape<dyn, Width>(offsets.extent(0) - (options.include_last_offset ? 1 : 0), this->extents.extent(1));
  }
  template <class Indices, class... Others>
  result_type forward(const Indices& indices, const Others&... others) {
    this->limit_norms(indices);
    return std::as_const(*this).forward(indices, others...);
  }
  template <class Indices, class Offsets>
  result_type forward(const Indices& indices, const Offsets& offsets) const {
    return joined(indices, offsets, ones(indices));
  }
  template <class Indices, class Offsets, class Weights>
  result_type forward(const Indices& indices, const Offsets& offsets, const Weights& per_sample_weights) const {
    check_weights(indices, per_sample_weights);
    return joined(indices, offsets, as_node(per_sample_weights));
  }
  /// Leaves the gradient of the weight; `output` is what the forward pass gave.
  template <class Indices, class Offsets, class Output, class Gradient>
  void backward(const Indices& indices, const Offsets& offsets, const Output& output, const Gradient& gradient) {
    const line bags = bag_of_each(indices, offsets);
    if (options.mode == bag_mode::max) {
      set_greatest_gradient(indices, bags, output, gradient);
    } else if (options.mode == bag_mode::mean) {
      const auto counted = counts(indices, bags, bag_count(offsets));
      set_sum_gradient(indices, bags, ones(indices), as_node(gradient) / new_axis<-1>(maximum(counted, 1)));
    } else {
      set_sum_gradient(indices, bags, ones(indices), as_node(gradient));
    }
  }
  /// The same of weighted rows; writes the gradient of their weights to `destination`.
  template <class Indices, class Offsets, class Weights, class Output, class Gradient, class Destination>
  void backward(const Indices& indices, const Offsets& offsets, const Weights& per_sample_weights, const Output&,
                const Gradient& gradient, const Destination& destination) {
    check_weights(indices, per_sample_weights);
    const line bags = bag_of_each(indices, offsets);
    set_sum_gradient(indices, bags, as_node(per_sample_weights), as_node(gradient));
    if constexpr (is_wanted<Destination>) {
      const auto products = take(as_node(gradient), trusted(bags), axis<0>) * this->rows_at(indices);
      destination = sum(where(new_axis<-1>(is_padding(indices)), 0, products), drop<1>);
    }
  }
  /// The way back of a call: indices and offsets have no gradients.
  template <class Indices, class Offsets, class Output, class Gradient>
  void pull(const Indices& indices, const Offsets& offsets, const Output& output, const Gradient& gradient, not_wanted,
            not_wanted) {
    backward(indices, offsets, output, gradient);
  }
  template <class Indices, class Offsets, class Weights, class Output, class Gradient, class Destination>
  void pull(const Indices& indices, const Offsets& offsets, const Weights& per_sample_weights, const Output& output,
            const Gradient& gradient, not_wanted, not_wanted, const Destination& destination) {
    backward(indices, offsets, per_sample_weights, output, gradient, destination);
  }

 private:
  using line = tensor<index, rank<1>, Space>;

  /// throws    error for frequencies in mode `max`, where rows have no gradients of their own
  static embedding_options of_table(const embedding_bag_options& given) {
    if (given.scale_grad_by_freq && given.mode == bag_mode::max) {
      throw error(compose_text(name, ": scale_grad_by_freq: mode max, expected sum or mean"));
    }
    return {given.padding_idx, given.max_norm, given.norm_type, given.scale_grad_by_freq};
  }

  template <class Indices, class Offsets, class Weights>
  result_type joined(const Indices& indices, const Offsets& offsets, const Weights& weights) const {
    this->check_numbers(as_node(indices));
    const line bags = bag_of_each(indices, offsets);
    const index count = bag_count(offsets);
    result_type result(shape<dyn, Width>(count, this->extents.extent(1)));
    const auto left_out = new_axis<-1>(is_padding(indices));
    if (options.mode == bag_mode::max) {
      result = lowest();
      index_add(result, axis<0>, bags, where(left_out, lowest(), this->rows_at(indices)), maximum);
      result = where(new_axis<-1>(counts(indices, bags, count)) == 0, 0, result);
    } else {
      result = T(0.0f);
      index_add(result, axis<0>, bags, where(left_out, 0, this->rows_at(indices) * new_axis<-1>(weights)));
      if (options.mode == bag_mode::mean) {
        result = result / new_axis<-1>(maximum(counts(indices, bags, count), 1));
      }
    }
    return result;
  }
  /// `gradients` are those of the sums of bags.
  template <class Indices, class Weights, class Gradients>
  void set_sum_gradient(const Indices& indices, const line& bags, const Weights& weights, const Gradients& gradients) {
    this->set_gradient(indices, take(gradients, trusted(bags), axis<0>) * new_axis<-1>(weights));
  }
  /// The first of the greatest elements of a bag gets its gradient, as in PyTorch.
  template <class Indices, class Output, class Gradient>
  void set_greatest_gradient(const Indices& indices, const line& bags, const Output& output, const Gradient& gradient) {
    const index count = bags.size();
    const auto place = new_axis<-1>(numbers(count));
    const auto is_greatest = this->rows_at(indices) == take(as_node(output), trusted(bags), axis<0>);
    tensor<index, rank<2>, Space> first(output.shape());
    first = count;
    index_add(first, axis<0>, bags,
              where(is_greatest && !new_axis<-1>(is_padding(indices)), broadcast_to(place, is_greatest.shape()), count),
              minimum);
    this->set_gradient(indices, where(take(first, trusted(bags), axis<0>) == place,
                                      take(as_node(gradient), trusted(bags), axis<0>), 0));
  }

  /// How many indices each bag counts.
  template <class Indices>
  auto counts(const Indices& indices, const line& bags, index bag_count) const {
    tensor<float, rank<1>, Space> result = zeros<float, Space>(rank<1>(bag_count));
    index_add(result, axis<0>, bags, where(is_padding(indices), 0.0f, 1.0f));
    return result;
  }
  template <class Indices>
  static auto ones(const Indices& indices) {
    return constants(rank<1>(indices.shape().extent(0)), T(1.0f));
  }
  template <class Indices>
  auto is_padding(const Indices& indices) const {
    return cast<index>(as_node(indices)) == this->padding_row;
  }
  static auto numbers(index count) { return progression<index>(count, 0, 1); }
  static T lowest() { return T(-std::numeric_limits<float>::infinity()); }

  /// The bag of every index.
  template <class Indices, class Offsets>
  line bag_of_each(const Indices& indices, const Offsets& offsets) const {
    static_assert(Indices::shape_type::rank == 1 && Offsets::shape_type::rank == 1,
                  "tenon: indices and offsets of an embedding bag have one axis");
    const index count = indices.shape().extent(0);
    const line starts(cast<index>(as_node(offsets)));
    check_starts(starts.template to<host>(), count);
    const line places(numbers(count));
    return line(searchsorted(slice(starts, range(0, bag_count(starts))), places, {.right = true}) - 1);
  }
  template <class Offsets>
  index bag_count(const Offsets& offsets) const {
    return offsets.shape().extent(0) - (options.include_last_offset ? 1 : 0);
  }
  void check_starts(const tensor<index, rank<1>, host>& starts, index count) const {
    if (bag_count(starts) < 0 || (starts.size() == 0 && count != 0)) {
      throw shape_error(compose_text(name, ": offsets: none, expected at least one"));
    }
    index least = 0, greatest = 0;
    for (index place = 0; place < starts.size(); ++place, greatest = count) {
      const index start = starts.data()[place];
      if (options.include_last_offset && place == starts.size() - 1) least = count;
      if (start < least || start > greatest) {
        throw shape_error(
            compose_text(name, ": offsets: ", start, " at ", place, ", expected from ", least, " to ", greatest));
      }
      least = start;
    }
  }
  template <class Indices, class Weights>
  void check_weights(const Indices& indices, const Weights& weights) const {
    static_assert(Weights::shape_type::rank == 1, "tenon: weights of an embedding bag are those of its indices");
    if (options.mode != bag_mode::sum) {
      throw error(compose_text(name, ": per_sample_weights: mode ", name_of(options.mode), ", expected sum"));
    }
    if (weights.shape().extent(0) != indices.shape().extent(0)) {
      throw shape_error(compose_text(name, ": per_sample_weights: ", weights.shape().extent(0), ", expected ",
                                     indices.shape().extent(0), " as there are indices"));
    }
  }
};

}  // namespace tenon::nn
