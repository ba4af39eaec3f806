// tests/nn/class_labels.cpp: what losses ask of labels, on the host and where nobody looks at them.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/class_labels.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;

namespace {

/// How many of the labels are classes of [2, 3, 2].
template <class Space, class Ignored>
tenon::index counted(const std::vector<std::int64_t>& labels, const Ignored& ignored) {
  const auto given = tenon_test::tensor_of<Space, std::int64_t>(rank<2>(2, 2), labels);
  return nn::detail::check_labels("loss", rank<3>(2, 3, 2), tenon::as_node(given), ignored);
}

}  // namespace

TEST_CASE("labels of the host are classes or ignored", "[class_labels]") {
  CHECK(counted<tenon::host>({0, 2, 1, 1}, nn::ignored_label) == 4);
  CHECK(counted<tenon::host>({-100, 2, 1, -100}, nn::ignored_label) == 2);
  CHECK(counted<tenon::host>({7, 2, 1, 7}, std::int64_t{7}) == 2);
  CHECK(counted<tenon::host>({0, 1, 1, 2}, std::int64_t{1}) == 2);
  CHECK(tenon_test::text_of<tenon::index_error>([] { counted<tenon::host>({0, 1, 3, 2}, nn::ignored_label); }) ==
        "loss: labels: row 2: label 3, expected at least 0 and below 3 classes, or -100, which is ignored");
  CHECK(tenon_test::text_of<tenon::index_error>([] { counted<tenon::host>({-100, 1, 0, 2}, nn::nothing_ignored); }) ==
        "loss: labels: row 0: label -100, expected at least 0 and below 3 classes");
}

TEST_CASE("labels that are computed are looked at too", "[class_labels]") {
  const auto labels = tenon::reshape(tenon::arange<int>(4), rank<2>(2, 2));
  CHECK_THROWS_AS(nn::detail::check_labels("loss", rank<3>(2, 3, 2), labels, nn::ignored_label), tenon::index_error);
}

TEST_CASE("there is one label for each place of the scores", "[class_labels]") {
  const tenon::tensor<int, rank<2>> labels({2, 3});
  const auto check = [&] {
    nn::detail::check_labels("loss", rank<3>(2, 3, 2), tenon::as_node(labels), nn::ignored_label);
  };
  CHECK(tenon_test::text_of<tenon::shape_error>(check) ==
        "loss: labels: axis 1: extent 3, expected 2 (scores [2, 3, 2], labels [2, 3])");
}

TEST_CASE("there is one weight for each class, or one for all in its type", "[class_labels]") {
  CHECK(tenon_test::text_of<tenon::shape_error>([] {
          nn::detail::check_class_weights("loss", rank<3>(2, 3, 2), rank<1>(2));
        }) == "loss: weights: axis 0: extent 2, expected 3 (scores [2, 3, 2], weights [2])");
  CHECK_THROWS_AS(nn::detail::check_class_weights("loss", rank<2>(2, 3), rank<1>(1)), tenon::shape_error);
  CHECK_NOTHROW(nn::detail::check_class_weights("loss", rank<2>(2, 3), rank<1>(3)));
  CHECK_NOTHROW(nn::detail::check_class_weights("loss", rank<2>(2, 3), tenon::shape<1>{}));
}

TEMPLATE_LIST_TEST_CASE("what counts of a row is told by its label", "[class_labels]", tenon_test::spaces) {
  const auto labels = tenon_test::tensor_of<TestType, std::int64_t>(rank<1>(5), {0, -100, 3, -1, 2});
  const auto value = tenon_test::counting<float, TestType>(rank<1>(5), 10);
  const auto found = tenon_test::numbers_of(nn::detail::where_counted(labels, 3, nn::ignored_label, value));
  CHECK(found[0] == 10);
  CHECK(found[1] == 0);
  CHECK(std::isnan(found[2]));
  CHECK(std::isnan(found[3]));
  CHECK(found[4] == 14);
}

TEST_CASE("statements of losses share scores of any number of classes", "[class_labels]") {
  const tenon::tensor<float, tenon::shape<tenon::dyn, 3>> scores(tenon::shape<tenon::dyn, 3>(2), {1, 2, 3, 4, 5, 6});
  const auto shared = nn::detail::shared_scores(tenon::as_node(scores));
  STATIC_REQUIRE(std::is_same_v<typename decltype(shared)::shape_type, rank<2>>);
  CHECK(shared.elements.data() == scores.data());
  const auto sum = scores + 1.0f;
  CHECK(&nn::detail::shared_scores(sum) == &sum);
}
