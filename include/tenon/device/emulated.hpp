// tenon/device/emulated.hpp: a device made of fibers on the host, for tests and for debugging kernels.
// It runs the very templates that nvcc compiles, and refuses what a GPU would leave undefined.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <tenon/device/emulated_grid.hpp>
#include <tenon/device/emulated_matrix.hpp>
#include <tenon/device/emulated_memory.hpp>
#include <tenon/device/fragment.hpp>
#include <tenon/device/hopper.hpp>
#include <tenon/device/launch.hpp>

namespace tenon {

/// The device object of emulated kernels.
/// throws    race_error, barrier_error, index_error where the kernel breaks a rule
class emulated_device {
 public:
  template <class T>
  using shared_array = tenon::shared_array<T>;
  template <class Role, int M, int N, int K, class T, class Layout = row_major>
  using fragment = emulated_fragment<Role, M, N, K, T, Layout>;
  template <class Element>
  TENON_HOST_DEVICE static constexpr bool has_matrix_unit() {
    return true;
  }
  template <class T>
  TENON_HOST_DEVICE static constexpr bool has_lane_products_of() {
    return has_lane_products<T>;
  }

  TENON_HOST_DEVICE explicit emulated_device(detail::emulated_thread& self) : self_(self) {}

  TENON_HOST_DEVICE int thread() const { return self_.user.thread; }
  TENON_HOST_DEVICE int reread_thread() const { return thread(); }
  TENON_HOST_DEVICE grid_position block() const { return self_.schedule->position; }
  TENON_HOST_DEVICE int block_size() const { return self_.schedule->shape.block; }
  TENON_HOST_DEVICE grid_extent grid_size() const { return self_.schedule->shape.grid; }
  TENON_HOST_DEVICE int lane() const { return thread() % warp_size; }
  TENON_HOST_DEVICE int warp() const { return thread() / warp_size; }

  /// Waits for every thread of the block and orders all their memory accesses.
  TENON_HOST_DEVICE void sync(source_position caller = {}) { self_.services->sync(self_, caller); }
  /// Waits for every thread of the grid and orders all their memory accesses.
  TENON_HOST_DEVICE void sync_grid(unsigned*, source_position caller = {}) { self_.services->sync_grid(self_, caller); }
  /// Waits for every lane of the warp and orders their memory accesses.
  TENON_HOST_DEVICE void sync_warp(source_position caller = {}) {
    self_.services->meet_warp(self_, {"sync_warp", true, nullptr}, caller);
  }

  /// The value that lane `from` (mod 32) passes. Orders no memory accesses.
  template <lane_value T>
  TENON_HOST_DEVICE T shuffle(T value, int from, source_position caller = {}) {
    return exchange(value, from & (warp_size - 1), {"shuffle", false, nullptr}, caller);
  }
  template <lane_value T>
  TENON_HOST_DEVICE T shuffle_xor(T value, int mask, source_position caller = {}) {
    return exchange(value, (lane() ^ mask) & (warp_size - 1), {"shuffle_xor", false, nullptr}, caller);
  }
  /// The value of the lane `delta` above; the last `delta` lanes receive their own.
  template <lane_value T>
  TENON_HOST_DEVICE T shuffle_down(T value, int delta, source_position caller = {}) {
    const int from = lane() + delta;
    return exchange(value, from < warp_size ? from : lane(), {"shuffle_down", false, nullptr}, caller);
  }
  /// Bit i says what lane i passes.
  TENON_HOST_DEVICE unsigned ballot(bool flag, source_position caller = {}) {
    const int phase = publish_to_warp(flag, {"ballot", false, nullptr}, caller);
    unsigned bits = 0;
    for (int i = 0; i < warp_size; ++i) bits |= static_cast<unsigned>(published_by<bool>(phase, i)) << i;
    return bits;
  }

  /// The next `count` elements of the block's shared memory; every thread must ask for the same ones in the same order.
  template <class T>
  TENON_HOST_DEVICE shared_array<T> shared(int count, source_position caller = {}) {
    const int offset = self_.shared_used;
    if (count < 0 || offset + shared_bytes_of<T>(count) > self_.schedule->shape.shared_bytes) {
      self_.services->refuse(self_, "shared: more than the launch's shared_bytes", caller);
    }
    self_.shared_used += shared_bytes_of<T>(count);
    return {self_.user, offset, count};
  }
  TENON_HOST_DEVICE int shared_used() const { return self_.shared_used; }
  /// Gives back what was taken since `shared_used()` was `used`.
  TENON_HOST_DEVICE void release_shared(int used) { self_.shared_used = used; }

