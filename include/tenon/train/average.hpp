// tenon/train/average.hpp: the exponential moving average of a network's weights.
// It is a sweep like an optimizer's: the average takes the value's place, the parameter that of the gradient.
// Floor 8: may include base, core, device, expr, plan, evaluate, nn, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <tenon/train/optimizer.hpp>

namespace tenon::train {

struct average_options {
  double decay = 0.999;  // weight of the past
};

template <dtype T>
struct average_rule : sweep_rule {
  static constexpr const char* name = "average";
  T decay, rest;
  bool is_first;

  average_rule() = default;
  explicit average_rule(const average_options& options)
      : decay(static_cast<T>(options.decay)), rest(static_cast<T>(1 - options.decay)) {
    check_option("average", "decay", options.decay, 0);
    check_option("average", "1 - decay", 1 - options.decay, 0);
  }
  TENON_HOST_DEVICE void begin(T step) { is_first = step == 1; }
  template <class V>
  TENON_HOST_DEVICE TENON_INLINE void operator()(V& average, V parameter, V*) const {
    average = is_first ? parameter : average * decay + parameter * rest;
  }
};

/// The average of the parameters that `update` has seen: a = decay * a + (1 - decay) * p, at first p. Buffers are not
/// averaged; a network to be used has those of the trained one.
/// cost      one launch for all parameters; nothing is allocated after the first
/// source    torch.optim.swa_utils.get_ema_avg_fn; Polyak, Juditsky 1992
/// example   average.update(net); auto used = net; average.copy_to(used);
template <memory_space Space = host, dtype T = float>
class average {
 public:
  static constexpr const char* state_prefix = "average.";

  explicit average(const average_options& options = {}) : options_(options) { average_rule<T>{options}; }

  average_options& options() { return options_; }
  std::int64_t updates() const { return table_.steps(); }

  template <class Network>
  void update(Network& net) {
    prepare(net);
    if (table_.parameters().empty()) return;
    table_.note_use();
    constexpr T most = std::numeric_limits<T>::infinity();
    sweep<average_rule<T>, T> all{table_.chunks(), {most, most, nullptr}, {}, {}};
    all.rules[0] = average_rule<T>(options_);
    run_sweep<Space>(all);
  }
  /// Gives the average to the parameters of a network like those that were averaged.
  template <class Network>
  void copy_to(Network& net) {
    visit_values(net, [](const auto&, auto& parameter, const auto& average) { parameter.value = average.elements; });
  }
  /// Calls `visitor(name, values)` for the number of updates and for the average of every parameter.
  template <class Network, class Visitor>
  void visit_state(Network& net, Visitor&& visitor) {
    prepare(net);
    const std::int64_t before = table_.steps();
    std::int64_t updates = before;
    visitor(std::string("updates"), updates);
    if (updates != before) table_.set_steps(updates);
    visit_values(net, [&](const auto& name, auto&, auto& average) { visitor(std::string(name), average); });
  }

 private:
  template <class Network>
  void prepare(Network& net) {
    if (values_.size() == 0) {
      index count = 0;
      net.visit_parameters([&](const auto&, auto& parameter) { count += room_of(parameter); });
      values_ = zeros<T, Space>(rank<1>(count));
    }
    memory_.clear();
    index offset = 0;
    net.visit_parameters([&](const auto&, auto& parameter) {
      memory_.push_back({values_.data() + offset, parameter.value.data(), parameter.value.size(), 0});
      offset += room_of(parameter);
    });
    table_.take(memory_, 0);
  }
  /// Calls `body(name, parameter, average)` for each parameter.
  template <class Network, class Body>
  void visit_values(Network& net, Body&& body) {
    index offset = 0;
    net.visit_parameters([&](const auto& name, auto& parameter) {
      using shape_type = std::remove_cvref_t<decltype(parameter.value.shape())>;
      kept_values<T, shape_type, Space> average{{values_.data() + offset, parameter.value.shape()}};
      body(name, parameter, average);
      offset += room_of(parameter);
    });
  }
  /// Averages begin where packets do.
  template <class Parameter>
  static index room_of(const Parameter& parameter) {
    return (parameter.value.size() + 63) / 64 * 64;
  }

  average_options options_;
  tensor<T, rank<1>, Space> values_;
  std::vector<parameter_memory<T>> memory_;
  parameter_table<T, Space> table_;
};

}  // namespace tenon::train
