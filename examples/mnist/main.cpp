// examples/mnist/main.cpp: trains a convolutional network to read handwritten digits.
// training.hpp is the program; this is its command line.
// SPDX-License-Identifier: Apache-2.0
#include "../command_line.hpp"
#include "training.hpp"

#if defined(TENON_MPI)  // set by CMake where it finds MPI
#include <tenon/distributed/mpi.hpp>
#endif

int run_emulated(const mnist::options& options);

/// On the processes of mpirun.
int run_on_ranks([[maybe_unused]] int count, [[maybe_unused]] char** arguments, const mnist::options& options) {
  if (options.device != "host") throw example::usage_error("--mpi: takes --device host");
#if defined(TENON_MPI)
  return tn::distributed::run_with_mpi(count, arguments,
                                       [&](auto& ranks) { return mnist::run<tn::host>(options, ranks); });
#else
  throw example::usage_error("--mpi: this program was built without MPI");
#endif
}

int run_on_device(const mnist::options& options) {
  tn::distributed::alone one;
  if (options.device == "emulated") return run_emulated(options);
  if (options.device == "host") return mnist::run<tn::host>(options, one);
  if constexpr (tn::compiled_by_nvcc) {
    return mnist::run<tn::cuda>(options, one);
  } else {
    throw example::usage_error("--device cuda: this program was not built by nvcc; build the target mnist_cuda");
  }
}

int main(int count, char** arguments) {
  return example::run_example("mnist", count, arguments, [&](const std::vector<std::string_view>& given) {
    mnist::options options;
    example::command_line line(
        "mnist [options]\n\nTrains a convolutional network to read handwritten digits and prints its accuracy on "
        "digits that\nit has not seen. The same seed gives the same losses, bit for bit, on any number of threads.");
    line.add("--data DIR", options.data,
             "a folder of MNIST's files: train-images-idx3-ubyte, train-labels-idx1-ubyte, the same for t10k;\n"
             "without it the program draws its own digits, 8000 to learn from and 1000 to test");
    line.add("--limit N", options.limit, tn::index{1}, "digits to learn from and to test at most (default: all)");
    line.add("--epochs N", options.epochs, tn::index{0}, "passes over the training digits");
    line.add("--batch N", options.batch, tn::index{1}, "digits in a step");
    line.add("--rate X", options.rate, 0.0f, "learning rate of the first step, falling along a cosine");
    line.add("--seed N", options.seed, std::uint64_t{0}, "of weights, order and drawn digits");
    line.add("--device D", options.device, {"host", "emulated", "cuda"},
             "host (SIMD and threads), emulated (the CUDA kernels on the CPU: slow, for debugging) or cuda,\n"
             "which needs a GPU and a program built by nvcc");
    line.add_output("--save FILE", options.save, "write the trained weights to FILE (safetensors)");
    line.add("--load FILE", options.load, "start from the weights in FILE");
    line.add("--evaluate", options.evaluate, "only test, do not train");
    line.add_output("--checkpoint FILE", options.checkpoint,
                    "write the whole training to FILE every --every steps, after each epoch, and on Ctrl-C,\n"
                    "which ends the program after its step with code 130");
    line.add("--every N", options.every, tn::index{1}, "steps between checkpoints");
    line.add("--resume", options.resume,
             "go on from the checkpoint if it is there; losses are those of a training that was never stopped");
    line.require("--resume", "--checkpoint FILE");
    line.add_output("--csv FILE", options.csv, "write loss and learning rate of each step to FILE");
    line.add("--tensorboard DIR", options.tensorboard,
             "write them to an event file in DIR, for tensorboard --logdir DIR");
    line.add_output("--plot FILE", options.plot, "draw the loss to FILE (SVG) while it falls");
    line.add("--watch", options.watch,
             "stop at the first statement that makes a NaN or an infinity, and name it; slow");
    line.add("--mpi", options.mpi, "share each batch among the processes of mpirun (needs a program built with MPI)");
    if (!line.parse(given)) return 0;
    return options.mpi ? run_on_ranks(count, arguments, options) : run_on_device(options);
  });
}
