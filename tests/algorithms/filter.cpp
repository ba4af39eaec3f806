// tests/algorithms/filter.cpp: filters along every axis, in sections and both ways, and their gradients.
// Lines are computed by definition, one element at a time, in double; what begins at rest is SciPy's.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/filter.hpp>
#include <tenon/grad/value_and_gradient.hpp>

#include "algorithms/distant.hpp"
#include "algorithms/line_cases.hpp"
#include "support/gradient.hpp"
#include "support/text_of.hpp"
#include "support/threads.hpp"

namespace filters {

using tenon::axis;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using decimals = std::vector<double>;

/// y[t] = (sum of b[k] x[t - k] - sum of a[k] y[t - k]) / a[0]
template <int Rank>
decimals filtered(const decimals& b, const decimals& a, const decimals& x,
                  const tenon::array<tenon::index, Rank>& extents, int along, bool reverse) {
  decimals y(x.size());
  for (auto line : tenon_test::lines_of(extents, along)) {
    if (reverse) line = tenon_test::line(line.rbegin(), line.rend());
    for (std::size_t t = 0; t < line.size(); ++t) {
      double sum = 0;
      for (std::size_t k = 0; k < b.size() && k <= t; ++k) sum += b[k] * x[line[t - k]];
      for (std::size_t k = 1; k < a.size() && k <= t; ++k) sum -= a[k] * y[line[t - k]];
      y[line[t]] = sum / a[0];
    }
  }
  return y;
}

template <int Axis, class Operand>
void check_filters(const Operand& x) {
  const auto extents = x.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2], Axis);
  constexpr int along = Axis < 0 ? Axis + 3 : Axis;
  const auto values = numbers_of(x);
  for (const bool reverse : {false, true}) {
    const tenon::recurrence_options options{reverse};
    CHECK(difference(numbers_of(tenon::lfilter({1, 2, 3}, {2, 0.5}, x, axis<Axis>, options)),
                     filtered({1, 2, 3}, {2, 0.5}, values, extents, along, reverse), 1e-6) == "");
    CHECK(difference(numbers_of(tenon::lfilter({0.5}, {-1, 0.5, 0.25, 0.1}, x, axis<Axis>, options)),
                     filtered({0.5}, {-1, 0.5, 0.25, 0.1}, values, extents, along, reverse), 1e-5) == "");
    const auto once = filtered({1, 2, 3}, {2, 0.5, 0.1}, values, extents, along, reverse);
    const auto twice = filtered({0.5, 0, -1}, {1, -0.3, 0}, once, extents, along, reverse);
    CHECK(difference(
              numbers_of(tenon::sosfilt({{1, 2, 3, 2, 0.5, 0.1}, {0.5, 0, -1, 1, -0.3, 0}}, x, axis<Axis>, options)),
              twice, 1e-5) == "");
  }
}

// x = numpy.sin(numpy.arange(20) ** 2 * 0.1) + numpy.arange(20) * 0.2
template <class Space, class T>
auto wave(tenon::index count = 20) {
  return tenon_test::made_tensor<T, Space>(rank<1>(count), [](tenon::index i) {
    return static_cast<T>(std::sin(static_cast<double>(i * i) * 0.1) + static_cast<double>(i) * 0.2);
  });
}

// scipy.signal.filtfilt([0.2, 0.1], [1, -0.8, 0.1], x)
const decimals smooth = {-0.005359883121009962, 0.3152736502128268, 0.6267200208302746, 0.9007954118106463,
                         1.0972285216372297,    1.2018110725093205, 1.268093046438184,  1.3947983948505174,
                         1.6113432095478033,    1.8266339111327954, 1.989110330745612,  2.1691837502551805,
                         2.3635696671811988,    2.5249217922773455, 2.687193527871681,  2.82128506659026,
                         2.9220795859660793,    2.968371597394113,  2.9381298734012278, 2.794248164768662};
// scipy.signal.filtfilt([0.2, 0.1], [1, -0.8, 0.1], x, padlen=0)
const decimals as_it_is = {0.38013349736774565, 0.5663157833472213, 0.7891579764296798, 1.005879701413862,
                           1.1654213938492597,  1.246429445662493,  1.297856131596503,  1.4155233730790238,
                           1.6270809243822877,  1.8404604371459377, 2.003728188144807,  2.187450128466207,
                           2.389054862432687,   2.5626068891082685, 2.744442929192096,  2.9092790405017492,
                           3.0579550914609763,  3.178285110998358,  3.2605205215534694, 3.275423368481949};
// scipy.signal.filtfilt([0.25, 0.5, 0.25], [1], x)
const decimals without_feedback = {0.0,
                                   0.37751046013101414,
                                   0.8292953101244159,
                                   1.2846396749947693,
                                   1.5169709832617868,
                                   1.3512449875383439,
                                   1.0078173921275864,
                                   1.048110082839101,
                                   1.5789064042376098,
                                   1.967334447734755,
                                   1.9936906063315936,
                                   2.139339229596422,
                                   2.4260502037124096,
                                   2.6049324708167707,
                                   2.790167874403373,
                                   3.0057380268688982,
                                   3.1953824538305633,
                                   3.408262663967098,
                                   3.3671308628500167,
                                   2.8004008574471975};
