// tests/host/boxes.cpp: statements over many small boxes, beside the same statements on extents known at run time.
// These run by other loops, which have tests of their own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random.hpp>
#include <tenon/host/boxes.hpp>
#include <tenon/tenon.hpp>

#include <cmath>
#include <limits>
#include <vector>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::axis;
using tenon::drop;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using tenon::tensor;

namespace {

inline constexpr bool has_boxes = !tenon::compiled_by_nvcc && TENON_CHECKED == 0 && tenon::fuses_operations;

/// The elements of a tensor of any shape under extents that no type knows.
template <class T, class Shape>
tensor<T, rank<Shape::rank>> with_run_time_extents(const tensor<T, Shape>& x) {
  tensor<T, rank<Shape::rank>> result(rank<Shape::rank>(x.shape().to_array()));
  for (tenon::index i = 0; i < x.size(); ++i) result.data()[i] = x.data()[i];
  return result;
}

template <class T>
bool boxes_agree(T left, T right) {
  const double a = static_cast<double>(left), b = static_cast<double>(right);
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  const double bound = sizeof(T) == 2 ? 2e-2 : sizeof(T) == 4 ? 2e-5 : 1e-12;
  return a == b || std::fabs(a - b) <= bound * (1 + std::fabs(b));
}

/// `statement` of these operands box by box, and by other loops.
template <class Statement, class... Operands>
void check_boxes(const Statement& statement, const Operands&... operands) {
  const auto node = statement(operands...);
  using node_type = std::remove_const_t<decltype(node)>;
  STATIC_REQUIRE(tenon::runs_in_boxes<tenon::host, node_type> == has_boxes);
  const auto expected = tenon::evaluated_tensor(statement(with_run_time_extents(operands)...));
  const auto result = tenon::evaluated_tensor(node);
  REQUIRE(result.shape().to_array() == expected.shape().to_array());
  tenon::index wrong = 0;
  for (tenon::index i = 0; i < result.size(); ++i) wrong += boxes_agree(result.data()[i], expected.data()[i]) ? 0 : 1;
  CHECK(wrong == 0);
}

template <class T, tenon::index... Extents>
tensor<T, shape<dyn, Extents...>> box_numbers(tenon::index count, unsigned seed) {
  tensor<T, shape<dyn, Extents...>> result(shape<dyn, Extents...>(count, Extents...));
  result = tenon::uniform<float>(result.shape(), seed, -3.0f, 3.0f);
  return result;
}

inline constexpr tenon::index box_counts[] = {1, 2, 3, 7, 8, 15, 16, 17, 31, 33, 100, 10007};

}  // namespace

TEMPLATE_TEST_CASE("rows of few elements", "[host][boxes]", float, double, tenon::half) {
  for (const tenon::index count : box_counts) {
    CAPTURE(count);
    const auto p = box_numbers<TestType, 3>(count, 1), q = box_numbers<TestType, 3>(count, 2);
    const auto w = box_numbers<TestType, 4>(count, 3);
    const tensor<TestType, shape<3>> origin = {1, 2, 3};
    check_boxes([](const auto& x) { return x / tenon::sqrt(tenon::sum(x * x, axis<-1>)); }, p);
    check_boxes([](const auto& x) { return tenon::softmax(x, axis<-1>); }, w);
    check_boxes([](const auto& x) { return tenon::max(x, axis<-1>) - tenon::min(x, axis<-1>) + x; }, w);
    check_boxes([](const auto& x) { return tenon::mean(x, axis<1>) * x; }, p);
    check_boxes([](const auto& x, const auto& o) { return tenon::sqrt(tenon::sum(tenon::square(x - o), drop<-1>)); }, p,
                origin);
    check_boxes([](const auto& x, const auto& y) { return tenon::cross(x, y); }, p, q);
    check_boxes([](const auto& x, const auto& y) { return tenon::cross(x - y, y); }, p, q);
    check_boxes([](const auto& x, const auto& o) { return tenon::cross(x, o); }, p, origin);
  }
}

