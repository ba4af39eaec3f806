// tests/expr/views/interpolation.cpp: elements that count in an output are found from it, and it from them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/expr/views/interpolation.hpp>

#include <algorithm>
#include <tenon/products.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

template <class Filter>
using places_of_filter = tenon::interpolated_places<float, 1, Filter>;

/// `to` elements made of `from`, whose edges coincide; of the nearest, the first ones.
template <class Filter>
places_of_filter<Filter> places_between(tenon::index from, tenon::index to, tenon::index shift) {
  return {{{from}}, {{to}}, {{static_cast<float>(from) / static_cast<float>(to)}}, shift};
}
/// The same between corners.
template <class Filter>
places_of_filter<Filter> aligned_places(tenon::index from, tenon::index to) {
  return {{{from}}, {{to}}, {{to == 1 ? 0.0f : static_cast<float>(from - 1) / static_cast<float>(to - 1)}}, 0};
}

/// Whether those that see an element, and count it, are the ones that say they do, and each once.
template <class Places>
bool is_consistent(const Places& places) {
  for (tenon::index element = 0; element < places.image[0]; ++element) {
    std::vector<tenon::index> expected, found;
    for (tenon::index window = 0; window < places.output[0]; ++window) {
      for (tenon::index tap = 0; tap < places.taps(0); ++tap) {
        const bool is_seen = places.element(0, window, tap) == element && places.weight(0, window, tap) != 0;
        if (is_seen) expected.push_back(window);
      }
    }
    for (tenon::index k = 0; k < places.windows_over(0); ++k) {
      const tenon::index window = places.window_over(0, element, k);
      if (window < 0) continue;
      const tenon::index tap = places.tap(0, element, window);
      if (places.element(0, window, tap) != element) return false;
      if (places.weight(0, window, tap) != 0) found.push_back(window);
    }
    if (found != expected) return false;
  }
  return true;
}

/// The sum of all weights of a window.
template <class Places>
double sum_of_weights(const Places& places, tenon::index window) {
  double total = 0;
  for (tenon::index tap = 0; tap < places.taps(0); ++tap) {
    if (places.element(0, window, tap) >= 0) total += static_cast<double>(places.weight(0, window, tap));
  }
  return total;
}

}  // namespace

TEST_CASE("elements are seen by whom they are seen by", "[interpolation]") {
  for (tenon::index from = 1; from <= 9; ++from) {
    for (tenon::index to = 1; to <= 30; ++to) {
      CAPTURE(from, to);
      CHECK(is_consistent(places_between<tenon::nearest_filter>(from, to, 0)));
      CHECK(is_consistent(places_between<tenon::linear_filter>(from, to, 1)));
      CHECK(is_consistent(aligned_places<tenon::linear_filter>(from, to)));
      CHECK(is_consistent(places_between<tenon::cubic_filter<3>>(from, to, 1)));
      CHECK(is_consistent(aligned_places<tenon::cubic_filter<2>>(from, to)));
      CHECK(is_consistent(places_between<tenon::antialiased<tenon::linear_filter>>(to, from, 1)));
      CHECK(is_consistent(places_between<tenon::antialiased<tenon::cubic_filter<2>>>(to, from, 1)));
    }
  }
}

TEST_CASE("weights on repeated borders add to one", "[interpolation]") {
  for (tenon::index from = 1; from <= 5; ++from) {
    for (tenon::index window = 0; window < 7; ++window) {
      CAPTURE(from, window);
      CHECK(std::abs(sum_of_weights(places_between<tenon::linear_filter>(from, 7, 1), window) - 1) < 1e-6);
      CHECK(std::abs(sum_of_weights(places_between<tenon::cubic_filter<3>>(from, 7, 1), window) - 1) < 1e-6);
      CHECK(std::abs(sum_of_weights(aligned_places<tenon::cubic_filter<3>>(from, 7), window) - 1) < 1e-6);
    }
  }
}

