// tenon/plan/devices.hpp: on which device a statement runs, and whether all that it reads lies there.
// Memory is asked where it lies, not the thread; a statement runs where its destination is.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/device_guard.hpp>
#include <tenon/device/recent_launches.hpp>
#include <tenon/plan/reads.hpp>

namespace tenon {

namespace detail {

template <class Space>
int device_of_block(const any_block& elements) {
  return space_devices<Space>::of(reinterpret_cast<const void*>(elements.start));
}

/// Elements have to lie on the current device, which is `whose`; its current stream uses them from now on.
template <class Space>
void check_device(const char* operation, const char* role, const any_block& elements, const char* whose) {
  using devices = space_devices<Space>;
  const int expected = devices::current(), device = device_of_block<Space>(elements);
  if (device != expected) {
    throw device_error(compose_text(operation, ": ", role, " ", elements.extents, ": lies on device ", device, " of ",
                                    Space::name, ", expected device ", expected, ", ", whose));
  }
  devices::note(reinterpret_cast<const void*>(elements.start));
}

/// Finds the device of the first elements that a statement reads.
template <class Space>
class device_finder final : public read_visitor {
 public:
  int found() const { return found_; }

 private:
  void visit(const element_read& read) override {
    if (found_ < 0 && read.elements.start != 0) found_ = device_of_block<Space>(read.elements);
  }
  int found_ = -1;
};

/// All elements that a statement reads have to lie on the current device, its destination's.
template <class Space>
class device_check final : public read_visitor {
 public:
  static constexpr const char* expected =
      "the destination's; copy it there first: copy_from, or to<> under a device_guard";

 private:
  void visit(const element_read& read) override {
    if (read.elements.start != 0) check_device<Space>(read.reader, "operand", read.elements, expected);
  }
};

}  // namespace detail

/// For algorithms, which run on the current device.
/// throws    device_error where `elements` lie on another one
template <class View>
void check_current_device([[maybe_unused]] const char* algorithm, [[maybe_unused]] const View& elements) {
  using space = typename View::space;
  if constexpr (has_devices<space>) {
    if (elements.data() == nullptr || !space_devices<space>::are_watched()) return;
    detail::check_device<space>(algorithm, "argument", block_of(elements),
                                "the current one; call it under a device_guard");
  }
}

/// A statement under way: while it lives, its device is the thread's, and launches are known to be its own. Where a
/// space has one device and no streams but the default, operands are not looked at.
/// throws    device_error where an operand lies on another device than the destination
template <class Space>
class statement_scope {
 public:
  statement_scope(const extents_view&, const any_node&) {}
  statement_scope(const any_block&, const any_node&) {}
  void check_devices(const any_block&, const any_node&) const {}
};
template <has_devices Space>
class statement_scope<Space> {
 public:
  /// A part of a statement, which has no destination yet.
  statement_scope(const extents_view& extents, const any_node& node)
      : note_(node.type->name, extents.first, extents.rank), on_device_(device_of_operands(node)) {}
  statement_scope(const any_block& destination, const any_node& node)
      : note_(node.type->name, destination.extents.first, destination.extents.rank),
        on_device_(detail::device_of_block<Space>(destination)) {
    check_devices(destination, node);
  }

  /// Looks at one more output.
  void check_devices(const any_block& destination, const any_node& node) const {
    if (!space_devices<Space>::are_watched()) return;
    detail::device_check<Space> check_operands;
    detail::check_device<Space>("assign", "destination", destination, check_operands.expected);
    node.visit_reads(check_operands);
  }

 private:
  /// The device of the first thing that `node` reads; the current one where it reads nothing.
  static int device_of_operands(const any_node& node) {
    detail::device_finder<Space> first;
    if (space_devices<Space>::are_watched()) node.visit_reads(first);
    return first.found() < 0 ? space_devices<Space>::current() : first.found();
  }

  statement_note_scope note_;
  device_guard<Space> on_device_;
};

}  // namespace tenon
