// tenon/nn/key_value_cache.hpp: keys and values that attention keeps, for networks that write one token after another.
// A step maps its own tokens alone; what came before is read where it lies.
// Floor 7: may include base, core, device, expr, plan, algorithms, evaluate, grad, io, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/attention.hpp>
#include <tenon/nn/call.hpp>
#include <utility>

namespace tenon::nn {

/// Keys and values of the places that one attention layer has read, in memory for `capacity` places. A causal
/// `multihead_attention` takes it behind its input, under `no_grad`: `attention(x, cache)` is what the whole sequence
/// would give at the places of x. Attention that is written by hand calls `attend`.
/// extents   keys and values [batch, head, place, feature]
/// throws    error for a capacity below 1, and where another layer has read places; shape_error where they do not fit;
///           then nothing is kept of them
/// cost      a copy of what is new; memory is allocated by the first `append`, and where extents differ after `clear`
/// example   std::array<nn::key_value_cache<>, 4> seen;  // one for each layer
///           seen.fill(nn::key_value_cache<>(256));
template <memory_space Space = host, dtype T = float>
class key_value_cache {
 public:
  explicit key_value_cache(index capacity) : capacity_(capacity) {
    if (capacity < 1) throw error(compose_text("key_value_cache: capacity ", capacity, ", expected at least 1"));
  }

  key_value_cache(const key_value_cache&) = default;
  /// What was moved from has read no places.
  key_value_cache(key_value_cache&& other) noexcept
      : keys_(std::move(other.keys_)),
        values_(std::move(other.values_)),
        capacity_(other.capacity_),
        places_(std::exchange(other.places_, 0)),
        reader_(other.reader_) {}
  key_value_cache& operator=(key_value_cache other) noexcept {
    keys_ = std::move(other.keys_), values_ = std::move(other.values_);
    capacity_ = other.capacity_, places_ = other.places_, reader_ = other.reader_;
    return *this;
  }

  index capacity() const { return capacity_; }
  /// How many places were read since the cache was made or cleared.
  index places() const { return places_; }
  /// Begins a new sequence, in the same memory.
  void clear() { places_ = 0; }
  /// Notes who reads places: an address of it. Until the cache is cleared, another one is refused.
  void be_read_by(const char* name, const void* reader) {
    if (places_ != 0 && reader_ != reader) {
      throw error(compose_text(name, ": its key_value_cache has ", places_,
                               " places of another layer, or of a copy of ",
                               "this one; each layer needs a cache of its own"));
    }
    reader_ = reader;
  }
  /// Of the places that were read: views of as many places as there are now.
  view<const T, rank<4>, Space> keys() const { return part(keys_, 0, places_); }
  view<const T, rank<4>, Space> values() const { return part(values_, 0, places_); }

  /// Keeps keys and values of the next places.
  template <tensor_operand Keys, tensor_operand Values>
  void append(const Keys& new_keys, const Values& new_values) {
    static_assert(node_of<Keys>::shape_type::rank == 4 && node_of<Values>::shape_type::rank == 4,
                  "tenon: a key_value_cache takes keys and values [batch, head, place, feature]");
    const rank<4> keys_extents(new_keys.shape().to_array()), values_extents(new_values.shape().to_array());
    check_extents("keys", keys_extents, keys_), check_extents("values", values_extents, values_);
    check_agreement(keys_extents, values_extents);
    if (places_ == 0) prepare(keys_, keys_extents), prepare(values_, values_extents);
    const index next = places_ + keys_extents.extent(2);
    part(keys_, places_, next) = new_keys;
    part(values_, places_, next) = new_values;
    places_ = next;
  }
  /// Keeps the keys and values of the next places. Returns an expression in which each query sees all places up to its
  /// own. Options are those of attention; causality is set here.
  template <tensor_operand Query, tensor_operand Keys, tensor_operand Values>
  auto attend(const Query& query, const Keys& new_keys, const Values& new_values, attention_options options = {}) {
    return attempt([&] {
      append(new_keys, new_values);
      options.is_causal = true;
      options.first_query = places_ - new_keys.shape().extent(2);
      return scaled_dot_product_attention(query, keys(), values(), options);
    });
  }
  /// What `body()` returns. Where it throws, the places that it kept are forgotten.
  template <class Body>
  auto attempt(const Body& body) {
    const index before = places_;
    try {
      return body();
    } catch (...) {
      places_ = before;
      throw;
    }
  }

