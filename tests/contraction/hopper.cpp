// tests/contraction/hopper.cpp: the product on Hopper's warpgroups.
// Tiles are small where nothing depends on their size; the two that devices use have a case each.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/contraction/hopper.hpp>

#include "contraction/hopper_cases.hpp"

using tenon::rank;

namespace {

using namespace tenon_test;
using small_tile = tenon::hopper_tile<128, 64, 3>;

enum class order { rows, columns };

/// [m, k] x [k, n] with operands stored in either order, on `blocks` blocks.
template <class Space, class Tile, class T>
std::string compare(tenon::index m, tenon::index n, tenon::index k, order left, order right, int blocks,
                    int parts = 1) {
  if (!has_hopper<Space>()) return "";
  const auto a = hopper_numbers<T>(rank<2>(m, k), 1), b = hopper_numbers<T>(rank<2>(k, n), 2);
  const auto x = a.template to<Space>(), w = b.template to<Space>();
  const auto x_columns = tenon::evaluated_tensor(tenon::transpose(a)).template to<Space>();
  const auto w_columns = tenon::evaluated_tensor(tenon::transpose(b)).template to<Space>();
  tenon::tensor<hopper_result<T>, rank<2>, Space> y(rank<2>(m, n));
  const auto run = [&](const auto& product) {
    CAPTURE(m, n, k, left == order::rows, right == order::rows);
    REQUIRE(run_hopper_of<Tile, hopper_operand_of<T>>(y, product, blocks, parts));
  };
  if (left == order::rows && right == order::rows) run(hopper_matmul(x, w));
  if (left == order::rows && right == order::columns) run(hopper_matmul(x, tenon::transpose(w_columns)));
  if (left == order::columns && right == order::rows) run(hopper_matmul(tenon::transpose(x_columns), w));
  if (left == order::columns && right == order::columns) {
    run(hopper_matmul(tenon::transpose(x_columns), tenon::transpose(w_columns)));
  }
  const auto found = numbers_of(y), lefts = numbers_of(a), rights = numbers_of(b);
  for (tenon::index i = 0; i < m; ++i) {
    for (tenon::index j = 0; j < n; ++j) {
      exact_sum exact;
      const double *row = lefts.data() + i * k, *column = rights.data() + j;
      for (tenon::index depth = 0; depth < k; ++depth) exact.add(row[depth], column[depth * n]);
      const double is = found[static_cast<std::size_t>(i * n + j)];
      if (!(std::fabs(is - exact.sum) <= hopper_bound<T>(k, exact.magnitude, exact.sum))) {
        return tenon::compose_text("(", i, ", ", j, "): ", is, ", expected ", exact.sum);
      }
    }
  }
  return "";
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("hopper: one tile and one step", "[hopper]", kernel_spaces) {
  for (const order left : {order::rows, order::columns}) {
    for (const order right : {order::rows, order::columns}) {
      CHECK(compare<TestType, small_tile, tenon::half>(128, 64, 64, left, right, 1) == "");
      CHECK(compare<TestType, small_tile, tenon::bfloat16>(128, 64, 64, left, right, 1) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("hopper: ragged edges, more steps than stages, several tiles of a block", "[hopper]",
                        kernel_spaces) {
  for (const order left : {order::rows, order::columns}) {
    for (const order right : {order::rows, order::columns}) {
      CHECK(compare<TestType, small_tile, tenon::half>(200, 72, 200, left, right, 3) == "");
      CHECK(compare<TestType, small_tile, tenon::bfloat16>(8, 8, 8, left, right, 1) == "");
    }
  }
  CHECK(compare<TestType, small_tile, tenon::half>(200, 136, 264, order::rows, order::rows, 1) == "");
}

TEMPLATE_LIST_TEST_CASE("hopper: extents that no packet divides, where strides allow", "[hopper]", kernel_spaces) {
  CHECK(compare<TestType, small_tile, tenon::half>(131, 67, 72, order::rows, order::columns, 2) == "");
  CHECK(compare<TestType, small_tile, tenon::half>(136, 72, 61, order::columns, order::rows, 2) == "");
}

TEMPLATE_LIST_TEST_CASE("hopper: floats of 8 bits, whose depth lies side by side", "[hopper]", kernel_spaces) {
  using tenon::float8_e4m3, tenon::float8_e5m2;
  CHECK(compare<TestType, small_tile, float8_e4m3>(128, 64, 128, order::rows, order::columns, 1) == "");
  CHECK(compare<TestType, small_tile, float8_e5m2>(200, 72, 400, order::rows, order::columns, 3) == "");
  for (const tenon::index rows : {193, 198, 204}) {  // the first row behind them is another of a lane's four packets
    CHECK(compare<TestType, small_tile, float8_e5m2>(rows, 72, 128, order::rows, order::columns, 3) == "");
  }
  CHECK(compare<TestType, tenon::square_hopper_tile, float8_e4m3>(131, 131, 272, order::rows, order::columns, 2) == "");
  const auto x = hopper_numbers<float8_e4m3>(rank<2>(64, 128), 1);
  CHECK(tenon::hopper_memory_of<float8_e4m3>(tenon::left_matrix(tenon::matmul(x, tenon::transpose(x))), true, 64, 128,
                                             tenon::product_extents<2>{64, 64, 128, {{1, 1}}})
            .data == x.data());
  CHECK(tenon::hopper_memory_of<float8_e4m3>(tenon::right_matrix(tenon::matmul(tenon::transpose(x), x)), false, 128, 64,
                                             tenon::product_extents<2>{128, 128, 64, {{1, 1}}})
            .lines_are_adjacent);
}

TEMPLATE_LIST_TEST_CASE("hopper: elements of 8 and of 32 bits whose lines lie side by side are copied", "[hopper]",
                        kernel_spaces) {
  for (const order left : {order::rows, order::columns}) {
    for (const order right : {order::rows, order::columns}) {
      CHECK(compare<TestType, small_tile, float>(131, 70, 68, left, right, 2) == "");
      CHECK(compare<TestType, small_tile, std::int8_t>(131, 70, 144, left, right, 2) == "");
      CHECK(compare<TestType, small_tile, tenon::float8_e4m3>(131, 70, 144, left, right, 2) == "");
    }
  }
}

TEMPLATE_LIST_TEST_CASE("hopper: batches of copied operands, and one that all share", "[hopper]", kernel_spaces) {
  if (!has_hopper<TestType>()) return;
  constexpr tenon::index batches = 3, m = 40, n = 36, k = 48;
  const auto x = hopper_numbers<std::int8_t>(rank<3>(batches, m, k), 1),
             own = hopper_numbers<std::int8_t>(rank<3>(batches, k, n), 2);
  const auto wide = hopper_numbers<std::int8_t>(rank<2>(k, n + 5), 3);
  const auto dx = x.template to<TestType>(), down = own.template to<TestType>();
  const auto dwide = wide.template to<TestType>();
  const auto inner = tenon::range(3, 3 + n);
  const auto check = [&](const auto& statement, const auto& element) {
    tenon::tensor<std::int32_t, rank<3>, TestType> y(rank<3>(batches, m, n));
    REQUIRE(run_hopper_of<small_tile, std::int8_t>(y, statement, 2));
    const auto found = numbers_of(y);
    std::size_t wrong = 0;
    for (tenon::index batch = 0; batch < batches; ++batch) {
      for (tenon::index i = 0; i < m; ++i) {
        for (tenon::index j = 0; j < n; ++j) {
          int sum = 0;
          for (tenon::index depth = 0; depth < k; ++depth) sum += x(batch, i, depth) * element(batch, depth, j);
          wrong += found[static_cast<std::size_t>((batch * m + i) * n + j)] == sum ? 0u : 1u;
        }
      }
    }
    CHECK(wrong == 0);
  };
  check(hopper_matmul(dx, down), [&](auto batch, auto depth, auto j) { return own(batch, depth, j); });
  check(hopper_matmul(dx, tenon::slice(dwide, tenon::all_of, inner)),
        [&](auto, auto depth, auto j) { return wide(depth, j + 3); });
}

TEMPLATE_LIST_TEST_CASE("hopper: floats as tf32", "[hopper]", kernel_spaces) {
  CHECK(compare<TestType, small_tile, float>(128, 64, 32, order::rows, order::columns, 1) == "");
  CHECK(compare<TestType, small_tile, float>(200, 72, 132, order::rows, order::columns, 3) == "");
  CHECK(compare<TestType, small_tile, float>(131, 67, 36, order::rows, order::columns, 2) == "");
  CHECK(compare<TestType, small_tile, float>(128, 64, 640, order::rows, order::columns, 4, 3) == "");
  CHECK(compare<TestType, tenon::wide_hopper_tile, float>(136, 264, 100, order::rows, order::columns, 2) == "");
}

TEMPLATE_LIST_TEST_CASE("hopper: copies round floats to tf32, to nearest", "[hopper]", kernel_spaces) {
  if (!has_hopper<TestType>()) return;
  constexpr float below = 1 + 0x1.ep-12f, above = 1 + 0x1.1p-11f;  // the middle between 1 and 1 + 2^-10
  tenon::tensor<float, rank<2>> a(rank<2>(64, 32)), b(rank<2>(64, 32));
  a = 0, b = 0;
  for (tenon::index row = 0; row < 64; ++row) a(row, 3) = row % 2 == 0 ? below : above, b(row, 3) = 1;
  const auto x = a.to<TestType>(), w = b.to<TestType>();
  tenon::tensor<float, rank<2>, TestType> y(rank<2>(64, 64));
  REQUIRE(run_hopper_of<small_tile, tenon::tf32>(y, hopper_matmul(x, tenon::transpose(w)), 1));
  const auto found = numbers_of(y);
  CHECK(found[0] == 1);
  CHECK(found[64] == 1 + 0x1p-10);
}

TEMPLATE_LIST_TEST_CASE("hopper: bytes, whose sums are exact", "[hopper]", kernel_spaces) {
  CHECK(compare<TestType, small_tile, std::int8_t>(128, 64, 128, order::rows, order::columns, 1) == "");
  CHECK(compare<TestType, small_tile, std::int8_t>(200, 72, 400, order::rows, order::columns, 3) == "");
  CHECK(compare<TestType, small_tile, std::int8_t>(131, 67, 144, order::rows, order::columns, 2) == "");
  CHECK(compare<TestType, small_tile, std::int8_t>(128, 64, 1280, order::rows, order::columns, 4, 3) == "");
  CHECK(compare<TestType, tenon::wide_hopper_tile, std::int8_t>(136, 264, 272, order::rows, order::columns, 2) == "");
}

TEMPLATE_LIST_TEST_CASE("hopper: bytes with a scale and a bias in the epilogue", "[hopper]", kernel_spaces) {
  if (!has_hopper<TestType>()) return;
  constexpr tenon::index m = 72, n = 80, k = 160;
  const auto x = hopper_numbers<std::int8_t>(rank<2>(m, k), 1), w = hopper_numbers<std::int8_t>(rank<2>(n, k), 2);
  const auto bias = hopper_numbers<float>(rank<1>(n), 3);
  const auto dx = x.template to<TestType>(), dw = w.template to<TestType>();
  const auto db = bias.template to<TestType>();
  tenon::tensor<float, rank<2>, TestType> y(rank<2>(m, n));
  const auto sums = hopper_matmul(dx, tenon::transpose(dw));
  REQUIRE(run_hopper_of<small_tile, std::int8_t>(y, tenon::cast<float>(sums) * 0.25f + db, 2));
  const auto found = numbers_of(y);
  std::size_t wrong = 0;
  for (tenon::index i = 0; i < m; ++i) {
    for (tenon::index j = 0; j < n; ++j) {
      int sum = 0;
      for (tenon::index depth = 0; depth < k; ++depth) sum += x(i, depth) * w(j, depth);
      const float expected = static_cast<float>(sum) * 0.25f + bias(j);
      wrong += std::fabs(found[static_cast<std::size_t>(i * n + j)] - static_cast<double>(expected)) <= 1e-2 ? 0u : 1u;
    }
  }
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("hopper: the tiles of devices", "[hopper]", kernel_spaces) {
  CHECK(compare<TestType, tenon::wide_hopper_tile, tenon::bfloat16>(136, 264, 264, order::rows, order::rows, 2) == "");
  CHECK(compare<TestType, tenon::wide_hopper_tile, tenon::half>(128, 256, 64, order::columns, order::columns, 1) == "");
  CHECK(compare<TestType, tenon::square_hopper_tile, tenon::half>(136, 136, 400, order::rows, order::rows, 2) == "");
}

TEMPLATE_LIST_TEST_CASE("hopper: more tile rows than a group", "[hopper]", kernel_spaces) {
  CHECK(compare<TestType, tenon::hopper_tile<64, 64, 2>, tenon::half>(640, 192, 64, order::rows, order::rows, 3) == "");
}

TEMPLATE_LIST_TEST_CASE("hopper: bias, residual and activation in the epilogue", "[hopper]", kernel_spaces) {
  if (!has_hopper<TestType>()) return;
  constexpr tenon::index m = 144, k = 80;
  for (const tenon::index n : {tenon::index{128}, tenon::index{72}, tenon::index{65}}) {
    const auto x = hopper_numbers<tenon::bfloat16>(rank<2>(m, k), 1);
    const auto w = hopper_numbers<tenon::bfloat16>(rank<2>(n, k), 2);
    const auto bias = hopper_numbers<tenon::bfloat16>(rank<1>(n), 3);
    const auto scale = hopper_numbers<float>(rank<2>(m, 1), 4);
    const auto residual = hopper_numbers<tenon::bfloat16>(rank<2>(m, n), 5);
    const auto dx = x.template to<TestType>(), dw = w.template to<TestType>(), dr = residual.template to<TestType>();
    const auto db = bias.template to<TestType>();
    const auto ds = scale.template to<TestType>();
    tenon::tensor<float, rank<2>, TestType> y(rank<2>(m, n));
    REQUIRE(run_hopper<small_tile>(y, tenon::relu(tenon::matmul(dx, tenon::transpose(dw)) * ds + db) + dr, 2));
    const auto found = numbers_of(y);
    std::string wrong;
    for (tenon::index i = 0; i < m; ++i) {
      for (tenon::index j = 0; j < n; ++j) {
        exact_sum exact;
        for (tenon::index depth = 0; depth < k; ++depth) {
          exact.add(static_cast<double>(x(i, depth)), static_cast<double>(w(j, depth)));
        }
        const double scaled = exact.sum * static_cast<double>(scale(i, 0)) + static_cast<double>(bias(j));
        const double expected = (scaled > 0 ? scaled : 0) + static_cast<double>(residual(i, j));
        const double is = found[static_cast<std::size_t>(i * n + j)];
        // the product itself is rounded to bfloat16 where the statement says so, never wider than that
        const double allowed = hopper_bound<tenon::bfloat16>(k, exact.magnitude, std::fabs(expected) + 2);
        if (!(std::fabs(is - expected) <= allowed)) wrong = tenon::compose_text(i, ", ", j, ": ", is, " ", expected);
      }
    }
    CAPTURE(n);
    CHECK(wrong == "");
  }
}

TEMPLATE_LIST_TEST_CASE("hopper: batches, and an operand that all of them share", "[hopper]", kernel_spaces) {
  if (!has_hopper<TestType>()) return;
  constexpr tenon::index batches = 3, m = 72, n = 80, k = 72;
  const auto x = hopper_numbers<tenon::half>(rank<3>(batches, m, k), 1);
  const auto own = hopper_numbers<tenon::half>(rank<3>(batches, k, n), 2);
  const auto shared = hopper_numbers<tenon::half>(rank<2>(k, n), 3);
  const auto dx = x.template to<TestType>(), down = own.template to<TestType>();
  const auto dshared = shared.template to<TestType>();
  const auto check = [&](const auto& statement, const auto& element) {
    tenon::tensor<tenon::half, rank<3>, TestType> y(rank<3>(batches, m, n));
    REQUIRE(run_hopper<small_tile>(y, statement, 2));
    const auto found = numbers_of(y);
    std::size_t wrong = 0;
    for (tenon::index batch = 0; batch < batches; ++batch) {
      for (tenon::index i = 0; i < m; ++i) {
        for (tenon::index j = 0; j < n; ++j) {
          exact_sum exact;
          for (tenon::index depth = 0; depth < k; ++depth) {
            exact.add(static_cast<double>(x(batch, i, depth)), element(batch, depth, j));
          }
          const double is = found[static_cast<std::size_t>((batch * m + i) * n + j)];
          if (!(std::fabs(is - exact.sum) <= hopper_bound<tenon::half>(k, exact.magnitude, exact.sum))) ++wrong;
        }
      }
    }
    CHECK(wrong == 0);
  };
  check(tenon::matmul(dx, down),
        [&](auto batch, auto depth, auto j) { return static_cast<double>(own(batch, depth, j)); });
  check(tenon::matmul(dx, dshared), [&](auto, auto depth, auto j) { return static_cast<double>(shared(depth, j)); });
}

TEMPLATE_LIST_TEST_CASE("hopper: what is no number stays in its row, infinity too", "[hopper]", kernel_spaces) {
  if (!has_hopper<TestType>()) return;
  auto x = hopper_numbers<tenon::half>(rank<2>(128, 64), 1);
  x(5, 3) = tenon::half(std::numeric_limits<float>::quiet_NaN());
  x(77, 60) = tenon::half(std::numeric_limits<float>::infinity());
  const auto w = tenon::evaluated_tensor(tenon::uniform<tenon::half>(rank<2>(64, 64), 2, 0.5f, 1.0f));
  const auto dx = x.template to<TestType>(), dw = w.template to<TestType>();
  tenon::tensor<tenon::half, rank<2>, TestType> y(rank<2>(128, 64));
  REQUIRE(run_hopper<small_tile>(y, tenon::matmul(dx, dw), 1));
  const auto found = numbers_of(y);
  std::size_t wrong = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const std::size_t row = i / 64;
    const bool fits = row == 5 ? std::isnan(found[i]) : row == 77 ? std::isinf(found[i]) : std::isfinite(found[i]);
    wrong += fits ? 0 : 1;
  }
  CHECK(wrong == 0);
}

TEMPLATE_LIST_TEST_CASE("hopper: any order of threads, and of tiles that land", "[hopper]", kernel_spaces) {
  for (const std::uint64_t seed : {2u, 3u, 4u, 5u}) {
    const tenon::emulation_scope scope({.seed = seed});
    CHECK(compare<TestType, small_tile, tenon::half>(136, 72, 264, order::rows, order::rows, 2) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("hopper: blocks that share the depth of a tile", "[hopper]", kernel_spaces) {
  for (const int parts : {2, 3, 5, 7}) {
    CAPTURE(parts);
    CHECK(compare<TestType, small_tile, tenon::half>(128, 64, 448, order::rows, order::columns, 4, parts) == "");
    CHECK(compare<TestType, small_tile, tenon::bfloat16>(200, 72, 328, order::columns, order::rows, 3, parts) == "");
  }
  CHECK(compare<TestType, tenon::hopper_tile<64, 128, 4>, tenon::half>(64, 200, 640, order::columns, order::rows, 8,
                                                                       4) == "");
  CHECK(compare<TestType, small_tile, tenon::float8_e4m3>(128, 64, 640, order::rows, order::columns, 2, 2) == "");
}
