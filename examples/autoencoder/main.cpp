// examples/autoencoder/main.cpp: trains an autoencoder of digits.
// training.hpp is the program; this is its command line.
// SPDX-License-Identifier: Apache-2.0
#include "../command_line.hpp"
#include "training.hpp"

int main(int count, char** arguments) {
  return example::run_example("autoencoder", count, arguments, [](const std::vector<std::string_view>& given) {
    autoencoder::options options;
    example::command_line line(
        "autoencoder [options]\n\nTrains layers to squeeze digits into 16 numbers and to draw them again, and prints "
        "how well\nthey do on digits that they have not seen.");
    line.add("--data DIR", options.data, "a folder of MNIST's files; without it the program draws its own digits");
    line.add("--limit N", options.limit, tenon::index{1},
             "digits to learn from at most; tests take as many of their 1000");
    line.add("--epochs N", options.epochs, tenon::index{0}, "passes over the digits");
    line.add("--batch N", options.batch, tenon::index{1}, "digits in a step");
    line.add("--rate X", options.rate, 0.0, "learning rate of the first step");
    line.add("--noise X", options.noise, 0.0, "deviation of noise on the digits that go in");
    line.add_output("--picture FILE", options.picture, "write ten digits and what becomes of them to a file (PGM)");
    line.add("--seed N", options.seed, std::uint64_t{0}, "of weights, order, digits and noise");
    if (line.parse(given)) autoencoder::run(options);
    return 0;
  });
}
