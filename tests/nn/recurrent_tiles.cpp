// tests/nn/recurrent_tiles.cpp: recurrences of 16-bit elements whose steps are one kernel on Tensor Cores.
// Against loops that add products in double and share only the arithmetic of a unit, in both directions and back.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/recurrent_tiles.hpp>

#include <cmath>
#include <numeric>
#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/rnn.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace nn = tenon::nn;
using tenon::host;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// All that the steps of a recurrence read and write, in one space.
template <class Gates, class T, class Space>
struct recurrent_memory {
  using matrix = tenon::tensor<T, rank<2>, Space>;

  Gates gates;
  tenon::index hidden;
  matrix sums, products, weight, squashed;
  std::vector<matrix> values, gradients;  // hidden, cell, hidden before, cell before

  recurrent_memory(tenon::index rows, tenon::index sequences, tenon::index units)
      : hidden(units),
        sums(drawn(rows, Gates::count * units, 1)),
        products(drawn(rows, Gates::count * units, 2)),
        weight(drawn(Gates::count * units, units, 3)),
        squashed(drawn(rows, units, 4)) {
    weight = weight / std::sqrt(static_cast<float>(units));  // so that roundings do not grow from step to step
    for (auto* all : {&values, &gradients}) {
      const std::uint64_t seed = 10 + all->size() + (all == &gradients ? 4 : 0);
      for (const tenon::index count : {rows, rows, sequences, sequences}) {
        all->push_back(drawn(count, units, seed + all->size()));
      }
    }
  }
  template <class Other>
  explicit recurrent_memory(const recurrent_memory<Gates, T, Other>& from)
      : hidden(from.hidden),
        sums(from.sums.template to<Space>()),
        products(from.products.template to<Space>()),
        weight(from.weight.template to<Space>()),
        squashed(from.squashed.template to<Space>()) {
    for (const auto& each : from.values) values.push_back(each.template to<Space>());
    for (const auto& each : from.gradients) gradients.push_back(each.template to<Space>());
  }

  nn::unit_steps<Gates, T> steps(const nn::recurrent_step* all, int count, unsigned* barrier) {
    const auto sums_in_kernel = in_kernel(sums);
    return {gates,
            {sums_in_kernel,
             Gates::keeps_products ? in_kernel(products) : sums_in_kernel,
             states(values),
             {weight.data(), hidden},
             hidden,
             all,
             count,
             barrier}};
  }
  nn::unit_gradients<Gates, T> way_back(const nn::recurrent_step* all, int count, unsigned* barrier) {
    return {gates, steps(all, count, barrier).all, states(gradients), in_kernel(squashed)};
  }
  std::vector<double> numbers() const {
    std::vector<double> all;
    const auto add = [&](const matrix& from) {
      for (const double number : numbers_of(from)) all.push_back(number);
    };
    add(sums), add(products);
    for (const auto& each : values) add(each);
    for (const auto& each : gradients) add(each);
    return all;
  }

 private:
  static matrix drawn(tenon::index rows, tenon::index columns, std::uint64_t seed) {
    matrix result(rank<2>(rows, columns));
    result = tenon::uniform<T>(result.shape(), seed, -0.9f, 0.9f);
    return result;
  }
  static nn::kernel_matrix<T> in_kernel(matrix& from) { return {from.data(), from.shape().extent(1)}; }
  static nn::kernel_states<T> states(std::vector<matrix>& from) {
    return {in_kernel(from[0]), in_kernel(from[1]), in_kernel(from[2]), in_kernel(from[3])};
  }
};

