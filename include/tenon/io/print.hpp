// tenon/io/print.hpp: tensors, views and expressions as text.
// The layout is NumPy's: nested brackets, aligned columns, the middle of large tensors left out.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <ostream>
#include <string>
#include <tenon/core/tensor.hpp>
#include <tenon/io/read_double.hpp>
#include <vector>
#include <version>
#if defined(__cpp_lib_format)
#include <format>
#endif

namespace tenon {

/// How tensors are written as text.
struct print_options {
  int precision = 8;       ///< at most so many significant digits; fewer where they read back as the same number
  index threshold = 1000;  ///< tensors of more elements are shown by their edges
  index edge = 3;          ///< positions shown at each end of an axis; 0: none
  int line_width = 75;     ///< longer rows are broken
};

/// A type with elements to print: a tensor, a view, an expression.
template <class T>
concept printable = requires(const T& value) {
  typename T::element;
  typename T::space;
  value.shape().to_array();
} && (expression_node<T> || requires(const T& value) { value.data(); });

namespace detail {

/// A number by its significant digits: 0.d1 d2 ... times 10 to the power `point`; infinities and NaN have only a name.
struct decimal {
  double value;
  int point;
  std::string digits, name;

  bool negative() const { return std::signbit(value); }
};

/// The fewest digits, at most `precision`, that read back as `value`.
template <dtype T>
decimal shortest_decimal(T value, int precision) {
  const auto number = static_cast<double>(value);
  const bool negative = std::signbit(number);
  if (std::isnan(number)) return {number, 0, "", "nan"};
  if (std::isinf(number)) return {number, 0, "", negative ? "-inf" : "inf"};
  char text[64];
  for (int digits = 1;; ++digits) {
    const auto end = std::to_chars(text, text + sizeof(text), number, std::chars_format::scientific, digits - 1).ptr;
    double read = 0;
    read_double({text, static_cast<std::size_t>(end - text)}, read);
    if (digits < precision && static_cast<double>(static_cast<T>(static_cast<compute_type<T>>(read))) != number)
      continue;
    const std::string all(negative ? text + 1 : text, end);
    const auto power = all.find('e');
    std::string kept = all.substr(0, power);
    if (kept.size() > 1) kept.erase(1, 1);  // the point
    while (kept.size() > 1 && kept.back() == '0') kept.pop_back();
    return {number, number == 0 ? 1 : std::stoi(all.substr(power + 1)) + 1, kept, ""};
  }
}

inline std::string whole_part(const decimal& number) {
  const auto point = static_cast<std::size_t>(number.point > 0 ? number.point : 0);
  std::string digits = point == 0 ? "0" : number.digits.substr(0, point);
  if (digits.size() < point) digits.append(point - digits.size(), '0');
  return (number.negative() ? "-" : "") + digits;
}
inline std::string fraction(const decimal& number) {
  if (number.point <= 0) {
    return number.value == 0 ? "" : std::string(static_cast<std::size_t>(-number.point), '0') + number.digits;
  }
  const auto point = static_cast<std::size_t>(number.point);
  return number.digits.size() > point ? number.digits.substr(point) : "";
}
inline std::string exponent_text(int exponent) {
  const std::string digits = std::to_string(exponent < 0 ? -exponent : exponent);
  return (exponent < 0 ? "e-" : "e+") + (digits.size() < 2 ? "0" + digits : digits);
}

/// NumPy's rule: powers of ten are written where numbers are far from 1 or from each other.
inline bool needs_exponents(const std::vector<decimal>& numbers) {
  double greatest = 0, least = 0;
  for (const auto& each : numbers) {
    const double magnitude = std::fabs(each.value);
    if (!each.name.empty() || magnitude == 0) continue;
    greatest = magnitude > greatest ? magnitude : greatest;
    least = least == 0 || magnitude < least ? magnitude : least;
  }
  return greatest >= 1e8 || (least != 0 && (least < 1e-4 || greatest / least > 1000));
}

/// Texts filled up with spaces on the left to equal lengths.
inline std::vector<std::string> align_right(std::vector<std::string> texts) {
  std::size_t width = 0;
  for (const auto& each : texts) width = each.size() > width ? each.size() : width;
  for (auto& each : texts) each.insert(0, width - each.size(), ' ');
  return texts;
}

/// Numbers with their points below each other, `plus` before those that are not negative.
inline std::vector<std::string> align_numbers(const std::vector<decimal>& numbers, const char* plus = "") {
  const bool exponents = needs_exponents(numbers);
  std::size_t places = 0;
  for (const auto& each : numbers) {
    const std::size_t count = exponents ? each.digits.size() - (each.digits.empty() ? 0 : 1) : fraction(each).size();
    places = count > places ? count : places;
  }
  std::vector<std::string> texts;
  for (const auto& each : numbers) {
    std::string after = each.name.empty() ? exponents ? each.digits.substr(1) : fraction(each) : "";
    after.append(places - after.size(), exponents ? '0' : ' ');
    const std::string sign = (each.name.empty() ? each.negative() : each.name[0] == '-') ? "" : plus;
    if (!each.name.empty()) texts.push_back(sign + each.name);
    else if (!exponents) texts.push_back(sign + whole_part(each) + "." + after);
    else
      texts.push_back(sign + (each.negative() ? "-" : "") + each.digits.substr(0, 1) + "." + after +
                      exponent_text(each.point - 1));
  }
  return align_right(std::move(texts));
}

/// Complex numbers: both parts aligned, the imaginary one signed, as 1.5+2.j.
template <class T>
std::vector<std::string> complex_texts(const std::vector<T>& elements, int precision) {
  std::vector<decimal> real, imaginary;
  for (const T& each : elements) {
    real.push_back(shortest_decimal(each.real(), precision));
    imaginary.push_back(shortest_decimal(each.imag(), precision));
  }
  std::vector<std::string> texts = align_numbers(real);
  const std::vector<std::string> behind = align_numbers(imaginary, "+");
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const std::size_t last = behind[i].find_last_not_of(' ') + 1;
    texts[i] += behind[i].substr(0, last) + "j" + behind[i].substr(last);
  }
  return texts;
}

/// The texts of elements, all of the same length.
template <dtype T>
std::vector<std::string> element_texts(const std::vector<T>& elements, int precision) {
  if constexpr (is_complex<T>) {
    return complex_texts(elements, precision);
  } else if constexpr (is_floating<T>) {
    std::vector<decimal> numbers;
    for (const T each : elements) numbers.push_back(shortest_decimal(each, precision));
    return align_numbers(numbers);
  } else {
    std::vector<std::string> texts;
    for (const auto each : elements) {
      if constexpr (std::is_same_v<T, bool>) texts.push_back(each ? "true" : "false");
      else texts.push_back(std::to_string(each));
    }
    return align_right(std::move(texts));
  }
}

/// Brackets, line breaks and "..." around the texts of elements.
class text_layout {
 public:
  text_layout(std::vector<index> extents, std::vector<std::string> texts, const print_options& options, bool summarises)
      : extents_(std::move(extents)), texts_(std::move(texts)), options_(options), summarises_(summarises) {}