TEMPLATE_TEST_CASE("products of few elements", "[host][boxes]", float, double, int, std::int8_t) {
  for (const tenon::index count : box_counts) {
    CAPTURE(count);
    const auto a = box_numbers<TestType, 3, 3>(count, 1), b = box_numbers<TestType, 3, 3>(count, 2);
    const auto poses = box_numbers<TestType, 4, 4>(count, 3);
    const auto wide = box_numbers<TestType, 2, 4>(count, 4);
    const auto p = box_numbers<TestType, 3>(count, 5);
    const tensor<TestType, shape<3, 3>> one = {{1, 2, -1}, {0, 3, 1}, {-2, 1, 1}};
    const tensor<TestType, shape<3>> shift = {1, -2, 3};
    const auto times = [](const auto& x, const auto& y) { return tenon::matmul(x, y); };
    check_boxes(times, a, b);
    check_boxes(times, poses, poses);
    check_boxes(times, wide, poses);
    check_boxes(times, p, one);
    check_boxes(times, a, one);
    check_boxes(times, one, a);
    check_boxes([](const auto& x, const auto& y) { return tenon::matmul(x, tenon::transpose(y)); }, wide, wide);
    check_boxes([](const auto& x, const auto& m, const auto& t) { return tenon::matmul(x, tenon::transpose(m)) + t; },
                p, one, shift);
    check_boxes([](const auto& x, const auto& y) { return tenon::matmul(x, tenon::new_axis<2>(y)); }, a, p);
    check_boxes([](const auto& x, const auto& y) { return tenon::einsum<"nij,nj->ni">(x, y); }, a, p);
    check_boxes([](const auto& x, const auto& y) { return tenon::einsum<"nij,nkj->nik">(x, y); }, a, b);
    check_boxes([](const auto& x, const auto& y) { return tenon::sum(x * tenon::new_axis<1>(y), drop<2>); }, a, p);
  }
}

TEMPLATE_TEST_CASE("positions within boxes", "[host][boxes]", float, std::int16_t) {
  for (const tenon::index count : {0, 1, 7, 16, 33}) {
    CAPTURE(count);
    auto p = box_numbers<TestType, 3>(count, 1);
    auto ties = box_numbers<TestType, 2, 4>(count, 2);
    for (tenon::index i = 0; i < ties.size(); ++i) ties.data()[i] = static_cast<TestType>(i * 5 % 3);
    for (tenon::index i = 0; i < p.size() && tenon::is_floating<TestType>; i += 5) {
      p.data()[i] = static_cast<TestType>(i % 2 == 0 ? std::numeric_limits<float>::quiet_NaN()
                                                     : std::numeric_limits<float>::infinity());
    }
    check_boxes([](const auto& x) { return tenon::argmin(x, drop<-1>); }, p);
    check_boxes([](const auto& x) { return tenon::argmax(-x, axis<-1>); }, p);
    check_boxes([](const auto& x) { return tenon::argmax(x, drop<-1>); }, ties);
    check_boxes([](const auto& x) { return tenon::argmin(x, drop<1, 2>) + 1; }, ties);
    check_boxes([](const auto& x) { return tenon::argmin(x, drop<1>); }, ties);
    const tensor<std::int64_t, rank<1>> last_first = count - 1 - tenon::iota<std::int64_t>({count});
    check_boxes([&](const auto& x) { return tenon::take(tenon::argmin(x, drop<-1>), last_first, axis<0>); }, p);
  }
}

TEST_CASE("several statements of few elements are one loop", "[host][boxes]") {
  const auto a = box_numbers<float, 3, 3>(101, 1), b = box_numbers<float, 3, 3>(101, 2);
  const auto p = box_numbers<float, 3>(101, 3);
  check_boxes([](const auto& x, const auto& y) { return tenon::matmul(tenon::matmul(x, y), x - y); }, a, b);
  check_boxes([](const auto& x,
                 const auto& y) { return tenon::matmul(x, tenon::new_axis<2>(tenon::softmax(y, axis<-1>))) * 2.0f; },
              a, p);
  tensor<float, shape<dyn, 3, 3>> c;
  c = tenon::matmul(tenon::matmul(a, b), a);
  const tenon::launch_counter counter;
  c = tenon::matmul(tenon::matmul(a, b), a);
  if (has_boxes) CHECK(counter.count() == 1);
}