/// Every step by loops: products are sums of doubles.
template <class Gates, class T>
void step_by_loops(const nn::unit_steps<Gates, T>& units) {
  const auto& all = units.all;
  for (int i = 0; i < all.step_count; ++i) {
    const auto& step = all.steps[i];
    for (tenon::index row = 0; row < step.count; ++row) {
      for (tenon::index unit = 0; unit < all.hidden; ++unit) {
        auto at = units.read(step, row, unit);
        for (tenon::index gate = 0; gate < Gates::count; ++gate) {
          double sum = 0;
          for (tenon::index k = 0; k < all.hidden; ++k) {
            sum += static_cast<double>(static_cast<float>(all.weight.at(gate * all.hidden + unit, k))) *
                   static_cast<double>(static_cast<float>(all.states.previous(step, row, k)));
          }
          at.products[gate] += static_cast<float>(sum);
        }
        units.finish(step, row, unit, at);
      }
    }
  }
}
template <class Gates, class T>
void step_by_loops(const nn::unit_gradients<Gates, T>& units) {
  const auto& all = units.all;
  for (int i = all.step_count - 1; i >= 0; --i) {
    const auto& step = all.steps[i];
    for (tenon::index row = 0; row < step.count; ++row) {
      for (tenon::index unit = 0; unit < all.hidden; ++unit) units.pull(step, row, unit);
      for (tenon::index unit = 0; unit < all.hidden; ++unit) {
        double sum = 0;
        for (tenon::index line = 0; line < Gates::count * all.hidden; ++line) {
          sum += static_cast<double>(static_cast<float>(all.weight.at(line, unit))) *
                 static_cast<double>(static_cast<float>(all.products.at(step.row + row, line)));
        }
        units.add(step, row, unit, static_cast<float>(sum));
      }
    }
  }
}

/// How far kernels are from loops, over sequences that end at different times.
template <class Space, class Gates, class T>
std::string error_of_tiles(tenon::index hidden, tenon::index sequences, bool is_reversed, int rows) {
  const std::vector<tenon::index> batch_sizes{sequences, sequences, (2 * sequences + 2) / 3, (sequences + 3) / 4};
  nn::recurrent_steps order;
  order.set(batch_sizes, is_reversed);
  const auto& steps = order.steps();
  const auto count = static_cast<int>(steps.size());
  recurrent_memory<Gates, T, host> expected(std::accumulate(batch_sizes.begin(), batch_sizes.end(), tenon::index{0}),
                                            sequences, hidden);
  recurrent_memory<Gates, T, Space> own(expected);
  step_by_loops(expected.steps(steps.data(), count, nullptr));
  step_by_loops(expected.way_back(steps.data(), count, nullptr));

  nn::steps_in_space<Space> in_space;
  const int blocks = static_cast<int>(hidden) / nn::detail::tile_units;
  const int shares = (static_cast<int>(sequences) + rows - 1) / rows;
  const auto run = [&](const auto& kernel) {
    tenon::launch<Space>(
        {.grid = {blocks, shares}, .block = nn::detail::recurrent_threads, .shared_bytes = kernel.shared_bytes()},
        kernel);
  };
  constexpr int gates = static_cast<int>(Gates::count);
  auto& meeting = tenon::workspace<Space>::with(0);
  run(nn::recurrent_tiles_kernel<Gates, T, 2>{own.steps(in_space.of(steps), count, meeting.grid_barrier()), rows});
  run(nn::recurrent_tiles_backward_kernel<Gates, T, 2 * gates>{
      own.way_back(in_space.of(steps), count, meeting.grid_barrier()), rows});
  meeting.launched();
  return tenon_test::difference(own.numbers(), expected.numbers(), std::is_same_v<T, tenon::half> ? 0x1p-8 : 0x1p-5);
}

/// A block's products of `rows` rows with sixteen lines, all of one matrix after the other.
struct held_products {
  static constexpr const char* name = "held_products";
  static constexpr int max_threads = nn::detail::recurrent_threads;
  using lines_type = nn::detail::held_lines<tenon::half, 2, 4>;

  const tenon::half* weights;
  const tenon::half* operand;
  float* results;
  int length, rows;

  static constexpr int shared_bytes() { return tenon::shared_bytes_of<float>(lines_type::partial_count); }

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    lines_type lines;
    lines.take(device, length, [&](int line, int place) { return weights[line * length + place]; });
    const auto partial = device.template shared<float>(lines_type::partial_count);
    lines.leave_products(device, length, rows, [&](int row) { return operand + row * length; }, partial);
    device.sync();
    for (int i = device.thread(); i < rows * lines_type::lines; i += max_threads) {
      results[i] = lines_type::product(partial, i / lines_type::lines, i % lines_type::lines);
    }
  }
};

