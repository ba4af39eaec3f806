// benchmarks/cuda/g06_convolution.cu: G6, convolutions of 256 images of bfloat16, channels last, and their gradients.
// Beside cuDNN where it is found: 3 x 3, 1 x 1 and the first one of ResNet-50, with bias, ReLU and pool, depthwise.
// SPDX-License-Identifier: Apache-2.0
#include "cudnn_convolution.hpp"
#include "cudnn_pool.hpp"
#include "timing.hpp"

namespace {

namespace tn = tenon;
using element = tn::bfloat16;
using images = tn::tensor<element, tn::rank<4>, tn::cuda>;

/// Two roundings to 8 bits, and floats summed in another order: operands are drawn so that results are about 1.
inline constexpr double bound = 1e-2;

images random_images(const tn::rank<4>& extents, std::uint64_t seed, tn::index summed = 1) {
  images values(extents);
  values = tn::normal<element>(extents, seed, 0.0f, 1 / std::sqrt(static_cast<float>(summed)));
  return values;
}

/// Images and results [n, h, w, c], and the weight [o, c, r, s]; cuDNN's is [o, r, s, c].
struct operands {
  images image, weight, result;
};

/// `summed` is how many elements of the result's gradient are summed.
operands random_operands(const convolution_case& of, int slot, tn::index summed = 1) {
  const auto seed = static_cast<std::uint64_t>(3 * slot);
  return {random_images({of.batch, of.extent, of.extent, of.channels}, seed + 1),
          random_images({of.outputs, of.channels / of.groups, of.kernel, of.kernel}, seed + 2, of.taps()),
          random_images({of.batch, of.windows(), of.windows(), of.outputs}, seed + 3, summed)};
}
operands with_weight_of_cudnn(operands&& x) {
  return {std::move(x.image), images(tn::permute(x.weight, tn::axis<0, 2, 3, 1>)), std::move(x.result)};
}

/// Images and results as Tenon's statements see them, and cuDNN's weight as Tenon's, where they lie.
auto channels_second(images& x) { return tn::permute(x, tn::axis<0, 3, 1, 2>); }

void evaluate(forward, const convolution_case& of, operands& x) {
  channels_second(x.result) = tn::convolve(channels_second(x.image), x.weight, of.geometry());
}
void evaluate(image_gradient, const convolution_case& of, operands& x) {
  channels_second(x.image) =
      tn::convolve_image_gradient(channels_second(x.result), x.weight, {{of.extent, of.extent}}, of.geometry());
}
void evaluate(weight_gradient, const convolution_case& of, operands& x) {
  x.weight = tn::convolve_weight_gradient(channels_second(x.result), channels_second(x.image), {{of.kernel, of.kernel}},
                                          of.geometry());
}

/// What a direction wrote, in Tenon's order.
template <class Direction>
std::vector<float> written_by_cudnn(operands& x) {
  images& written = std::get<2>(Direction::operands(x));
  if constexpr (!std::is_same_v<Direction, weight_gradient>) return timing::elements_of(written)();
  const images ordered(channels_second(written));
  return timing::elements_of(ordered)();
}

/// A convolution or a gradient; where `limit` is given, by the bytes that it moves.
template <class Direction>
void compare(timing::session& session, const std::string& name, const convolution_case& of, Direction direction,
             tn::index summed = 1, const timing::device_copy* limit = nullptr) {
  const int slots = timing::slots_for(of.bytes());
  std::vector<operands> ours, theirs;
  for (int slot = 0; slot < slots; ++slot) {
    ours.push_back(random_operands(of, slot, summed));
    theirs.push_back(with_weight_of_cudnn(random_operands(of, slot, summed)));
  }
  const auto with_tenon = [&](int slot) { evaluate(direction, of, ours[static_cast<std::size_t>(slot)]); };
  const images& written = std::get<2>(Direction::operands(ours[0]));
  std::vector<timing::contender> contenders{{"tenon", with_tenon, timing::elements_of(written)}};
#if defined(BENCHMARKS_CUDNN)
  const cudnn::convolution<element, Direction> peer(of);
  const auto with_cudnn = [&](int slot) {
    const auto [first, second, result] = Direction::operands(theirs[static_cast<std::size_t>(slot)]);
    return peer.run(first.data(), second.data(), result.data());
  };
  cudnn::add_to(contenders, name, with_cudnn, [&] { return written_by_cudnn<Direction>(theirs[0]); });
#endif
  if (limit != nullptr) contenders.push_back(limit->as_limit());
  session.compare(name,
                  {.bytes = limit != nullptr ? static_cast<double>(of.bytes()) : 0,
                   .operations = of.operations(),
                   .bound = bound,
                   .slots = slots},
                  contenders);
}

/// Bias and ReLU in one kernel and, in the second case, a pool of 2 x 2 in another.
void compare_activated(timing::session& session, const convolution_case& of, const std::string& extents) {
  operands ours = random_operands(of, 0), theirs = with_weight_of_cudnn(random_operands(of, 0));
  images bias = random_images({1, 1, 1, of.outputs}, 4);
  const pool_case squares{of.batch, of.outputs, of.windows(), 2, 2, false};
  images pooled(squares.result()), peer_pooled(squares.result());
  const auto with_tenon = [&](int) {
    channels_second(ours.result) =
        tn::relu(tn::convolve(channels_second(ours.image), ours.weight, of.geometry()) + channels_second(bias));
  };
  const auto with_tenon_pooled = [&](int slot) {
    with_tenon(slot);
    pooled = tn::max(tn::windows(ours.result, tn::axis<1, 2>, tn::shape<2, 2>{}, {{2, 2}}), tn::drop<4, 5>);
  };
  const timing::measure by{.operations = of.operations(), .bound = bound};
  const std::string name = "G6c/bias_relu_" + extents, pooled_name = "G6c/bias_relu_pool_" + extents;
  std::vector<timing::contender> contenders{{"tenon", with_tenon, timing::elements_of(ours.result)}},
      pooled_contenders{{"tenon", with_tenon_pooled, timing::elements_of(pooled)}};
#if defined(BENCHMARKS_CUDNN)
  const cudnn::activated_convolution<element> peer(of);
  const cudnn::pool<element> peer_pool(squares);
  const auto with_cudnn = [&](int) {
    return peer.run(theirs.image.data(), theirs.weight.data(), bias.data(), theirs.result.data());
  };
  const auto with_cudnn_pooled = [&](int slot) {
    const auto status = with_cudnn(slot);
    return status != CUDNN_STATUS_SUCCESS ? status : peer_pool.run(theirs.result.data(), peer_pooled.data());
  };
  cudnn::add_to(contenders, name, with_cudnn, timing::elements_of(theirs.result));
  cudnn::add_to(pooled_contenders, pooled_name, with_cudnn_pooled, timing::elements_of(peer_pooled));
#endif
  session.compare(name, by, contenders);
  session.compare(pooled_name, by, pooled_contenders);
}

void cases(timing::session& session) {
  for (const auto& [extent, channels] : {std::pair<tn::index, tn::index>{56, 64}, {28, 128}, {14, 256}, {7, 512}}) {
    const convolution_case of{256, channels, extent, channels, 3, 1, 1, 1};
    const std::string extents = tn::compose_text(extent, "x", extent, "x", channels);
    compare(session, "G6a/forward_" + extents, of, forward{});
    compare(session, "G6a/image_gradient_" + extents, of, image_gradient{});
    compare(session, "G6a/weight_gradient_" + extents, of, weight_gradient{}, of.batch * extent * extent);
    if (extent >= 28) compare_activated(session, of, extents);
  }
  compare(session, "G6b/1x1_56x56x64_256", {256, 64, 56, 256, 1, 1, 0, 1}, forward{});
  compare(session, "G6b/stem_224x224x3_64", {256, 3, 224, 64, 7, 2, 3, 1}, forward{});
  const convolution_case depthwise{256, 256, 56, 256, 3, 1, 1, 256};
  const timing::device_copy copy(static_cast<double>(depthwise.bytes()));
  compare(session, "G6d/depthwise_56x56x256", depthwise, forward{}, 1, &copy);
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
