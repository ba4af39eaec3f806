// examples/onnx/check/sampled.cpp: images between their elements, boxes and what hangs on extents, beside plain loops.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <sampled.hpp>

#include "checks.hpp"
#include "reference.hpp"

namespace {

using reference::numbers;

/// What an element at a distance counts.
double straight(double distance) { return std::max(0.0, 1 - std::fabs(distance)); }
double curved(double distance) {
  const double x = std::fabs(distance);
  if (x <= 1) return 1.25 * x * x * x - 2.25 * x * x + 1;
  return x < 2 ? -0.75 * (x * x * x - 5 * x * x + 8 * x - 4) : 0;
}
/// The element that stands for one beside `count` others.
int nearest(int place, int count) { return std::clamp(place, 0, count - 1); }
int mirrored(int place, int count) {
  while (place < 0 || place >= count) place = place < 0 ? -1 - place : 2 * count - 1 - place;
  return place;
}

/// An image read at a place.
double at(const double* image, int rows, int columns, double row, double column, double (*share)(double),
          int (*kept)(int, int)) {
  double sum = 0;
  for (int i = static_cast<int>(std::floor(row)) - 1; i <= row + 2; ++i) {
    for (int j = static_cast<int>(std::floor(column)) - 1; j <= column + 2; ++j) {
      sum += share(row - i) * share(column - j) * image[kept(i, rows) * columns + kept(j, columns)];
    }
  }
  return sum;
}

/// Images of some rows and columns, of which there are `batch` with two channels.
void check_sampled(const std::string& folder, int batch, int rows, int columns) {
  namespace own = sampled_network;
  auto net = loaded<own::network<>>(folder, "sampled");
  const auto count = static_cast<std::size_t>(batch), area = static_cast<std::size_t>(rows * columns);
  const numbers image = reference::waves_of(81, 2 * count * area), grid = reference::waves_of(82, 12 * count);
  const numbers theta = reference::waves_of(83, 6 * count), squares = reference::waves_of(84, 9 * count);
  const numbers boxes{0, 0, 2, 2, 2, 1.9, 0, 0, 5, 5, 6, 6, 0, 0, 2, 1.8, 5, 5, 6, 7};
  const numbers marks{0.5, 0.9, 0.3, 0.7, 0.05, 0.2, 0.1, 0.4, 0.8, 0.6};
  const tn::no_grad testing;
  const auto [sample, larger, other, tiled, stretched, affine, det, kept, chosen, scaled, first] =
      net(input_of<own::input1>(own::input1::shape_type(batch, 2, rows, columns), image),
          input_of<own::input2>(own::input2::shape_type(batch), grid),
          input_of<own::input3>(own::input3::shape_type(batch), theta),
          input_of<own::input4>(own::input4::shape_type(batch), squares), input_of<own::input5>({}, boxes),
          input_of<own::input6>({}, marks));
  numbers samples, double_size, other_size, places, determinants, positive, divided, parts;
  const int less = rows / 2, wide = columns * 3 / 2;
  for (std::size_t plane = 0; plane < 2 * count; ++plane) {
    const double* of = &image[plane * area];
    for (std::size_t i = 0; i < 6; ++i) {
      const double *place = &grid[(plane / 2 * 6 + i) * 2], x = ((place[0] + 1) * columns - 1) / 2;
      samples.push_back(at(of, rows, columns, ((place[1] + 1) * rows - 1) / 2, x, curved, mirrored));
    }
    for (int i = 0; i < 4 * rows * columns; ++i) {
      const double row = i / (2 * columns) / 2.0 - 0.25, column = i % (2 * columns) / 2.0 - 0.25;
      double_size.push_back(at(of, rows, columns, row, column, curved, nearest));
    }
    for (int i = 0; i < less * wide; ++i) {
      const double row = (i / wide + 0.5) * 2 - 0.5, column = (i % wide + 0.5) / 1.5 - 0.5;
      other_size.push_back(at(of, rows, columns, row, column, straight, nearest));
    }
    for (std::size_t i = 0; i < area; ++i) {
      positive.push_back(std::max(0.0, of[i])), divided.push_back(of[i] / std::sqrt(rows));
      if (static_cast<int>(i) % columns < 3) parts.push_back(of[i]);
    }
  }
  numbers repeated, rows_of_one;
  for (std::size_t i = 0; i < count; ++i) {
    for (std::size_t k = 0; k < 8; ++k) repeated.push_back(reference::waves_of(71, 4)[k % 4]);
    for (std::size_t k = 0; k < 9; ++k) rows_of_one.push_back(reference::waves_of(72, 3)[k % 3]);
    for (int k = 0; k < 12; ++k) {
      const double* turn = &theta[i * 6 + static_cast<std::size_t>(k % 2 * 3)];
      places.push_back(turn[0] * ((k / 2 % 3 * 2 + 1) / 3.0 - 1) + turn[1] * (k / 6 - 0.5) + turn[2]);
    }
    const double* m = &squares[i * 9];
    determinants.push_back(m[0] * (m[4] * m[8] - m[5] * m[7]) - m[1] * (m[3] * m[8] - m[5] * m[6]) +
                           m[2] * (m[3] * m[7] - m[4] * m[6]));
  }
  compare_all("curves among mirrors", sample, samples), compare_all("twice as many", larger, double_size);
  compare_all("half as many, and half as many more", other, other_size), compare_all("tiles", tiled, repeated);
  compare_all("one element again and again", stretched, rows_of_one), compare_all("grids", affine, places);
  compare_all("determinants", det, determinants);
  compare_all("boxes", kept, {0, 0, 1, 0, 0, 2, 0, 1, 3, 0, 1, 4});
  compare_all("the chosen graph", chosen, positive), compare_all("by the root of an extent", scaled, divided);
  compare_all("three columns at most", first, parts);
}

}  // namespace

int main(int count, char** arguments) {
  return run_checks(count, arguments, [](const std::string& folder) {
    check_sampled(folder, 2, 5, 4), check_sampled(folder, 1, 3, 7), check_sampled(folder, 3, 4, 2);
  });
}
