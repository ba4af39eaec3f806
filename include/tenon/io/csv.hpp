// tenon/io/csv.hpp: tables as text: comma-separated values.
// A file is split into fields once; columns are read by name or number, as numbers, texts or classes.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <locale>
#include <numeric>
#include <sstream>
#include <string>
#include <string_view>
#include <tenon/core/tensor.hpp>
#include <tenon/io/bytes.hpp>
#include <tenon/io/read_double.hpp>

namespace tenon::io {

/// How a file of separated values is read.
struct csv_options {
  char separator = ',';
  char quote = '"';
  bool has_header = true;  ///< whether the first record names the columns; else they are called 0, 1, ...
  std::vector<std::string> missing{"", "NA", "N/A", "NaN", "nan", "null", "?"};  ///< fields that hold no value
};

/// The classes of a column: the number of each record's class, -1 where it is missing, and the name of each number.
struct csv_classes {
  tensor<std::int64_t, rank<1>> labels;
  std::vector<std::string> names;
};

namespace detail {

/// A field: where in the file its text lies, and the line on which it begins.
struct csv_field {
  std::size_t begin = 0, length = 0;
  index line = 1;
  bool is_quoted = false;
};

/// Splits text into records of fields. What is written in quotes moves within the text, so that quotes written twice
/// stand there once.
class csv_splitter {
 public:
  TENON_IF_CALLED csv_splitter(const std::filesystem::path& path, char* text, std::size_t size,
                               const csv_options& options)
      : path_(path), text_(text), size_(size), options_(options) {
    if (std::string_view(text, size).starts_with("\xef\xbb\xbf")) at_ = 3;  // the mark of some programs before UTF-8
  }

  bool is_done() const { return at_ >= size_; }
  /// Appends the fields of the next record and returns how many they are: none for an empty line.
  TENON_IF_CALLED std::size_t next(std::vector<csv_field>& fields) {
    const std::size_t before = fields.size();
    while (true) {
      if (fields.size() == fields.capacity()) make_room(fields);
      fields.push_back(is_at(options_.quote) ? quoted_field() : plain_field());
      if (!is_at(options_.separator)) break;
      ++at_;
    }
    end_line();
    const bool is_empty = fields.size() == before + 1 && fields.back().length == 0 && !fields.back().is_quoted;
    if (is_empty) fields.pop_back();
    return fields.size() - before;
  }

 private:
  bool is_at(char character) const { return at_ < size_ && text_[at_] == character; }
  bool is_behind_field() const { return is_done() || is_at(options_.separator) || is_at('\r') || is_at('\n'); }
  /// For as many more fields as the rest of the text has, should it have as many a byte as the text before.
  TENON_IF_CALLED void make_room(std::vector<csv_field>& fields) const {
    const double growth = 1.05 * static_cast<double>(size_) / static_cast<double>(at_ + 1);
    if (fields.size() > 1000) fields.reserve(static_cast<std::size_t>(growth * static_cast<double>(fields.size())) + 1);
  }
  csv_field plain_field() {
    const std::size_t begin = at_;
    while (!is_behind_field()) ++at_;
    return {begin, at_ - begin, line_};
  }
  /// A quote within it is written twice.
  TENON_IF_CALLED csv_field quoted_field() {
    csv_field field{at_, 0, line_, true};
    for (++at_; at_ < size_; ++at_) {
      if (text_[at_] == options_.quote) {
        ++at_;
        if (!is_at(options_.quote)) return check_end(field), field;
      }
      if (text_[at_] == '\n') ++line_;
      text_[field.begin + field.length++] = text_[at_];
    }
    refuse("read_csv", path_, compose_text("line ", field.line, ": a quote is opened that nothing closes"));
  }
  TENON_IF_CALLED void check_end(const csv_field& field) const {
    if (is_behind_field()) return;
    refuse("read_csv", path_,
           compose_text("line ", line_, ": text follows the closing quote of `",
                        std::string_view(text_ + field.begin, field.length), "`"));
  }
  void end_line() {
    if (is_at('\r')) ++at_;
    if (is_at('\n')) ++at_;
    ++line_;
  }

