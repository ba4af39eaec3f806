// tenon/plan/alias.hpp: whether a statement may write while it reads.
// Reading the very element that is written next is harmless; any other overlap needs a temporary.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/plan/meet.hpp>
#include <tenon/plan/reads.hpp>

namespace tenon {

/// What a statement reads of its destination.
struct found_reads {
  bool any = false;        ///< some source lies among the elements of the destination
  bool elsewhere = false;  ///< some is read at other positions than the one that is written
};

/// Looks for the elements of a destination, which must outlive it, among those that a statement reads.
class read_check final : public read_visitor {
 public:
  explicit read_check(const any_block& target) : read_visitor(addresses(target)), target_(target) {}

  const found_reads& found() const { return found_; }

 private:
  void visit(const element_read& read) override {
    found_.any = true;
    if (read.in_step && is_target(read.elements)) return;
    found_.elsewhere = found_.elsewhere || share_bytes(target_, read.elements);
  }
  /// Whether the source is the destination itself, which may have more axes of extent 1 in front.
  bool is_target(const any_block& source) const {
    const int rank = source.extents.rank, missing = target_.extents.rank - rank;
    bool result = missing >= 0 && target_.start == source.start && target_.type == source.type;
    for (int axis = 0; result && axis < missing; ++axis) result = target_.extents[axis] == 1;
    for (int axis = 0; result && axis < rank; ++axis) {
      result = target_.extents[axis + missing] == source.extents[axis] &&
               target_.strides[axis + missing] == source.strides[axis];
    }
    return result;
  }

  any_block target_;
  found_reads found_;
};

/// What `node` reads of `target`.
[[gnu::noinline]] inline found_reads reads_of(const any_block& target, const any_node& node) {
  read_check reads(target);
  node.visit_reads(reads);
  return reads.found();
}

/// Refuses destinations of one statement that have elements in common: what these hold would depend on its form.
/// throws    storage_error
[[gnu::noinline]] inline void check_apart(const any_block* destinations, int count) {
  for (int later = 1; later < count; ++later) {
    for (int earlier = 0; earlier < later; ++earlier) {
      if (!share_bytes(destinations[earlier], destinations[later])) continue;
      throw storage_error(compose_text("evaluate: outputs ", earlier, " and ", later, ", of extents ",
                                       destinations[earlier].extents, " and ", destinations[later].extents,
                                       ", have elements in common; assign one after the other"));
    }
  }
}

namespace detail {

/// Elements that a statement reads elsewhere than it writes them: a temporary saves them, or the caller has said that
/// there are none.
enum class aliasing { handled, denied };

/// What `node` reads of its destination; nothing where that was denied.
inline found_reads relevant_reads(aliasing alias, const any_block& destination, const any_node& node) {
  if (alias == aliasing::handled) return reads_of(destination, node);
  if constexpr (TENON_CHECKED != 0) {
    if (reads_of(destination, node).elsewhere) {
      throw storage_error(compose_text("noalias: destination ", destination.extents,
                                       ": is read at other positions than it is written; assign without noalias()"));
    }
  }
  return {};
}

}  // namespace detail

}  // namespace tenon
