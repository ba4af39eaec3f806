// tenon/data/random_draws.hpp: the random numbers of one example.
// A pure function of seed, epoch and example, so neither workers nor resuming change what an example is made of.
// Floor 6: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/error.hpp>
#include <tenon/base/philox.hpp>

namespace tenon::data {

/// The number of an example and the epoch in which it is read: random draws differ from epoch to epoch.
struct example_id {
  index number = 0, epoch = 0;

  constexpr example_id() = default;
  constexpr example_id(index i, index of_epoch = 0) : number(i), epoch(of_epoch) {}
  constexpr operator index() const { return number; }
};

/// Random numbers for one example, drawn one after another: `uniform()`, `below(count)`, `chance(probability)`.
/// source    Salmon and others 2011 (base/philox.hpp); numbers below a bound by Lemire's multiplication, 2019
class random_draws {
 public:
  random_draws(std::uint64_t seed, example_id example)
      : key_{{static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)}},
        counter_{{static_cast<std::uint32_t>(example.number),
                  static_cast<std::uint32_t>(static_cast<std::uint64_t>(example.number) >> 32),
                  static_cast<std::uint32_t>(example.epoch), 0}} {}

  /// 64 bits.
  std::uint64_t bits() {
    const auto drawn = philox4x32(counter_, key_);
    ++counter_[3];
    return static_cast<std::uint64_t>(drawn[0]) << 32 | drawn[1];
  }
  /// Uniform in [0, 1), in steps of 2^-53.
  double uniform() { return static_cast<double>(bits() >> 11) * 0x1p-53; }
  /// Uniform in [low, high).
  double uniform(double low, double high) { return low + (high - low) * uniform(); }
  /// Uniform among 0, ..., count - 1.
  /// throws    index_error when count is below 1
  index below(index count) {
    if (count < 1) throw index_error(compose_text("random_draws: below: ", count, ", expected at least 1"));
    __extension__ using wide = unsigned __int128;
    return static_cast<index>(wide{bits()} * static_cast<std::uint64_t>(count) >> 64);
  }
  /// True with this probability.
  bool chance(double probability) { return uniform() < probability; }

 private:
  array<std::uint32_t, 2> key_;
  array<std::uint32_t, 4> counter_;
};

}  // namespace tenon::data