  std::string text() {
    if (extents_.empty()) {
      const auto last = texts_[0].find_last_not_of(' ');
      return texts_[0].substr(0, last + 1) + (texts_[0][last] == '.' ? "0" : "");
    }
    const bool has_elements = std::find(extents_.begin(), extents_.end(), 0) == extents_.end();
    return has_elements ? block(0) : "[]";
  }

 private:
  /// Positions of an axis that are shown; `-1` is the gap.
  std::vector<index> shown(std::size_t axis) const {
    std::vector<index> positions;
    for (index i = 0; i < extents_[axis]; ++i) {
      const bool hidden = summarises_ && i >= options_.edge && i < extents_[axis] - options_.edge;
      if (!hidden) positions.push_back(i);
      else if (i == options_.edge) positions.push_back(-1);
    }
    return positions;
  }
  /// Everything below one position of the axes before `axis`.
  std::string block(std::size_t axis) {
    if (axis + 1 == extents_.size()) return row();
    const std::string indent(axis + 1, ' '), gap(extents_.size() - axis - 1, '\n');
    std::string text;
    for (const index position : shown(axis)) {
      if (!text.empty()) text += gap + indent;
      text += position < 0 ? "..." : block(axis + 1);
    }
    return "[" + text + "]";
  }
  /// The last axis, broken into lines.
  std::string row() {
    const std::string indent(extents_.size(), ' ');
    const auto width = static_cast<std::size_t>(options_.line_width) - extents_.size();
    std::string text, line = indent;
    for (const index position : shown(extents_.size() - 1)) {
      const std::string word = position < 0 ? "..." : texts_[next_++];
      if (line.size() > indent.size()) line += ' ';
      if (line.size() + word.size() > width && line.size() > indent.size()) {
        line.pop_back();
        text += line + "\n";
        line = indent;
      }
      line += word;
    }
    return compose_text("[", (text + line).substr(indent.size()), "]");
  }

