// tests/package/compiled/main.cpp: statements that the engines of tenon::compiled run, and the bits of their results.
// Built from headers alone and with the library; both must print the same.
// SPDX-License-Identifier: Apache-2.0
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <tenon/train.hpp>

namespace tn = tenon;
namespace nn = tenon::nn;

/// Prints a sum over the bits of all elements, each weighed by its place.
template <class T, class Shape, class Space>
void print_bits(const char* name, const tn::tensor<T, Shape, Space>& values) {
  std::uint64_t sum = 0;
  for (tn::index i = 0; i < values.size(); ++i) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, values.data() + i, sizeof(T));
    sum = sum * 1099511628211u + bits;
  }
  std::printf("%s %016llx\n", name, static_cast<unsigned long long>(sum));
}

int main() {
  using matrix = tn::tensor<float, tn::rank<2>>;
  const matrix x = tn::uniform<float>({37, 53}, 1, -1.0f, 1.0f);
  const matrix y = tn::normal<float>({53, 41}, 2);
  const tn::tensor<double, tn::rank<2>> z = tn::uniform<double>({300, 20}, 3, -1.0f, 1.0f);
  const matrix products = tn::relu(tn::matmul(x, y) + 0.5f);
  print_bits("matmul", products);
  print_bits("vector", matrix(tn::matmul(x[tn::range(0, 2)], y)));
  print_bits("transposed", matrix(tn::transpose(x)));
  print_bits("softmax", matrix(tn::softmax(products, tn::axis<-1>)));
  print_bits("sums", tn::tensor<double, tn::rank<2>>(tn::sum(z, tn::axis<0>)));
  print_bits("greatest", tn::tensor<tn::index, tn::rank<2>>(tn::argmax(products, tn::axis<-1>)));
  nn::linear<53, 41> layer;
  layer.initialise(7);
  tn::train::adamw optimizer({.lr = 1e-2});
  for (int step = 0; step < 3; ++step) {
    tn::backward(tn::mean(tn::square(layer(x) - products)));
    optimizer.step(layer);
  }
  print_bits("trained", layer.weight.value);
}
