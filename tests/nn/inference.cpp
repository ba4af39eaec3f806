// tests/nn/inference.cpp: fused networks against the same networks layer by layer; launches, memory, graphs, misuse.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/activation.hpp>
#include <tenon/nn/adaptive_pool.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/key_value_cache.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/module.hpp>
#include <tenon/nn/norm.hpp>
#include <tenon/nn/padding.hpp>
#include <tenon/nn/pool.hpp>
#include <tenon/nn/resampling.hpp>

#include "support/counted_allocation.hpp"
#include "support/elements.hpp"
#include "support/layer_by_layer.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"
#include "support/worn_network.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::wear_in;

namespace {

/// For what is decided before a space runs it.
using in_any_space = std::tuple<tenon::host>;

constexpr nn::conv2d_options kept_size{.padding = 1};
constexpr nn::conv2d_options kept_size_unbiased{.padding = 1, .bias = false};

/// A network in use beside the one that it was made of.
template <class Space, class Network, class Input>
struct in_use {
  Network net;
  nn::inference<decltype(nn::fuse(std::declval<const Network&>())), tenon::view<const float, Input, Space>> fused;

  in_use(const Network& drawn, const Input& largest) : net(drawn), fused(nn::fuse(net), largest) {}
  in_use(const in_use&) = delete;