  /// Starts to copy `Bytes` (4, 8 or 16) from `source` to `target[first]...`, or zeros when not `valid`.
  /// They arrive at the `wait_copies` that covers their group, and other threads see them after the next barrier.
  template <int Bytes, class T>
  TENON_HOST_DEVICE void copy_async(const shared_array<T>& target, index first, const T* source, bool valid,
                                    source_position caller = {}) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "tenon: asynchronous copies have 4, 8 or 16 bytes");
    static_assert(Bytes % sizeof(T) == 0, "tenon: an asynchronous copy has whole elements");
    reserve_copy(target, first, Bytes / static_cast<int>(sizeof(T)), caller);
    detail::pending_copy copy{target.offset_of(first), Bytes, caller, {}};
    if (valid && reinterpret_cast<std::uintptr_t>(source) % Bytes != 0) {
      self_.services->refuse(self_, "copy_async: the source is not aligned to the size of the copy", caller);
    }
    if (valid) __builtin_memcpy(copy.values, source, Bytes);
    self_.services->queue_copy(self_, copy);
  }
  /// Ends a group of copies.
  TENON_HOST_DEVICE void commit_copies() { self_.services->commit_copies(self_); }
  /// Waits until at most the `Groups` youngest groups of this thread are on their way.
  template <int Groups>
  TENON_HOST_DEVICE void wait_copies() {
    self_.services->wait_copies(self_, Groups);
  }

  /// Adds, and returns the value from before.
  template <class T>
  TENON_HOST_DEVICE T atomic_add(T* target, T value) {
    static_assert(sizeof(T) == 4 || sizeof(T) == 8, "tenon: atomic operations are on 4 or 8 bytes");
    T seen{}, wanted{};
    do {
      wanted = seen + value;
    } while (!self_.services->replace(target, &seen, &wanted, sizeof(T)));
    return seen;
  }
  /// Orders this thread's accesses to global memory; emulated atomics do so anyway.
  TENON_HOST_DEVICE void fence() {}

  template <class Fragment>
  TENON_HOST_DEVICE void fill(Fragment& held, typename Fragment::storage value) {
    for (auto& element : held.elements) element = value;
  }
  /// Loads a matrix from `from[first]...`, its rows (or columns) `leading` elements apart.
  template <class Fragment>
  TENON_HOST_DEVICE void load_fragment(Fragment& held, const shared_array<typename Fragment::storage>& from, int first,
                                       int leading, source_position caller = {}) {
    check_tile(from.offset_of(first), leading * static_cast<int>(sizeof(typename Fragment::storage)), caller);
    for (int slot = 0; slot < Fragment::count; ++slot) {
      const int at = first + detail::position_in_memory<Fragment>(element<Fragment>(slot), leading);
      const auto value = from.load(at, caller);
      held.elements[slot] = detail::rounded_operand<typename Fragment::element>(value);
    }
  }
  template <class Fragment>
  TENON_HOST_DEVICE void store_fragment(const shared_array<typename Fragment::storage>& to, int first,
                                        const Fragment& held, int leading, source_position caller = {}) {
    check_tile(to.offset_of(first), leading * static_cast<int>(sizeof(typename Fragment::storage)), caller);
    for (int slot = 0; slot < Fragment::count; ++slot) {
      to.store(first + detail::position_in_memory<Fragment>(element<Fragment>(slot), leading), held.elements[slot],
               caller);
    }
  }
  /// result += left * right
  template <class Result, class Left, class Right>
  TENON_HOST_DEVICE void multiply_add(Result& result, const Left& left, const Right& right,
                                      source_position caller = {}) {
    static_assert(product_is_legal<Result, Left, Right>, "tenon: these fragments are not multiplied with each other");
    using operands = detail::product_operands<Result, Left, Right>;
    constexpr auto complete = [](detail::emulated_warp& warp, int phase) {
      operands lanes[warp_size];
      for (int i = 0; i < warp_size; ++i) __builtin_memcpy(&lanes[i], warp.slots[phase][i], sizeof(operands));
      detail::multiply_lanes(lanes);
    };
    publish_to_warp(operands{&result, &left, &right, self_.schedule->scramble}, {"multiply_add", false, complete},
                    caller);
  }

  /// Four blocks of `from`: lane l names by `first` where line l % 8 of block l / 8 begins, at a multiple of 16 bytes.
  template <bool Transposed = false, class T>
  TENON_HOST_DEVICE lane_words<4> load_blocks(const shared_array<T>& from, int first, source_position caller = {}) {
    static_assert(block_load_is_legal<Transposed, T>, "tenon: blocks are transposed by elements of 16 bits");
    using line = array<T, block_line_bytes / static_cast<int>(sizeof(T))>;
    const line own = from.template load_vector<line::size()>(first, caller);
    const int phase = publish_to_warp(own, {"load_blocks", false, nullptr}, caller);
    lane_words<4> words;
    for (int block = 0; block < 4; ++block) {
      array<line, block_lines> lines;
      for (int i = 0; i < block_lines; ++i) lines[i] = published_by<line>(phase, block * block_lines + i);
      words[block] = detail::word_of_block<Transposed>(lines, lane());
    }
    return words;
  }
  /// Four of the eight bytes of `low` and `high`, the first one first: hexadecimal digits of `selector` say which.
  TENON_HOST_DEVICE std::uint32_t select_bytes(std::uint32_t low, std::uint32_t high, std::uint32_t selector) {
    const std::uint64_t bytes = static_cast<std::uint64_t>(high) << 32 | low;
    std::uint32_t result = 0;
    for (int i = 0; i < 4; ++i) {
      result |= static_cast<std::uint32_t>(bytes >> (selector >> 4 * i & 7u) * 8 & 0xffu) << 8 * i;
    }
    return result;
  }
  /// Two numbers as elements of 16 bits, the first in the lower half.
  template <class T>
  TENON_HOST_DEVICE std::uint32_t pack_pair(float first, float second) {
    const array<T, 2> pair{{static_cast<T>(first), static_cast<T>(second)}};
    std::uint32_t word = 0;
    __builtin_memcpy(&word, &pair, sizeof(word));
    return word;
  }
  /// Two to the power of a number, within 2^-22 of it; 0 below the normal range.
  TENON_HOST_DEVICE float power_of_two(float exponent) {
    const float power = __builtin_exp2f(exponent);
    return power < 0x1p-126f ? 0.0f : power;
  }
  /// Rounds elements to the precision that a unit multiplies; tf32 would be truncated otherwise.
  template <class T, int Count>
  TENON_HOST_DEVICE void round_words(lane_words<Count>& words) {
    for (std::uint32_t& word : words.values) word = detail::rounded_word<T>(word);
  }
  /// sums += left * right
  template <class T>
  TENON_HOST_DEVICE void multiply_blocks(lane_sums<T>& sums, const lane_words<4>& left, const lane_words<2>& right,
                                         source_position caller = {}) {
    static_assert(has_lane_products<T>, "tenon: lanes multiply matrices of half, bfloat16, tf32 and int8");
    using operands = detail::lane_product_operands<T>;
    constexpr auto complete = [](detail::emulated_warp& warp, int phase) {
      operands lanes[warp_size];
      for (int i = 0; i < warp_size; ++i) __builtin_memcpy(&lanes[i], warp.slots[phase][i], sizeof(operands));
      detail::multiply_lane_matrices(lanes);
    };
    publish_to_warp(operands{&sums, &left, &right}, {"multiply_blocks", false, complete}, caller);
  }

 private:
  template <class>
  friend class hopper_unit;  // its operations on this device

  /// A copy under way counts as a write from its start on.
  template <class T>
  TENON_HOST_DEVICE void reserve_copy(const shared_array<T>& target, index first, int count, source_position caller) {
    const detail::unobserved quiet;
    target.template access<true>(first, count, caller);
  }
  /// Publishes a value for the other lanes and waits for theirs; the phase says where.
  template <class T>
  TENON_HOST_DEVICE int publish_to_warp(const T& value, const detail::warp_request& request, source_position caller) {
    int phase = 0;
    {
      const detail::unobserved quiet;
      phase = self_.warp->phase;
      __builtin_memcpy(self_.warp->slots[phase][lane()], &value, sizeof(T));
    }
    self_.services->meet_warp(self_, request, caller);
    return phase;
  }
  template <class T>
  TENON_HOST_DEVICE T published_by(int phase, int from) const {
    const detail::unobserved quiet;
    T value;
    __builtin_memcpy(&value, self_.warp->slots[phase][from], sizeof(T));
    return value;
  }
  template <class T>
  TENON_HOST_DEVICE T exchange(T value, int from, const detail::warp_request& request, source_position caller) {
    return published_by<T>(publish_to_warp(value, request, caller), from);
  }
  template <class Fragment>
  TENON_HOST_DEVICE int element(int slot) const {
    return detail::scrambled_element(self_.schedule->scramble, Fragment::extent::size, lane(), slot);
  }
  TENON_HOST_DEVICE void check_tile(int offset, int leading_bytes, source_position caller) const {
    if (offset % shared_alignment != 0) self_.services->refuse(self_, "fragment: tile not aligned to 32 bytes", caller);
    if (leading_bytes % 16 != 0) self_.services->refuse(self_, "fragment: rows not whole 16 bytes apart", caller);
  }

  detail::emulated_thread& self_;
};

