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
std::string second_of_one(const Function& function, float low = -2, float high = 2) {
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
      {"relu", second_of_one(tenon::relu)},
      {"relu6", second_of_one(tenon::relu6, -9, 9)},
      {"soft_cap", second_of_one([](const auto& x) { return tenon::soft_cap(x, 0.7); })},
      {"leaky_relu", second_of_one(tenon::leaky_relu)},
      {"threshold", second_of_one([](const auto& x) { return tenon::threshold(x, 0.3, 0.7); })},
      {"elu", second_of_one(tenon::elu)},
      {"celu", second_of_one(tenon::celu)},
      {"selu", second_of_one(tenon::selu)},
      {"sigmoid", second_of_one(tenon::sigmoid)},
      {"log_sigmoid", second_of_one(tenon::log_sigmoid)},
      {"silu", second_of_one(tenon::silu)},
      {"gelu", second_of_one(tenon::gelu)},
      {"gelu_tanh", second_of_one(tenon::gelu_tanh)},
      {"softplus", second_of_one(tenon::softplus)},
      {"mish", second_of_one(tenon::mish)},
      {"softsign", second_of_one(tenon::softsign)},
      {"hard_sigmoid", second_of_one(tenon::hard_sigmoid, -5, 5)},
      {"hard_swish", second_of_one(tenon::hard_swish, -5, 5)},
      {"hard_tanh", second_of_one(tenon::hard_tanh)},
      {"hard_shrink", second_of_one(tenon::hard_shrink)},
      {"soft_shrink", second_of_one(tenon::soft_shrink)},
      {"tanh_shrink", second_of_one(tenon::tanh_shrink)},
      {"tanh", second_of_one(tenon::tanh)},
      {"digamma polygamma", second_of_one(tenon::digamma, 0.5f, 3)},
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
