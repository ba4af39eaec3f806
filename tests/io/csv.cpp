// tests/io/csv.cpp: tables of separated values.
// Quotes, separators, ends of lines and missing fields; each mistake names file, line and column.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/csv.hpp>

#include <cmath>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace io = tenon::io;
using tenon_test::has;

namespace {

io::csv_table table_of(const std::string& content, const io::csv_options& options = {}) {
  const tenon_test::scratch_file file("read.csv");
  file.write(tenon_test::bytes_of(content));
  return io::csv_table(file.path, options);
}

template <class Body>
std::string csv_refusal(const std::string& content, Body&& body) {
  return tenon_test::text_of<tenon::file_error>([&] { body(table_of(content)); });
}

}  // namespace

TEST_CASE("columns are read by name, as numbers", "[csv]") {
  const auto table = table_of("a,b,c\n1,2.5,-3\n\n4, +5e-1 ,6\n");
  CHECK(table.rows() == 2);
  CHECK(table.names() == std::vector<std::string>{"a", "b", "c"});
  const auto x = table.columns<float>({"c", "b"});
  REQUIRE(x.shape() == tenon::rank<2>(2, 2));
  CHECK(x(0, 0) == -3);
  CHECK(x(0, 1) == 2.5f);
  CHECK(x(1, 0) == 6);
  CHECK(x(1, 1) == 0.5f);
  const auto a = table.column<std::uint8_t>("a");
  REQUIRE(a.shape() == tenon::rank<1>(2));
  CHECK(a(1) == 4);
  CHECK(table.columns<double>().shape() == tenon::rank<2>(2, 3));
  CHECK(static_cast<float>(table.columns<tenon::half>({"b"})(0, 0)) == 2.5f);
}

TEST_CASE("quoted fields hold separators, quotes and lines", "[csv]") {
  const auto table = table_of("\xef\xbb\xbfname;\"a \"\"b\"\"\"\r\n\"x;\ny\";1\r\n\"\";2\rz;3", {.separator = ';'});
  CHECK(table.names() == std::vector<std::string>{"name", "a \"b\""});
  CHECK(table.texts("name") == std::vector<std::string>{"x;\ny", "", "z"});
  CHECK(table.column<int>("a \"b\"")(2) == 3);
}

TEST_CASE("a table without a header numbers its columns", "[csv]") {
  const auto table = table_of("1\t2\n3\t4", {.separator = '\t', .has_header = false});
  CHECK(table.names() == std::vector<std::string>{"0", "1"});
  CHECK(table.column<int>("1")(0) == 2);
  CHECK(table.rows() == 2);
}

TEST_CASE("missing fields are NaN", "[csv]") {
  const auto table = table_of("a,b\n,1\nNA,2\n none ,3\n", {.missing = {"", "NA", "none"}});
  const auto a = table.column<double>("a");
  for (tenon::index i = 0; i < 3; ++i) CHECK(std::isnan(a(i)));
  CHECK(csv_refusal("a\nNA\n", [](const auto& t) { t.template column<int>("a"); })
            .find("line 2, column 1 (a): `NA`, "
                  "expected a whole number; read floats where values are missing") != std::string::npos);
}

TEST_CASE("missing classes are -1, spaces around classes do not count", "[csv]") {
  const auto table = table_of("kind,number\nrose,1\n lily ,2\n,3\nNA,4\n\" lily\",5\nlily,6\n");
  const auto [labels, names] = table.classes("kind");
  CHECK(names == std::vector<std::string>{" lily", "lily", "rose"});
  CHECK(std::vector<int>(labels.data(), labels.data() + labels.size()) == std::vector<int>{2, 1, -1, -1, 0, 1});
}

TEST_CASE("texts of two bytes a character are refused", "[csv]") {
  const std::string text("\xff\xfe\x61\0\n\0", 6);
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { table_of(text); }),
            "byte 3 is 0, expected text of ASCII or UTF-8 (not UTF-16)"));
}

TEST_CASE("classes are numbered in the order of the alphabet", "[csv]") {
  const auto [labels, names] = table_of("kind\nrose\nlily\nrose\naster\n").classes("kind");
  CHECK(names == std::vector<std::string>{"aster", "lily", "rose"});
  CHECK(labels(0) == 2);
  CHECK(labels(1) == 1);
  CHECK(labels(3) == 0);
}

TEST_CASE("tables without records", "[csv]") {
  CHECK(table_of("").rows() == 0);
  CHECK(table_of("a,b\n").columns<float>().shape() == tenon::rank<2>(0, 2));
  CHECK(table_of("a\n\"\"\n").rows() == 1);  // one empty text, not an empty line
}

TEST_CASE("numbers of 64 bits are read to their ends", "[csv]") {
  const auto table = table_of("a,b\n18446744073709551615,9223372036854775807\n0,-9223372036854775808\n");
  CHECK(table.column<std::uint64_t>("a")(0) == ~std::uint64_t{0});
  CHECK(table.column<std::int64_t>("b")(0) == INT64_MAX);
  CHECK(table.column<std::int64_t>("b")(1) == INT64_MIN);
  const auto refused = [](const std::string& number, auto type) {
    return csv_refusal("a\n" + number + "\n", [](const auto& t) { t.template column<decltype(type)>("a"); });
  };
  CHECK(has(refused("-1", std::uint64_t{}), "`-1`, expected a whole number without a sign"));
  CHECK(has(refused("18446744073709551616", std::uint64_t{}), "expected a number that fits the type"));
  CHECK(has(refused("9223372036854775808", std::int64_t{}), "expected a number that fits the type"));
  CHECK(has(refused("2", bool{}), "`2`, expected a number that fits the type"));
}

