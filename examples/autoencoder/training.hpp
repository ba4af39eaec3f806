// examples/autoencoder/training.hpp: digits squeezed into a few numbers and drawn again.
// Four linear layers learn to give back what went in; with noise, they learn to take it away.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <string>
#include <tenon/train.hpp>

#include "../errors.hpp"
#include "../mnist/digits.hpp"

namespace autoencoder {

namespace tn = tenon;
namespace nn = tenon::nn;

inline constexpr tn::index side = 28, pixels = side * side, code = 16;

/// What the command line says.
struct options {
  std::string data, picture;
  tn::index limit = 8000, epochs = 20, batch = 64;
  double rate = 2e-3, noise = 0;
  std::uint64_t seed = 1;
};

inline auto make_network() {
  return nn::sequential(nn::linear<pixels, 128>{}, nn::relu{}, nn::linear<128, code>{},  // what it is squeezed into
                        nn::linear<code, 128>{}, nn::relu{}, nn::linear<128, pixels>{});
}
using network = decltype(make_network());

/// MNIST from its files, or digits that the program draws; at most `count` of them.
inline auto read_digits(const options& options, bool for_training) {
  const tn::index count = std::min<tn::index>(options.limit, for_training ? 60000 : 1000);
  using images = tn::tensor<std::uint8_t, tn::shape<tn::dyn, side, side>>;
  if (options.data.empty()) {
    const auto drawn = mnist::draw_digits(count, for_training ? options.seed : ~options.seed);
    return tn::data::tensor_dataset(images(drawn.images()));
  }
  return tn::data::tensor_dataset(images(mnist::read_images(options.data, for_training, count)));
}

/// Examples of two rows: what goes in, and what is to come out. The noise of an image is drawn anew in every epoch.
template <class Digits>
auto with_noise(const Digits& digits, double noise, std::uint64_t seed) {
  const auto make_example = [amount = static_cast<float>(noise)](tn::data::random_draws& draws, const auto& image) {
    const auto clean = tn::reshape(tn::data::unit_floats(image), tn::shape<pixels>{});
    const auto grains = tn::normal<float>(tn::shape<pixels>{}, draws.bits(), 0.0f, amount);
    return std::tuple(clean + grains, clean);
  };
  return tn::data::mapped(digits, make_example, seed);
}

/// What an image costs on average, in nats: binary cross entropy over its pixels.
template <class Examples>
double test(network& net, const Examples& examples, const options& options) {
  const tn::no_grad testing;
  tn::data::loader batches(examples, {.batch = options.batch});
  double total = 0;
  for (const auto& [noisy, clean] : batches.epoch(0)) {
    total += static_cast<double>(static_cast<float>(nn::bce_with_logits_loss<nn::to_sum>(net(noisy), clean)));
  }
  return total / static_cast<double>(examples.size());
}

template <class Examples>
void train(network& net, const Examples& examples, const options& options) {
  tn::train::adam optimizer(net, {.lr = options.rate});
  tn::data::loader batches(examples, {.batch = options.batch, .shuffle = true, .seed = options.seed, .workers = 2});
  const tn::train::cosine_annealing_lr falling{.t_max = batches.batches() * options.epochs};
  tn::index step = 0;
  for (tn::index epoch = 0; epoch < options.epochs; ++epoch) {
    tn::train::progress progress("epoch " + std::to_string(epoch + 1) + "/" + std::to_string(options.epochs),
                                 examples.size());
    for (const auto& [noisy, clean] : batches.epoch(epoch)) {
      const float share = 1.0f / static_cast<float>(noisy.extent(0));
      optimizer.schedule(falling, step++);
      const float loss =
          optimizer.step([&] { return nn::bce_with_logits_loss<nn::to_sum>(net(noisy), clean) * share; });
      example::check_loss(static_cast<double>(loss), step);
      progress.advance(noisy.extent(0), loss);
    }
  }
}

/// Writes ten digits as they go in, and below them as they come out, as an image of grey.
template <class Examples>
void draw(network& net, const Examples& examples, const std::string& path) {
  constexpr tn::index columns = 10;
  auto batch = examples.make_batch(columns);
  for (tn::index i = 0; i < columns; ++i) examples.copy_example(i % examples.size(), batch, i);
  const auto& noisy = std::get<0>(batch);
  const tn::no_grad testing;
  const auto bytes = [](const auto& values) {  // ten rows of pixels as ten images side by side
    const auto images = tn::reshape(tn::clamp(values, 0, 1) * 255, tn::shape<columns, side, side>{});
    return tn::reshape(tn::evaluated_tensor(tn::permute(images, tn::axis<1, 0, 2>)),
                       tn::shape<1, side, columns * side>{});
  };
  const auto above = bytes(noisy), below = bytes(tn::sigmoid(net(noisy)));
  tn::io::write_pnm(path, tn::io::image(tn::cast<std::uint8_t>(tn::concatenate(tn::axis<1>, above, below))));
}

inline void run(const options& options) {
  auto net = nn::initialised(make_network(), options.seed);
  const auto digits = read_digits(options, true), unseen = read_digits(options, false);
  train(net, with_noise(digits, options.noise, options.seed), options);
  const auto tests = with_noise(unseen, options.noise, ~options.seed);
  std::printf("test loss: %.2f nats an image\n", test(net, tests, options));
  if (!options.picture.empty()) draw(net, tests, options.picture);
}

}  // namespace autoencoder
