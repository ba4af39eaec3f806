// tenon/plan/alive.hpp: whether what a statement reads is still there; for builds with TENON_CHECKED.
// Every leaf is looked up among the freed blocks, and the operation that would read it is named.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/dead_storage.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

/// Views are none of the operations that texts name: `reader` is the last one above `node`, or the statement.
/// throws    storage_error where elements that `node` reads were freed
template <class E>
void check_operands_alive(const E& node, const char* reader = "assign") {
  if constexpr (std::is_same_v<typename E::kind, leaf_kind>) {
    check_alive(reader, "operand", node.elements);
  } else {
    constexpr bool is_view = std::is_same_v<typename E::kind, index_map_kind>;
    for_each_index<decltype(E::operands)::count>(
        [&](auto i) { check_operands_alive(get<i.value>(node.operands), is_view ? reader : operation_name<E>); });
  }
}

}  // namespace tenon
