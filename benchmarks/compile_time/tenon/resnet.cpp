// benchmarks/compile_time/tenon/resnet.cpp: a small residual network with a layer of the user's learns three textures.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <tenon/train.hpp>

namespace tn = tenon;
namespace nn = tenon::nn;

/// x sigmoid(w x), with a learned w for each channel.
template <tn::index Channels>
struct gate : nn::expression_layer<gate<Channels>> {
  static constexpr const char* name = "gate";
  using space = tn::host;
  nn::parameter<float, tn::shape<Channels>, tn::host> weight;

  auto parameters() const { return tn::make_tuple_of(&weight); }
  auto parameters() { return tn::make_tuple_of(&weight); }
  void initialise(std::uint64_t) {
    weight = {tn::ones<float>(tn::shape<Channels>{}), tn::zeros<float>(tn::shape<Channels>{})};
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("weight", weight);
  }
  template <tn::shape_type Input>
  static constexpr Input output_shape(const Input& input) {
    return input;
  }
  template <class Input, class Weight>
  auto expression(const Input& x, const Weight& weights) const {
    return x * tn::sigmoid(x * nn::over_channels<4>(weights));
  }
};

constexpr nn::conv2d_options same{.padding = 1, .bias = false}, half{.stride = 2, .padding = 1, .bias = false};

template <tn::index Channels>
auto make_block() {
  return nn::residual(nn::conv2d<Channels, Channels, 3, same>{}, nn::batch_norm<Channels>{}, gate<Channels>{},
                      nn::conv2d<Channels, Channels, 3, same>{}, nn::batch_norm<Channels>{});
}
auto make_network() {
  return nn::sequential(nn::conv2d<3, 16, 3, same>{}, nn::batch_norm<16>{}, gate<16>{},   //
                        make_block<16>(), gate<16>{}, make_block<16>(), gate<16>{},       //
                        nn::conv2d<16, 32, 3, half>{}, nn::batch_norm<32>{}, gate<32>{},  //
                        make_block<32>(), gate<32>{}, make_block<32>(), gate<32>{},       //
                        nn::adaptive_avg_pool2d<1>{}, nn::flatten{}, nn::dropout{0.1}, nn::linear<32, 3>{});
}

int main() {
  using image_shape = tn::shape<tn::dyn, 3, 16, 16>;
  const image_shape extents(32, 3, 16, 16);
  const tn::index batch = extents.extent(0);
  auto net = make_network();
  net.initialise(1);
  nn::pass<decltype(net), image_shape> pass(net);
  tn::train::sgd optimizer({.lr = 0.05, .momentum = 0.9, .weight_decay = 1e-4});
  tn::tensor<float, image_shape> images(extents);
  for (std::uint64_t step = 0; step < 60; ++step) {
    // Waves along the columns, the rows, or both, in noise.
    const tn::tensor<std::int64_t, tn::rank<1>> labels = tn::randint<std::int64_t>(tn::rank<1>(batch), 2 * step, 0, 3);
    const auto texture = tn::reshape(labels, tn::rank<4>(batch, 1, 1, 1));
    const auto across = tn::sin(tn::where(texture == 1, 0.0f, 0.8f) * tn::index_grid<float>(extents, tn::axis<3>));
    const auto down = tn::cos(tn::where(texture == 0, 0.0f, 0.8f) * tn::index_grid<float>(extents, tn::axis<2>));
    images = across * down + 0.5f * tn::normal<float>(extents, 2 * step + 1);

    const auto logits = pass.forward(images.view());
    const float loss = tn::mean(nn::cross_entropy(logits, labels));
    const std::int64_t right = tn::sum(tn::argmax(logits, tn::drop<-1>) == labels);
    pass.backward(images.view(), nn::cross_entropy_gradient(logits, labels));
    optimizer.schedule(tn::train::cosine_annealing_lr{.t_max = 60}, static_cast<tn::index>(step));
    optimizer.step(net);
    if (step % 10 == 9)
      std::printf("step %d: loss %.4f, %d of %d right\n", int(step + 1), double(loss), int(right), int(batch));
  }
  return 0;
}
