// examples/mnist/options.hpp: what the command line of the example says.
// Every mistake becomes one sentence; the caller prints it and exits with code 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdint>
#include <limits>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace mnist {

inline constexpr const char* help_text = R"(usage: mnist [options]

Trains a convolutional network to read handwritten digits and prints its accuracy on digits it has not seen.

  --data DIR      read MNIST from DIR: train-images-idx3-ubyte, train-labels-idx1-ubyte and the same for t10k;
                  without it the program draws its own digits (8000 to learn from, 1000 to test)
  --limit N       use at most N digits to learn from and N to test (default: all)
  --epochs N      passes over the training digits (default 3)
  --batch N       digits in a step (default 32)
  --rate X        learning rate of the first step; it falls to zero along a cosine (default 0.03)
  --seed N        seed of weights, shuffling and drawn digits (default 1); the same seed gives the same losses,
                  bit for bit, on any number of threads
  --device D      host (SIMD and threads), emulated (the CUDA kernels on the CPU: slow, for debugging) or cuda
                  (needs a GPU and a program built by nvcc); default host
  --save FILE     write the trained weights to FILE (safetensors)
  --load FILE     start from the weights in FILE
  --evaluate      only test, do not train
  --checkpoint FILE  write the whole training to FILE every --every steps, after each epoch, and on Ctrl-C, which ends
                  the program after its step with code 130
  --every N       steps between checkpoints (default 100)
  --resume        go on from the checkpoint if it is there; losses are those of a training that was never stopped
  --csv FILE      write loss and learning rate of each step to FILE
  --tensorboard DIR  write them to an event file in DIR, for tensorboard --logdir DIR
  --plot FILE     draw the loss to FILE (SVG) while it falls
  --watch         stop at the first statement that makes a NaN or an infinity, and name it; slow
  --mpi           share each batch among the processes of mpirun (needs a program built with MPI)
  --help          print this text
)";

/// What the command line says.
struct options {
  std::string data;
  std::string device = "host";
  std::string save;
  std::string load;
  std::string checkpoint;
  std::string csv;
  std::string tensorboard;
  std::string plot;
  std::int64_t limit = std::numeric_limits<std::int64_t>::max() - 1;
  std::int64_t epochs = 3;
  std::int64_t batch = 32;
  std::int64_t every = 100;
  std::uint64_t seed = 1;
  float rate = 0.03f;
  bool evaluate = false;
  bool resume = false;
  bool watch = false;
  bool mpi = false;
  bool help = false;
};

/// A command line that cannot be understood.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `text` as a number of type T that is at least `least`.
template <class T>
T parse_number(std::string_view option, std::string_view text, T least) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !(value >= least)) {
    throw usage_error(std::string(option) + ": " + std::string(text) + ", expected a number of at least " +
                      std::to_string(least));
  }
  return value;
}

inline std::string parse_device(std::string_view text) {
  if (text != "host" && text != "emulated" && text != "cuda") {
    throw usage_error("--device: " + std::string(text) + ", expected host, emulated or cuda");
  }
  return std::string(text);
}

/// Sets what `option` with `value` says; false when it is no option that takes a value.
inline bool set_value(options& result, std::string_view option, std::string_view value) {
  if (option == "--data") result.data = value;
  else if (option == "--device") result.device = parse_device(value);
  else if (option == "--save") result.save = value;
  else if (option == "--load") result.load = value;
  else if (option == "--checkpoint") result.checkpoint = value;
  else if (option == "--csv") result.csv = value;
  else if (option == "--tensorboard") result.tensorboard = value;
  else if (option == "--plot") result.plot = value;
  else if (option == "--every") result.every = parse_number<std::int64_t>(option, value, 1);
  else if (option == "--limit") result.limit = parse_number<std::int64_t>(option, value, 1);
  else if (option == "--epochs") result.epochs = parse_number<std::int64_t>(option, value, 0);
  else if (option == "--batch") result.batch = parse_number<std::int64_t>(option, value, 1);
  else if (option == "--seed") result.seed = parse_number<std::uint64_t>(option, value, 0);
  else if (option == "--rate") result.rate = parse_number<float>(option, value, 0.0f);
  else return false;
  return true;
}

/// Sets what `option` says by itself; false when it is no such option.
inline bool set_flag(options& result, std::string_view option) {
  if (option == "--help" || option == "-h") result.help = true;
  else if (option == "--evaluate") result.evaluate = true;
  else if (option == "--resume") result.resume = true;
  else if (option == "--watch") result.watch = true;
  else if (option == "--mpi") result.mpi = true;
  else return false;
  return true;
}

/// throws    usage_error
inline options parse(const std::vector<std::string_view>& arguments) {
  options result;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    const std::string_view option = arguments[i];
    if (set_flag(result, option)) continue;
    if (i + 1 < arguments.size() && set_value(result, option, arguments[i + 1])) {
      ++i;
    } else {
      throw usage_error(std::string(option) + " is not an option, or its value is missing; see --help");
    }
  }
  if (result.resume && result.checkpoint.empty()) throw usage_error("--resume: --checkpoint FILE is missing");
  return result;
}

}  // namespace mnist
