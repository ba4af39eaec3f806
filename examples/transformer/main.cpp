// examples/transformer/main.cpp: trains a transformer to sort numbers.
// training.hpp is the program; this is its command line.
// SPDX-License-Identifier: Apache-2.0
#include "../command_line.hpp"
#include "training.hpp"

int main(int count, char** arguments) {
  return example::run_example("transformer", count, arguments, [](const std::vector<std::string_view>& given) {
    transformer::options options;
    example::command_line line(
        "transformer [options]\n\nTrains two layers of attention to sort 16 numbers, and prints how many of the places "
        "of\nunseen sequences it fills rightly.");
    line.add("--steps N", options.steps, tenon::index{0}, "steps of training");
    line.add("--batch N", options.batch, tenon::index{1}, "sequences in a step");
    line.add("--rate X", options.rate, 0.0, "learning rate of the first step");
    line.add("--seed N", options.seed, std::uint64_t{0}, "of weights and sequences");
    if (line.parse(given)) transformer::run(options);
    return 0;
  });
}
