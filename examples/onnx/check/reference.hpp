// examples/onnx/check/reference.hpp: what the models of models.cpp compute, by plain loops in double.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>

#include "weights.hpp"

namespace reference {

using numbers = std::vector<double>;

inline numbers waves_of(int seed, std::size_t count) {
  const std::vector<float> all = waves(seed, static_cast<std::int64_t>(count));
  return numbers(all.begin(), all.end());
}
inline double sigmoid(double x) { return 1 / (1 + std::exp(-x)); }

/// One output of the convolution [3, 2, 3, 2] of an image [2, 7, 6], with padding 1, 0 in front; strides 2, 1.
inline double convolved(const double* image, std::size_t channel, int row, int column) {
  static const numbers weight = waves_of(1, 36), bias = waves_of(2, 3);
  double sum = bias[channel];
  for (int input = 0; input < 2; ++input) {
    for (int r = 0; r < 3; ++r) {
      for (int s = 0; s < 2; ++s) {
        const int y = 2 * row - 1 + r, x = column + s;
        if (y < 0 || y >= 7 || x >= 6) continue;
        sum += image[(input * 7 + y) * 6 + x] *
               weight[(channel * 2 + static_cast<std::size_t>(input)) * 6 + static_cast<std::size_t>(r * 2 + s)];
      }
    }
  }
  return sum;
}

/// Images [batch, 2, 7, 6] to [batch, 4].
inline numbers cnn(const numbers& x, std::size_t batch) {
  const numbers scale = waves_of(3, 3), shift = waves_of(4, 3), mean = waves_of(5, 3), deviation = waves_of(6, 3);
  const numbers weight = waves_of(7, 48), bias = waves_of(8, 4);
  numbers made;
  for (std::size_t image = 0; image < batch; ++image) {
    numbers pooled;
    for (std::size_t channel = 0; channel < 3; ++channel) {
      const double variance = static_cast<double>(static_cast<float>(deviation[channel] * deviation[channel]));
      for (int row = 0; row < 2; ++row) {
        for (int column = 0; column < 2; ++column) {
          double most = 0;
          for (int place = 0; place < 6; ++place) {
            const double sum = convolved(&x[image * 84], channel, 2 * row + place / 3, 3 * column + place % 3);
            const double normal = (sum - mean[channel]) / std::sqrt(variance + 1e-5);
            most = std::max(most, normal * scale[channel] + shift[channel]);
          }
          pooled.push_back(most);
        }
      }
    }
    for (std::size_t out = 0; out < 4; ++out) {
      double sum = bias[out];
      for (std::size_t i = 0; i < 12; ++i) sum += weight[out * 12 + i] * pooled[i];
      made.push_back(sum);
    }
  }
  return made;
}

/// One step of one direction of an LSTM of two units, with ONNX's gates i, o, f, c.
inline void lstm_step(std::size_t direction, const double* x, double* hidden, double* cell) {
  static const numbers input = waves_of(12, 32), state = waves_of(13, 32), bias = waves_of(14, 32);
  double gates[8];
  for (std::size_t gate = 0; gate < 8; ++gate) {
    gates[gate] = bias[direction * 16 + gate] + bias[direction * 16 + 8 + gate];
    for (std::size_t i = 0; i < 2; ++i) {
      const std::size_t at = (direction * 8 + gate) * 2 + i;
      gates[gate] += input[at] * x[i] + state[at] * hidden[i];
    }
  }
  for (std::size_t unit = 0; unit < 2; ++unit) {
    cell[unit] = sigmoid(gates[4 + unit]) * cell[unit] + sigmoid(gates[unit]) * std::tanh(gates[6 + unit]);
    hidden[unit] = sigmoid(gates[2 + unit]) * std::tanh(cell[unit]);
  }
}

/// Words [batch, 3] to [3, batch, 2].
inline numbers lstm(const std::vector<std::int64_t>& words, std::size_t batch) {
  const numbers table = waves_of(11, 10), head = waves_of(15, 8);
  numbers made(3 * batch * 2);
  for (std::size_t row = 0; row < batch; ++row) {
    double sequence[3][4];
    for (std::size_t direction = 0; direction < 2; ++direction) {
      double hidden[2] = {0, 0}, cell[2] = {0, 0};
      for (std::size_t step = 0; step < 3; ++step) {
        const std::size_t time = direction == 0 ? step : 2 - step;
        lstm_step(direction, &table[static_cast<std::size_t>(words[row * 3 + time]) * 2], hidden, cell);
        sequence[time][direction * 2] = hidden[0], sequence[time][direction * 2 + 1] = hidden[1];
      }
    }
    for (std::size_t time = 0; time < 3; ++time) {
      for (std::size_t out = 0; out < 2; ++out) {
        for (std::size_t i = 0; i < 4; ++i)
          made[(time * batch + row) * 2 + out] += sequence[time][i] * head[i * 2 + out];
      }
    }
  }
  return made;
}

/// A row of four numbers, made standard, times weight plus bias.
inline void norm_row(const double* x, double* made) {
  static const numbers weight = waves_of(21, 4), bias = waves_of(22, 4);
  const double mean = (x[0] + x[1] + x[2] + x[3]) / 4;
  double variance = 0;
  for (int i = 0; i < 4; ++i) variance += (x[i] - mean) * (x[i] - mean) / 4;
  for (std::size_t i = 0; i < 4; ++i) made[i] = (x[i] - mean) / std::sqrt(variance + 1e-5) * weight[i] + bias[i];
}

/// Two heads of causal attention on [batch, 3, 4], added to their input; scores are not scaled.
inline numbers attention(const numbers& x, std::size_t batch) {
  const numbers weight = waves_of(23, 48), bias = waves_of(24, 12);
  numbers made = x;
  for (std::size_t row = 0; row < batch; ++row) {
    double all[3][12];
    for (std::size_t time = 0; time < 3; ++time) {
      double normal[4];
      norm_row(&x[(row * 3 + time) * 4], normal);
      for (std::size_t out = 0; out < 12; ++out) {
        all[time][out] = bias[out];
        for (std::size_t i = 0; i < 4; ++i) all[time][out] += normal[i] * weight[i * 12 + out];
      }
    }
    for (std::size_t head = 0; head < 2; ++head) {
      for (std::size_t time = 0; time < 3; ++time) {
        double shares[3], total = 0;
        for (std::size_t other = 0; other <= time; ++other) {
          double score = 0;
          for (std::size_t i = 2 * head; i < 2 * head + 2; ++i) score += all[time][i] * all[other][4 + i];
          total += shares[other] = std::exp(score);
        }
        for (std::size_t i = 2 * head; i < 2 * head + 2; ++i) {
          for (std::size_t other = 0; other <= time; ++other) {
            made[(row * 3 + time) * 4 + i] += shares[other] / total * all[other][8 + i];
          }
        }
      }
    }
  }
  return made;
}

/// Of [batch, 4] and [batch, 4]: seven numbers without their mean, and that mean behind them.
inline numbers shapes(const numbers& x, const numbers& z, std::size_t batch) {
  const numbers scale = waves_of(31, 4);
  numbers rows, means;
  for (std::size_t row = 0; row < batch; ++row) {
    double joined[7], mean = 0;
    for (std::size_t i = 0; i < 7; ++i) {
      joined[i] = i < 3 ? x[row * 4 + i + 1] * scale[i + 1] : z[row * 4 + i - 3];
      mean += joined[i] / 7;
    }
    for (const double each : joined) rows.push_back(each - mean);
    means.push_back(mean);
  }
  rows.insert(rows.end(), means.begin(), means.end());
  return rows;
}

}  // namespace reference
