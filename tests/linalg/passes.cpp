// tests/linalg/passes.cpp: matrices by their number, and passes that fail.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/linalg/passes.hpp>

#include "linalg/matrices.hpp"

namespace {

/// Fails where its flag is set; writes its number elsewhere.
struct flagged_pass {
  static constexpr tenon::index known_work = 0;
  const int* flags;
  double* results;
  tenon::index work_elements;

  TENON_HOST_DEVICE tenon::index work_size() const { return work_elements; }
  TENON_HOST_DEVICE tenon::index operator()(tenon::index number, double* work) const {
    work[work_elements - 1] = static_cast<double>(number);
    if (flags[number] != 0) return 7;
    results[number] = work[work_elements - 1];
    return -1;
  }
  bool is_large() const { return false; }
  template <class>
  bool run_in(const tenon::detail::matrix_library<double>&, tenon::index, double*) const {
    return false;
  }
  TENON_HOST_DEVICE void refuse(tenon::index number) const { results[number] = -1; }
};

}  // namespace

TEST_CASE("matrices of a batch are found by strides, and repeat", "[passes]") {
  const auto x = tenon_test::counting<double>(tenon::rank<4>(2, 3, 4, 5));
  const auto all = tenon::detail::matrices_of<2>(x.view(), tenon::detail::batch_of<2>(x.shape()));
  CHECK(all[4](2, 3) == x(1, 1, 2, 3));
  const auto turned = tenon::transpose(x);
  const auto columns = tenon::detail::matrices_of<2>(turned, tenon::detail::batch_of<2>(turned.shape()));
  CHECK(columns[5](3, 2) == x(1, 2, 2, 3));
  const auto vectors = tenon::detail::matrices_of<1>(x.view(), tenon::detail::batch_of<1>(x.shape()));
  CHECK(vectors[23](4, 0) == x(1, 2, 3, 4));
  const auto one = tenon_test::counting<double>(tenon::rank<3>(1, 2, 2));
  const auto repeated = tenon::detail::matrices_of<2>(one.view(), tenon::array<tenon::index, 2>{{3, 4}});
  CHECK(repeated[11](1, 0) == one(0, 1, 0));
}

TEST_CASE("the first matrix that fails is named by its position", "[passes]") {
  for (const tenon::index work : {1, 5000}) {
    std::vector<int> flags(6);
    std::vector<double> results(6);
    const tenon::array<tenon::index, 2> batch{{2, 3}};
    const flagged_pass pass{flags.data(), results.data(), work};
    tenon::detail::run_pass<double, tenon::host>({"try", "is odd"}, batch, 1, pass);
    CHECK(results == std::vector<double>{0, 1, 2, 3, 4, 5});
    flags[5] = flags[4] = 1;
    CHECK(tenon_test::text_of<tenon::linear_algebra_error>([&] {
            tenon::detail::run_pass<double, tenon::host>({"try", "is odd"}, batch, 1, pass);
          }) == "try: matrix [1, 1] of [2, 3]: is odd (pivot 7)");
    CHECK(tenon_test::text_of<tenon::linear_algebra_error>([&] {
            tenon::detail::run_pass<double, tenon::host>({"try", "is odd"}, tenon::array<tenon::index, 0>{}, 1,
                                                         flagged_pass{flags.data() + 5, results.data(), work});
          }) == "try: the matrix is odd (pivot 7)");
#if !defined(__CUDACC__)
    tenon::detail::run_pass<double, tenon_test::distant>({"try", "is odd"}, batch, 1, pass);
    CHECK(results == std::vector<double>{0, 1, 2, 3, -1, -1});
#endif
  }
}