// scipy.signal.sosfiltfilt([[1, 2, 1, 1, -1.2, 0.4], [0.5, 0.2, 0, 1, -0.4, 0]], x)
const decimals in_sections = {0.7955269591785594, 167.29040202445017, 322.3900068852239,  456.6422676164191,
                              565.709280090521,   653.3437277139345,  730.6974055394019,  810.3327154158085,
                              899.0313912589204,  996.148144044498,   1097.9243531181633, 1200.9901253528983,
                              1301.863970699981,  1395.8980708646523, 1477.4051919627116, 1539.9269531310058,
                              1577.086991542698,  1584.795141984907,  1564.6392359038032, 1526.9009565755068};

}  // namespace filters

TEMPLATE_LIST_TEST_CASE("filters along every axis of operands of every kind", "[filter]",
                        tenon_test::algorithm_spaces) {
  using namespace filters;
  for (const auto& extents : tenon_test::line_shapes) {
    tenon_test::for_each_operand<float, TestType>(extents, [](const auto& x) {
      check_filters<0>(x);
      check_filters<-2>(x);
      check_filters<2>(x);
    });
  }
}

TEMPLATE_LIST_TEST_CASE("a filter into its own operand, and of NaN", "[filter]", tenon_test::algorithm_spaces) {
  using namespace filters;
  const double nan = tenon_test::nan_value;
  auto x = tenon_test::tensor_of<TestType, double>(rank<1>(4), {1, 1, nan, 1});
  CHECK(difference(numbers_of(tenon::lfilter({1}, {1, -2}, x, axis<0>)), {1, 3, nan, nan}) == "");
  x = tenon_test::tensor_of<TestType, double>(rank<1>(4), {2, 7, 15.5, 27.75});
  x = tenon::lfilter({1, 1}, {1}, x, axis<0>);
  CHECK(numbers_of(x) == decimals{2, 9, 22.5, 43.25});
}

TEST_CASE("second-order sections are SciPy's, where one long filter has lost all digits", "[filter]") {
  using namespace filters;
  // sos = scipy.signal.butter(8, 0.01, output="sos"); y = scipy.signal.sosfilt(sos, numpy.ones(800))
  const double sections[4][6] = {{3.4219614165936484e-15, 6.843922833187297e-15, 3.4219614165936484e-15, 1,
                                  -1.939269633591658, 0.9402270185020654},
                                 {1, 2, 1, 1, -1.9481335385151675, 0.9490952993868512},
                                 {1, 2, 1, 1, -1.9647269019487286, 0.9656968546857874},
                                 {1, 2, 1, 1, -1.9868379069766875, 0.987818775546285}};
  const auto y = numbers_of(tenon::sosfilt(sections, tenon::ones<double>({800}), axis<0>));
  const decimals found{y[0] * 1e14, y[200], y[300], y[799]};
  CHECK(difference(found, {0.34219614165936485, 0.768563060853501, 1.1072212541780784, 0.9949485822544449}, 1e-9) ==
        "");
}

TEST_CASE("filters are the same on any number of threads", "[filter]") {
  using namespace filters;
  const auto x = tenon_test::made_tensor<float>(rank<2>(300, 301), [](tenon::index i) { return std::sin(i); });
  CHECK(tenon_test::is_same_on_any_threads(
      [&] { return tenon_test::elements_of(tenon::lfilter({1, 0.5}, {1, 0, 0.5}, x, axis<1>)); }));
}

TEMPLATE_LIST_TEST_CASE("filters that run both ways are SciPy's", "[filter]", tenon_test::algorithm_spaces) {
  using namespace filters;
  const auto x = wave<TestType, double>();
  const auto filtered = tenon::filtfilt({0.2, 0.1}, {1, -0.8, 0.1}, x, axis<0>);
  static_assert(std::is_same_v<typename decltype(filtered)::element, double>);
  CHECK(difference(numbers_of(filtered), smooth, 1e-12) == "");
  CHECK(difference(numbers_of(tenon::filtfilt({0.2, 0.1}, {1, -0.8, 0.1}, x, axis<-1>, {.padlen = 0})), as_it_is,
                   1e-12) == "");
  CHECK(difference(numbers_of(tenon::filtfilt({0.25, 0.5, 0.25}, {1}, x, axis<0>)), without_feedback, 1e-12) == "");
  CHECK(difference(numbers_of(tenon::filtfilt({0.5, 1, 0.5}, {2}, x, axis<0>)), without_feedback, 1e-12) == "");
  CHECK(difference(numbers_of(tenon::sosfiltfilt({{1, 2, 1, 1, -1.2, 0.4}, {0.5, 0.2, 0, 1, -0.4, 0}}, x, axis<0>)),
                   in_sections, 1e-12) == "");
  CHECK(difference(numbers_of(tenon::filtfilt({0.2, 0.1}, {1, -0.8, 0.1}, wave<TestType, float>(), axis<0>)), smooth,
                   1e-6) == "");
}

