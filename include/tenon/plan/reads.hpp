// tenon/plan/reads.hpp: an expression without its type: what it reads, and what texts call it.
// One function for each type of node shows its elements to a visitor, so that checks are compiled once for all.
// Floor 3: may include base, core, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/core/layout.hpp>
#include <tenon/plan/stages.hpp>

namespace tenon {

/// Elements that a statement reads.
struct element_read {
  any_block elements;
  const char* reader;  ///< what texts call the operation that reads them, or the statement; views are none
  bool in_step;        ///< at the position that is written
};

/// Is shown what a statement reads; of a range of addresses that is not empty, only what overlaps it.
class read_visitor {
 public:
  TENON_INLINE void show(const element_read& read) {
    if (within_.begin == within_.end || overlap(within_, addresses(read.elements))) visit(read);
  }

 protected:
  explicit read_visitor(const address_range& within = {}) : within_(within) {}
  ~read_visitor() = default;

 private:
  virtual void visit(const element_read& read) = 0;
  address_range within_;
};

/// How the statement around a node reads it.
struct node_place {
  const char* reader;
  bool in_step;
  bool in_rows;  ///< in a statement that keeps rows, where reductions are in step, too
};

/// A node as its type alone tells it.
struct node_words {
  const char* name;
  const node_words* const* operands;  ///< up to a null; none at all of a number or tensor
};

namespace detail {

template <class E, class Operands = operands_of<E>>
struct words_of;
template <class E, class... Operands>
struct words_of<E, tuple<Operands...>> {
  struct listed_words {
    node_words own;
    const node_words* operands[sizeof...(Operands) + 1];
  };
  static const listed_words list;
  static constexpr const node_words& value = list.own;
};
template <class E, class... Operands>
const typename words_of<E, tuple<Operands...>>::listed_words words_of<E, tuple<Operands...>>::list{
    {operation_name<E>, list.operands}, {&words_of<Operands>::value..., nullptr}};
template <class T>
struct words_of<scalar<T>, tuple<>> {
  static constexpr node_words value{"c", nullptr};
};
template <class T, class Shape, class Space, class Owner>
struct words_of<leaf<T, Shape, Space, Owner>, tuple<>> {
  static constexpr node_words value{"x", nullptr};
};

template <class E, class Operands = operands_of<E>,
          class Positions = std::make_integer_sequence<int, operands_of<E>::count>>
struct reads_within;
template <class E, class... Operands, int... I>
struct reads_within<E, tuple<Operands...>, std::integer_sequence<int, I...>> {
  static void visit(const void* address, read_visitor& visitor, const node_place& place) {
    constexpr bool is_view = std::is_same_v<typename E::kind, index_map_kind>;
    constexpr bool keeps_step = std::is_same_v<typename E::kind, pointwise_kind>;
    const node_place below{is_view ? place.reader : operation_name<E>,
                           place.in_step && (keeps_step || (place.in_rows && is_reduction<E>)), place.in_rows};
    const auto& operands = static_cast<const E*>(address)->operands;
    (reads_within<Operands>::visit(&static_cast<const tuple_element<I, Operands>&>(operands).value, visitor, below),
     ...);
  }
};
template <class E>
struct reads_within<E, tuple<>, std::integer_sequence<int>> {
  static void visit(const void*, read_visitor&, const node_place&) {}
};
template <class T, class Shape, class Space, class Owner>
struct reads_within<leaf<T, Shape, Space, Owner>, tuple<>, std::integer_sequence<int>> {
  [[gnu::noinline]] static void visit(const void* address, read_visitor& visitor, const node_place& place) {
    const auto& node = *static_cast<const leaf<T, Shape, Space, Owner>*>(address);
    visitor.show({block_of(node.view()), place.reader, place.in_step});
  }
};

}  // namespace detail

/// What the type of a statement's expression says of it.
struct statement_type {
  const char* name;   ///< its outermost operation
  const char* dtype;  ///< of its elements
  const node_words* words;
  void (*visit_reads)(const void* node, read_visitor& visitor, const node_place& place);
  bool in_rows;
};
template <class E>
inline constexpr statement_type statement_type_of{[] {
                                                    if constexpr (std::is_same_v<typename E::kind, leaf_kind>)
                                                      return "assign";
                                                    else return operation_name<E>;
                                                  }(),
                                                  [] {
                                                    if constexpr (is_joint_statement<E>) return "tuple";
                                                    else return dtype_name<typename E::element>();
                                                  }(),
                                                  &detail::words_of<E>::value, &detail::reads_within<E>::visit,
                                                  stage_of<E>() == stage::rows};

/// The expression of a statement without its type: `any_node{&node, &statement_type_of<E>}`.
struct any_node {
  const void* address;
  const statement_type* type;

  /// Shows all that the statement reads. `statement` names the statement itself in texts, where no operation reads.
  void visit_reads(read_visitor& visitor, const char* statement = "assign") const {
    type->visit_reads(address, visitor, {statement, true, type->in_rows});
  }
};

}  // namespace tenon
