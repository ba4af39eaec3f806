// tests/algorithms/scatter.cpp: elements written to the places that indices name, along every axis.
// The reference writes one element at a time in row-major order.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/scatter.hpp>

#include <cstring>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/text_of.hpp"
#include "support/threads.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

/// A scatter by definition, with `fold(held, fresh)`.
template <class Fold>
numbers scattered(numbers held, const tenon::array<tenon::index, 3>& extents, int along, const numbers& indices,
                  const tenon::array<tenon::index, 3>& places, const numbers& source,
                  const tenon::array<tenon::index, 3>& offered, const Fold& fold) {
  for (std::size_t i = 0; i < indices.size(); ++i) {
    const auto at = static_cast<tenon::index>(i);
    tenon::array<tenon::index, 3> position{{at / places[2] / places[1], at / places[2] % places[1], at % places[2]}};
    const tenon::index from = (position[0] * offered[1] + position[1]) * offered[2] + position[2];
    position[along] = static_cast<tenon::index>(indices[i]);
    if (position[along] < 0) position[along] += extents[along];
    const tenon::index to = (position[0] * extents[1] + position[1]) * extents[2] + position[2];
    auto& place = held[static_cast<std::size_t>(to)];
    place = fold(place, source[static_cast<std::size_t>(from)]);
  }
  return held;
}

/// Indices of both signs into an axis of `extent`.
template <class Space>
auto random_indices(const tenon::array<tenon::index, 3>& places, tenon::index extent) {
  tenon_test::random_source random(5);
  return tenon_test::made_tensor<std::int64_t, Space>(rank<3>(places),
                                                      [&](tenon::index) { return random.below(2 * extent) - extent; });
}

template <class Space, int Axis, class Operation, class Fold>
void check_scatter(const tenon::array<tenon::index, 3>& extents, tenon::axis_list<Axis> axes, Operation operation,
                   const Fold& fold) {
  CAPTURE(extents[0], extents[1], extents[2], Axis);
  if (extents[Axis] == 0) return;
  tenon::array<tenon::index, 3> places = extents, offered;
  for (int i = 0; i < 3; ++i) {
    places[i] = i == Axis ? extents[i] + 3 : extents[i] - extents[i] / 3;
    offered[i] = places[i] + i;
  }
  const auto indices = random_indices<Space>(places, extents[Axis]);
  const auto source = tenon_test::few_values<float, Space>(offered, 3);
  const auto before = tenon_test::few_values<float, Space>(extents, 4);
  const auto expected =
      scattered(numbers_of(before), extents, Axis, numbers_of(indices), places, numbers_of(source), offered, fold);
  auto y = before;
  tenon::scatter(y, axes, indices, source, operation);
  CHECK(difference(numbers_of(y), expected) == "");
  y = before;
  tenon::scatter(y, axes, indices + 0, source * 1.0f, operation);
  CHECK(difference(numbers_of(y), expected) == "");
}

template <class Space, class Operation, class Fold>
void check_every_axis(const tenon::array<tenon::index, 3>& extents, Operation operation, const Fold& fold) {
  check_scatter<Space>(extents, axis<0>, operation, fold);
  check_scatter<Space>(extents, axis<1>, operation, fold);
  check_scatter<Space>(extents, axis<2>, operation, fold);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("scatter along every axis with every combination", "[scatter]", tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    check_every_axis<TestType>(extents, tenon::overwrite, [](double, double fresh) { return fresh; });
    check_every_axis<TestType>(extents, tenon::add, [](double held, double fresh) { return held + fresh; });
    check_every_axis<TestType>(extents, tenon::maximum,
                               [](double held, double fresh) { return std::fmax(held, fresh); });
    check_every_axis<TestType>(extents, tenon::minimum,
                               [](double held, double fresh) { return std::fmin(held, fresh); });
  }
}