  /// Empty where both say the same of an input of these extents.
  std::string difference_for(const Input& extents) {
    const auto x = tenon::evaluated_tensor<Space>(tenon::uniform<float>(extents, 9, -1.0f, 1.0f));
    return difference(numbers_of(fused.run(x.view())), numbers_of(tenon_test::layer_by_layer(x, net)), 2e-5);
  }
  /// How many kernels or loops a run is.
  int launches_for(const Input& extents) {
    const auto x = tenon::evaluated_tensor<Space>(tenon::uniform<float>(extents, 9, -1.0f, 1.0f));
    const tenon::launch_counter launches;
    fused.run(x.view());
    return launches.count();
  }
};

template <class Space, class Network, class Input>
auto put_to_use(Network net, const Input& largest) {
  wear_in(net);
  auto there = net.template to<Space>();
  there.eval();
  return in_use<Space, decltype(there), Input>(there, largest);
}

/// Convolution, norm, activation, pool and a head.
auto small_image_network() {
  return nn::sequential(nn::conv2d<3, 8, 3, kept_size_unbiased>{}, nn::batch_norm<8>{}, nn::relu{}, nn::max_pool2d<2>{},
                        nn::dropout{}, nn::conv2d<8, 12, 3, kept_size>{}, nn::batch_norm<12>{}, nn::gelu{},
                        nn::max_pool2d<2>{}, nn::flatten{}, nn::linear<12 * 2 * 3, 10>{}, nn::softmax<>{});
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a fused network is a statement for each product and softmax", "[inference]",
                        tenon_test::spaces) {
  using input = shape<dyn, 3, 8, 12>;
  auto use = put_to_use<TestType>(small_image_network(), input(5, 3, 8, 12));
  CHECK(use.difference_for(input(5, 3, 8, 12)) == "");
  CHECK(use.launches_for(input(5, 3, 8, 12)) == (std::is_same_v<TestType, tenon::host> ? 4 : 6));  // pools are apart
}

TEMPLATE_LIST_TEST_CASE("pools of squares belong to the convolution before them on the host", "[inference]",
                        tenon_test::spaces) {
  constexpr int apart = std::is_same_v<TestType, tenon::host> ? 0 : 1;
  using input = shape<dyn, 4, 9, 11>;
  constexpr nn::conv2d_options grouped{.stride = 2, .padding = 1, .groups = 2};
  constexpr nn::pool2d_options each{.stride = 1}, upward{.ceil_mode = true};
  auto use = put_to_use<TestType>(
      nn::sequential(nn::conv2d<4, 6, 3, kept_size_unbiased>{}, nn::batch_norm<6>{}, nn::gelu{}, nn::max_pool2d<2>{}),
      input(65, 4, 9, 11));
  for (const tenon::index batch : {1, 64, 0}) CHECK(use.difference_for(input(batch, 4, 9, 11)) == "");
  CHECK(use.launches_for(input(64, 4, 9, 11)) == 1 + apart);
  if (apart == 0) CHECK(use.fused.arena_bytes() == (65 * 6 * 4 * 5 * 4 + 255) / 256 * 256);  // of what is pooled alone
  auto groups = put_to_use<TestType>(nn::sequential(nn::conv2d<4, 6, 3, grouped>{}, nn::max_pool2d<2>{}, nn::relu{},
                                                    nn::conv2d<6, 4, 2>{}, nn::tanh{}),
                                     input(3, 4, 9, 11));
  CHECK(groups.difference_for(input(3, 4, 9, 11)) == "");
  CHECK(groups.launches_for(input(3, 4, 9, 11)) == 3);  // what is behind a pool of the host is a statement of its own
  auto others =
      put_to_use<TestType>(nn::sequential(nn::conv2d<4, 3, 3>{}, nn::max_pool2d<2, each>{}, nn::conv2d<3, 2, 1>{},
                                          nn::max_pool2d<2, upward>{}, nn::conv2d<2, 2, 1>{}, nn::avg_pool2d<2>{}),
                           input(2, 4, 9, 11));
  CHECK(others.difference_for(input(2, 4, 9, 11)) == "");
  CHECK(others.launches_for(input(2, 4, 9, 11)) == 6);
  auto sums = put_to_use<TestType>(nn::sequential(nn::residual(nn::conv2d<4, 4, 3, kept_size>{}), nn::max_pool2d<2>{}),
                                   input(2, 4, 9, 11));
  CHECK(sums.difference_for(input(2, 4, 9, 11)) == "");
  CHECK(sums.launches_for(input(2, 4, 9, 11)) == 1 + apart);
}

TEMPLATE_LIST_TEST_CASE("linear layers take one row and several", "[inference]", tenon_test::spaces) {
  using input = shape<dyn, 40>;
  const auto net = nn::sequential(nn::linear<40, 70>{}, nn::gelu{},
                                  nn::linear<dyn, dyn, nn::linear_options{.bias = false}>(70, 33), nn::linear<33, 5>{});
  auto use = put_to_use<TestType>(net, input(37, 40));
  for (const tenon::index rows : {37, 1, 2, 5, 0, 16, 1}) CHECK(use.difference_for(input(rows, 40)) == "");
  CHECK(use.launches_for(input(16, 40)) == 3);
  auto one = put_to_use<TestType>(net, input(1, 40));
  CHECK(one.difference_for(input(1, 40)) == "");
  using words = shape<2, dyn, 40>;
  auto deep = put_to_use<TestType>(nn::sequential(nn::linear<40, 70>{}, nn::linear<70, 3>{}), words(2, 9, 40));
  for (const tenon::index length : {9, 1, 0}) CHECK(deep.difference_for(words(2, length, 40)) == "");
}

TEMPLATE_LIST_TEST_CASE("batches up to the largest need no new plan", "[inference]", in_any_space) {
  using input = shape<dyn, 3, dyn, 12>;
  auto use = put_to_use<TestType>(nn::sequential(nn::conv2d<3, 4, 3>{}, nn::batch_norm<4>{}, nn::relu{},
                                                 nn::adaptive_avg_pool2d<2>{}, nn::flatten{}, nn::linear<16, 3>{}),
                                  input(7, 3, 9, 12));
  for (const tenon::index batch : {1, 7, 0, 4}) CHECK(use.difference_for(input(batch, 3, 9, 12)) == "");
  CHECK(use.difference_for(input(2, 3, 5, 12)) == "");
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input(8, 3, 9, 12), 1));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { use.fused.run(x.view()); }) ==
        "inference: axis 0: extent 8, expected at most 7 as planned (input [8, 3, 9, 12], planned [7, 3, 9, 12])");
  const tenon::tensor<float, tenon::rank<4>, TestType> known_when_run(tenon::uniform<float>(input(2, 3, 9, 12), 1));
  CHECK(numbers_of(use.fused.run(known_when_run)) ==
        numbers_of(use.fused.run(tenon::tensor<float, input, TestType>(known_when_run))));
  const tenon::tensor<float, tenon::rank<4>, TestType> narrow({2, 3, 9, 11});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { use.fused.run(narrow); }) ==
        "shape: axis 3: extent 11, expected 12 (extents [2, 3, 9, 11])");
}

