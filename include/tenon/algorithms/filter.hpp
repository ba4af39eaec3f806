// tenon/algorithms/filter.hpp: digital filters along an axis, whole, in second-order sections, and in both directions.
// A filter that has seen a line's first element for ever is one from zero of what differs from it.
// Floor 5: may include base, core, expr, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <string>
#include <tenon/algorithms/recurrence.hpp>
#include <tenon/expr/reduce.hpp>
#include <tenon/expr/views/pad.hpp>
#include <tenon/expr/views/slice.hpp>

namespace tenon {

namespace detail {

/// The numbers of a filter of `Order` states, its denominator's first one 1.
template <int Order>
struct filter_section {
  array<double, Order + 1> numerator{}, denominator{};

  filter_section() = default;
  /// Numbers as far as there are any, divided by the denominator's first. `number` is that of a section, or -1.
  /// throws    error where that one is 0 or not finite
  filter_section(const char* owner, index number, std::span<const double> above, std::span<const double> below) {
    const double scale = below[0];
    if (!(std::fabs(scale) > 0 && std::fabs(scale) <= std::numeric_limits<double>::max())) {
      const std::string place = number < 0 ? std::string() : compose_text("section ", number, ": ");
      throw error(compose_text(owner, ": ", place, "denominator: first number ", scale, ", expected finite and not 0"));
    }
    for (std::size_t k = 0; k < above.size(); ++k) numerator[static_cast<index>(k)] = above[k] / scale;
    for (std::size_t k = 0; k < below.size(); ++k) denominator[static_cast<index>(k)] = below[k] / scale;
  }
  bool operator==(const filter_section&) const = default;
};

/// Filters one behind the other, each of `Order` states in its transposed direct form II, in double.
template <int Order, int Sections>
struct filter_step {
  using state = double;
  static constexpr index work_along = 0;
  static constexpr const char* name = Sections == 1 ? "lfilter" : "sosfilt";
  array<filter_section<Order>, Sections> sections;

  bool operator==(const filter_step&) const = default;

  template <int Width, class Source, class Target>
  TENON_HOST_DEVICE TENON_INLINE void walk(index count, index length, double*, Source source, Target target) const {
    double states[Sections][Order + 1][Width] = {}, results[Width];
    for (index place = 0; place < length; ++place) {
      for (index line = 0; line < count; ++line) {
        results[line] =
            pass(states, source.template get<double>(place, line), line, std::make_integer_sequence<int, Sections>{});
      }
      for (index line = 0; line < count; ++line) target.put(place, line, results[line]);
    }
  }

 private:
  template <int Width, int... I>
  TENON_HOST_DEVICE TENON_INLINE double pass(double (&states)[Sections][Order + 1][Width], double number, index line,
                                             std::integer_sequence<int, I...>) const {
    ((number = pass_one(sections[I], states[I], number, line)), ...);
    return number;
  }
  template <int Width>
  TENON_HOST_DEVICE TENON_INLINE static double pass_one(const filter_section<Order>& own,
                                                        double (&states)[Order + 1][Width], double term, index line) {
    const double result = own.numerator[0] * term + states[0][line];
    for (int k = 0; k < Order; ++k) {
      states[k][line] = states[k + 1][line] + (own.numerator[k + 1] * term - own.denominator[k + 1] * result);
    }
    return result;
  }
};

/// A filter that has seen the first element of each line for ever, whose `gain` times a constant it then is.
template <class Filter>
struct settled_step {
  using state = double;
  static constexpr index work_along = 0;
  static constexpr const char* name = Filter::name;
  Filter filter;
  double gain;

  bool operator==(const settled_step&) const = default;

  template <int Width, class Source, class Target>
  TENON_HOST_DEVICE TENON_INLINE void walk(index count, index length, double* work, Source source,
                                           Target target) const {
    double starts[Width];
    for (index line = 0; line < count; ++line) starts[line] = source.template get<double>(0, line);
    filter.template walk<Width>(count, length, work, lowered_source<Source>{source, starts},
                                raised_target<Target>{target, starts, gain});
  }

 private:
  template <class Source>
  struct lowered_source {
    Source source;
    const double* starts;
    template <class>
    TENON_HOST_DEVICE TENON_INLINE double get(index place, index line) const {
      return source.template get<double>(place, line) - starts[line];
    }
  };
  template <class Target>
  struct raised_target {
    Target target;
    const double* starts;
    double gain;
    TENON_HOST_DEVICE TENON_INLINE void put(index place, index line, double number) const {
      target.put(place, line, number + gain * starts[line]);
    }
  };
};

}  // namespace detail

/// Filters within an expression.
template <int Axis, class Filter>
struct filter_algorithm {
  static constexpr const char* name = Filter::name;
  Filter filter;
  recurrence_options options;

