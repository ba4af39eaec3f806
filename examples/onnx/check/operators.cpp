// examples/onnx/check/operators.cpp: single operators that tenon-onnx wrote, beside plain loops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <open_extents.hpp>
#include <operators10.hpp>
#include <operators14.hpp>
#include <operators18.hpp>
#include <operators9.hpp>

#include "checks.hpp"
#include "reference.hpp"

namespace {

using reference::numbers;

/// Two channels of [2, 4, 5] at a time made standard, with one scale and one bias.
numbers grouped(const numbers& x) {
  const numbers scale = reference::waves_of(63, 2), shift = reference::waves_of(64, 2);
  numbers made;
  for (std::size_t group = 0; group < 4; ++group) {
    double mean = 0, variance = 0;
    for (std::size_t i = 0; i < 10; ++i) mean += x[group * 10 + i] / 10;
    for (std::size_t i = 0; i < 10; ++i) variance += std::pow(x[group * 10 + i] - mean, 2) / 10;
    for (std::size_t i = 0; i < 10; ++i)
      made.push_back((x[group * 10 + i] - mean) / std::sqrt(variance + 0.5) * scale[group % 2] + shift[group % 2]);
  }
  return made;
}

void check_parts(const std::string& folder) {
  auto net = loaded<operators18_network::network<>>(folder, "operators18");
  const numbers x = reference::waves_of(51, 40), z = reference::waves_of(52, 12);
  const auto first = input_of<operators18_network::input1>({}, x);
  const auto second = input_of<operators18_network::input2>(operators18_network::input2::shape_type(3), z);
  const tn::no_grad testing;
  const auto [few, rows, pooled, one, two, response, places, groups] = net(first, second);
  static constexpr int of_few[] = {3, 0, 3, 2, 1, 1, 0, 0, 0, 1, 2, 3, 0, 3, 2, 1, 0, 2};
  numbers taken, taken_rows;
  for (std::size_t i = 0; i < 18; ++i) taken.push_back(x[static_cast<std::size_t>(of_few[i]) * 5 + i % 3]);
  for (const std::size_t place : {0u, 3u, 1u, 6u, 7u, 4u}) taken_rows.push_back(z[place]);
  compare_all("elements at fewer places", few, taken), compare_all("of a named extent", rows, taken_rows);
  numbers norms, sizes, shares, order;
  for (std::size_t row = 0; row < 8; ++row) {
    for (std::size_t begin = 0; begin < 5; begin += 3) {
      double sum = 0;
      for (std::size_t i = begin; i < std::min<std::size_t>(begin + 3, 5); ++i)
        sum += std::pow(std::fabs(x[row * 5 + i]), 3);
      norms.push_back(std::cbrt(sum));
    }
  }
  numbers sorted = x;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t i = 0; i < 40; ++i) {
    sizes.push_back(std::fabs(x[i]));
    const double next = i / 5 % 4 == 3 ? 0 : x[i + 5];  // of the channel behind
    shares.push_back(x[i] / std::pow(1 + 0.0001 / 2 * (x[i] * x[i] + next * next), 0.75));
    order.push_back(static_cast<double>(std::lower_bound(sorted.begin(), sorted.end(), x[i]) - sorted.begin()));
  }
  compare_all("windows that overhang", pooled, norms), compare_all("places of unique ones", places, order);
  check("places of unique ones, one axis", std::remove_cvref_t<decltype(places)>::shape_type::rank == 1);
  compare_all("norm of single elements, 1", one, sizes), compare_all("norm of single elements, 2", two, sizes);
  compare_all("two channels", response, shares), compare_all("a scale for each group", groups, grouped(x));
}

/// An image [3, 4] at a place between its elements.
double between(const double* image, double row, double column) {
  const double top = std::clamp(row, 0.0, 2.0), left = std::clamp(column, 0.0, 3.0);
  double sum = 0;
  for (int i = 0; i < 12; ++i)
    sum += image[i] * std::max(0.0, 1 - std::fabs(top - i / 4)) * std::max(0.0, 1 - std::fabs(left - i % 4));
  return sum;
}

