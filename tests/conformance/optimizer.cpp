// tests/conformance/optimizer.cpp: steps of optimizers.
// The case says how many steps there were and what they left, as a checkpoint would.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/adagrad.hpp>

#include "conformance/operations.hpp"

namespace conformance {

namespace {

/// One parameter without a layer.
template <class Space>
struct single_parameter {
  tn::nn::parameter<float, extents_type, Space> only;

  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    visitor("x", only);
  }
};

/// R, T, X, G, H: rate, steps before, parameter, gradient, sum of squares.
template <class Space>
array_list adagrad(const call& from) {
  const auto rate = static_cast<double>(*from.input(0).elements<float>());
  single_parameter<Space> net{{tensor_of<float, Space>(from.input(2)), tensor_of<float, Space>(from.input(3))}};
  tn::train::adagrad<Space> optimizer({.lr = rate,
                                       .lr_decay = from.attributes.number("decay_factor", 0),
                                       .weight_decay = from.attributes.number("norm_coefficient", 0),
                                       .eps = from.attributes.number("epsilon", 0)});
  const auto set = [&]<class Value>(const std::string&, Value& value) {
    if constexpr (tn::is_number_of_state<Value>) value = *from.input(1).elements<std::int64_t>();
    else value.copy_from(tensor_of<float, tn::host>(from.input(4)));
  };
  optimizer.visit_state(net, set);
  optimizer.step(net);
  array_list results{array_of(net.only.value, from.input(2).rank())};
  optimizer.visit_state(net, [&]<class Value>(const std::string&, Value& value) {
    if constexpr (!tn::is_number_of_state<Value>) {
      results.push_back(array_of(value.template to<tn::host>(), from.input(4).rank()));
    }
  });
  return results;
}

}  // namespace

void add_optimizer(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) { table["Adagrad"] = adagrad<Space>; });
}

}  // namespace conformance
