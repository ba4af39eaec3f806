// tests/nn/likelihood_loss.cpp: values and gradients of PyTorch 2.15, at the edges of options, and what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/likelihood_loss.hpp>

#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/loss_values.hpp"
#include "support/temporaries.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::check_loss;
using tenon_test::drawn;
using tenon_test::numbers_of;

namespace {

using line_of_doubles = tenon::tensor<double, rank<1>>;
using rows_of_doubles = tenon::tensor<double, rank<2>>;
using column_shape = tenon::shape<tenon::dyn, 1>;

}  // namespace

TEST_CASE("poisson_nll_loss is PyTorch's with all options", "[likelihood_loss]") {
  const line_of_doubles logs(rank<1>(5), {0.5, -1, 0.25, 2, 0.125}), rates(rank<1>(5), {0.5, 1, 0.25, 2, 0});
  const line_of_doubles counts(rank<1>(5), {0, 1, 2.5, 7, 0.5}), positive(rank<1>(5), {0.25, 1, 2.5, 7, 0.5});
  const auto of = [](const auto& options) {
    return [options]<class Reduction>(Reduction, const auto& x, const auto& target) {
      return nn::poisson_nll_loss<Reduction>(x, target, options);
    };
  };
  check_loss(of(nn::poisson_nll_options<>()), {1.648721271, 1.367879441, 0.6590254167, -6.610943901, 1.070648453},
             {{1.648721271, -0.6321205588, -1.215974583, 0.3890560989, 0.6331484531}, {-0.5, 1, -0.25, -2, -0.125}},
             logs, counts);
  check_loss(of(nn::poisson_nll_options<false>{.epsilon = 1e-3}),
             {0.5, 0.9990004997, 3.70575585, -2.855529389, 3.453877639},
             {{1, 0.000999000999, -8.960159363, -2.498250875, -499},
              {0.6911491779, -0.0009995003331, 1.38230234, -0.6936470556, 6.907755279}},
             rates, counts);
  check_loss(of(nn::poisson_nll_options<true, true>()),
             {1.523721271, 1.367879441, 1.826836146, 1.90232075, 1.070648453},
             {{1.398721271, -0.6321205588, -1.215974583, 0.3890560989, 0.6331484531},
              {-0.5, 1, 0.8662907319, 0.01733872048, -0.125}},
             logs, positive);
  check_loss(of(nn::poisson_nll_options<false, true>{.epsilon = 0.5}),
             {0.5, 0.5945348919, 2.13701591, 4.099229528, 0.3465735903},
             {{0.75, 0.3333333333, -2.333333333, -1.8, 0}, {0, -0.4054651081, 1.403972804, 1.101047989, 0.6931471806}},
             rates, positive);
}

TEST_CASE("gaussian_nll_loss is PyTorch's with all options", "[likelihood_loss]") {
  const rows_of_doubles x(rank<2>(2, 3), {1, 2, -0.5, 0.25, 3, 0.75}), t(rank<2>(2, 3), {0.5, 2, 0.5, 0.25, 1, 0});
  const rows_of_doubles variances(rank<2>(2, 3), {0.5, 2, 0.0625, 0.25, 0, 4});
  const tenon::tensor<double, column_shape> of_rows(column_shape(2, 1), {0.5, 2});
  const auto held = []<class Reduction>(Reduction, const auto&... all) {
    return nn::gaussian_nll_loss<Reduction>(all..., {.epsilon = 0.125});
  };
  check_loss(held, {-0.09657359028, 0.3465735903, 2.960279229, -0.6931471806, 14.96027923, 0.7634596806},
             {{1, 0, -8, 0, 16, 0.1875}, {-1, 0, 8, 0, -16, -0.1875}, {0.5, 0.25, -28, 2, -124, 0.107421875}}, x, t,
             variances);
  const auto full = []<class Reduction>(Reduction, const auto&... all) {
    return nn::gaussian_nll_loss<Reduction>(all..., {.full = true});
  };
  check_loss(full, {0.8223649429, 0.5723649429, 1.572364943, 1.265512123, 2.265512123, 1.406137123},
             {{1, 0, -2, 0, 1, 0.375}, {-1, 0, 2, 0, -1, -0.375}, {0.5, 0.1796875}}, x, t, of_rows);
  const auto of_number = []<class Reduction>(Reduction, const auto&... all) {
    return nn::gaussian_nll_loss<Reduction>(all..., 0.5);
  };
  check_loss(of_number, {-0.09657359028, -0.3465735903, 0.6534264097, -0.3465735903, 3.65342641, 0.2159264097},
             {{1, 0, -2, 0, 4, 1.5}, {-1, 0, 2, 0, -4, -1.5}}, x, t);
}

