// examples/transformer/training.hpp: a transformer that learns to sort, from examples that it draws itself.
// Each of 16 places tells which token stands there in order; every place has to look at all others.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train.hpp>

#include <algorithm>
#include <array>
#include <cstdio>

#include "../errors.hpp"

namespace transformer {

namespace tn = tenon;
namespace nn = tenon::nn;

constexpr tn::index length = 16, tokens = 16, features = 64;

struct options {
  tn::index steps = 1000;
  tn::index batch = 32;
  double rate = 0.002;
  std::uint64_t seed = 1;
};

/// Tokens and their places, one-hot side by side: a linear layer then embeds both at once.
using sequences = tn::shape<tn::dyn, length, tokens + length>;
using numbers = tn::tensor<std::int64_t, tn::shape<tn::dyn, length>>;

inline auto make_network() {
  constexpr nn::transformer_options encoder{.dropout = 0, .batch_first = true, .norm_first = true};
  using layer = nn::transformer_encoder_layer<features, 4, 2 * features, nn::gelu, encoder>;
  return nn::sequential(nn::linear<tokens + length, features>{}, layer{}, layer{},
                        nn::layer_norm<tn::shape<features>>{}, nn::linear<features, tokens>{});
}
using network = decltype(make_network());

/// Random sequences, number `step` of a seed, and the same in order.
class sorting_task {
 public:
  sorting_task(tn::index batch, std::uint64_t seed)
      : unsorted_({batch, length}), sorted_({batch, length}), input_({batch, length, tokens + length}), seed_(seed) {}

  void draw(std::uint64_t step) {
    const auto bits = tn::philox_bits(seed_, step);  // no two seeds share their sequences
    const std::uint64_t own_seed = std::uint64_t{bits[0]} << 32 | bits[1];
    unsorted_ = tn::randint<std::int64_t>(unsorted_.shape(), own_seed, 0, tokens);
    sorted_ = tn::sort(unsorted_, tn::axis<-1>);
    const auto places = tn::broadcast_to(tn::arange<std::int64_t>(length), unsorted_.shape());
    input_ = tn::concatenate(tn::axis<2>, tn::one_hot<float>(unsorted_, tokens), tn::one_hot<float>(places, length));
  }
  const auto& unsorted() const { return unsorted_; }
  const auto& sorted() const { return sorted_; }
  const auto& input() const { return input_; }
  tn::index batch() const { return sorted_.extent(0); }
  tn::index places() const { return sorted_.size(); }

 private:
  numbers unsorted_, sorted_;
  tn::tensor<float, sequences> input_;
  std::uint64_t seed_;
};

inline void train(network& net, const options& options) {
  tn::train::adamw optimizer(net, {.lr = options.rate});
  const tn::train::cosine_annealing_lr falling{.t_max = options.steps};
  sorting_task task(options.batch, options.seed);
  tn::train::progress_of<> progress("sorting", options.steps * options.batch, stdout, "sequences");
  for (tn::index step = 0; step < options.steps; ++step) {
    task.draw(static_cast<std::uint64_t>(step));
    const auto labels = tn::evaluated_tensor(tn::flatten(task.sorted()));
    optimizer.schedule(falling, step);
    const float loss = optimizer.step([&] {  // of all places, one behind another
      const tn::traced logits = net(task.input());
      return tn::mean(nn::cross_entropy(logits.reshape(tn::shape<tn::dyn, tokens>(labels.size(), tokens)), labels));
    });
    example::check_loss(static_cast<double>(loss), step + 1);
    progress.advance(task.batch(), loss);
  }
}

/// The share of places of unseen sequences that hold the right token; prints a few sequences.
inline double test(network& net, std::uint64_t seed) {
  const tn::no_grad testing;
  sorting_task task(256, ~seed);
  task.draw(0);
  const auto answers = tn::evaluated_tensor(tn::argmax(net(task.input()), tn::drop<-1>));
  for (tn::index i = 0; i < 3; ++i) {
    for (tn::index k = 0; k < length; ++k) std::printf("%ld ", static_cast<long>(task.unsorted()(i, k)));
    std::printf("->");
    for (tn::index k = 0; k < length; ++k) std::printf(" %ld", static_cast<long>(answers(i, k)));
    std::printf("\n");
  }
  const std::int64_t right = tn::sum(answers == task.sorted());
  return static_cast<double>(right) / static_cast<double>(task.places());
}

inline void run(const options& options) {
  auto net = make_network();
  net.initialise(options.seed);
  std::printf("%ld parameters\n", static_cast<long>(nn::parameter_count(net)));
  train(net, options);
  std::printf("test accuracy: %.4f of places\n", test(net, options.seed));
}

}  // namespace transformer