 private:
  using memory_type = tensor<T, rank<4>, Space>;

  /// The places from `first` to `last`.
  static view<T, rank<4>, Space> part(const memory_type& memory, index first, index last) {
    array<index, 4> extents = memory.shape().to_array();
    extents[2] = last - first;
    return {const_cast<T*>(memory.data()) + first * extents[3], rank<4>(extents), memory.view().strides()};
  }
  void prepare(memory_type& memory, const rank<4>& given) const {
    const rank<4> whole(given.extent(0), given.extent(1), capacity_, given.extent(3));
    if (memory.shape() != whole) memory = memory_type(whole);
  }
  void check_extents(const char* operand, const rank<4>& given, const memory_type& memory) const {
    if (places_ + given.extent(2) > capacity_) {
      throw shape_error(compose_text("key_value_cache: ", operand, ", axis 2: extent ", given.extent(2), " behind ",
                                     places_, " places, expected at most ", capacity_ - places_, " (", operand, " ",
                                     given.to_array(), ", capacity ", capacity_, ")"));
    }
    const rank<4> kept = memory.shape();
    for (const int axis : {0, 1, 3}) {
      if (places_ == 0 || given.extent(axis) == kept.extent(axis)) continue;
      throw shape_error(compose_text("key_value_cache: ", operand, ", axis ", axis, ": extent ", given.extent(axis),
                                     ", expected ", kept.extent(axis), " as of the places before (", operand, " ",
                                     given.to_array(), ")"));
    }
  }
  static void check_agreement(const rank<4>& keys_extents, const rank<4>& values_extents) {
    for (int axis = 0; axis < 3; ++axis) {
      if (keys_extents.extent(axis) == values_extents.extent(axis)) continue;
      throw shape_error(compose_text("key_value_cache: values, axis ", axis, ": extent ", values_extents.extent(axis),
                                     ", expected ", keys_extents.extent(axis), " as of keys (keys ",
                                     keys_extents.to_array(), ", values ", values_extents.to_array(), ")"));
    }
  }

  memory_type keys_, values_;
  index capacity_, places_ = 0;
  const void* reader_ = nullptr;
};

/// Attention of an input to itself and to the places that a cache has read before.
template <index Embed, index Heads, class Settings, memory_space Space, dtype T, tensor_operand Input>
struct layer_caller<multihead_attention_layer<Embed, Heads, Settings, Space, T>, Input, key_value_cache<Space, T>&> {
  using layer_type = multihead_attention_layer<Embed, Heads, Settings, Space, T>;

  static auto call(layer_type& layer, Input&& given, key_value_cache<Space, T>& cache) {
    static_assert(!Settings::value.kdim_vdim || must_hold<layer_type>,
                  "tenon: attention with a key_value_cache has one input, so keys have no features of their own");
    if (tenon::detail::is_tracing || !layer.is_causal) {
      throw error(compose_text(layer_type::name,
                               tenon::detail::is_tracing
                                   ? ": a key_value_cache keeps nothing for gradients; call under tenon::no_grad"
                                   : ": a key_value_cache knows the places before alone; set is_causal"));
    }
    cache.be_read_by(layer_type::name, layer.in_proj_weight.value.data());
    const auto input = detail::input_of(std::forward<Input>(given));
    (void)layer.output_shape(input.shape());
    const traced rows(layer.projection(input, layer.in_proj_weight.value.view()));
    const view<T, rank<3>, Space> projected(const_cast<T*>(rows.data()), rank<3>(rows.shape().to_array()));
    const auto part = [&](int number) { return layer.heads_of(projected, number); };
    const array<index, 3> extents{{rows.extent(0), rows.extent(1), layer.embed_dim}};
    auto& step = tenon::detail::taken_step<value_step>(extents[0] * extents[1] * extents[2]);
    tenon::detail::step_link<value_step> link(&step);
    const auto seen = step.value(rows_shape(extents));
    const view<T, rank<3>, Space> whole(seen.data(), rank<3>(extents));
    return cache.attempt([&] {
      layer.heads_of(whole, 0) = cache.attend(part(0), part(1), part(2));
      return layer.out_proj(traced(traced_leaf<T, rows_shape, Space>{seen, {link.handed_over()}}));
    });
  }

 private:
  using rows_shape = shape<dyn, dyn, Embed>;
  using value_step = tenon::detail::value_step<T, rows_shape, Space>;
};

}  // namespace tenon::nn