TEST_CASE("losses of likelihoods keep floats and NaN", "[likelihood_loss]") {
  const float nan = std::nanf("");
  const tenon::tensor<float, rank<1>> x(rank<1>(3), {nan, 1, 1}), variances(rank<1>(3), {1, -1, nan});
  const tenon::tensor<std::int64_t, rank<1>> counts(rank<1>(3), {1, 0, 2});
  const auto losses = nn::poisson_nll_loss<nn::unreduced>(x, counts, nn::poisson_nll_options<false, true>());
  static_assert(std::is_same_v<decltype(losses)::element, float>);
  CHECK((std::isnan(numbers_of(losses)[0]) && numbers_of(losses)[1] == 1));
  const auto of_variances = nn::gaussian_nll_loss<nn::unreduced>(x, 1, variances);
  static_assert(std::is_same_v<decltype(of_variances)::element, float>);
  for (const double loss : numbers_of(of_variances)) CHECK(std::isnan(loss));
  CHECK(std::isnan(static_cast<float>(nn::poisson_nll_loss(counts * 1.0f, x, nn::poisson_nll_options<true, true>()))));
  const line_of_doubles none(rank<1>(0));
  CHECK(static_cast<double>(nn::gaussian_nll_loss<nn::to_sum>(none, none, none)) == 0);
}

TEST_CASE("losses of likelihoods say what does not fit", "[likelihood_loss]") {
  const rows_of_doubles x(rank<2>(2, 3)), one(rank<2>(2, 1)), two(rank<2>(2, 2));
  const auto refusal = [](const auto& loss) { return tenon_test::text_of<tenon::shape_error>(loss); };
  CHECK(refusal([&] { nn::poisson_nll_loss(x, one); }) ==
        "poisson_nll_loss: target: axis 1: extent 1, expected 3 (x [2, 3], target [2, 1])");
  CHECK(refusal([&] { nn::gaussian_nll_loss(x, one, x); }) ==
        "gaussian_nll_loss: target: axis 1: extent 1, expected 3 (x [2, 3], target [2, 1])");
  CHECK(refusal([&] { nn::gaussian_nll_loss(x, x, two); }) ==
        "gaussian_nll_loss: variance: axis 1: extent 2, expected 3 or 1 (x [2, 3], variance [2, 2])");
  CHECK(refusal([&] { nn::gaussian_nll_loss(one, one, x); }) ==
        "gaussian_nll_loss: variance: axis 1: extent 3, expected 1 (x [2, 1], variance [2, 3])");
  CHECK(tenon_test::text_of<tenon::error>([&] { nn::gaussian_nll_loss(x, x, -0.5); }) ==
        "gaussian_nll_loss: variance -0.5, expected at least 0");
}

TEST_CASE("gradients of losses of likelihoods", "[likelihood_loss]") {
  auto x = drawn(rank<2>(4, 3), 1, 0.5f, 2), y = drawn(rank<2>(4, 3), 2, 1.5f, 4);
  auto v = drawn(column_shape(4, 1), 3, 0.5f, 2);
  using tenon_test::gradient_difference;
  const auto poisson = [](const auto& a, const auto& b) {
    return nn::poisson_nll_loss<nn::unreduced>(a, b, nn::poisson_nll_options<false, true>());
  };
  const auto gaussian = [](const auto&... all) { return nn::gaussian_nll_loss<nn::unreduced>(all..., {.full = true}); };
  tenon_test::check_rows({
      {"poisson_nll_loss", gradient_difference(poisson, x, y)},
      {"gaussian_nll_loss held_variance", gradient_difference(gaussian, x, y, v)},
  });
}

TEST_CASE("a target of 0 has a finite gradient in full", "[likelihood_loss]") {
  const line_of_doubles x(rank<1>(2), {0.5, -1}), counts(rank<1>(2), {0, 0});
  const auto t = tenon::variable(counts);
  tenon::backward(nn::poisson_nll_loss<nn::to_sum>(x, t, nn::poisson_nll_options<true, true>()));
  CHECK(numbers_of(t.gradient()) == std::vector<double>{-0.5, 1});
}

TEST_CASE("traced losses of likelihoods keep temporaries", "[likelihood_loss]") {
  const auto x = drawn(rank<2>(4, 3), 1), y = drawn(rank<2>(4, 3), 2, 0, 4), v = drawn(rank<2>(4, 3), 3, 0.5f, 2);
  using tenon_test::keeps_temporaries;
  const auto poisson = []<class T>(const auto& logs, T&& t) { return nn::poisson_nll_loss(logs, std::forward<T>(t)); };
  CHECK(keeps_temporaries(poisson, x, y));
  const auto gaussian = []<class... T>(const auto& means, T&&... t) {
    return nn::gaussian_nll_loss(means, std::forward<T>(t)...);
  };
  CHECK(keeps_temporaries(gaussian, x, y, v));
}