TEST_CASE("elements of boxes that are moved", "[host][boxes]") {
  for (const tenon::index count : box_counts) {
    CAPTURE(count);
    const auto p = box_numbers<float, 3>(count, 1);
    const auto q = box_numbers<float, 4>(count, 2);
    const auto m = box_numbers<double, 2, 3>(count, 3);
    check_boxes([](const auto& x) { return tenon::roll(x, 1, axis<-1>); }, p);
    check_boxes([](const auto& x) { return tenon::roll(x, -5, axis<0>); }, q);
    check_boxes([](const auto& x) { return tenon::roll(x, 2, axis<2>) + tenon::roll(x, 1, axis<1>); }, m);
    check_boxes([](const auto& x, const auto& y) { return tenon::concatenate(axis<-1>, x * 2, y); },
                box_numbers<float, 1>(count, 4), p);
    check_boxes([](const auto& x) { return tenon::stack(axis<1>, x, x + 1, -x); }, box_numbers<float>(count, 5));
    check_boxes(
        [](const auto& x) {
          const auto parts = tenon::split<3>(tenon::as_node(x), axis<-1>);
          return tenon::concatenate(axis<-1>, parts[2], parts[0] * parts[1]);
        },
        p);
    check_boxes([](const auto& x) { return tenon::roll(tenon::flip(x + 1, axis<-1>), 1, axis<-1>); }, p);
    check_boxes([](const auto& x) { return tenon::roll(tenon::flip(x + 1, axis<0>), 1, axis<-1>); }, p);
    check_boxes([](const auto& x) { return tenon::transpose(x * 2) + tenon::roll(tenon::transpose(x), 1, axis<2>); },
                m);
    const tensor<std::int32_t, rank<1>> chosen =
        tenon::cast<std::int32_t>((tenon::iota<std::int64_t>({2 * count}) * 7 + 3) % count);
    check_boxes([&](const auto& x) { return tenon::take(x, chosen, axis<0>) * 2; }, p);
    check_boxes([&](const auto& x) { return tenon::take(x + 1, tenon::trusted(chosen - 0), axis<0>); }, m);
  }
}

TEST_CASE("boxes beside a number", "[host][boxes]") {
  for (const tenon::index count : box_counts) {
    CAPTURE(count);
    const auto p = box_numbers<float, 3>(count, 1);
    const auto m = box_numbers<double, 2, 3>(count, 2);
    check_boxes([](const auto& x) { return tenon::pad<1, 0>(x, axis<1>, 2); }, p);
    check_boxes([](const auto& x) { return tenon::pad<0, 1>(x * 2, axis<1>, 1); }, p);
    check_boxes([](const auto& x) { return tenon::pad<2, 3>(x, axis<-1>) + 1; }, p);
    check_boxes([](const auto& x) { return tenon::pad(x, axis<0>, {{{1, 2}}}, 5) * 3; }, p);
    check_boxes([](const auto& x) { return tenon::pad<1, 0>(x, axis<0, 1>, 0.5f); }, m);
    check_boxes([](const auto& x) { return tenon::pad(tenon::pad<1, 0>(x > 0, axis<1>, true), axis<0>, {{3}}); }, p);
  }
  tensor<float, shape<dyn, dyn, 3>> row({1, 21, 3}), grid({4, 21, 3});
  row = tenon::uniform<float>(row.shape(), 3, -1, 1), grid = tenon::uniform<float>(grid.shape(), 4, -1, 1);
  check_boxes([](const auto& x) { return tenon::pad<2, 1>(x, axis<0>); }, row);
  check_boxes([](const auto& x, const auto& y) { return tenon::pad<2, 1>(x, axis<1>) + tenon::pad<2, 1>(y, axis<1>); },
              grid, row);
  check_boxes([](const auto& x) { return tenon::pad<1, 1>(x, axis<0>, 4); }, box_numbers<float, 3>(0, 1));
}

