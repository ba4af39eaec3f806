// tenon/host/engines.hpp: what the library tenon::compiled holds of this room.
// Statements without their type, folds of elements in memory, and rows that are copied or drawn at random.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/engines.hpp>
#include <tenon/expr/random.hpp>
#include <tenon/host/fold_columns.hpp>
#include <tenon/host/pointwise.hpp>
#include <tenon/plan/record.hpp>

namespace tenon {

#define TENON_ROWS(Rank)                                                                                   \
  TENON_ENGINE(void detail::run_tiles(detail::any_statement<Rank>&))                                       \
  TENON_ENGINE(void detail::run_observed(detail::any_statement<Rank>&, const detail::listed_target<Rank>&, \
                                         const array<index, Rank>&, bool, const detail::listed_words&))
TENON_ROWS(2)
TENON_ROWS(4)
#undef TENON_ROWS

#define TENON_ROWS(T, Rank)                                                                             \
  TENON_ENGINE(void run_statement_host(array<index, Rank>, strided_target<T, Rank>, array<index, Rank>, \
                                       strided_source<T, Rank>, bool, const node_words&))               \
  TENON_ENGINE(void run_statement_host(array<index, Rank>, strided_target<T, Rank>, array<index, Rank>, \
                                       constant_source<T>, bool, const node_words&))                    \
  TENON_ENGINE(void run_statement_host(array<index, Rank>, strided_target<T, Rank>, array<index, Rank>, \
                                       generated_source<constant_generator<T>, Rank>, bool, const node_words&))
#define TENON_RANKS(T) TENON_ROWS(T, 1) TENON_ROWS(T, 2) TENON_ROWS(T, 3) TENON_ROWS(T, 4)
TENON_RANKS(float)
TENON_RANKS(double)
TENON_RANKS(index)
TENON_RANKS(int)
TENON_RANKS(bool)
#undef TENON_RANKS
#undef TENON_ROWS

#define TENON_ROWS(How, T, Cursor) \
  TENON_ENGINE(void write_packs<reading::How>(T*, bool, const array<index, 2>&, const Cursor&, const no_slots&))
#define TENON_CURSORS(T)                     \
  TENON_ROWS(row, T, strided_cursor<T>)      \
  TENON_ROWS(strided, T, strided_cursor<T>)  \
  TENON_ROWS(adjacent, T, strided_cursor<T>) \
  TENON_ROWS(adjacent, T, constant_source<T>::cursor)
TENON_CURSORS(float)
TENON_CURSORS(double)
TENON_CURSORS(index)
TENON_CURSORS(int)
TENON_CURSORS(bool)
TENON_ROWS(adjacent, float, constant_source<int>::cursor)
TENON_ROWS(adjacent, double, constant_source<int>::cursor)
TENON_ROWS(adjacent, float, generated_cursor<uniform_generator<float>>)
TENON_ROWS(adjacent, float, generated_cursor<normal_generator<float>>)
TENON_ROWS(adjacent, float, generated_cursor<constant_generator<float>>)
TENON_ROWS(adjacent, double, generated_cursor<uniform_generator<double>>)
TENON_ROWS(adjacent, double, generated_cursor<normal_generator<double>>)
TENON_ROWS(adjacent, double, generated_cursor<constant_generator<double>>)
#undef TENON_CURSORS
#undef TENON_ROWS

#define TENON_ROWS(T, Monoid, Cursor)                                                                      \
  TENON_ENGINE(T detail::fold_lanes<Monoid, T>(const Cursor&, index, index, bool, const no_slots&))        \
  TENON_ENGINE(T detail::fold_block<Monoid, T>(const Cursor&, index, index, index, bool, const no_slots&)) \
  TENON_ENGINE(void detail::add_rows<Monoid>(T*, const Cursor*, int, const array<index, 2>&, index, const no_slots&))
#define TENON_MONOIDS(T)                        \
  TENON_ROWS(T, sum_monoid, strided_cursor<T>)  \
  TENON_ROWS(T, mean_monoid, strided_cursor<T>) \
  TENON_ROWS(T, max_monoid, strided_cursor<T>)  \
  TENON_ROWS(T, min_monoid, strided_cursor<T>)  \
  TENON_ROWS(T, sum_monoid, recorded_cursor<T>)
TENON_MONOIDS(float)
TENON_MONOIDS(double)
TENON_ROWS(index, sum_monoid, strided_cursor<index>)
TENON_ROWS(index, max_monoid, strided_cursor<index>)
TENON_ROWS(index, min_monoid, strided_cursor<index>)
#undef TENON_MONOIDS
#undef TENON_ROWS

#define TENON_ROWS(Monoid, State, Value)                                                                     \
  TENON_ENGINE(void detail::combine_blocks<Monoid, State>(                                                   \
      const detail::folded_part<Value>&, const detail::blocks_of_rows&, const detail::block_setter<State>&)) \
  TENON_ENGINE(void detail::combine_shared_blocks<Monoid, State>(                                            \
      const detail::folded_part<Value>&, const detail::blocks_of_rows&, const detail::block_setter<State>&))
#define TENON_MONOIDS(T)        \
  TENON_ROWS(sum_monoid, T, T)  \
  TENON_ROWS(mean_monoid, T, T) \
  TENON_ROWS(max_monoid, T, T)  \
  TENON_ROWS(min_monoid, T, T)  \
  TENON_ROWS(argmax_monoid, located<T>, index)
TENON_MONOIDS(float)
TENON_MONOIDS(double)
#undef TENON_MONOIDS
#undef TENON_ROWS

#define TENON_ROWS(T, Rank, Monoid)                                                                                \
  TENON_ENGINE(auto detail::fold_blocks(const reduction_program<Monoid, T, false, Rank, strided_source<T, Rank>>&, \
                                        const array<index, Rank>&, const no_slots&)                                \
                   ->reduction_program<Monoid, T, false, Rank, strided_source<T, Rank>>::value_type)               \
  TENON_ENGINE(void fold_results(                                                                                  \
      const reduction_program<Monoid, T, false, Rank, strided_source<T, Rank>>&, const array<index, Rank>&, int,   \
      const detail::folded_part<reduction_program<Monoid, T, false, Rank, strided_source<T, Rank>>::value_type>&,  \
      const no_slots&))
#define TENON_MONOIDS(T, Rank)     \
  TENON_ROWS(T, Rank, sum_monoid)  \
  TENON_ROWS(T, Rank, mean_monoid) \
  TENON_ROWS(T, Rank, max_monoid)  \
  TENON_ROWS(T, Rank, argmax_monoid)
TENON_MONOIDS(float, 1)
TENON_MONOIDS(float, 2)
TENON_MONOIDS(double, 1)
TENON_MONOIDS(double, 2)
#undef TENON_MONOIDS
#undef TENON_ROWS

}  // namespace tenon
