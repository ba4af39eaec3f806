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
    const double scale =
        options.scale == 0 ? 1 / std::sqrt(static_cast<double>(extents.features)) : static_cast<double>(options.scale);
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

/// Gradients of queries, keys and values in row-major order.
struct attention_gradients {
  std::vector<double> query, key, value;
};

/// By definition: all weights of a batch, those that `factor(batch, query, key)` multiplies, and their gradients.
template <class T, class Gradient, class Factor>
attention_gradients defined_gradients(const attention_problem<T>& problem, const Gradient& gradient, bool adds_bias,
                                      const Factor& factor) {
  using tenon::index;
  const auto& [batches, queries, keys, features, columns] = problem.extents;
  const auto& options = problem.options;
  const auto at = [](index row, index count, index column) { return static_cast<std::size_t>(row * count + column); };
  const double scale = options.scale == 0 ? 1 / std::sqrt(static_cast<double>(features)) : options.scale;
  attention_gradients result;
  result.query.resize(at(batches * queries, features, 0)), result.key.resize(at(batches * keys, features, 0));
  result.value.resize(at(batches * keys, columns, 0));
  for (index b = 0; b < batches; ++b) {
    for (index i = 0; i < queries; ++i) {
      std::vector<double> weight(static_cast<std::size_t>(keys)), slope(weight), of_weight(weight);
      double sum = 0, product = 0;
      for (index k = 0; k < keys; ++k) {
        const std::size_t own = static_cast<std::size_t>(k);
        double score = 0;
        for (index e = 0; e < features; ++e) {
          score += static_cast<double>(problem.query(b, i, e)) * static_cast<double>(problem.key(b, k, e));
        }
        score *= scale, slope[own] = scale;
        if (options.softcap != 0) {
          const double share = std::tanh(score / options.softcap);
          score = options.softcap * share, slope[own] *= 1 - share * share;
        }
        if (adds_bias) score += static_cast<double>(problem.bias(b, i, k));
        if (!options.is_causal || k <= i + options.first_query) weight[own] = std::exp(score);
        sum += weight[own];
        for (index v = 0; v < columns; ++v) {
          of_weight[own] +=
              factor(b, i, k) * static_cast<double>(gradient(b, i, v)) * static_cast<double>(problem.value(b, k, v));
        }
        product += weight[own] * of_weight[own];
      }
      for (index k = 0; k < keys && sum > 0; ++k) {
        const std::size_t own = static_cast<std::size_t>(k);
        const double share = weight[own] / sum, of_score = share * slope[own] * (of_weight[own] - product / sum);
        for (index e = 0; e < features; ++e) {
          result.query[at(b * queries + i, features, e)] += of_score * static_cast<double>(problem.key(b, k, e));
          result.key[at(b * keys + k, features, e)] += of_score * static_cast<double>(problem.query(b, i, e));
        }
        for (index v = 0; v < columns; ++v) {
          result.value[at(b * keys + k, columns, v)] +=
              share * factor(b, i, k) * static_cast<double>(gradient(b, i, v));
        }
      }
    }
  }
  return result;
}

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

/// How far attention in `Space` is from the definition: without anything beside the scores, and with a bias.
template <class Space, class T>
std::string attention_value_error(const attention_extents& extents, const tenon::attention_options& options,
                                  double tolerance) {
  const attention_problem<T> problem(extents, options);
  const auto query = problem.query.template to<Space>(), key = problem.key.template to<Space>(),
             value = problem.value.template to<Space>();
  const auto bias = problem.bias.template to<Space>();
  const auto plain = tenon::scaled_dot_product_attention(query, key, value, options);
  const auto biased = tenon::scaled_dot_product_attention(query, key, value, bias, options);
  return attention_difference(numbers_of(plain), problem.expected(false), tolerance) +
         attention_difference(numbers_of(biased), problem.expected(true), tolerance);
}

/// How far the gradients of attention in `Space` are from the definition: without anything beside the scores, and with
/// both a bias and factors that leave out weights.
template <class Space, class T>
std::string attention_gradient_error(const attention_extents& extents, const tenon::attention_options& options,
                                     double tolerance) {
  const attention_problem<T> problem(extents, options);
  using cube = tenon::tensor<T, tenon::rank<3>, Space>;
  const tenon::tensor<T, tenon::rank<3>> gradient(tenon::cast<T>(
      tenon::uniform<float>(tenon::rank<3>(extents.batches, extents.queries, extents.columns), 5, -1.0f, 1.0f)));
  const cube query = problem.query.template to<Space>(), key = problem.key.template to<Space>(),
             value = problem.value.template to<Space>(), of_result = gradient.template to<Space>();
  const auto bias = problem.bias.template to<Space>();
  const auto compare = [&](const auto& node, const attention_gradients& expected) {
    cube of_query(query.shape()), of_key(key.shape()), of_value(value.shape());
    tenon::write_attention_gradients(node, tenon::as_node(of_result), of_query.write_view(), of_key.write_view(),
                                     of_value.write_view());
    return attention_difference(numbers_of(of_query), expected.query, tolerance) +
           attention_difference(numbers_of(of_key), expected.key, tolerance) +
           attention_difference(numbers_of(of_value), expected.value, tolerance);
  };
  const tenon::attention_dropout dropout{.p = 0.5, .seed = 7};
  const tenon::tensor<bool, tenon::rank<3>> kept(
      tenon::bernoulli<bool>(problem.bias.shape(), dropout.seed, 1 - dropout.p));
  return compare(tenon::scaled_dot_product_attention(query, key, value, options),
                 defined_gradients(problem, gradient, false, [](auto...) { return 1.0; })) +
         compare(tenon::scaled_dot_product_attention(query, key, value, bias, options, dropout),
                 defined_gradients(problem, gradient, true,
                                   [&](auto b, auto i, auto k) { return kept(b, i, k) ? 1 / (1 - dropout.p) : 0.0; }));
}

}  // namespace tenon_test
