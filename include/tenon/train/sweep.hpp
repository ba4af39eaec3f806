// tenon/train/sweep.hpp: one pass over every element of every parameter, in one launch.
// A rule says what happens to an element; a block of threads does a chunk, on the host a thread several.
// Floor 8: may include base, core, device, expr, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <tenon/device/launch.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/device/workspace.hpp>
#include <tenon/expr/packet.hpp>
#include <tenon/train/check_option.hpp>
#include <tenon/train/parameter_table.hpp>

namespace tenon::train {

inline constexpr int max_groups = 64;  ///< of options in one launch: its arguments hold them

/// What rules say of themselves, and what most of them say. A rule has the members
///   begin(step)                       what hangs on the number of the step, which starts at 1
///   operator()(value, gradient, state[, sums])   an element or several lanes; changes value, state and sums
/// and with sums `settle(sums)`, the number that they come to; `take(total)` is given that of an earlier sweep.
struct sweep_rule {
  static constexpr const char* name = "optimizer";
  static constexpr int states = 0;              // numbers that are kept for each element
  static constexpr int sum_count = 0;           // numbers that are added up over elements
  static constexpr bool sums_each = false;      // over those of each parameter, not over all
  static constexpr bool reads_gradient = true;  // whether parameters without gradient are left alone
  static constexpr bool writes_value = true;    // whether it changes parameters
  static constexpr bool writes_state = true;    // whether it changes what is kept
  static constexpr bool is_step = true;         // whether steps are counted by it

  TENON_HOST_DEVICE bool uses(int) const { return true; }
  double initial(int) const { return 0; }  // what is kept begins there
};

namespace detail {

/// The norm of all gradients.
template <dtype T>
struct norm_rule : sweep_rule {
  static constexpr const char* name = "gradient_norm";
  static constexpr int sum_count = 1;
  static constexpr bool writes_value = false, is_step = false;

  TENON_HOST_DEVICE static T settle(const T* sums) { return simd::sqrt(*sums); }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V&, V gradient, V*, V* sum) const {
    *sum = *sum + gradient * gradient;
  }
};

/// Whether any gradient is not finite: 1 then, else 0.
template <dtype T>
struct found_inf_rule : sweep_rule {
  static constexpr const char* name = "found_inf";
  static constexpr int sum_count = 1;
  static constexpr bool writes_value = false, is_step = false;

  TENON_HOST_DEVICE static T settle(const T* sums) { return *sums == 0 ? T{0} : T{1}; }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V&, V gradient, V*, V* sum) const {
    *sum = *sum + (gradient - gradient);  // NaN of what is not finite
  }
};

}  // namespace detail

/// Gradients of a scaled loss, in the memory of their device: what it was multiplied by, and whether a gradient is not
/// finite: not 0 then. Null where losses are not scaled.
template <dtype T>
struct scaled_gradients {
  const T* scale = nullptr;
  T* found_inf = nullptr;
};

namespace detail {

/// What an optimizer does with the network that it was made with.
template <class Optimizer, dtype T>
struct own_network {
  std::function<void(Optimizer&, const scaled_gradients<T>&)> step;
  std::function<void(bool)> clear;
  std::function<void(Optimizer&)> collect;
  const void* network = nullptr;
  std::optional<std::weak_ptr<const char>> life{};  ///< of the network
  bool is_cleared = false;  ///< gradients were: from then on, parameters that no backward pass reached stay

  /// throws    error for a loss that a backward pass has begun from: another one would add its gradients once more
  template <class Loss>
  static void must_not_have_led_back(const Loss& loss) {
    if constexpr (requires { loss.owner.step->has_led_back(); }) {
      if (!loss.owner.step->has_led_back()) return;
      throw error(
          "step: the function has called backward of the loss that it returns, which would count its gradients twice; "
          "leave zero_grad, backward and step to optimizer.step");
    }
  }
  /// throws    error where there is no network
  void must_be_there() const {
    if (!step) throw error("optimizer: this step needs a network: make it with one, optimizer(net, options)?");
    must_live();
  }
  /// throws    error where the network is no longer where it was
  void must_live() const {
    if (!life || !life->expired()) return;
    throw error(
        "optimizer: its network was destroyed or moved (a std::vector that grows moves what it holds); make the "
        "optimizer where the network stays");
  }
};

}  // namespace detail

