// tests/conformance/dropout.cpp: elements left out at random.
// Outside training nothing is left out; the mask tells what stays.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>

#include "conformance/operations.hpp"

namespace conformance {

namespace {

template <class Space>
array_list dropout(const call& from) {
  const auto x = tensor_of<float, Space>(from.input(0));
  const bool is_training = from.has(2) && *from.input(2).elements<bool>();
  const float told = from.has(1) ? *from.input(1).elements<float>() : 0.5f, ratio = is_training ? told : 0.0f;
  const auto seed = static_cast<std::uint64_t>(from.attributes.integer("seed", 1));
  const tensor<bool, Space> stays = tn::uniform<float>(x.shape(), seed) >= ratio;
  const tensor<float, Space> result = tn::where(stays, x / (1.0f - ratio), 0.0f);
  return {array_of(result, from.input(0).rank()), array_of(stays, from.input(0).rank())};
}

}  // namespace

void add_dropout(device_tables& devices) {
  on_each_device(devices, []<class Space>(operation_table& table) { table["Dropout"] = dropout<Space>; });
}

}  // namespace conformance
