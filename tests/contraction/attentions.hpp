// tests/contraction/attentions.hpp: attention by definition, in double.
// Scores of all keys are made first, then their softmax, then the sum of values.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <limits>
#include <tenon/expressions.hpp>

#include "support/elements.hpp"

namespace tenon_test {

struct attention_extents {
  tenon::index batches, queries, keys, features, columns;
};

/// Queries, keys, values and what is added to scores, all with random numbers.
template <class T>
struct attention_problem {
  attention_extents extents;
  tenon::attention_options options;
  using matrices = tenon::tensor<T, tenon::rank<3>>;
  matrices query, key, value;
  tenon::tensor<float, tenon::rank<3>> bias;

  explicit attention_problem(const attention_extents& sizes, const tenon::attention_options& given = {},
                             double magnitude = 1)
      : extents(sizes), options(given) {
    const auto random = [&](tenon::index rows, tenon::index columns, std::uint64_t seed) {
      const auto high = static_cast<float>(magnitude);
      return tenon::cast<T>(tenon::uniform<float>(tenon::rank<3>(sizes.batches, rows, columns), seed, -high, high));
    };
    query = random(sizes.queries, sizes.features, 1), key = random(sizes.keys, sizes.features, 2);
    value = random(sizes.keys, sizes.columns, 3);
    bias = tenon::uniform<float>(tenon::rank<3>(sizes.batches, sizes.queries, sizes.keys), 4, -2.0f, 2.0f);
  }

  /// The result in row-major order.
  std::vector<double> expected(bool adds_bias) const {
    std::vector<double> result, exponents(static_cast<std::size_t>(extents.keys));
    const double scale = options.scale == 0 ? 1 / std::sqrt(static_cast<double>(extents.features))
                                            : static_cast<double>(options.scale);
    for (tenon::index b = 0; b < extents.batches; ++b) {
      for (tenon::index i = 0; i < extents.queries; ++i) {
        for (tenon::index k = 0; k < extents.keys; ++k) {
          double score = 0;
          for (tenon::index e = 0; e < extents.features; ++e) {
            score += static_cast<double>(query(b, i, e)) * static_cast<double>(key(b, k, e));
          }
          score *= scale;
          if (options.softcap != 0) score = options.softcap * std::tanh(score / options.softcap);
          if (adds_bias) score += static_cast<double>(bias(b, i, k));
          if (options.is_causal && k > i + options.first_query) score = -std::numeric_limits<double>::infinity();
          exponents[static_cast<std::size_t>(k)] = score;
        }
        add_row(result, exponents, b);
      }
    }
    return result;
  }

 private:
  void add_row(std::vector<double>& result, const std::vector<double>& exponents, tenon::index batch) const {
    double greatest = -std::numeric_limits<double>::infinity(), sum = 0;
    for (const double each : exponents) greatest = std::max(greatest, each);
    for (const double each : exponents) sum += std::isinf(greatest) ? 0 : std::exp(each - greatest);
    for (tenon::index column = 0; column < extents.columns; ++column) {
      double total = 0;
      for (std::size_t k = 0; k < exponents.size() && sum > 0; ++k) {
        const double weight = std::exp(exponents[k] - greatest) / sum;
        if (weight != 0) total += weight * static_cast<double>(value(batch, static_cast<tenon::index>(k), column));
      }
      result.push_back(total);
    }
  }
};

/// Empty where no number is further away than `tolerance`.
inline std::string attention_difference(const std::vector<double>& actual, const std::vector<double>& expected,
                                        double tolerance) {
  if (actual.size() != expected.size()) return "another number of results";
  for (std::size_t i = 0; i < actual.size(); ++i) {
    if (!(std::fabs(actual[i] - expected[i]) <= tolerance * (1 + std::fabs(expected[i])))) {
      return tenon::compose_text("at ", i, ": ", actual[i], ", expected ", expected[i]);
    }
  }
  return "";
}

}  // namespace tenon_test
