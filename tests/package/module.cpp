// tests/package/module.cpp: a program of a user who imports Tenon, or with -DTENON_HEADERS includes it.
// SPDX-License-Identifier: Apache-2.0
#include <complex>
#include <cstdio>
#include <iostream>
#include <vector>
#if defined(TENON_HEADERS)
#include <tenon/expr/operations/complex.hpp>
#include <tenon/linalg.hpp>
#include <tenon/nn/explain.hpp>
#include <tenon/profile.hpp>
#include <tenon/run_log.hpp>
#include <tenon/train.hpp>
#include <tenon/tune.hpp>
#else
import tenon;
#endif

namespace tn = tenon;
namespace nn = tenon::nn;

struct network : nn::module<network> {
  nn::linear<6, 8> hidden;
  nn::linear<8, 3> head;
  auto forward(const auto& x) { return head(tn::relu(hidden(x))); }
};

int main() {
  network net;
  net.initialise(1);
  tn::train::adamw optimizer(net, {.lr = 1e-2});
  const tn::tensor<float, tn::rank<2>> x = tn::uniform<float>({4, 6}, 2);
  const std::vector<int> classes{0, 1, 2, 1};
  const tn::tensor<int, tn::rank<1>> labels(classes);
  tn::profile costs(nullptr);
  tn::run_log seen;
  for (int step = 0; step < 3; ++step) {
    const float loss = optimizer.step([&] { return tn::mean(nn::cross_entropy(net(x), labels)); });
    std::printf("%a\n", static_cast<double>(loss));
  }
  std::cout << costs.rows().size() << " rows, " << seen.launches() << " launches, ";
  const tn::tensor<std::complex<float>, tn::rank<1>> numbers(tn::rank<1>(2), {{1, 2}, {3, 4}});
  const tn::tensor<float, tn::rank<1>> parts = tn::imag(tn::conj(numbers));
  const auto tuned = tn::tune(tn::matmul(x, tn::transpose(x)));
  std::cout << parts << tuned.size() << "\n" << nn::explain(net, x) << seen << std::flush;
  const tn::tensor<float, tn::rank<2>> gram = tn::matmul(tn::transpose(x), x);
  const auto [values, vectors] = tn::eigh(gram);
  std::printf("%a\n", static_cast<double>(tn::max(values)));
}
