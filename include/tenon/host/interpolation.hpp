// tenon/host/interpolation.hpp: who runs interpolations on the host, and their gradients: one axis after another.
// Which elements count in an output, and how much, is the same for all lines along an axis, and is computed once.
// Floor 4: may include base, core, device, expr, plan.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <tenon/core/view.hpp>
#include <tenon/device/scratch.hpp>
#include <tenon/device/threads.hpp>
#include <tenon/expr/views/interpolation.hpp>
#include <tenon/plan/access.hpp>

namespace tenon {

namespace detail {

/// Along an axis: where the elements lie that count in each element of the result, and their weights. Those of result
/// i are `begin[i]` to `begin[i + 1] - 1`.
template <class Number>
struct counted_elements {
  index count, *begin, *place;
  Number* weight;

  static counted_elements taken(const scratch& memory, index count, index most) {
    return {count, memory.take<index>(count + 1), memory.take<index>(most), memory.take<Number>(most)};
  }
  /// Results `first` to `last - 1`, in each of which as many elements count as in the middle one.
  struct run {
    index first, last, taps;
  };
  run even_run() const {
    const auto taps = [&](index i) { return begin[i + 1] - begin[i]; };
    run found{count / 2, count / 2, count == 0 ? 0 : taps(count / 2)};
    while (found.first > 0 && taps(found.first - 1) == found.taps) --found.first;
    while (found.last < count && taps(found.last) == found.taps) ++found.last;
    return found;
  }
};

/// The elements of the input that count in each of the output.
template <class Number, int Rank, class Filter>
auto elements_of_outputs(const scratch& memory, const interpolated_places<Number, Rank, Filter>& places, int axis) {
  const index count = places.output[axis], taps = places.taps(axis);
  const auto result = counted_elements<Number>::taken(memory, count, count * taps);
  index next = 0;
  for (index window = 0; window < count; ++window) {
    Number total = 0;
    const index first = result.begin[window] = next;
    for (index tap = 0; tap < taps; ++tap) {
      const index place = places.element(axis, window, tap);
      const Number weight = place < 0 ? Number(0) : places.weight(axis, window, tap);
      if (weight == 0) continue;
      result.place[next] = place, result.weight[next] = weight;
      ++next, total += weight;
    }
    if constexpr (Filter::is_antialiased) {
      for (index i = first; i < next; ++i) result.weight[i] /= total;
    }
  }
  result.begin[count] = next;
  return result;
}

/// The elements of the output in which each of the `count` of the input counts.
template <class Number>
counted_elements<Number> turned(const scratch& memory, const counted_elements<Number>& outputs, index count) {
  const index all = outputs.begin[outputs.count];
  const auto result = counted_elements<Number>::taken(memory, count, all);
  std::fill_n(result.begin, count + 1, index{0});
  for (index i = 0; i < all; ++i) ++result.begin[outputs.place[i]];
  for (index i = 0; i < count; ++i) result.begin[i + 1] += result.begin[i];
  for (index output = outputs.count - 1; output >= 0; --output) {
    for (index i = outputs.begin[output + 1] - 1; i >= outputs.begin[output]; --i) {
      const index at = --result.begin[outputs.place[i]];
      result.place[at] = output, result.weight[at] = outputs.weight[i];
    }
  }
  return result;
}

/// Elements [outer, extent, inner] that a result [outer, count, inner] is made of.
template <class Source>
struct interpolated_lines {
  const Source* elements;
  index outer, extent, inner;

  template <class T, class Number>
  void write(T* target, const counted_elements<Number>& counted) const {
    const index products = inner * (counted.begin[counted.count] / counted.count + 1);
    if (inner == 1) return write_last_axis(target, counted, products);
    parallel_for(outer * counted.count, 1 + (index{1} << 15) / products, [&](index first, index last) {
      index output = first % counted.count;
      const Source* from = elements + first / counted.count * extent * inner;
      for (index line = first; line < last; ++line, ++output) {
        if (output == counted.count) output = 0, from += extent * inner;
        write_line(target + line * inner, from, counted, output);
      }
    });
  }

