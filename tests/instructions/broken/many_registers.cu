// tests/instructions/broken/many_registers.cu: more registers than were allowed.
// found: registers, expected at most 4
// registers: 4
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

void statement(tenon::tensor<float, tenon::rank<1>, tenon::cuda>& y,
               const tenon::tensor<float, tenon::rank<1>, tenon::cuda>& x) {
  y = x + 1;
}
