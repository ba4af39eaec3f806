// tests/contraction/depthwise.cpp: convolutions with few channels in a group, on devices.
// Of planes and of channels side by side, along one, two and three axes, against sums over all products in double.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/depthwise.hpp>

#include "contraction/kernel_cases.hpp"
#include "support/convolution.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
template <int Rank>
using problem_of = tenon_test::convolution_problem<Rank>;

/// The axes of [n, ..., c] in the order of [n, c, ...].
template <int... I>
constexpr auto channels_second(std::integer_sequence<int, I...>) {
  return tenon::axis<0, static_cast<int>(sizeof...(I)) + 1, 1 + I...>;
}
template <int... I>
constexpr auto channels_last(std::integer_sequence<int, I...>) {
  return tenon::axis<0, 2 + I..., 1>;
}

/// An operation that adds to the result of a convolution, into results of either layout.
template <class T, class Space, int Rank>
void check_depthwise(const problem_of<Rank>& p, double bound = 1e-5) {
  CAPTURE(tenon::compose_text(p.image, p.weight, p.geometry.stride, p.geometry.dilation, p.geometry.groups));
  constexpr auto axes = std::make_integer_sequence<int, Rank>{};
  const auto image = tenon_test::random_tensor<T>(rank<Rank + 2>(p.image), 1),
             weight = tenon_test::random_tensor<T>(rank<Rank + 2>(p.weight), 2);
  const auto x = numbers_of(image), w = numbers_of(weight);
  std::vector<double> expected(static_cast<std::size_t>(rank<Rank + 2>(p.result()).count()));
  p.for_each_product([&](auto at, auto pixel, auto tap) { expected[at] += x[pixel] * w[tap]; });
  for (double& each : expected) each = each * 2 + 1;
  const auto y = image.template to<Space>(), v = weight.template to<Space>();
  const auto planes = tenon::evaluated_tensor(tenon::convolve(y, v, p.geometry) * 2 + 1);
  CHECK(tenon::launch_count().last_kind == std::string("depthwise"));
  CHECK(tenon_test::difference(numbers_of(planes), expected, bound) == "");
  const auto last = tenon::evaluated_tensor(tenon::permute(y, channels_last(axes)));
  tenon::tensor<T, rank<Rank + 2>, Space> memory(
      tenon::evaluated_tensor(tenon::permute(planes, channels_last(axes))).shape());
  auto result = tenon::permute(memory.view(), channels_second(axes));
  result = tenon::convolve(tenon::permute(last, channels_second(axes)), v, p.geometry) * 2 + 1;
  CHECK(tenon::launch_count().last_kind == std::string("depthwise"));
  CHECK(tenon_test::difference(numbers_of(result), expected, bound) == "");
}

/// Notes the name of the latest kernel and the elements of its packets.
struct packet_observer : tenon::launch_observer {
  std::string kernel;
  std::int64_t packet = 0;

  void statement(const tenon::statement_facts&) override {}
  bool begin(const tenon::launch_facts& facts) override {
    kernel = facts.kernel, packet = 0;
    for (int i = 0; i < facts.choice_count; ++i) {
      if (facts.choices[i].name == std::string("elements of a packet")) packet = facts.choices[i].value;
    }
    return true;
  }
  void end() noexcept override {}
};

/// The packets of a convolution of images [1, 4, 4, channels] with channels side by side, and results alike.
template <class T, class Space>
std::int64_t packet_of(tenon::index channels) {
  const auto image = tenon_test::counting<T, Space>(rank<4>(1, 4, 4, channels));
  const auto weight = tenon_test::counting<T, Space>(rank<4>(channels, 1, 3, 3));
  tenon::tensor<T, rank<4>, Space> result(rank<4>(1, 4, 4, channels));
  const auto turned = tenon::permute(image, tenon::axis<0, 3, 1, 2>);
  auto target = tenon::permute(result.view(), tenon::axis<0, 3, 1, 2>);
  packet_observer seen;
  const tenon::observer_scope scope(&seen);
  target = tenon::convolve(turned, weight, {.padding = {{1, 1}}, .groups = channels});
  CHECK(seen.kernel == "depthwise");
  return seen.packet;
}