TEST_CASE("filters fall to nothing at their reach", "[interpolation]") {
  CHECK(tenon::linear_filter::value(0.25) == 0.75);
  CHECK(tenon::linear_filter::value(-1.0) == 0);
  CHECK(tenon::cubic_filter<3>::value(0.0) == 1);
  CHECK(tenon::cubic_filter<3>::value(1.0) == 0);
  CHECK(tenon::cubic_filter<3>::value(-0.5) == 0.59375);
  CHECK(tenon::cubic_filter<3>::value(1.5) == -0.09375);
  CHECK(tenon::cubic_filter<2>::value(0.5f) == 0.5625f);
  CHECK(tenon::cubic_filter<2>::value(-2.0f) == 0);
}

TEST_CASE("rounded positions of long axes find their way back", "[interpolation]") {
  const tenon::index from = 50'000'001, to = 300'000'007;
  const auto places = places_between<tenon::linear_filter>(from, to, 1);
  int lost = 0;
  for (tenon::index window = 0; window < to; window += 100'003) {
    const tenon::index element = std::max(places.element(0, window, 0), places.element(0, window, 1));
    if (std::abs(sum_of_weights(places, window) - 1) > 1e-6) ++lost;
    bool is_found = false;
    for (tenon::index k = 0; k < places.windows_over(0); ++k)
      is_found = is_found || places.window_over(0, element, k) == window;
    lost += is_found ? 0 : 1;
  }
  CHECK(lost == 0);
}

TEMPLATE_LIST_TEST_CASE("images without other axes are interpolated", "[interpolation]", tenon_test::spaces) {
  tenon::tensor<double, tenon::rank<2>> image({5, 7});
  tenon_test::random_source random(3);
  for (tenon::index i = 0; i < image.size(); ++i) image.data()[i] = random.uniform(-1, 1);
  const auto placed = image.template to<TestType>();
  const auto check = [&]<class Filter>(const tenon::interpolated_places<double, 2, Filter>& places) {
    const tenon::tensor<double, tenon::rank<2>, TestType> there = tenon::interpolate(placed, places);
    const auto found = there.template to<tenon::host>();
    REQUIRE(found.shape() == tenon::rank<2>(places.output[0], places.output[1]));
    for (tenon::index window = 0; window < found.size(); ++window) {
      const tenon::index y = window / places.output[1], x = window % places.output[1];
      double sum = 0, weights = 0;
      for (tenon::index tap = 0; tap < places.taps(0) * places.taps(1); ++tap) {
        const tenon::index down = tap / places.taps(1), right = tap % places.taps(1);
        const tenon::index row = places.element(0, y, down), column = places.element(1, x, right);
        if (row < 0 || column < 0) continue;
        const double weight = places.weight(0, y, down) * places.weight(1, x, right);
        sum += weight * image(row, column), weights += weight;
      }
      CHECK(std::abs(found(y, x) - sum / weights) < 1e-12);
    }
  };
  check(tenon::interpolated_places<double, 2, tenon::linear_filter>{{{5, 7}}, {{8, 3}}, {{0.625, 7.0 / 3}}, 1});
  check(tenon::interpolated_places<double, 2, tenon::cubic_filter<3>>{{{5, 7}}, {{8, 3}}, {{0.625, 7.0 / 3}}, 1});
  check(tenon::interpolated_places<double, 2, tenon::antialiased<tenon::linear_filter>>{
      {{5, 7}}, {{8, 3}}, {{0.625, 7.0 / 3}}, 1});
  check(tenon::interpolated_places<double, 2, tenon::antialiased<tenon::cubic_filter<2>>>{
      {{5, 7}}, {{8, 3}}, {{0.625, 7.0 / 3}}, 1});
}

TEST_CASE("places of an image of other extents are refused", "[interpolation]") {
  const tenon::tensor<float, tenon::rank<2>> x({2, 4});
  const auto text_of = [&]<class Filter>(const tenon::interpolated_places<float, 1, Filter>& places) {
    return tenon_test::text_of<tenon::shape_error>([&] { (void)tenon::interpolate(x, places); });
  };
  CHECK(text_of(places_between<tenon::linear_filter>(5, 10, 1)) ==
        "interpolate: axis 1: extent 4 of the operand [2, 4], expected 5 of the image [5]");
  CHECK(text_of(places_between<tenon::nearest_filter>(3, 6, 0)) ==
        "interpolate: axis 1: extent 4 of the operand [2, 4], expected 3 of the image [3]");
}
