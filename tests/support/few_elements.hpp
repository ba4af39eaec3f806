// tests/support/few_elements.hpp: asks of an expression what plan/few_elements.hpp says of its type.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/few_elements.hpp>

namespace tenon_test {

template <class E>
constexpr bool stays_in_registers(const E&) {
  return tenon::stays_in_registers<E>;
}
template <class E>
constexpr bool runs_small(const E&) {
  return tenon::runs_small<E>;
}

}  // namespace tenon_test