  bool operator==(const filter_algorithm&) const = default;
  template <class Target, class Operand>
  void operator()(const Target& target, const Operand& operand) const {
    using space = typename Target::space;
    const auto terms = detail::operand_in<space>(name, operand);
    walk_side_by_side<space>(filter, target.shape().to_array(), Axis, options.reverse, terms.view(), target);
  }
};

namespace detail {

template <int Order>
filter_step<Order, 1> filter_of(const char* owner, std::span<const double> numerator,
                                std::span<const double> denominator) {
  return {{{{owner, -1, numerator, denominator}}}};
}
template <std::size_t Sections>
auto filter_of(const char* owner, const double (&sections)[Sections][6]) {
  filter_step<2, static_cast<int>(Sections)> filter{};
  for (index number = 0; number < static_cast<index>(Sections); ++number) {
    const std::span<const double, 6> own(sections[number]);
    filter.sections[number] = {owner, number, own.first<3>(), own.last<3>()};
  }
  return filter;
}

template <int Axis, class Filter, class Operand>
auto make_filter(const Filter& filter, Operand&& x, recurrence_options options) {
  must_be_real<node_of<Operand>>();
  return make_own_pass<floating_result::element<node_of<Operand>>>(filter_algorithm<Axis, Filter>{filter, options},
                                                                   x.shape(), std::forward<Operand>(x));
}

}  // namespace detail

/// A rational digital filter along an axis, as scipy.signal.lfilter: `numerator` are the weights of this element and
/// those before it, `denominator` those of this result and the ones before it. Lines begin at rest.
/// extents   the operand's
/// types     floating, of integers float; all are computed in double, each result rounded once
/// throws    error where the first number of the denominator is 0 or not finite
/// cost      one pass; lines are shared among threads, a single line is one thread's work
/// gradient  of the operand: the filter from the other end
/// example   y = lfilter({0.2, 0.2}, {1, -0.6}, x, axis<-1>);
template <std::size_t Weights, std::size_t Feedbacks, tensor_operand Operand, int Axis>
auto lfilter(const double (&numerator)[Weights], const double (&denominator)[Feedbacks], Operand&& x,
             axis_list<Axis> axes, recurrence_options options = {}) {
  constexpr int order = static_cast<int>(Weights > Feedbacks ? Weights : Feedbacks) - 1;
  return detail::make_filter<only_axis<node_of<Operand>::shape_type::rank>(axes)>(
      detail::filter_of<order>("lfilter", numerator, denominator), std::forward<Operand>(x), options);
}

/// Second-order sections of a filter one behind the other, as scipy.signal.sosfilt. A section has six numbers, three of
/// its numerator before three of its denominator. Filters of high orders keep their digits so, which one long numerator
/// and denominator lose. Lines begin at rest.
/// extents   as of lfilter, and so are types, cost and gradient
/// throws    error where the fourth number of a section is 0 or not finite
/// example   y = sosfilt({{1, 2, 1, 1, -1.2, 0.4}, {1, 2, 1, 1, -1.4, 0.7}}, x, axis<-1>);
template <std::size_t Sections, tensor_operand Operand, int Axis>
auto sosfilt(const double (&sections)[Sections][6], Operand&& x, axis_list<Axis> axes,
             recurrence_options options = {}) {
  return detail::make_filter<only_axis<node_of<Operand>::shape_type::rank>(axes)>(
      detail::filter_of("sosfilt", sections), std::forward<Operand>(x), options);
}

namespace detail {

template <int Axis, int Order, int Sections, class Gradient>
auto filter_gradient(const filter_step<Order, Sections>& filter, bool reverse, const Gradient& gradient) {
  return make_filter<Axis>(filter, gradient, {!reverse});
}
/// The first element of a line also goes into all results, by what the filter has seen before.
template <int Axis, class Filter, class Gradient>
auto filter_gradient(const settled_step<Filter>& settled, bool reverse, const Gradient& gradient) {
  const auto of_terms = make_filter<Axis>(settled.filter, gradient, {!reverse});
  const index first = reverse ? gradient.shape().extent(Axis) - 1 : 0;
  const auto of_first = sum(settled.gain * gradient - of_terms, axis<Axis>);
  return of_terms + where(index_grid<index>(gradient.shape(), axis<Axis>) == first, of_first, 0);
}

}  // namespace detail

/// The gradient of the operand of filters, from the result's.
template <int, int Axis, class Filter, class T, class Shape, class Operand, class Gradient>
auto operand_gradient(const own_pass<filter_algorithm<Axis, Filter>, T, Shape, Operand>& node,
                      const Gradient& gradient) {
  return detail::filter_gradient<Axis>(node.options.filter, node.options.options.reverse, as_node(gradient));
}

/// Options of filtfilt and sosfiltfilt: `filtfilt({0.2}, {1, -0.8}, x, axis<0>, {.padlen = 0})`
struct filtfilt_options {
  index padlen = -1;  ///< how many elements a line is continued by at both ends; -1: SciPy's number of them
};

namespace detail {

/// What a constant comes to behind a filter.
template <int Order, int Sections>
double steady_gain(const char* owner, const filter_step<Order, Sections>& filter) {
  double gain = 1;
  for (const filter_section<Order>& own : filter.sections) {
    double above = 0, below = 0;
    for (int k = 0; k <= Order; ++k) above += own.numerator[k], below += own.denominator[k];
    if (!(std::fabs(below) > 0)) {
      throw error(compose_text(owner, ": denominator: its numbers add up to ", below,
                               ", expected another number than 0, since a constant comes to no end"));
    }
    gain *= above / below;
  }
  return gain;
}

template <int Axis, class Filter, class Operand>
auto filter_both_ways(const char* owner, const Filter& filter, const Operand& x, index padlen) {
  const settled_step<Filter> settled{filter, steady_gain(owner, filter)};
  const index extent = x.shape().extent(Axis);
  if (padlen < 0 || padlen >= extent) {
    throw shape_error(compose_text(owner, ": axis ", Axis, ": padlen ", padlen, ", expected at least 0 and less than ",
                                   "the extent ", extent));
  }
  const auto numbers = cast<double>(x);
  const array<padding, 1> widths{{{padlen, padlen}}};
  const auto longer = 2 * pad(numbers, axis<Axis>, widths, replicate) - pad(numbers, axis<Axis>, widths, reflect);
  const auto both = make_filter<Axis>(settled, make_filter<Axis>(settled, longer, {}), {.reverse = true});
  return cast<floating_result::element<Operand>>(narrow(both, axis<Axis>, padlen, extent));
}

}  // namespace detail

/// A filter forwards and then backwards along an axis, as scipy.signal.filtfilt: no frequency is delayed, and each is
/// weakened twice. Lines are continued at both ends by their elements turned around the last one, by default three
/// times as many as the filter has numbers.
/// extents   the operand's
/// types     floating, of integers float; all are computed in double, each result rounded once
/// throws    error where the first number of the denominator is 0 or not finite, or its sum is 0; shape_error for lines
///           of `padlen` elements or fewer
/// cost      two filters, which are own passes, and memory for their results in double
/// gradient  of the operand
/// example   y = filtfilt({0.2}, {1, -0.8}, x, axis<-1>);
template <std::size_t Weights, std::size_t Feedbacks, tensor_operand Operand, int Axis>
auto filtfilt(const double (&numerator)[Weights], const double (&denominator)[Feedbacks], Operand&& x,
              axis_list<Axis> axes, filtfilt_options options = {}) {
  constexpr int taps = static_cast<int>(Weights > Feedbacks ? Weights : Feedbacks);
  return detail::filter_both_ways<only_axis<node_of<Operand>::shape_type::rank>(axes)>(
      "filtfilt", detail::filter_of<taps - 1>("filtfilt", numerator, denominator), as_node(std::forward<Operand>(x)),
      options.padlen == -1 ? 3 * taps : options.padlen);
}

/// Second-order sections forwards and then backwards along an axis, as scipy.signal.sosfiltfilt.
/// extents   as of filtfilt, and so are types, errors, cost and gradient
/// example   y = sosfiltfilt({{1, 2, 1, 1, -1.2, 0.4}, {1, 2, 1, 1, -1.4, 0.7}}, x, axis<-1>);
template <std::size_t Sections, tensor_operand Operand, int Axis>
auto sosfiltfilt(const double (&sections)[Sections][6], Operand&& x, axis_list<Axis> axes,
                 filtfilt_options options = {}) {
  const auto filter = detail::filter_of("sosfiltfilt", sections);
  index without_third = 0, without_last = 0;
  for (const auto& own : sections) without_third += own[2] == 0 ? 1 : 0, without_last += own[5] == 0 ? 1 : 0;
  const index fewer = without_third < without_last ? without_third : without_last;
  return detail::filter_both_ways<only_axis<node_of<Operand>::shape_type::rank>(axes)>(
      "sosfiltfilt", filter, as_node(std::forward<Operand>(x)),
      options.padlen == -1 ? 3 * (2 * static_cast<index>(Sections) + 1 - fewer) : options.padlen);
}

}  // namespace tenon
