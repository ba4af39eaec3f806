// tenon/nn/ctc_paths.hpp: all paths of labels through time that tell one target, summed step by step.
// A path may stay in a label, go on to the next, and rest on blanks between; a block of threads walks a sample's.
// Floor 7: may include base, core, device, expr, plan, kernels, algorithms, nn.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <numeric>
#include <tenon/algorithms/lines.hpp>
#include <tenon/algorithms/numbered.hpp>
#include <tenon/expr/operations/exponential.hpp>
#include <tenon/kernels/positions.hpp>
#include <vector>

namespace tenon::nn::detail {

/// What sums of paths are kept in: double on the host, where the walk is one thread's, as scans are.
template <class T, class Space>
using path_sum = std::conditional_t<std::is_same_v<Space, host>, double, compute_type<T>>;

template <class State>
TENON_HOST_DEVICE State no_path() {
  return -static_cast<State>(__builtin_huge_val());
}

/// log(exp(a) + exp(b) + exp(c)); a NaN stays one.
template <class State>
TENON_HOST_DEVICE State log_sum(State a, State b, State c) {
  State greatest = a < b ? b : a;
  if (greatest < c) greatest = c;
  if (greatest == no_path<State>()) return a + b + c;
  const State sum = exp_op::value(a - greatest) + exp_op::value(b - greatest) + exp_op::value(c - greatest);
  return greatest + log_op::value(sum);
}

/// One sample: its targets' labels are the odd states of a path, blanks the even ones.
struct ctc_sample {
  const index* labels;
  const index* order;  // of the labels' places: equal labels behind each other
  index label_count, times, blank;

  TENON_HOST_DEVICE int states() const { return static_cast<int>(2 * label_count + 1); }
  TENON_HOST_DEVICE index label(int state) const { return state % 2 == 0 ? blank : labels[state / 2]; }
  /// Whether a path may go from one state to the next but one: a label other than that, without a blank.
  TENON_HOST_DEVICE bool skips(int from, int to) const {
    return from % 2 != 0 && from >= 0 && from < states() && labels[from / 2] != labels[to / 2];
  }
};

/// The targets of a batch, all labels behind each other, as a table that a kernel can read.
struct ctc_targets {
  const index* table;
  index total;  // labels of all samples
  index blank;

  static constexpr int facts = 3;  // of a sample: its first label, labels and times
  TENON_HOST_DEVICE ctc_sample sample(index number) const {
    const index* own = table + 2 * total + facts * number;
    return {table + own[0], table + total + own[0], own[1], own[2], blank};
  }
};

/// Such a table from labels behind each other, and from how many labels and times each sample has.
TENON_IF_CALLED storage<index, host> ctc_table(const std::vector<index>& labels, const std::vector<index>& counts,
                                               const std::vector<index>& times) {
  const auto total = static_cast<index>(labels.size()), samples = static_cast<index>(counts.size());
  storage<index, host> table(2 * total + ctc_targets::facts * samples);
  std::copy(labels.begin(), labels.end(), table.data());
  index* order = table.data() + total;
  index* fact = order + total;
  for (std::size_t sample = 0; sample < counts.size(); ++sample) {
    const index first = order - table.data() - total;
    index* const last = order + counts[sample];
    std::iota(order, last, index{0});
    std::sort(order, last, [own = table.data() + first](index left, index right) {
      return own[left] < own[right] || (own[left] == own[right] && left < right);
    });
    order = last;
    for (const index each : {first, counts[sample], times[sample]}) *fact++ = each;
  }
  return table;
}

/// Writes the loss of each sample and, where `HasGradient`, that with respect to the logarithms of probabilities, taken
/// as those of a softmax: probability minus share of the paths. A block for each sample; row follows row in time.
/// source    Graves, Fernandez, Gomez, Schmidhuber 2006: Connectionist temporal classification
template <class T, class State, bool HasGradient>
struct ctc_kernel {
  static constexpr const char* name = "ctc_loss";
  ctc_targets targets;
  numbered_elements<const T, 3> log_probs;  // [times, samples, classes]
  int most_states;                          // of a sample
  bool zero_infinity;
  index averaged;  // samples that a mean is over; 0: there is none
  T* losses;
  State* paths;  // of a gradient: [samples, times, most_states], their sums on the way
  T* gradient;   // as the logarithms, row-major

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    walk_sample(device, device.block().x);
  }
  /// All of one sample's work, by the threads of a block.
  template <class Device>
  TENON_HOST_DEVICE void walk_sample(Device& device, index number) const {
    const ctc_sample sample = targets.sample(number);
    const auto rows = device.template shared<State>(2 * most_states);
    walk<1>(device, sample, number, rows);
    const State loss = -total(sample, rows);
    const bool is_lost = loss == -no_path<State>();
    const State counted = (is_lost && zero_infinity ? State(0) : loss) * share_of(sample);
    if (device.thread() == 0) losses[number] = rounded(counted);
    if constexpr (HasGradient) {
      device.sync();
      walk<-1>(device, sample, number, rows);
      fill_gradient(device, sample, number, is_lost);
      device.sync();
      if (!is_lost) add_labels(device, sample, number, loss);
    }
  }