TEMPLATE_LIST_TEST_CASE("norms are taken into linear layers and convolutions of every kind", "[inference]",
                        in_any_space) {
  auto features =
      put_to_use<TestType>(nn::sequential(nn::linear<9, 20>{}, nn::batch_norm<20>{}, nn::relu{}, nn::dropout{},
                                          nn::linear<20, 6, nn::linear_options{.bias = false}>{}, nn::identity{},
                                          nn::batch_norm<6, nn::affine::none>{}, nn::batch_norm<6>{}),
                           shape<dyn, 9>(11, 9));
  CHECK(features.difference_for(shape<dyn, 9>(11, 9)) == "");
  CHECK(features.launches_for(shape<dyn, 9>(11, 9)) == 2);

  auto lines = put_to_use<TestType>(
      nn::sequential(nn::conv1d<4, 6, 3, nn::conv1d_options{.stride = 2}>{}, nn::batch_norm<6>{}, nn::leaky_relu{0.1}),
      shape<dyn, 4, 17>(3, 4, 17));
  CHECK(lines.difference_for(shape<dyn, 4, 17>(3, 4, 17)) == "");
  CHECK(lines.launches_for(shape<dyn, 4, 17>(3, 4, 17)) == 1);

  constexpr nn::conv2d_options depthwise{.padding = 1, .groups = 6}, grouped{.padding = 1, .groups = 2};
  auto groups = put_to_use<TestType>(
      nn::sequential(nn::conv2d<6, 6, 3, depthwise>{}, nn::batch_norm<6>{}, nn::relu6{}, nn::conv2d<6, 8, 3, grouped>{},
                     nn::batch_norm<8>{}, nn::conv2d<8, 5, 1>{}, nn::batch_norm<5>{}),
      shape<dyn, 6, 7, 5>(2, 6, 7, 5));
  CHECK(groups.difference_for(shape<dyn, 6, 7, 5>(2, 6, 7, 5)) == "");
  CHECK(groups.launches_for(shape<dyn, 6, 7, 5>(2, 6, 7, 5)) == 3);
}

TEMPLATE_LIST_TEST_CASE("norms are taken into transposed convolutions", "[inference]", in_any_space) {
  constexpr nn::conv2d_options twice{.stride = 2, .groups = 2};
  auto use = put_to_use<TestType>(nn::sequential(nn::conv_transpose2d<4, 6, 3, twice>{}, nn::batch_norm<6>{},
                                                 nn::silu{}, nn::conv_transpose2d<6, 3, 2>{}, nn::batch_norm<3>{}),
                                  shape<dyn, 4, 5, 4>(2, 4, 5, 4));
  CHECK(use.difference_for(shape<dyn, 4, 5, 4>(2, 4, 5, 4)) == "");
}

TEMPLATE_LIST_TEST_CASE("a residual's sum belongs to the convolution before it", "[inference]", tenon_test::spaces) {
  using input = shape<dyn, 6, 8, 8>;
  const auto block = [] {
    return nn::residual(nn::conv2d<6, 6, 3, kept_size_unbiased>{}, nn::batch_norm<6>{}, nn::relu{},
                        nn::conv2d<6, 6, 3, kept_size_unbiased>{}, nn::batch_norm<6>{});
  };
  auto use = put_to_use<TestType>(
      nn::sequential(block(), nn::relu{}, block(), nn::relu{}, nn::residual(nn::identity{}), nn::residual(nn::tanh{})),
      input(3, 6, 8, 8));
  CHECK(use.difference_for(input(3, 6, 8, 8)) == "");
  CHECK(use.launches_for(input(3, 6, 8, 8)) == 6);  // a value that a residual reads twice is a statement
}

