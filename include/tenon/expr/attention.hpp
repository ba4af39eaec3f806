// tenon/expr/attention.hpp: scaled dot-product attention.
// A node like a contraction, whose left operand, the weights, is made of scores while it is multiplied.
// Floor 2: may include base, core, expr.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <limits>
#include <tenon/expr/matmul.hpp>
#include <tenon/expr/random.hpp>

namespace tenon {

/// Options of attention, with PyTorch's names where it has them.
struct attention_options {
  bool is_causal = false;  // query i sees the keys up to i + first_query
  double scale = 0;        // of each score; 0: 1 / sqrt(features)
  index first_query = 0;   // where the first query stands among the keys: behind those of earlier steps
  double softcap = 0;      // c tanh(score / c) in place of a score; 0: the score

  bool operator==(const attention_options&) const = default;
};

/// Weights that are left out at random, each with probability `p`; the others are divided by what is left. As drawn by
/// `bernoulli` with the same seed over the extents of the scores.
struct attention_dropout {
  double p = 0;
  random_seed seed{};
};

namespace detail {

/// Names the operation in messages.
struct attention_operation {
  static constexpr const char* name = "scaled_dot_product_attention";
};

/// As matrix_axes, of a program over [batches..., rows, columns].
template <int Rank>
struct batched_axes {
  static constexpr array<int, 1> rows{{Rank - 2}}, columns{{Rank - 1}};
  static constexpr auto batches = consecutive_axes<Rank - 2>(0), result_batches = batches;
};

/// The program of an operand over `Rank` axes [batches..., rows, columns], or [batches..., columns, rows]. Axes that it
/// lacks, or of which it has 1, repeat.
template <int Rank, class Operand>
auto lower_in_batches(const Operand& operand, bool is_exchanged) {
  constexpr int own_rank = Operand::shape_type::rank;
  axis_map<own_rank, Rank> map{};
  for (int place = 0; place < Rank; ++place) {
    const int axis = (is_exchanged && place >= Rank - 2 ? 2 * Rank - 3 - place : place) - (Rank - own_rank);
    const bool moves = axis >= 0 && operand.shape().extent(axis) != 1;
    map.target[place] = moves ? axis : -1;
    map.step[place] = moves ? 1 : 0;
  }
  return operand.template lower<0>(map);
}

/// The extents `batches`, and behind them those of a matrix.
template <index Rows, index Columns, class Batches, int... I>
auto matrix_shape(const Batches& batches, index rows, index columns, std::integer_sequence<int, I...>) {
  constexpr int rank = static_cast<int>(sizeof...(I)) + 2;
  return shape<Batches::static_extent(I)..., Rows, Columns>(array<index, rank>{{batches.extent(I)..., rows, columns}});
}

/// The rows and columns of a mask are those of the scores, or 1.
template <class Mask>
void check_mask(const Mask& mask, index queries, index keys) {
  const index expected[] = {keys, queries};
  for (int back = 0; back < 2 && back < Mask::rank; ++back) {
    const index extent = mask.extent(Mask::rank - 1 - back);
    if (extent == 1 || extent == expected[back]) continue;
    throw shape_error(compose_text(attention_operation::name, ": mask, axis ", Mask::rank - 1 - back, ": extent ",
                                   extent, ", expected ", expected[back], back == 0 ? " keys" : " queries",
                                   " or 1 (mask ", mask.to_array(), ")"));
  }
}

template <class Query, class Key, class Value>
void check_attention(const Query& query, const Key& key, const Value& value) {
  const index features = query.extent(Query::rank - 1), keys = key.extent(Key::rank - 2);
  if (key.extent(Key::rank - 1) != features) {
    throw shape_error(compose_text(attention_operation::name, ": key, axis ", Key::rank - 1, ": extent ",
                                   key.extent(Key::rank - 1), ", expected ", features, " as of queries (query ",
                                   query.to_array(), ", key ", key.to_array(), ")"));
  }
  if (value.extent(Value::rank - 2) != keys) {
    throw shape_error(compose_text(attention_operation::name, ": value, axis ", Value::rank - 2, ": extent ",
                                   value.extent(Value::rank - 2), ", expected ", keys, " as of keys (key ",
                                   key.to_array(), ", value ", value.to_array(), ")"));
  }
}

inline void check_options(const attention_options& options) {
  if (std::isnan(options.scale)) {
    throw error(compose_text(attention_operation::name, ": scale NaN, expected a number, or 0 for 1 / sqrt(features)"));
  }
  if (options.softcap >= 0) return;
  throw error(compose_text(attention_operation::name, ": softcap ", options.softcap,
                           ", expected a number above 0, or 0 for none"));
}

}  // namespace detail

/// Queries [..., l, e], keys [..., s, e], values [..., s, v], what is added to scores [..., l, s], and what weights are
/// multiplied by: numbers where that is nothing.
template <class Query, class Key, class Value, class Bias, class Factor = scalar<float>>
struct attention {
  using kind = contraction_kind;
  static constexpr const char* name = "attention";
  using element = promoted_element<Query, Key, Value>;
  using accumulator = sum_type<element>;
  using space = typename common_space<typename Query::space, typename Key::space, typename Value::space,
                                      typename Bias::space, typename Factor::space>::type;
  using batch_shape =
      broadcast_shape<decltype(detail::batch_shape(std::declval<const typename Query::shape_type&>())),
                      decltype(detail::batch_shape(std::declval<const typename Key::shape_type&>())),
                      decltype(detail::batch_shape(std::declval<const typename Value::shape_type&>())),
                      decltype(detail::batch_shape(std::declval<const typename Bias::shape_type&>())),
                      decltype(detail::batch_shape(std::declval<const typename Factor::shape_type&>()))>;
  static constexpr int rank = batch_shape::rank + 2;
  using shape_type = decltype(detail::matrix_shape<Query::shape_type::static_extent(Query::shape_type::rank - 2),
                                                   Value::shape_type::static_extent(Value::shape_type::rank - 1)>(
      std::declval<const batch_shape&>(), 0, 0, std::make_integer_sequence<int, rank - 2>{}));
  using result_axes = detail::batched_axes<rank>;
  static constexpr bool has_bias = !detail::is_scalar_node<Bias>, has_factor = !detail::is_scalar_node<Factor>;

