// tests/cuda_programs/images.cu: networks of images as a user writes them.
// SPDX-License-Identifier: Apache-2.0
#include "cuda_programs/space.hpp"

namespace tn = tenon;
namespace nn = tenon::nn;
using tn::dyn;

/// What a user keeps in a struct and names by `decltype`.
auto make_classifier() {
  return nn::sequential(nn::conv2d<1, 4, 3, nn::conv2d_options{.padding = 1}>{}, nn::relu{}, nn::flatten{},
                        nn::linear<4 * 4 * 4, 3>{});
}
struct classifier {
  using network = decltype(make_classifier().to<space>());
  using image = tn::shape<dyn, 1, 4, 4>;
  network net = make_classifier().to<space>();
  nn::pass<network, image, space> pass{net};
};
/// A layer of a user's, made of the library's.
template <class Space, tn::index Channels>
struct depthwise {
  nn::conv2d<Channels, Channels, 3, nn::conv2d_options{.padding = nn::same, .groups = Channels}, Space> each;
  nn::conv2d<Channels, 2 * Channels, 1, nn::conv2d_options{.bias = false}, Space> joined;
};

/// Layers in layers, trained on two images and then fused for use.
void check_network(expectations& expect) {
  constexpr nn::conv2d_options same{.padding = 1};
  auto net = nn::sequential(nn::conv2d<3, 8, 3, same>{}, nn::relu{}, nn::max_pool2d<2>{},
                            nn::residual(nn::conv2d<8, 8, 3, nn::conv2d_options{.padding = nn::same, .bias = false}>{},
                                         nn::batch_norm<8>{}, nn::relu{}),
                            nn::branches(nn::conv2d<8, 4, 1>{},
                                         nn::sequential(nn::conv2d<8, 4, 1>{}, nn::conv2d<4, 4, 3, same>{})),
                            nn::avg_pool2d<2>{}, nn::flatten{}, nn::linear<8 * 4 * 4, 10>{})
                 .to<space>();
  const auto images = tn::evaluated_tensor<space>(tn::normal<float>(tn::shape<dyn, 3, 16, 16>(2, 3, 16, 16), 1));
  const tn::tensor<std::int64_t, tn::rank<1>, space> labels = {3, 7};
  nn::pass<decltype(net), tn::shape<dyn, 3, 16, 16>, space> pass(net);
  tn::train::adam<space> optimizer({.lr = 0.01});
  float first = 0, last = 0;
  for (int step = 0; step < 5; ++step) {
    const auto scores = pass.forward(images.view());
    last = tn::mean(nn::cross_entropy(scores, labels));
    if (step == 0) first = last;
    pass.backward(images.view(), nn::cross_entropy_gradient(scores, labels));
    optimizer.step(net);
  }
  expect(last < first, "training makes the loss smaller");
  net.eval();
  const float kept = tn::sum(pass.forward(images.view()));
  nn::inference use(nn::fuse(net), images.shape());
  const float fused = tn::sum(use.run(images.view()));
  expect(std::fabs(kept - fused) < 1e-3f * (1 + std::fabs(kept)), "the fused network computes as the trained one");
}

/// Every other layer that moves windows; kernels and options of all kinds of spelling.
void check_planes(expectations& expect) {
  constexpr nn::per_axis<2> wide(1, 3);
  auto planes =
      nn::sequential(
          nn::conv2d<2, 4, wide, nn::conv2d_options{.stride = {1, 2}, .padding_mode = nn::border::zeros}>{},
          nn::conv2d<4, 4, 3, nn::conv2d_options{.padding = 1, .groups = 2, .padding_mode = nn::border::reflect}>{},
          nn::conv_transpose2d<4, 4, 2, nn::conv2d_options{.stride = 2}>{}, nn::zero_pad2d<1>{},
          nn::reflection_pad2d<1>{}, nn::replication_pad2d<1>{}, nn::circular_pad2d<1>{}, nn::constant_pad2d<1>{},
          nn::lp_pool2d<2>{}, nn::upsample_nearest2d<2>{},
          nn::max_pool2d<3, nn::pool2d_options{.stride = 2, .padding = 1}>{}, nn::upsample_bilinear2d<2>{},
          nn::pixel_shuffle<2>{}, nn::pixel_unshuffle<2>{}, nn::adaptive_max_pool2d<4>{},
          nn::adaptive_avg_pool2d<nn::per_axis<2>(2, 1)>{})
          .to<space>();
  const auto plane = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<4>(2, 2, 8, 8), 2));
  nn::pass<decltype(planes), tn::rank<4>, space> through_planes(planes);
  const auto pooled = through_planes.forward(plane.view());
  expect(pooled.shape().to_array() == tn::array<tn::index, 4>{{2, 4, 2, 1}}, "planes end as 2 x 1");
  through_planes.backward(plane.view(), pooled);
}

