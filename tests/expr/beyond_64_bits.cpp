// tests/expr/beyond_64_bits.cpp: extents and positions at the ends of an index are computed or refused, never wrapped.
// Under -fsanitize=undefined the same cases find sums and products that are not checked.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expressions.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/text_of.hpp"

namespace beyond_64_bits_test {

namespace {

using tenon::axis;
using tenon_test::numbers_of;
using numbers = std::vector<double>;

constexpr tenon::index half = tenon::index{1} << 62, most = INT64_MAX, least = INT64_MIN;

/// Whether a shape_error names the operation and a number.
template <class Call>
bool refused(const Call& call, const std::string& operation, tenon::index number) {
  const auto text = tenon_test::text_of<tenon::shape_error>(call);
  CAPTURE(text);
  const bool is_named = text.find(operation + ": ") == 0 && text.find(std::to_string(number)) != text.npos;
  CHECK(is_named);
  return is_named;
}

}  // namespace

TEST_CASE("pads, repeats and tiles beyond 64 bits are refused", "[beyond_64_bits]") {
  const auto x = tenon_test::counting<float>(tenon::rank<1>(3), 1);
  for (const tenon::index number : {half, most}) {
    refused([&] { tenon::pad(x, {{{number, number}}}); }, "pad", number);
    refused([&] { tenon::pad(x, {{{number, number}}}, tenon::replicate); }, "pad", number);
    refused([&] { tenon::repeat(x, number, axis<0>); }, "repeat", number);
    refused([&] { tenon::tile(x, {{number}}); }, "tile", number);
  }
  refused([&] { tenon::pad(x, {{{0, most}}}); }, "pad", most);
  refused([&] { tenon::pad(x, {{{least, 0}}}); }, "pad", least);
  refused([&] { tenon::repeat(x, least, axis<0>); }, "repeat", least);
}

TEST_CASE("operands that are joined to more than 64 bits are refused", "[beyond_64_bits]") {
  const auto x = tenon_test::counting<float>(tenon::rank<1>(1), 1);
  const auto great = tenon::expand(x, {half}), greatest = tenon::expand(x, {most});
  refused([&] { tenon::concatenate(axis<0>, great, great); }, "concatenate", half);
  refused([&] { tenon::concatenate(axis<0>, x, greatest); }, "concatenate", most);
  refused([] { tenon::constants(tenon::rank<3>(0, half, half), 1.0f); }, "shape", half);
  refused([&] { tenon::windows(greatest, axis<0>, tenon::rank<1>(3), {{1}}, {{half}}); }, "windows", half);
}

TEST_CASE("ranges of whole numbers are counted without overflow", "[beyond_64_bits]") {
  refused([] { tenon::arange<tenon::index>(least, most); }, "arange", least);
  refused([] { tenon::arange<tenon::index>(most, least, -1); }, "arange", most);
  refused([] { tenon::arange<std::uint64_t>(0, UINT64_MAX); }, "arange", 0);
  CHECK(numbers_of(tenon::arange<tenon::index>(least, most, half)) == numbers{-0x1p63, -0x1p62, 0, 0x1p62});
  CHECK(numbers_of(tenon::arange<tenon::index>(most, least, least)) == numbers{0x1p63, -1});
  CHECK(numbers_of(tenon::arange<std::uint64_t>(UINT64_MAX - 2, UINT64_MAX)).size() == 2);
  CHECK(numbers_of(tenon::arange<std::int8_t>(-128, 127, 100)) == numbers{-128, -28, 72});
  CHECK(numbers_of(tenon::arange<std::uint16_t>(0, 65535, 65534)) == numbers{0, 65534});
  CHECK_THROWS_AS(tenon::arange<int>(least), tenon::shape_error);
  CHECK_THROWS_AS(tenon::linspace<float>(0, 1, least), tenon::shape_error);
}

TEST_CASE("offsets beside every diagonal choose nothing, or all", "[beyond_64_bits]") {
  const auto x = tenon_test::counting<float>(tenon::rank<2>(2, 3), 1);
  const auto all = numbers_of(x), none = numbers(6, 0);
  for (const tenon::index offset : {least, -half, half, most}) {
    CHECK(numbers_of(tenon::eye<float>(2, 3, offset)) == none);
    CHECK(numbers_of(tenon::tril(x, offset)) == (offset > 0 ? all : none));
    CHECK(numbers_of(tenon::triu(x, offset)) == (offset > 0 ? none : all));
    CHECK(tenon::diagonal(x, offset).size() == 0);
  }
}

TEST_CASE("slices and parts with great steps and lengths", "[beyond_64_bits]") {
  const auto x = tenon_test::counting<float>(tenon::rank<1>(4));
  using tenon::open_end;
  CHECK(numbers_of(tenon::slice(x, tenon::range(1, open_end, most))) == numbers{1});
  CHECK(numbers_of(tenon::slice(x, tenon::range(open_end, open_end, least))) == numbers{3});
  CHECK(numbers_of(tenon::slice(x, tenon::range(open_end, open_end, -2))) == numbers{3, 1});
  CHECK_THROWS_AS(tenon::slice(x, tenon::only(most)), tenon::index_error);
  CHECK_THROWS_AS(tenon::slice(x, tenon::only(least)), tenon::index_error);
  CHECK_THROWS_AS(tenon::narrow(x, axis<0>, most, most), tenon::index_error);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { tenon::split(x, axis<0>, {most, most, 6}); }) ==
        "split: axis 0: lengths add up to more than 64 bits, expected the extent 4");
}

}  // namespace beyond_64_bits_test