  std::vector<index> extents_;
  std::vector<std::string> texts_;
  print_options options_;
  bool summarises_;
  std::size_t next_ = 0;
};

/// The elements that are shown, in row-major order.
template <class T, class Shape>
class shown_elements {
 public:
  shown_elements(const view<const T, Shape, host>& source, const print_options& options, bool summarises)
      : source_(source), edge_(summarises ? options.edge : source.size()) {
    if (source.size() != 0) visit(0, 0);
  }
  const std::vector<T>& elements() const { return elements_; }

 private:
  void visit(int axis, index offset) {
    if (axis == Shape::rank) {
      elements_.push_back(source_.data()[offset]);
      return;
    }
    const index extent = source_.extent(axis);
    for (index i = 0; i < extent; ++i) {
      if (i >= edge_ && i < extent - edge_) i = extent - edge_ - 1;  // the last one that is left out
      else visit(axis + 1, offset + i * source_.strides()[axis]);
    }
  }

  view<const T, Shape, host> source_;
  index edge_;
  std::vector<T> elements_;
};

template <class T, class Shape>
std::string text_of_view(const view<const T, Shape, host>& source, const print_options& options) {
  if (options.edge < 0) throw error(compose_text("to_text: edge ", options.edge, ", expected at least 0"));
#if TENON_CHECKED != 0
  check_alive("to_text", "operand", block_of(source));
#endif
  const bool summarises = source.size() > options.threshold;
  const auto extents = source.shape().to_array();
  const shown_elements<T, Shape> elements(source, options, summarises);
  return text_layout(std::vector<index>(extents.begin(), extents.end()),
                     element_texts(elements.elements(), options.precision), options, summarises)
      .text();
}

template <class Space>
struct printed_space {
  using type = host;  // generators lie in no space
};
template <memory_space Space>
struct printed_space<Space> {
  using type = Space;
};

}  // namespace detail

/// The text of a tensor, a view or an expression, as NumPy lays it out: `[[1. 2.]\n [3. 4.]]`.
/// throws    error for a negative edge
/// cost      expressions are evaluated, elements of a device are copied to the host first
/// example   const std::string text = to_text(x);
template <printable Operand>
std::string to_text(const Operand& operand, const print_options& options = {}) {
  using element = typename Operand::element;
  using shape_type = std::remove_cvref_t<decltype(operand.shape())>;
  using space = typename detail::printed_space<typename Operand::space>::type;
  if constexpr (!expression_node<Operand> && std::is_same_v<space, host>) {
    if constexpr (requires { operand.strides(); }) {
      return detail::text_of_view<element, shape_type>({operand.data(), operand.shape(), operand.strides()}, options);
    } else {
      return detail::text_of_view<element, shape_type>(operand.view(), options);
    }
  } else {
    const tensor<element, shape_type, host> copy = tensor<element, shape_type, space>(operand).template to<host>();
    return detail::text_of_view<element, shape_type>(copy.view(), options);
  }
}

/// Writes the text of a tensor, a view or an expression. The stream's precision is the number of significant digits;
/// its default of 6 stands for 8.
template <printable Operand>
std::ostream& operator<<(std::ostream& stream, const Operand& operand) {
  const int precision = static_cast<int>(stream.precision());
  return stream << to_text(operand, {.precision = precision == 6 ? 8 : precision < 1 ? 1 : precision});
}
/// Writes extents as messages do: `[3, 4]`.
template <shape_type Shape>
std::ostream& operator<<(std::ostream& stream, const Shape& extents) {
  return stream << compose_text(extents.to_array());
}

}  // namespace tenon

#if defined(__cpp_lib_format_ranges)
/// A tensor is a range, but it has extents to be printed by.
template <tenon::printable Operand>
inline constexpr std::range_format std::format_kind<Operand> = std::range_format::disabled;
#endif

#if defined(__cpp_lib_format)
/// `std::format("{}", x)`, or with a precision, `std::format("{:.3}", x)`.
template <tenon::printable Operand>
struct std::formatter<Operand, char> {
  constexpr auto parse(std::format_parse_context& context) {
    auto place = context.begin();
    if (place != context.end() && *place == '.') {
      options_.precision = 0;
      for (++place; place != context.end() && *place >= '0' && *place <= '9'; ++place)
        options_.precision = options_.precision * 10 + (*place - '0');
      if (options_.precision == 0) throw std::format_error("tenon: a precision is at least 1");
    }
    if (place != context.end() && *place != '}') throw std::format_error("tenon: expected {} or {:.precision}");
    return place;
  }
  auto format(const Operand& operand, std::format_context& context) const {
    const std::string text = tenon::to_text(operand, options_);
    return std::copy(text.begin(), text.end(), context.out());
  }

 private:
  tenon::print_options options_;
};
#endif
