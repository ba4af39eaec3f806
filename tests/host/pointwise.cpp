// tests/host/pointwise.cpp: the loop of pointwise statements.
// Sizes around packs, chunks and grains, and destinations with strides; nothing beside them may change.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/host/pointwise.hpp>
#include <tenon/tenon.hpp>

#include <algorithm>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/threads.hpp"

using tenon::range;
using tenon::rank;
using tenon_test::counting;
using tenon_test::numbers_of;

TEST_CASE("every size around packs, chunks and grains", "[pointwise]") {
  const int threads = GENERATE(0, 1);  // one thread goes on where several would share
  tenon::set_num_threads(threads);
  for (const tenon::index count : {1, 15, 16, 17, 4095, 4096, 4097, 16385, 70001}) {
    const auto x = counting<float>(rank<1>(count));
    tenon::tensor<float, rank<1>> y({count + 2});
    y = -1.0f;
    tenon::slice(y, range(1, count + 1)) = x * 2 + 1;
    const auto found = numbers_of(y);
    bool right = found.front() == -1 && found.back() == -1;
    for (std::size_t i = 0; i < static_cast<std::size_t>(count); ++i) {
      right = right && found[i + 1] == 2 * static_cast<double>(i) + 1;
    }
    CAPTURE(count, threads);
    CHECK(right);
  }
  tenon::set_num_threads(0);
}

TEST_CASE("destinations with strides keep what lies between", "[pointwise]") {
  tenon::tensor<float, rank<2>> y({37, 41});
  y = -1.0f;
  const auto part = tenon::slice(y, range(0, 37, 3), range(40, tenon::open_end, -2));
  part = counting<float>(rank<2>(13, 21));
  for (tenon::index i = 0; i < 37; ++i) {
    for (tenon::index j = 0; j < 41; ++j) {
      const bool written = i % 3 == 0 && j % 2 == 0;
      CHECK(y(i, j) == (written ? static_cast<float>(i / 3 * 21 + (40 - j) / 2) : -1.0f));
    }
  }
}

TEST_CASE("permuted operands of rank four", "[pointwise]") {
  const auto x = counting<float>(rank<4>(3, 4, 5, 6));
  const auto moved = tenon::evaluated_tensor(tenon::permute(x, tenon::axis<2, 0, 3, 1>) + 0);
  bool right = true;
  for (tenon::index i = 0; i < moved.size(); ++i) {
    const tenon::index d = i % 4, c = i / 4 % 6, b = i / 24 % 3, a = i / 72;
    right = right && moved.data()[i] == x(b, d, a, c);
  }
  CHECK(right);
}

TEST_CASE("several outputs of different strides and types", "[pointwise]") {
  const auto x = counting<float>(rank<1>(100));
  tenon::tensor<double, rank<1>> doubles({100});
  tenon::tensor<float, rank<1>> spread({200});
  spread = 0.0f;
  auto every_other = tenon::slice(spread, range(0, 200, 2));
  tenon::evaluate(tenon::assign(doubles, x + 0.5), tenon::assign(every_other, x * 2));
  CHECK(doubles(99) == 99.5);
  CHECK(spread(198) == 198.0f);
  CHECK(spread(199) == 0.0f);
}

TEST_CASE("threads do not change what is computed", "[pointwise]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(300, 301), 3));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::exp(x) * tenon::tanh(x) + x); }));
}