  tuple<Query, Key, Value, Bias, Factor> operands;
  shape_type extents;
  attention_options options;

  const shape_type& shape() const { return extents; }
  index features() const { return get<0>(operands).shape().extent(Query::shape_type::rank - 1); }
  index keys() const { return get<1>(operands).shape().extent(Key::shape_type::rank - 2); }
  index depth() const { return keys(); }
  /// What each product of a query and a key is multiplied by.
  double scale() const {
    if (options.scale != 0) return options.scale;
    return features() == 0 ? 1 : 1 / std::sqrt(static_cast<double>(features()));  // without features all scores are 0
  }
  /// This node on other operands of the same extents.
  template <class... Others>
  auto with_operands(const tuple<Others...>& others) const {
    using node = attention<Others...>;
    return node{others, typename node::shape_type(extents), options};
  }

  template <int FirstSlot, int Outer>
  auto lower(const axis_map<rank, Outer>&) const {
    constexpr int slots =
        slot_count<Query> + slot_count<Key> + slot_count<Value> + slot_count<Bias> + slot_count<Factor>;
    return slot_source<FirstSlot + slots, compute_type<element>>{};
  }
  /// Operand `I` over [batches..., rows, columns], keys over [batches..., features, keys].
  template <int I>
  auto lower_operand() const {
    return detail::lower_in_batches<rank>(get<I>(operands), I == 1);
  }
  /// The extents of what `lower_operand<I>` gives.
  template <int I>
  array<index, rank> operand_extents() const {
    auto result = extents.to_array();
    if constexpr (I == 1) result[rank - 2] = features();
    else if constexpr (I == 2) result[rank - 2] = keys();
    if constexpr (I == 0) result[rank - 1] = features();
    else if constexpr (I != 2) result[rank - 1] = keys();
    return result;
  }
};

/// Whether a contraction is attention.
template <class Node>
inline constexpr bool is_attention = false;
template <class... Operands>
inline constexpr bool is_attention<attention<Operands...>> = true;

namespace detail {

/// `factor` multiplies weights, after their sum is taken: what dropout makes of them.
template <class Query, class Key, class Value, class Bias, class Factor = scalar<float>>
auto make_attention(const Query& query, const Key& key, const Value& value, const Bias& bias,
                    const attention_options& options, const Factor& factor = {1.0f}) {
  using node = attention<Query, Key, Value, Bias, Factor>;
  check_options(options), check_attention(query.shape(), key.shape(), value.shape());
  const index queries = query.shape().extent(Query::shape_type::rank - 2);
  const index keys = key.shape().extent(Key::shape_type::rank - 2);
  check_mask(bias.shape(), queries, keys), check_mask(factor.shape(), queries, keys);
  const auto batches = broadcast_all<attention_operation>(batch_shape(query.shape()), batch_shape(key.shape()),
                                                          batch_shape(value.shape()), batch_shape(bias.shape()),
                                                          batch_shape(factor.shape()));
  const auto columns = value.shape().extent(Value::shape_type::rank - 1);
  return node{{{{query}, {key}, {value}, {bias}, {factor}}},
              typename node::shape_type(
                  matrix_shape<dyn, dyn>(batches, queries, columns, std::make_integer_sequence<int, node::rank - 2>{})
                      .to_array()),
              options};
}

/// What a mask adds to scores: minus infinity where it is false; what it is, where it is a number.
template <class Mask>
auto bias_of_mask(const Mask& mask) {
  if constexpr (std::is_same_v<typename Mask::element, bool>) {
    return where(mask, 0.0f, -std::numeric_limits<float>::infinity());
  } else {
    return mask;
  }
}

template <class Operand>
inline constexpr bool is_matrix_of_floats = [] {
  using type = std::remove_cvref_t<Operand>;
  return type::shape_type::rank >= 2 && is_floating<typename type::element> && !is_complex<typename type::element>;
}();

/// What dropout multiplies weights by: 0, or 1 / what is kept.
template <class Query, class Key, class Value, class Bias>
auto dropout_factor(const Query& query, const Key& key, const Value& value, const Bias& bias,
                    const attention_dropout& dropout) {
  const auto batches = broadcast_all<attention_operation>(batch_shape(query.shape()), batch_shape(key.shape()),
                                                          batch_shape(value.shape()), batch_shape(bias.shape()));
  constexpr int rank = decltype(batches)::rank + 2;
  const auto extents = matrix_shape<dyn, dyn>(batches, query.shape().extent(Query::shape_type::rank - 2),
                                              key.shape().extent(Key::shape_type::rank - 2),
                                              std::make_integer_sequence<int, rank - 2>{});
  if (!(dropout.p >= 0 && dropout.p < 1)) {
    throw error(compose_text(attention_operation::name, ": dropout ", dropout.p, ", expected at least 0 and below 1"));
  }
  return where(bernoulli<bool>(extents, dropout.seed, 1 - dropout.p), static_cast<float>(1 / (1 - dropout.p)), 0.0f);
}

template <class Query, class Key, class Value, class Bias>
auto make_attention(const Query& query, const Key& key, const Value& value, const Bias& bias,
                    const attention_options& options, const attention_dropout& dropout) {
  return make_attention(query, key, value, bias, options, dropout_factor(query, key, value, bias, dropout));
}

}  // namespace detail

/// The sum of values, weighted by the softmax of scores: softmax(scale query key^T + mask) value. A mask is any
/// expression, true where attention is allowed or a number that is added; its axes repeat over the scores. A query
/// that sees no key gets 0.
/// extents   [..., l, e], [..., s, e], [..., s, v], mask [..., l, s] -> [..., l, v]; batches repeat as in matmul
/// types     floating; half and bfloat16 accumulate in float
/// dropout   attention_dropout{.p = 0.1, .seed = step} as a last argument leaves out weights
/// throws    shape_error naming operand, axis and both extents; error for a scale or a cap that is none
/// cost      one kernel, with what is done to operands, mask and result; no scores in memory
/// source    Dao, Fu, Ermon, Rudra, Ré 2022 (FlashAttention); Milakov, Gimelshein 2018 for the softmax in one pass
template <tensor_operand QueryOperand, tensor_operand KeyOperand, tensor_operand ValueOperand,
          tensor_operand MaskOperand, class... Dropout>
  requires(std::is_same_v<Dropout, attention_dropout> && ...)
auto scaled_dot_product_attention(QueryOperand&& query, KeyOperand&& key, ValueOperand&& value, MaskOperand&& mask,
                                  const attention_options& options = {}, const Dropout&... dropout) {
  using mask_element = typename std::remove_cvref_t<MaskOperand>::element;
  static_assert(detail::is_matrix_of_floats<QueryOperand> && detail::is_matrix_of_floats<KeyOperand> &&
                    detail::is_matrix_of_floats<ValueOperand>,
                "tenon: attention takes queries, keys and values of floats with two axes at least");
  static_assert(std::is_same_v<mask_element, bool> || (is_floating<mask_element> && !is_complex<mask_element>),
                "tenon: a mask of attention is bool, true where it is allowed, or floats that are added to scores");
  return detail::make_attention(as_node(std::forward<QueryOperand>(query)), as_node(std::forward<KeyOperand>(key)),
                                as_node(std::forward<ValueOperand>(value)),
                                detail::bias_of_mask(as_node(std::forward<MaskOperand>(mask))), options, dropout...);
}
template <tensor_operand QueryOperand, tensor_operand KeyOperand, tensor_operand ValueOperand, class... Dropout>
  requires(std::is_same_v<Dropout, attention_dropout> && ...)
auto scaled_dot_product_attention(QueryOperand&& query, KeyOperand&& key, ValueOperand&& value,
                                  const attention_options& options = {}, const Dropout&... dropout) {
  static_assert(detail::is_matrix_of_floats<QueryOperand> && detail::is_matrix_of_floats<KeyOperand> &&
                    detail::is_matrix_of_floats<ValueOperand>,
                "tenon: attention takes queries, keys and values of floats with two axes at least");
  return detail::make_attention(as_node(std::forward<QueryOperand>(query)), as_node(std::forward<KeyOperand>(key)),
                                as_node(std::forward<ValueOperand>(value)), as_node(0.0f), options, dropout...);
}

}  // namespace tenon
