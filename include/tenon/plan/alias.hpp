// tenon/plan/alias.hpp: whether a statement may write while it reads.
// Reading the very element that is written next is harmless; any other overlap needs a temporary.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/layout.hpp>
#include <tenon/plan/meet.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

/// Looks for the elements of a destination among the leaves of an expression.
template <class Target>
struct read_check {
  const Target& target;
  address_range written = addresses(target.data(), target.shape().to_array(), target.strides());
  bool reads = false;      ///< some leaf lies among the elements of the destination
  bool elsewhere = false;  ///< some is read at other positions than the one that is written

  /// `in_step` when the leaf is read at the position that is written.
  template <class Source>
  void visit(const Source& source, bool in_step) {
    if (!overlap(written, addresses(source.data(), source.shape().to_array(), source.strides()))) return;
    reads = true;
    if (!in_step || !is_target(source)) elsewhere = elsewhere || share_bytes(target, source);
  }

 private:
  /// Whether the source is the destination itself, which may have more axes of extent 1 in front.
  template <class Source>
  bool is_target(const Source& source) const {
    constexpr int missing = Target::rank - Source::rank;
    if constexpr (missing < 0 || !std::is_same_v<typename Target::element, typename Source::element>) {
      return false;
    } else {
      bool result = target.data() == source.data();
      for (int axis = 0; axis < missing; ++axis) result = result && target.extent(axis) == 1;
      for (int axis = 0; axis < Source::rank; ++axis) {
        result = result && target.extent(axis + missing) == source.extent(axis) &&
                 target.strides()[axis + missing] == source.strides()[axis];
      }
      return result;
    }
  }
};

namespace detail {

template <class E, class Check>
void check_reads(const E& node, Check& check, bool in_step, bool rows);

template <class... Operands, class Check, int... I>
void check_operands(const tuple<Operands...>& operands, Check& check, bool in_step, bool rows,
                    std::integer_sequence<int, I...>) {
  (check_reads(static_cast<const tuple_element<I, Operands>&>(operands).value, check, in_step, rows), ...);
}

template <class E, class Check>
void check_reads(const E& node, Check& check, bool in_step, bool rows) {
  using kind = typename E::kind;
  if constexpr (std::is_same_v<kind, leaf_kind>) {
    check.visit(node.elements, in_step);
  } else if constexpr (decltype(E::operands)::count != 0) {
    constexpr bool keeps_step = std::is_same_v<kind, pointwise_kind>;
    check_operands(node.operands, check, in_step && (keeps_step || (rows && is_reduction<E>)), rows,
                   std::make_integer_sequence<int, decltype(E::operands)::count>{});
  }
}

}  // namespace detail

/// What `node` reads of `target`.
template <class Target, class E>
read_check<Target> reads_of(const Target& target, const E& node) {
  read_check<Target> check{target};
  detail::check_reads(node, check, true, stage_of<E>() == stage::rows);
  return check;
}

/// Whether evaluating `node` straight into `target` would overwrite elements before they are read.
template <class Target, class E>
bool overwrites_operands(const Target& target, const E& node) {
  return reads_of(target, node).elsewhere;
}

}  // namespace tenon
