// benchmarks/w12_characters.cpp: W12, what a language model of characters has learnt after so many seconds.
// Tenon and libtorch train the model of examples/char_lstm from the same parameters on the same batches, one as long as
// the other; both are tested on the text's last tenth. Arguments: TEXT SECONDS, and those of Google Benchmark.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>

#include "../examples/char_lstm/training.hpp"
#include "agree.hpp"
#include "torch_characters.hpp"

namespace tn = tenon;
namespace nn = tenon::nn;

namespace {

using model_type = char_lstm::language_model<tn::host>;
using batch_type = char_lstm::step_input<tn::host>;
constexpr tn::train::cosine_annealing_lr falling{.t_max = 1'000'000};

model_type make_model(const char_lstm::corpus& text, const char_lstm::options& options) {
  return char_lstm::make_model<tn::host>({text.characters.size(), 64, options.hidden, options.layers, options.dropout},
                                         options.seed);
}

/// The model with its optimizer.
class tenon_learner {
 public:
  tenon_learner(const char_lstm::options& options, const char_lstm::corpus& text)
      : model_(make_model(text, options)), optimizer_({.lr = options.rate}) {
    optimizer_.clipping().max_norm = options.clip;
  }

  float step(const batch_type& batch, double rate) {
    model_.train();
    optimizer_.options().lr = rate;
    nn::clear_gradients(model_, false);
    const float loss = tn::backward(tn::mean(nn::cross_entropy(model_(batch.tokens).scores, batch.targets)));
    optimizer_.step(model_);
    return loss;
  }
  /// Of all characters of a batch together.
  double loss(const batch_type& batch) {
    const tn::no_grad testing;
    model_.eval();
    const float total = tn::sum(nn::cross_entropy(model_(batch.tokens).scores, batch.targets));
    return static_cast<double>(total);
  }

 private:
  model_type model_;
  tn::train::adam<> optimizer_;
};

auto batches_of(const char_lstm::corpus& text, const char_lstm::options& options) {
  return tn::data::loader(text.training,
                          {.batch = options.batch, .shuffle = true, .seed = options.seed, .drop_last = true});
}

/// Trains for `options.seconds`; returns how many steps that were.
template <class Learner>
long train(Learner& learner, const char_lstm::corpus& text, const char_lstm::options& options) {
  using clock = std::chrono::steady_clock;
  auto batches = batches_of(text, options);
  const auto start = clock::now();
  long steps = 0;
  for (tn::index epoch = 0;; ++epoch) {
    for (const auto& batch : batches.epoch(epoch)) {
      const double share = std::chrono::duration<double>(clock::now() - start).count() / options.seconds;
      if (share >= 1) return steps;
      learner.step(batch_type(batch), falling(options.rate, static_cast<tn::index>(1e6 * share)));
      ++steps;
    }
  }
}

/// The mean loss of a character of the text's last tenth, in nats.
template <class Learner>
double validation_loss(Learner& learner, const char_lstm::corpus& text, const char_lstm::options& options) {
  tn::data::loader batches(text.validation, {.batch = options.batch});
  double total = 0;
  tn::index characters = 0;
  for (const auto& each : batches.epoch(0)) {
    const batch_type batch(each);
    total += learner.loss(batch), characters += batch.targets.size();
  }
  return total / static_cast<double>(characters);
}

template <class Learner>
void learn(benchmark::State& state, Learner learner, const char_lstm::corpus& text, const char_lstm::options& options) {
  for (auto _ : state) state.counters["steps"] = static_cast<double>(train(learner, text, options));
  state.counters["nats"] = validation_loss(learner, text, options);
}

#if defined(BENCHMARKS_TORCH)
torch_learner make_peer(const char_lstm::corpus& text, const char_lstm::options& options) {
  model_type parameters = make_model(text, options);
  return {options, text.characters.size(), parameters};
}

/// Ends the program when the first steps, without dropout, do not lose the same.
void compare_first_steps(const char_lstm::corpus& text, char_lstm::options options) {
  options.dropout = 0;
  tenon_learner ours(options, text);
  torch_learner theirs = make_peer(text, options);
  auto batches = batches_of(text, options);
  long steps = 0;
  for (const auto& each : batches.epoch(0)) {
    if (steps++ == 5) break;
    const batch_type batch(each);
    const float found = ours.step(batch, options.rate), expected = theirs.step(batch, options.rate);
    must_agree("w12: loss of a step", &found, &expected, 1, 1e-4);
  }
  const double found = validation_loss(ours, text, options), expected = validation_loss(theirs, text, options);
  const float loss = static_cast<float>(found);
  must_agree("w12: validation loss", &loss, &expected, 1, 1e-3);
}
#endif

}  // namespace

int main(int count, char** arguments) {
  benchmark::Initialize(&count, arguments);
  if (count < 3) {
    std::printf("w12: nothing is trained; its arguments are a text and seconds\n");
    return 0;
  }
  char_lstm::options options;
  options.seconds = std::atof(arguments[2]);
  const char_lstm::corpus text(tn::io::read_text(arguments[1]), options);
  const auto add = [&](const char* library, auto make) {
    const std::string name = std::string(arguments[2]) + "_seconds/" + library;
    benchmark::RegisterBenchmark(name.c_str(),
                                 [&, make](benchmark::State& state) { learn(state, make(), text, options); })
        ->Iterations(1)
        ->Repetitions(1)
        ->Unit(benchmark::kSecond)
        ->UseRealTime();
  };
  add("tenon", [&] { return tenon_learner(options, text); });
#if defined(BENCHMARKS_TORCH)
  compare_first_steps(text, options);
  add("torch", [&] { return make_peer(text, options); });
#else
  std::printf("w12: without libtorch, which the build did not find\n");
#endif
  benchmark::RunSpecifiedBenchmarks();
}
