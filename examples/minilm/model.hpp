// examples/minilm/model.hpp: MiniLM, an encoder of sentences: its network, and what runs it on many sentences.
// Members have the names of the file's tensors, so weights load without renaming.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <filesystem>
#include <numeric>
#include <tenon/nn/embedding.hpp>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/norm.hpp>
#include <tenon/products.hpp>
#include <tenon/train/checkpoint.hpp>

#include "tokenizer.hpp"

namespace minilm {

namespace tn = tenon;
namespace nn = tenon::nn;

inline constexpr tn::index width = 384, heads = 12, hidden = 1536, words = 30522, longest = 512;
using norm = nn::layer_norm<tn::shape<width>>;
using square = nn::linear<width, width>;

inline norm precise_norm() {
  norm made;
  made.epsilon = 1e-12f;
  return made;
}

/// The rows of [batch, length, width] as [batch, head, length, width / heads].
auto parted(const auto& rows) {
  const tn::shape<tn::dyn, tn::dyn, heads, width / heads> extents(rows.shape().extent(0), rows.shape().extent(1));
  return tn::permute(tn::traced(rows).reshape(extents), tn::axis<0, 2, 1, 3>);
}

struct self_attention : nn::module<self_attention> {
  square query, key, value;

  auto forward(const auto& x, const auto& mask) {
    const auto attended = tn::scaled_dot_product_attention(parted(query(x)), parted(key(x)), parted(value(x)), mask);
    const tn::traced rows = tn::permute(attended, tn::axis<0, 2, 1, 3>);
    return rows.reshape(tn::shape<tn::dyn, tn::dyn, width>(x.shape()));
  }
};

/// What follows attention and the feed-forward part: a linear layer, and the norm of its sum with what came before.
template <tn::index Features>
struct output : nn::module<output<Features>> {
  nn::linear<Features, width> dense;
  norm LayerNorm = precise_norm();

  auto forward(const auto& inner, const auto& before) { return LayerNorm(dense(inner) + before); }
};

struct attention_block : nn::module<attention_block> {
  self_attention self;
  minilm::output<width> output;

  auto forward(const auto& x, const auto& mask) { return output(self(x, mask), x); }
};

struct feed_forward : nn::module<feed_forward> {
  nn::linear<width, hidden> dense;

  auto forward(const auto& x) { return tn::gelu(dense(x)); }
};

struct encoder_layer : nn::module<encoder_layer> {
  attention_block attention;
  feed_forward intermediate;
  minilm::output<hidden> output;

  auto forward(const auto& x, const auto& mask) {
    const tn::traced h = attention(x, mask);
    return output(intermediate(h), h);
  }
};

struct encoder_layers : nn::module<encoder_layers> {
  std::array<encoder_layer, 6> layer;

  auto forward(const auto& x, const auto& mask) {
    tn::traced h = x;
    for (auto& each : layer) h = each(h, mask);
    return h;
  }
};

struct embeddings_of_words : nn::module<embeddings_of_words> {
  nn::embedding<words, width> word_embeddings;
  nn::embedding<longest, width> position_embeddings;
  nn::embedding<2, width> token_type_embeddings;
  norm LayerNorm = precise_norm();
  tn::tensor<std::int64_t, tn::shape<1, longest>> position_ids;  // of the file

  auto forward(const auto& numbers) {
    const auto positions = tn::slice(position_embeddings.weight.value, tn::range(0, numbers.shape().extent(1)));
    const auto type = tn::select(token_type_embeddings.weight.value, tn::axis<0>, 0);
    return LayerNorm(word_embeddings(numbers) + (positions + type));
  }
};

struct pooler_of_words : nn::module<pooler_of_words> {
  square dense;  // of the file; sentences are means in place of it

  auto forward(const auto& x) { return tn::tanh(dense(x)); }
};

/// all-MiniLM-L6-v2: numbers of word pieces [batch, length] and which of them are there, 1 or 0, to sentences
/// [batch, width] of length 1.
struct network : nn::module<network> {
  embeddings_of_words embeddings;
  encoder_layers encoder;
  pooler_of_words pooler;

  auto forward(const auto& numbers, const auto& is_there) {
    const tn::traced x = embeddings(numbers);
    const tn::traced h = encoder(x, tn::new_axis<1>(tn::new_axis<1>(is_there)) > 0.5f);
    const tn::traced mean = tn::sum(h * tn::new_axis<2>(is_there), tn::drop<1>) / tn::sum(is_there, tn::axis<1>);
    return mean / tn::maximum(tn::norm_l2(mean, tn::axis<1>), 1e-12f);
  }
};

}  // namespace minilm