TEST_CASE("boxes that lie apart, repeat and have several axes before them", "[host][boxes]") {
  const auto whole = box_numbers<float, 3>(40, 1);
  tensor<float, shape<dyn, dyn, 3>> grid({5, 21, 3});
  grid = tenon::uniform<float>(grid.shape(), 2, -1, 1);
  tensor<float, shape<dyn, dyn, 3>> row({1, 21, 3}), column({5, 1, 3});
  row = tenon::uniform<float>(row.shape(), 3, -1, 1), column = tenon::uniform<float>(column.shape(), 4, -1, 1);
  check_boxes([](const auto& x, const auto& y) { return tenon::cross(x, y); }, grid, row);
  check_boxes([](const auto& x, const auto& y) { return tenon::cross(tenon::roll(y, 0, axis<1>), x); }, grid, column);
  check_boxes([](const auto& x, const auto& y) { return x + tenon::roll(tenon::flip(y * 2, axis<1>), 1, axis<-1>); },
              grid, column);
  check_boxes([](const auto& x, const auto& y) { return x + tenon::roll(y, 3, axis<0>) + tenon::roll(y, 3, axis<1>); },
              grid, row);
  const tensor<std::int32_t, rank<2>> places = tenon::iota<std::int32_t>({7, 19}) * 11 % 42 - 21;  // within 21
  const tensor<float, rank<2>> share = tenon::uniform<float>({7, 19}, 6);
  check_boxes(
      [&](const auto& x) {
        const auto weight = tenon::new_axis<2>(share);
        return weight * tenon::take(x[4], places, axis<0>) + (1 - weight) * tenon::take(x[0], places - 0, axis<0>);
      },
      grid);
  check_boxes([&](const auto& x) { return tenon::take(x, places, axis<1>) * 2; }, grid);
  check_boxes([&](const auto& x) { return tenon::take(x, places % 5, axis<0>) * 2; }, grid);
  const auto unit = [](const auto& x) { return x / tenon::sqrt(tenon::sum(x * x, axis<-1>)); };

  const tensor<float, rank<2>> expected = unit(with_run_time_extents(whole));
  tensor<float, rank<3>> wide = tenon::full({40, 3, 2}, 7.0f);
  const tenon::view<float, shape<dyn, 3>> every_other(wide.data() + 1, {40, 3}, {6, 2});
  every_other = unit(whole);  // into elements that lie apart
  CHECK(tenon::all(tenon::select(wide, axis<2>, 1) == expected));
  CHECK(tenon::all(tenon::select(wide, axis<2>, 0) == 7.0f));
  const tensor<std::int32_t, rank<1>> chosen = tenon::iota<std::int32_t>({40}) * 7 % 40;
  every_other = tenon::take(whole, chosen, axis<0>);
  CHECK(tenon::all(tenon::select(wide, axis<2>, 1) == tenon::take(with_run_time_extents(whole), chosen, axis<0>)));
  CHECK(tenon::all(tenon::select(wide, axis<2>, 0) == 7.0f));
  every_other = unit(whole);
  tensor<float, shape<dyn, 3>> result({40, 3});
  result = unit(every_other * 2);  // from such
  CHECK(tenon::max(tenon::abs(result - expected)) < 1e-6f);
  tensor<float, rank<2>> across({3, 40});
  tenon::transpose(across) = unit(whole);
  CHECK(tenon::all(tenon::transpose(across) == expected));
}

