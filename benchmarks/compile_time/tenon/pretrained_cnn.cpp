// benchmarks/compile_time/tenon/pretrained_cnn.cpp: convolutions and batch norms that PyTorch saved, in use.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <filesystem>
#include <tenon/train.hpp>

namespace tn = tenon;
namespace nn = tenon::nn;

auto make_network() {
  constexpr nn::conv2d_options same{.padding = 1, .bias = false};
  return nn::sequential(nn::conv2d<3, 32, 3, same>{}, nn::batch_norm<32>{}, nn::relu{}, nn::max_pool2d<2>{},   //
                        nn::conv2d<32, 64, 3, same>{}, nn::batch_norm<64>{}, nn::relu{}, nn::max_pool2d<2>{},  //
                        nn::conv2d<64, 128, 3, same>{}, nn::batch_norm<128>{}, nn::relu{},                     //
                        nn::adaptive_avg_pool2d<1>{}, nn::flatten{}, nn::dropout{0.5}, nn::linear<128, 10>{});
}

int main(int count, char** arguments) {
  const std::filesystem::path folder = count > 1 ? arguments[1] : ".";
  auto net = make_network();
  auto named = nn::with_names(
      net, {{"0", "conv1"}, {"1", "bn1"}, {"4", "conv2"}, {"5", "bn2"}, {"8", "conv3"}, {"9", "bn3"}, {"14", "fc"}});
  tn::train::load_state(named, folder / "cnn.safetensors");
  net.eval();

  using image_shape = tn::shape<tn::dyn, 3, 32, 32>;
  const image_shape extents(8, 3, 32, 32);
  const tn::tensor<float, image_shape> images = tn::normal<float>(extents, 1);
  nn::inference use(nn::fuse(net), extents);
  const auto logits = use.run(images.view());
  const tn::tensor<float, tn::rank<2>> shares = tn::softmax(logits, tn::axis<-1>);
  const tn::tensor<std::int64_t, tn::rank<1>> classes = tn::argmax(logits, tn::drop<-1>);
  for (tn::index image = 0; image < extents.extent(0); ++image) {
    const auto best = classes(image);
    std::printf("image %ld: class %ld, %.1f %%\n", static_cast<long>(image), static_cast<long>(best),
                static_cast<double>(100 * shares(image, best)));
  }
  return 0;
}