TEMPLATE_TEST_CASE("rows that are taken are copied, whatever lies around them", "[pointwise]", float, double,
                   std::uint8_t, std::int16_t) {
  const auto value = [](tenon::index row, tenon::index column) {
    return static_cast<TestType>((row * 31 + column * 7) % 113);
  };
  for (const tenon::index length : {1, 2, 3, 15, 16, 17, 64, 1100}) {
    tenon::tensor<TestType, rank<2>> wide({23, length + 2}), doubled({23, 2 * length});
    for (tenon::index row = 0; row < 23; ++row) {
      for (tenon::index column = 0; column < length; ++column) {
        wide(row, column + 1) = doubled(row, 2 * column) = value(row, column);
      }
    }
    const auto rows = tenon::slice(wide, tenon::all_of, range(1, length + 1));
    const auto apart = tenon::slice(doubled, tenon::all_of, range(0, 2 * length, 2));
    for (const tenon::index count : {1, 2, 300}) {
      tenon::tensor<std::int32_t, rank<1>> chosen({count});
      for (tenon::index i = 0; i < count; ++i) chosen(i) = static_cast<std::int32_t>((i * 17 + 5) % 46 - 23);
      const auto right = [&](const auto& taken) {
        bool result = taken.shape() == rank<2>(count, length);
        for (tenon::index i = 0; i < count; ++i) {
          const tenon::index row = (chosen(i) + 23) % 23;
          for (tenon::index k = 0; k < length; ++k) result = result && taken(i, k) == value(row, k);
        }
        return result;
      };
      CAPTURE(length, count);
      CHECK(right(tenon::evaluated_tensor(tenon::take(rows, chosen, tenon::axis<0>))));
      CHECK(right(tenon::evaluated_tensor(tenon::take(apart, chosen, tenon::axis<0>))));
      tenon::tensor<TestType, rank<2>> gaps({count, length + 2}), turned({length, count});
      gaps = TestType{117};
      const auto inside = tenon::slice(gaps, tenon::all_of, range(1, length + 1));
      inside = tenon::take(rows, chosen, tenon::axis<0>);
      CHECK(right(inside));
      const auto edges = tenon::slice(gaps, tenon::all_of, range(0, length + 2, length + 1));
      CHECK(tenon::all(edges == TestType{117}));
      tenon::transpose(turned.write_view()) = tenon::take(rows, chosen, tenon::axis<0>);
      CHECK(right(tenon::evaluated_tensor(tenon::transpose(turned))));
    }
  }
}

TEST_CASE("copies of runs along several axes", "[pointwise]") {
  const auto x = counting<float>(rank<3>(4, 9, 21));
  const tenon::tensor<std::int64_t, rank<1>> chosen = {8, 0, -2, 3};
  const auto taken = tenon::evaluated_tensor(tenon::take(x, chosen, tenon::axis<1>));
  const auto rolled = tenon::evaluated_tensor(tenon::roll(x, 5, tenon::axis<2>));
  const auto moved =
      tenon::evaluated_tensor(tenon::permute(tenon::take(x, chosen, tenon::axis<1>), tenon::axis<1, 0, 2>));
  bool right = true;
  for (tenon::index i = 0; i < 4; ++i) {
    for (tenon::index k = 0; k < 21; ++k) {
      for (tenon::index j = 0; j < 4; ++j) {
        right = right && taken(i, j, k) == x(i, (chosen(j) + 9) % 9, k) && moved(j, i, k) == taken(i, j, k);
      }
      for (tenon::index j = 0; j < 9; ++j) right = right && rolled(i, j, (k + 5) % 21) == x(i, j, k);
    }
  }
  CHECK(right);
}

