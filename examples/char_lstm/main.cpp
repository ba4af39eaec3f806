// examples/char_lstm/main.cpp: trains a language model of characters and lets it write.
// training.hpp is the program; this is its command line.
// SPDX-License-Identifier: Apache-2.0
#include "../command_line.hpp"
#include "training.hpp"

int main(int count, char** arguments) {
  return example::run_example("char_lstm", count, arguments, [](const std::vector<std::string_view>& given) {
    char_lstm::options options;
    example::command_line line(
        "char_lstm [options]\n\nTrains LSTM layers to predict each next character of a text, and prints how well they "
        "do on its last tenth.\nThen they write.");
    line.add("--text FILE", options.text, "the text, UTF-8; without it four sonnets that the program carries");
    line.add("--epochs N", options.epochs, tenon::index{0}, "passes over the text (default 3; of the sonnets 40)");
    line.add("--seconds X", options.seconds, 0.0, "train so long instead, whatever the epochs (default: by epochs)");
    line.add("--batch N", options.batch, tenon::index{1}, "windows in a step");
    line.add("--length N", options.length, tenon::index{1}, "characters of a window");
    line.add("--hidden N", options.hidden, tenon::index{1}, "features of a layer's state");
    line.add("--layers N", options.layers, tenon::index{1}, "LSTM layers");
    line.add("--dropout X", options.dropout, 0.0, "share of zeros between layers");
    line.add("--rate X", options.rate, 0.0, "learning rate of the first step");
    line.add("--clip X", options.clip, 0.0, "greatest norm of all gradients");
    line.add("--sample N", options.sample, tenon::index{0}, "characters to write");
    line.add("--prompt TEXT", options.prompt, "what the model goes on from (default: a new line)");
    line.add("--temperature X", options.temperature, 1e-3, "how boldly it writes");
    line.add("--seed N", options.seed, std::uint64_t{0}, "of weights, order and writing");
    if (!line.parse(given)) return 0;
    if constexpr (tenon::compiled_by_nvcc) char_lstm::run<tenon::cuda>(options);
    else char_lstm::run<tenon::host>(options);
    return 0;
  });
}
