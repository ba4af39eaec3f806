// examples/gpt/text.hpp: how large the GPT is, what the command line says, the text it learns, and what it reports.
// Windows of a text overlap in training; the last tenth of the text is for tests.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/nn/key_value_cache.hpp>
#include <tenon/train.hpp>

#include <array>
#include <chrono>
#include <cstdio>
#include <ctime>
#include <string>
#include <vector>

#include "../char_lstm/sonnets.hpp"
#include "../characters.hpp"

namespace gpt {

namespace tn = tenon;
namespace nn = tenon::nn;

inline constexpr tn::index width = 128, heads = 4, layers = 4, context = 128;
inline constexpr nn::multihead_attention_options looking_back{.batch_first = true, .is_causal = true};

using tokens = tn::tensor<std::int64_t, tn::rank<2>>;
using labels = tn::tensor<std::int64_t, tn::rank<1>>;
using caches = std::vector<nn::key_value_cache<>>;  // one for each layer

/// What the command line says.
struct options {
  std::string text, load, save, prompt = "\n";
  tn::index steps = -1, batch = 16;
  double rate = 2e-3;
  float temperature = 0.8f;
  std::uint64_t seed = 1, sample = 400;
  bool in_order = false, check = false, processor_time = false;
};

/// Seconds of a clock, or those that processors have worked for this program.
inline double seconds_now(const options& given) {
  if (given.processor_time) return static_cast<double>(std::clock()) / CLOCKS_PER_SEC;
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

inline tn::data::loader_options loading(const options& given) {
  return {.batch = given.batch, .shuffle = !given.in_order, .seed = given.seed, .drop_last = true};
}

/// The windows that the network learns from, and those that it is tested with.
struct corpus {
  tn::data::vocabulary characters;
  tn::data::token_windows training, validation;

  /// throws    shape_error for a text that is too short
  explicit corpus(const std::string& text, tn::index batch)
      : characters(text, tn::data::token::byte),
        training(characters.encode(text.substr(0, text.size() / 10 * 9)), {.length = context, .stride = context / 8}),
        validation(characters.encode(text.substr(text.size() / 10 * 9)), {.length = context}) {
    example::check_windows(text.size(), training, validation, context, batch);
  }
  /// A text as one row.
  tokens row(const std::string& text) const {
    const auto numbers = characters.encode(text);
    return tokens(tn::reshape(numbers, tn::rank<2>(1, numbers.size())));
  }
};

/// Whether there is a prompt that a network can go on from, which is best known before it is trained.
inline void check_prompt(const corpus& all, const options& options) {
  if (options.prompt.empty() || options.prompt.size() > std::size_t{context}) {
    throw tn::shape_error(tn::compose_text("--prompt: ", options.prompt.size(), " bytes, expected 1 to ", context));
  }
  all.row(options.prompt);
}

/// Prints ten times how a training goes.
class report {
 public:
  explicit report(const options& options) : options_(options) {}

  /// Another step is done; whether it is time to print.
  bool advance(float loss) {
    loss_ += static_cast<double>(loss), ++averaged_, ++step_;
    example::check_loss(static_cast<double>(loss), step_);
    last_ = seconds_now(options_);
    return step_ * 10 / options_.steps != (step_ - 1) * 10 / options_.steps;
  }
  void print(double validation) {
    const double seconds = last_ - start_;
    std::printf("step %ld/%ld  loss %.4f  validation %.4f  %.0f characters/s  %.0f s\n", static_cast<long>(step_),
                static_cast<long>(options_.steps), loss_ / static_cast<double>(averaged_), validation,
                static_cast<double>(step_ * options_.batch * context) / seconds, seconds);
    std::fflush(stdout);
    loss_ = 0, averaged_ = 0;
    start_ += seconds_now(options_) - last_;  // tests do not count
  }

 private:
  const options options_;
  tn::index step_ = 0, averaged_ = 0;
  double loss_ = 0, start_ = seconds_now(options_), last_ = start_;
};

}  // namespace gpt