  const std::filesystem::path& path_;
  char* text_;
  std::size_t size_, at_ = 0;
  const csv_options& options_;
  index line_ = 1;
};

}  // namespace detail

/// A table of separated values. Each record has as many fields as the table has columns; empty lines are skipped.
/// throws    file_error naming line and column, or where memory is too small; a field is parsed only when its column is
///           read
/// source    RFC 4180, with any separator and any end of line
/// example   const io::csv_table table("iris.csv");
///           data::tensor_dataset examples(table.columns<float>({"width", "length"}), table.classes("species").labels);
class csv_table {
 public:
  TENON_IF_CALLED explicit csv_table(const std::filesystem::path& path, csv_options options = {})
      : path_(path), options_(std::move(options)), bytes_(read_bytes("read_csv", path)) {
    const auto zero = std::find(bytes_.begin(), bytes_.end(), std::uint8_t{0});
    if (zero != bytes_.end()) {
      refuse("read_csv", path,
             compose_text("byte ", zero - bytes_.begin(), " is 0, expected text of ASCII or UTF-8 (not UTF-16)"));
    }
    for (const auto& each : options_.missing) longest_missing_ = std::max(longest_missing_, each.size());
    within_memory("read_csv", path_, bytes_.size(), [&] {
      detail::csv_splitter records(path_, reinterpret_cast<char*>(bytes_.data()), bytes_.size(), options_);
      while (!records.is_done()) add(records.next(fields_));
    });
  }

  TENON_IF_CALLED index rows() const { return names_.empty() ? 0 : static_cast<index>(fields_.size() / names_.size()); }
  const std::vector<std::string>& names() const { return names_; }

  /// The columns of these names side by side.
  /// extents   [rows, names]
  /// throws    file_error for a name that no column has or that several have, and naming line and column of a field
  ///           that is no number, is beyond the type, or is missing where the type has no NaN; numbers too small for
  ///           a floating type become 0
  template <dtype T>
  tensor<T, rank<2>> columns(const std::vector<std::string>& names) const {
    std::vector<std::size_t> numbers;
    for (const auto& name : names) numbers.push_back(number_of(name));
    return columns_of<T>(numbers);
  }
  /// All columns side by side, also where several have the same name.
  template <dtype T>
  tensor<T, rank<2>> columns() const {
    std::vector<std::size_t> numbers(names_.size());
    std::iota(numbers.begin(), numbers.end(), std::size_t{0});
    return columns_of<T>(numbers);
  }
  /// One column as a tensor [rows]; errors as of `columns`.
  template <dtype T>
  tensor<T, rank<1>> column(const std::string& name) const {
    const auto found = columns<T>({name});
    tensor<T, rank<1>> result({rows()});
    std::copy(found.data(), found.data() + found.size(), result.data());
    return result;
  }
  TENON_IF_CALLED std::vector<std::string> texts(const std::string& name) const {
    const std::size_t column = number_of(name);
    std::vector<std::string> result;
    for_fields(column, [&](const auto& field) { result.emplace_back(text_of(field)); });
    return result;
  }
  /// The distinct texts of a column, numbered in the order of the alphabet. Spaces around a text that is not quoted do
  /// not count.
  TENON_IF_CALLED csv_classes classes(const std::string& name) const {
    const std::size_t column = number_of(name);
    std::vector<std::string_view> distinct;
    for_fields(column, [&](const auto& field) {
      if (!is_missing(field)) distinct.push_back(class_in(field));
    });
    std::sort(distinct.begin(), distinct.end());
    distinct.erase(std::unique(distinct.begin(), distinct.end()), distinct.end());
    tensor<std::int64_t, rank<1>> labels({rows()});
    std::int64_t* label = labels.data();
    for_fields(column, [&](const auto& field) {
      const auto found = std::lower_bound(distinct.begin(), distinct.end(), class_in(field));
      *label++ = is_missing(field) ? -1 : found - distinct.begin();
    });
    return {std::move(labels), {distinct.begin(), distinct.end()}};
  }

 private:
  /// The last `count` fields are a record.
  TENON_IF_CALLED void add(std::size_t count) {
    if (count == 0) return;
    const auto* const record = fields_.data() + (fields_.size() - count);
    if (names_.empty()) {
      for (std::size_t i = 0; i < count; ++i) {
        names_.push_back(options_.has_header ? std::string(text_of(record[i])) : std::to_string(i));
      }
      if (options_.has_header) return fields_.clear();
    }
    if (count != names_.size()) {
      refuse("read_csv", path_,
             compose_text("line ", record->line, ": ", count, " fields, expected ", names_.size(),
                          " as in the first line"));
    }
  }
  std::string_view text_of(const detail::csv_field& field) const {
    return {reinterpret_cast<const char*>(bytes_.data()) + field.begin, field.length};
  }
  /// Calls `body` for the field that each record has in a column.
  void for_fields(std::size_t column, const auto& body) const {
    for (std::size_t at = column; at < fields_.size(); at += names_.size()) body(fields_[at]);
  }
  TENON_IF_CALLED std::size_t number_of(const std::string& name) const {
    const auto found = std::find(names_.begin(), names_.end(), name);
    if (found != names_.end()) {
      const auto second = std::find(found + 1, names_.end(), name);
      if (second == names_.end()) return static_cast<std::size_t>(found - names_.begin());
      refuse("read_csv", path_,
             compose_text("columns ", found - names_.begin() + 1, " and ", second - names_.begin() + 1,
                          " are both called ", name));
    }
    std::string known;
    for (const auto& each : names_) known += (known.empty() ? "" : ", ") + each;
    refuse("read_csv", path_, "there is no column " + name + "; there are " + known);
  }
  TENON_IF_CALLED [[noreturn]] void refuse_field(const detail::csv_field& field, std::size_t column,
                                                 const char* expected) const {
    refuse("read_csv", path_,
           compose_text("line ", field.line, ", column ", column + 1, " (", names_[column], "): `", text_of(field),
                        "`, expected ", expected));
  }

