// tests/plan/describe.cpp: statements in words, and the bytes that they move, as observers are told of them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/plan/describe.hpp>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::counting;

/// Keeps what it is told, and lets everything run.
struct launch_listener final : tenon::launch_observer {
  std::vector<std::string> texts, results;
  std::vector<tenon::index> read, written;

  void statement(const tenon::statement_facts& facts) override {
    tenon::statement_text words;
    words.result(facts.dtype, facts.extents, facts.rank, 0);
    tenon::append_operation(words, *facts.words);
    texts.push_back(words.text());
    read.push_back(facts.bytes_read);
    written.push_back(facts.bytes_written);
  }
  void wrote(const tenon::statement_result& result) override {
    tenon::statement_text words;
    words.result(result.dtype, result.elements->extents.first, result.elements->extents.rank, 0);
    tenon::append_operation(words, *result.words);
    results.push_back(words.text());
  }
  bool begin(const tenon::launch_facts&) override { return true; }
  void end() noexcept override {}
};

}  // namespace

TEST_CASE("bytes are counted in at most four digits", "[describe]") {
  CHECK(tenon::describe_bytes(0) == "0 bytes");
  CHECK(tenon::describe_bytes(9999) == "9999 bytes");
  CHECK(tenon::describe_bytes(10'499) == "10 kB");
  CHECK(tenon::describe_bytes(10'500) == "11 kB");
  CHECK(tenon::describe_bytes(12'000'000'000) == "12 GB");
}

TEST_CASE("a text names tensors by address and results by number", "[describe]") {
  const float one = 1, other = 2;
  tenon::statement_text words;
  const tenon::index extents[] = {3, 4};
  words.result("float32", extents, 2, 4);
  words.open("add");
  words.tensor(&one, 0, 48);
  words.open("sum");
  words.tensor(&other, 0, 12);
  words.reduced_axis(0);
  words.reduced_axis(2);
  words.close();
  words.tensor(nullptr, 7, 16);
  words.tensor(&one, 0, 48);
  words.number(2.5);
  words.word("c");
  words.close();
  CHECK(words.text() == "float32 [3, 4] = add(x0, sum(x1, axis<0, 2>), result7, x0, 2.5, c)");
  CHECK(words.bytes_read() == 48 + 12 + 16);
  CHECK(words.tensors_read() == 3);
  CHECK(words.bytes_written() == 48);
}

TEMPLATE_LIST_TEST_CASE("observers are told of each statement and its distinct bytes", "[describe]",
                        tenon_test::spaces) {
  const auto x = counting<float, TestType>(rank<2>(6, 5)), y = counting<float, TestType>(rank<2>(5, 6));
  const auto row = counting<float, TestType>(rank<1>(5));
  tenon::tensor<float, rank<2>, TestType> result({6, 5}), square({6, 6});
  tenon::tensor<float, rank<1>, TestType> sums({6});
  launch_listener told;
  {
    const tenon::observer_scope scope(&told);
    result = x * x + row * 2;
    sums = tenon::sum(x, axis<1>);
    square = tenon::relu(tenon::matmul(x, y));
    result = tenon::softmax(x, axis<-1>);
    tenon::evaluate(tenon::assign(result, x * 2), tenon::assign(sums, tenon::sum(x, axis<1>)));
  }
  result = x;
  REQUIRE(told.texts.size() == 5);
  CHECK(told.texts[0] == "float32 [6, 5] = add(multiply(x, x), multiply(x, c))");
  CHECK(told.read[0] == 120 + 20);
  CHECK(told.written[0] == 120);
  REQUIRE(told.results.size() == 6);  // the last statement has two
  CHECK(told.results[0] == told.texts[0]);
  CHECK(told.results[2] == told.texts[2]);
  CHECK(told.results[5] == "float32 [6, 1] = sum(x)");
  CHECK(told.texts[1] == "float32 [6, 1] = sum(x)");
  CHECK(told.written[1] == 24);
  CHECK(told.texts[2] == "float32 [6, 6] = relu(contract(x, x))");
  CHECK(told.read[2] == 240);
  CHECK(told.read[3] == 120);
  CHECK(told.texts[4].find("evaluate(multiply(x, c), sum(x))") != std::string::npos);
  CHECK(told.written[4] == 120 + 24);
}

TEST_CASE("what is read of a slice is the slice, of a repeated tensor its own elements", "[describe]") {
  const auto x = counting<float>(rank<2>(6, 50));
  tenon::tensor<float, rank<2>> result({6, 25});
  launch_listener told;
  const tenon::observer_scope scope(&told);
  result = tenon::slice(x, tenon::all_of, tenon::range(0, tenon::open_end, 2)) * 1;
  result = tenon::slice(x, tenon::range(0, 1), tenon::range(0, 25)) * 1;
  REQUIRE(told.read.size() >= 2);
  CHECK(told.read[0] == 600);
  CHECK(told.read[1] == 100);
}
