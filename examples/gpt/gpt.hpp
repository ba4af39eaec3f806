// examples/gpt/gpt.hpp: a small GPT: the network, the loop that trains it, and how it writes.
// It learns all places of a window at once, and writes one character a step beside keys and values that it keeps.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "text.hpp"

namespace gpt {

struct block : nn::module<block> {
  nn::layer_norm<tn::shape<width>> norm1, norm2;
  nn::multihead_attention<width, heads, looking_back> attention;
  nn::linear<width, 4 * width> enter;
  nn::linear<4 * width, width> leave;

  auto forward(const auto& x, auto&... seen) {  // [batch, length, width]
    const tn::traced h = x + attention(norm1(x), seen...);
    return h + leave(tn::gelu(enter(norm2(h))));
  }
};

/// The scores of every next character of `text` [batch, length], which goes on from what `seen` has read.
struct network : nn::module<network> {
  nn::embedding<tn::dyn, width> characters;
  nn::embedding<context, width> places;
  std::array<block, layers> blocks;
  nn::layer_norm<tn::shape<width>> norm;

  auto forward(const auto& text, auto&... seen) {
    const tn::index first = (tn::index{0} + ... + seen[0].places());
    tn::traced h = characters(text) + tn::slice(places.weight, tn::range(first, first + text.shape().extent(1)));
    for (std::size_t i = 0; i < layers; ++i) h = blocks[i](h, seen[i]...);
    return tn::matmul(norm(h), tn::transpose(characters.weight));  // [batch, length, characters]
  }
};

/// The loss of each character of `next`, which follow those of `text`.
auto losses(network& net, const auto& text, const labels& next) {
  const tn::traced scores = net(text);
  return nn::cross_entropy(scores.reshape({-1, scores.extent(2)}), next);
}

double validation_loss(network& net, const corpus& all, tn::index most);

inline void train(network& net, const corpus& all, const options& options) {
  tn::train::adamw<> optimizer(net, {.lr = options.rate, .betas = {0.9, 0.99}, .weight_decay = 0.1});
  optimizer.clipping().max_norm = 1;
  const tn::train::cosine_annealing_lr falling{.t_max = options.steps};
  tn::data::loader batches(all.training, loading(options));
  report progress(options);
  for (tn::index step = 0, epoch = 0; step < options.steps; ++epoch) {
    for (const auto& [text, follows] : batches.epoch(epoch)) {
      const labels next = tn::flatten(follows);
      optimizer.schedule(falling, step);
      const float loss = optimizer.step([&] { return tn::mean(losses(net, text, next)); });
      if (progress.advance(loss)) progress.print(validation_loss(net, all, 4));
      if (++step == options.steps) break;
    }
  }
}

/// A network as GPT-2 begins: with narrow embeddings, as scores are products with them.
inline network make_network(tn::index characters, std::uint64_t seed) {
  network net{{}, {characters, width}, {}, {}, {}};
  net.initialise(seed);
  nn::initial::normal(net.characters.weight, seed, 0, 0.02f);
  nn::initial::normal(net.places.weight, seed + 1, 0, 0.02f);
  return net;
}

/// The mean loss of a character of the first `most` batches that are for tests, in nats.
inline double validation_loss(network& net, const corpus& all, tn::index most) {
  const tn::no_grad testing;
  tn::data::loader batches(all.validation, {.batch = 16});
  double total = 0;
  tn::index characters = 0, number = 0;
  for (const auto& [text, follows] : batches.epoch(0)) {
    if (number++ == most) break;
    const labels next = tn::flatten(follows);
    const float loss = tn::sum(losses(net, text, next));
    total += static_cast<double>(loss), characters += next.size();
  }
  return total / static_cast<double>(characters);
}

/// Text that goes on from a prompt. Each step reads the one character that was written last; where no place is left for
/// it, the later half of the text is read again.
inline std::string write(network& net, const corpus& all, const options& options) {
  const tn::no_grad writing;
  caches seen(layers, nn::key_value_cache<>(context));
  std::string written = options.prompt;
  tn::traced scores = net(all.row(written), seen);
  tokens next({1, 1});
  for (std::uint64_t number = 0; number < options.sample; ++number) {
    const auto last = tn::select(scores, tn::axis<1>, scores.extent(1) - 1) / options.temperature;
    const auto noise = -tn::log(-tn::log(tn::uniform<float>({1, scores.extent(2)}, options.seed + number)));
    next = tn::argmax(last + noise, tn::axis<1>);  // drawn from the softmax of the scores
    written += all.characters.decode(next(0, 0));
    if (seen[0].places() < context) {
      scores = net(next, seen);
    } else {
      for (auto& each : seen) each.clear();
      scores = net(all.row(written.substr(written.size() - context / 2)), seen);
    }
  }
  return written;
}

/// How far the scores of a text read piece by piece, beside keys and values that are kept, are from those of the whole
/// text: the pieces have `first` characters, then 1 each.
inline float cache_difference(network& net, const tokens& text, tn::index first, caches& seen) {
  const tn::no_grad testing;
  for (auto& each : seen) each.clear();
  const tn::tensor<float, tn::rank<3>> whole = net(text);
  float greatest = 0;
  for (tn::index begin = 0, end = first; begin < text.extent(1); begin = end++) {
    const tokens piece = tn::slice(text, tn::all_of, tn::range(begin, end));
    const auto expected = tn::slice(whole, tn::all_of, tn::range(begin, end));
    const float difference = tn::max(tn::abs(net(piece, seen) - expected));
    greatest = std::max(greatest, difference);
  }
  return greatest;
}

}  // namespace gpt
