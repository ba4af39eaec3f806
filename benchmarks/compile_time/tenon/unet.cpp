// benchmarks/compile_time/tenon/unet.cpp: a U-Net of three levels learns to find discs in noise.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <tenon/train.hpp>

namespace tn = tenon;
namespace nn = tenon::nn;

template <tn::index In, tn::index Out>
auto make_block() {
  constexpr nn::conv2d_options same{.padding = 1};
  return nn::sequential(nn::conv2d<In, Out, 3, same>{}, nn::relu{}, nn::conv2d<Out, Out, 3, same>{}, nn::relu{});
}

/// A level beside what lies below it: half the size, a block, and back to the size and half the channels.
template <tn::index In, tn::index Out, class... Below>
auto make_level(const Below&... below) {
  constexpr nn::conv2d_options twice{.stride = 2};
  return nn::branches(nn::identity{}, nn::sequential(nn::max_pool2d<2>{}, make_block<In, Out>(), below...,
                                                     nn::conv_transpose2d<Out, In, 2, twice>{}));
}
auto make_network() {
  return nn::sequential(make_block<1, 8>(), make_level<8, 16>(make_level<16, 32>(), make_block<32, 16>()),
                        make_block<16, 8>(), nn::conv2d<8, 1, 1>{});
}

int main() {
  using image_shape = tn::shape<tn::dyn, 1, 32, 32>;
  const image_shape extents(8, 1, 32, 32);
  const tn::rank<4> one_each(extents.extent(0), 1, 1, 1);
  auto net = make_network();
  net.initialise(1);
  nn::pass<decltype(net), image_shape> pass(net);
  tn::train::adam optimizer({.lr = 2e-3});
  tn::tensor<float, image_shape> images(extents), discs(extents);
  for (std::uint64_t step = 0; step < 100; ++step) {
    const tn::tensor<float, tn::rank<4>> row = tn::uniform<float>(one_each, 4 * step, 8.0f, 24.0f);
    const tn::tensor<float, tn::rank<4>> column = tn::uniform<float>(one_each, 4 * step + 1, 8.0f, 24.0f);
    const tn::tensor<float, tn::rank<4>> radius = tn::uniform<float>(one_each, 4 * step + 2, 4.0f, 8.0f);
    const auto down = tn::index_grid<float>(extents, tn::axis<2>) - row;
    const auto across = tn::index_grid<float>(extents, tn::axis<3>) - column;
    discs = tn::cast<float>(tn::hypot(down, across) < radius);
    images = discs + 0.7f * tn::normal<float>(extents, 4 * step + 3);

    const auto logits = pass.forward(images.view());
    const float loss = nn::bce_with_logits_loss<nn::to_mean>(logits, discs);
    const tn::index both = tn::count_nonzero((logits > 0.0f) && (discs > 0.5f));
    const tn::index either = tn::count_nonzero((logits > 0.0f) || (discs > 0.5f));
    pass.backward(images.view(), (tn::sigmoid(logits) - discs) / static_cast<float>(discs.size()));
    optimizer.step(net);
    if (step % 20 == 19)
      std::printf("step %d: loss %.4f, overlap %.3f\n", int(step + 1), double(loss), double(both) / double(either));
  }
  return 0;
}
