// tests/nn/ctc_paths.cpp: sums of logarithms, the table of targets, how many labels a device takes.
// What the paths add up to, tests/nn/ctc_loss.cpp compares with the sum over every path.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/ctc_loss.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;

TEST_CASE("sums of logarithms stay in range, and NaN is never lost", "[ctc_paths]") {
  const double none = -std::numeric_limits<double>::infinity(), lost = std::nan("");
  using nn::detail::log_sum;
  CHECK(tenon_test::is_close(log_sum(std::log(2.0), std::log(3.0), std::log(5.0)), std::log(10.0), 1e-15));
  CHECK(tenon_test::is_close(log_sum(-3000.0, -3000.0, -5000.0), -3000 + std::log(2.0), 1e-15));
  CHECK(log_sum(none, none, -7.0) == -7);
  CHECK(log_sum(none, none, none) == none);
  CHECK(std::isnan(log_sum(lost, 1.0, none)));
  CHECK(std::isnan(log_sum(none, lost, none)));
  CHECK(std::isnan(log_sum(none, none, lost)));
}

TEST_CASE("the table of targets lists equal labels behind each other", "[ctc_paths]") {
  const auto table = nn::detail::ctc_table({4, 1, 4, 7, 2, 2}, {4, 0, 2}, {9, 8, 7});
  const std::vector<tenon::index> numbers(table.data(), table.data() + table.count());
  CHECK(numbers == std::vector<tenon::index>{4, 1, 4, 7, 2, 2, 1, 0, 2, 3, 0, 1, 0, 4, 9, 4, 0, 8, 4, 2, 7});
  const nn::detail::ctc_sample last = nn::detail::ctc_targets{table.data(), 6, 5}.sample(2);
  CHECK(last.states() == 5);
  CHECK(last.label(0) == 5);
  CHECK(last.label(3) == 2);
  CHECK(!last.skips(1, 3));  // the same label
  const nn::detail::ctc_sample first = nn::detail::ctc_targets{table.data(), 6, 5}.sample(0);
  CHECK(first.skips(1, 3));
  CHECK(first.skips(3, 1));
  CHECK(!first.skips(-1, 1));
  CHECK(!first.skips(9, 7));
  CHECK(!first.skips(2, 4));  // a blank
}

TEMPLATE_LIST_TEST_CASE("rows of more labels than shared memory holds are refused", "[ctc_paths]",
                        tenon_test::kernel_spaces) {
  constexpr tenon::index labels = 14528;  // two rows of 2 * labels + 1 floats
  const auto x = tenon_test::made_tensor<float, TestType>(rank<3>(1, 1, 2), [](tenon::index) { return -1; });
  const auto targets = tenon_test::made_tensor<tenon::index>(rank<2>(1, labels), [](tenon::index) { return 1; });
  const auto time = tenon_test::tensor_of<tenon::host, tenon::index>(rank<1>(1), {1});
  const auto loss_of = [&](tenon::index count) {
    const auto counts = tenon_test::tensor_of<tenon::host, tenon::index>(rank<1>(1), {count});
    return static_cast<float>(nn::ctc_loss(x, targets, time, counts));
  };
  CHECK(loss_of(labels - 1) == std::numeric_limits<float>::infinity());
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { loss_of(labels); }) ==
        "ctc_loss: targets: 14528 labels of a sample, expected at most 14527 on a device");
}
