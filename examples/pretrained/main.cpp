// examples/pretrained/main.cpp: a network that PyTorch trained, in use.
// Loads a state_dict saved as safetensors into a module, and prints its logits beside PyTorch's.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <tenon/io/npy.hpp>
#include <tenon/train.hpp>

namespace nn = tenon::nn;
using tenon::shape;

namespace {

constexpr nn::conv2d_options same{.padding = 1};

/// The network as its class in PyTorch has it: parameters are named after members, on both sides.
struct simple_cnn : nn::module<simple_cnn> {
  nn::conv2d<3, 32, 3, same> conv1;
  nn::conv2d<32, 64, 3, same> conv2;
  nn::linear<3136, 128> fc1;
  nn::linear<128, 10> fc2;
  nn::max_pool2d<2> pool;
  nn::flatten flat;

  auto forward(const auto& images) {
    const auto h = pool(tenon::relu(conv2(pool(tenon::relu(conv1(images))))));
    return fc2(tenon::relu(fc1(flat(h))));
  }
};

/// Prints a line for each image; returns how far a logit is from PyTorch's at most.
template <class Logits, class Expected>
double compare(const Logits& logits, const Expected& expected) {
  double difference = 0;
  for (tenon::index image = 0; image < logits.extent(0); ++image) {
    tenon::index best = 0;
    std::printf("image %ld:", static_cast<long>(image));
    for (tenon::index k = 0; k < logits.extent(1); ++k) {
      std::printf(" %7.4f", static_cast<double>(logits(image, k)));
      if (logits(image, k) > logits(image, best)) best = k;
      difference = std::fmax(difference, std::fabs(static_cast<double>(logits(image, k) - expected(image, k))));
    }
    std::printf("  -> class %ld\n", static_cast<long>(best));
  }
  return difference;
}

void run(const std::filesystem::path& folder) {
  simple_cnn net;
  tenon::train::load_state(net, folder / "model.safetensors");

  const auto batches = tenon::io::read_npy<float, 5>(folder / "input_input.npy");  // of which the first is answered
  const shape<tenon::dyn, 3, 28, 28> extents(batches.extent(1), 3, 28, 28);
  const tenon::view<const float, shape<tenon::dyn, 3, 28, 28>> images(batches.data(), extents);

  nn::inference use(net, extents);
  const auto logits = use.run(images);
  const double difference = compare(logits, tenon::io::read_npy<float, 2>(folder / "output_logits.npy"));
  std::printf("%ld parameters, %d values in %ld bytes; PyTorch's logits are at most %.1e away\n",
              static_cast<long>(nn::parameter_count(net)), use.value_count(), static_cast<long>(use.arena_bytes()),
              difference);
  if (difference > 1e-4) throw tenon::error("pretrained: these are not the logits that PyTorch stored");
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::fprintf(stderr, "usage: pretrained FOLDER\nof model.safetensors, input_input.npy and output_logits.npy\n");
    return 2;
  }
  try {
    run(arguments[1]);
    return 0;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
