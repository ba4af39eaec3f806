// tests/nn/attention_in_use.cpp: attention in a network in use, beside the same layer called alone.
// Other layers are those of tests/nn/inference.cpp.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/attention.hpp>
#include <tenon/nn/inference.hpp>
#include <tenon/nn/module.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/worn_network.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::wear_in;

namespace {

constexpr nn::multihead_attention_options batches_first{.batch_first = true};
constexpr nn::multihead_attention_options rows_first{.bias = false, .is_causal = true};
constexpr nn::multihead_attention_options dropped_in_training{.dropout = 0.5, .batch_first = true};

/// A block of a transformer, whose sum the product behind attention takes.
template <nn::multihead_attention_options Options, class Space>
struct attending : nn::module<attending<Options, Space>> {
  nn::multihead_attention<8, 2, Options, Space> attention;

  auto forward(const auto& x, const auto&... mask) { return x + attention(x, mask...); }
};

/// Queries that are learned, the same for each batch of keys.
struct asking : nn::module<asking> {
  nn::parameter<float, shape<1, 3, 8>> queries{.value = tenon::uniform<float>(shape<1, 3, 8>{}, 4, -1.0f, 1.0f)};
  nn::multihead_attention<8, 2, batches_first> attention;

  auto forward(const auto& x) { return attention(queries, x, x); }
};

/// Empty where a module in use says what it says when it is called, for inputs of all these extents; a mask is one of
/// [query, key].
template <class Space, class Mask = void, class Network>
std::string difference_in_use(Network net, const std::vector<rank<3>>& inputs) {
  wear_in(net);
  net.eval();
  const auto masked = [&](const auto& use, const rank<3>& extents) {
    if constexpr (std::is_void_v<Mask>) {
      return use();
    } else {
      const rank<2> pairs(extents.extent(1), extents.extent(1));
      return use(
          tenon::evaluated_tensor<Space>(tenon::cast<Mask>(tenon::uniform<float>(pairs, 5, -1.0f, 1.0f) > 0.3f)));
    }
  };
  auto in_use = masked([&](const auto&... mask) { return nn::inference(net, rank<3>(7, 7, 8), mask...); }, {7, 7, 8});
  for (const auto& extents : inputs) {
    const auto x = tenon::evaluated_tensor<Space>(tenon::uniform<float>(extents, 3, -1.0f, 1.0f));
    const tenon::no_grad used;
    const auto found = masked(
        [&](const auto&... mask) {
          return difference(numbers_of(in_use.run(x, mask...)), numbers_of(net(x, mask...)), 2e-6);
        },
        extents);
    if (!found.empty()) return found;
  }
  return "";
}

const std::vector<rank<3>> inputs = {{1, 1, 8}, {1, 5, 8}, {7, 7, 8}, {3, 4, 8}, {0, 4, 8}, {2, 0, 8}, {1, 1, 8}};

}  // namespace

TEMPLATE_LIST_TEST_CASE("attention in use says what the layer says", "[attention_in_use]", tenon_test::spaces) {
  const auto net = nn::initialised<attending<batches_first, TestType>>(1);
  CHECK(difference_in_use<TestType>(net, inputs) == "");
  CHECK(difference_in_use<TestType, float>(net, inputs) == "");
}

TEST_CASE("attention in use with options, masks of truths, and no dropout", "[attention_in_use]") {
  using tenon::host;
  CHECK(difference_in_use<host>(nn::initialised<attending<rows_first, host>>(2), inputs) == "");
  const auto net = nn::initialised<attending<dropped_in_training, host>>(3);
  CHECK(difference_in_use<host, bool>(net, {{3, 4, 8}, {1, 1, 8}, {7, 7, 8}}) == "");
}

TEST_CASE("queries of one batch ask all batches of keys in use", "[attention_in_use]") {
  CHECK(difference_in_use<tenon::host>(nn::initialised<asking>(1), {{7, 7, 8}, {1, 5, 8}, {3, 4, 8}}) == "");
}

TEMPLATE_LIST_TEST_CASE("attention in use is three statements, with the sum behind it", "[attention_in_use]",
                        tenon_test::spaces) {
  auto net = nn::initialised<attending<batches_first, TestType>>(1);
  net.eval();
  nn::inference use(net, rank<3>(3, 4, 8));
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>({3, 4, 8}, 3));
  use.run(x);
  CHECK(use.value_count() == 3);
  CHECK(use.arena_bytes() == 1280 + 512);  // projections and what was attended to, each rounded up to 256
  const tenon::launch_counter launches;
  use.run(x);
  CHECK(launches.count() == 3);
}
