// tenon/device/divisor.hpp: division by numbers that the host knows before a kernel starts.
// Devices have no instruction for it; a product and a shift take a fifth of the time.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/base/array.hpp>

namespace tenon {

/// Dividends of a divisor lie below this.
inline constexpr index dividend_limit = index{1} << 31;

/// A number from 1 to 2^31 - 1 to divide by.
/// source    Granlund and Montgomery 1994, "Division by invariant integers using multiplication", figure 4.1
class divisor {
 public:
  divisor() = default;
  constexpr explicit divisor(index number) : number_(static_cast<std::uint32_t>(number)) {
    while ((std::uint64_t{1} << shift_) < number_) ++shift_;
    const std::uint64_t excess = (std::uint64_t{1} << shift_) - number_;
    factor_ = static_cast<std::uint32_t>((excess << 32) / number_ + 1);
  }
  TENON_HOST_DEVICE constexpr std::uint32_t number() const { return number_; }
  TENON_HOST_DEVICE constexpr std::uint32_t quotient(std::uint32_t dividend) const {
    const auto high = static_cast<std::uint32_t>(std::uint64_t{factor_} * dividend >> 32);
    return (high + dividend) >> shift_;
  }

 private:
  std::uint32_t number_ = 1, factor_ = 1, shift_ = 0;
};

}  // namespace tenon