 private:
  /// Results of a line by as many elements each are a loop that packs run through.
  template <class T, class Number>
  void write_last_axis(T* target, const counted_elements<Number>& counted, index products) const {
    const auto even = counted.even_run();
    const bool in_packs = even.taps == 1 || even.taps == 2;
    const index before = in_packs ? even.first : counted.count, behind = in_packs ? even.last : counted.count;
    parallel_for(outer, 1 + (index{1} << 15) / (counted.count * products), [&](index begin, index end) {
      for (index line = begin; line < end; ++line) {
        const Source* const from = elements + line * extent;
        T* const to = target + line * counted.count;
        if (even.taps == 1) write_run<1>(to, from, counted, even);
        if (even.taps == 2) write_run<2>(to, from, counted, even);
        for (index output = 0; output < before; ++output) write_line(to + output, from, counted, output);
        for (index output = behind; output < counted.count; ++output) write_line(to + output, from, counted, output);
      }
    });
  }
  template <int Taps, class T, class Number>
  TENON_INLINE static void write_run(T* to, const Source* from, const counted_elements<Number>& counted,
                                     const typename counted_elements<Number>::run& even) {
    const index* const place = counted.place + counted.begin[even.first];
    const Number* const weight = counted.weight + counted.begin[even.first];
    for (index i = 0; i < even.last - even.first; ++i) {
      T sum = T(weight[Taps * i]) * static_cast<T>(from[place[Taps * i]]);
      for (int tap = 1; tap < Taps; ++tap)
        sum += T(weight[Taps * i + tap]) * static_cast<T>(from[place[Taps * i + tap]]);
      to[even.first + i] = sum;
    }
  }
  template <class T, class Number>
  TENON_INLINE void write_line(T* target, const Source* from, const counted_elements<Number>& counted,
                               index output) const {
    const index begin = counted.begin[output], end = counted.begin[output + 1];
    if (begin == end) return static_cast<void>(std::fill_n(target, inner, T(0)));
    const auto product = [&](index i, index j) {
      return T(counted.weight[i]) * static_cast<T>(from[counted.place[i] * inner + j]);
    };
    if (end - begin == 2) {
      for (index j = 0; j < inner; ++j) target[j] = product(begin, j) + product(begin + 1, j);
      return;
    }
    for (index j = 0; j < inner; ++j) target[j] = product(begin, j);
    for (index i = begin + 1; i < end; ++i) {
      for (index j = 0; j < inner; ++j) target[j] += product(i, j);
    }
  }
};

}  // namespace detail

/// Runs interpolations from the last axis to the first. Between axes values lie in the thread's scratch memory.
template <bool IsBack, class Number, int Rank, class Filter>
struct executor_of<interpolation_algorithm<IsBack, interpolated_places<Number, Rank, Filter>>> {
  using algorithm = interpolation_algorithm<IsBack, interpolated_places<Number, Rank, Filter>>;

  template <class Target, class Operand>
  static void run(const algorithm& interpolation, const Target& target, const Operand& operand) {
    using element = weighted_element<Operand, Number>;
    constexpr int rank = Target::rank;
    const detail::scratch memory;
    auto extents = operand.shape().to_array();
    const auto along = [&](int axis, const auto* from, element* to) {
      auto counted = detail::elements_of_outputs(memory, interpolation.places, axis);
      if constexpr (IsBack) counted = detail::turned(memory, counted, interpolation.places.image[axis]);
      const int place = rank - Rank + axis;
      const detail::interpolated_lines<std::remove_cvref_t<decltype(*from)>> lines{
          from, count_between(extents, 0, place), extents[place], count_between(extents, place + 1, rank)};
      extents[place] = counted.count;
      if (to == nullptr) to = memory.take<element>(count_between(extents, 0, rank));
      lines.write(to, counted);
      return to;
    };
    element* direct = nullptr;
    if constexpr (std::is_same_v<typename Target::element, element>) {
      if (is_contiguous(target.shape().to_array(), target.strides())) direct = target.data();
    }
    const element* values = along(Rank - 1, in_memory(memory, operand), Rank == 1 ? direct : nullptr);
    for (int axis = Rank - 2; axis >= 0; --axis) values = along(axis, values, axis == 0 ? direct : nullptr);
    if (direct == nullptr) target = view<const element, typename Target::shape_type, host>(values, target.shape());
  }

 private:
  /// The operand's elements side by side.
  template <class Operand>
  static const typename Operand::element* in_memory(const detail::scratch& memory, const Operand& operand) {
    if constexpr (std::is_same_v<typename Operand::kind, leaf_kind>) {
      const auto elements = operand.view();
      if (is_contiguous(elements.shape().to_array(), elements.strides())) return elements.data();
    }
    const view<typename Operand::element, typename Operand::shape_type, host> copied(
        memory.template take<typename Operand::element>(operand.shape().count()), operand.shape());
    copied = operand;
    return copied.data();
  }
};

}  // namespace tenon
