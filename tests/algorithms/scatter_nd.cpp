// tests/algorithms/scatter_nd.cpp: slices written to the places that rows of indices name.
// The reference writes one element at a time in row-major order.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/scatter_nd.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/text_of.hpp"
#include "support/threads.hpp"

namespace {

using tenon::rank;
using tenon_test::counting;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::tensor_of;
using numbers = std::vector<double>;

/// Elements whose first `named` axes are given by `count` rows of indices, by definition.
template <class Fold>
numbers scattered(numbers held, const tenon::array<tenon::index, 3>& extents, std::size_t named, const numbers& indices,
                  std::size_t count, const numbers& source, const Fold& fold) {
  std::size_t slice = 1;
  for (std::size_t axis = named; axis < 3; ++axis) {
    slice *= static_cast<std::size_t>(extents[static_cast<tenon::index>(axis)]);
  }
  for (std::size_t row = 0; row < count; ++row) {
    std::size_t place = 0;
    for (std::size_t axis = 0; axis < named; ++axis) {
      const auto extent = extents[static_cast<tenon::index>(axis)];
      const auto given = static_cast<tenon::index>(indices[row * named + axis]);
      place = place * static_cast<std::size_t>(extent) + static_cast<std::size_t>(given < 0 ? given + extent : given);
    }
    for (std::size_t i = 0; i < slice; ++i) {
      held[place * slice + i] = fold(held[place * slice + i], source[row * slice + i]);
    }
  }
  return held;
}

/// Rows of random indices of both signs into the first `Named` axes.
template <int Named, class Space>
auto random_rows(const tenon::array<tenon::index, 3>& extents, tenon::index count) {
  tenon_test::random_source random(11);
  return tenon_test::made_tensor<int, Space>(rank<2>(count, Named), [&](tenon::index i) {
    const auto extent = extents[i % Named];
    return random.below(2 * extent) - extent;
  });
}

template <int Named, class Space, class Source, class Operation, class Fold>
void check_slices(const tenon::array<tenon::index, 3>& extents, const Source& source, Operation operation,
                  const Fold& fold) {
  const auto indices = random_rows<Named, Space>(extents, source.extent(0));
  const auto before = tenon_test::few_values<float, Space>(extents, 4);
  auto y = before;
  tenon::scatter_nd(y, indices, source, operation);
  CHECK(difference(numbers_of(y), scattered(numbers_of(before), extents, Named, numbers_of(indices),
                                            static_cast<std::size_t>(source.extent(0)), numbers_of(source), fold)) ==
        "");
}

template <class Space, class Operation, class Fold>
void check_every_rank(const tenon::array<tenon::index, 3>& extents, Operation operation, const Fold& fold) {
  CAPTURE(extents[0], extents[1], extents[2]);
  check_slices<1, Space>(extents, counting<float, Space>(rank<3>(7, extents[1], extents[2])), operation, fold);
  check_slices<2, Space>(extents, counting<float, Space>(rank<2>(20, extents[2])), operation, fold);
  check_slices<3, Space>(extents, counting<float, Space>(rank<1>(50)), operation, fold);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("scatter_nd of slices of every rank with every combination", "[scatter_nd]",
                        tenon_test::algorithm_spaces) {
  for (const auto& extents : tenon_test::line_shapes) {
    if (extents[0] * extents[1] * extents[2] == 0) continue;
    check_every_rank<TestType>(extents, tenon::overwrite, [](double, double fresh) { return fresh; });
    check_every_rank<TestType>(extents, tenon::add, [](double held, double fresh) { return held + fresh; });
    check_every_rank<TestType>(extents, tenon::maximum,
                               [](double held, double fresh) { return std::fmax(held, fresh); });
  }
}

TEMPLATE_LIST_TEST_CASE("scatter_nd of several axes of rows, into a view, of its own elements", "[scatter_nd]",
                        tenon_test::algorithm_spaces) {
  auto y = tenon::zeros<float, TestType>(rank<2>(2, 4));
  const auto indices = tensor_of<TestType, std::int64_t>(rank<3>(2, 2, 1), {0, 3, -3, 0});
  tenon::scatter_nd(tenon::transpose(y), indices, counting<float, TestType>(rank<3>(2, 2, 2)));
  CHECK(numbers_of(y) == numbers{6, 4, 0, 2, 7, 5, 0, 3});
  auto x = counting<int, TestType>(rank<2>(3, 2));
  const auto rows = tensor_of<TestType, std::int64_t>(rank<2>(3, 1), {1, 2, 0});
  tenon::scatter_nd(x, rows, x);
  CHECK(numbers_of(x) == numbers{4, 5, 0, 1, 2, 3});
  tenon::scatter_nd(x, tenon::zeros<int, TestType>(rank<2>(0, 1)), tenon::zeros<int, TestType>(rank<2>(0, 2)));
  CHECK(numbers_of(x) == numbers{4, 5, 0, 1, 2, 3});
}

TEMPLATE_LIST_TEST_CASE("scatter_nd of one number", "[scatter_nd]", tenon_test::spaces) {
  using counts = tenon::tensor<float, rank<2>, TestType>;
  using places = tenon::tensor<int, rank<2>, TestType>;
  counts y(rank<2>(2, 3), {0, 0, 0, 0, 0, 0});
  tenon::scatter_nd(y, places(rank<2>(4, 2), {0, 1, -1, 2, 0, 1, 1, 0}), 1, tenon::add);
  CHECK(numbers_of(y) == numbers{0, 2, 0, 1, 0, 1});
  tenon::scatter_nd(y, places(rank<2>(1, 1), {-1}), 5);  // a whole row
  CHECK(numbers_of(y) == numbers{0, 2, 0, 5, 5, 5});
  tenon::scatter_nd(y.view(), tenon::tensor<int, tenon::shape<2>, TestType>{0, 2}, 7);  // one place
  CHECK(numbers_of(y) == numbers{0, 2, 7, 5, 5, 5});
  tenon::scatter_nd(y, places(rank<2>(0, 2)), 9);
  CHECK(numbers_of(y) == numbers{0, 2, 7, 5, 5, 5});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::scatter_nd(y, places(rank<2>(1, 3)), 1); }) ==
        "scatter_nd: indices: 3 of a row, expected at most 2 (destination [2, 3])");
  tenon::tensor<std::uint8_t, rank<2>, TestType> bytes(rank<2>(2, 3));
  CHECK(tenon_test::text_of<tenon::dtype_error>([&] { tenon::scatter_nd(bytes, places(rank<2>(1, 2)), 300); }) ==
        "scatter_nd: number 300, expected 0 to 255 (elements of uint8)");
}

