// tenon/data/weighted_sampler.hpp: examples drawn by weight: rare classes as often as common ones.
// With replacement by the sums of weights, without by a key for each example.
// Floor 6: may include base, core, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cmath>
#include <tenon/data/sampler.hpp>

namespace tenon::data {

/// `draws` examples, each drawn with a probability in proportion to its weight; weights need not sum to 1.
/// throws    error for a weight that is negative or not finite, for weights without a positive one, and without
///           replacement when fewer weights are positive than examples are drawn
/// source    torch.utils.data.WeightedRandomSampler; without replacement Efraimidis, Spirakis 2006 (Weighted random
///           sampling with a reservoir)
class weighted_sampler {
 public:
  static constexpr const char* name = "weighted_sampler";

  TENON_IF_CALLED weighted_sampler(std::vector<double> weights, index draws, bool replacement = true)
      : weights_(std::move(weights)), sums_(weights_.size()), draws_(draws), replacement_(replacement) {
    check_weights();
    std::partial_sum(weights_.begin(), weights_.end(), sums_.begin());
  }
  index size() const { return draws_; }
  TENON_IF_CALLED std::vector<index> order(std::uint64_t seed, index epoch) const {
    return replacement_ ? with_replacement(seed, epoch) : without_replacement(seed, epoch);
  }

 private:
  TENON_IF_CALLED void check_weights() const {
    index positive = 0;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (!(weights_[i] >= 0) || std::isinf(weights_[i])) {
        throw error(compose_text("weighted_sampler: weight ", i, ": ", weights_[i], ", expected finite, at least 0"));
      }
      if (weights_[i] > 0) ++positive;
    }
    const index needed = replacement_ ? (draws_ > 0 ? 1 : 0) : draws_;
    if (draws_ < 0 || positive < needed) {
      throw error(compose_text("weighted_sampler: ", draws_, " draws of ", positive, " positive weights",
                               replacement_ ? "" : " without replacement", ", expected at least 0 and ",
                               replacement_ ? "a positive weight" : "no more than these"));
    }
  }
  TENON_IF_CALLED std::vector<index> with_replacement(std::uint64_t seed, index epoch) const {
    std::vector<index> numbers(static_cast<std::size_t>(draws_));
    const auto end = last_positive();
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      const double drawn = random_draws(seed, {static_cast<index>(i), epoch}).uniform() * sums_.back();
      numbers[i] = std::upper_bound(sums_.begin(), end, drawn) - sums_.begin();
    }
    return numbers;
  }
  /// The numbers of the greatest keys log(uniform) / weight, greatest first.
  TENON_IF_CALLED std::vector<index> without_replacement(std::uint64_t seed, index epoch) const {
    std::vector<std::pair<double, index>> keys;
    for (std::size_t i = 0; i < weights_.size(); ++i) {
      if (weights_[i] == 0) continue;
      const double drawn = 1 - random_draws(seed, {static_cast<index>(i), epoch}).uniform();
      keys.emplace_back(-std::log(drawn) / weights_[i], static_cast<index>(i));
    }
    std::sort(keys.begin(), keys.end());
    std::vector<index> numbers(static_cast<std::size_t>(draws_));
    for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = keys[i].second;
    return numbers;
  }
  /// The sum at the last positive weight, where a search ends whatever rounding did.
  TENON_IF_CALLED std::vector<double>::const_iterator last_positive() const {
    auto last = weights_.size();
    while (last > 1 && weights_[last - 1] == 0) --last;
    return sums_.begin() + static_cast<std::ptrdiff_t>(last == 0 ? 0 : last - 1);
  }

  std::vector<double> weights_, sums_;
  index draws_;
  bool replacement_;
};

}  // namespace tenon::data
