// tests/support/worn_network.hpp: networks as a training would leave them.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/expr/random.hpp>

#include <string>

namespace tenon_test {

/// Gives vectors of parameters, and statistics of norms, values of which none is 0 or 1.
template <class Network>
void wear_in(Network& net) {
  std::uint64_t seed = 50;
  net.visit_parameters([&](const std::string&, auto& parameter) {
    if (std::remove_cvref_t<decltype(parameter.value)>::rank == 1) {
      parameter.value = tenon::uniform<float>(parameter.value.shape(), ++seed, 0.5f, 1.5f);
    }
  });
  net.visit_buffers([&]<class Buffer>(const std::string&, Buffer& buffer) {
    if constexpr (tenon::tensor_operand<Buffer>) {
      buffer = tenon::uniform<float>(buffer.shape(), ++seed, 0.3f, 2.0f);
    }
  });
}

}  // namespace tenon_test