  template <dtype T>
  tensor<T, rank<2>> columns_of(const std::vector<std::size_t>& numbers) const {
    const array<index, 2> extents{{rows(), static_cast<index>(numbers.size())}};
    const std::uint64_t bytes = bytes_of_elements("read_csv", path_, extents, sizeof(T));
    auto result = within_memory("read_csv", path_, bytes, [&] { return tensor<T, rank<2>>(rank<2>(extents)); });
    T* to = result.data();
    for (std::size_t record = 0; record < fields_.size(); record += names_.size()) {
      for (const std::size_t column : numbers) *to++ = number_in<T>(fields_[record + column], column);
    }
    return result;
  }
  static std::string_view without_spaces(std::string_view text) {
    while (!text.empty() && (text.front() == ' ' || text.front() == '\t')) text.remove_prefix(1);
    while (!text.empty() && (text.back() == ' ' || text.back() == '\t')) text.remove_suffix(1);
    return text;
  }
  TENON_IF_CALLED bool is_missing(const detail::csv_field& field) const {
    const auto& missing = options_.missing;
    const std::string_view text = without_spaces(text_of(field));
    return text.size() <= longest_missing_ && std::find(missing.begin(), missing.end(), text) != missing.end();
  }
  std::string_view class_in(const detail::csv_field& field) const {
    return field.is_quoted ? text_of(field) : without_spaces(text_of(field));
  }
  template <dtype T>
  T number_in(const detail::csv_field& field, std::size_t column) const {
    using whole = std::conditional_t<std::is_unsigned_v<T>, std::uint64_t, std::int64_t>;
    using number = std::conditional_t<is_floating<T>, double, whole>;
    std::string_view text = without_spaces(text_of(field));
    if (is_missing(field)) {
      if constexpr (is_floating<T>) return static_cast<T>(std::numeric_limits<float>::quiet_NaN());
      else refuse_field(field, column, "a whole number; read floats where values are missing");
    }
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    number value{};
    const auto [end, status] = read_number(text, value);
    if (status == std::errc::invalid_argument || end != text.data() + text.size()) {
      refuse_field(field, column, expected_number<T>());
    }
    bool fits = status == std::errc{};
    if constexpr (is_floating<T>) {
      if (!fits) value = nearest_double(text), fits = std::fabs(value) < 1;
    }
    using wider = std::conditional_t<is_floating<T>, compute_type<T>, number>;
    const auto found = static_cast<T>(static_cast<wider>(value));
    const auto back = static_cast<number>(static_cast<wider>(found));
    fits = fits && (is_floating<T> ? std::isinf(value) || !std::isinf(back) : back == value);
    if (!fits) refuse_field(field, column, "a number that fits the type");
    return found;
  }
  template <dtype T>
  static constexpr const char* expected_number() {
    return is_floating<T> ? "a number" : std::is_unsigned_v<T> ? "a whole number without a sign" : "a whole number";
  }
  static std::from_chars_result read_number(std::string_view text, auto& value) {
    if constexpr (std::is_same_v<decltype(value), double&>) return tenon::detail::read_double(text, value);
    else return std::from_chars(text.data(), text.data() + text.size(), value);
  }
  /// The double for a number beyond the range: 0 where it is too small, the greatest double where it is too great.
  TENON_IF_CALLED static double nearest_double(std::string_view text) {
    std::istringstream stream{std::string(text)};
    stream.imbue(std::locale::classic());
    double value = 0;
    stream >> value;
    return value;
  }

  std::filesystem::path path_;
  csv_options options_;
  std::vector<std::uint8_t> bytes_;  // of the file; fields say where they lie
  std::size_t longest_missing_ = 0;
  std::vector<std::string> names_;
  std::vector<detail::csv_field> fields_;  // record by record
};

}  // namespace tenon::io
