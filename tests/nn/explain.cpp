// tests/nn/explain.cpp: what a call of a network and a whole training step are told to run.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/explain.hpp>

#include <tenon/nn/inference.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/adam.hpp>

#include "support/catch.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::rank;

namespace {

struct classifier : nn::module<classifier> {
  nn::linear<6, 8> hidden;
  nn::linear<8, 3> head;
  auto forward(const auto& x) { return head(tenon::relu(hidden(x))); }
};

}  // namespace

TEST_CASE("a call of a network is told with parameters by name", "[explain]") {
  classifier net;
  net.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(4, 6), 1));
  CHECK(nn::explain(net, x) ==
        "1  contract  float32 [4, 8] = relu(add(contract(x, x), x))  <- input, hidden.weight, hidden.bias\n"
        "2  contract  float32 [4, 3] = add(contract(x, x), x)  <- 1, head.weight, head.bias\n"
        "2 statements, 2 launches, 556 bytes read, 176 bytes written\n");
  CHECK(nn::draw(net, x).find("  \"hidden.weight\" -> s1;\n") != std::string::npos);
}

TEST_CASE("the kernels of a whole training step can be counted", "[explain]") {
  classifier net;
  net.initialise(1);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(4, 6), 1));
  const tenon::tensor<int, rank<1>> y = {0, 2, 1, 1};
  tenon::train::adam<> optimizer(net, {.lr = 1e-3});
  const auto step = [&] { optimizer.step([&] { return tenon::mean(nn::cross_entropy(net(x), y)); }); };
  step();
  tenon::run_log seen;
  nn::name_state(seen, net);
  step();
  // There: two products, the losses of rows, their mean. Back: the seed and its share, the slope of the losses, three
  // products, two sums and what relu lets through. The optimizer is one launch.
  CHECK(seen.launches() == 14);
  CHECK(seen.statements().back().kernel == "optimizer");
  const auto read_by = [&](const std::string& name) {
    int readers = 0;
    for (const auto& each : seen.statements()) {
      for (const auto& read : each.names) readers += read == name ? 1 : 0;
    }
    return readers;
  };
  CHECK(read_by("head.weight") == 2);
  CHECK(read_by("hidden.weight") == 1);
}