TEMPLATE_LIST_TEST_CASE("of places that meet the last one wins, or all are combined", "[scatter]",
                        tenon_test::algorithm_spaces) {
  auto y = counting<float, TestType>(rank<2>(1, 5), 1);
  const auto indices = tensor_of<TestType, int>(rank<2>(1, 3), {1, 1, -4});
  tenon::scatter(y, axis<1>, indices, tensor_of<TestType, float>(rank<2>(1, 3), {7, 8, 9}));
  CHECK(numbers_of(y) == numbers{1, 9, 3, 4, 5});
  tenon::scatter_add(y, axis<1>, indices, 2.0f);
  CHECK(numbers_of(y) == numbers{1, 15, 3, 4, 5});
  tenon::scatter(y, axis<1>, indices, 2, tenon::multiply);
  CHECK(numbers_of(y) == numbers{1, 120, 3, 4, 5});
}

TEMPLATE_LIST_TEST_CASE("scattered elements are cast", "[scatter]", tenon_test::algorithm_spaces) {
  auto y = counting<std::uint8_t, TestType>(rank<1>(3), 7, 0);
  const auto places = counting<std::int32_t, TestType>(rank<1>(3));
  tenon::scatter(y, axis<0>, places, tensor_of<TestType, float>(rank<1>(3), {-2, 3.75, 300}));
  CHECK(numbers_of(y) == numbers{0, 3, 255});
}

TEMPLATE_LIST_TEST_CASE("scatter into a view, of its own elements", "[scatter]", tenon_test::algorithm_spaces) {
  auto y = counting<double, TestType>(rank<2>(3, 3));
  const auto column = tensor_of<TestType, std::int64_t>(rank<2>(3, 1), {2, 0, 1});
  tenon::scatter(tenon::transpose(y), axis<0>, column,
                 tenon::slice(tenon::transpose(y), tenon::all_of, tenon::only(1)));
  CHECK(numbers_of(y) == numbers{4, 5, 3, 3, 4, 5, 6, 7, 8});
  auto reversed = tensor_of<TestType, std::int64_t>(rank<1>(4), {3, 2, 1, 0});
  tenon::scatter(reversed, axis<0>, reversed, reversed * 10);
  CHECK(numbers_of(reversed) == numbers{0, 10, 20, 30});
  auto numbered = tensor_of<TestType, std::int64_t>(rank<1>(4), {1, 2, 3, 0});
  tenon::scatter(numbered, axis<0>, numbered, numbered);
  CHECK(numbers_of(numbered) == numbers{0, 1, 2, 3});
}

TEMPLATE_LIST_TEST_CASE("index_add adds slices", "[scatter]", tenon_test::algorithm_spaces) {
  const auto source = counting<float, TestType>(rank<2>(3, 4));
  const auto indices = tensor_of<TestType, std::int32_t>(rank<1>(3), {1, -1, 1});
  auto y = tenon::zeros<float, TestType>(rank<2>(2, 4));
  tenon::index_add(y, axis<0>, indices, source);
  CHECK(numbers_of(y) == numbers{0, 0, 0, 0, 12, 15, 18, 21});
  auto z = tenon::zeros<float, TestType>(rank<2>(4, 2));
  tenon::index_add(z, axis<1>, indices, tenon::transpose(source), tenon::overwrite);
  CHECK(numbers_of(z) == numbers{0, 8, 0, 9, 0, 10, 0, 11});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::index_add(y, axis<1>, indices, source); }) ==
        "index_add: axis 0: extent 3 of the source, expected 2 of the destination");
  tenon::index_add(tenon::transpose(y), axis<1>, indices, tenon::transpose(source) + 0.0f);
  CHECK(numbers_of(y) == numbers{0, 0, 0, 0, 24, 30, 36, 42});
  tenon::index_add(y, axis<0>, indices, 2);
  CHECK(numbers_of(y) == numbers{0, 0, 0, 0, 30, 36, 42, 48});
  tenon::index_add(tenon::transpose(y), axis<0>, indices, 7.5, tenon::overwrite);
  CHECK(numbers_of(y) == numbers{0, 7.5, 0, 7.5, 30, 7.5, 42, 7.5});
  auto bytes = tensor_of<TestType, std::uint8_t>(rank<1>(3), {1, 2, 3});
  CHECK(tenon_test::text_of<tenon::dtype_error>([&] { tenon::index_add(bytes, axis<0>, indices, 300); }) ==
        "index_add: number 300, expected 0 to 255 (elements of uint8)");
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::index_add(bytes, axis<0>, indices + 2, 1); }) ==
        "index_add: axis 0: index 3, expected at least -3 and below 3 (destination [3])");
  CHECK(numbers_of(bytes) == numbers{1, 2, 3});
}

