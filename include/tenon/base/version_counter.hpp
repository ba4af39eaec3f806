// tenon/base/version_counter.hpp: what readers of an object watch: how often it was changed, and whether it is gone.
// It belongs to the place of its owner: a copy counts anew, and what is assigned to counts on.
// Floor 0: may include base.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>

namespace tenon {

/// Counts the changes of its owner, whose member it is. An assignment to the owner is one of them.
/// example   const auto life = weight.version.life(); ... if (life.expired()) return;  // weight is gone
class version_counter {
 public:
  version_counter() = default;
  version_counter(const version_counter&) noexcept {}
  version_counter& operator=(const version_counter&) noexcept {
    ++changes_;
    return *this;
  }
  ~version_counter() = default;

  const std::uint32_t& changes() const { return changes_; }
  void add_change() { ++changes_; }
  /// Expires when the owner is destroyed. The first call writes to the counter, so it is one thread's.
  std::weak_ptr<const char> life() {
    if (life_ == nullptr) life_ = std::make_shared<const char>();
    return life_;
  }

 private:
  std::shared_ptr<const char> life_;
  std::uint32_t changes_ = 0;
};

}  // namespace tenon