/// Layers along one axis.
void check_lines(expectations& expect) {
  auto lines =
      nn::sequential(nn::conv1d<2, 4, 3>{}, nn::conv_transpose1d<4, 2, 3>{}, nn::zero_pad1d<1, 2>{},
                     nn::max_pool1d<2>{}, nn::upsample_linear1d<2>{}, nn::avg_pool1d<2>{}, nn::adaptive_avg_pool1d<2>{})
          .to<space>();
  const auto line = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<3>(2, 2, 12), 3));
  nn::pass<decltype(lines), tn::rank<3>, space> through_lines(lines);
  const auto ends = through_lines.forward(line.view());
  expect(ends.shape().extent(2) == 2, "lines end as 2");
  through_lines.backward(line.view(), ends);
}

/// Layers along three axes.
void check_bodies(expectations& expect) {
  auto bodies = nn::sequential(nn::conv3d<1, 2, 2>{}, nn::max_pool3d<2>{}, nn::conv_transpose3d<2, 1, 2>{},
                               nn::adaptive_avg_pool3d<1>{})
                    .to<space>();
  const auto body = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<5>(1, 1, 5, 5, 5), 4));
  nn::pass<decltype(bodies), tn::rank<5>, space> through_bodies(bodies);
  expect(through_bodies.forward(body.view()).size() == 1, "bodies end as one number");
}

/// Layers whose sizes the program reads, and what goes back to where it lay.
void check_sizes(expectations& expect) {
  const auto plane = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<4>(2, 2, 8, 8), 9));
  auto given = nn::conv2d<dyn, dyn, dyn, nn::conv2d_at_run_time>(2, 4, 3, {.padding = 1}).to<space>();
  given.initialise(1);
  const auto convolved = tn::evaluated_tensor(given.forward(plane));
  const nn::max_pool2d<2> pool;
  const auto greatest = tn::evaluated_tensor(pool.forward(convolved));
  const auto places = tn::evaluated_tensor(pool.indices(convolved));
  expect(nn::max_unpool<2>(2).forward(greatest, places).shape() == convolved.shape(), "unpooling undoes the extents");
}

/// What stands in structs of the user's.
void check_structs(expectations& expect) {
  classifier three;
  const auto small = tn::evaluated_tensor<space>(tn::normal<float>(classifier::image(2, 1, 4, 4), 5));
  const auto answers = three.pass.forward(small.view());
  using answers_type = decltype(answers);
  answers_type same_answers = answers;
  expect(same_answers.extent(1) == 3, "a classifier in a struct has three classes");
  depthwise<space, 4> own;
  own.each.initialise(6), own.joined.initialise(7);
  const auto plane = tn::evaluated_tensor<space>(tn::normal<float>(tn::rank<4>(2, 4, 8, 8), 8));
  const auto joined = tn::evaluated_tensor(own.joined.forward(tn::evaluated_tensor(own.each.forward(plane))));
  expect(joined.extent(1) == 8, "a layer made of two has twice the channels");
}

/// The other layers, in passes that are named and do not run.
void check_names(expectations& expect) {
  auto planes = nn::sequential(nn::upsample_bicubic2d<2>{}, nn::upsample_bilinear2d_antialias<2>{},
                               nn::upsample_bicubic2d_antialias<2>{}, nn::dropout2d(0.1))
                    .to<space>();
  auto lines = nn::sequential(nn::lp_pool1d<2>{}, nn::adaptive_max_pool1d<4>{}, nn::reflection_pad1d<1>{},
                              nn::upsample_nearest1d<2>{}, nn::dropout1d(0.1), nn::feature_alpha_dropout(0.1))
                   .to<space>();
  auto bodies =
      nn::sequential(nn::avg_pool3d<2>{}, nn::lp_pool3d<2>{}, nn::zero_pad3d<1>{}, nn::upsample_nearest3d<2>{},
                     nn::upsample_trilinear3d<2>{}, nn::adaptive_max_pool3d<2>{}, nn::dropout3d(0.1))
          .to<space>();
  const nn::pass<decltype(planes), tn::rank<4>, space> through_planes(planes);
  const nn::pass<decltype(lines), tn::rank<3>, space> through_lines(lines);
  const nn::pass<decltype(bodies), tn::rank<5>, space> through_bodies(bodies);
  expect(&through_planes.network() == &planes && &through_lines.network() == &lines, "a pass knows its network");
  expect(&through_bodies.network() == &bodies, "so does that of bodies");
}

int main() {
  expectations expect;
  check_network(expect);
  check_planes(expect);
  check_lines(expect);
  check_bodies(expect);
  check_sizes(expect);
  check_structs(expect);
  check_names(expect);
  return expect.failures;
}
