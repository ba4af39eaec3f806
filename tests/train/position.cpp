// tests/train/position.cpp: a training that stops in mid-epoch goes on with the batch that comes next.
// Dropout draws there what it would have drawn.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <tenon/nn/attention.hpp>
#include <tenon/nn/combinators.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/position.hpp>
#include <tenon/train/sgd.hpp>

#include "support/elements.hpp"
#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace {

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::shape;

auto position_network() {
  auto net = nn::sequential(nn::linear<3, 4>{}, nn::dropout(0.5), nn::residual(nn::dropout(0.25)), nn::linear<4, 2>{});
  net.initialise(7);
  return net;
}

/// A network with dropout, how it is trained, and how far that is.
struct position_case {
  static constexpr tenon::index batches = 5;
  decltype(position_network()) net = position_network();
  tenon::train::sgd<> optimizer{{.lr = 0.1, .momentum = 0.9}};
  tenon::train::position position{.seed = 5};

  auto all() { return tenon::train::training(net, optimizer, position); }
  std::vector<double> run_until(std::int64_t step) {
    nn::pass<decltype(net), shape<dyn, 3>> pass(net);
    std::vector<double> answers;
    while (position.step < step) {
      tenon::tensor<float, shape<dyn, 3>> x({2, 3});
      x = tenon::uniform<float>(x.shape(), position.seed + static_cast<std::uint64_t>(position.batch));
      tenon::tensor<float, tenon::rank<2>> y({2, 2});
      y = pass.forward(std::as_const(x).view());
      for (tenon::index i = 0; i < y.size(); ++i) answers.push_back(y.data()[i]);
      pass.backward(std::as_const(x).view(), y * 0.01f);
      optimizer.step(net);
      position.advance(batches);
    }
    return answers;
  }
};

}  // namespace

TEST_CASE("positions count batches within epochs", "[position]") {
  tenon::train::position position;
  for (int i = 0; i < 7; ++i) position.advance(3);
  CHECK(position.epoch == 2);
  CHECK(position.batch == 1);
  CHECK(position.step == 7);
}

TEST_CASE("a checkpoint in mid-epoch goes on bit for bit, masks of dropout included", "[position]") {
  const tenon_test::scratch_file file("position.safetensors");
  position_case whole, stopped, resumed;
  whole.run_until(7);
  stopped.run_until(7);
  tenon::train::save_state(stopped.all(), file.path);
  resumed.position.seed = 9;  // which the file overrules
  resumed.run_until(2);
  auto all = resumed.all();
  CHECK(tenon::train::load_state(all, file.path).unexpected.empty());
  CHECK(resumed.position.epoch == 1);
  CHECK(resumed.position.batch == 2);
  CHECK(resumed.position.seed == 5);
  CHECK(resumed.run_until(12) == whole.run_until(12));
}

TEST_CASE("layers that draw random numbers show what these hang on", "[position]") {
  std::vector<std::string> names;
  const auto note = [&](const std::string& name, std::uint64_t&) { names.push_back(name); };
  nn::multihead_attention<4, 2, nn::multihead_attention_options{.dropout = 0.5}> attention(4, 2);
  nn::multihead_attention<4, 2> plain(4, 2);
  nn::gru<3, 4> recurrent(3, 4);
  attention.visit_random_state(note), plain.visit_random_state(note), recurrent.visit_random_state(note);
  CHECK(names == std::vector<std::string>{"seed", "step", "seed", "calls"});
}

TEST_CASE("seeds of any size are kept", "[position]") {
  const tenon_test::scratch_file file("seed.safetensors");
  position_case saved, loaded;
  saved.position.seed = std::numeric_limits<std::uint64_t>::max() - 1;
  tenon::get<1>(saved.net.layers).seed = (std::uint64_t{1} << 63) + 1;
  tenon::train::save_state(saved.all(), file.path);
  auto all = loaded.all();
  tenon::train::load_state(all, file.path);
  CHECK(loaded.position.seed == saved.position.seed);
  CHECK(tenon::get<1>(loaded.net.layers).seed == (std::uint64_t{1} << 63) + 1);
  const tenon::io::safetensors_file opened(file.path);
  CHECK(opened.contains("random.2.0.step"));
  CHECK(opened.dtype("position.seed") == "U64");
}
