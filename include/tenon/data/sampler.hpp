// tenon/data/sampler.hpp: the order in which examples are seen.
// An order is a pure function of size, seed and epoch, so any run can be repeated and any epoch resumed.
// Floor 6: may include base, core, data.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <concepts>
#include <numeric>
#include <tenon/data/random_draws.hpp>
#include <utility>
#include <vector>

namespace tenon::data {

/// 0, 1, ..., count - 1.
inline std::vector<index> sequential_order(index count) {
  std::vector<index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), index{0});
  return order;
}

/// A permutation of 0, ..., count - 1, each as likely as any other.
/// source    Durstenfeld 1964 (Fisher-Yates); numbers below a bound by Lemire's multiplication, 2019
inline std::vector<index> shuffled_order(index count, std::uint64_t seed, std::uint64_t epoch) {
  auto order = sequential_order(count);
  const array<std::uint32_t, 2> key{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}};
  for (index left = count - 1; left > 0; --left) {
    const auto place = static_cast<std::uint64_t>(left);
    const auto bits = philox4x32({{static_cast<std::uint32_t>(place), static_cast<std::uint32_t>(place >> 32),
                                   static_cast<std::uint32_t>(epoch), static_cast<std::uint32_t>(epoch >> 32)}},
                                 key);
    const std::uint64_t word = static_cast<std::uint64_t>(bits[0]) << 32 | bits[1];
    __extension__ using wide = unsigned __int128;
    const auto other = static_cast<std::size_t>(wide{word} * (place + 1) >> 64);
    std::swap(order[static_cast<std::size_t>(left)], order[other]);
  }
  return order;
}

/// What a loader asks of a sampler: how many examples an epoch has, and their numbers in the order of an epoch, a
/// function of seed and epoch. A `name` of it stands in checkpoints, so that they are not read in another order.
template <class Sampler>
concept sampler = requires(const Sampler& each, std::uint64_t seed, index epoch) {
  { each.size() } -> std::convertible_to<index>;
  { each.order(seed, epoch) } -> std::same_as<std::vector<index>>;
};

namespace detail {

/// throws    index_error where a number of a sampler makes no sense
inline index checked_count(const char* what, index count, index least = 0) {
  if (count >= least) return count;
  throw index_error(compose_text(what, ": ", count, ", expected at least ", least));
}

}  // namespace detail

/// Every example once, in order.
struct sequential_sampler {
  static constexpr const char* name = "sequential_sampler";
  index count = 0;

  index size() const { return detail::checked_count("sequential_sampler: count", count); }
  std::vector<index> order(std::uint64_t, index) const { return sequential_order(size()); }
};

/// Every example once, in an order drawn for each epoch.
struct random_sampler {
  static constexpr const char* name = "random_sampler";
  index count = 0;

  index size() const { return detail::checked_count("random_sampler: count", count); }
  std::vector<index> order(std::uint64_t seed, index epoch) const {
    return shuffled_order(size(), seed, static_cast<std::uint64_t>(epoch));
  }
};

/// `draws` examples, each drawn from all `count` with replacement, whatever was drawn before.
/// throws    index_error when there are none
struct replacement_sampler {
  static constexpr const char* name = "replacement_sampler";
  index count = 0, draws = 0;

  index size() const {
    detail::checked_count("replacement_sampler: count", count, draws > 0 ? 1 : 0);
    return detail::checked_count("replacement_sampler: draws", draws);
  }
  std::vector<index> order(std::uint64_t seed, index epoch) const {
    std::vector<index> numbers(static_cast<std::size_t>(size()));
    for (std::size_t i = 0; i < numbers.size(); ++i) {
      numbers[i] = random_draws(seed, {static_cast<index>(i), epoch}).below(count);
    }
    return numbers;
  }
};

/// The share of the examples that a process reads: number `rank` of `ranks`.
struct shard {
  index rank = 0, ranks = 1;
  bool drop_uneven = false;  ///< drops examples that do not fill all ranks; else the first ones are read twice
};

/// Every `ranks`-th example of a sampler, so that batches of all ranks are together the batches of one process, `ranks`
/// times as large. All ranks see equally many.
/// throws    shape_error when there is no such rank
/// source    torch.utils.data.DistributedSampler
template <sampler Whole>
class sharded_sampler {
 public:
  static constexpr const char* name = "sharded_sampler";

  sharded_sampler(Whole whole, const shard& part) : whole_(std::move(whole)), part_(part) {
    if (part.ranks < 1 || part.rank < 0 || part.rank >= part.ranks) {
      throw shape_error(compose_text("sharded_sampler: rank ", part.rank, " of ", part.ranks,
                                     ", expected at least 0 and below the ranks"));
    }
  }
  index size() const { return (whole_.size() + (part_.drop_uneven ? 0 : part_.ranks - 1)) / part_.ranks; }
  std::vector<index> order(std::uint64_t seed, index epoch) const {
    const auto all = whole_.order(seed, epoch);
    std::vector<index> own(static_cast<std::size_t>(size()));
    for (std::size_t i = 0; i < own.size(); ++i) {
      const std::size_t place = i * static_cast<std::size_t>(part_.ranks) + static_cast<std::size_t>(part_.rank);
      own[i] = all[place % all.size()];
    }
    return own;
  }

 private:
  Whole whole_;
  shard part_;
};

}  // namespace tenon::data
