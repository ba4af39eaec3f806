// tests/nn/named_values.cpp: forwards whose values have names, in use as a whole and one sample after another, against
// calls of the same modules.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/inference.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/stream.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon::shape;
using tenon::traced;

namespace {

using sequence = tenon::tensor<float, rank<2>>;

/// What a module makes of [time, 3], called as it is.
template <class Network>
std::vector<double> called(Network net, const sequence& x) {
  const tenon::no_grad in_use;
  return tenon_test::numbers_of(sequence(net(x)));
}
template <class Network>
std::vector<double> in_arena(const Network& net, const sequence& x) {
  nn::inference use(net, x.shape());
  return tenon_test::numbers_of(use.run(x));
}
template <class Network>
std::vector<double> streamed(const Network& net, const sequence& x) {
  nn::stream use(net, shape<3>{});
  std::vector<double> found;
  for (tenon::index time = 0; time < x.extent(0); ++time) {
    const auto y = use.next(tenon::tensor<float, shape<3>>(x[time]));
    for (tenon::index i = 0; i < y.size(); ++i) found.push_back(static_cast<double>(y.data()[i]));
  }
  return found;
}
template <class Network>
void compare() {
  auto net = nn::initialised<Network>(4);
  const sequence x = tenon::uniform<float>(rank<2>(11, 3), 8, -2.0f, 2.0f);
  const auto expected = called(net, x);
  CHECK(tenon_test::difference(in_arena(net, x), expected, 1e-5) == "");
  CHECK(tenon_test::difference(streamed(net, x), expected, 1e-5) == "");
}

/// A name of an expression, which is read twice; the result is a name.
struct read_twice : nn::module<read_twice> {
  nn::linear<3, 5> enter;
  nn::linear<5, 5> inner;
  auto forward(const auto& x) {
    const traced h = tenon::tanh(enter(x));
    traced sum = h + inner(h);
    return sum;
  }
};

/// Names that a loop and a branch assign to; each turn of the loop has states of its own.
struct carried : nn::module<carried> {
  nn::linear<3, 5> enter;
  nn::lstm<5, 5> memory;
  nn::linear<5, 2> head;
  bool is_doubled = true;
  auto forward(const auto& x) {
    traced h = enter(x);
    const traced first = h;
    for (int turn = 0; turn < 2; ++turn) h = memory(h).sequence;
    if (is_doubled) h = 2.0f * h;
    h = h.detached() + tenon::tanh(first);
    return head(h);
  }
};

/// A name whose type says less than is known, its other shapes and a part of it.
struct reader : nn::module<reader> {
  nn::linear<3, 4> enter;
  nn::linear<2, 2> head;
  auto forward(const auto& x) {
    const traced<float, rank<1>, tenon::host, tenon::detail::keeper_of<decltype(x)>> h = enter(x);
    const traced square = h.reshape(shape<2, 2>{});
    const traced row = square[h.extent(0) - 3];
    return head(row + 0.0f * square.reshape({-1})[tenon::range(0, 2)]);
  }
};

}  // namespace

TEST_CASE("a named value of a network in use is read as often as it is named", "[named_values]") {
  compare<read_twice>();
}

TEST_CASE("a name of a network in use is given other values", "[named_values]") { compare<carried>(); }

TEST_CASE("a named value of a stream has extents, parts and other shapes", "[named_values]") {
  auto net = nn::initialised<reader>(4);
  const tenon::tensor<float, shape<3>> x = {1, -2, 3};
  const tenon::tensor<float, shape<4>> h = tenon::matmul(net.enter.weight.value, x) + net.enter.bias.value;
  const tenon::tensor<float, shape<2>> row = {h(2), h(3)};
  const tenon::tensor<float, shape<2>> expected = tenon::matmul(net.head.weight.value, row) + net.head.bias.value;
  nn::stream use(net, shape<3>{});
  CHECK(tenon_test::difference(tenon_test::numbers_of(use.next(x)), tenon_test::numbers_of(expected), 1e-5) == "");
}
