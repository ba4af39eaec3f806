// tests/linalg/library.cpp: which matrices a library is asked for, and what happens where it has no result.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/library.hpp>

#include "linalg/matrices.hpp"

namespace {

using tenon::rank;
using tenon_test::numbers_of;
using tenon_test::plain_matrix;

/// Counts questions. It writes a number over what it may write, and says that this is the result, or not.
template <class Space>
struct answering_library final : tenon::detail::matrix_library<double> {
  mutable int questions = 0;
  bool answer;

  explicit answering_library(bool answer_all) : answer(answer_all) { tenon::detail::library_of<double, Space> = this; }
  ~answering_library() { tenon::detail::library_of<double, Space> = nullptr; }
  bool write(double* elements, tenon::index count) const {
    ++questions;
    for (tenon::index i = 0; i < count; ++i) elements[i] = 3;
    return answer;
  }
  bool factor_cholesky(double* a, tenon::index n) const override { return write(a, n * n); }
  bool solve(double*, double* b, tenon::index n, tenon::index columns) const override { return write(b, n * columns); }
  bool solve_positive(double*, double* b, tenon::index n, tenon::index columns) const override {
    return write(b, n * columns);
  }
  bool invert(double* a, tenon::index n) const override { return write(a, n * n); }
  bool eliminate(double* a, tenon::index n, tenon::index& swaps) const override {
    for (tenon::index i = 0; i < n * n; ++i) a[i] = 1;
    swaps = 1;
    return write(a, 1);
  }
  bool reflect_columns(double* columns, double*, tenon::index length, tenon::index count) const override {
    return write(columns, length * count);
  }
  bool unfold_reflections(double* columns, const double*, tenon::index length, tenon::index count) const override {
    return write(columns, length * count);
  }
  bool diagonalise(double* a, double* values, tenon::index n, bool has_vectors) const override {
    write(values, n), --questions;
    return write(a, has_vectors ? n * n : 0);
  }
  bool decompose(double* columns, double* partners, double* values, tenon::index length,
                 tenon::index count) const override {
    write(values, count), write(partners, partners == nullptr ? 0 : count * count), questions -= 2;
    return write(columns, length * count);
  }
};

/// What every function makes of a matrix, one after another.
template <class Space>
std::vector<double> everything_of(const plain_matrix& plain) {
  const auto a = tenon_test::batch_of_matrices<double, Space>({plain});
  std::vector<double> all;
  const auto keep = [&](const auto& result) {
    for (const double each : numbers_of(tenon::evaluated_tensor<Space>(result))) all.push_back(each);
  };
  keep(tenon::cholesky(a)), keep(tenon::solve(a, a));
  keep(tenon::solve(a, a, {.positive_definite = true}));
  keep(tenon::inverse(a)), keep(tenon::determinant(a));
  keep(tenon::slogdet(a).sign), keep(tenon::slogdet(a).logabsdet);
  const auto [q, r] = tenon::qr(a);
  const auto [values, vectors] = tenon::eigh(a);
  const auto [u, s, vh] = tenon::svd(a);
  keep(q), keep(r), keep(values), keep(vectors), keep(u), keep(s), keep(vh);
  return all;
}

/// The host's memory, and a device's, where kernels copy matrices.
using library_spaces = std::tuple<tenon::host, tenon_test::distant>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a library is asked for large matrices; where it has no result, passes run", "[library]",
                        library_spaces) {
  const plain_matrix small = tenon_test::positive_matrix(tenon::detail::least_rotated - 1),
                     between = tenon_test::positive_matrix(tenon::detail::least_factored - 1),
                     large = tenon_test::positive_matrix(tenon::detail::least_factored);
  const auto expected_small = everything_of<TestType>(small), expected_between = everything_of<TestType>(between),
             expected_large = everything_of<TestType>(large);
  const answering_library<TestType> library(false);
  CHECK(everything_of<TestType>(small) == expected_small);
  CHECK(library.questions == 0);
  CHECK(everything_of<TestType>(between) == expected_between);
  CHECK(library.questions == 2);
  CHECK(everything_of<TestType>(large) == expected_large);
  CHECK(library.questions == 2 + 10);
}

TEMPLATE_LIST_TEST_CASE("what a library writes is the result", "[library]", library_spaces) {
  const plain_matrix large = tenon_test::positive_matrix(70);
  const answering_library<TestType> library(true);
  const auto found = everything_of<TestType>(large);
  CHECK(library.questions == 11);
  const auto part = [&](tenon::index first, tenon::index count) {
    return std::vector<double>(found.begin() + first, found.begin() + first + count);
  };
  const tenon::index size = 70 * 70;
  CHECK(part(0, 71) == [] {
    std::vector<double> rows(71, 0.0);  // a factor is 0 above its diagonal
    rows[0] = rows[70] = 3;
    return rows;
  }());
  CHECK(part(size, 3 * size) == std::vector<double>(static_cast<std::size_t>(3 * size), 3.0));
  CHECK(part(4 * size, 3) == std::vector<double>{-3, -1, std::log(3.0)});
  CHECK(part(4 * size + 3, size) == std::vector<double>(static_cast<std::size_t>(size), 3.0));
  CHECK(found[static_cast<std::size_t>(5 * size + 3 + 70)] == 0);  // below r's diagonal
  CHECK(part(6 * size + 3, 3 * size + 140) == std::vector<double>(static_cast<std::size_t>(3 * size + 140), 3.0));
}

TEST_CASE("a library sees finite elements only", "[library]") {
  plain_matrix strange = tenon_test::positive_matrix(70);
  strange(10, 20) = std::nan("");
  const answering_library<tenon::host> library(true);
  tenon::tensor<double, rank<2>> a = tenon_test::batch_of_matrices<double>({strange})[0], result;
  CHECK(tenon_test::text_of<tenon::linear_algebra_error>([&] { result = tenon::inverse(a); }) ==
        "inverse: the matrix is singular (pivot 20)");
  CHECK_THROWS_AS(tenon::svd(a), tenon::linear_algebra_error);
  CHECK_THROWS_AS(tenon::qr(a), tenon::linear_algebra_error);
  CHECK(library.questions == 0);
  result = tenon::cholesky(a);  // reads what is below the diagonal
  result = tenon::solve(a, a, {.positive_definite = true});
  CHECK(library.questions == 2);
  CHECK_THROWS_AS(tenon::eigh(tenon::transpose(a)), tenon::linear_algebra_error);
  CHECK(library.questions == 2);
}

TEST_CASE("a device's library sees finite elements only", "[library]") {
  plain_matrix strange = tenon_test::positive_matrix(70);
  strange(69, 69) = HUGE_VAL;
  const auto all = std::vector<plain_matrix>{strange, tenon_test::positive_matrix(70)};
  const auto a = tenon_test::batch_of_matrices<double, tenon_test::distant>(all);
  const answering_library<tenon_test::distant> library(true);
  const auto [q, r] = tenon::qr(a);
  const auto found = numbers_of(r);
  CHECK(library.questions == 2);
  CHECK((std::isnan(found[0]) && std::isnan(found[4899]) && found[4900] == 3));
}
