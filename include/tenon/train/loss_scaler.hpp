// tenon/train/loss_scaler.hpp: losses that are scaled, so that gradients of half do not vanish.
// The scale lies on the device and is read there: no step waits to know whether the one before it was skipped.
// Floor 8: may include base, core, expr, evaluate, train.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/operations/classification.hpp>
#include <tenon/expr/operations/comparison.hpp>
#include <tenon/expr/operations/logical.hpp>
#include <tenon/train/optimizer.hpp>

namespace tenon::train {

/// Options of a loss scaler, with the names and values of torch.amp.GradScaler.
struct loss_scaler_options {
  double init_scale = 65536;
  double growth_factor = 2;     // of the scale, after `growth_interval` steps with finite gradients
  double backoff_factor = 0.5;  // of the scale, after a step with others
  std::int64_t growth_interval = 2000;
};

/// Scales losses and steps of an optimizer: gradients are those of the loss times `scale()`, the optimizer divides them
/// again. A step in which one is not finite is skipped, parameters and state stay, and the scale falls; after enough
/// others in a row it grows, as long as it is finite. Each of T, the type that the optimizer computes in.
/// cost      two launches a step beside the optimizer's: are gradients finite, and the next scale. Nothing waits
/// source    torch.amp.GradScaler; Micikevicius and others 2018: Mixed precision training
/// example   train::loss_scaler<> scaler;
///           train::adam<host, float, half> optimizer;   // of a network of half
///           passes.backward(x, nn::cross_entropy_gradient(logits, labels) * scaler.scale());
///           scaler.step(optimizer, net);
template <memory_space Space = host, dtype T = float>
class loss_scaler {
 public:
  static constexpr const char* state_prefix = "scaler.";

  /// throws    error for options that make no sense
  explicit loss_scaler(const loss_scaler_options& options = {}) : options_(options) {
    constexpr double least_factor = 1e-6;
    check_option("loss_scaler", "init_scale", options.init_scale, least_factor);
    check_option("loss_scaler", "growth_factor", options.growth_factor, 1);
    check_option("loss_scaler", "backoff_factor", options.backoff_factor, least_factor, 1);
    check_option("loss_scaler", "growth_interval", static_cast<double>(options.growth_interval), 1);
    scale_ = constants(shape<>{}, static_cast<T>(options.init_scale));
    good_steps_ = constants(shape<>{}, std::int64_t{0});
    found_inf_ = constants(shape<>{}, T{0});
  }

  /// What the loss, or its gradient, is multiplied by: an expression without axes.
  auto scale() const { return as_node(scale_); }
  /// Not 0 where the last step was skipped: an expression without axes.
  auto found_inf() const { return as_node(found_inf_); }

  /// A step of an optimizer with the gradients of a scaled loss, then the next scale.
  template <class Optimizer, class Network>
  void step(Optimizer& optimizer, Network& net) {
    static_assert(detail::has_parameters_of<Network, Space> || must_hold<Network, Space>,
                  "tenon: a loss_scaler has the space of its network: loss_scaler<cuda>");
    optimizer.step(net, {scale_.data(), found_inf_.data()});
    update();
  }
  /// Calls `visitor(name, values)` for what a checkpoint keeps.
  template <class Network, class Visitor>
  void visit_state(Network&, Visitor&& visitor) {
    visitor(std::string("scale"), scale_);
    visitor(std::string("growth_tracker"), good_steps_);
  }

 private:
  void update() {
    const auto is_skipped = found_inf_ != 0;
    const auto is_due = good_steps_ + 1 >= options_.growth_interval;
    const auto grown = scale_ * static_cast<T>(options_.growth_factor);
    const auto next = where(is_due && isfinite(grown), grown, scale_);
    evaluate(assign(scale_, where(is_skipped, scale_ * static_cast<T>(options_.backoff_factor), next)),
             assign(good_steps_, where(is_skipped || is_due, 0, good_steps_ + 1)));
  }

  loss_scaler_options options_;
  tensor<T, shape<>, Space> scale_, found_inf_;
  tensor<std::int64_t, shape<>, Space> good_steps_;
};

}  // namespace tenon::train