/// Two batches of `time` steps.
void check_open(const std::string& folder, std::size_t time) {
  namespace own = open_extents_network;
  auto net = loaded<own::network<>>(folder, "open_extents");
  const numbers x = reference::waves_of(56, 2 * time), image = reference::waves_of(57, 48);
  const auto length = static_cast<tn::index>(time);
  const tn::no_grad testing;
  const auto [rows, ends, flip, steps, fixed, open, at, cropped, squares, more, triangle, spaced, blocks, some, spread,
              stepped] = net(input_of<own::input1>(own::input1::shape_type(2, length), x),
                             input_of<own::input2>(own::input2::shape_type(2), image));
  numbers table = reference::waves_of(65, 12), turned, counted, kept, sums(2), integers, to_sides, to_square;
  table.resize(2 * time);
  for (std::size_t i = 0; i < 2 * time; ++i) {
    const std::size_t row = i / time, column = i % time;
    turned.push_back(x[row * time + time - 1 - column]);
    kept.push_back(column + 1 < time ? x[i + 1] : 0);
    if (column + 1 == time) kept.push_back(0);  // and the second one
    sums[row] += x[i] * x[i];
    integers.push_back(std::trunc(x[i]) + static_cast<double>(time));
    if (row == 0) counted.push_back(static_cast<double>(column));
  }
  for (std::size_t plane = 0; plane < 4; ++plane) {
    const double *of = &image[plane * 12], apart = static_cast<double>(time - 1);
    for (int i = 0; i < 15; ++i)
      to_sides.push_back(between(of, (i / 3 + 0.5) * 3 / 5 - 0.5, (i % 3 + 0.5) * 4 / 3 - 0.5));
    for (std::size_t i = 0; i < time * time; ++i)
      to_square.push_back(
          between(of, static_cast<double>(i / time) * 2 / apart, static_cast<double>(i % time) * 3 / apart));
  }
  compare_all("first rows", rows, table), compare_all("last elements", ends, {x[time - 1], x[2 * time - 1]});
  compare_all("steps in the other order", flip, turned), compare_all("numbers of steps", steps, counted);
  compare_all("images of known sides", fixed, to_sides), compare_all("images of open sides", open, to_square);
  compare_all("elements at places", at, {x[time], x[1], x[time]});
  compare_all("one less before, two more behind", cropped, kept), compare_all("sums of squares", squares, sums);
  compare_all("more by an extent", more, integers), compare_all("below a diagonal", triangle, x);
  numbers repeated;
  for (std::size_t i = 0; i < 2 * time; ++i) repeated.push_back(x[i / time * time + time - 1]);
  compare_all("every second zero", stepped, numbers(9 * time));
  compare_all("beside zeros of other extents", spread, repeated);
  numbers filled, few = reference::waves_of(65, 12);
  for (std::size_t i = 0; i < 2 * ((time + 3) / 4 * 4); ++i) {
    const std::size_t width = (time + 3) / 4 * 4;
    filled.push_back(i % width < time ? x[i / width * time + i % width] : 0);
  }
  few.resize(2 * std::min<std::size_t>(time, 4));
  compare_all("filled to whole blocks", blocks, filled), compare_all("four rows at most", some, few);
  const auto first = static_cast<double>(time);
  compare_all("every third number", spaced, {first, first + 3, first + 6});
}

/// Element i, j of an image [5, 3]; beside it its edges.
double at(const double* image, double row, double column) {
  return image[static_cast<std::size_t>(std::min(row, 4.0) * 3 + std::min(column, 2.0))];
}
numbers lines(const numbers& x) {
  numbers made;
  for (std::size_t channel = 0; channel < 2; ++channel) {
    const double* image = &x[channel * 15];
    for (int i = 0; i < 60; ++i) {
      const double row = i / 6 / 2, column = i % 6 / 2, down = i / 6 % 2 * 0.5, right = i % 2 * 0.5;
      made.push_back((1 - down) * ((1 - right) * at(image, row, column) + right * at(image, row, column + 1)) +
                     down * ((1 - right) * at(image, row + 1, column) + right * at(image, row + 1, column + 1)));
    }
  }
  return made;
}
numbers nearest(const numbers& x, const std::vector<int>& rows, const std::vector<int>& columns) {
  numbers made;
  for (std::size_t channel = 0; channel < 2; ++channel) {
    for (const int row : rows) {
      for (const int column : columns) made.push_back(at(&x[channel * 15], row, column));
    }
  }
  return made;
}

/// Old operators: element i of the result lies at i / scale, and the nearest one is in front of it.
template <class Net, class Input>
void check_images(const std::string& folder, const std::string& name, const numbers& down) {
  auto net = loaded<Net>(folder, name);
  const numbers x = reference::waves_of(53, 30);
  const tn::no_grad testing;
  const auto [line, more, less] = net(input_of<Input>({}, x));
  compare_all(name + ", linear", line, lines(x)), compare_all(name + ", other extents", less, down);
  compare_all(name + ", nearest", more, nearest(x, {0, 0, 1, 2, 2, 3, 4}, {0, 0, 0, 1, 1, 2, 2}));
}

/// Steps [3, 2, 2] in one direction, by the weights [2, 2] of that direction; some of each row.
void run_steps(const numbers& x, bool is_back, const std::vector<std::size_t>& lengths, numbers& made) {
  const std::size_t first = is_back ? 4 : 0;
  const numbers input = reference::waves_of(61, 8), state = reference::waves_of(62, 8);
  for (std::size_t row = 0; row < 2; ++row) {
    numbers hidden{0, 0};
    for (std::size_t step = 0; step < lengths[row]; ++step) {
      const std::size_t time = is_back ? lengths[row] - 1 - step : step;
      numbers next;
      for (std::size_t unit = 0; unit < 2; ++unit) {
        double sum = 0;
        for (std::size_t i = 0; i < 2; ++i) {
          const std::size_t weight = first + unit * 2 + i;
          sum += input[weight] * x[(time * 2 + row) * 2 + i] + state[weight] * hidden[i];
        }
        next.push_back(std::max(sum, 0.0));
        made[((time * 2 + (is_back ? 1 : 0)) * 2 + row) * 2 + unit] = next.back();
      }
      hidden = next;
    }
  }
}