/// How a step clips gradients: first by value, then by the norm of the clipped ones. Gradients in memory stay as they
/// are.
/// source    torch.nn.utils.clip_grad_value_, clip_grad_norm_
struct gradient_clipping {
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  double clip_value = infinity;  // the greatest magnitude of an element
  double max_norm = infinity;    // of the gradients of all parameters together

  /// throws    error for bounds that are negative or NaN
  void check_bounds() const {
    if (clip_value != infinity) check_option("clipping", "clip_value", clip_value, 0);
    if (max_norm != infinity) check_option("clipping", "max_norm", max_norm, 0);
  }
};

/// How gradients are divided by the scale of their loss and clipped on their way into a rule.
template <dtype T>
struct gradient_clip {
  T value;        // their greatest magnitude
  T max_norm;     // of all of them together
  const T* norm;  // what that is; null where they are not scaled
  scaled_gradients<T> scaled{};
  T scale = 1, unscale = 1;

  TENON_HOST_DEVICE void begin() {
    if (norm != nullptr) scale = simd::at_most(max_norm / (*norm + static_cast<T>(1e-6)), T{1});
    if (scaled.scale != nullptr) unscale = 1 / *scaled.scale;
  }
  TENON_HOST_DEVICE bool skips() const { return scaled.found_inf != nullptr && *scaled.found_inf != 0; }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE V operator()(V gradient) const {
    const V low = simd::constant_like<V>(-value), high = simd::constant_like<V>(value);
    return simd::at_most(simd::at_least(gradient * unscale, low), high) * scale;
  }
};

/// A rule over all chunks, with the options of each group. Where a gradient of a scaled loss is not finite, rules that
/// change something do nothing.
template <class Rule, dtype T, dtype Weight = T>
struct sweep {
  static constexpr const char* name = Rule::name;
  static constexpr int min_blocks = 4;  // of a multiprocessor, so that enough reads are under way
  static constexpr int block = 256, states = Rule::states, places = states == 0 ? 1 : states;
  static constexpr int packet_elements = 16 / static_cast<int>(sizeof(T));
  static constexpr bool has_masters = !std::is_same_v<T, Weight>, changes = Rule::writes_value || states > 0;
  chunk_list<T, Weight> list;
  gradient_clip<T> clip;
  array<int, places> plane_of;  // where each state lies; -1 where no group uses it
  array<Rule, max_groups> rules;

