// examples/onnx/check/typed.cpp: headers of models of many types and odd names, beside plain numbers.
// SPDX-License-Identifier: Apache-2.0
#include <NULL.hpp>
#include <assert.hpp>
#include <cassert>
#include <cos.hpp>
#include <cstdio>
#include <ctime>
#include <limits>
#include <net_index.hpp>
#include <string>
#include <time.hpp>

#include "checks.hpp"
#include "weights.hpp"

namespace {

/// Compares elements with numbers of their own type, all digits.
template <class T, class Found>
void compare(const std::string& what, const Found& found, const std::vector<T>& expected) {
  const auto all = tn::evaluated_tensor<tn::host>(found);
  static_assert(std::is_same_v<typename decltype(all)::element, T>);
  bool holds = all.size() == static_cast<tn::index>(expected.size());
  for (std::size_t i = 0; holds && i < expected.size(); ++i) holds = all.data()[i] == expected[i];
  check(what, holds);
}
/// Compares elements of a floating type with doubles.
template <class T, class Found>
void compare_near(const std::string& what, const Found& found, const std::vector<double>& expected, double most) {
  const auto all = tn::evaluated_tensor<tn::host>(found);
  static_assert(std::is_same_v<typename decltype(all)::element, T>);
  bool holds = all.size() == static_cast<tn::index>(expected.size());
  for (std::size_t i = 0; holds && i < expected.size(); ++i) {
    holds = std::fabs(static_cast<double>(all.data()[i]) - expected[i]) <= most;
  }
  check(what, holds);
}

void check_names() {
  cos_network::network<> net;
  const tn::no_grad testing;
  cos_network::input1 x(cos_network::input1::shape_type(5, 2));
  cos_network::input2 z(cos_network::input2::shape_type(3, 4));
  x = tn::constants(x.shape(), -1.0f), z = tn::constants(z.shape(), 1.0f);
  const auto [first, second, column] = net(x, z);
  compare<std::int64_t>("names, first shape", first, {5, 2});
  compare<std::int64_t>("names, second shape", second, {3, 4});
  compare<float>("names, column", column, std::vector<float>(10));
}

void check_integers(const std::string& folder) {
  constexpr std::int64_t odd = (std::int64_t{1} << 53) + 1, least = std::numeric_limits<std::int64_t>::min();
  constexpr std::uint64_t low = (std::uint64_t{1} << 63) + 5, high = ~std::uint64_t{0};
  auto net = loaded<NULL_network::network<>>(folder, "NULL");
  const tn::no_grad testing;
  const NULL_network::input1 x{odd - 1, odd, least};
  const NULL_network::input2 u{std::uint64_t{1}, low + 1, high};
  const auto [sum, same, clipped, wrapped, clipped_u, folded, filled] = net(x, u);
  compare<std::int64_t>("integers, sum", sum, {2 * odd - 1, 2 * odd, least + odd});
  compare<bool>("integers, equal", same, {false, true, false});
  compare<std::int64_t>("integers, clipped", clipped, {odd - 1, odd, least});
  compare<std::uint64_t>("integers, wrapped", wrapped, {0, low, high - 1});
  compare<std::uint64_t>("integers, clipped unsigned ones", clipped_u, {low, low + 1, high});
  // 3 odd - odd / 3, -14 + 3, and least - least, as products and quotients with -1 wrap around
  compare<std::int64_t>("integers, folded", folded, {4 * odd - 1 - odd / 3, odd - 11, least});
  compare<std::int64_t>("integers, filled", filled, {2 * odd - 1, 2 * odd, least + odd});
}

/// Groups of neighbouring numbers without their mean, divided by their deviation.
std::vector<double> standard(const std::vector<double>& x, std::size_t count) {
  std::vector<double> made;
  for (std::size_t begin = 0; begin < x.size(); begin += count) {
    double mean = 0, variance = 0;
    for (std::size_t i = begin; i < begin + count; ++i) mean += x[i] / static_cast<double>(count);
    for (std::size_t i = begin; i < begin + count; ++i) {
      variance += (x[i] - mean) * (x[i] - mean) / static_cast<double>(count);
    }
    for (std::size_t i = begin; i < begin + count; ++i) {
      made.push_back((x[i] - mean) / std::sqrt(variance + static_cast<double>(1e-5f)));
    }
  }
  return made;
}

void check_norms(const std::string& folder) {
  auto net = loaded<assert_network::network<>>(folder, "assert");
  const tn::no_grad testing;
  assert_network::input1 x;
  assert_network::input2 h;
  const std::vector<float> numbers = waves(61, 24);
  std::copy(numbers.begin(), numbers.end(), x.data());
  h = tn::cast<tn::half>(x);
  const std::vector<double> all(numbers.begin(), numbers.end()), scale{0.5, 2, -1}, shift{0.1, 0.2, 0.3};
  const std::vector<double> spread{0.25, 1, 4}, half_scale{1, 2, 0.5, -1};
  std::vector<double> batch, layer = standard(all, 12), instance = standard(all, 4), halves, squares;
  std::vector<double> rounded;
  for (std::size_t i = 0; i < 24; ++i) rounded.push_back(static_cast<double>(h.data()[i]));
  halves = standard(rounded, 4);
  for (std::size_t i = 0; i < 24; ++i) {
    const std::size_t channel = i / 4 % 3, row = i / 4 * 4;
    double mean = 0;
    for (std::size_t j = row; j < row + 4; ++j) mean += rounded[j] * rounded[j] / 4;
    const double deviation = std::sqrt(spread[channel] + static_cast<double>(1e-5f));
    batch.push_back((all[i] - shift[channel]) / deviation * scale[channel] + shift[channel]);
    layer[i] *= scale[channel], instance[i] = instance[i] * scale[channel] + shift[channel];
    halves[i] *= half_scale[i % 4];
    squares.push_back(rounded[i] / std::sqrt(mean + 1e-5) * half_scale[i % 4]);
  }
  const auto found = net(x, h);
  compare_near<double>("norms, batch", std::get<0>(found), batch, 1e-12);
  compare_near<double>("norms, layer", std::get<1>(found), layer, 1e-12);
  compare_near<double>("norms, instance", std::get<2>(found), instance, 1e-12);
  compare_near<tn::half>("norms, halves", std::get<3>(found), halves, 4e-3);
  compare_near<tn::half>("norms, squares of halves", std::get<4>(found), squares, 4e-3);
}

void check_states(const std::string& folder) {
  auto net = loaded<time_network::network<>>(folder, "time");
  const tn::no_grad testing;
  time_network::input1 x(time_network::input1::shape_type(4));
  const std::vector<float> numbers = waves(62, 24), cells = waves(63, 4);
  std::copy(numbers.begin(), numbers.end(), x.data());
  time_network::input2 hidden;
  hidden = tn::constants(hidden.shape(), 0.0f);
  time_network::input3 cell;
  std::copy(cells.begin(), cells.end(), cell.data());
  const auto [one, two] = net(x, hidden, cell);
  const auto both = tn::evaluated_tensor<tn::host>(two);
  compare<float>("states, one of two", one, std::vector<float>(both.data(), both.data() + both.size()));
  const tn::tensor<float, tn::shape<>> most = tn::max(tn::abs(both));
  check("states, a result", *most.data() > 0.01f);
}

void check_none() {
  net_index_network::network<> net;
  const tn::no_grad testing;
  const auto found = tn::evaluated_tensor<tn::host>(net(net_index_network::input()));
  check("no images", found.shape().to_array() == tn::array<tn::index, 4>{{0, 2, 6, 10}});
}

}  // namespace

int main(int count, char** arguments) {
  return run_checks(count, arguments, [](const std::string& folder) {
    check_names(), check_integers(folder), check_norms(folder), check_states(folder), check_none();
    assert(faults >= 0);
  });
}
