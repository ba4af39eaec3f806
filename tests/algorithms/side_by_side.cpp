// tests/algorithms/side_by_side.cpp: lines that are walked some at once, on the host and as a kernel walks them.
// Each place is written as its line's number and its place say, whatever the strides.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/side_by_side.hpp>

#include "algorithms/line_cases.hpp"

namespace {

/// Sums along lines, backwards from memory of their own: as awkward as a step may be.
struct echoed_sums {
  using state = double;
  static constexpr tenon::index work_along = 2;

  template <int Width, class Source, class Target>
  void walk(tenon::index count, tenon::index length, double* work, Source source, Target target) const {
    double sums[Width] = {};
    for (tenon::index place = 0; place < length; ++place) {
      for (tenon::index line = 0; line < count; ++line) {
        sums[line] += source.template get<double>(place, line);
        work[(2 * place + 1) * Width + line] = sums[line];
      }
    }
    for (tenon::index place = length; place-- > 0;) {
      for (tenon::index line = 0; line < count; ++line) target.put(place, line, work[(2 * place + 1) * Width + line]);
    }
  }
};

std::vector<double> line_sums(const std::vector<double>& values, const tenon::array<tenon::index, 3>& extents, int axis,
                              bool reverse) {
  std::vector<double> result(values.size());
  for (auto line : tenon_test::lines_of(extents, axis)) {
    if (reverse) line = tenon_test::line(line.rbegin(), line.rend());
    double sum = 0;
    for (const std::size_t at : line) result[at] = sum += values[at];
  }
  return result;
}

template <class View>
void check_walk(const View& x, int axis, bool reverse) {
  const auto extents = x.shape().to_array();
  CAPTURE(extents[0], extents[1], extents[2], axis, reverse);
  const auto expected = line_sums(tenon_test::numbers_of(x), extents, axis, reverse);
  tenon::tensor<float, tenon::rank<3>> y(x.shape());
  tenon::walk_side_by_side<tenon::host>(echoed_sums{}, extents, axis, reverse, x, y.write_view());
  CHECK(tenon_test::difference(tenon_test::numbers_of(y), expected) == "");
  if (x.size() == 0) return;

  tenon::tensor<float, tenon::rank<3>> z(x.shape());
  std::vector<double> work(static_cast<std::size_t>(2 * x.size()));
  const auto kernel = tenon::detail::kernel_of_lines(echoed_sums{}, work.data(), extents, axis,
                                                     tenon::detail::lines_over(x, extents, axis, reverse),
                                                     tenon::detail::lines_over(z.write_view(), extents, axis, reverse));
  for (tenon::index line = 0; line < x.size() / extents[axis]; ++line) kernel(line);
  CHECK(tenon_test::difference(tenon_test::numbers_of(z), expected) == "");
}

}  // namespace

TEST_CASE("lines of views of every kind are walked from either end", "[side_by_side]") {
  for (const auto& extents : tenon_test::line_shapes) {
    const auto x = tenon_test::few_values<float, tenon::host>(extents, 1);
    const auto y = tenon_test::few_values<float, tenon::host>({{extents[2], extents[0], 2 * extents[1]}}, 2);
    const auto turned = tenon::permute(y, tenon::axis<1, 2, 0>);
    for (int axis = 0; axis < 3; ++axis) {
      for (const bool reverse : {false, true}) {
        check_walk(x.view(), axis, reverse);
        check_walk(tenon::slice(turned, tenon::all_of, tenon::range(0, tenon::open_end, 2), tenon::all_of), axis,
                   reverse);
      }
    }
  }
}

TEST_CASE("what repeats over the lines is read again for each", "[side_by_side]") {
  const tenon::tensor<float, tenon::rank<1>> x = {1, 2, 4};
  for (const tenon::index lines : {1, 3, 4, 37}) {
    tenon::tensor<float, tenon::rank<2>> y({lines, 3}), z({3, lines});
    tenon::walk_side_by_side<tenon::host>(echoed_sums{}, y.shape().to_array(), 1, false, x.view(), y.write_view());
    CHECK(tenon::all(y == tenon::tensor<float, tenon::rank<1>>{1, 3, 7}));
    tenon::walk_side_by_side<tenon::host>(echoed_sums{}, z.shape().to_array(), 0, true, tenon::new_axis<1>(x),
                                          z.write_view());
    CHECK(tenon::all(z == tenon::tensor<float, tenon::rank<2>>({3, 1}, {7, 6, 4})));
  }
}