TEST_CASE("floating numbers too small for their type are 0", "[csv]") {
  const auto table = table_of("a\n1e-60\n-1e-400\n0." + std::string(400, '0') + "12e-3\n3e-324\n");
  const auto floats = table.column<float>("a");
  for (tenon::index i = 0; i < 4; ++i) CHECK(floats(i) == 0);
  const auto doubles = table.column<double>("a");
  CHECK(doubles(0) == 1e-60);
  CHECK(doubles(1) == 0);
  CHECK(std::signbit(doubles(1)));
  CHECK(doubles(2) == 0);
  CHECK(doubles(3) == 0x1p-1074);
  for (const char* each : {"1e999", "-1e999", "0.01e400"}) {
    CHECK(
        has(csv_refusal(tenon::compose_text("a\n", each, "\n"), [](const auto& t) { t.template column<double>("a"); }),
            "expected a number that fits the type"));
  }
}

TEST_CASE("columns of one name are not asked for by it", "[csv]") {
  const auto table = table_of("x,y,x\n1,2,3\n");
  const auto all = table.columns<int>();
  for (tenon::index i = 0; i < 3; ++i) CHECK(all(0, i) == 1 + i);
  CHECK(table.column<int>("y")(0) == 2);
  const auto twice = [&](auto&& body) { return tenon_test::text_of<tenon::file_error>(body); };
  CHECK(has(twice([&] { table.column<int>("x"); }), "columns 1 and 3 are both called x"));
  CHECK(has(twice([&] { table.texts("x"); }), "columns 1 and 3 are both called x"));
}

TEST_CASE("mistakes of a table are named with line and column", "[csv]") {
  const auto nothing = [](const io::csv_table&) {};
  const auto floats = [](const io::csv_table& table) { table.columns<float>(); };
  const auto bytes = [](const io::csv_table& table) { table.columns<std::uint8_t>(); };
  const auto unknown = [](const io::csv_table& table) { table.columns<float>({"z"}); };
  CHECK(has(csv_refusal("a,b\n1,2\n3\n", nothing), "line 3: 1 fields, expected 2 as in the first line"));
  CHECK(has(csv_refusal("a\n\"1\n2\n", nothing), "line 2: a quote is opened that nothing closes"));
  CHECK(has(csv_refusal("a\n\"1\"2\n", nothing), "line 2: text follows the closing quote of `1`"));
  CHECK(has(csv_refusal("a,b\n\"1\n\",2\n3,x4\n", [](const auto& table) { table.template column<float>("b"); }),
            "read.csv: line 4, column 2 (b): `x4`, expected a number"));
  CHECK(has(csv_refusal("a\n1.5x\n", floats), "`1.5x`, expected a number"));
  CHECK(has(csv_refusal("a\n+-1\n", floats), "`+-1`, expected a number"));
  CHECK(has(csv_refusal("a\n1e999\n", floats), "expected a number that fits the type"));
  CHECK(has(csv_refusal("a\n1e39\n", floats), "`1e39`, expected a number that fits the type"));
  CHECK(std::isinf(table_of("a\n-inf\n").column<float>("a")(0)));
  CHECK(has(csv_refusal("a\n256\n", bytes), "`256`, expected a number that fits the type"));
  CHECK(has(csv_refusal("a\n-1\n", bytes), "`-1`, expected a whole number without a sign"));
  CHECK(has(csv_refusal("a\n1.5\n", bytes), "`1.5`, expected a whole number"));
  CHECK(has(csv_refusal("a,b\n1,2\n", unknown), "there is no column z; there are a, b"));
  CHECK(has(tenon_test::text_of<tenon::file_error>([] { io::csv_table("/no/table.csv"); }), "read_csv: /no/table.csv"));
}

TEST_CASE("a copy of a table has texts of its own, quotes written twice once, and lines as in the file", "[csv]") {
  std::string content = "name,x\n";
  for (int row = 0; row < 300; ++row)
    content += "\"a \"\"" + std::to_string(row) + "\"\"\nb\"," + std::to_string(row) + "\n";
  content += "last,not measured\n";
  const auto copied = [&] {
    const auto table = table_of(content, {.missing = {"not measured", "-"}});
    return io::csv_table(table);
  }();
  REQUIRE(copied.rows() == 301);
  const auto texts = copied.texts("name");
  CHECK(texts[0] == "a \"0\"\nb");
  CHECK(texts[299] == "a \"299\"\nb");
  const auto x = copied.column<float>("x");
  CHECK(x(299) == 299);
  CHECK(std::isnan(x(300)));
  CHECK(has(tenon_test::text_of<tenon::file_error>([&] { copied.column<int>("x"); }), "line 602, column 2 (x)"));
}