  /// A chunk as a block of threads does it.
  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int number = device.block().x;
    work at = begin(number);
    device.sync();  // all have read the number of the step
    if (Rule::is_step && device.thread() == 0) list.steps[number] = at.step;
    array<T, max_chunk_sums> sums{};
    int done = 0;
    if (at.lies_in_packets()) {
      done = at.part.size / packet_elements * packet_elements;
      for (int i = device.thread() * packet_elements; i < done; i += device.block_size() * packet_elements) {
        at.template change_packet<packet_elements>(i, sums.begin());
      }
    }
    for (int i = done + device.thread(); i < at.part.size; i += device.block_size()) {
      at.template change_packet<1>(i, sums.begin());
    }
    if constexpr (Rule::sum_count > 0) finish(device, at.part, number, sums);
  }

  /// The same chunk as a thread of the host does it.
  void run_on_host(index number) const {
    constexpr int width = simd::width_for(static_cast<int>(sizeof(T)));
    work at = begin(static_cast<int>(number));
    if (Rule::is_step) list.steps[number] = at.step;
    simd::pack<T, width> lanes[max_chunk_sums] = {};
    T sums[max_chunk_sums] = {};
    index i = 0;
    for (; i + width <= at.part.size; i += width) at.template change_lanes<width>(i, lanes);
    for (; i < at.part.size; ++i) at.template change_lanes<1>(i, sums);
    for (int k = 0; k < Rule::sum_count; ++k) {
      T per_lane[width];
      simd::store<width>(per_lane, lanes[k]);
      for (int lane = 0; lane < width; ++lane) sums[k] += per_lane[lane];
      list.partial_sums[number * max_chunk_sums + k] = sums[k];
    }
  }
  /// What sums come to, once all chunks are done.
  void settle_on_host() const {
    index next = 0;
    for (index first = 0; first < list.count; first = next) {
      const parameter_chunk<T, Weight>& part = list.chunks[first];
      next = Rule::sums_each ? first + part.count : list.count;
      array<T, max_chunk_sums> sums{};
      for (int k = 0; k < Rule::sum_count; ++k) {
        double sum = 0;
        for (index i = first; i < next; ++i) sum += static_cast<double>(list.partial_sums[i * max_chunk_sums + k]);
        sums[k] = static_cast<T>(sum);
      }
      list.totals[Rule::sums_each ? part.parameter + 1 : 0] = Rule::settle(sums.begin());
    }
  }

 private:
  /// A chunk, and what is to be done there.
  struct work {
    parameter_chunk<T, Weight> part;
    Rule rule;
    gradient_clip<T> clip;
    int step;
    T* state[places];  // null where the group does not use it

    TENON_HOST_DEVICE bool lies_in_packets() const {
      return (reinterpret_cast<std::uintptr_t>(part.value) | reinterpret_cast<std::uintptr_t>(part.gradient) |
              reinterpret_cast<std::uintptr_t>(part.rounded)) %
                 16 ==
             0;
    }
    /// `Size` elements, in one access of each operand.
    template <int Size>
    TENON_HOST_DEVICE TENON_INLINE void change_packet(index i, T* sums) const {
      packet<T, Size> value = load_packet<Size>(part.value + i);
      if constexpr (has_masters) take_given(value, load_packet<Size>(part.rounded + i));
      const packet<Weight, Size> gradient = load_packet<Size>(part.gradient + i);
      packet<T, Size> kept[places] = {};
      for (int k = 0; k < states; ++k) {
        if (state[k] != nullptr) kept[k] = load_packet<Size>(state[k] + i);
      }
      TENON_UNROLLED
      for (int lane = 0; lane < Size; ++lane) {
        T own[places];
        for (int k = 0; k < states; ++k) own[k] = element_of(kept[k], lane);
        T changed = element_of(value, lane);
        change(changed, clip(static_cast<T>(element_of(gradient, lane))), own, sums);
        set_element(value, lane, changed);
        for (int k = 0; k < states; ++k) set_element(kept[k], lane, own[k]);
      }
      if constexpr (Rule::writes_value) store_packet<Size>(part.value + i, value);
      if constexpr (Rule::writes_value && has_masters) {
        packet<Weight, Size> rounded{};
        for (int lane = 0; lane < Size; ++lane)
          set_element(rounded, lane, static_cast<Weight>(element_of(value, lane)));
        store_packet<Size>(part.rounded + i, rounded);
      }
      for (int k = 0; k < states; ++k) {
        if (Rule::writes_state && state[k] != nullptr) store_packet<Size>(state[k] + i, kept[k]);
      }
    }
    /// `Width` elements as lanes of the host.
    template <int Width, class V>
    TENON_INLINE void change_lanes(index i, V* sums) const {
      V value = simd::load<T, Width>(part.value + i), kept[places] = {};
      for (int k = 0; k < states; ++k) {
        if (state[k] != nullptr) kept[k] = simd::load<T, Width>(state[k] + i);
      }
      if constexpr (has_masters) take_given<Width>(value, part.rounded + i);
      change(value, clip(simd::load<T, Width>(part.gradient + i)), kept, sums);
      if constexpr (Rule::writes_value) simd::store<Width>(part.value + i, value);
      if constexpr (Rule::writes_value && has_masters) simd::store<Width>(part.rounded + i, value);
      for (int k = 0; k < states; ++k) {
        if (Rule::writes_state && state[k] != nullptr) simd::store<Width>(state[k] + i, kept[k]);
      }
    }

   private:
    /// A parameter that is not its value as T, rounded, was given by somebody else since: the value becomes it.
    template <int Size>
    TENON_HOST_DEVICE TENON_INLINE static void take_given(packet<T, Size>& value, const packet<Weight, Size>& given) {
      TENON_UNROLLED
      for (int lane = 0; lane < Size; ++lane) {
        const T is = static_cast<T>(element_of(given, lane));
        const T was = static_cast<T>(static_cast<Weight>(element_of(value, lane)));
        if (is != was) set_element(value, lane, is);
      }
    }
    template <int Width, class V>
    TENON_INLINE static void take_given(V& value, const Weight* parameter) {
      Weight rounded[Width];
      simd::store<Width>(rounded, value);
      const V is = simd::load<T, Width>(parameter), was = simd::load<T, Width>(rounded);
      value = simd::select(is == was, value, is);
    }
    template <class V>
    TENON_HOST_DEVICE TENON_INLINE void change(V& value, V gradient, V* kept, [[maybe_unused]] V* sums) const {
      if constexpr (Rule::sum_count > 0) rule(value, gradient, kept, sums);
      else rule(value, gradient, kept);
    }
  };

  TENON_HOST_DEVICE work begin(int number) const {
    parameter_chunk<T, Weight> part = list.chunks[number];
    const bool is_skipped = changes && clip.skips();
    if (is_skipped) part.size = 0;
    work at{part, rules[part.group], clip, list.steps[number] + (Rule::is_step && !is_skipped ? 1 : 0), {}};
    if constexpr (requires { at.rule.begin(T{1}); }) at.rule.begin(static_cast<T>(at.step));
    if constexpr (requires { at.rule.take(T{1}); }) at.rule.take(list.totals[part.parameter + 1]);
    at.clip.begin();
    for (int k = 0; k < states; ++k) {
      at.state[k] = at.rule.uses(k) ? list.state + plane_of[k] * list.plane + part.state : nullptr;
    }
    return at;
  }
  /// The last block of those that share sums adds up what they left, in order of their numbers.
  template <class Device>
  TENON_HOST_DEVICE void finish(Device& device, const parameter_chunk<T, Weight>& part, int number,
                                array<T, max_chunk_sums> sums) const {
    add_up(device, sums);
    if (device.thread() == 0) {
      for (int k = 0; k < Rule::sum_count; ++k) list.partial_sums[number * max_chunk_sums + k] = sums[k];
    }
    const int first = Rule::sums_each ? part.first : 0, count = Rule::sums_each ? part.count : list.count;
    const int total = Rule::sums_each ? part.parameter + 1 : 0;
    if (!is_last_block(device, list.counters + total, count)) return;
    sums = {};
    for (int i = first + device.thread(); i < first + count; i += device.block_size()) {
      for (int k = 0; k < Rule::sum_count; ++k) sums[k] += list.partial_sums[i * max_chunk_sums + k];
    }
    add_up(device, sums);
    if (device.thread() == 0) list.totals[total] = Rule::settle(sums.begin());
  }
  struct sum_of {
    TENON_HOST_DEVICE T operator()(T left, T right) const { return left + right; }
  };
  template <class Device>
  TENON_HOST_DEVICE static void add_up(Device& device, array<T, max_chunk_sums>& sums) {
    for (int k = 0; k < Rule::sum_count; ++k) sums[k] = block_reduce(device, sums[k], sum_of{});
  }
};

/// Runs a sweep over all chunks.
/// cost      one launch; none where there are no elements
template <memory_space Space, class Rule, dtype T, dtype Weight>
void run_sweep(const sweep<Rule, T, Weight>& all) {
  constexpr index chunks_of_thread = 4;  // for fewer, a second thread costs more than it saves
  const chunk_list<T, Weight>& list = all.list;
  if (list.count == 0) return;
  if constexpr (!std::is_same_v<Space, host>) {
    launch<Space>({.grid = {list.count}, .block = sweep<Rule, T, Weight>::block, .shared_bytes = block_reduce_bytes},
                  all);
  } else {
    const counted_launch counted(Rule::name);
    parallel_for(list.count, chunks_of_thread, [&](index first, index last) {
      for (index i = first; i < last; ++i) all.run_on_host(i);
    });
    if constexpr (Rule::sum_count > 0) all.settle_on_host();
  }
}

}  // namespace tenon::train
