// tenon/contraction/execute.hpp: who runs the statements that multiply: products, convolutions and attention.
// The evaluator knows them by the form of their stage; what is done on the host and on devices is included here alone.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/contraction/host.hpp>
#include <tenon/contraction/select.hpp>
#include <tenon/plan/access.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

template <class Space>
struct stage_executor<stage::contract, Space> {
  /// The statement `node` into elements at `target`.
  template <class Target, class E>
  static void run(const Target& target, const E& node) {
    if constexpr (std::is_same_v<Space, host>) run_contraction_host(target, node);
    else run_contraction_kernel<Space>(target, node);
  }
  /// The name of the algorithm that runs it on the host; null on devices, whose launches have names.
  template <class Target, class E>
  static const char* algorithm([[maybe_unused]] const Target& target, [[maybe_unused]] const E& node) {
    if constexpr (std::is_same_v<Space, host>) return host_algorithm_name(target, node);
    else return nullptr;
  }
  /// The statement by one of the algorithms that need nothing around them. Returns false, and has done nothing, where
  /// none takes it.
  template <class Destination, class E>
  TENON_INLINE static bool run_small([[maybe_unused]] const Destination& destination, [[maybe_unused]] const E& node) {
    if constexpr (!std::is_same_v<Space, host>) {
      return false;
    } else {
      using statement = host_statement<typename Destination::element, E>;
      return run_first(statement{detail::make_target(destination), node}, on_host::statements{}) != nullptr;
    }
  }
};

}  // namespace tenon