TEMPLATE_LIST_TEST_CASE("index_add of slices of many sizes, in order", "[scatter]", tenon_test::algorithm_spaces) {
  for (const tenon::index width : {1, 2, 33, 127, 128, 300}) {
    CAPTURE(width);
    const auto indices = random_indices<TestType>({{1, 1, 7}}, 5);
    const auto all = tenon::broadcast_to(tenon::reshape(indices, rank<3>(1, 7, 1)), rank<3>(2, 7, width));
    const auto source = tenon_test::few_values<float, TestType>({{2, 7, width}}, 3);
    const auto before = tenon_test::few_values<float, TestType>({{2, 5, width}}, 4);
    const auto latest = [](double, double fresh) { return fresh; };
    const auto expected = scattered(numbers_of(before), {{2, 5, width}}, 1, numbers_of(all), {{2, 7, width}},
                                    numbers_of(source), {{2, 7, width}}, latest);
    auto y = before;
    tenon::index_add(y, axis<1>, tenon::reshape(indices, rank<1>(7)), source, tenon::overwrite);
    CHECK(difference(numbers_of(y), expected) == "");
    tenon::tensor<float, rank<3>, TestType> z = tenon::permute(before, tenon::axis<2, 0, 1>);
    const tenon::tensor<float, rank<3>, TestType> turned = tenon::permute(source, tenon::axis<2, 0, 1>);
    tenon::index_add(z, axis<2>, tenon::reshape(indices, rank<1>(7)), turned, tenon::overwrite);
    CHECK(difference(numbers_of(tenon::permute(z, tenon::axis<1, 2, 0>)), expected) == "");
  }
}

/// Bit for bit what a loop gives, whether slices lie side by side or apart, of numbers with both zeros and NaN.
template <class T, class Operation, class Fold>
void check_slices_in_packs(Operation operation, const Fold& fold) {
  constexpr T odd = std::is_floating_point_v<T> ? std::numeric_limits<T>::quiet_NaN() : static_cast<T>(100);
  const auto value = [&](tenon::index i) {
    return i % 11 == 3 ? odd : i % 5 == 0 ? static_cast<T>(-0.0) : static_cast<T>(i * 37 % 9 - 4 * (i % 2));
  };
  for (tenon::index width = 1; width < 71; width += width < 20 ? 1 : 7) {
    CAPTURE(width);
    const auto source = tenon_test::made_tensor<T>(rank<2>(9, width), value);
    const auto before = tenon_test::made_tensor<T>(rank<2>(4, width), [&](tenon::index i) { return value(i + 2); });
    const tenon::tensor<std::int32_t, rank<1>> rows = {1, -1, 1, 0, 3, 3, 1, -4, 1};
    auto expected = before, adjacent = before;
    for (tenon::index i = 0; i < 9; ++i) {
      for (tenon::index k = 0; k < width; ++k) {
        T& held = expected((rows(i) + 4) % 4, k);
        held = static_cast<T>(fold(held, source(i, k)));
      }
    }
    tenon::index_add(adjacent, axis<0>, rows, source, operation);
    CHECK(std::memcmp(adjacent.data(), expected.data(), static_cast<std::size_t>(adjacent.size()) * sizeof(T)) == 0);
    tenon::tensor<T, rank<2>> wide({4, 2 * width});
    const auto apart = tenon::slice(wide, tenon::all_of, tenon::range(0, 2 * width, 2));
    apart = before;
    tenon::index_add(apart, axis<0>, rows, source, operation);
    const tenon::tensor<T, rank<2>> found = apart;
    CHECK(std::memcmp(found.data(), expected.data(), static_cast<std::size_t>(found.size()) * sizeof(T)) == 0);
  }
}

