// tenon/train/average.hpp: the exponential moving average of a network's weights.
// It is an optimizer that keeps a number for each element and moves nothing.
// Floor 8: may include base, core, device, expr, plan, evaluate, nn, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/train/optimizer.hpp>

namespace tenon::train {

template <dtype T>
struct average_rule;

/// Options of an average of weights: the share of the old average that each step keeps.
struct average_options {
  double decay = 0.999;  // weight of the past

  template <class T>
  using rule = average_rule<T>;
};

/// The average of one element: it moves towards the value by the share that `decay` leaves.
template <dtype T>
struct average_rule : sweep_rule {
  static constexpr const char* name = "average";
  static constexpr int states = 1;
  static constexpr bool reads_gradient = false, writes_value = false;
  T decay, rest;

  average_rule() = default;
  explicit average_rule(const average_options& options)
      : decay(static_cast<T>(options.decay)), rest(static_cast<T>(1 - options.decay)) {
    check_share("average", "decay", options.decay);
  }
  static const char* state_name(int) { return "average"; }

  TENON_HOST_DEVICE void begin(T step) {
    if (step == 1) decay = 0, rest = 1;
  }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& value, V, V* average) const {
    *average = *average * decay + value * rest;
  }
};

/// The average of the parameters that `update` has seen: a = decay * a + (1 - decay) * p, at first p. Buffers are not
/// averaged; a network to be used has those of the trained one. Of parameters of half or bfloat16, `Weight`, those
/// values are averaged, as T, that the optimizer keeps.
/// cost      one launch for all parameters; nothing is allocated after the first
/// source    torch.optim.swa_utils.get_ema_avg_fn; Polyak, Juditsky 1992
/// example   average.update(net); auto used = net; average.copy_to(used);
template <memory_space Space = host, dtype T = float, dtype Weight = T>
class average {
 public:
  static constexpr const char* state_prefix = "average.";

  explicit average(const average_options& options = {}) : kept_(options) {}

  average_options& options() { return kept_.options(); }
  std::int64_t updates() const { return kept_.steps(); }

  template <class Network>
  void update(Network& net) {
    static_assert(!averages_masters || must_hold<Weight, T>,
                  "tenon: of short floats the optimizer's own values are averaged: average.update(net, optimizer)");
    constexpr bool fits = detail::has_parameters_of<Network, Space, Weight>;
    static_assert(fits || must_hold<Network, Space, Weight>,
                  "tenon: an average has the space and elements of its network: average<host, double> of doubles");
    if constexpr (fits) kept_.step(net);
  }
  /// The same behind a step of the optimizer that moves `net`.
  /// throws    shape_error when it moves another network
  template <class Network, class Optimizer>
  void update(Network& net, Optimizer& optimizer) {
    if constexpr (averages_masters) kept_.follow(net, optimizer);
    else update(net);
  }
  /// Gives the average to the parameters of a network like those that were averaged.
  /// throws    error before the first update, shape_error for another network
  template <class Network>
  void copy_to(Network& net) {
    if (updates() == 0) throw error("average: copy_to: 0 updates, expected at least 1; call update(net) first");
    kept_.copy_state_to(net, 0);
  }
  /// Calls `visitor(name, values)` for the number of updates and for the average of every parameter.
  template <class Network, class Visitor>
  void visit_state(Network& net, Visitor&& visitor) {
    kept_.visit_state(net, visitor);
  }

 private:
  static constexpr bool averages_masters = !std::is_same_v<T, Weight>;

  optimizer<average_options, Space, T, Weight> kept_;
};

}  // namespace tenon::train