TEMPLATE_LIST_TEST_CASE("scatter_nd refuses what does not fit and leaves the destination as it was", "[scatter_nd]",
                        tenon_test::algorithm_spaces) {
  auto y = counting<float, TestType>(rank<2>(2, 3));
  const auto before = numbers_of(y);
  const auto rows = tensor_of<TestType, std::int64_t>(rank<2>(2, 2), {0, 1, 1, 3});
  CHECK(tenon_test::text_of<tenon::index_error>([&] {
          tenon::scatter_nd(y, rows, counting<float, TestType>(rank<1>(2), 10));
        }) == "scatter_nd: axis 1: index 3, expected at least -3 and below 3 (destination [2, 3])");
  CHECK(tenon_test::text_of<tenon::shape_error>(
            [&] { tenon::scatter_nd(y, rows, counting<float, TestType>(rank<1>(3))); }) ==
        "scatter_nd: axis 0: extent 3 of the source, expected 2 of the indices (destination [2, 3], indices [2, 2], "
        "source [3])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          tenon::scatter_nd(y, rows, counting<float, TestType>(rank<2>(2, 3)));
        }) == "scatter_nd: indices: 2 of a row, expected 1 (destination [2, 3], source [2, 3])");
  CHECK(numbers_of(y) == before);
}

TEST_CASE("scatter_nd is the same on any number of threads", "[scatter_nd]") {
  const auto source = tenon_test::made_tensor<float>(rank<2>(500, 600), [](tenon::index i) { return std::sin(i); });
  const auto indices = random_rows<1, tenon::host>({{7, 600, 1}}, 500);
  CHECK(tenon_test::is_same_on_any_threads([&] {
    auto y = tenon::zeros<float>(rank<2>(7, 600));
    tenon::scatter_nd(y, indices, source, tenon::add);
    return tenon_test::elements_of(y);
  }));
}