TEMPLATE_TEST_CASE("points meet points", "[host][boxes]", float, std::int16_t) {
  const auto squared = [](const auto& x, const auto& y) {
    return tenon::sum(tenon::square(tenon::new_axis<1>(x) - tenon::new_axis<0>(y)), drop<-1>);
  };
  for (const tenon::index points : {0, 1, 5, 16, 17, 40, 1001}) {
    for (const tenon::index others : {0, 1, 3, 4, 8, 15, 16, 17, 33, 70}) {
      CAPTURE(points, others);
      const auto p = box_numbers<TestType, 3>(points, 1), q = box_numbers<TestType, 3>(others, 2);
      check_boxes(squared, p, q);
      check_boxes([](const auto& x, const auto& y) { return tenon::einsum<"nk,ck->nc">(x, y); }, p, q);
    }
  }
  const auto p = box_numbers<TestType, 2>(37, 3), q = box_numbers<TestType, 2>(29, 4);
  check_boxes(
      [](const auto& x, const auto& y) {
        return tenon::max(tenon::abs(tenon::new_axis<1>(x) - 2 * y), drop<-1>) + tenon::sum(y, drop<-1>);
      },
      p, q);
  check_boxes([](const auto& x, const auto& y) { return tenon::new_axis<1>(x) - tenon::flip(y * 2, axis<-1>); }, p, q);
  check_boxes([](const auto& x, const auto& y) { return tenon::new_axis<1>(x) * tenon::roll(y, 1, axis<0>); }, p, q);
  check_boxes([](const auto& x, const auto& y) { return tenon::einsum<"nk,cl->nckl">(x, y); }, p, q);
  const auto every_other = [](const auto& x) { return tenon::slice(x, tenon::range(1, 28, 2), tenon::all_of); };
  check_boxes([&](const auto& x, const auto& y) { return squared(every_other(x), every_other(y)); }, p, q);
}

TEST_CASE("points meet points of the same group", "[host][boxes]") {
  tensor<float, shape<dyn, dyn, 3>> p({4, 7, 3}), q({4, 21, 3}), one({4, 1, 3});
  p = tenon::uniform<float>(p.shape(), 1), q = tenon::uniform<float>(q.shape(), 2);
  one = tenon::uniform<float>(one.shape(), 3);
  p.data()[4] = std::numeric_limits<float>::quiet_NaN(), q.data()[50] = std::numeric_limits<float>::infinity();
  const auto greatest = [](const auto& x, const auto& y) {
    return tenon::max(tenon::abs(tenon::new_axis<2>(x) - tenon::new_axis<1>(y)), drop<-1>);
  };
  check_boxes(greatest, p, q);
  check_boxes(greatest, p, one);  // one along an axis of which types do not know that
  check_boxes(greatest, one, q);
  check_boxes([](const auto& x, const auto& y) { return tenon::einsum<"bnk,bck->bnc">(x, y); }, p, q);
  check_boxes([](const auto& x, const auto& y) { return tenon::einsum<"bnk,bck->bcn">(x, y); }, p, q);
  const auto each = box_numbers<float, 3, 3>(4, 5);
  check_boxes([](const auto& x, const auto& y) { return tenon::einsum<"nij,nmj->nmi">(x, y * 2); }, each, q);
  check_boxes([](const auto& x, const auto& y) { return tenon::einsum<"bnk,ck->bnc">(x, y); }, p,
              box_numbers<float, 3>(13, 4));

  tensor<float, rank<3>> across({4, 21, 7}), expected({4, 7, 21});
  expected = greatest(with_run_time_extents(p), with_run_time_extents(q));
  tenon::permute(across, axis<0, 2, 1>) = greatest(p, q);
  for (tenon::index i = 0; i < 4; ++i) {
    for (tenon::index row = 0; row < 7; ++row) {
      for (tenon::index k = 0; k < 21; ++k) REQUIRE(boxes_agree(across(i, k, row), expected(i, row, k)));
    }
  }
}