TEMPLATE_LIST_TEST_CASE("what a residual reads is kept until its sum is written", "[inference]", in_any_space) {
  using input = shape<dyn, 1, 6, 5>;
  auto use = put_to_use<TestType>(
      nn::sequential(nn::conv2d<1, 1, 3, kept_size>{},
                     nn::residual(nn::conv2d<1, 1, 3, kept_size>{}, nn::flatten_axes<0, 0>{}), nn::zero_pad2d<1>{}),
      input(3, 1, 6, 5));
  CHECK(use.difference_for(input(3, 1, 6, 5)) == "");
  CHECK(use.launches_for(input(3, 1, 6, 5)) == 3);
}

TEMPLATE_LIST_TEST_CASE("branches, and what stands alone", "[inference]", in_any_space) {
  using input = shape<dyn, 4, 6, 6>;
  auto use = put_to_use<TestType>(
      nn::sequential(nn::batch_norm<4>{},
                     nn::branches(nn::conv2d<4, 3, 1>{},
                                  nn::sequential(nn::conv2d<4, 2, 3, kept_size>{}, nn::batch_norm<2>{}, nn::relu{},
                                                 nn::conv2d<2, 5, 3, kept_size>{}),
                                  nn::identity{}),
                     nn::prelu<12>{}, nn::batch_norm<12>{}, nn::zero_pad2d<1>{}, nn::avg_pool2d<2>{},
                     nn::upsample_nearest2d<2>{}, nn::flatten{}, nn::layer_norm<shape<12 * 8 * 8>>{},
                     nn::log_softmax<>{}),
      input(2, 4, 6, 6));
  CHECK(use.difference_for(input(2, 4, 6, 6)) == "");
}

TEMPLATE_LIST_TEST_CASE("a run allocates nothing, and a graph repeats it", "[inference]", tenon_test::kernel_spaces) {
  using input = shape<dyn, 3, 8, 12>;
  auto use = put_to_use<TestType>(small_image_network(), input(5, 3, 8, 12));
  tenon::tensor<float, input, TestType> x(tenon::uniform<float>(input(5, 3, 8, 12), 1));
  use.fused.run(x.view());
  const auto allocated = tenon::blocks_of<TestType>().added();
  const auto y = use.fused.run(x.view());
  CHECK(tenon::blocks_of<TestType>().added() == allocated);
  const auto graph = tenon::capture<TestType>([&] { use.fused.run(x.view()); });
  CHECK(graph.kernels() == 6);
  for (std::uint64_t seed = 2; seed < 4; ++seed) {
    x = tenon::uniform<float>(input(5, 3, 8, 12), seed);
    const auto before = tenon::blocks_of<TestType>().added();
    graph.launch();
    CHECK(tenon::blocks_of<TestType>().added() == before);
    CHECK(difference(numbers_of(y), numbers_of(tenon_test::layer_by_layer(x, use.net)), 2e-5) == "");
  }
}

#if !defined(__CUDACC__)
TEST_CASE("a run on the host allocates nothing either", "[inference]") {
  using input = shape<dyn, 3, 8, 12>;
  auto use = put_to_use<tenon::host>(small_image_network(), input(5, 3, 8, 12));
  const tenon::tensor<float, input> x(tenon::uniform<float>(input(5, 3, 8, 12), 1));
  use.fused.run(x.view());
  const std::size_t allocated = tenon_test::blocks_allocated;
  use.fused.run(x.view());
  CHECK(tenon_test::blocks_allocated == allocated);
  const tenon::tensor<float, rank<1>> more({3});
  CHECK(tenon_test::blocks_allocated == allocated + 1);

  auto larger = put_to_use<tenon::host>(nn::sequential(nn::upsample_bilinear2d<2>{}, nn::relu{}), input(5, 3, 8, 12));
  larger.fused.run(x.view());
  const std::size_t before = tenon_test::blocks_allocated;
  larger.fused.run(x.view());
  CHECK(tenon_test::blocks_allocated == before);
}

