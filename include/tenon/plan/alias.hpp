// tenon/plan/alias.hpp: whether a statement may write while it reads.
// Reading the very element that is written next is harmless; any other overlap needs a temporary.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/layout.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

/// Calls `visitor(view, in_step)` for each leaf; `in_step` when it is read at the position that is written.
template <class E, class Visitor>
TENON_INLINE void visit_leaves(const E& node, bool in_step, bool rows, Visitor&& visitor) {
  using kind = typename E::kind;
  if constexpr (std::is_same_v<kind, leaf_kind>) {
    visitor(node.elements, in_step);
  } else {
    constexpr bool keeps_step = std::is_same_v<kind, pointwise_kind>;
    const bool below = in_step && (keeps_step || (rows && is_reduction<E>));
    apply_tuple([&](const auto&... operand)
                    __attribute__((always_inline)) { (visit_leaves(operand, below, rows, visitor), ...); },
                node.operands);
  }
}

template <class Target, class Source>
bool same_elements(const Target& target, const Source& source) {
  if constexpr (Target::rank != Source::rank || !std::is_same_v<typename Target::element, typename Source::element>) {
    return false;
  } else {
    return target.data() == source.data() && target.shape() == source.shape() && target.strides() == source.strides();
  }
}

}  // namespace detail

/// Whether evaluating `node` straight into `target` would overwrite elements before they are read.
template <class Target, class E>
TENON_INLINE bool overwrites_operands(const Target& target, const E& node) {
  const address_range written = addresses(target.data(), target.shape().to_array(), target.strides());
  bool found = false;
  detail::visit_leaves(
      node, true, stage_of<E>() == stage::rows, [&](const auto& source, bool in_step) __attribute__((always_inline)) {
        const bool overlaps = overlap(written, addresses(source.data(), source.shape().to_array(), source.strides()));
        if (overlaps && !(in_step && detail::same_elements(target, source))) found = true;
      });
  return found;
}

/// Whether `node` reads any element of `target`.
template <class Target, class E>
TENON_INLINE bool reads_elements_of(const Target& target, const E& node) {
  const address_range written = addresses(target.data(), target.shape().to_array(), target.strides());
  bool found = false;
  detail::visit_leaves(node, true, false, [&](const auto& source, bool) {
    found = found || overlap(written, addresses(source.data(), source.shape().to_array(), source.strides()));
  });
  return found;
}

}  // namespace tenon
