// tests/contraction/arranged_operand.cpp: operands of convolutions copied with channels last.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/arranged_operand.hpp>

#include "contraction/kernel_cases.hpp"

using tenon::array;
using tenon::rank;

namespace {

using namespace tenon_test;
using tenon::half;

/// An operand [groups, images, channels, h, w] in planes.
struct plane_case {
  tenon::index groups, images, channels, height, width;

  array<tenon::index, 5> extents() const { return {{groups, images, channels, height, width}}; }
  tenon::index size() const { return groups * images * channels * height * width; }
  /// Of memory [images, groups, channels, h, w], from element `first` on.
  tenon::strided_source<half, 5> source(const half* data) const {
    const tenon::index plane = height * width;
    return {data, {{channels * plane, groups * channels * plane, plane, width, 1}}};
  }
};

/// Copies `source`, and compares each element with where it came from; `memory` is that of the source here.
template <class Space>
void check_copy(const tenon::strided_source<half, 5>& source, const array<tenon::index, 5>& extents,
                const tenon::operand_axes& axes, const half* data, const std::vector<half>& memory) {
  auto operand = tenon::arranged(source, extents, axes);
  REQUIRE(operand.is_copied());
  CHECK(operand.source.stride[axes.channels] == 1);
  const auto copy = operand.template copy<Space>();
  std::vector<half> copied(static_cast<std::size_t>(copy.count()));
  Space::copy_to_host(copied.data(), copy.data(), copy.bytes());
  const tenon::index begin = operand.source.data - copy.data();
  tenon::index wrong = 0;
  for (tenon::index i = 0; i < tenon::count_between(extents, 0, 5); ++i) {
    tenon::index rest = i, from = source.data - data, to = begin;
    for (int axis = 4; axis >= 0; --axis) {
      const tenon::index at = rest % extents[axis];
      rest /= extents[axis];
      from += at * source.stride[axis], to += at * operand.source.stride[axis];
    }
    if (!(copied[static_cast<std::size_t>(to)] == memory[static_cast<std::size_t>(from)])) ++wrong;
  }
  CHECK(wrong == 0);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("planes are copied with channels last", "[arranged]", kernel_spaces) {
  for (const auto& of : {plane_case{1, 2, 64, 8, 16}, plane_case{1, 3, 70, 7, 12}, plane_case{2, 2, 40, 5, 7},
                         plane_case{1, 2, 3, 9, 9}, plane_case{1, 1, 130, 1, 3}, plane_case{4, 1, 8, 10, 13}}) {
    CAPTURE(of.groups, of.images, of.channels, of.height, of.width);
    const auto numbers = random_tensor<half>(rank<1>(of.size()), 5);
    const std::vector<half> memory(numbers.data(), numbers.data() + numbers.size());
    const auto there = numbers.template to<TestType>();
    check_copy<TestType>(of.source(there.data()), of.extents(), {2, 1, true}, there.data(), memory);
  }
}

namespace {

/// Copies two images of planes that are `step` elements apart, and counts what is elsewhere than it should be; pixels
/// are filled with zeros up to their pitch.
template <class T, class Space>
tenon::index count_misplaced(tenon::index channels, tenon::index pixels, tenon::index step, tenon::index first) {
  const tenon::index image_step = channels * step + 4;
  tenon::tensor<T, rank<1>> numbers(rank<1>(2 * image_step + first));
  for (tenon::index i = 0; i < numbers.size(); ++i) numbers(i) = static_cast<T>(i % 113 + 1);
  const auto there = numbers.template to<Space>();
  const tenon::plane_memory<T> planes{there.data() + first, 2, image_step, channels, pixels, step};
  const tenon::storage<T, Space> copy(planes.copied());
  tenon::copy_planes<Space, 16 / static_cast<int>(sizeof(T))>(planes, const_cast<T*>(copy.data()));
  std::vector<T> copied(static_cast<std::size_t>(copy.count()));
  Space::copy_to_host(copied.data(), copy.data(), copy.bytes());
  tenon::index misplaced = 0;
  for (tenon::index i = 0; i < planes.copied(); ++i) {
    const tenon::index channel = i % planes.pitch(), pixel = i / planes.pitch() % pixels,
                       image = i / planes.pitch() / pixels;
    const T expected = channel < channels ? numbers(first + image * image_step + channel * step + pixel) : T(0);
    misplaced += copied[static_cast<std::size_t>(i)] == expected ? 0 : 1;
  }
  return misplaced;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("planes of bytes and of floats, whose depth a product needs side by side", "[arranged]",
                        kernel_spaces) {
  for (const tenon::index channels : {1, 5, 16, 33, 130, 200}) {
    for (const tenon::index pixels : {2, 15, 32, 64, 80, 147}) {
      CAPTURE(channels, pixels);
      CHECK(count_misplaced<std::int8_t, TestType>(channels, pixels, pixels, 0) == 0);
      CHECK(count_misplaced<float, TestType>(channels, pixels, pixels, 0) == 0);
      CHECK(count_misplaced<float, TestType>(channels, pixels, pixels + 3, 1) == 0);
    }
  }
  CHECK(count_misplaced<std::int8_t, TestType>(70, 64, 80, 16) == 0);
  CHECK(count_misplaced<std::int8_t, TestType>(70, 64, 84, 4) == 0);
}

TEMPLATE_LIST_TEST_CASE("planes are copied from where they begin, and backwards", "[arranged]", kernel_spaces) {
  const auto numbers = random_tensor<half>(rank<1>(tenon::index{4 * 24 * 32 + 3}), 5);
  const std::vector<half> memory(numbers.data(), numbers.data() + numbers.size());
  const auto there = numbers.template to<TestType>();
  const plane_case odd{1, 4, 24, 4, 8};
  check_copy<TestType>(odd.source(there.data() + 3), odd.extents(), {2, 1, true}, there.data(), memory);
  const tenon::strided_source<half, 5> apart{there.data(), {{0, 24 * 32 + 1, 32, 8, 1}}};
  check_copy<TestType>(apart, odd.extents(), {2, 1, true}, there.data(), memory);
  // Weights [o, c, taps] of a gradient: rows are c, the depth o, and taps run backwards.
  const array<tenon::index, 5> taps{{1, 24, 4, 4, 8}};
  const tenon::strided_source<half, 5> backwards{there.data() + 31, {{0, 32, 24 * 32, -8, -1}}};
  check_copy<TestType>(backwards, taps, {1, 2, false}, there.data(), memory);
  // The same of two groups, which follow each other along the depth.
  const array<tenon::index, 5> grouped{{2, 24, 2, 4, 8}};
  const tenon::strided_source<half, 5> of_groups{there.data() + 31, {{2 * 24 * 32, 32, 24 * 32, -8, -1}}};
  check_copy<TestType>(of_groups, grouped, {1, 2, false}, there.data(), memory);
}

TEST_CASE("operands that stay as they lie", "[arranged]") {
  const std::vector<half> memory(4096);
  const half* const data = memory.data();
  const auto is_copied = [&](const array<tenon::index, 5>& stride, const array<tenon::index, 5>& extents) {
    const auto operand = tenon::arranged(tenon::strided_source<half, 5>{data, stride}, extents, {2, 1, true});
    if (!operand.is_copied()) CHECK(operand.source.data == data);
    return operand.is_copied();
  };
  const array<tenon::index, 5> extents{{1, 2, 8, 4, 4}}, groups{{2, 2, 4, 4, 4}};
  CHECK(is_copied({{0, 128, 16, 4, 1}}, extents));
  CHECK(is_copied({{64, 128, 16, 4, 1}}, groups));
  CHECK_FALSE(is_copied({{0, 128, 1, 32, 8}}, extents));         // channels lie side by side
  CHECK_FALSE(is_copied({{0, 160, 20, 5, 1}}, extents));         // lines have gaps
  CHECK_FALSE(is_copied({{0, 256, 32, 8, 2}}, extents));         // pixels have gaps
  CHECK_FALSE(is_copied({{0, 128, 16, -4, 1}}, extents));        // lines run backwards, pixels forwards
  CHECK_FALSE(is_copied({{0, 144, 18, 4, 1}}, extents));         // planes have gaps
  CHECK_FALSE(is_copied({{0, -128, 16, 4, 1}}, extents));        // images run backwards
  CHECK_FALSE(is_copied({{72, 144, 16, 4, 1}}, groups));         // groups have gaps
  CHECK_FALSE(is_copied({{0, 8, 1, 1, 1}}, {{1, 2, 8, 1, 1}}));  // of one pixel, planes are channels
  CHECK_FALSE(is_copied({{0, 0, 16, 4, 1}}, extents));           // one image twice
}
