// tests/host/run_time_boxes.cpp: points that meet points beside loops over their components.
// Statements of two to four components run by boxes, all others by folds.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random.hpp>
#include <tenon/host/run_time_boxes.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <limits>

#include "support/catch.hpp"
#include "support/elements.hpp"

using tenon::axis;
using tenon::drop;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon::tensor;

namespace {

const auto squared_distances = [](const auto& x, const auto& y) {
  return tenon::sum(tenon::square(tenon::new_axis<1>(x) - tenon::new_axis<0>(y)), drop<-1>);
};

/// Whether `result` holds the squared distances of points; those that types of few digits hold.
template <class Result, class Points, class Others>
bool are_squared_distances(const Result& result, const Points& points, const Others& others) {
  tenon::index wrong = 0;
  for (tenon::index i = 0; i < points.extent(0); ++i) {
    for (tenon::index j = 0; j < others.extent(0); ++j) {
      double expected = 0;
      for (tenon::index k = 0; k < points.extent(1); ++k) {
        const double apart = static_cast<double>(points(i, k)) - static_cast<double>(others(j, k));
        expected += apart * apart;
      }
      const double found = static_cast<double>(result(i, j));
      const bool is_close = std::isnan(expected) ? std::isnan(found) : std::fabs(found - expected) <= 1e-4 * expected;
      wrong += is_close || found == expected ? 0 : 1;
    }
  }
  return wrong == 0;
}

template <class T>
tensor<T, rank<2>> some_points(tenon::index count, tenon::index components, unsigned seed) {
  tensor<T, rank<2>> result({count, components});
  result = tenon::cast<T>(tenon::round(tenon::uniform<float>(result.shape(), seed, -30, 30)));
  return result;
}

template <class T>
constexpr bool runs_by_boxes = tenon::meets_points<decltype(squared_distances(std::declval<tensor<T, rank<2>>&>(),
                                                                              std::declval<tensor<T, rank<2>>&>()))>;

}  // namespace

TEMPLATE_TEST_CASE("points of components that the run counts", "[host][boxes]", float, double, int) {
  STATIC_REQUIRE(runs_by_boxes<TestType> ==
                 (!tenon::compiled_by_nvcc && TENON_CHECKED == 0 && tenon::fuses_operations));
  for (const tenon::index components : {0, 1, 2, 3, 4, 5, 9}) {
    for (const tenon::index points : {0, 1, 2, 17, 40}) {
      for (const tenon::index others : {0, 1, 2, 3, 15, 16, 17, 33}) {
        CAPTURE(components, points, others);
        auto p = some_points<TestType>(points, components, 1);
        const auto q = some_points<TestType>(others, components, 2);
        if (std::is_same_v<TestType, float> && p.size() > 3)
          p.data()[3] = static_cast<TestType>(std::numeric_limits<float>::quiet_NaN());
        tensor<TestType, rank<2>> result = squared_distances(p, q);
        CHECK(are_squared_distances(result, p, q));
      }
    }
  }
}

TEST_CASE("points of run-time components that lie apart", "[host][boxes]") {
  for (const tenon::index components : {2, 3, 4, 5}) {
    CAPTURE(components);
    const auto p = some_points<float>(37, 2 * components, 1), q = some_points<float>(19, components, 2);
    const tenon::view<const float, rank<2>> strided(p.data(), {37, components}, {2 * components, 2}),
        reversed(q.data() + q.size() - 1, {19, components}, {-components, -1}),
        across(p.data(), {components, components}, {1, components}), same(p.data(), {20, components}, {0, 1});
    const auto are_found = [](const auto& x, const auto& y) {
      return are_squared_distances(tensor<float, rank<2>>(squared_distances(x, y)), x, y);
    };
    CHECK(are_found(strided, reversed));
    CHECK(are_found(across, strided));
    CHECK(are_found(same, q));
    tensor<float, rank<2>> transposed({19, 37});
    tenon::transpose(transposed) = squared_distances(strided, q);
    CHECK(are_squared_distances(tensor<float, rank<2>>(tenon::transpose(transposed)), strided, q));
  }
}