/// Bytes whose scale and zero point are those of all numbers, less that point.
numbers measured(const numbers& x) {
  const auto [low, high] = std::minmax_element(x.begin(), x.end());
  const double least = std::min(*low, 0.0), scale = (std::max(*high, 0.0) - least) / 255;
  const double point = std::nearbyint(-least / scale);
  numbers made;
  for (const double each : x) made.push_back(std::clamp(std::nearbyint(each / scale) + point, 0.0, 255.0) - point);
  return made;
}

void check_others(const std::string& folder) {
  namespace own = operators14_network;
  auto net = loaded<own::network<>>(folder, "operators14");
  const numbers x = reference::waves_of(54, 20), s = reference::waves_of(55, 12), h{0, 1, 2, 4, 5, 6};
  const numbers a{0, 1, 2, 3, 4, 5}, b{9, 8, 7, 6, 5, 4, 3, 2, 1, 0, 1, 2}, point{1, 2, 3, 4};
  const tn::no_grad testing;
  const auto [less, half, steps, product, windows, restored, fewer, last, sorted] = net(
      input_of<own::input1>({}, x), input_of<own::input2>({}, h), input_of<own::input3>(own::input3::shape_type(2), s),
      input_of<own::input4>({}, a), input_of<own::input5>({}, b), input_of<own::input6>({}, point));
  numbers kept, hidden(24), sums;
  for (int i = 0; i < 14; ++i) kept.push_back(x[static_cast<std::size_t>(i * 10 / 7)]);
  run_steps(s, false, {3, 3}, hidden), run_steps(s, true, {3, 3}, hidden);
  numbers some(24), descending(12);
  run_steps(s, false, {2, 3}, some), run_steps(s, true, {2, 3}, some);
  const auto place = [](std::size_t time, std::size_t direction, std::size_t row) {
    return ((time * 2 + direction) * 2 + row) * 2;
  };
  numbers ends;
  for (const std::size_t begin : {place(1, 0, 0), place(2, 0, 1), place(0, 1, 0), place(0, 1, 1)})
    ends.push_back(some[begin]), ends.push_back(some[begin + 1]);
  for (std::size_t i = 0; i < 12; ++i) {
    const double own = s[i], other = s[i / 4 * 4 + (i + 2) % 4];
    descending[i] = i % 4 < 2 ? std::max(own, other) : std::min(own, other);
  }
  for (std::size_t i = 0; i < 8; ++i) {
    double sum = 0;
    for (std::size_t k = 0; k < 3; ++k) sum += a[i / 4 * 3 + k] * (b[k * 4 + i % 4] - point[i % 4]);
    sums.push_back(sum);
  }
  compare_all("0.7 times as many", less, kept), compare_all("recurrence of relu", steps, hidden);
  const numbers bytes = measured(x), taps{-2, -1, 0, 6, -3, 1};  // less 3
  numbers sums_of_bytes;
  for (int i = 0; i < 22; ++i) {
    double sum = 0;
    for (int tap = 0; tap < 3; ++tap) {
      const int at = i % 11 * 2 + tap - 2;
      if (at >= 0 && at < 20)
        sum += bytes[static_cast<std::size_t>(at)] * taps[static_cast<std::size_t>(i / 11 * 3 + tap)];
    }
    sums_of_bytes.push_back(sum);
  }
  compare_all("fewer steps of a row", fewer, some), compare_all("their last ones", last, ends);
  compare_all("all of a batch in order", sorted, descending);
  compare_all("windows of bytes", windows, sums_of_bytes);
  compare_all("numbers of bytes", restored, {0.5, -6, 1, -64, 252, 0.25});
  compare_all("zero points of columns", product, sums);
  check("halves stay halves", std::is_same_v<typename std::remove_cvref_t<decltype(half)>::element, tn::half>);
  compare_all("twice as many halves", half, {0, 0.25, 0.75, 1.25, 1.75, 2, 1, 1.25, 1.75, 2.25, 2.75, 3,
                                             3, 3.25, 3.75, 4.25, 4.75, 5, 4, 4.25, 4.75, 5.25, 5.75, 6});
}

}  // namespace

int main(int count, char** arguments) {
  return run_checks(count, arguments, [](const std::string& folder) {
    const numbers x = reference::waves_of(53, 30);
    check_parts(folder), check_others(folder), check_open(folder, 2), check_open(folder, 5);
    check_images<operators9_network::network<>, operators9_network::input>(
        folder, "operators9", nearest(x, {0, 1, 2, 3, 4}, {0, 0, 1, 1, 2}));
    check_images<operators10_network::network<>, operators10_network::input>(folder, "operators10",
                                                                             nearest(x, {0, 2, 3, 4}, {0, 1, 2}));
  });
}
