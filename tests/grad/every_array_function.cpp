// tests/grad/every_array_function.cpp: the gradient of every function that moves, folds or multiplies elements.
// One row each, against central differences in double; tests of their headers have what is special about them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/algorithms/filter.hpp>
#include <tenon/algorithms/grid_sample.hpp>
#include <tenon/algorithms/interp.hpp>
#include <tenon/algorithms/recurrence.hpp>
#include <tenon/expr/affine_grid.hpp>
#include <tenon/expr/covariance.hpp>
#include <tenon/expr/polynomial.hpp>
#include <tenon/tenon.hpp>

#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"

using tenon::axis;
using tenon::drop;
using tenon::rank;
using tenon_test::check_rows;
using tenon_test::drawn;
using tenon_test::view_difference;

namespace {

constexpr auto last = axis<-1>;

/// Of a function of two operands with these extents.
template <class Function, class Left, class Right>
std::string pair_difference(const Function& function, const Left& left, const Right& right) {
  auto x = drawn(left, 1);
  auto y = drawn(right, 2);
  return tenon_test::gradient_difference(function, x, y);
}
template <class Function, class Both>
std::string pair_difference(const Function& function, const Both& left) {
  return pair_difference(function, left, left);
}

}  // namespace

TEST_CASE("gradients of views", "[every_array_function]") {
  check_rows({
      {"slice", view_difference([](const auto& x) { return tenon::slice(x, tenon::range(1, 4, 2), tenon::only(2)); })},
      {"static_range",
       view_difference([](const auto& x) { return tenon::slice(x * x, tenon::all_of, tenon::static_range<1, 4>{}); })},
      {"narrow", view_difference([](const auto& x) { return tenon::narrow(x, axis<0>, 1, 2); })},
      {"split", view_difference([](const auto& x) { return tenon::split<2>(x, axis<1>)[1]; })},
      {"flip", view_difference([](const auto& x) { return tenon::flip(x, axis<1>); })},
      {"transpose", view_difference([](const auto& x) { return tenon::transpose(x); })},
      {"swap_axes", view_difference([](const auto& x) { return tenon::swap_axes(x, axis<0, 1>); })},
      {"permute", view_difference([](const auto& x) { return tenon::permute(x, axis<1, 0>); })},
      {"move_axis", view_difference([](const auto& x) { return tenon::move_axis(x, last, axis<0>); })},
      {"new_axis", view_difference([](const auto& x) { return tenon::new_axis<1>(x); })},
      {"squeeze", view_difference([](const auto& x) { return tenon::squeeze(tenon::new_axis<0>(x), axis<0>); })},
      {"unflatten", view_difference([](const auto& x) { return tenon::unflatten(x, axis<1>, 3); })},
      {"reshape", view_difference([](const auto& x) { return tenon::reshape(x, rank<3>(2, 4, 3)); })},
      {"flatten", view_difference([](const auto& x) { return tenon::flatten(x, axis<0, 1>); })},
      {"broadcast_to", view_difference([](const auto& x) { return tenon::broadcast_to(x, rank<3>(2, 4, 6)); })},
      {"expand", view_difference([](const auto& x) { return tenon::expand(tenon::new_axis<0>(x), {2, -1, -1}); })},
      {"diagonal", view_difference([](const auto& x) { return tenon::diagonal(x, 1); })},
      {"windows", view_difference([](const auto& x) { return tenon::windows<2, 3>(x, 1); })},
  });
}

TEST_CASE("gradients of index maps", "[every_array_function]") {
  const tenon::array<tenon::padding, 2> widths{{{2, 1}, {0, 3}}};
  const tenon::even_windows<1> even{{{6}}, {{3}}, {{4}}, {{2}}, {{1}}, {{1}}};
  const tenon::interpolated_places<double, 1, tenon::linear_filter> between{{{6}}, {{4}}, {{1.5}}, 1};
  const tenon::tensor<int, rank<1>> rows(rank<1>(3), {2, -1, 2});
  const tenon::tensor<int, rank<2>> places(rank<2>(1, 6), {0, 3, -1, 2, 0, 0});
  const auto turned = [](const auto& x) {
    return tenon::cross(tenon::narrow(x, axis<1>, 0, 3), tenon::narrow(x * x, axis<1>, 3, 3));
  };
  check_rows({
      {"select", view_difference([](const auto& x) { return tenon::select(x, axis<1>, -2); })},
      {"roll", view_difference([](const auto& x) { return tenon::roll(x, 2, axis<1>); })},
      {"repeat", view_difference([](const auto& x) { return tenon::repeat(x, 3, axis<0>); })},
      {"tile", view_difference([](const auto& x) { return tenon::tile(x, {{2, 3}}); })},
      {"pad", view_difference([](const auto& x) { return tenon::pad(x, {{1, {0, 2}}}, 0.5); })},
      {"pad<1, 0>", view_difference([](const auto& x) { return tenon::pad<1, 0>(x * x, axis<1>, 0.5); })},
      {"reflect", view_difference([&](const auto& x) { return tenon::pad(x, widths, tenon::reflect); })},
      {"symmetric", view_difference([&](const auto& x) { return tenon::pad(x, widths, tenon::symmetric); })},
      {"replicate", view_difference([&](const auto& x) { return tenon::pad(x, widths, tenon::replicate); })},
      {"circular", view_difference([&](const auto& x) { return tenon::pad(x, widths, tenon::circular); })},
      {"placed_windows",
       view_difference([&](const auto& x) { return tenon::placed_windows(x, even, tenon::shape<3>{}, 5.0); })},
      {"interpolate", view_difference([&](const auto& x) { return tenon::interpolate(x, between); })},
      {"diff", view_difference([](const auto& x) { return tenon::diff(x * x, axis<0>); })},
      {"cross", view_difference(turned)},
      {"concatenate", view_difference([](const auto& x) { return tenon::concatenate(axis<1>, x, 2 * x, x * x); })},
      {"stack", view_difference([](const auto& x) { return tenon::stack(axis<0>, x, x * x); })},
      {"tril triu", view_difference([](const auto& x) { return tenon::tril(x, 1) + tenon::triu(x); })},
      {"take", view_difference([&](const auto& x) { return tenon::take(x, rows, axis<0>); })},
      {"take_along_axis", view_difference([&](const auto& x) { return tenon::take_along_axis(x, places, axis<0>); })},
  });
}

