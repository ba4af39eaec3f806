// tenon/train/nan_watch.hpp: finds the first statement that makes a NaN or an infinity.
// It observes the statements of its thread, looks at what each has written, and throws out of the guilty one.
// Floor 8: may include base, core, device, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string_view>
#include <tenon/core/layout.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/plan/describe.hpp>
#include <vector>

namespace tenon::train {

/// A statement wrote a number that is not finite.
struct not_finite_error : error {
  using error::error;
};

/// What a nan_watch looks for; masks of attention are infinite on purpose.
enum class watched_values { nan, nan_and_infinity };

namespace detail {

/// How numbers of a floating type lie in memory: from the lowest bit on the mantissa, the exponent and the sign.
struct float_layout {
  std::string_view dtype;
  int bytes, mantissa_bits, exponent_bits, parts;  // numbers in an element
};
inline constexpr float_layout float_layouts[] = {{"float32", 4, 23, 8, 1},   {"float64", 8, 52, 11, 1},
                                                 {"float16", 2, 10, 5, 1},   {"bfloat16", 2, 7, 8, 1},
                                                 {"complex64", 4, 23, 8, 2}, {"complex128", 8, 52, 11, 2}};

enum class number_class { finite, infinity, nan };

inline number_class class_of(const std::byte* number, const float_layout& layout) {
  std::uint64_t bits = 0;
  std::memcpy(&bits, number, static_cast<std::size_t>(layout.bytes));
  const std::uint64_t one = 1, mantissa = bits & ((one << layout.mantissa_bits) - 1);
  const std::uint64_t all_ones = (one << layout.exponent_bits) - 1;
  if ((bits >> layout.mantissa_bits & all_ones) != all_ones) return number_class::finite;
  return mantissa == 0 ? number_class::infinity : number_class::nan;
}

/// Calls `body(position, number)` for every element of a block on the host. `first` is the address of the first.
template <class Body>
void for_each_element(const any_block& block, const std::byte* first, const Body& body) {
  std::vector<index> position(static_cast<std::size_t>(block.extents.rank));
  while (true) {
    index offset = 0;
    for (int axis = 0; axis < block.extents.rank; ++axis) {
      offset += position[static_cast<std::size_t>(axis)] * block.strides[axis];
    }
    body(position, first + offset * block.size);
    int axis = block.extents.rank - 1;
    for (; axis >= 0 && ++position[static_cast<std::size_t>(axis)] == block.extents[axis]; --axis) {
      position[static_cast<std::size_t>(axis)] = 0;
    }
    if (axis < 0) return;
  }
}

}  // namespace detail

/// While it lives, a statement of the calling thread throws when it writes a NaN, or an infinity where these are
/// watched. The text names operations, extents, position and number of such elements. Statements are `=`, `evaluate`
/// and evaluated_tensor. Results of other kernels (recurrent layers, optimizers, algorithms) are seen by the first
/// statement that passes them on. Not for functions that a graph captures.
/// throws    not_finite_error, out of the statement
/// cost      each statement waits for its device and every element is copied and read; nothing where no watch lives
/// example   const train::nan_watch watch; train_one_step();
class nan_watch final : private launch_observer {
 public:
  explicit nan_watch(watched_values watched = watched_values::nan_and_infinity) : watched_(watched), scope_(this) {}

 private:
  void statement(const statement_facts& facts) override {
    if (scope_.outer() != nullptr) scope_.outer()->statement(facts);
  }
  bool begin(const launch_facts& facts) override {
    runs_ = scope_.outer() == nullptr || scope_.outer()->begin(facts);
    return runs_;
  }
  void end() noexcept override {
    if (scope_.outer() != nullptr) scope_.outer()->end();
  }
  void wrote(const statement_result& result) override {
    if (scope_.outer() != nullptr) scope_.outer()->wrote(result);
    for (const auto& layout : detail::float_layouts) {
      if (runs_ && layout.dtype == result.dtype) check_result(result, layout);
    }
  }

  void check_result(const statement_result& result, const detail::float_layout& layout) const {
    const address_range range = addresses(*result.elements);
    if (range.begin == range.end) return;
    std::vector<std::byte> copy(range.end - range.begin);
    result.copy_to_host(copy.data(), reinterpret_cast<const void*>(range.begin), copy.size());
    index found = 0;
    std::vector<index> where;
    auto what = detail::number_class::finite;
    const std::byte* const first = copy.data() + (result.elements->start - range.begin);
    detail::for_each_element(*result.elements, first, [&](const std::vector<index>& position, const std::byte* number) {
      for (int part = 0; part < layout.parts; ++part) {
        const auto seen = detail::class_of(number + part * layout.bytes, layout);
        if (!is_watched(seen)) continue;
        if (++found == 1) where = position, what = seen;
      }
    });
    if (found != 0) report(result, where, what, found);
  }
  bool is_watched(detail::number_class seen) const {
    return seen == detail::number_class::nan ||
           (seen == detail::number_class::infinity && watched_ == watched_values::nan_and_infinity);
  }
  [[noreturn]] static void report(const statement_result& result, const std::vector<index>& where,
                                  detail::number_class what, index found) {
    statement_text words;
    words.result(result.dtype, result.elements->extents.first, result.elements->extents.rank, 0);
    append_operation(words, *result.words);
    throw not_finite_error(compose_text("nan_watch: ", words.text(), ": ",
                                        what == detail::number_class::nan ? "NaN" : "an infinity", " at ", where,
                                        ", the first of ", found, " numbers that are not finite"));
  }

  watched_values watched_;
  observer_scope scope_;
  bool runs_ = true;
};

}  // namespace tenon::train
