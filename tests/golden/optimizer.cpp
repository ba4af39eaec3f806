// tests/golden/optimizer.cpp: the steps of optimizers.
// Each case twice: fed with PyTorch's gradients, and in a training that makes its own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/activation.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/train/adagrad.hpp>
#include <tenon/train/rmsprop.hpp>

#include "golden/training.hpp"

namespace golden {

namespace {

namespace nn = tn::nn;

template <class Space>
struct small_net : nn::module<small_net<Space>> {
  nn::linear<6, 8, nn::linear_options{}, Space> fc1;
  nn::linear<8, 3, nn::linear_options{}, Space> fc2;

  auto forward(const auto& x) { return fc2(tn::tanh(fc1(x))); }
};

template <class Space>
auto make_small_net(const golden_case& given) {
  small_net<Space> net;
  net.initialise(0);
  set_parameters<Space>(net, [&](const std::string& name) { return given.parameters.at(name); });
  return net;
}

/// The parameters after each step with gradients that are given.
template <class Space, class Optimizer>
array_table step_by_gradients(const golden_case& given, Optimizer optimizer) {
  array_table after;
  auto net = make_small_net<Space>(given);
  for (index step = 0; step < given.inputs.at("input").extents[0]; ++step) {
    net.visit_parameters([&](const std::string& name, auto& parameter) {
      using tensor = std::remove_cvref_t<decltype(parameter.value)>;
      const array& told = given.gradients.at(name);
      parameter.gradient = tensor_of<float, Space, tensor::rank>(part_of(told, step));
    });
    optimizer.step(net);
    net.visit_parameters(
        [&](const std::string& name, auto& parameter) { stack(after[name], copied(parameter.value)); });
  }
  return after;
}

/// Calls `body(optimizer)` with that of the case.
/// throws    not_supported
template <class Space, class Body>
result with_optimizer(const golden_case& given, const Body& body) {
  const auto number = [&](const char* name) { return given.attributes.number(name, 0); };
  if (given.optimizer == "SGD") return body(tn::train::sgd<Space>(sgd_options_of(given)));
  if (given.optimizer == "Adam") return body(tn::train::adam<Space>(adam_options_of<tn::train::adam_options>(given)));
  if (given.optimizer == "AdamW") {
    return body(tn::train::adamw<Space>(adam_options_of<tn::train::adamw_options>(given)));
  }
  if (given.optimizer == "RMSprop") {
    return body(tn::train::rmsprop<Space>({.lr = number("lr"),
                                           .alpha = number("alpha"),
                                           .eps = number("eps"),
                                           .weight_decay = number("weight_decay"),
                                           .momentum = number("momentum"),
                                           .centered = given.attributes.flag("centered", false)}));
  }
  if (given.optimizer == "Adagrad") {
    return body(tn::train::adagrad<Space>({.lr = number("lr"),
                                           .lr_decay = number("lr_decay"),
                                           .weight_decay = number("weight_decay"),
                                           .initial_accumulator_value = number("initial_accumulator_value"),
                                           .eps = number("eps")}));
  }
  if (given.optimizer == "Adadelta") {
    return body(tn::train::adadelta<Space>(
        {.lr = number("lr"), .rho = number("rho"), .eps = number("eps"), .weight_decay = number("weight_decay")}));
  }
  throw not_supported("an optimizer " + given.optimizer);
}

template <class Space>
result train_small_net(const golden_case& given) {
  return with_optimizer<Space>(given, [&](auto optimizer) {
    result found;
    found.parameters_after = step_by_gradients<Space>(given, optimizer);
    auto net = make_small_net<Space>(given);
    train_network<2, Space>(given, net, optimizer, found, [&](index) {
      net.visit_parameters(
          [&](const std::string& name, auto& parameter) { stack(found.gradients[name], copied(parameter.gradient)); });
    });
    return found;
  });
}

}  // namespace

void add_optimizer(device_tables& devices) {
  on_each_device(devices, [&]<class Space>(layer_table& table) { table["SmallNet"] = train_small_net<Space>; });
}

}  // namespace golden
