// tests/linalg/cusolver.cpp: large matrices of CUDA devices by cuSOLVER, against what defines the results.
// A program of its own, as the library serves a whole program; compiled by nvcc where cuSOLVER is found.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/cusolver.hpp>

#include "linalg/large_matrices.hpp"

#if defined(__CUDACC__)
TEMPLATE_TEST_CASE("factors, systems, inverses and determinants by cuSOLVER", "[cusolver]", float, double) {
  for (const tenon::index n : {64, 100}) {
    CAPTURE(n);
    tenon_test::check_factors_and_systems<TestType, tenon::cuda>(n);
    tenon_test::check_determinants<TestType, tenon::cuda>(n);
  }
}

TEMPLATE_TEST_CASE("decompositions by cuSOLVER", "[cusolver]", float, double) {
  for (const auto& extents : {tenon::array<tenon::index, 2>{{33, 33}}, {{64, 64}}, {{100, 70}}, {{70, 100}}}) {
    CAPTURE(extents[0], extents[1]);
    const auto all = tenon_test::random_batch(extents[0], extents[1]);
    tenon_test::check_qr<TestType, tenon::cuda>(extents[0], extents[1]);
    tenon_test::check_svd<TestType, tenon::cuda>(all);
  }
  for (const tenon::index n : {33, 64}) {
    tenon_test::check_eigh<TestType, tenon::cuda>(tenon_test::positive_batch(n));
  }
}

TEST_CASE("matrices without a result are NaN with cuSOLVER, too", "[cusolver]") {
  auto all = tenon_test::positive_batch(64);
  for (tenon::index i = 0; i < 64; ++i) all[1](i, 7) = all[1](7, i) = 0;
  const auto a = tenon_test::batch_of_matrices<double, tenon::cuda>(all);
  const auto inverses = tenon_test::matrices_from(tenon::evaluated_tensor<tenon::cuda>(tenon::inverse(a)));
  const auto factors = tenon_test::matrices_from(tenon::evaluated_tensor<tenon::cuda>(tenon::cholesky(a)));
  CHECK((std::isfinite(inverses[0](0, 0)) && std::isnan(inverses[1](0, 0))));
  CHECK((std::isfinite(factors[0](0, 0)) && std::isnan(factors[1](0, 0))));
  CHECK(tenon_test::numbers_of(tenon::evaluated_tensor<tenon::cuda>(tenon::determinant(a)))[1] == 0);
}
#endif