 private:
  TENON_HOST_DEVICE index all_times() const { return log_probs.extents[0]; }
  TENON_HOST_DEVICE index classes() const { return log_probs.extents[2]; }
  TENON_HOST_DEVICE static T rounded(State value) { return static_cast<T>(static_cast<compute_type<T>>(value)); }
  /// How a sample counts in the result: means are of losses divided by the number of labels.
  TENON_HOST_DEVICE State share_of(const ctc_sample& sample) const {
    const index labels = sample.label_count == 0 ? 1 : sample.label_count;
    return averaged == 0 ? State(1) : 1 / static_cast<State>(labels * averaged);
  }
  TENON_HOST_DEVICE State log_prob(index time, index number, index label) const {
    const auto& strides = log_probs.strides;
    const T value = log_probs.data[time * strides[0] + number * strides[1] + label * strides[2]];
    return static_cast<State>(static_cast<compute_type<T>>(value));
  }
  TENON_HOST_DEVICE State* paths_at(index number, index time) const {
    return paths + (number * all_times() + time) * most_states;
  }

  /// Leaves the sums of the paths up to each state of the last time that it comes to, of two rows in turn. The way
  /// there they are kept; on the way back (`Direction` -1) what comes behind is added.
  template <int Direction, class Device, class Rows>
  TENON_HOST_DEVICE void walk(Device& device, const ctc_sample& sample, index number, const Rows& rows) const {
    const int states = sample.states();
    for (index step = 0; step < sample.times; ++step) {
      const index time = Direction > 0 ? step : sample.times - 1 - step;
      const int row = step % 2 == 0 ? 0 : most_states;
      for (int state = device.thread(); state < states; state += device.block_size()) {
        const State coming =
            step == 0 ? start<Direction>(states, state) : reaching<Direction>(sample, rows, most_states - row, state);
        const State here = coming + log_prob(time, number, sample.label(state));
        rows.store(row + state, here);
        if constexpr (HasGradient) {
          State& kept = paths_at(number, time)[state];
          kept = Direction > 0 ? here : kept + coming;
        }
      }
      device.sync();
    }
  }
  /// Paths begin, and end, on the outermost blank or the label beside it.
  template <int Direction>
  TENON_HOST_DEVICE State start(int states, int state) const {
    return (Direction > 0 ? state : states - 1 - state) < 2 ? State(0) : no_path<State>();
  }
  template <int Direction, class Rows>
  TENON_HOST_DEVICE State reaching(const ctc_sample& sample, const Rows& rows, int row, int state) const {
    const int next = state - Direction, second = state - 2 * Direction;
    return log_sum(rows.load(row + state),
                   next >= 0 && next < sample.states() ? rows.load(row + next) : no_path<State>(),
                   sample.skips(second, state) ? rows.load(row + second) : no_path<State>());
  }
  /// All paths, from where the last row has left them.
  template <class Rows>
  TENON_HOST_DEVICE State total(const ctc_sample& sample, const Rows& rows) const {
    const int states = sample.states(), row = sample.times % 2 == 0 ? most_states : 0;
    if (sample.times == 0) return states == 1 ? State(0) : no_path<State>();
    return log_sum(rows.load(row + states - 1), states > 1 ? rows.load(row + states - 2) : no_path<State>(),
                   no_path<State>());
  }