namespace {

struct module_in_use : nn::module<module_in_use> {
  std::vector<nn::linear<6, 6>> layers = std::vector<nn::linear<6, 6>>(3);
  nn::batch_norm<6> norm;
  nn::linear<6, 2> head;

  auto forward(const auto& x) {
    tenon::traced h = x + 1;
    for (auto& each : layers) h = tenon::relu(norm(each(h))) + h;
    return head(h);
  }
};

}  // namespace

TEST_CASE("nor does one of a module, whatever the batch", "[inference]") {
  using input = shape<dyn, 6>;
  module_in_use net;
  net.initialise(1);
  nn::inference use(net, input(5, 6));
  const tenon::tensor<float, input> x(tenon::uniform<float>(input(5, 6), 1));
  const tenon::tensor<float, input> fewer(tenon::uniform<float>(input(4, 6), 1));
  use.run(x);
  const std::size_t allocated = tenon_test::blocks_allocated;
  use.run(x);
  use.run(fewer);
  use.run(x);
  CHECK(tenon_test::blocks_allocated == allocated);
}

namespace {

struct module_that_writes : nn::module<module_that_writes> {
  nn::layer_norm<shape<8>> norm;
  nn::multihead_attention<8, 2, nn::multihead_attention_options{.batch_first = true, .is_causal = true}> attention;
  nn::linear<8, 8> last;

  auto forward(const auto& x, auto&... seen) { return x + last(tenon::gelu(attention(norm(x), seen...))); }
};

}  // namespace

TEST_CASE("nor does a module that writes, from its second token on", "[inference]") {
  const tenon::no_grad writing;
  module_that_writes net;
  net.initialise(1);
  nn::key_value_cache<> seen(9);
  const tenon::tensor<float, rank<3>> x = tenon::uniform<float>({2, 1, 8}, 1);
  net(x, seen);
  const std::size_t allocated = tenon_test::blocks_allocated;
  while (seen.places() < 9) net(x, seen);
  seen.clear();
  net(x, seen);
  CHECK(tenon_test::blocks_allocated == allocated);
}
#endif

TEMPLATE_LIST_TEST_CASE("layers of several statements have their parts in the arena", "[inference]", in_any_space) {
  using input = shape<dyn, 3, 7, 5>;
  auto use =
      put_to_use<TestType>(nn::sequential(nn::conv2d<3, 6, 3>{}, nn::group_norm<6>(2), nn::relu{}, nn::softmax<1>{},
                                          nn::tanh{}, nn::residual(nn::log_softmax<1>{}), nn::softmax<1>{}),
                           input(4, 3, 7, 5));
  CHECK(use.difference_for(input(4, 3, 7, 5)) == "");
  CHECK(use.difference_for(input(2, 3, 7, 5)) == "");
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input(4, 3, 7, 5), 1));
  if constexpr (!std::is_same_v<TestType, tenon::host>) {
    const auto allocated = tenon::blocks_of<TestType>().added();
    use.fused.run(x.view());
    CHECK(tenon::blocks_of<TestType>().added() == allocated);
  }
}

TEST_CASE("the arena is no larger than what is needed at one time", "[inference]") {
  using input = shape<dyn, 1, 8, 8>;
  auto net = nn::sequential(nn::conv2d<1, 4, 3, kept_size>{}, nn::relu{}, nn::conv2d<4, 2, 3, kept_size>{}, nn::relu{},
                            nn::conv2d<2, 4, 3, kept_size>{}, nn::flatten{}, nn::linear<4 * 8 * 8, 2>{});
  const nn::inference use(nn::fuse(net), input(10, 1, 8, 8));
  CHECK(use.arena_bytes() == 10 * 4 * (4 + 2) * 8 * 8);
  const nn::inference larger(nn::fuse(net), input(20, 1, 8, 8));
  CHECK(larger.arena_bytes() == 2 * use.arena_bytes());
}

