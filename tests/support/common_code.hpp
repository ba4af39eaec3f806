// tests/support/common_code.hpp: what test files of most rooms instantiate, so that it is compiled once for all.
// The precompiled header of clang++ holds it, and its code lies in one object that programs link. Nothing calls it.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>
#include <typeinfo>
#include <utility>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/random.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace tenon_test {

/// Tensors as tests make, copy and read them.
template <class T, class Shape, class Space>
void use_copies(const tenon::tensor<T, Shape, Space>& x) {
  tenon::tensor<T, Shape, Space> y(x.shape());
  y = x;
  y = x.view();
  y = T(1);
  y = tenon::zeros<T, Space>(x.shape());
  y = x.template to<tenon::host>().template to<Space>();
  y = made_tensor<T, Space>(x.shape(), scattered);
  y = counting<T, Space>(x.shape());
  y = tensor_of<Space>(x.shape(), elements_of(x));
  CHECK(difference(numbers_of(y), numbers_of(x.view())) == "");
  CHECK(elements_of(x) == elements_of(y));
  CHECK(extents_of(x) == extents_of(y));
}

template <class T, class Shape, class Space>
void use_sums(const tenon::tensor<T, Shape, Space>& x) {
  tenon::tensor<T, Shape, Space> y(x.shape());
  y = x + y;
  y = x * T(2);
  y += x;
  CHECK(numbers_of(x + y) == numbers_of(x * y));
}

/// Statements of numbers with fractions.
template <class T, class Shape, class Space>
void use_functions(const tenon::tensor<T, Shape, Space>& x) {
  tenon::tensor<T, Shape, Space> y(x.shape());
  y = tenon::uniform<T>(x.shape(), 1);
  y = x - y;
  y = tenon::exp(x);
  y = tenon::relu(x);
  y = tenon::tanh(x) * y + T(1);
  y = x / tenon::sum(x, tenon::axis<-1>);
  y = tenon::softmax(x, tenon::axis<-1>);
  CHECK(difference(numbers_of(tenon::sum(x)), numbers_of(tenon::max(x))) == "");
  CHECK(difference(numbers_of(tenon::sum(x, tenon::axis<0>)), numbers_of(tenon::mean(x, tenon::axis<-1>))) == "");
  CHECK(difference(numbers_of(tenon::exp(x)), numbers_of(x * T(2) + T(1)), 1e-5) == "");
  CHECK(static_cast<double>(tenon::sum(x * y)) == 0);
}

template <class T, class Space>
void use_products(const tenon::tensor<T, tenon::rank<2>, Space>& x) {
  tenon::tensor<T, tenon::rank<2>, Space> y(x.shape());
  y = tenon::transpose(x);
  y = tenon::matmul(x, x);
  y = tenon::relu(tenon::matmul(x, tenon::transpose(x)) + y);
  CHECK(difference(numbers_of(tenon::matmul(x, y)), numbers_of(tenon::matmul(x, tenon::transpose(y)))) == "");
}

template <class T, int Rank>
using host_tensor = tenon::tensor<T, tenon::rank<Rank>, tenon::host>;
template <class T, int Rank>
using emulated_tensor = tenon::tensor<T, tenon::rank<Rank>, tenon::emulated>;

template <class... T>
void use_copies_of_types() {
  (use_copies(host_tensor<T, 1>()), ...);
  (use_copies(host_tensor<T, 2>()), ...);
  (use_copies(emulated_tensor<T, 1>()), ...);
  (use_copies(emulated_tensor<T, 2>()), ...);
}

template <class T>
void use_sums_of_type() {
  use_copies_of_types<T>();
  use_sums(host_tensor<T, 1>());
  use_sums(host_tensor<T, 2>());
  use_sums(emulated_tensor<T, 1>());
  use_sums(emulated_tensor<T, 2>());
}

template <class T, int... Ranks>
void use_functions_of_type(std::integer_sequence<int, Ranks...>) {
  (use_copies(host_tensor<T, Ranks>()), ...);
  (use_sums(host_tensor<T, Ranks>()), ...);
  (use_functions(host_tensor<T, Ranks>()), ...);
  (use_copies(emulated_tensor<T, Ranks>()), ...);
  (use_sums(emulated_tensor<T, Ranks>()), ...);
  (use_functions(emulated_tensor<T, Ranks>()), ...);
  use_products(host_tensor<T, 2>());
  use_products(emulated_tensor<T, 2>());
}

template <class T>
void use_comparisons(const T& number) {
  CHECK(number == number);
  CHECK(number == 0);
}

inline void use_common_code() {
  use_functions_of_type<float>(std::integer_sequence<int, 1, 2, 3, 4>());
  use_functions_of_type<double>(std::integer_sequence<int, 1, 2, 3, 4>());
  use_sums_of_type<int>();
  use_sums_of_type<tenon::index>();
  use_sums_of_type<tenon::half>();
  use_copies_of_types<tenon::bfloat16, bool, signed char, std::uint8_t>();
  use_comparisons(0);
  use_comparisons(tenon::index());
  use_comparisons(0.0f);
  use_comparisons(0.0);
  CHECK(std::size_t() == std::size_t());
  CHECK(typeid(int) == typeid(int));
  CHECK(text_of<tenon::shape_error>([] {}) == std::string());
}

}  // namespace tenon_test
