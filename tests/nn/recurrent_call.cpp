// tests/nn/recurrent_call.cpp: recurrent layers and cells that are called: gradients of sequences and of states.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_call.hpp>

#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::traced;
using tenon_test::numbers_of;

namespace {

/// Empty when the gradients of `loss()` in the parameters of `layer` agree with differences.
template <class Layer, class Loss>
std::string parameter_difference(Layer& layer, const Loss& loss) {
  const auto value = [&] {
    const tenon::no_grad testing;
    return static_cast<double>(loss());
  };
  nn::clear_gradients(layer);
  tenon::backward(loss());
  std::string text;
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    const auto found = tenon_test::difference_from_slopes(parameter.value, parameter.gradient, value, 1e-6, 1e-5);
    if (found != "") text += name + ": " + found;
  });
  return text;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a called layer has the values and gradients of one by hand", "[recurrent_call]",
                        tenon_test::spaces) {
  nn::lstm<> drawn(3, 4, {.layers = 2, .bidirectional = true});
  drawn.initialise(1);
  auto called = drawn.template to<TestType>(), by_hand = called;
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(rank<3>(5, 2, 3), 1));
  const auto seed = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(rank<3>(5, 2, 8), 2));
  const auto v = tenon::variable(x);
  const auto [sequence, hidden, cell] = called(v);
  sequence.backward(seed);
  const auto expected = by_hand.forward(x);
  CHECK(numbers_of<TestType>(sequence) == numbers_of<TestType>(expected.sequence));
  CHECK(numbers_of<TestType>(hidden) == numbers_of<TestType>(expected.hidden));
  CHECK(numbers_of<TestType>(cell) == numbers_of<TestType>(expected.cell));
  const auto gradients = by_hand.backward(seed);
  CHECK(numbers_of<TestType>(v.gradient()) == numbers_of<TestType>(gradients.sequence));
  std::vector<std::vector<double>> found;
  called.visit_parameters([&](const auto&, auto& each) { found.push_back(numbers_of<TestType>(each.gradient)); });
  std::size_t number = 0;
  by_hand.visit_parameters(
      [&](const auto&, auto& each) { CHECK(found[number++] == numbers_of<TestType>(each.gradient)); });
}

TEMPLATE_LIST_TEST_CASE("a layer called with packed sequences has the values and gradients of one by hand",
                        "[recurrent_call]", tenon_test::spaces) {
  const nn::packing any{.enforce_sorted = false};
  const std::vector<tenon::index> lengths{2, 5, 3};
  const auto check = [&](auto drawn, tenon::index states) {
    drawn.initialise(1);
    auto called = drawn.template to<TestType>(), by_hand = called;
    const auto random = [](const rank<3>& extents, std::uint64_t number) {
      return tenon::evaluated_tensor<TestType>(tenon::uniform<float>(extents, number, -1, 1));
    };
    const auto x = random(rank<3>(5, 3, 3), 1), seed = random(rank<3>(5, 3, 8), 2);
    const auto before = random(rank<3>(states, 3, 4), 3), of_hidden = random(rank<3>(states, 3, 4), 4);
    const auto v = tenon::variable(x), start = tenon::variable(before);
    const auto found = [&] {
      if constexpr (decltype(drawn)::state_count == 2)
        return called(nn::pack_padded_sequence(v, lengths, any), start, start);
      else return called(nn::pack_padded_sequence(v, lengths, any), start);
    }();
    const auto padded = nn::pad_packed_sequence(found.sequence);
    const auto last = numbers_of<TestType>(found.hidden);
    (void)called(nn::pack_padded_sequence(random(rank<3>(5, 3, 3), 7), lengths, any));  // has memory of its own
    tenon::backward(tenon::sum(padded.sequences * seed) + tenon::sum(found.hidden * of_hidden));
    CHECK(numbers_of<TestType>(found.hidden) == last);

    const auto packed = nn::pack_padded_sequence(x, lengths, any),
               of_rows = nn::pack_padded_sequence(seed, lengths, any);
    const auto compare = [&](const auto& expected, const auto& gradients_of) {
      CHECK(numbers_of<TestType>(padded.sequences) ==
            numbers_of<TestType>(nn::pad_packed_sequence(expected.sequence).sequences));
      CHECK(last == numbers_of<TestType>(expected.hidden));
      const auto gradients = gradients_of();
      CHECK(numbers_of<TestType>(v.gradient()) ==
            numbers_of<TestType>(nn::pad_packed_sequence(gradients.sequence).sequences));
      if constexpr (decltype(drawn)::state_count == 2) {
        CHECK(numbers_of<TestType>(start.gradient()) == numbers_of<TestType>(gradients.hidden + gradients.cell));
      } else {
        CHECK(numbers_of<TestType>(start.gradient()) == numbers_of<TestType>(gradients.hidden));
      }
    };
    if constexpr (decltype(drawn)::state_count == 2) {
      const auto zeros = random(rank<3>(states, 3, 4), 5) * 0.0f;
      compare(by_hand.forward(packed, before, before), [&] { return by_hand.backward(of_rows, of_hidden, zeros); });
    } else {
      compare(by_hand.forward(packed, before), [&] { return by_hand.backward(of_rows, of_hidden); });
    }
    std::vector<std::vector<double>> of_parameters;
    called.visit_parameters(
        [&](const auto&, auto& each) { of_parameters.push_back(numbers_of<TestType>(each.gradient)); });
    std::size_t number = 0;
    by_hand.visit_parameters(
        [&](const auto&, auto& each) { CHECK(of_parameters[number++] == numbers_of<TestType>(each.gradient)); });
  };
  check(nn::lstm<>(3, 4, {.layers = 2, .bidirectional = true}), 4);
  check(nn::gru<>(3, 4, {.bidirectional = true}), 2);
}