TEST_CASE("distances within points that are written", "[host][boxes]") {
  tensor<float, shape<dyn, 3>> p = box_numbers<float, 3>(3, 1);
  const tensor<float, rank<2>> expected = tenon::sum(
      tenon::square(tenon::new_axis<1>(with_run_time_extents(p)) - tenon::new_axis<0>(with_run_time_extents(p))),
      drop<-1>);
  const tenon::view<float, rank<2>> square(p.data(), rank<2>(3, 3));
  square = tenon::sum(tenon::square(tenon::new_axis<1>(p) - tenon::new_axis<0>(p)), drop<-1>);
  for (tenon::index i = 0; i < 9; ++i) CHECK(boxes_agree(p.data()[i], expected.data()[i]));
}

TEST_CASE("boxes are written where they are read", "[host][boxes]") {
  const auto x = box_numbers<float, 3>(37, 1), y = box_numbers<float, 3>(37, 2);
  tensor<float, shape<dyn, 3>> z = x;
  z = z / tenon::sqrt(tenon::sum(z * z, axis<-1>));
  tensor<float, shape<dyn, 3>> expected;
  expected = x / tenon::sqrt(tenon::sum(x * x, axis<-1>));
  CHECK(tenon::all(z == expected));
  expected = tenon::cross(x, y);
  z = x, z = tenon::cross(z, y);
  CHECK(tenon::all(z == expected));
  expected = tenon::roll(x, 1, axis<0>);
  z = x, z = tenon::roll(z, 1, axis<0>);
  CHECK(tenon::all(z == expected));
  auto a = box_numbers<float, 3, 3>(37, 3);
  const auto b = a;
  tensor<float, shape<dyn, 3, 3>> product;
  product = tenon::matmul(b, b);
  a = tenon::matmul(a, a);
  CHECK(tenon::all(a == product));
}

TEST_CASE("boxes that a statement reads twice", "[host][boxes]") {
  const auto unit = [](const auto& x, const auto& y) { return (x - y) / tenon::norm_l2(x - y, axis<-1>); };
  const auto rolled = [](const auto& x, const auto& y) { return tenon::roll(x, 1, axis<-1>) * y; };
  const auto crossed = [](const auto& x, const auto& y) { return tenon::cross(x, y); };
  for (const tenon::index count : {0, 1, 15, 16, 17, 32, 1000}) {
    CAPTURE(count);
    auto p = box_numbers<float, 3>(count, 1), q = box_numbers<float, 3>(count, 2);
    for (tenon::index i = 0; i < p.size(); i += 7) p.data()[i] = std::numeric_limits<float>::quiet_NaN();
    check_boxes(unit, p, q), check_boxes(unit, p, p);
    check_boxes(rolled, p, q), check_boxes(rolled, p, p);
    check_boxes(crossed, p, q), check_boxes(crossed, q, q);
  }
  // Of one place in memory, but other strides or boxes.
  tensor<float, rank<3>> memory = tenon::uniform<float>({6, 32, 3}, 3, -1, 1);
  using grid_view = tenon::view<float, shape<dyn, dyn, 3>>;
  const grid_view rows(memory.data(), {3, 32, 3}), other_rows(memory.data(), {3, 32, 3}, {192, 3, 1});
  const tensor<float, shape<dyn, dyn, 3>> own_rows = rows * 1, own_other = other_rows * 1;
  const tensor<float, shape<dyn, dyn, 3>> expected = rolled(own_rows, own_other);
  CHECK(tenon::all(tenon::evaluated_tensor(rolled(rows, other_rows)) == expected));
  const tenon::view<float, shape<dyn, 3>> beside(memory.data(), {64, 3}), apart(memory.data(), {64, 3}, {6, 2}),
      overlapping(memory.data(), {64, 3}, {1, 1}), repeated(memory.data(), {64, 3}, {0, 1});
  for (const auto& other : {apart, overlapping, repeated}) {
    tensor<float, shape<dyn, 3>> own({64, 3});
    for (tenon::index i = 0; i < 64; ++i) {
      for (tenon::index k = 0; k < 3; ++k) own(i, k) = other(i, k);
    }
    tensor<float, shape<dyn, 3>> product = rolled(own, beside), mixed = rolled(beside, own);
    CHECK(tenon::all(tenon::evaluated_tensor(rolled(other, beside)) == product));
    CHECK(tenon::all(tenon::evaluated_tensor(rolled(beside, other)) == mixed));
  }
  tensor<tenon::half, rank<2>> halves = tenon::uniform<float>({40, 3}, 3, -1, 1);
  const tenon::view<tenon::half, shape<dyn, 3>> columns(halves.data(), {40, 3}),
      first_column(halves.data(), {40, 3}, {3, 0});
  tensor<float, shape<dyn, 3>> twice({40, 3});
  twice = rolled(columns, first_column);
  for (tenon::index i = 0; i < 40; ++i) {
    for (tenon::index k = 0; k < 3; ++k) {
      const float product = static_cast<float>(halves(i, (k + 2) % 3)) * static_cast<float>(halves(i, 0));
      CHECK(std::fabs(twice(i, k) - product) < 1e-2f);
    }
  }
}