namespace {

/// What a map reads of an image at a place, -1 where it fills.
template <class T, class Image, class Place>
bool is_image_at(const tenon::tensor<T, rank<3>>& result, const Image& image, T outside, const Place& place) {
  bool right = true;
  for (tenon::index y = 0; y < result.extent(0); ++y) {
    for (tenon::index x = 0; x < result.extent(1); ++x) {
      for (tenon::index c = 0; c < result.extent(2); ++c) {
        const tenon::array<tenon::index, 3> at = place(y, x, c);
        const bool inside = at[0] >= 0 && at[1] >= 0 && at[2] >= 0;
        right = right && result(y, x, c) == (inside ? image(at[0], at[1], at[2]) : outside);
      }
    }
  }
  return right;
}

tenon::index inside_or_none(tenon::index at, tenon::index extent) { return at >= 0 && at < extent ? at : -1; }
tenon::index nearest(tenon::index at, tenon::index extent) { return std::clamp<tenon::index>(at, 0, extent - 1); }
tenon::index mirrored(tenon::index at, tenon::index extent) {
  const tenon::index front = at < 0 ? -at : at;
  return front < extent ? front : 2 * extent - 2 - front;
}
tenon::index wrapped(tenon::index at, tenon::index extent) { return (at + 3 * extent) % extent; }

/// Pads, rolls and takes pixels of an image that lies in memory in some way.
template <class T, class Image>
void check_copies_of(const Image& image) {
  using result = tenon::tensor<T, rank<3>>;
  using tenon::index;
  const index h = image.extent(0), w = image.extent(1), c = image.extent(2);
  const T seven{7};
  for (const index deep : {0, 1}) {
    const tenon::array<tenon::padding, 3> widths{{{2, 1}, {1, 3}, {deep, 0}}};
    const auto by = [&](index (*rule)(index, index)) {
      return [=](index y, index x, index z) {
        return tenon::array<index, 3>{{rule(y - 2, h), rule(x - 1, w), rule(z - deep, c)}};
      };
    };
    CHECK(is_image_at<T>(result(tenon::pad(image, widths, seven)), image, seven, by(inside_or_none)));
    CHECK(is_image_at<T>(result(tenon::pad(image, widths, tenon::replicate)), image, seven, by(nearest)));
    CHECK(is_image_at<T>(result(tenon::pad(image, widths, tenon::circular)), image, seven, by(wrapped)));
    if (deep < c) {
      CHECK(is_image_at<T>(result(tenon::pad(image, widths, tenon::reflect)), image, seven, by(mirrored)));
    }
    const auto padded = tenon::pad(image, widths, seven);
    const auto part = tenon::slice(padded, range(1, h + 2), range(1, w + 4), tenon::all_of);
    CHECK(is_image_at<T>(result(part), image, seven,
                         [&](index y, index x, index z) { return by(inside_or_none)(y + 1, x + 1, z); }));
    CHECK(is_image_at<T>(result(tenon::permute(padded, tenon::axis<1, 0, 2>)), image, seven,
                         [&](index y, index x, index z) { return by(inside_or_none)(x, y, z); }));
    for (const index gap : {0, 1}) {  // beside pixels, then beside channels
      result gaps({h + 3, w + 4 + 2 * (1 - gap), c + deep + 2 * gap});
      gaps = T{5};
      const auto inner = tenon::slice(gaps, tenon::all_of, range(1 - gap, w + 5 - gap), range(gap, c + deep + gap));
      inner = padded;
      CHECK(is_image_at<T>(result(inner), image, seven, by(inside_or_none)));
      inner = T{5};
      CHECK(tenon::all(gaps == T{5}));
    }
  }
  CHECK(is_image_at<T>(result(tenon::roll(image, 2, tenon::axis<1>)), image, seven,
                       [&](index y, index x, index z) { return tenon::array<index, 3>{{y, wrapped(x - 2, w), z}}; }));
  CHECK(is_image_at<T>(result(tenon::roll(image, -1, tenon::axis<0>)), image, seven,
                       [&](index y, index x, index z) { return tenon::array<index, 3>{{wrapped(y + 1, h), x, z}}; }));
  const tenon::tensor<std::int32_t, rank<1>> chosen = {2, -1, 0, 0, 1};
  tenon::tensor<std::int32_t, rank<1>> one({1});
  one = 1;
  CHECK(
      is_image_at<T>(result(tenon::take(image, chosen, tenon::axis<1>)), image, seven,
                     [&](index y, index x, index z) { return tenon::array<index, 3>{{y, wrapped(chosen(x), w), z}}; }));
  CHECK(
      is_image_at<T>(result(tenon::take(image, chosen, tenon::axis<0>)), image, seven,
                     [&](index y, index x, index z) { return tenon::array<index, 3>{{wrapped(chosen(y), h), x, z}}; }));
  CHECK(is_image_at<T>(result(tenon::take(image, one, tenon::axis<1>)), image, seven,
                       [&](index y, index, index z) { return tenon::array<index, 3>{{y, 1, z}}; }));
}

}  // namespace

TEMPLATE_TEST_CASE("channels stay together where images are padded, rolled or taken", "[pointwise]", float,
                   std::uint8_t) {
  for (const tenon::index channels : {1, 2, 3, 5}) {
    CAPTURE(channels);
    const auto whole = counting<TestType>(rank<3>(5, 6, channels));
    const auto wide = counting<TestType>(rank<3>(5, 8, channels)),
               deep = counting<TestType>(rank<3>(5, 6, channels + 2));
    const auto planes = counting<TestType>(rank<3>(channels, 5, 6));
    check_copies_of<TestType>(whole);
    check_copies_of<TestType>(tenon::slice(wide, tenon::all_of, range(1, 7), tenon::all_of));
    check_copies_of<TestType>(tenon::slice(deep, tenon::all_of, tenon::all_of, range(1, channels + 1)));
    check_copies_of<TestType>(tenon::permute(planes, tenon::axis<1, 2, 0>));
  }
  const tenon::tensor<TestType, rank<3>> without_rows({0, 4, 3}), without_channels({4, 4, 0});
  const auto filled = tenon::evaluated_tensor(tenon::pad(without_rows, {{1, 1, 0}}, TestType{3}));
  CHECK(filled.shape() == rank<3>(2, 6, 3));
  CHECK(tenon::all(filled == TestType{3}));
  CHECK(
      tenon::all(tenon::evaluated_tensor(tenon::pad(without_channels, {{0, 0, {0, 2}}}, TestType{3})) == TestType{3}));
}

