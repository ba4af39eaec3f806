// examples/mnist/main.cpp: trains a convolutional network to read handwritten digits.
// training.hpp is the program; this is its command line.
// SPDX-License-Identifier: Apache-2.0
#include "training.hpp"

#if defined(TENON_MPI)  // set by CMake where it finds MPI
#include <tenon/distributed/mpi.hpp>
#endif

int run_emulated(const mnist::options& options);

/// On the processes of mpirun.
int run_on_ranks([[maybe_unused]] int count, [[maybe_unused]] char** arguments, const mnist::options& options) {
  if (options.device != "host") throw mnist::usage_error("--mpi: takes --device host");
#if defined(TENON_MPI)
  return tn::distributed::run_with_mpi(count, arguments, [&](auto& ranks) { return run<tn::host>(options, ranks); });
#else
  throw mnist::usage_error("--mpi: this program was built without MPI");
#endif
}

int run_on_device(const mnist::options& options) {
  tn::distributed::alone one;
  if (options.device == "emulated") return run_emulated(options);
  if (options.device == "host") return run<tn::host>(options, one);
  if constexpr (tn::compiled_by_nvcc) {
    return run<tn::cuda>(options, one);
  } else {
    throw mnist::usage_error("--device cuda: this program was not built by nvcc; build the target mnist_cuda");
  }
}

int main(int count, char** arguments) {
  try {
    const auto options = mnist::parse({arguments + 1, arguments + count});
    if (options.help) return std::fputs(mnist::help_text, stdout), 0;
    return options.mpi ? run_on_ranks(count, arguments, options) : run_on_device(options);
  } catch (const mnist::usage_error& mistake) {
    std::fprintf(stderr, "mnist: %s\n", mistake.what());
  } catch (const tn::error& mistake) {
    std::fprintf(stderr, "mnist: %s\n", mistake.what());
  }
  return 2;
}