namespace detail {

/// The copies of the oldest group arrive.
inline void land_oldest_group(emulated_thread& self) {
  const unobserved quiet;
  const auto group = self.copies.begin() + self.copy_groups.front();
  for (auto copy = self.copies.begin(); copy != group; ++copy) {
    if (self.user.arena->records) record_access<true>({&self.user, copy->offset, copy->bytes, copy->caller});
    std::memcpy(self.user.arena->bytes + copy->offset, copy->values, static_cast<std::size_t>(copy->bytes));
  }
  self.copies.erase(self.copies.begin(), group);
  self.copy_groups.erase(self.copy_groups.begin());
}

template <class Word>
bool replace_word(void* target, void* seen, const void* wanted) {
  Word next;
  std::memcpy(&next, wanted, sizeof(next));
  return __atomic_compare_exchange_n(static_cast<Word*>(target), static_cast<Word*>(seen), next, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE);
}

inline const thread_services* host_thread_services() {
  static constexpr thread_services services{
      .sync = [](emulated_thread& self, source_position caller) { self.schedule->meet_block(self, caller); },
      .sync_grid = [](emulated_thread& self, source_position caller) { self.schedule->meet_grid(self, caller); },
      .meet_warp = [](emulated_thread& self, const warp_request& request,
                      source_position caller) { self.schedule->meet_warp(self, request, caller); },
      .queue_copy =
          [](emulated_thread& self, const pending_copy& copy) {
            self.copies.push_back(copy);
            ++self.uncommitted;
          },
      .commit_copies = [](emulated_thread& self) { self.copy_groups.push_back(std::exchange(self.uncommitted, 0)); },
      .wait_copies =
          [](emulated_thread& self, int groups_left) {
            while (static_cast<int>(self.copy_groups.size()) > groups_left) land_oldest_group(self);
          },
      .replace =
          [](void* target, void* seen, const void* wanted, std::size_t bytes) {
            return bytes == 4 ? replace_word<std::uint32_t>(target, seen, wanted)
                              : replace_word<std::uint64_t>(target, seen, wanted);
          },
      .refuse =
          [](const emulated_thread& self, const char* problem, source_position caller) {
            self.schedule->refuse(self, compose_text(problem, " (", at_text(caller), ")"));
          }};
  return &services;
}

template <class Kernel>
void run_emulated_thread(const void* kernel, emulated_thread& thread) {
  emulated_device device(thread);
  (*static_cast<const Kernel*>(kernel))(device);
}

inline void run_emulated(const launch_shape& shape, const any_kernel& kernel) {
  const auto run_thread = reinterpret_cast<void (*)(const void*, emulated_thread&)>(kernel.code);
  const emulated_body body{run_thread, kernel.object, kernel.facts.name};
  if (kernel.facts.is_cooperative) run_blocks_together(shape, body);
  else run_blocks_apart(shape, body);
}

/// A launch of a captured function, with a copy of the kernel's bytes.
class captured_launch {
 public:
  captured_launch(const launch_shape& shape, const any_kernel& kernel)
      : shape_(shape),
        kernel_(kernel),
        copy_((kernel.facts.bytes + sizeof(aligned_bytes) - 1) / sizeof(aligned_bytes)) {
    std::memcpy(copy_.data(), kernel.object, kernel.facts.bytes);
  }
  void operator()() const { run_emulated(shape_, {kernel_.facts, copy_.data(), kernel_.code}); }

 private:
  struct alignas(max_kernel_alignment) aligned_bytes {
    std::byte bytes[max_kernel_alignment];
  };

  launch_shape shape_;
  any_kernel kernel_;
  std::vector<aligned_bytes> copy_;
};

template <>
struct launcher<emulated> {
  template <class Kernel>
  static constexpr auto code = &run_emulated_thread<Kernel>;

  static void run(const launch_shape& shape, const any_kernel& kernel) {
    if (thread_recording() != nullptr) record_step(captured_launch(shape, kernel));
    else run_emulated(shape, kernel);
  }
  template <class Kernel>
  static int cooperative_blocks(int, int) {
    return current_emulation().resident_blocks;
  }
};

}  // namespace detail
}  // namespace tenon
