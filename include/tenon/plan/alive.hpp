// tenon/plan/alive.hpp: whether what a statement reads is still there; for builds with TENON_CHECKED.
// Every leaf is looked up among the freed blocks, and the operation that would read it is named.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/dead_storage.hpp>
#include <tenon/plan/reads.hpp>

namespace tenon {

namespace detail {
class alive_check final : public read_visitor {
  void visit(const element_read& read) override { check_alive(read.reader, "operand", read.elements); }
};
}  // namespace detail

/// Checks the memory of a statement's operands. `reader` names the statement itself in texts, where no operation reads.
/// throws    storage_error where elements that `node` reads were freed
inline void check_operands_alive(const any_node& node, const char* reader = "assign") {
  detail::alive_check check;
  node.visit_reads(check, reader);
}

}  // namespace tenon
