// examples/char_lstm/training.hpp: how the language model is trained and tested, and how it writes.
// Adam with clipped gradients on windows of the text; the rate falls along a cosine over epochs or seconds.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "../characters.hpp"
#include "model.hpp"
#include "sonnets.hpp"

namespace char_lstm {

/// What the command line says.
struct options {
  std::string text, prompt = "\n";
  double seconds = 0;
  tn::index epochs = -1, batch = 16, length = 64, hidden = 256, layers = 2, sample = 400;
  double rate = 3e-3, dropout = 0.25, clip = 1, temperature = 0.8;
  std::uint64_t seed = 1;

  /// Of the little text that the program carries, many.
  tn::index chosen_epochs() const { return epochs >= 0 ? epochs : text.empty() ? 40 : 3; }
};

/// The windows that a model learns from, and those that it is tested with.
struct corpus {
  tn::data::vocabulary characters;
  tn::data::token_windows training, validation;

  corpus(const std::string& text, const options& options)
      : characters(text),
        training(part(text, 0, text_split(text)), {.length = options.length}),
        validation(part(text, text_split(text), text.size()), {.length = options.length}) {
    example::check_windows(text.size(), training, validation, options.length, options.batch);
  }

 private:
  /// The last tenth of the bytes is for tests; no character is cut in two.
  static std::size_t text_split(const std::string& text) {
    std::size_t place = text.size() / 10 * 9;
    while (place < text.size() && (static_cast<unsigned char>(text[place]) & 0xc0) == 0x80) ++place;
    return place;
  }
  tn::tensor<std::int64_t, tn::rank<1>> part(const std::string& text, std::size_t first, std::size_t last) const {
    return characters.encode(std::string_view(text).substr(first, last - first));
  }
};

/// A batch as the model takes it: [time, batch], and a column of targets in the same order.
template <tn::memory_space Space>
struct step_input {
  tn::tensor<std::int64_t, tn::rank<2>, Space> tokens;
  tn::tensor<std::int64_t, tn::rank<1>, Space> targets;

  explicit step_input(const tn::data::token_windows::batch_type& batch)
      : tokens(tn::transpose(std::get<0>(batch).to<Space>())),
        targets(tn::flatten(tn::transpose(std::get<1>(batch).to<Space>()))) {}
};

/// The mean loss of a character of the first `most` batches, in nats.
template <tn::memory_space Space>
double validation_loss(language_model<Space>& model, const corpus& text, const options& options, tn::index most) {
  const tn::no_grad testing;
  model.eval();
  tn::data::loader batches(text.validation, {.batch = options.batch});
  double total = 0;
  tn::index characters = 0, number = 0;
  for (const auto& batch : batches.epoch(0)) {
    if (number++ == most) break;
    const step_input<Space> input(batch);
    const float loss = tn::sum(nn::cross_entropy(model(input.tokens).scores, input.targets));
    total += static_cast<double>(loss), characters += input.targets.size();
  }
  model.train();
  return total / static_cast<double>(characters);
}

/// How far a training is, by epochs or by seconds, and what it shows of it.
class course {
 public:
  course(const options& options, tn::index batches)
      : seconds_(options.seconds), total_(batches * options.chosen_epochs()), batches_(batches) {}

  /// Another step of `characters` is done, with this loss.
  void advance(tn::index characters, float loss) {
    example::check_loss(static_cast<double>(loss), ++steps_);
    characters_ += characters, loss_ += static_cast<double>(loss), ++averaged_;
  }
  /// From 0 to 1.
  double share() const {
    if (seconds_ > 0) return std::min(1.0, elapsed() / seconds_);
    return total_ == 0 ? 1 : static_cast<double>(steps_) / static_cast<double>(total_);
  }
  bool is_done() const { return share() >= 1; }
  /// Ten times in a training.
  bool is_time_to_report() {
    if (share() * 10 < static_cast<double>(reports_ + 1)) return false;
    reports_ = static_cast<int>(share() * 10);
    return true;
  }
  void report(double validation) {
    std::printf("%3.0f %%  epoch %.2f  loss %.4f  validation %.4f  %.0f characters/s  %.0f s\n", 100 * share(),
                static_cast<double>(steps_) / static_cast<double>(batches_), loss_ / static_cast<double>(averaged_),
                validation, static_cast<double>(characters_) / elapsed(), elapsed());
    std::fflush(stdout);
    loss_ = 0, averaged_ = 0;
  }

