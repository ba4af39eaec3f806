// tenon/core/kept_text.hpp: a text that a checkpoint keeps, such as the name of an optimizer.
// It says what the other entries are of, so that a file of something else is refused.
// Floor 1: may include base, core.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <tenon/core/kept_number.hpp>
#include <tenon/core/tensor.hpp>

namespace tenon {

/// A text that a file must have as it is here, where it has it. Visitors of state are given it in place of a tensor of
/// its bytes, and use it alike.
/// example   visitor("name", kept);  // kept_text kept("adam");
class kept_text {
 public:
  explicit kept_text(std::string_view text) : text_(text) {}

  const std::string& text() const { return text_; }
  index size() const { return static_cast<index>(text_.size()); }
  rank<1> shape() const { return rank<1>(size()); }
  static constexpr bool is_needed() { return false; }
  template <memory_space Other>
  tensor<std::uint8_t, rank<1>, Other> to() const {
    tensor<std::uint8_t, rank<1>, Other> bytes(shape());
    Other::copy_from_host(bytes.data(), text_.data(), text_.size());
    return bytes;
  }
  /// throws    error when they are those of another text
  TENON_IF_CALLED void copy_from(const tensor<std::uint8_t, rank<1>, host>& bytes) const {
    const auto *const first = bytes.data(), *const last = first + bytes.size();
    if (std::equal(first, last, text_.begin(), text_.end())) return;
    throw error(compose_text("kept_text: ", std::string(first, last), ", expected ", text_));
  }

 private:
  std::string text_;
};

}  // namespace tenon