TEST_CASE("a fused network has parameters of its own", "[inference]") {
  using input = shape<dyn, 4>;
  auto net = nn::sequential(nn::linear<4, 3>{}, nn::batch_norm<3>{}, nn::layer_norm<shape<3>>{});
  net.eval();
  nn::inference use(nn::fuse(net), input(2, 4));
  const tenon::tensor<float, input> x(tenon::uniform<float>(input(2, 4), 1));
  const auto before = numbers_of(use.run(x.view()));
  net.initialise(99);
  CHECK(numbers_of(use.run(x.view())) == before);
}

TEMPLATE_LIST_TEST_CASE("weights are rounded behind the norms that they take in", "[inference]", tenon_test::spaces) {
  using input = shape<dyn, 4, 6, 6>;
  auto net = nn::sequential(nn::conv2d<4, 4, 3>{}, nn::batch_norm<4>{}, nn::residual(nn::conv2d<4, 4, 1>{}),
                            nn::branches(nn::batch_norm<4>{}, nn::sequential(nn::relu{}, nn::prelu<4>{})),
                            nn::flatten{}, nn::linear<128, 3>{});
  wear_in(net);
  net.eval();
  const auto fused = nn::fuse(net);
  const auto rounded = fused.template to<tenon::bfloat16>().template to<TestType>();
  const auto& weight = tenon::get<0>(fused.layers).layer.weight.value;
  const auto expected = numbers_of(tenon::cast<tenon::bfloat16>(weight));
  CHECK(numbers_of(tenon::get<0>(rounded.layers).layer.weight.value) == expected);

  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input(3, 4, 6, 6), 9, -1.0f, 1.0f));
  nn::inference use(rounded, x);  // numbers of x's type
  nn::inference exact(rounded.template to<float>(), x.shape());
  CHECK(difference(numbers_of(use.run(x.view())), numbers_of(exact.run(x.view())), 2e-5) == "");
}

TEST_CASE("networks without statements give their input under its new shape", "[inference]") {
  using input = shape<dyn, 2, 3>;
  auto net = nn::sequential(nn::identity{}, nn::flatten{}, nn::dropout{});
  net.eval();
  nn::inference use(nn::fuse(net), input(4, 2, 3));
  CHECK(use.arena_bytes() == 0);
  const tenon::tensor<float, input> x(tenon::uniform<float>(input(4, 2, 3), 1));
  const auto y = use.run(x.view());
  CHECK(y.data() == x.data());
  CHECK(tenon_test::extents_of(y) == std::vector<tenon::index>{4, 6});
}

TEST_CASE("what an inference refuses", "[inference]") {
  using input = shape<dyn, 2, 9>;
  auto net = nn::sequential(nn::linear<9, 2>{}, nn::batch_norm<2>{});
  net.eval();
  CHECK(
      tenon_test::text_of<tenon::shape_error>([&] { nn::inference(nn::fuse(net), input(3, 2, 9)); }) ==
      "fuse: batch_norm behind linear: an input of 3 axes, expected [batch, features]: else features are no channels");
  auto narrow = nn::sequential(nn::residual(nn::conv2d<2, 2, 3>{}));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          nn::inference(nn::fuse(narrow), shape<dyn, 2, dyn, dyn>(1, 2, 5, 5));
        }) == "residual: the layers make [1, 2, 3, 3] of [1, 2, 5, 5], expected the same extents");
  auto images = nn::sequential(nn::conv2d<dyn, 2, 3>(3, 2, 3));
  CHECK(tenon_test::has(tenon_test::text_of<tenon::shape_error>(
                            [&] { nn::inference(nn::fuse(images), shape<dyn, dyn, dyn, dyn>(1, 4, 5, 5)); }),
                        "convolve: axis 1: 4 channels, expected 3"));
}
