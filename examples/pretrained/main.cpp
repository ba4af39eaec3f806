// examples/pretrained/main.cpp: a network that PyTorch trained, in use.
// Loads a state_dict saved as safetensors, fuses the network, and prints its logits beside PyTorch's.
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

/// conv1, conv2, fc1 and fc2 of a PyTorch module, with what stands between them.
auto make_network() {
  return nn::sequential(nn::conv2d<3, 32, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},   //
                        nn::conv2d<32, 64, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},  //
                        nn::flatten{}, nn::linear<3136, 128>{}, nn::relu{}, nn::linear<128, 10>{});
}

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
  auto net = make_network();
  auto named = nn::with_names(net, {{"0", "conv1"}, {"3", "conv2"}, {"7", "fc1"}, {"9", "fc2"}});
  tenon::train::load_state(named, folder / "model.safetensors");
  net.eval();

  const auto batches = tenon::io::read_npy<float, 5>(folder / "input_input.npy");  // of which the first is answered
  const shape<tenon::dyn, 3, 28, 28> extents(batches.extent(1), 3, 28, 28);
  const tenon::view<const float, shape<tenon::dyn, 3, 28, 28>> images(batches.data(), extents);

  nn::inference use(nn::fuse(net), extents);
  const auto logits = use.run(images);
  const double difference = compare(logits, tenon::io::read_npy<float, 2>(folder / "output_logits.npy"));
  std::printf("%ld parameters, %ld bytes for activations; PyTorch's logits are at most %.1e away\n",
              static_cast<long>(nn::parameter_count(net)), static_cast<long>(use.arena_bytes()), difference);
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
