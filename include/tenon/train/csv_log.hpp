// tenon/train/csv_log.hpp: what a training measured, a row a step, in a file of numbers and commas.
// Each row reaches the system whole, so that a killed training leaves all rows of the steps that it did.
// Floor 8: may include base, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>
#include <tenon/base/array.hpp>
#include <tenon/io/bytes.hpp>
#include <tenon/io/write_bytes.hpp>

namespace tenon::train {

/// Writes `step,FIRST,SECOND,...` and a row for each step; numbers are the shortest that are read back as they were.
/// Without a path it does nothing, so that programs need not ask.
/// throws    file_error, and the file has no part of a row then; error when a row has not one number for each column
/// example   train::csv_log log("loss.csv", {"loss", "lr"}); log.add(step, {loss, optimizer.options().lr});
class csv_log {
 public:
  /// Begins a file; with `next_step` it goes on with the one that is there, but for rows of that step and later, which
  /// are done again.
  csv_log(const std::filesystem::path& path, std::initializer_list<const char*> columns,
          std::optional<std::int64_t> next_step = {})
      : path_(path), columns_(columns.size()) {
    begin(columns, next_step);
  }

  void add(std::int64_t step, std::initializer_list<double> values) {
    if (values.size() != columns_) {
      throw error(
          compose_text("csv_log: a row of ", values.size(), " numbers, expected ", columns_, " as there are columns"));
    }
    if (!file_) return;
    std::string row = std::to_string(step);
    for (const double value : values) {
      array<char, 32> text{};
      row.append(",").append(text.begin(), std::to_chars(text.begin(), text.end(), value).ptr);
    }
    write(row + '\n');
  }
  /// Waits until the disk has all rows, as a checkpoint does that will not write them again.
  void flush() {
    if (file_ && !file_->flush()) io::refuse_with_reason("csv_log", path_, "its rows do not reach the disk");
  }

 private:
  /// A name as readers take it for one: in quotes where it holds a comma, a quote or the end of a line.
  static std::string field_of(std::string_view name) {
    if (name.find_first_of(",\"\r\n") == std::string_view::npos) return std::string(name);
    std::string field = "\"";
    for (const char each : name) field.append(each == '"' ? 2 : 1, each);
    return field + '"';
  }
  void begin(std::initializer_list<const char*> columns, std::optional<std::int64_t> next_step) {
    if (path_.empty()) return;
    std::string header = "step";
    for (const char* column : columns) header.append(",").append(field_of(column));
    header += '\n';
    std::error_code ignored;
    if (next_step && std::filesystem::is_regular_file(path_, ignored)) keep_rows(header, *next_step);
    else replace(header);
    file_.emplace(path_, O_WRONLY | O_APPEND);
    if (!file_->is_open()) io::refuse_with_reason("csv_log", path_);
  }
  void keep_rows(const std::string& header, std::int64_t next_step) {
    const auto bytes = io::read_bytes("csv_log", path_);
    std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
    if (!rest.starts_with(header)) {
      io::refuse("csv_log", path_, "its first line is another one than " + header.substr(0, header.size() - 1));
    }
    std::string kept = header;
    rest.remove_prefix(header.size());
    for (auto end = rest.find('\n'); end != std::string_view::npos; end = rest.find('\n')) {
      std::int64_t step = 0;
      const auto status = std::from_chars(rest.data(), rest.data() + end, step).ec;
      if (status != std::errc{}) io::refuse("csv_log", path_, "a row does not begin with the number of a step");
      if (step < next_step) kept += rest.substr(0, end + 1);
      rest.remove_prefix(end + 1);
    }
    replace(kept);
  }
  static std::span<const std::uint8_t> bytes_of(const std::string& text) {
    return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
  }
  void replace(const std::string& text) const {
    const std::span<const std::uint8_t> parts[] = {bytes_of(text)};
    io::write_bytes("csv_log", path_, parts);
  }
  void write(const std::string& text) {
    if (!file_->append(bytes_of(text))) io::refuse_with_reason("csv_log", path_);
  }

  std::filesystem::path path_;
  std::size_t columns_;
  std::optional<io::open_file> file_;
};

}  // namespace tenon::train