TEMPLATE_LIST_TEST_CASE("filters that run both ways take any axis, integers and lines of no neighbours", "[filter]",
                        tenon_test::algorithm_spaces) {
  using namespace filters;
  const auto x = wave<TestType, double>();
  const auto table = tenon::evaluated_tensor(tenon::stack(axis<1>, x, 2 * x, -x));
  tenon::tensor<double, rank<2>, TestType> y = tenon::filtfilt({0.2, 0.1}, {1, -0.8, 0.1}, table, axis<0>);
  CHECK(difference(numbers_of(tenon::select(y, axis<1>, 2)), numbers_of(-1 * tenon::select(y, axis<1>, 0)), 1e-12) ==
        "");
  CHECK(difference(numbers_of(tenon::select(y, axis<1>, 1)), numbers_of(2 * tenon::select(y, axis<1>, 0)), 1e-12) ==
        "");
  CHECK(difference(numbers_of(tenon::select(y, axis<1>, 0)), smooth, 1e-12) == "");
  const auto line = tenon_test::made_tensor<int, TestType>(rank<1>(30), [](tenon::index i) { return int(3 * i - 7); });
  static_assert(std::is_same_v<typename decltype(tenon::filtfilt({2}, {1}, line, axis<0>))::element, float>);
  CHECK(numbers_of(tenon::filtfilt({2}, {1}, line, axis<0>)) == numbers_of(4 * line));
  const tenon::tensor<double, rank<2>, TestType> none({20, 0});
  CHECK(numbers_of(tenon::filtfilt({0.2}, {1, -0.8}, none, axis<0>)).empty());
}

TEST_CASE("filters have gradients", "[filter]") {
  using namespace filters;
  auto x = tenon_test::drawn(rank<2>(3, 9), 1);
  const auto check = [&](const auto& function) {
    CHECK(tenon_test::gradient_difference([&](const auto& each) { return tenon::square(function(each)); }, x) == "");
  };
  for (const bool reverse : {false, true}) {
    const tenon::recurrence_options options{reverse};
    check([&](const auto& v) { return tenon::lfilter({1, 2, 0.5}, {2, 0.3}, v, axis<0>, options); });
    check([&](const auto& v) {
      return tenon::sosfilt({{1, 2, 0.5, 2, 0.3, 0}, {1, 0, 1, 1, 0.3, 0.2}}, v, axis<0>, options);
    });
  }
  check([](const auto& v) { return tenon::filtfilt({0.2, 0.1}, {1, -0.8}, v, axis<1>, {.padlen = 4}); });
  check([](const auto& v) { return tenon::sosfiltfilt({{1, 2, 1, 1, -1.2, 0.4}}, v, axis<0>, {.padlen = 2}); });
}

TEST_CASE("misuse of filters is refused", "[filter]") {
  using namespace filters;
  using tenon_test::text_of;
  const auto x = tenon_test::drawn(rank<1>(6), 1);
  CHECK(text_of<tenon::shape_error>([&] { tenon::filtfilt({1}, {1, 0.5}, x, axis<0>); }) ==
        "filtfilt: axis 0: padlen 6, expected at least 0 and less than the extent 6");
  CHECK(text_of<tenon::shape_error>([&] { tenon::filtfilt({1}, {1, 0.5}, x, axis<0>, {.padlen = -2}); }) ==
        "filtfilt: axis 0: padlen -2, expected at least 0 and less than the extent 6");
  CHECK(text_of<tenon::error>([&] { tenon::filtfilt({1}, {0, 0.5}, x, axis<0>); }) ==
        "filtfilt: denominator: first number 0, expected finite and not 0");
  CHECK(text_of<tenon::error>([&] { tenon::filtfilt({1}, {1, -1}, x, axis<0>); }) ==
        "filtfilt: denominator: its numbers add up to 0, expected another number than 0, since a constant comes to no "
        "end");
  CHECK(text_of<tenon::error>([&] { tenon::sosfiltfilt({{1, 0, 0, 0, 1, 1}}, x, axis<0>); }) ==
        "sosfiltfilt: section 0: denominator: first number 0, expected finite and not 0");
  CHECK(text_of<tenon::error>([&] { tenon::lfilter({1}, {0, 1}, x, axis<0>); }) ==
        "lfilter: denominator: first number 0, expected finite and not 0");
  CHECK(text_of<tenon::error>([&] { tenon::lfilter({1}, {tenon_test::nan_value}, x, axis<0>); }) ==
        "lfilter: denominator: first number nan, expected finite and not 0");
  CHECK(text_of<tenon::error>([&] { tenon::sosfilt({{1, 0, 0, 1, 0, 0}, {1, 0, 0, 0, 1, 1}}, x, axis<0>); }) ==
        "sosfilt: section 1: denominator: first number 0, expected finite and not 0");
}