  TENON_HOST_DEVICE T& gradient_at(index time, index number, index label) const {
    return gradient[(time * log_probs.extents[1] + number) * classes() + label];
  }
  /// The probabilities; nothing behind the sample's end. Where no path exists, nothing is known.
  template <class Device>
  TENON_HOST_DEVICE void fill_gradient(Device& device, const ctc_sample& sample, index number, bool is_lost) const {
    const State unknown = zero_infinity ? State(0) : no_path<State>() - no_path<State>();
    for (index item = device.thread(); item < all_times() * classes(); item += device.block_size()) {
      const index time = item / classes(), label = item % classes();
      State value = 0;
      if (time < sample.times) {
        value = is_lost ? unknown : share_of(sample) * exp_op::value(log_prob(time, number, label));
      }
      gradient_at(time, number, label) = rounded(value);
    }
  }
  /// The same less the share of the paths, for the blank and each label of the targets; a thread adds all states of
  /// one label at one time.
  template <class Device>
  TENON_HOST_DEVICE void add_labels(Device& device, const ctc_sample& sample, index number, State loss) const {
    const index count = sample.label_count, items = sample.times * (count + 1);
    for (index item = device.thread(); item < items; item += device.block_size()) {
      const index time = item / (count + 1), place = item % (count + 1) - 1;
      const State* sums = paths_at(number, time);
      State share = 0;
      index label = sample.blank;
      if (place < 0) {
        for (int state = 0; state < sample.states(); state += 2) share += exp_op::value(sums[state] + loss);
      } else {
        const index* order = sample.order;
        label = sample.labels[order[place]];
        if (place > 0 && sample.labels[order[place - 1]] == label) continue;  // another thread's
        for (index same = place; same < count && sample.labels[order[same]] == label; ++same) {
          share += exp_op::value(sums[2 * order[same] + 1] + loss);
        }
      }
      const State value = share_of(sample) * (exp_op::value(log_prob(time, number, label)) - share);
      gradient_at(time, number, label) = rounded(value);
    }
  }
};

/// A block of one thread, for the host.
template <class State>
struct lone_thread {
  State* memory;

  TENON_HOST_DEVICE static int thread() { return 0; }
  TENON_HOST_DEVICE static int block_size() { return 1; }
  TENON_HOST_DEVICE static void sync() {}
  template <class>
  TENON_HOST_DEVICE lone_thread shared(int) const {
    return *this;
  }
  TENON_HOST_DEVICE State load(int i) const { return memory[i]; }
  TENON_HOST_DEVICE void store(int i, State value) const { memory[i] = value; }
};

/// Runs the kernel for `samples` samples: on the host, shared among threads.
/// throws    shape_error for targets whose rows do not fit into a device's shared memory
template <class Space, class T, class State, bool HasGradient>
void run_ctc(const ctc_kernel<T, State, HasGradient>& kernel, index samples) {
  if constexpr (std::is_same_v<Space, host>) {
    const counted_launch counted(kernel.name);
    const index grain = 1 + line_grain / (1 + kernel.log_probs.extents[0] * kernel.most_states);
    parallel_for(samples, grain, [&](index first, index last) {
      std::vector<State> rows(static_cast<std::size_t>(2 * kernel.most_states));
      lone_thread<State> thread{rows.data()};
      for (index number = first; number < last; ++number) kernel.walk_sample(thread, number);
    });
  } else {
    const int bytes_of_state = 2 * static_cast<int>(sizeof(State));
    const int most = (max_shared_bytes / bytes_of_state - 1) / 2;  // labels
    if (kernel.most_states > 2 * most + 1) {
      throw shape_error(compose_text("ctc_loss: targets: ", (kernel.most_states - 1) / 2,
                                     " labels of a sample, expected at most ", most, " on a device"));
    }
    launch<Space>(launch_shape{.grid = {static_cast<int>(samples)},
                               .block = kernel_block,
                               .shared_bytes = shared_bytes_of<State>(2 * kernel.most_states)},
                  kernel);
  }
}

}  // namespace tenon::nn::detail