TEST_CASE("padded images are the same on any threads", "[pointwise]") {
  const auto image = tenon::evaluated_tensor(tenon::uniform<float>(rank<3>(200, 150, 3), 3));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::pad(image, {{3, 2, 0}}, tenon::reflect)); }));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::pad(image, {{3, 2, 1}}, 2)); }));
}

TEMPLATE_TEST_CASE("short rows that statements take from elsewhere", "[pointwise]", float, double, std::int16_t) {
  const auto chosen = tenon::evaluated_tensor(tenon::randint<std::int32_t>(rank<1>(301), 1, -23, 23));
  for (tenon::index length = 1; length < 70; length += length < 20 ? 1 : 9) {
    CAPTURE(length);
    const auto x = counting<TestType>(rank<2>(23, length)), y = counting<TestType>(rank<2>(301, length));
    const auto across = counting<TestType>(rank<2>(length, 301));
    const auto weight = counting<TestType>(rank<1>(301));
    tenon::tensor<TestType, rank<2>> gaps({301, length + 2}), turned({length, 301});
    gaps = TestType{117};
    const auto inside = tenon::slice(gaps, tenon::all_of, range(1, length + 1));
    const auto taken = tenon::take(x, chosen, tenon::axis<0>);
    const auto statement = taken * tenon::new_axis<1>(weight) - y + tenon::transpose(across);
    inside = statement;
    tenon::transpose(turned.write_view()) = statement;
    auto own = y;  // the destination is an operand, too
    own = tenon::roll(taken, 2, tenon::axis<1>) + own;
    bool right = true;
    for (tenon::index i = 0; i < 301; ++i) {
      const tenon::index row = (chosen(i) + 23) % 23;
      for (tenon::index k = 0; k < length; ++k) {
        const auto expected = static_cast<TestType>(x(row, k) * weight(i) - y(i, k) + across(k, i));
        right = right && inside(i, k) == expected && turned(k, i) == expected;
        right = right && own(i, (k + 2) % length) == static_cast<TestType>(x(row, k) + y(i, (k + 2) % length));
      }
    }
    CHECK(right);
    const auto edges = tenon::slice(gaps, tenon::all_of, range(0, length + 2, length + 1));
    CHECK(tenon::all(edges == TestType{117}));
  }
  const auto wide = tenon::evaluated_tensor(tenon::uniform<float>(rank<3>(40, 3, 7), 2));
  const auto many = tenon::evaluated_tensor(tenon::randint<std::int64_t>(rank<1>(5000), 3, 0, 40));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::take(wide, many, tenon::axis<0>) * 3); }));
}