TEST_CASE("gradients of reductions and scans", "[every_array_function]") {
  check_rows({
      {"sum", view_difference([](const auto& x) { return tenon::sum(x, axis<1>); })},
      {"prod", view_difference([](const auto& x) { return tenon::prod(x, axis<0>); })},
      {"mean", view_difference([](const auto& x) { return tenon::mean(x, drop<0>); })},
      {"max min", view_difference([](const auto& x) { return tenon::max(x, last) + 2 * tenon::min(x, last); })},
      {"variance", view_difference([](const auto& x) { return tenon::variance(x, axis<1>, 1); })},
      {"stddev", view_difference([](const auto& x) { return tenon::stddev(x, drop<0>); })},
      {"nansum", view_difference([](const auto& x) { return tenon::nansum(tenon::log(x), last); })},
      {"nanmean", view_difference([](const auto& x) { return tenon::nanmean(tenon::log(x), last); })},
      {"nanmax", view_difference([](const auto& x) { return tenon::nanmax(tenon::log(x), last); })},
      {"nanmin", view_difference([](const auto& x) { return tenon::nanmin(tenon::log(x), last); })},
      {"norm_l1", view_difference([](const auto& x) { return tenon::norm_l1(x, axis<0>); })},
      {"norm_l2", view_difference([](const auto& x) { return tenon::norm_l2(x, axis<1>); })},
      {"norm_inf", view_difference([](const auto& x) { return tenon::norm_inf(x, axis<1>); })},
      {"norm", view_difference([](const auto& x) { return tenon::norm(x, 3, axis<1>); })},
      {"cumsum", view_difference([](const auto& x) { return tenon::cumsum(x, axis<1>); })},
      {"cumprod", view_difference([](const auto& x) { return tenon::cumprod(x, axis<0>); })},
      {"cummax", view_difference([](const auto& x) { return tenon::cummax(x, axis<1>); })},
      {"cummin", view_difference([](const auto& x) { return tenon::cummin(x, axis<1>); })},
      {"linear_recurrence", view_difference([](const auto& x) { return tenon::linear_recurrence(x, x + 1, axis<0>); })},
      {"sosfilt", view_difference([](const auto& x) { return tenon::sosfilt({{1, 2, 1, 1, 0.5, 0.1}}, x, last); })},
      {"filtfilt",
       view_difference([](const auto& x) { return tenon::filtfilt({1, 2}, {1, 0.5}, x, last, {.padlen = 1}); })},
      {"sosfiltfilt", view_difference([](const auto& x) {
         return tenon::sosfiltfilt({{1, 2, 1, 1, 0.5, 0.1}}, x, last, {.padlen = 1});
       })},
      {"lfilter", view_difference([](const auto& x) { return tenon::lfilter({1, 2}, {1, 0.5}, x, last); })},
  });
}

TEST_CASE("gradients of statistics and numerics", "[every_array_function]") {
  const tenon::tensor<double, rank<1>> nodes = {-2, 0.5, 2}, values = {1, 2, 4};
  check_rows({
      {"cov", view_difference([](const auto& x) { return tenon::cov(x); })},
      {"corrcoef", view_difference([](const auto& x) { return tenon::corrcoef(x); })},
      {"polyval", view_difference([](const auto& x) { return tenon::polyval({2, -1, 3}, x); })},
      {"interp", view_difference([&](const auto& x) { return tenon::interp(x, nodes, values); })},
  });
}

TEST_CASE("gradients of images that are read at places", "[every_array_function]") {
  const auto theta = [](const auto& x) { return tenon::reshape(0.3 * x, rank<3>(4, 2, 3)); };
  const auto sampled = [&](const auto& x) {
    return tenon::grid_sample(tenon::reshape(x, rank<4>(2, 3, 2, 2)), tenon::reshape(0.3 * x, rank<4>(2, 3, 2, 2)));
  };
  check_rows({
      {"affine_grid", view_difference([&](const auto& x) { return tenon::affine_grid(theta(x), {4, 1, 3, 2}); })},
      {"grid_sample", view_difference(sampled)},
  });
}

