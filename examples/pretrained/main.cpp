// examples/pretrained/main.cpp: a network that PyTorch trained, in use.
// Loads a state_dict saved as safetensors into a module, and prints its logits beside PyTorch's.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <string>
#include <tenon/io/npy.hpp>
#include <tenon/train.hpp>

#include "../command_line.hpp"

namespace nn = tenon::nn;

namespace {

constexpr nn::conv2d_options same{.padding = 1};
using image_shape = tenon::shape<tenon::dyn, 3, 28, 28>;

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

/// Prints a line for each image; returns how far a logit is from PyTorch's at most, NaN where one has no distance.
template <class Logits, class Expected>
double compare(const Logits& logits, const Expected& expected) {
  double difference = 0;
  for (tenon::index image = 0; image < logits.extent(0); ++image) {
    tenon::index best = 0;
    std::printf("image %ld:", static_cast<long>(image));
    for (tenon::index k = 0; k < logits.extent(1); ++k) {
      std::printf(" %7.4f", static_cast<double>(logits(image, k)));
      if (logits(image, k) > logits(image, best)) best = k;
      const double here = std::fabs(static_cast<double>(logits(image, k) - expected(image, k)));
      difference = here <= difference ? difference : here;  // NaN stays
    }
    std::printf("  -> class %ld\n", static_cast<long>(best));
  }
  return difference;
}

[[noreturn]] void refuse(const std::filesystem::path& path, const auto& extents, const std::string& expected) {
  throw tenon::shape_error(tenon::compose_text(path.string(), ": extents ", extents, ", expected ", expected));
}

/// The first batch of a file [batches, images, 3, 28, 28].
tenon::tensor<float, image_shape> read_images(const std::filesystem::path& path) {
  const auto batches = tenon::io::read_npy<float, 5>(path);
  const auto extents = batches.shape().to_array();
  if (extents[0] < 1 || extents[1] < 1 || extents[2] != 3 || extents[3] != 28 || extents[4] != 28) {
    refuse(path, extents, "[batches, images, 3, 28, 28] with at least 1 batch of 1 image");
  }
  return tenon::reshape(tenon::select(batches, tenon::axis<0>, 0), image_shape(extents[1], 3, 28, 28));
}

/// What PyTorch answered to as many images.
tenon::tensor<float, tenon::rank<2>> read_logits(const std::filesystem::path& path, tenon::index images) {
  auto logits = tenon::io::read_npy<float, 2>(path);
  const auto extents = logits.shape().to_array();
  if (extents[0] != images || extents[1] != 10) refuse(path, extents, tenon::compose_text("[", images, ", 10]"));
  return logits;
}

int run(const std::filesystem::path& folder) {
  simple_cnn net;
  tenon::train::load_state(net, folder / "model.safetensors");
  const auto images = read_images(folder / "input_input.npy");
  const auto expected = read_logits(folder / "output_logits.npy", images.extent(0));

  nn::inference use(net, images.shape());
  const double difference = compare(use.run(images), expected);
  std::printf("%ld parameters, %d values in %ld bytes; PyTorch's logits are at most %.1e away\n",
              static_cast<long>(nn::parameter_count(net)), use.value_count(), static_cast<long>(use.arena_bytes()),
              difference);
  if (!(difference <= 1e-4)) throw example::failed("these are not the logits that PyTorch stored");
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_example("pretrained", count, arguments, [](const std::vector<std::string_view>& given) {
    std::string folder;
    example::command_line line(
        "pretrained FOLDER\n\nLoads a network that PyTorch trained, fuses it, and compares its logits with PyTorch's.");
    line.add_argument("FOLDER", folder, "of model.safetensors, input_input.npy and output_logits.npy");
    return line.parse(given) ? run(folder) : 0;
  });
}