namespace {

/// Sequences of any lengths, and a map of each row; nothing reads what is behind an end.
struct reader : nn::module<reader> {
  nn::gru<dyn, dyn, tenon::host, double> gru{3, 4, {.layers = 2, .batch_first = true, .bidirectional = true}};
  nn::lstm<dyn, dyn, tenon::host, double> lstm{8, 3};
  nn::rnn<dyn, dyn, tenon::host, double> rnn{3, 3};
  nn::linear<3, 2, nn::linear_options{}, tenon::host, double> head;
  std::vector<tenon::index> lengths{1, 4, 2};

  auto forward(const auto& x) {
    const auto first = gru(nn::pack_padded_sequence(x, lengths, {.batch_first = true, .enforce_sorted = false}));
    const auto second = lstm(first.sequence);
    const auto third = rnn(second.sequence, second.hidden);
    const nn::packed_sequence scores{tenon::traced(head(third.sequence.rows)), third.sequence.layout};
    const auto whole = nn::pad_packed_sequence(scores, {.batch_first = true}).sequences;
    return std::tuple{whole, first.hidden, second.cell, third.hidden};
  }
};

}  // namespace

TEST_CASE("gradients through packed sequences in a module agree with differences", "[recurrent_call]") {
  reader net;
  net.initialise(1);
  auto x = tenon_test::drawn(rank<3>(3, 4, 3), 1);  // [batch, time, features]
  const auto weights = tenon_test::drawn(rank<3>(3, 4, 2), 2);
  const auto loss_of = [&](const auto& in) {
    const auto [scores, first, second, third] = net(in);
    return tenon::traced(tenon::sum(scores * weights) + tenon::sum(tenon::square(first)) +
                         tenon::sum(tenon::square(second)) + tenon::sum(third));
  };
  const auto v = tenon::variable(x);
  loss_of(v).backward();
  const auto value = [&] { return static_cast<double>(loss_of(x)); };
  CHECK(tenon_test::difference_from_slopes(x, v.gradient(), value, 1e-6, 1e-5) == "");
  for (tenon::index time = 1; time < 4; ++time) CHECK(v.gradient()(0, time, 0) == 0);  // behind the end
  CHECK(parameter_difference(net, [&] { return loss_of(x); }) == "");
}

TEST_CASE("gradients flow through sequences, states and several calls", "[recurrent_call]") {
  auto x = tenon_test::drawn(rank<3>(4, 2, 3), 1);
  const auto weights = tenon_test::drawn(rank<3>(4, 2, 3), 2);
  const auto check = [&](auto layer) {
    layer.initialise(0);
    const auto loss_of = [&](const auto& in) {
      const auto first = layer(in);
      const auto second = [&] {
        if constexpr (decltype(layer)::state_count == 2) return layer(first.sequence, first.hidden, first.cell);
        else return layer(first.sequence, first.hidden);
      }();
      return tenon::sum(second.sequence * weights) + tenon::sum(tenon::square(second.hidden));
    };
    const auto v = tenon::variable(x);
    tenon::backward(loss_of(v));
    const auto value = [&] { return static_cast<double>(loss_of(x)); };
    CHECK(tenon_test::difference_from_slopes(x, v.gradient(), value, 1e-6, 1e-5) == "");
    CHECK(parameter_difference(layer, [&] { return loss_of(x); }) == "");
  };
  check(nn::lstm<dyn, dyn, tenon::host, double>(3, 3));
  check(nn::gru<dyn, dyn, tenon::host, double>(3, 3, {.layers = 2}));
  check(nn::rnn<dyn, dyn, tenon::host, double>(3, 3));
}