template <class Space>
std::string kernel_of(const tenon::array<tenon::index, 4>& image, const tenon::array<tenon::index, 4>& weight,
                      tenon::index groups) {
  const auto x = tenon_test::counting<float, Space>(rank<4>(image)),
             w = tenon_test::counting<float, Space>(rank<4>(weight));
  tenon::evaluated_tensor(tenon::convolve(x, w, {.groups = groups}));
  return tenon::launch_count().last_kind;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("single channels, in planes and side by side", "[depthwise]", tenon_test::kernel_spaces) {
  check_depthwise<float, TestType, 2>({{{2, 8, 7, 9}}, {{8, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 8}});
  check_depthwise<float, TestType, 2>(
      {{{1, 12, 6, 5}}, {{12, 1, 3, 2}}, {.stride = {{2, 1}}, .dilation = {{1, 2}}, .groups = 12}});
  check_depthwise<float, TestType, 2>({{{2, 5, 4, 6}}, {{5, 1, 1, 3}}, {.padding = {{0, 2}}, .groups = 5}});
  check_depthwise<tenon::bfloat16, TestType, 2>(
      {{{1, 272, 3, 4}}, {{272, 1, 3, 3}}, {.padding = {{1, 1}}, .groups = 272}}, 0.01);
  check_depthwise<double, TestType, 2>({{{2, 4, 5, 3}}, {{4, 1, 5, 5}}, {.padding = {{2, 2}}, .groups = 4}});
  check_depthwise<float, TestType, 1>({{{2, 4, 19}}, {{4, 1, 3}}, {.padding = {{1}}, .groups = 4}});
  check_depthwise<float, TestType, 3>(
      {{{1, 4, 4, 5, 3}}, {{4, 1, 2, 3, 2}}, {.stride = {{1, 2, 1}}, .padding = {{1, 1, 0}}, .groups = 4}});
}

TEMPLATE_LIST_TEST_CASE("several channels and results in a group", "[depthwise]", tenon_test::kernel_spaces) {
  check_depthwise<float, TestType, 2>({{{2, 6, 5, 7}}, {{9, 2, 3, 3}}, {.padding = {{1, 2}}, .groups = 3}});
  check_depthwise<float, TestType, 2>({{{2, 6, 6, 4}}, {{16, 3, 2, 2}}, {.groups = 2}});
}

TEMPLATE_LIST_TEST_CASE("gradients of images, computed operands, and what lies beside a result", "[depthwise]",
                        tenon_test::kernel_spaces) {
  const problem_of<2> p{{{2, 4, 6, 7}}, {{4, 1, 3, 3}}, {.stride = {{2, 1}}, .padding = {{1, 1}}, .groups = 4}};
  const auto gradient = tenon_test::random_tensor<float>(rank<4>(p.result()), 1),
             weight = tenon_test::random_tensor<float>(rank<4>(p.weight), 2),
             added = tenon_test::random_tensor<float>(rank<4>(p.image), 3);
  const auto statement = [&](const auto& g, const auto& w, const auto& other) {
    return tenon::evaluated_tensor(tenon::convolve_image_gradient(tenon::abs(g), w * 2, {{6, 7}}, p.geometry) + other);
  };
  const auto expected = numbers_of(statement(gradient, weight, added));
  const auto found =
      statement(gradient.template to<TestType>(), weight.template to<TestType>(), added.template to<TestType>());
  CHECK(tenon::launch_count().last_kind == std::string("depthwise"));
  CHECK(tenon_test::difference(numbers_of(found), expected, 1e-5) == "");
}

TEMPLATE_LIST_TEST_CASE("what is not finite reaches the windows that see it", "[depthwise]",
                        tenon_test::kernel_spaces) {
  auto image = tenon_test::random_tensor<float>(rank<4>(1, 2, 5, 5), 1);
  auto weight = tenon_test::random_tensor<float>(rank<4>(2, 1, 3, 3), 2);
  image(0, 0, 0, 0) = std::nanf(""), weight(1, 0, 0, 0) = HUGE_VALF;
  const auto found = numbers_of(tenon::evaluated_tensor(tenon::convolve(
      image.template to<TestType>(), weight.template to<TestType>(), {.padding = {{1, 1}}, .groups = 2})));
  for (std::size_t i = 0; i < 25; ++i) {
    CHECK(std::isnan(found[i]) == (i / 5 < 2 && i % 5 < 2));
    CHECK(std::isfinite(found[25 + i]) == (i / 5 == 0 || i % 5 == 0));  // of taps outside, nothing is added
  }
}

TEMPLATE_LIST_TEST_CASE("channels side by side are read in packets that fit", "[depthwise]",
                        tenon_test::kernel_spaces) {
  CHECK(packet_of<float, TestType>(8) == 4);
  CHECK(packet_of<tenon::half, TestType>(16) == 8);
  CHECK(packet_of<float, TestType>(6) == 1);
  CHECK(packet_of<tenon::half, TestType>(12) == 1);
}

TEMPLATE_LIST_TEST_CASE("groups of few channels and results", "[depthwise]", tenon_test::kernel_spaces) {
  CHECK(kernel_of<TestType>({{1, 16, 4, 4}}, {{16, 8, 3, 3}}, 2) == "depthwise");
  CHECK(kernel_of<TestType>({{1, 18, 4, 4}}, {{16, 9, 3, 3}}, 2) == "simt_product");
  CHECK(kernel_of<TestType>({{1, 4, 4, 4}}, {{18, 2, 3, 3}}, 2) == "simt_product");
  CHECK(kernel_of<TestType>({{1, 1, 4, 4}}, {{1, 1, 3, 3}}, 1) == "simt_product");
}
