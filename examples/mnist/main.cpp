// examples/mnist/main.cpp: trains a convolutional network to read handwritten digits.
// training.hpp is the program; this is its command line.
// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

void run_emulated(const mnist::options& options);

void run_on_device(const mnist::options& options) {
  if (options.device == "emulated") return run_emulated(options);
  if (options.device == "host") return run<tn::host>(options);
  if constexpr (tn::compiled_by_nvcc) {
    run<tn::cuda>(options);
  } else {
    throw mnist::usage_error("--device cuda: this program was not built by nvcc; build the target mnist_cuda");
  }
}

int main(int count, char** arguments) {
  try {
    const auto options = mnist::parse({arguments + 1, arguments + count});
    if (options.help) return std::fputs(mnist::help_text, stdout), 0;
    run_on_device(options);
    return 0;
  } catch (const mnist::usage_error& mistake) {
    std::fprintf(stderr, "mnist: %s\n", mistake.what());
  } catch (const tn::error& mistake) {
    std::fprintf(stderr, "mnist: %s\n", mistake.what());
  }
  return 2;
}
