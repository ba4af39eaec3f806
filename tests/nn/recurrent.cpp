// tests/nn/recurrent.cpp: what all recurrent layers do with sequences, here plain recurrences.
// Packed and single sequences, no sequences, dropout, memory, other spaces, and what does not fit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/nn/rnn.hpp>

#include "support/recurrent_cases.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::numbers;
using tenon_test::numbers_in;
using tenon_test::numbers_of;

namespace {

template <class Space, class T = float>
using layer_of = nn::rnn<dyn, dyn, Space, T>;

template <class Space, class T = float, class Shape>
tenon::tensor<T, Shape, Space> drawn(const Shape& shape, std::uint64_t seed) {
  return tenon::uniform<T>(shape, seed, -1.0f, 1.0f);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("packed sequences agree with the definition, whatever their order", "[recurrent]",
                        tenon_test::spaces) {
  layer_of<TestType> layer(3, 5, {.layers = 2, .bidirectional = true});
  layer.initialise(0);
  const tenon_test::recurrent_reference reference{3, 5, layer.options(), 1, tenon_test::weights_of(layer)};
  const auto x = drawn<TestType>(rank<3>(4, 3, 3), 1), before = drawn<TestType>(rank<3>(4, 3, 5), 2);
  const std::vector<tenon::index> lengths{1, 4, 2};
  const auto packed = nn::pack_padded_sequence(x, lengths, {.enforce_sorted = false});
  const auto values = layer.forward(packed, before);
  const auto expected = run_reference(reference, numbers_of(x), numbers_of(before), {}, lengths, 4);
  const auto sequences = nn::pad_packed_sequence(values.sequence).sequences;
  CHECK(tenon_test::difference(numbers_of(sequences), expected.sequence, 2e-6) == "");
  CHECK(tenon_test::difference(numbers_in(values.hidden), expected.hidden, 2e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("gradients of packed sequences are those of each by itself", "[recurrent]",
                        tenon_test::spaces) {
  layer_of<TestType, double> layer(3, 4, {.layers = 2, .bidirectional = true});
  layer.initialise(0);
  const auto x = drawn<TestType, double>(rank<3>(3, 2, 3), 1), before = drawn<TestType, double>(rank<3>(4, 2, 4), 2),
             of_sequence = drawn<TestType, double>(rank<3>(3, 2, 8), 3),
             of_hidden = drawn<TestType, double>(rank<3>(4, 2, 4), 4);
  const std::vector<tenon::index> lengths{2, 3};
  const nn::packing options{.enforce_sorted = false};
  layer.forward(nn::pack_padded_sequence(x, lengths, options), before);
  const auto packed = layer.backward(nn::pack_padded_sequence(of_sequence, lengths, options), of_hidden);
  const numbers of_input = numbers_of(nn::pad_packed_sequence(packed.sequence).sequences),
                of_before = numbers_in(packed.hidden);
  std::map<std::string, numbers> sums;
  layer.visit_parameters(
      [&](const std::string& name, auto& parameter) { sums[name] = numbers_of(parameter.gradient); });
  for (tenon::index n = 0; n < 2; ++n) {
    const tenon::range steps(0, lengths[static_cast<std::size_t>(n)]);
    layer.forward(tenon::slice(x, steps, tenon::only(n)), tenon::slice(before, tenon::all_of, tenon::only(n)));
    const auto alone = layer.backward(tenon::slice(of_sequence, steps, tenon::only(n)),
                                      tenon::slice(of_hidden, tenon::all_of, tenon::only(n)));
    const numbers input_alone = numbers_in(alone.sequence), before_alone = numbers_in(alone.hidden);
    for (std::size_t i = 0; i < input_alone.size(); ++i) {
      const std::size_t place = i / 3 * 6 + static_cast<std::size_t>(n) * 3 + i % 3;
      CHECK(tenon_test::is_close(of_input[place], input_alone[i], 1e-12));
    }
    for (std::size_t i = 0; i < before_alone.size(); ++i) {
      const std::size_t place = i / 4 * 8 + static_cast<std::size_t>(n) * 4 + i % 4;
      CHECK(tenon_test::is_close(of_before[place], before_alone[i], 1e-12));
    }
    layer.visit_parameters([&](const std::string& name, auto& parameter) {
      const numbers found = numbers_of(parameter.gradient);
      for (std::size_t i = 0; i < found.size(); ++i) sums[name][i] -= found[i];
    });
  }
  for (const auto& [name, rest] : sums) CHECK(tenon_test::difference(rest, numbers(rest.size(), 0), 1e-12) == "");
}

TEMPLATE_LIST_TEST_CASE("one sequence needs no axis of a batch", "[recurrent]", tenon_test::spaces) {
  layer_of<TestType> layer(3, 4, {.batch_first = true});
  layer.initialise(0);
  const auto x = drawn<TestType>(rank<2>(5, 3), 1), before = drawn<TestType>(rank<2>(1, 4), 2);
  const auto batched = layer.forward(tenon::reshape(x, rank<3>(1, 5, 3)), tenon::reshape(before, rank<3>(1, 1, 4)));
  const numbers sequence = numbers_in(batched.sequence), hidden = numbers_in(batched.hidden);
  const auto values = layer.forward(x, before);
  CHECK(values.sequence.shape() == rank<2>(5, 4));
  CHECK(values.hidden.shape() == rank<2>(1, 4));
  CHECK(numbers_in(values.sequence) == sequence);
  CHECK(numbers_in(values.hidden) == hidden);
  const auto gradients = layer.backward(values.sequence * 1);
  CHECK(gradients.sequence.shape() == x.shape());
  CHECK(gradients.hidden.shape() == before.shape());
}

TEMPLATE_LIST_TEST_CASE("a batch of no sequences gives none, and gradients of zero", "[recurrent]",
                        tenon_test::spaces) {
  layer_of<TestType> layer(3, 4, {.layers = 2, .bidirectional = true});
  layer.initialise(0);
  const auto x = drawn<TestType>(rank<3>(5, 0, 3), 1);
  const auto values = layer.forward(x);
  CHECK(values.sequence.shape() == rank<3>(5, 0, 8));
  CHECK(values.hidden.shape() == rank<3>(4, 0, 4));
  layer.visit_parameters([](const std::string&, auto& parameter) { parameter.gradient = 7; });
  CHECK(layer.backward(values.sequence * 1).sequence.shape() == x.shape());
  layer.visit_parameters([](const std::string&, auto& parameter) {
    CHECK(numbers_of(parameter.gradient) == numbers(static_cast<std::size_t>(parameter.gradient.size()), 0));
  });
}

TEMPLATE_LIST_TEST_CASE("dropout between layers leaves out and scales in training alone", "[recurrent]",
                        tenon_test::spaces) {
  layer_of<TestType> layer(3, 40, {.layers = 2, .dropout = 0.5});
  layer.initialise(0);
  layer_of<TestType> whole(3, 40, {.layers = 2});
  whole.initialise(0);
  const auto x = drawn<TestType>(rank<3>(6, 2, 3), 1);
  const numbers without = numbers_in(whole.forward(x).sequence);
  layer.is_training = false;
  CHECK(numbers_in(layer.forward(x).sequence) == without);
  layer.is_training = true;
  const numbers first = numbers_in(layer.forward(x).sequence), second = numbers_in(layer.forward(x).sequence);
  CHECK(first != without);
  CHECK(first != second);
  layer_of<TestType> all(3, 40, {.layers = 2, .dropout = 1});  // the upper layer sees zeros only
  all.initialise(0);
  all.forward(x);
  all.backward(tenon::ones<float, TestType>(rank<3>(6, 2, 40)));
  all.visit_parameters([](const std::string& name, auto& parameter) {
    double greatest = 0;
    for (const double each : numbers_of(parameter.gradient)) greatest = std::fmax(greatest, std::fabs(each));
    CHECK((greatest == 0) == (name.find("_l0") != std::string::npos || name == "weight_ih_l1"));
  });
}

TEMPLATE_LIST_TEST_CASE("each launch of a captured call leaves out other elements", "[recurrent]",
                        tenon_test::kernel_spaces) {
  layer_of<TestType> layer(3, 40, {.layers = 2, .dropout = 0.5});
  layer.initialise(0);
  const auto x = drawn<TestType>(rank<3>(6, 2, 3), 1);
  tenon::tensor<float, rank<3>, TestType> y({6, 2, 40});
  const auto run = [&] { y = layer.forward(x).sequence; };
  run();
  const auto graph = tenon::capture<TestType>(run);
  graph.launch();
  const numbers first = numbers_of(y);
  graph.launch();
  CHECK(numbers_of(y) != first);
}

TEMPLATE_LIST_TEST_CASE("gradients go through the elements that dropout kept", "[recurrent]", tenon_test::spaces) {
  const auto x = drawn<TestType, double>(rank<3>(3, 2, 3), 1), weights = drawn<TestType, double>(rank<3>(3, 2, 4), 2);
  const auto make = [] {
    layer_of<TestType, double> made(3, 4, {.layers = 2, .dropout = 0.4});
    made.initialise(0);
    return made;
  };
  const auto loss = [&](auto layer) { return static_cast<double>(tenon::sum(layer.forward(x).sequence * weights)); };
  auto layer = make();
  layer.forward(x);
  layer.backward(weights);
  const auto changed = [&](double change) {
    auto other = make();  // draws the same zeros in its first call
    other.visit_parameters([&](const std::string& name, auto& parameter) {
      if (name == "bias_ih_l0") parameter.value = parameter.value + change;
    });
    return other;
  };
  layer.visit_parameters([&](const std::string& name, auto& parameter) {
    if (name != "bias_ih_l0") return;
    const double numeric = (loss(changed(1e-5)) - loss(changed(-1e-5))) / 2e-5;
    CHECK(tenon_test::is_close(tenon::sum(parameter.gradient), numeric, 1e-7));
  });
}

TEMPLATE_LIST_TEST_CASE("a call like the one before keeps its memory and its results", "[recurrent]",
                        tenon_test::spaces) {
  layer_of<TestType> layer(3, 5, {.layers = 2, .bidirectional = true});
  layer.initialise(0);
  const auto x = drawn<TestType>(rank<3>(6, 9, 3), 1), fewer = drawn<TestType>(rank<3>(2, 3, 3), 1);
  const auto pass = [&](const auto& input) {
    const auto values = layer.forward(input);
    const numbers sequence = numbers_in(values.sequence);
    return std::pair(values.sequence.data(), sequence);
  };
  const auto first = pass(x);
  pass(fewer);
  CHECK(pass(x) == first);
  const tenon::launch_counter launches;
  layer.forward(x);
  const int count = launches.count();
  layer.forward(x);
  CHECK(launches.count() == 2 * count);
}

TEMPLATE_LIST_TEST_CASE("gradients of parameters and states need none of the input", "[recurrent]",
                        tenon_test::spaces) {
  layer_of<TestType> layer(3, 5, {.layers = 2, .bidirectional = true});
  layer.initialise(0);
  const tenon::tensor<float, rank<3>, TestType> x = tenon::uniform<float>(rank<3>(4, 2, 3), 1, -1.0f, 1.0f),
                                                seed = tenon::uniform<float>(rank<3>(4, 2, 10), 2, -1.0f, 1.0f);
  const auto all = [&](const auto&... wanted) {
    layer.forward(x);
    const tenon::launch_counter launches;
    const auto gradients = layer.backward(seed, wanted...);
    const int count = launches.count();
    numbers result = numbers_in(gradients.hidden);
    layer.visit_parameters([&](const std::string&, auto& parameter) {
      const auto more = numbers_of(parameter.gradient);
      result.insert(result.end(), more.begin(), more.end());
    });
    return std::pair(result, count);
  };
  const auto with_input = all(), without = all(nn::not_wanted{});
  CHECK(with_input.first == without.first);
  CHECK(without.second <= with_input.second - 2);  // a product of each direction
  using gradients_type = decltype(layer.backward(seed, nn::not_wanted{}));
  STATIC_REQUIRE(std::is_same_v<decltype(gradients_type::sequence), nn::not_wanted>);
}

TEMPLATE_LIST_TEST_CASE("recurrent layers move between spaces", "[recurrent]", tenon_test::spaces) {
  nn::rnn<3, 5> made({.layers = 2});
  made.initialise(9);
  auto moved = made.to<TestType>();
  STATIC_REQUIRE(std::is_same_v<decltype(moved), nn::rnn<3, 5, TestType>>);
  CHECK(tenon_test::weights_of(moved) == tenon_test::weights_of(made));
  CHECK(moved.options().layers == 2);
}

TEST_CASE("what does not fit a recurrent layer is refused", "[recurrent]") {
  using tenon_test::text_of;
  layer_of<tenon::host> layer(3, 4);
  layer.initialise(0);
  const auto x = drawn<tenon::host>(rank<3>(5, 2, 3), 1);
  const auto text = [](auto statement) { return text_of<tenon::shape_error>(statement); };
  CHECK(text([&] { layer.forward(drawn<tenon::host>(rank<3>(5, 2, 4), 1)); }) ==
        "rnn: axis 2: extent 4, expected 3 (input [5, 2, 4])");
  CHECK(text([&] { layer.forward(drawn<tenon::host>(rank<3>(0, 2, 3), 1)); }) ==
        "rnn: axis 0: extent 0, expected at least 1 step");
  CHECK(text([&] { layer.forward(x, drawn<tenon::host>(rank<3>(1, 1, 4), 1)); }) ==
        "rnn: hidden states: extents [1, 1, 4], expected [1, 2, 4]");
  layer.forward(x);
  CHECK(text([&] { layer.backward(x); }) == "rnn: gradient: extents [5, 2, 3], expected [5, 2, 4]");
  CHECK(text([] { nn::rnn<3>(4, 5); }) == "rnn: input features: 4, expected 3 as its type says");
}

TEST_CASE("states and gradients of packed sequences have as many sequences as were packed", "[recurrent]") {
  nn::rnn<3, 4> layer;
  layer.initialise(0);
  const auto x = drawn<tenon::host>(rank<3>(4, 3, 3), 1), fewer = drawn<tenon::host>(rank<3>(1, 1, 4), 1),
             more = drawn<tenon::host>(rank<3>(1, 5, 4), 1), fitting = drawn<tenon::host>(rank<3>(1, 3, 4), 1);
  const auto text = [](auto statement) { return tenon_test::text_of<tenon::shape_error>(statement); };
  for (const bool is_sorted : {true, false}) {
    const std::vector<tenon::index> lengths =
        is_sorted ? std::vector<tenon::index>{4, 2, 1} : std::vector<tenon::index>{1, 4, 2};
    const auto packed = nn::pack_padded_sequence(x, lengths, {.enforce_sorted = is_sorted});
    CHECK(text([&] { layer.forward(packed, fewer); }) == "rnn: hidden states: extents [1, 1, 4], expected [1, 3, 4]");
    CHECK(text([&] { layer.forward(packed, more); }) == "rnn: hidden states: extents [1, 5, 4], expected [1, 3, 4]");
    const auto seed = layer.forward(packed, fitting).sequence;
    CHECK(text([&] { layer.backward(seed, more); }) == "rnn: hidden states: extents [1, 5, 4], expected [1, 3, 4]");
  }
}
