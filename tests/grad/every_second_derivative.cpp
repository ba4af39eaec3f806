// tests/grad/every_second_derivative.cpp: derivatives of gradients, against central differences of gradients in double.
// Activations, and one of each kind of functions of arrays; tests/grad/every_function.cpp has all first derivatives.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/tenon.hpp>

#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"

using tenon::axis;
using tenon::rank;
using tenon_test::check_rows;
using tenon_test::drawn;
using tenon_test::second_difference;

namespace {

/// Of a function of numbers in [low, high).
template <class Function>
std::string slope_of(const Function& function, float low = -2, float high = 2) {
  auto x = drawn(rank<1>(23), 5, low, high);
  return second_difference(function, x);
}

/// Of a function of 3 x 4 numbers.
template <class Function>
std::string of_rows(const Function& function) {
  auto x = drawn(rank<2>(3, 4), 6);
  return second_difference(function, x);
}

constexpr auto last_axis = axis<-1>;

}  // namespace

TEST_CASE("second derivatives of activations", "[every_second_derivative]") {
  check_rows({
      {"relu", slope_of(tenon::relu)},
      {"relu6", slope_of(tenon::relu6, -9, 9)},
      {"soft_cap", slope_of([](const auto& x) { return tenon::soft_cap(x, 0.7); })},
      {"leaky_relu", slope_of(tenon::leaky_relu)},
      {"threshold", slope_of([](const auto& x) { return tenon::threshold(x, 0.3, 0.7); })},
      {"elu", slope_of(tenon::elu)},
      {"celu", slope_of(tenon::celu)},
      {"selu", slope_of(tenon::selu)},
      {"sigmoid", slope_of(tenon::sigmoid)},
      {"log_sigmoid", slope_of(tenon::log_sigmoid)},
      {"silu", slope_of(tenon::silu)},
      {"gelu", slope_of(tenon::gelu)},
      {"gelu_tanh", slope_of(tenon::gelu_tanh)},
      {"softplus", slope_of(tenon::softplus)},
      {"mish", slope_of(tenon::mish)},
      {"softsign", slope_of(tenon::softsign)},
      {"hard_sigmoid", slope_of(tenon::hard_sigmoid, -5, 5)},
      {"hard_swish", slope_of(tenon::hard_swish, -5, 5)},
      {"hard_tanh", slope_of(tenon::hard_tanh)},
      {"hard_shrink", slope_of(tenon::hard_shrink)},
      {"soft_shrink", slope_of(tenon::soft_shrink)},
      {"tanh_shrink", slope_of(tenon::tanh_shrink)},
      {"tanh", slope_of(tenon::tanh)},
      {"digamma polygamma", slope_of(tenon::digamma, 0.5f, 3)},
  });
}

TEST_CASE("second derivatives of compositions and reductions", "[every_second_derivative]") {
  const auto weight = drawn(rank<1>(4), 5);
  check_rows({
      {"softmax", of_rows([](const auto& x) { return tenon::softmax(x, last_axis); })},
      {"rms_norm", of_rows([&](const auto& x) { return tenon::rms_norm(x, last_axis, weight, 0.1f); })},
      {"prod", of_rows([](const auto& x) { return tenon::prod(x, last_axis); })},
  });
}

TEST_CASE("second derivatives of products and convolutions", "[every_second_derivative]") {
  const auto image = drawn(rank<3>(2, 2, 5), 1), weight = drawn(rank<3>(2, 2, 2), 2);
  const tenon::window_geometry<1> geometry{.stride = {{2}}, .padding = {{1}}};
  auto x = image;
  const auto of_image = [&](const auto& v) { return tenon::square(tenon::convolve(v, weight, geometry)); };
  check_rows({
      {"matmul", of_rows([](const auto& v) { return tenon::matmul(v, tenon::transpose(tenon::square(v))); })},
      {"convolve", second_difference(of_image, x)},
      {"take", of_rows([](const auto& v) {
         return tenon::square(tenon::take(v, tenon::arange<int>(3) % 2, axis<0>));
       })},
      {"cumprod", of_rows([](const auto& v) { return tenon::cumprod(v, last_axis); })},
  });
}
