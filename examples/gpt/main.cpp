// examples/gpt/main.cpp: trains a small GPT on characters and lets it write.
// gpt.hpp is the program; this is its command line.
// SPDX-License-Identifier: Apache-2.0
#include "gpt.hpp"

#include "../command_line.hpp"

namespace {

/// Writes, and prints how fast that was.
void write_text(gpt::network& net, const gpt::corpus& all, const gpt::options& options) {
  const double start = gpt::seconds_now(options);
  const std::string written = gpt::write(net, all, options);
  const double seconds = gpt::seconds_now(options) - start;
  std::printf("%s\n\nwritten: %.0f characters/s\n", written.c_str(), static_cast<double>(options.sample) / seconds);
}

/// Compares scores with and without kept keys and values, of texts of several lengths.
int check(gpt::network& net, const gpt::corpus& all, const std::string& text) {
  gpt::caches seen(gpt::layers, tenon::nn::key_value_cache<>(gpt::context));
  float greatest = 0;
  constexpr std::pair<tenon::index, tenon::index> lengths[] = {{1, 1}, {7, 3}, {33, 1}, {61, 60}, {gpt::context, 17}};
  for (const auto& [length, first] : lengths) {
    const auto row = all.row(text.substr(0, static_cast<std::size_t>(length)));
    greatest = std::max(greatest, gpt::cache_difference(net, row, first, seen));
  }
  std::printf("scores with and without kept keys and values are at most %.1e apart\n", static_cast<double>(greatest));
  return greatest <= 1e-5f ? 0 : 1;
}

int run(gpt::options options) {
  const std::string text = options.text.empty() ? char_lstm::sonnets : tenon::io::read_text(options.text);
  if (options.steps < 0) options.steps = options.text.empty() ? 200 : 2000;
  const gpt::corpus all(text, options.batch);
  if (options.sample > 0) gpt::check_prompt(all, options);
  gpt::network net = gpt::make_network(all.characters.size(), options.seed);
  example::alphabet alphabet(all.characters);
  if (!options.load.empty()) alphabet.load_state(net, options.load);
  std::printf("%ld distinct characters, %ld parameters\n", static_cast<long>(all.characters.size()),
              static_cast<long>(tenon::nn::parameter_count(net)));
  gpt::train(net, all, options);
  std::printf("validation loss: %.4f\n\n", gpt::validation_loss(net, all, all.validation.size()));
  if (!options.save.empty()) tenon::train::save_state(tenon::train::training(net, alphabet), options.save);
  if (options.sample > 0) write_text(net, all, options);
  return options.check ? check(net, all, text) : 0;
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_example("gpt", count, arguments, [](const std::vector<std::string_view>& given) {
    gpt::options options;
    example::command_line line(
        "gpt [options]\n\nTrains a small GPT to predict each next character of a text, and prints how well it does on "
        "its last tenth.\nThen it writes, one character a step.");
    line.add("--text FILE", options.text, "the text; without it four sonnets that the program carries");
    line.add("--steps N", options.steps, tenon::index{0}, "steps of training (default 2000; of the sonnets 200)");
    line.add("--batch N", options.batch, tenon::index{1}, "windows of 128 characters in a step");
    line.add("--rate X", options.rate, 0.0, "learning rate of the first step");
    line.add("--in-order", options.in_order, "windows as they stand in the text, not shuffled");
    line.add("--load FILE", options.load, "begin with the weights of a safetensors file");
    line.add_output("--save FILE", options.save, "save weights and alphabet as safetensors");
    line.add("--sample N", options.sample, std::uint64_t{0}, "characters to write");
    line.add("--prompt TEXT", options.prompt, "what the network goes on from, up to 128 bytes (default: a new line)");
    line.add("--temperature X", options.temperature, 1e-3f, "how boldly it writes");
    line.add("--processor-time", options.processor_time, "rates are those of seconds that processors worked");
    line.add("--check", options.check, "compare scores with and without kept keys and values");
    line.add("--seed N", options.seed, std::uint64_t{0}, "of weights, order and writing");
    return line.parse(given) ? run(options) : 0;
  });
}