TEST_CASE("gradients of the last state alone, of batches first and of one sequence", "[recurrent_call]") {
  const auto x = tenon_test::drawn(rank<3>(2, 4, 3), 1);
  nn::lstm<dyn, dyn, tenon::host, double> batches(3, 2, {.batch_first = true});
  batches.initialise(0);
  CHECK(parameter_difference(batches, [&] { return tenon::sum(tenon::square(batches(x).cell)); }) == "");
  const auto one = tenon_test::drawn(rank<2>(4, 3), 1);
  nn::gru<dyn, dyn, tenon::host, double> single(3, 2);
  single.initialise(0);
  CHECK(parameter_difference(single, [&] { return tenon::sum(tenon::square(single(one).hidden)); }) == "");
}

TEST_CASE("cells in a loop of their own", "[recurrent_call]") {
  const auto x = tenon_test::drawn(rank<3>(5, 2, 3), 1);
  nn::lstm_cell<dyn, dyn, tenon::host, double> cell(3, 4);
  cell.initialise(0);
  const auto loss = [&] {
    auto state = cell(tenon::select(x, tenon::axis<0>, 0));
    for (tenon::index step = 1; step < 5; ++step) {
      state = cell(tenon::select(x, tenon::axis<0>, step), state.hidden, state.cell);
    }
    return tenon::sum(tenon::square(state.hidden) + state.cell);
  };
  CHECK(parameter_difference(cell, loss) == "");
  nn::gru_cell<dyn, dyn, tenon::host, double> gated(3, 4);
  gated.initialise(0);
  CHECK(parameter_difference(gated, [&] {
          const auto [hidden] = gated(tenon::select(x, tenon::axis<0>, 0));
          return tenon::sum(gated(tenon::select(x, tenon::axis<0>, 1), hidden).hidden);
        }) == "");
}

TEST_CASE("detached states end the way back", "[recurrent_call]") {
  const auto x = tenon_test::drawn(rank<3>(4, 2, 3), 1);
  const auto v = tenon::variable(x);
  nn::gru<dyn, dyn, tenon::host, double> layer(3, 3);
  layer.initialise(0);
  const auto first = layer(v);
  tenon::backward(tenon::sum(layer(x, first.hidden.detached()).sequence));
  CHECK(numbers_of(v.gradient()) == std::vector<double>(24, 0.0));
}

namespace {

struct averaged_gru : nn::module<averaged_gru> {
  nn::gru<3, 4> layer;
  auto forward(const auto& x) { return tenon::mean(layer(x).sequence, tenon::drop<0>); }
};

}  // namespace

TEST_CASE("recurrent layers and cells that nobody drew are refused", "[recurrent_call]") {
  const auto x = tenon::ones<float>(rank<3>(5, 2, 3));
  const auto row = tenon::ones<float>(rank<2>(2, 3));
  const auto refusal = [](auto layer, const auto& input) {
    return tenon_test::text_of<tenon::error>([&] { (void)layer(input); });
  };
  const std::string advice = " was never written; call initialise(seed), or load weights";
  CHECK(refusal(nn::rnn<3, 4>{}, x) == "rnn: its weight_ih_l0" + advice);
  CHECK(refusal(nn::lstm<>(3, 4, {.layers = 2}), x) == "lstm: its weight_ih_l0" + advice);
  CHECK(refusal(nn::gru<3, 4>{}, nn::pack_padded_sequence(x, {5, 4})) == "gru: its weight_ih_l0" + advice);
  CHECK(refusal(averaged_gru{}, x) == "gru: its weight_ih_l0" + advice);
  CHECK(refusal(nn::rnn_cell<3, 4>{}, row) == "rnn_cell: its weight_ih" + advice);
  CHECK(refusal(nn::lstm_cell<>(3, 4), row) == "lstm_cell: its weight_ih" + advice);
  {
    const tenon::no_grad testing;
    CHECK(refusal(nn::gru_cell<3, 4>{}, row) == "gru_cell: its weight_ih" + advice);
  }
  CHECK(tenon_test::text_of<tenon::error>([] { nn::inference use(averaged_gru{}, rank<3>(5, 2, 3)); }) ==
        "network: its layer.weight_ih_l0" + advice);
  nn::lstm<3, 4> layer({.bias = false});
  std::size_t written = 0;
  layer.visit_parameters([&](const auto&, auto& each) { each.value = 0.5f, ++written; });
  CHECK(written == 2);
  CHECK_NOTHROW(layer(x));
}

TEST_CASE("recurrent layers in a list are drawn by their place", "[recurrent_call]") {
  auto net = nn::sequential(nn::branches(averaged_gru{}, averaged_gru{}), nn::linear<8, 2>{});
  const auto weight = [&](auto branch) { return numbers_of(branch.layer.network().weights(0).weight_ih.value); };
  auto& branches = tenon::get<0>(net.layers).layers;
  CHECK(weight(tenon::get<0>(branches)) != weight(tenon::get<1>(branches)));
}
