// tenon/plan/devices.hpp: on which device a statement runs, and whether all that it reads lies there.
// Memory is asked where it lies, not the thread; a statement runs where its destination is.
// Floor 3: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/device_guard.hpp>
#include <tenon/device/recent_launches.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

namespace detail {

/// Calls `body(reader, elements)` for the elements that `node` reads; `reader` is what texts call the operation above.
template <class E, class Body>
void for_each_leaf(const E& node, const char* reader, const Body& body) {
  if constexpr (std::is_same_v<typename E::kind, leaf_kind>) {
    if (node.elements.data() != nullptr) body(reader, node.elements);
  } else {
    constexpr bool is_view = std::is_same_v<typename E::kind, index_map_kind>;
    for_each_index<decltype(E::operands)::count>(
        [&](auto i) { for_each_leaf(get<i.value>(node.operands), is_view ? reader : operation_name<E>, body); });
  }
}

/// What texts call a statement of this node: its outermost operation.
template <class E>
inline constexpr const char* statement_name = [] {
  if constexpr (std::is_same_v<typename E::kind, leaf_kind>) return "assign";
  else return operation_name<E>;
}();

/// The device of the first thing that `node` reads; the current one where it reads nothing.
template <class Space, class E>
int device_of_operands(const E& node) {
  int found = -1;
  if (space_devices<Space>::are_watched()) {
    for_each_leaf(node, "assign", [&](const char*, const auto& elements) {
      if (found < 0) found = device_of(elements);
    });
  }
  return found < 0 ? space_devices<Space>::current() : found;
}

/// Elements have to lie on the current device, which is `whose`; its current stream uses them from now on.
template <class View>
void check_device(const char* operation, const char* role, const View& elements, const char* whose) {
  using devices = space_devices<typename View::space>;
  const int expected = devices::current(), device = device_of(elements);
  if (device != expected) {
    throw device_error(compose_text(operation, ": ", role, " ", elements.shape().to_array(), ": lies on device ",
                                    device, " of ", View::space::name, ", expected device ", expected, ", ", whose));
  }
  devices::note(elements.data());
}

}  // namespace detail

/// For algorithms, which run on the current device.
/// throws    device_error where `elements` lie on another one
template <class View>
void check_current_device([[maybe_unused]] const char* algorithm, [[maybe_unused]] const View& elements) {
  if constexpr (has_devices<typename View::space>) {
    if (elements.data() == nullptr || !space_devices<typename View::space>::are_watched()) return;
    detail::check_device(algorithm, "argument", elements, "the current one; call it under a device_guard");
  }
}

/// A statement under way: while it lives, its device is the thread's, and launches are known to be its own. Where a
/// space has one device and no streams but the default, operands are not looked at.
/// throws    device_error where an operand lies on another device than the destination
template <class Space>
class statement_scope {
 public:
  template <class... Parts>
  explicit statement_scope(const Parts&...) {}
  template <class View, class E>
  void check(const View&, const E&) const {}
};
template <has_devices Space>
class statement_scope<Space> {
 public:
  /// A part of a statement, which has no destination yet.
  template <class E>
  explicit statement_scope(const E& node)
      : note_(detail::statement_name<E>, node.shape()), on_device_(detail::device_of_operands<Space>(node)) {}
  template <class View, class E>
  statement_scope(const View& destination, const E& node)
      : note_(detail::statement_name<E>, destination.shape()), on_device_(device_of(destination)) {
    check(destination, node);
  }

  /// Looks at one more output.
  template <class View, class E>
  void check(const View& destination, const E& node) const {
    if (!space_devices<Space>::are_watched()) return;
    constexpr const char* expected = "the destination's; copy it there first: copy_from, or to<> under a device_guard";
    detail::check_device("assign", "destination", destination, expected);
    detail::for_each_leaf(node, "assign", [&](const char* reader, const auto& elements) {
      detail::check_device(reader, "operand", elements, expected);
    });
  }

 private:
  statement_note_scope note_;
  device_guard<Space> on_device_;
};

}  // namespace tenon
