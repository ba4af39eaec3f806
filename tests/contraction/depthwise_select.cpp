// tests/contraction/depthwise_select.cpp: which convolutions run window by window, and in which packets.
// Seen from the launch and what it says of itself.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/depthwise_select.hpp>

#include "contraction/kernel_cases.hpp"

namespace {

using tenon::rank;

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

TEMPLATE_LIST_TEST_CASE("channels side by side are read in packets that fit", "[depthwise_select]",
                        tenon_test::kernel_spaces) {
  CHECK(packet_of<float, TestType>(8) == 4);
  CHECK(packet_of<tenon::half, TestType>(16) == 8);
  CHECK(packet_of<float, TestType>(6) == 1);
  CHECK(packet_of<tenon::half, TestType>(12) == 1);
}

TEMPLATE_LIST_TEST_CASE("groups of few channels and results", "[depthwise_select]", tenon_test::kernel_spaces) {
  CHECK(kernel_of<TestType>({{1, 16, 4, 4}}, {{16, 8, 3, 3}}, 2) == "depthwise");
  CHECK(kernel_of<TestType>({{1, 18, 4, 4}}, {{16, 9, 3, 3}}, 2) == "simt_product");
  CHECK(kernel_of<TestType>({{1, 4, 4, 4}}, {{18, 2, 3, 3}}, 2) == "simt_product");
  CHECK(kernel_of<TestType>({{1, 1, 4, 4}}, {{1, 1, 3, 3}}, 1) == "simt_product");
}
