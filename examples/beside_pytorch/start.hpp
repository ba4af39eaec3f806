// examples/beside_pytorch/start.hpp: parameters and inputs by formula: both languages start from the same numbers.
// The same as start.py.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <iterator>
#include <set>
#include <string>
#include <tenon/train.hpp>
#include <vector>

namespace tn = tenon;
namespace nn = tenon::nn;

inline const std::string sonnet =
    "Shall I compare thee to a summer's day? Thou art more lovely and more temperate: "
    "Rough winds do shake the darling buds of May, And summer's lease hath all too short a date; "
    "Sometime too hot the";

/// Numbers between -1 and 1: sin(1 + number + 0.37 * i * i).
template <tn::shape_type Shape>
tn::tensor<float, Shape> waves(const Shape& shape, tn::index number = 0) {
  const auto at = tn::arange<double>(shape.count());
  return tn::reshape(tn::sin(1 + number + 0.37 * (at * at)), shape);
}

/// Labels from 0 to count - 1.
template <tn::shape_type Shape>
tn::tensor<std::int64_t, Shape> classes(tn::index count, const Shape& shape) {
  const auto at = tn::arange<std::int64_t>(shape.count());
  return tn::reshape((7 * at * at + 3 * at) % 11 % count, shape);
}

/// Characters of a text as numbers, from number `first` on; 0 is the one with the least code.
template <tn::shape_type Shape>
tn::tensor<std::int64_t, Shape> characters(tn::index first, const Shape& shape) {
  const auto numbers = tn::data::vocabulary(sonnet).encode(sonnet);
  return tn::reshape(tn::slice(numbers, tn::range(first, first + shape.count())), shape);
}

/// Gives every parameter its first value, by its place in the order of names.
void start(auto& net) {
  net.initialise(1);
  std::set<std::string> names;
  net.visit_parameters([&](const std::string& name, auto&) { names.insert(name); });
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    auto& value = parameter.value;
    if constexpr (std::remove_cvref_t<decltype(value)>::rank > 1) {
      const auto number = std::distance(names.begin(), names.find(name));
      value = waves(value.shape(), number) / std::sqrt(static_cast<float>(value.size() / value.extent(0)));
    } else {
      value = tn::constants(value.shape(), name.ends_with("weight") ? 1.0f : 0.0f);
    }
  });
}
