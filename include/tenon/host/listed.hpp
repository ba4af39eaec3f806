// tenon/host/listed.hpp: pointwise statements without their type that may read what they write, or repeat over it.
// Where a statement would read elements that it has already written, it goes by way of a temporary.
// Floor 4: may include base, core, device, expr, plan, host.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <tenon/host/tiles.hpp>
#include <tenon/plan/alias.hpp>
#include <tenon/plan/describe.hpp>

namespace tenon::detail {

/// What a statement reads of its first target.
template <int Rank>
found_reads reads_of_target(const any_statement<Rank>& statement) {
  const auto block = [&](std::uintptr_t start, array<index, Rank> stride, const simd::element_copies* copies) {
    for (int axis = 0; axis < Rank; ++axis) stride[axis] = statement.extents[axis] == 1 ? 0 : stride[axis];
    return strided_block<Rank>{start, statement.extents, stride, copies->size, copies};
  };
  const auto& target = statement.targets[0];
  const auto written = block(reinterpret_cast<std::uintptr_t>(target.start), target.stride, target.copies);
  read_check reads(written);
  for (int k = 0; k < statement.facts->source_count; ++k) {
    const auto& source = statement.sources[k];
    if (source.copies != nullptr) reads.show({block(source.start, source.stride, source.copies), "assign", true});
  }
  return reads.found();
}

/// Whether each row of a statement needs a cursor of its own, as in a comparison of labels with classes: its positions
/// do not go on from row to row. Where an observer wants to see the launch, and where the statement reads what it
/// writes, it is left to others.
template <int Rank>
bool needs_cursors_of_rows(const any_statement<Rank>& statement) {
  bool follow = true;
  for (int k = 0; k < statement.facts->source_count; ++k) {
    const auto& [start, stride, copies] = statement.sources[k];
    follow = follow && (copies != nullptr || stride[Rank - 2] == statement.extents[Rank - 1] * stride[Rank - 1]);
  }
  return !follow && current_launch_observer() == nullptr && !reads_of_target(statement).any;
}

/// What observers are told of a statement beside its list.
struct listed_words {
  const char* dtype;
  const node_words& words;
};

/// Says to the calling thread's observer, where there is one, that the next launch is this statement.
template <int Rank>
void announce_listed(const any_statement<Rank>& statement, const listed_words& told) {
  launch_observer* const observer = current_launch_observer();
  if (observer == nullptr) return;
  distinct_bytes read, written;
  for (int k = 0; k < statement.facts->source_count; ++k) {
    const auto& source = statement.sources[k];
    read.add(strided_block<Rank>{source.start, statement.extents, source.stride, source.size()});
  }
  const auto& target = statement.targets[0];
  const auto start = reinterpret_cast<std::uintptr_t>(target.start);
  written.add(strided_block<Rank>{start, statement.extents, target.stride, target.copies->size});
  const int rank = statement.facts->rank;
  observer->statement({told.dtype, statement.extents.begin() + (Rank - rank), rank, read.total(), written.total(),
                       &told.words, read.all().data(), read.all().size()});
}

/// The cursor of elements that are copied as they are, whatever their type.
struct element_cursor {
  std::uintptr_t start;
  index stride;
  const simd::element_copies* copies;

  static void find_fields(void* cursor, cursor_field* fields) {
    auto& own = *static_cast<element_cursor*>(cursor);
    *fields = {&own.start, &own.stride};
  }
  static void write(const void* cursor, void* const* to, index count, bool) {
    const auto& [start, stride, copies] = *static_cast<const element_cursor*>(cursor);
    const auto from = reinterpret_cast<const void*>(start);
    if (stride == 1) std::memcpy(*to, from, static_cast<std::size_t>(count * copies->size));
    else copies->gather(*to, from, {1, count, 0, stride, count});
  }
};

/// Copies elements of `extents`, which may repeat, to a target.
template <int Rank>
void copy_listed(const array<index, Rank>& extents, listed_target<Rank> target, listed_source<Rank> source) {
  static constexpr listed_facts facts{
      Rank, 1, 1, sizeof(element_cursor), &element_cursor::find_fields, &element_cursor::write, true, true};
  element_cursor cursor{source.start, 1, source.copies};
  any_statement<Rank> statement{extents, &source, &target, &cursor, &facts, false};
  run_tiles(statement);
}

/// Runs a statement whose sources may lie in its destination, of `extents`, or repeat over it.
template <int Rank>
void run_listed(any_statement<Rank>& statement, const listed_target<Rank>& destination,
                const array<index, Rank>& extents, bool may_alias) {
  const index count = count_between(extents, 0, Rank), own_count = count_between(statement.extents, 0, Rank);
  if (count == 0) return;
  const auto found = reads_of_target(statement);
  const bool repeats = !(statement.extents == extents);
  const index size = destination.copies->size;
  if (!repeats && !(may_alias && found.elsewhere)) {
    statement.streaming = !found.any && count * size >= streaming_bytes;
    return run_tiles(statement);
  }
  const auto& source = statement.sources[0];
  if (!repeats && statement.facts->is_copy && is_contiguous(extents, destination.stride) &&
      is_contiguous(extents, source.stride)) {  // one piece of memory that is moved, as in a line of delays
    const counted_launch counted("pointwise");
    std::memmove(destination.start, reinterpret_cast<const void*>(source.start),
                 static_cast<std::size_t>(count * size));
    return;
  }
  storage<std::byte, host> temporary(own_count * size);
  listed_source<Rank> copy{reinterpret_cast<std::uintptr_t>(temporary.data()), row_major_strides(statement.extents),
                           destination.copies};
  *statement.targets = {temporary.data(), copy.stride, destination.copies};
  for (int axis = 0; axis < Rank; ++axis) copy.stride[axis] = statement.extents[axis] == 1 ? 0 : copy.stride[axis];
  run_tiles(statement);
  copy_listed(extents, destination, copy);
}

/// The same, which an observer of launches sees.
/// throws    shape_error naming the axis along which the statement does not repeat
template <int Rank>
[[gnu::noinline]] void run_observed(any_statement<Rank>& statement, const listed_target<Rank>& destination,
                                    const array<index, Rank>& extents, bool may_alias, const listed_words& told) {
  const int rank = statement.facts->rank, before = Rank - rank;
  check_repeats({extents.begin() + before, rank}, {statement.extents.begin() + before, rank});
  announce_listed(statement, told);
  run_listed(statement, destination, extents, may_alias);
  if (launch_observer* observer = current_launch_observer()) [[unlikely]] {
    const any_block written{reinterpret_cast<std::uintptr_t>(destination.start),
                            {extents.begin() + before, rank},
                            destination.stride.begin() + before,
                            destination.copies->size,
                            nullptr};
    tell_result(*observer, {told.dtype, &told.words, &written, &host::copy_to_host});
  }
}

}  // namespace tenon::detail