TEMPLATE_TEST_CASE("short rows that are compared with positions", "[pointwise]", float, std::int16_t, std::int64_t) {
  const tenon::index rows = 301;
  const auto chosen = tenon::evaluated_tensor(tenon::randint<std::int32_t>(rank<1>(rows), 1, -2, 70));
  const tenon::tensor<TestType, rank<1>> labels = tenon::cast<TestType>(chosen);
  for (tenon::index length = 0; length < 70; length += length < 20 ? 1 : 9) {
    CAPTURE(length);
    const auto places = tenon::arange<std::int32_t>(length);
    const auto is_below = places < tenon::new_axis<-1>(labels);
    const auto x = counting<TestType>(rank<2>(rows, length)), across = counting<TestType>(rank<2>(length, rows));
    const tenon::tensor<float, rank<2>> hot = tenon::one_hot<float>(labels, length);
    const tenon::tensor<bool, rank<2>> mask = is_below;
    tenon::tensor<TestType, rank<2>> own = x, turned({length, rows}), gaps({rows, length + 2});
    own = tenon::where(is_below, own, 5) + tenon::transpose(across);  // the destination is an operand, too
    tenon::transpose(turned.write_view()) = tenon::where(is_below, x, 5);
    gaps = TestType{117};
    const auto inside = tenon::slice(gaps, tenon::all_of, range(1, length + 1));
    inside = tenon::where(is_below, tenon::slice(x, tenon::all_of, range(0, length)), 5);
    auto moved = gaps;
    tenon::slice(moved, tenon::all_of, range(1, length + 1)) =
        tenon::where(is_below, tenon::slice(moved, tenon::all_of, range(0, length)), 5);
    bool right = true;
    for (tenon::index i = 0; i < rows; ++i) {
      right = right && gaps(i, 0) == TestType{117} && gaps(i, length + 1) == TestType{117};
      for (tenon::index k = 0; k < length; ++k) {
        const bool below = static_cast<TestType>(k) < labels(i);
        const TestType expected = below ? x(i, k) : TestType{5};
        right = right && hot(i, k) == (static_cast<TestType>(k) == labels(i) ? 1.0f : 0.0f) && mask(i, k) == below;
        right = right && own(i, k) == static_cast<TestType>(expected + across(k, i));
        right = right && turned(k, i) == expected && inside(i, k) == expected;
        right = right && moved(i, k + 1) == (below ? gaps(i, k) : TestType{5});
      }
    }
    CHECK(right);
  }
  const auto many = tenon::evaluated_tensor(tenon::randint<std::int32_t>(rank<1>(15001), 1, -2, 12));
  CHECK(tenon_test::is_same_on_any_threads([&] { return numbers_of(tenon::one_hot<float>(many, 10)); }));
}

TEST_CASE("short statements that are evaluated together see what was there before", "[pointwise]") {
  for (const tenon::index length : {0, 1, 2, 3, 7, 16, 17, 33, 100}) {
    CAPTURE(length);
    const auto x = counting<float>(rank<1>(length));
    tenon::tensor<float, rank<1>> left = 3 * x + 1, right = x - 7, line = counting<float>(rank<1>(length + 1));
    tenon::tensor<double, rank<1>> sum({length});
    const auto old_left = left, old_right = right;
    const auto late = tenon::slice(line, range(1, length + 1)), early = tenon::slice(line, range(0, length));
    tenon::evaluate(tenon::assign(left, right), tenon::assign(right, left), tenon::assign(sum, left + right));
    bool is_right = true;
    for (tenon::index i = 0; i < length; ++i) {
      is_right = is_right && left(i) == old_right(i) && right(i) == old_left(i) && sum(i) == 4.0 * double(i) - 6;
    }
    tenon::evaluate(tenon::assign(late, early + 1), tenon::assign(sum, 3 * early));
    for (tenon::index i = 0; i < length; ++i) {
      is_right = is_right && line(i + 1) == float(i + 1) && sum(i) == 3.0 * double(i);
    }
    CHECK(is_right);
  }
}

TEST_CASE("elements that move within their own memory", "[pointwise]") {
  for (const tenon::index length : {1, 2, 15, 16, 17, 1000, 5000}) {
    CAPTURE(length);
    for (const tenon::index by : {1, 3}) {
      auto up = counting<float>(rank<1>(length + by)), down = up;
      auto rows = counting<float>(rank<2>(length + by, 3)), columns = counting<float>(rank<2>(3, length + by));
      tenon::slice(up, range(by, length + by)) = tenon::slice(up, range(0, length));
      tenon::slice(down, range(0, length)) = tenon::slice(down, range(by, length + by));
      tenon::slice(rows, range(by, length + by), tenon::all_of) = tenon::slice(rows, range(0, length), tenon::all_of);
      tenon::slice(columns, tenon::all_of, range(by, length + by)) =
          tenon::slice(columns, tenon::all_of, range(0, length));
      bool right = true;
      for (tenon::index i = 0; i < length + by; ++i) {
        const tenon::index from = i < by ? i : i - by;
        right = right && up(i) == float(from) && down(i) == float(i < length ? i + by : i);
        for (tenon::index k = 0; k < 3; ++k) {
          right = right && rows(i, k) == float(3 * from + k) && columns(k, i) == float(k * (length + by) + from);
        }
      }
      CHECK(right);
    }
  }
}