TEMPLATE_TEST_CASE("index_add combines slices in packs as one by one", "[scatter]", float, double, std::int32_t,
                   std::uint8_t, std::int64_t) {
  using T = TestType;
  check_slices_in_packs<T>(tenon::add, [](T held, T fresh) { return held + fresh; });
  check_slices_in_packs<T>(tenon::subtract, [](T held, T fresh) { return held - fresh; });
  check_slices_in_packs<T>(tenon::overwrite, [](T, T fresh) { return fresh; });
  check_slices_in_packs<T>(tenon::maximum, [](T held, T fresh) { return held > fresh || held != held ? held : fresh; });
}

TEMPLATE_LIST_TEST_CASE("scatter refuses what does not fit and leaves the destination as it was", "[scatter]",
                        tenon_test::algorithm_spaces) {
  auto y = counting<float, TestType>(rank<2>(2, 3));
  const auto before = numbers_of(y);
  const auto source = counting<float, TestType>(rank<2>(2, 2), 10);
  const auto beyond = tensor_of<TestType, std::int64_t>(rank<2>(2, 2), {0, 1, 3, 9});
  auto bytes = tensor_of<TestType, std::uint8_t>(rank<1>(3), {1, 2, 3});
  const auto first = tensor_of<TestType, std::int64_t>(rank<1>(1), {0});
  CHECK(tenon_test::text_of<tenon::dtype_error>([&] { tenon::scatter(bytes, axis<0>, first, 300); }) ==
        "scatter: number 300, expected 0 to 255 (elements of uint8)");
  CHECK(tenon_test::text_of<tenon::dtype_error>([&] { tenon::scatter_add(bytes, axis<0>, first, 300); }) ==
        "scatter_add: number 300, expected 0 to 255 (elements of uint8)");
  CHECK(numbers_of(bytes) == numbers{1, 2, 3});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::scatter(y, axis<1>, beyond, source); }) ==
        "scatter: axis 1: index 3, expected at least -3 and below 3 (destination [2, 3])");
  const auto below = tensor_of<TestType, std::int64_t>(rank<2>(2, 2), {0, 1, 0, -3});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::scatter(y, axis<0>, below, source); }) ==
        "scatter: axis 0: index -3, expected at least -2 and below 2 (destination [2, 3])");
  const auto huge = tensor_of<TestType, std::uint64_t>(rank<2>(2, 2), {0, 1, 0, ~std::uint64_t{0}});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::scatter(y, axis<1>, huge, source); }) ==
        "scatter: axis 1: index 18446744073709551615, expected at least -3 and below 3 (destination [2, 3])");
  const auto many = tenon::zeros<std::int64_t, TestType>(rank<2>(3, 2));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::scatter(y, axis<1>, many, source); }) ==
        "scatter: axis 0: 3 indices, expected at most 2 as of the destination (destination [2, 3], indices [3, 2], "
        "source [2, 2])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::scatter(y, axis<0>, many, source); }) ==
        "scatter: axis 0: 3 indices, expected at most 2 as of the source (destination [2, 3], indices [3, 2], source "
        "[2, 2])");
  const auto places = tensor_of<TestType, std::int64_t>(rank<1>(2), {-1, 2});
  CHECK(tenon_test::text_of<tenon::index_error>([&] { tenon::index_add(y, axis<0>, places, y); }) ==
        "index_add: axis 0: index 2, expected at least -2 and below 2 (destination [2, 3])");
  CHECK(numbers_of(y) == before);
  auto empty = tenon::zeros<float, TestType>(rank<2>(2, 0));
  tenon::index_add(empty, axis<0>, places, tenon::zeros<float, TestType>(rank<2>(2, 0)));
}

TEST_CASE("scatter is the same on any number of threads", "[scatter]") {
  const auto source = tenon_test::made_tensor<float>(rank<3>(40, 50, 60), [](tenon::index i) { return std::sin(i); });
  const auto indices = random_indices<tenon::host>({{40, 50, 60}}, 7);
  CHECK(tenon_test::is_same_on_any_threads([&] {
    auto y = tenon::zeros<float>(rank<3>(40, 7, 60));
    tenon::scatter_add(y, axis<1>, indices, source);
    return tenon_test::elements_of(y);
  }));
}
