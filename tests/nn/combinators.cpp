// tests/nn/combinators.cpp: residual blocks and branches within networks, forward and backward.
// Against the same layers called one by one, and against differences.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/combinators.hpp>

#include <tenon/nn/activation.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/reshaping.hpp>

#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::numbers_of;

namespace {

constexpr nn::conv1d_options keeping{.padding = 1};

/// A block whose branches are a layer, a network and a block, between layers.
auto make_combined_network() {
  return nn::sequential(nn::conv1d<2, 3, 1>{},
                        nn::branches(nn::conv1d<3, 2, 1>{}, nn::sequential(nn::conv1d<3, 4, 3, keeping>{}, nn::tanh{}),
                                     nn::residual(nn::conv1d<3, 3, 3, keeping>{}, nn::tanh{}, nn::conv1d<3, 3, 1>{})),
                        nn::residual(nn::conv1d<9, 9, 3, keeping>{}), nn::flatten{}, nn::linear<9 * 5, 2>{});
}

template <class Layer, class Input>
auto called(Layer& layer, const Input& input) {
  return tenon::evaluated_tensor(layer.forward(input));
}

}  // namespace

TEST_CASE("parameters of layers of layers are named by positions", "[combinators]") {
  auto net = make_combined_network();
  std::string names;
  net.visit_parameters([&](const std::string& name, auto&) { names += name + " "; });
  CHECK(names ==
        "0.weight 0.bias 1.0.weight 1.0.bias 1.1.0.weight 1.1.0.bias 1.2.0.weight 1.2.0.bias 1.2.2.weight 1.2.2.bias "
        "2.0.weight 2.0.bias 4.weight 4.bias ");
}

TEMPLATE_LIST_TEST_CASE("combined layers are their layers, called one by one", "[combinators]", tenon_test::spaces) {
  using tenon::get;
  auto net = make_combined_network().template to<TestType>();
  using input_shape = shape<dyn, 2, 5>;
  nn::pass<decltype(net), input_shape, TestType> pass(net);
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input_shape(3, 2, 5), 1));
  const auto found = numbers_of(pass.forward(x.view()));

  const auto& branching = get<1>(net.layers).layers;
  const auto& chain = get<1>(branching).layers;
  const auto& block = get<2>(branching).layers;
  const auto first = called(get<0>(net.layers), x);
  const auto left = called(get<0>(branching), first);
  const auto middle = called(get<1>(chain), called(get<0>(chain), first));
  const auto inner = called(get<2>(block), called(get<1>(block), called(get<0>(block), first)));
  const auto joined =
      tenon::evaluated_tensor<TestType>(tenon::concatenate(tenon::axis<1>, left, middle, first + inner));
  const auto skipped = called(get<0>(get<2>(net.layers).layers), joined);
  const auto flat = called(get<3>(net.layers), tenon::evaluated_tensor<TestType>(joined + skipped));
  CHECK(tenon_test::difference(found, numbers_of(called(get<4>(net.layers), flat)), 1e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("gradients of combined layers are differences", "[combinators]", tenon_test::spaces) {
  auto net = make_combined_network().template to<TestType>();
  using input_shape = shape<dyn, 2, 5>;
  nn::pass<decltype(net), input_shape, TestType> pass(net);
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input_shape(3, 2, 5), 1));
  const auto weights = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(shape<dyn, 2>(3, 2), 2));
  const auto value = [&] {
    return static_cast<double>(static_cast<float>(tenon::sum(pass.forward(x.view()) * weights)));
  };
  value();
  pass.backward(x.view(), weights);
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    const auto analytic = numbers_of(parameter.gradient);
    const auto before = parameter.value;
    for (const tenon::index at : {tenon::index{0}, parameter.value.size() - 1}) {
      const auto value_after = [&](float step) {
        const auto here = tenon::iota<std::int64_t>(before.shape()) == at;
        parameter.value = before + tenon::where(here, step, 0.0f);
        return value();
      };
      const double numeric = (value_after(0.01f) - value_after(-0.01f)) / 0.02;
      CAPTURE(name, at);
      CHECK(std::fabs(analytic[static_cast<std::size_t>(at)] - numeric) < 1e-3);
    }
    parameter.value = before;
  });
}

TEST_CASE("layers of layers train, are used, and show their buffers", "[combinators]") {
  auto net = nn::sequential(nn::residual(nn::linear<4, 4>{}, nn::batch_norm<4>{}, nn::dropout(0.5)));
  nn::pass<decltype(net), shape<dyn, 4>> pass(net);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(shape<dyn, 4>(8, 4), 1));
  const auto first = numbers_of(pass.forward(x.view()));
  CHECK(numbers_of(pass.forward(x.view())) != first);
  net.eval();
  const auto used = numbers_of(pass.forward(x.view()));
  CHECK(numbers_of(pass.forward(x.view())) == used);
  std::string names;
  net.visit_buffers([&](const std::string& name, auto&) { names += name + " "; });
  CHECK(names == "0.1.running_mean 0.1.running_var 0.1.num_batches_tracked ");
}

TEST_CASE("types know the channels of branches", "[combinators]") {
  const auto branching = nn::branches(nn::conv1d<3, 2, 1>{}, nn::conv1d<3, 4, 1>{});
  STATIC_REQUIRE(std::is_same_v<decltype(branching.output_shape(shape<dyn, 3, 5>{})), shape<dyn, 6, 5>>);
}

TEST_CASE("a residual keeps the extents of its input", "[combinators]") {
  const auto block = nn::residual(nn::conv1d<3, dyn, 1>(3, 2, 1));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { block.output_shape(rank<3>(1, 3, 5)); }) ==
        "residual: the layers make [1, 2, 5] of [1, 3, 5], expected the same extents");
}