 private:
  using clock = std::chrono::steady_clock;
  double elapsed() const { return std::chrono::duration<double>(clock::now() - start_).count(); }

  double seconds_, loss_ = 0;
  tn::index total_, batches_, steps_ = 0, characters_ = 0, averaged_ = 0;
  int reports_ = 0;
  clock::time_point start_ = clock::now();
};

template <tn::memory_space Space>
void train(language_model<Space>& model, const corpus& text, const options& options) {
  tn::train::adam<Space> optimizer(model, {.lr = options.rate});
  optimizer.clipping().max_norm = options.clip;
  tn::data::loader batches(text.training,
                           {.batch = options.batch, .shuffle = true, .seed = options.seed, .drop_last = true});
  constexpr tn::train::cosine_annealing_lr falling{.t_max = 1'000'000};
  course progress(options, batches.batches());
  for (tn::index epoch = 0; !progress.is_done(); ++epoch) {
    for (const auto& batch : batches.epoch(epoch)) {
      const step_input<Space> input(batch);
      optimizer.schedule(falling, static_cast<tn::index>(1e6 * progress.share()));
      const float loss =
          optimizer.step([&] { return tn::mean(nn::cross_entropy(model(input.tokens).scores, input.targets)); });
      progress.advance(input.targets.size(), loss);
      if (progress.is_time_to_report()) progress.report(validation_loss(model, text, options, 16));
      if (progress.is_done()) break;
    }
  }
}

/// A character drawn from its scores: the lower the temperature, the surer.
inline std::int64_t draw(const float* scores, tn::index count, double temperature, tn::data::random_draws& random) {
  std::vector<double> sums(static_cast<std::size_t>(count));
  const double greatest = static_cast<double>(*std::max_element(scores, scores + count));
  double total = 0;
  for (tn::index i = 0; i < count; ++i) {
    total += std::exp((static_cast<double>(scores[i]) - greatest) / temperature);
    sums[static_cast<std::size_t>(i)] = total;
  }
  const auto found = std::upper_bound(sums.begin(), sums.end(), random.uniform() * total);
  return std::min<std::int64_t>(found - sums.begin(), count - 1);
}

/// What the model goes on from.
inline auto prompt_tokens(const corpus& text, const options& options) {
  auto tokens = text.characters.encode(options.prompt);
  if (tokens.size() == 0) throw tn::shape_error("--prompt: no characters, expected at least 1");
  return tokens;
}

/// Text that goes on from the prompt.
template <tn::memory_space Space>
std::string write(language_model<Space>& model, const corpus& text, const options& options) {
  const tn::no_grad writing;
  model.eval();
  const auto tokens = prompt_tokens(text, options);
  tn::data::random_draws random(options.seed, 0);
  const auto drawn_from = [&](const auto& scores) {
    const auto rows = tn::evaluated_tensor(scores).template to<tn::host>();
    const float* const last = rows.data() + (rows.extent(0) - 1) * rows.extent(1);
    return draw(last, rows.extent(1), options.temperature, random);
  };
  std::string written = options.prompt;
  const tn::tensor<std::int64_t, tn::rank<2>> prompt(tn::reshape(tokens, tn::rank<2>(tokens.size(), 1)));
  auto output = model(prompt.template to<Space>());
  for (tn::index i = 0; i < options.sample; ++i) {
    const std::int64_t next = drawn_from(output.scores);
    written += text.characters.decode(next);
    output = model(tn::full<std::int64_t, Space>(tn::rank<2>(1, 1), next), output.hidden, output.cell);
  }
  return written;
}

/// Trains, tests and writes, in one memory space.
template <tn::memory_space Space>
void run(const options& options) {
  const corpus text(options.text.empty() ? std::string(sonnets) : tn::io::read_text(options.text), options);
  auto model =
      make_model<Space>({text.characters.size(), 64, options.hidden, options.layers, options.dropout}, options.seed);
  std::printf("%ld distinct characters, %ld parameters\n", static_cast<long>(text.characters.size()),
              static_cast<long>(nn::parameter_count(model)));
  prompt_tokens(text, options);  // refused before an hour of training
  train(model, text, options);
  std::printf("validation loss: %.4f\n\n", validation_loss(model, text, options, text.validation.size()));
  std::printf("%s\n", write(model, text, options).c_str());
}

}  // namespace char_lstm