TEST_CASE("operands that repeat along run-time components", "[host][boxes]") {
  const auto p = some_points<float>(21, 3, 1);
  const tensor<float, rank<2>> one = some_points<float>(18, 1, 2);
  tensor<float, rank<2>> repeated({18, 3});
  for (tenon::index i = 0; i < repeated.size(); ++i) repeated.data()[i] = one.data()[i / 3];
  const tensor<float, rank<2>> result = squared_distances(p, one), from_one = squared_distances(one, p);
  CHECK(are_squared_distances(result, p, repeated));
  CHECK(are_squared_distances(from_one, repeated, p));
  const tensor<float, rank<2>> one_other = some_points<float>(1, 3, 4);
  CHECK(are_squared_distances(tensor<float, rank<2>>(squared_distances(one_other, p)), one_other, p));
  CHECK(are_squared_distances(tensor<float, rank<2>>(squared_distances(p, one_other)), p, one_other));
}

TEST_CASE("folds of points of run-time components", "[host][boxes]") {
  for (const tenon::index components : {2, 3, 4, 5}) {
    CAPTURE(components);
    const auto p = some_points<float>(23, components, 1), q = some_points<float>(19, components, 2);
    const tensor<float, rank<2>> squares = squared_distances(p, q);
    const tensor<float, rank<2>> norms = tenon::norm_l2(tenon::new_axis<1>(p) - q, drop<-1>);
    CHECK(tenon::max(tenon::abs(norms * norms - squares)) < 1e-2f);
    const tensor<float, rank<2>> means = tenon::mean(tenon::square(tenon::new_axis<1>(p) - q), drop<-1>);
    CHECK(tenon::max(tenon::abs(means * static_cast<float>(components) - squares)) < 1e-2f);
    const tensor<float, rank<3>> kept = tenon::sum(tenon::square(tenon::new_axis<1>(p) - q), axis<-1>);
    CHECK(tenon::all(tenon::select(kept, axis<2>, 0) == squares));
    const tensor<float, rank<2>> greatest = tenon::max(2 * tenon::abs(tenon::new_axis<1>(p) - q), drop<-1>);
    const tensor<std::int64_t, rank<2>> places = tenon::argmax(tenon::abs(tenon::new_axis<1>(p) - q), drop<-1>);
    for (tenon::index i = 0; i < 23; ++i) {
      for (tenon::index j = 0; j < 19; ++j) {
        tenon::index first = 0;
        for (tenon::index k = 1; k < components; ++k) {
          if (std::fabs(p(i, k) - q(j, k)) > std::fabs(p(i, first) - q(j, first))) first = k;
        }
        REQUIRE(places(i, j) == first);
        REQUIRE(greatest(i, j) == 2 * std::fabs(p(i, first) - q(j, first)));
      }
    }
  }
}

TEST_CASE("points beside weights and a number of memory", "[host][boxes]") {
  const auto p = some_points<float>(21, 3, 1), q = some_points<float>(18, 3, 2);
  const tensor<float, rank<1>> weights = tenon::arange<float>(3) + 1;
  tensor<float, shape<>> two;
  two = 2.0f;
  const auto squares = tenon::square(tenon::new_axis<1>(p) - two * q) * weights;
  const tensor<float, rank<2>> result = tenon::sum(squares, drop<-1>);
  for (tenon::index i = 0; i < 21; ++i) {
    for (tenon::index j = 0; j < 18; ++j) {
      float expected = 0;
      for (tenon::index k = 0; k < 3; ++k) {
        const float apart = p(i, k) - 2 * q(j, k);
        expected += apart * apart * weights(k);
      }
      REQUIRE(std::fabs(result(i, j) - expected) <= 1e-5f * expected);
    }
  }
}

TEST_CASE("distances within run-time points that are written", "[host][boxes]") {
  auto p = some_points<float>(3, 3, 1);
  const auto before = p;
  const tenon::view<float, rank<2>> square(p.data(), {3, 3});
  square = squared_distances(p, p);
  CHECK(are_squared_distances(p, before, before));
}