/// How far they are from sums of doubles.
template <class Space>
std::string error_of_products(tenon::index length, int rows) {
  constexpr int lines = held_products::lines_type::lines;
  const auto weights = tenon::evaluated_tensor<Space>(tenon::uniform<tenon::half>(rank<2>(lines, length), 1));
  const auto operand = tenon::evaluated_tensor<Space>(tenon::uniform<tenon::half>(rank<2>(rows, length), 2));
  tenon::tensor<float, rank<2>, Space> results(rank<2>(rows, lines));
  const held_products kernel{weights.data(), operand.data(), results.data(), static_cast<int>(length), rows};
  tenon::launch<Space>({.grid = {1}, .block = kernel.max_threads, .shared_bytes = kernel.shared_bytes()}, kernel);
  const auto left = numbers_of(operand), right = numbers_of(weights);
  std::vector<double> expected;
  for (tenon::index row = 0; row < rows; ++row) {
    for (tenon::index line = 0; line < lines; ++line) {
      const auto first = left.begin() + row * length;
      expected.push_back(std::inner_product(first, first + length, right.begin() + line * length, 0.0));
    }
  }
  return tenon_test::difference(numbers_of(results), expected, 1e-6);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("products of tiles, every gate, both directions", "[recurrent_tiles]",
                        tenon_test::kernel_spaces) {
  const tenon::emulation_scope room({.resident_blocks = 40});
  for (const bool is_reversed : {false, true}) {
    for (const tenon::index hidden : {8, 40}) {
      for (const tenon::index sequences : {1, 21, 37}) {
        CAPTURE(is_reversed, hidden, sequences);
        CHECK(error_of_tiles<TestType, nn::lstm_gates, tenon::half>(hidden, sequences, is_reversed, 48) == "");
        CHECK(error_of_tiles<TestType, nn::gru_gates, tenon::bfloat16>(hidden, sequences, is_reversed, 48) == "");
        CHECK(error_of_tiles<TestType, nn::rnn_gates, tenon::half>(hidden, sequences, is_reversed, 48) == "");
      }
    }
  }
}
TEMPLATE_LIST_TEST_CASE("blocks share sequences", "[recurrent_tiles]", tenon_test::kernel_spaces) {
  const tenon::emulation_scope room({.resident_blocks = 40});
  for (const int rows : {16, 32, 80}) {  // for each share: one tile, one pass and more than two
    CAPTURE(rows);
    CHECK(error_of_tiles<TestType, nn::lstm_gates, tenon::half>(24, 71, false, rows) == "");
    CHECK(error_of_tiles<TestType, nn::gru_gates, tenon::bfloat16>(24, 71, true, rows) == "");
  }
}
TEMPLATE_LIST_TEST_CASE("depths of several chunks", "[recurrent_tiles]", tenon_test::kernel_spaces) {
  for (const tenon::index length : {8, 264, 512, 1000}) {
    for (const int rows : {1, 17, 32}) {
      CAPTURE(length, rows);
      CHECK(error_of_products<TestType>(length, rows) == "");
    }
  }
}

TEST_CASE("a share has the rows of its sequences", "[recurrent_tiles]") {
  const auto rows_of = [](int number, const nn::recurrent_step& step) {
    const auto block = nn::detail::block_rows::of(number, step, 16);
    return std::pair(block.first, block.end);
  };
  const nn::recurrent_step whole{100, 40, 60, false};
  CHECK(rows_of(0, whole) == std::pair(0, 16));
  CHECK(rows_of(2, whole) == std::pair(32, 40));
  const nn::recurrent_step begun_late{100, 10, 20, true};  // sequences 20 to 29
  CHECK(rows_of(0, begun_late) == std::pair(0, -4));
  CHECK(rows_of(1, begun_late) == std::pair(0, 10));
  CHECK(rows_of(2, begun_late) == std::pair(12, 10));
}