TEST_CASE("boxes in lines are the same bits for any number of threads", "[host][boxes]") {
  for (const tenon::index width : {1, 21, 4096, 9001}) {
    CAPTURE(width);
    tensor<float, shape<dyn, dyn, 3>> x({width < 100 ? 1000 : 3, width, 3}), y(x.shape());
    x = tenon::uniform<float>(x.shape(), 1, -1, 1), y = tenon::uniform<float>(y.shape(), 2, -1, 1);
    check_boxes([](const auto& p, const auto& q) { return tenon::cross(p, q); }, x, y);
    const auto turned = [&] {
      const tensor<float, shape<dyn, dyn, 3>> result = tenon::cross(x, y) * tenon::exp(tenon::roll(x, 1, axis<-1>));
      return std::vector<float>(result.data(), result.data() + result.size());
    };
    CHECK(tenon_test::is_same_on_any_threads(turned));
  }
}

TEST_CASE("boxes of other types, of NaN and of nothing", "[host][boxes]") {
  auto p = box_numbers<float, 3>(40, 1);
  p.data()[4] = std::numeric_limits<float>::quiet_NaN();
  p.data()[50] = std::numeric_limits<float>::infinity();
  check_boxes([](const auto& x) { return tenon::softmax(x, axis<-1>); }, p);
  check_boxes([](const auto& x) { return x - tenon::max(x, axis<-1>); }, p);
  check_boxes([](const auto& x) { return tenon::roll(x > 0, 1, axis<-1>); }, p);
  check_boxes([](const auto& x) { return tenon::where(tenon::roll(x > 0, 1, axis<-1>), x, 0.5f); }, p);
  check_boxes([](const auto& x) { return tenon::sum(tenon::cast<int>(x * 10), axis<-1>) + tenon::cast<int>(x); }, p);
  check_boxes([](const auto& x) { return tenon::count_nonzero(x > 0, axis<-1>) + tenon::cast<std::int64_t>(x); }, p);
  check_boxes([](const auto& x) { return tenon::tril(tenon::matmul(x, x)); }, box_numbers<float, 3, 3>(33, 2));
  tensor<int, shape<dyn, 3>> whole({40, 3});
  whole = tenon::roll(p * 10, 1, axis<-1>);
  const tensor<int, rank<2>> expected = tenon::roll(with_run_time_extents(p) * 10, 1, axis<-1>);
  CHECK(tenon::all(whole == expected));
  tensor<float, shape<dyn, 3>> truth({40, 3});
  truth = tenon::roll(p > 0, 1, axis<-1>);
  CHECK(tenon::all(truth == tenon::where(tenon::roll(with_run_time_extents(p) > 0, 1, axis<-1>), 1.0f, 0.0f)));
  check_boxes([](const auto& x, const auto& y) { return tenon::cross(x, y); }, box_numbers<float, 3>(0, 1),
              box_numbers<float, 3>(0, 2));
}