TEST_CASE("gradients of compositions", "[every_array_function]") {
  const auto weight = drawn(rank<1>(6), 5), bias = drawn(rank<1>(6), 6);
  check_rows({
      {"softmax", view_difference([](const auto& x) { return tenon::softmax(x, last); })},
      {"log_softmax", view_difference([](const auto& x) { return tenon::log_softmax(x, last); })},
      {"logsumexp", view_difference([](const auto& x) { return tenon::logsumexp(x, last); })},
      {"logsumexp", view_difference([](const auto& x) { return tenon::logsumexp(x, tenon::drop<0>); })},
      {"logsumexp", view_difference([](const auto& x) { return tenon::logsumexp(x, tenon::axes{0}); })},
      {"logsumexp", view_difference([](const auto& x) { return tenon::logsumexp(x); })},
      {"standardise", view_difference([](const auto& x) { return tenon::standardise(x, last, 0.1f); })},
      {"layer_norm", view_difference([&](const auto& x) { return tenon::layer_norm(x, last, weight, bias, 0.1f); })},
      {"rms_norm", view_difference([&](const auto& x) { return tenon::rms_norm(x, last, weight, 0.1f); })},
      {"standardise_groups",
       view_difference([](const auto& x) { return tenon::standardise_groups(tenon::new_axis<2>(x), 3, 0.1f); })},
  });
}

TEST_CASE("gradients of products", "[every_array_function]") {
  const auto product = [](const auto& x, const auto& y) { return tenon::matmul(x, y); };
  const auto sum_of_products = [](const auto& x, const auto& y) { return tenon::gemm(0.5, x, y, 2.0, tenon::exp(x)); };
  const auto by_letters = [](const auto& x, const auto& y) { return tenon::einsum<"ij,ji->i">(x, y); };
  const auto over_axes = [](const auto& x, const auto& y) { return tenon::tensordot(x, y, axis<0>, axis<1>); };
  const auto attention = [](const auto& x, const auto& y) {
    return tenon::scaled_dot_product_attention(x, y, tenon::sin(y));
  };
  const auto turned = [](const auto& x, const auto& y) {
    return tenon::rotary_embedding(x, tenon::cos(y), tenon::sin(y));
  };
  check_rows({
      {"matmul", pair_difference(product, rank<3>(2, 3, 4), rank<2>(4, 5))},
      {"gemm", pair_difference(sum_of_products, rank<2>(3, 3))},
      {"dot", pair_difference([](const auto& x, const auto& y) { return tenon::dot(x, y); }, rank<1>(5))},
      {"outer", pair_difference([](const auto& x, const auto& y) { return tenon::outer(x, y); }, rank<1>(4))},
      {"tensordot", pair_difference(over_axes, rank<2>(3, 4), rank<2>(5, 3))},
      {"einsum", pair_difference(by_letters, rank<2>(3, 4), rank<2>(4, 3))},
      {"scaled_dot_product_attention", pair_difference(attention, rank<3>(2, 3, 4), rank<3>(2, 5, 4))},
      {"rotary_embedding", pair_difference(turned, rank<3>(2, 3, 4), rank<2>(3, 2))},
  });
}

TEST_CASE("gradients of convolutions", "[every_array_function]") {
  const tenon::window_geometry<2> geometry{.stride = {{2, 1}}, .padding = {{1, 0}}, .dilation = {{1, 2}}, .groups = 2};
  const auto forward = [&](const auto& x, const auto& w) { return tenon::convolve(x, w, geometry); };
  const auto transposed = [&](const auto& x, const auto& w) { return tenon::convolve_transpose(x, w, geometry); };
  const tenon::window_geometry<2> spread{.stride = {{1, 2}}, .padding = {{1, 0}}, .dilation = {{3, 4}}};
  const auto padded = [&](const auto& x, const auto& w) {
    return tenon::convolve_transpose(x, w, spread, {{2, 3}});  // as much as a stride, or more
  };
  const auto to_image = [&](const auto& x, const auto& w) {
    return tenon::convolve_image_gradient(x, w, {{5, 6}}, geometry);
  };
  const auto to_weight = [&](const auto& x, const auto& y) {
    return tenon::convolve_weight_gradient(x, y, {{3, 2}}, geometry);
  };
  const rank<4> image(2, 4, 5, 6), weight(6, 2, 3, 2), result(2, 6, 3, 4);
  check_rows({
      {"convolve", pair_difference(forward, image, weight)},
      {"convolve_transpose", pair_difference(transposed, result, weight)},
      {"convolve_transpose", pair_difference(padded, rank<4>(2, 3, 2, 3), rank<4>(3, 2, 3, 2))},
      {"convolve_image_gradient", pair_difference(to_image, result, weight)},
      {"convolve_weight_gradient", pair_difference(to_weight, result, image)},
  });
}
