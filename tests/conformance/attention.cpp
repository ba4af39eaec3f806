// tests/conformance/attention.cpp: Attention and RotaryEmbedding of ONNX.
// Heads may be an axis or lie within features; heads of queries share those of keys and values.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/rotary_embedding.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>
#include <tenon/grad/attention.hpp>

#include "conformance/operations.hpp"

namespace conformance {

namespace {

constexpr float nothing = -std::numeric_limits<float>::infinity();

template <class T, class Space>
using heads = tn::tensor<T, tn::rank<4>, Space>;

/// [batch, head, position, feature] of an array that may have its heads within the features.
template <class T, class Space>
heads<T, Space> heads_of(const array& source, index count) {
  if (source.rank() == 4) return tensor_of<T, Space, 4>(source);
  const auto rows = tensor_of<T, Space, 3>(source);
  const index batch = rows.extent(0), length = rows.extent(1), features = rows.extent(2) / count;
  return tn::permute(tn::reshape(rows, tn::rank<4>(batch, length, count, features)), tn::axis<0, 2, 1, 3>);
}

/// The other way round, of `rank` axes.
template <class T, class Space>
array array_of_heads(const heads<T, Space>& result, int rank) {
  if (rank == 4) return array_of(result, 4);
  const index batch = result.extent(0), length = result.extent(2), features = result.extent(1) * result.extent(3);
  const heads<T, Space> rows = tn::permute(result, tn::axis<0, 2, 1, 3>);
  const tn::tensor<T, tn::rank<3>, Space> whole = tn::reshape(rows, tn::rank<3>(batch, length, features));
  return array_of(whole, 3);
}

/// The case's keys or values, behind those of earlier calls.
template <class T, class Space>
heads<T, Space> with_past(const call& from, std::size_t input, std::size_t past, index count) {
  const auto own = heads_of<T, Space>(from.input(input), count);
  if (!from.has(past)) return own;
  return tn::concatenate(tn::axis<2>, tensor_of<T, Space, 4>(from.input(past)), own);
}

/// What is added to scores, `shown` where they are an output: the mask, and minus infinity for keys that a query does
/// not see, as far as the node itself is not told.
template <class T, class Space>
heads<float, Space> bias_of(const call& from, index queries, index keys, bool shown) {
  const index batches = from.input(0).extents.at(0);
  heads<float, tn::host> blocked(tn::rank<4>(batches, 1, queries, keys));
  const auto lengths =
      from.has(6) ? integers_of(from.input(6)) : std::vector<index>(static_cast<std::size_t>(batches), keys);
  const bool is_causal = from.attributes.integer("is_causal", 0) != 0 && (from.has(6) || shown);
  const index past = from.has(6) ? 0 : keys - from.input(1).extents.at(from.input(1).rank() == 4 ? 2 : 1);
  for (index b = 0; b < batches; ++b) {
    const index length = lengths[static_cast<std::size_t>(b)], first = from.has(6) ? length - queries : past;
    for (index i = 0; i < queries; ++i) {
      const index end = is_causal ? std::min(length, first + i + 1) : length;
      for (index k = 0; k < keys; ++k) blocked(b, 0, i, k) = k < end ? 0 : nothing;
    }
  }
  const auto there = blocked.template to<Space>();
  if (!from.has(3)) return there;
  if (from.input(3).dtype == "bool") {
    return there + tn::where(tensor_of<bool, Space, 4>(from.input(3)), 0.0f, nothing);
  }
  return there + tn::cast<float>(tensor_of<T, Space, 4>(from.input(3)));
}

/// The scores that are an output: products, capped, with what is added, or their softmax.
template <class T, class Space, class Node>
array shown_scores(const call& from, const Node& node) {
  const index mode = from.attributes.integer("qk_matmul_output_mode", 0);
  const auto capped = tn::detail::capped_scores(node);
  const tn::rank<4> extents(node.extents.extent(0), node.extents.extent(1) * node.extents.extent(2),
                            node.extents.extent(3), node.keys());
  const auto stored = [&](const auto& scores) {
    const tn::tensor<T, tn::rank<5>, Space> grouped = scores;
    const heads<T, Space> whole = tn::reshape(grouped, extents);
    return array_of(whole, 4);
  };
  if (mode == 0) return stored(tn::get<0>(capped.operands));
  if (mode == 1) return stored(capped);
  if (mode == 3) return stored(tn::detail::attention_weights(node));
  return stored(capped + tn::new_axis<2>(bias_of<T, Space>(from, extents.extent(2), extents.extent(3), true)));
}

template <class T, class Space>
array_list attend(const call& from) {
  const auto& attributes = from.attributes;
  const index own_heads = attributes.integer("q_num_heads", 0), key_heads = attributes.integer("kv_num_heads", 0);
  const auto query = heads_of<T, Space>(from.input(0), own_heads);
  const auto key = with_past<T, Space>(from, 1, 4, key_heads), value = with_past<T, Space>(from, 2, 5, key_heads);
  const index batches = query.extent(0), queries = query.extent(2), keys = key.extent(2), groups = key.extent(1);
  const index past = from.has(4) ? from.input(4).extents.at(2) : 0;
  const tn::attention_options options{.is_causal = attributes.integer("is_causal", 0) != 0 && !from.has(6),
                                      .scale = static_cast<float>(attributes.number("scale", 0)),
                                      .first_query = past,
                                      .softcap = static_cast<float>(attributes.number("softcap", 0))};
  // Heads are [group, head of the group]: keys and values repeat over the second, as masks do.
  const index each = query.extent(1) / groups;
  const auto bias = bias_of<T, Space>(from, queries, keys, false);
  const auto grouped = [&](const auto& x) {
    const bool is_one = x.extent(1) == 1;
    return tn::reshape(x, tn::rank<5>(batches, is_one ? 1 : groups, is_one ? 1 : each, x.extent(2), x.extent(3)));
  };
  const auto grouped_query = tn::reshape(query, tn::rank<5>(batches, groups, each, queries, query.extent(3)));
  const auto node = tn::scaled_dot_product_attention(grouped_query, tn::new_axis<2>(key), tn::new_axis<2>(value),
                                                     grouped(bias), options);
  const tn::tensor<T, tn::rank<5>, Space> result = node;
  const heads<T, Space> whole = tn::reshape(result, tn::rank<4>(batches, query.extent(1), queries, value.extent(3)));
  array_list outputs{array_of_heads(whole, from.input(0).rank())};
  if (from.outputs > 1) outputs.push_back(array_of(key, 4)), outputs.push_back(array_of(value, 4));
  if (from.outputs > 3) outputs.push_back(shown_scores<T, Space>(from, node));
  return outputs;
}

/// Cosines or sines of each position: from a table by number, or as they stand; [batch, 1, position, pair].
template <class Space>
heads<float, Space> angles_of(const call& from, std::size_t input) {
  if (!from.has(3)) return tn::new_axis<1>(tensor_of<float, Space, 3>(from.input(input)));
  const auto table = tensor_of<float, Space, 2>(from.input(input));
  const auto numbers = tensor_of<std::int64_t, Space, 2>(from.input(3));
  const index batches = numbers.extent(0), length = numbers.extent(1);
  const auto rows = tn::take(table, tn::reshape(numbers, tn::rank<1>(batches * length)), tn::axis<0>);
  return tn::reshape(rows, tn::rank<4>(batches, 1, length, table.extent(1)));
}

template <class Space>
array turn(const call& from) {
  const auto x = heads_of<float, Space>(from.input(0), from.attributes.integer("num_heads", 0));
  const auto cosine = angles_of<Space>(from, 1), sine = angles_of<Space>(from, 2);
  const index features = x.extent(3), chosen = from.attributes.integer("rotary_embedding_dim", 0);
  const index turned = chosen == 0 ? features : chosen;
  const heads<float, Space> part = tn::narrow(x, tn::axis<3>, 0, turned);
  const heads<float, Space> rotated =
      from.attributes.integer("interleaved", 0) != 0
          ? heads<float, Space>(tn::rotary_embedding<tn::rotary_pairs::neighbours>(part, cosine, sine))
          : heads<float, Space>(tn::rotary_embedding(part, cosine, sine));
  const heads<float, Space> whole =
      tn::concatenate(tn::axis<3>, rotated, tn::narrow(x, tn::axis<3>, turned, features - turned));
  return array_of_heads(whole, from.input(0).rank());
}

}  // namespace

void add_attention(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) {
    table["Attention"] = [](const call& from) {
      return from.input(0).dtype == "float16" ? attend<tn::half, Space>(from) : attend<float, Space>(from);
    };
    table["RotaryEmbedding"] = turn<Space>;
  });
}

}  // namespace conformance
