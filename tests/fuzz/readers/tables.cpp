// tests/fuzz/readers/tables.cpp: attacks on the readers of text: tables, characters, tuned products.
// Numbers of a table are those that the C library reads.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/csv.hpp>
#include <tenon/io/text.hpp>
#include <tenon/tune.hpp>

#include <cstdlib>

#include "fuzz/readers/damage.hpp"

namespace fuzz {

namespace {

namespace io = tenon::io;

constexpr const char* fields[] = {"1",    "-2",       "3.5",    "1e-400",      "1e-46", "1e39",
                                  "NA",   "",         "\"4\"",  "\" a\"\"b\"", "inf",   "18446744073709551615",
                                  " 5 ",  "+6",       "-1e400", "255",         "128",   "-9223372036854775808",
                                  "text", "\"x\ny\"", "nan",    "0.1",         "1e308", "true"};

bytes make_csv(random_source& random) {
  const auto columns = 1 + random.below(4);
  const char* const separator = once_in(4, random) ? ";" : ",";
  const char* const line = once_in(4, random) ? "\r\n" : "\n";
  const bool has_texts = once_in(3, random);
  std::string text = once_in(8, random) ? "\xef\xbb\xbf" : "";
  for (auto rows = random.below(6); rows >= 0; --rows) {
    for (std::int64_t column = 0; column < columns; ++column) {
      const std::string number = std::to_string(random.below(300) - 20);
      text += std::string(column == 0 ? "" : separator) + (has_texts ? one_of(fields, random) : number);
    }
    text += line;
  }
  return tenon_test::bytes_of(text);
}

/// Calls `body`, which may refuse a column.
template <class Body>
bool succeeds(const Body& body) {
  try {
    body();
  } catch (const tenon::file_error&) {
    return false;
  }
  return true;
}

/// A column of numbers, each of which must be what `expected` reads.
template <class T, class Expected>
bool has_numbers(const io::csv_table& table, const std::string& name, const Expected& expected) {
  return succeeds([&] {
    const auto numbers = table.column<T>(name);
    const auto texts = table.texts(name);
    for (tenon::index row = 0; row < numbers.size(); ++row) {
      const auto value = expected(texts[static_cast<std::size_t>(row)].c_str());
      must_hold(numbers(row) == static_cast<T>(value) || numbers(row) != numbers(row), "another number is read");
    }
  });
}

/// A column as numbers of one type.
bool check_column(const io::csv_table& table, const std::string& name, std::size_t type) {
  const auto signed_number = [](const char* text) { return std::strtoll(text, nullptr, 10); };
  switch (type) {
    case 0:
      return has_numbers<double>(table, name, [](const char* text) { return std::strtod(text, nullptr); });
    case 1:
      return has_numbers<std::uint64_t>(table, name, [](const char* text) { return std::strtoull(text, nullptr, 10); });
    case 2:
      return has_numbers<std::int64_t>(table, name, signed_number);
    case 3:
      return has_numbers<std::int8_t>(table, name, signed_number);
    default:
      return has_numbers<bool>(table, name, signed_number) || succeeds([&] { table.classes(name); });
  }
}

void check_csv(const std::filesystem::path& path, const bytes& content) {
  const bool has_semicolons = std::find(content.begin(), content.end(), ';') != content.end();
  const io::csv_table table(path, {.separator = has_semicolons ? ';' : ',', .has_header = content.size() % 2 == 0});
  constexpr std::size_t most_columns = 5;  // each is read as a type of its own
  bool is_read = succeeds([&] { table.columns<float>(); });
  for (std::size_t column = 0; column < std::min(table.names().size(), most_columns); ++column) {
    is_read = check_column(table, table.names()[column], (column + content.size()) % most_columns) || is_read;
  }
  if (!is_read) throw tenon::file_error("no column is read");
}

bytes make_text(random_source& random) {
  constexpr char32_t ends[] = {0, 0x7f, 0x80, 0x7ff, 0x800, 0xd7ff, 0xe000, 0xffff, 0x10000, 0x10ffff};
  std::string text;
  for (auto count = random.below(30); count > 0; --count) {
    io::append_character(text, once_in(3, random) ? one_of(ends, random) : static_cast<char32_t>(random.below(0xd800)));
  }
  return tenon_test::bytes_of(text);
}

void check_text(const std::filesystem::path& path, const bytes& content) {
  const std::string text = io::read_text(path);
  must_hold(std::equal(text.begin(), text.end(), content.begin(), content.end(),
                       [](char left, std::uint8_t right) { return static_cast<std::uint8_t>(left) == right; }),
            "another text is read");
  std::string again;
  for (const char32_t each : io::characters_of(text)) {
    must_hold(each < 0xd800 || (each >= 0xe000 && each <= 0x10ffff), "no character is read");
    io::append_character(again, each);
  }
  must_hold(again == text, "other characters come back");
}

bytes make_tuned(random_source& random) {
  std::string text = std::string(tenon::detail::tuned_heading) + "\n";
  for (auto lines = random.below(4); lines > 0; --lines) {
    text += once_in(2, random) ? "mma_product float16" : "wmma_product bfloat16";
    for (int number = 0; number < 6; ++number) text += " " + std::to_string(random.below(200));
    text += " " + std::to_string(random.below(2)) + " " + std::to_string(1 + random.below(64)) + "\n";
  }
  return tenon_test::bytes_of(text);
}

void check_tuned(const std::filesystem::path& path, const bytes&) {
  static const memory_file again("again.tuned");
  auto& products = tenon::tuned_products::of_process();
  products.clear();
  if (!succeeds([&] { tenon::load_tuned(path); })) {
    must_hold(products.entries().empty(), "a refused file leaves choices");
    throw tenon::file_error("no choices");
  }
  const auto read = products.entries();
  tenon::save_tuned(again.path);
  products.clear();
  tenon::load_tuned(again.path);
  must_hold(products.entries() == read, "other choices come back");
  products.clear();
}

}  // namespace

std::vector<format> table_formats() {
  return {{"csv", make_csv, check_csv}, {"text", make_text, check_text}, {"tuned", make_tuned, check_tuned}};
}

}  // namespace fuzz
