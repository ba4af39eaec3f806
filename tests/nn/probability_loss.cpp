// tests/nn/probability_loss.cpp: values by hand, what is refused; tests/golden compares with PyTorch.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/probability_loss.hpp>

#include "support/catch.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/temporaries.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::drawn;
using tenon_test::numbers_of;

namespace {

tenon::tensor<std::int64_t, rank<1>> labels_of(const std::vector<std::int64_t>& values) {
  tenon::tensor<std::int64_t, rank<1>> labels({static_cast<tenon::index>(values.size())});
  std::copy(values.begin(), values.end(), labels.data());
  return labels;
}

/// Of a loss of logits, or probabilities, that a function makes of 4 x 3 numbers.
template <class Loss>
std::string loss_difference(const Loss& loss) {
  auto x = drawn(rank<2>(4, 3), 5);
  return tenon_test::gradient_difference(loss, x);
}

}  // namespace

TEST_CASE("labels choose, weigh and are ignored", "[probability_loss]") {
  const auto x = drawn(rank<2>(3, 4), 1);
  const auto labels = labels_of({2, -100, 0});
  const double first = -x(0, 2), third = -x(2, 0);
  CHECK(numbers_of(nn::nll_loss<nn::unreduced>(x, labels)) == std::vector<double>{first, 0, third});
  CHECK(std::fabs(static_cast<double>(nn::nll_loss(x, labels)) - (first + third) / 2) < 1e-12);
  tenon::tensor<double, rank<1>> weight({4});
  weight = tenon::arange<double>(4) + 1;
  CHECK(std::fabs(static_cast<double>(nn::nll_loss(x, labels, weight)) - (3 * first + third) / 4) < 1e-12);
}

TEST_CASE("weights of classes multiply terms of probabilities, and do not divide the mean", "[probability_loss]") {
  const auto x = drawn(rank<3>(2, 3, 2), 1), target = drawn(rank<3>(2, 3, 2), 2, 0, 1);
  const auto weight = drawn(rank<1>(3), 3, 0.5f, 2);
  for (const double smoothing : {0.0, 0.3}) {
    std::vector<double> losses;  // PyTorch's formula, place by place
    for (tenon::index b = 0; b < 2; ++b) {
      for (tenon::index place = 0; place < 2; ++place) {
        double total = 0, loss = 0;
        for (tenon::index c = 0; c < 3; ++c) total += std::exp(x(b, c, place));
        for (tenon::index c = 0; c < 3; ++c) {
          const double share = (1 - smoothing) * target(b, c, place) + smoothing / 3;
          loss -= weight(c) * share * (x(b, c, place) - std::log(total));
        }
        losses.push_back(loss);
      }
    }
    const double whole = losses[0] + losses[1] + losses[2] + losses[3];
    const auto found = numbers_of(nn::smoothed_cross_entropy_loss<nn::unreduced>(x, target, smoothing, weight));
    REQUIRE(found.size() == 4);
    for (std::size_t i = 0; i < 4; ++i) CHECK(std::fabs(found[i] - losses[i]) < 1e-12);
    const double mean = static_cast<double>(nn::smoothed_cross_entropy_loss(x, target, smoothing, weight));
    CHECK(std::fabs(mean - whole / 4) < 1e-12);
    if (smoothing > 0) continue;
    CHECK(std::fabs(static_cast<double>(nn::cross_entropy_loss(x, target, weight)) - whole / 4) < 1e-12);
    CHECK(std::fabs(static_cast<double>(nn::cross_entropy_loss<nn::to_sum>(x, target, weight)) - whole) < 1e-12);
  }
  const tenon::tensor<double, rank<1>> ones(rank<1>(3), {1, 1, 1});
  CHECK(static_cast<double>(nn::cross_entropy_loss(x, target, ones)) ==
        static_cast<double>(nn::cross_entropy_loss(x, target)));
  CHECK(static_cast<double>(nn::smoothed_cross_entropy_loss(x, target, 0.1, ones)) ==
        static_cast<double>(nn::smoothed_cross_entropy_loss(x, target, 0.1)));
  static_assert(std::is_same_v<decltype(nn::smoothed_cross_entropy_loss(tenon::tensor<float, rank<2>>(),
                                                                        tenon::tensor<float, rank<2>>(), 0.1))::element,
                               float>);
}

TEST_CASE("a label that is certain costs nothing, and infinite logits stay out", "[probability_loss]") {
  tenon::tensor<double, rank<2>> x({2, 2});
  x(0, 0) = 0, x(0, 1) = -std::numeric_limits<double>::infinity(), x(1, 0) = 1000, x(1, 1) = -1000;
  CHECK(static_cast<double>(nn::cross_entropy_loss(x, labels_of({0, 0}))) == 0);
  tenon::tensor<double, rank<1>> logits({2}), target({2});
  logits(0) = 1000, logits(1) = -1000;
  target(0) = 1, target(1) = 0;
  CHECK(static_cast<double>(nn::bce_with_logits_loss(logits, target)) == 0);
}

TEST_CASE("a class that cannot be has no share of labels that are not spread", "[probability_loss]") {
  const double infinity = std::numeric_limits<double>::infinity(), least = std::log(2);
  const tenon::tensor<double, rank<2>> x(rank<2>(2, 3), {0, -infinity, 0, 0, 0, -infinity});
  const auto losses = numbers_of(nn::smoothed_cross_entropy_loss<nn::unreduced>(x, labels_of({2, 1}), 0));
  CHECK(std::fabs(losses[0] - least) < 1e-15);
  CHECK(std::fabs(losses[1] - least) < 1e-15);
}

TEST_CASE("bce_loss has PyTorch's gradient where a probability is certain", "[probability_loss]") {
  const tenon::tensor<double, rank<1>> x(rank<1>(5), {0, 1, 0, 1, 0.5}), target(rank<1>(5), {0, 1, 1, 0, 0.25});
  const auto v = tenon::variable(x);
  tenon::backward(nn::bce_loss(v, target));
  CHECK(numbers_of(nn::bce_loss<nn::unreduced>(x, target)) ==
        std::vector<double>{0, 0, 100, 100, -(0.25 * std::log(0.5) + 0.75 * std::log1p(-0.5))});
  CHECK(tenon_test::difference(numbers_of(v.gradient()), {0, 0, -0.2e12, 0.2e12, 0.2}, 1e-12) == "");

  const tenon::tensor<float, rank<1>> logits(rank<1>(3), {40, -200, 40}), ones(rank<1>(3), {1, 1, 0});
  const auto w = tenon::variable(logits);
  tenon::backward(nn::bce_loss<nn::to_sum>(tenon::sigmoid(w), ones));
  CHECK(numbers_of(w.gradient())[0] == 0);  // the sigmoid of 40 is 1 in float
  for (const double slope : numbers_of(w.gradient())) CHECK(std::isfinite(slope));

  const tenon::tensor<tenon::half, rank<1>> certain(rank<1>(2), {tenon::half(0), tenon::half(1)});
  const auto h = tenon::variable(certain);
  tenon::backward(nn::bce_loss<nn::to_sum>(h, certain));
  CHECK(numbers_of(h.gradient()) == std::vector<double>{0, 0});
}

TEST_CASE("there is one label for each place", "[probability_loss]") {
  const auto x = drawn(rank<2>(3, 4), 1);
  const auto labels = labels_of({0, 1});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::cross_entropy_loss(x, labels); }) ==
        "cross_entropy_loss: labels: axis 0: extent 2, expected 3 (scores [3, 4], labels [2])");
}

TEST_CASE("a share that is spread is within [0, 1]", "[probability_loss]") {
  const auto x = drawn(rank<2>(2, 4), 1);
  const auto labels = labels_of({0, 1});
  const auto refusal = [&](double smoothing) {
    return tenon_test::text_of<tenon::error>([&] { nn::smoothed_cross_entropy_loss(x, labels, smoothing); });
  };
  CHECK(refusal(1.5) == "smoothed_cross_entropy_loss: smoothing 1.5, expected within [0, 1]");
  CHECK(refusal(-0.5) == "smoothed_cross_entropy_loss: smoothing -0.5, expected within [0, 1]");
  CHECK_THROWS_AS(nn::smoothed_cross_entropy_loss(x, labels, std::nan("")), tenon::error);
  CHECK_NOTHROW(nn::smoothed_cross_entropy_loss(x, labels, 0));
  CHECK_NOTHROW(nn::smoothed_cross_entropy_loss(x, labels, 1));
}

TEST_CASE("there is one weight for each class", "[probability_loss]") {
  const auto x = drawn(rank<2>(2, 4), 1);
  const auto labels = labels_of({0, 1});
  const auto target = drawn(rank<2>(2, 4), 3, 0, 1);
  const auto refused = [](const auto& loss, const std::string& name, int count) {
    return tenon_test::text_of<tenon::shape_error>(loss) ==
           name + ": weights: axis 0: extent " + std::to_string(count) + ", expected 4 (scores [2, 4], weights [" +
               std::to_string(count) + "])";
  };
  for (const int count : {1, 3, 5}) {
    const auto weight = drawn(rank<1>(count), 2);
    CHECK(refused([&] { nn::nll_loss(x, labels, weight); }, "nll_loss", count));
    CHECK(refused([&] { nn::cross_entropy_loss(x, labels, weight); }, "cross_entropy_loss", count));
    CHECK(refused([&] { nn::cross_entropy_loss(x, target, weight); }, "cross_entropy_loss", count));
    CHECK(refused([&] { nn::smoothed_cross_entropy_loss(x, target, 0.1, weight); }, "smoothed_cross_entropy_loss",
                  count));
    CHECK(refused([&] { nn::smoothed_cross_entropy_loss(x, labels, 0.1, weight); }, "smoothed_cross_entropy_loss",
                  count));
  }
}

TEST_CASE("labels that are no classes are refused, by the losses that take them", "[probability_loss]") {
  const auto x = drawn(rank<2>(3, 4), 1);
  const auto refused = [](const auto& loss, const char* name, int label) {
    return tenon_test::text_of<tenon::index_error>(loss) ==
           std::string(name) + ": labels: row 1: label " + std::to_string(label) +
               ", expected at least 0 and below 4 classes, or -100, which is ignored";
  };
  for (const int label : {4, -1, -99, 12}) {
    const auto labels = labels_of({2, label, 0});
    CHECK(refused([&] { nn::nll_loss(x, labels); }, "nll_loss", label));
    CHECK(refused([&] { nn::cross_entropy_loss(x, labels); }, "cross_entropy_loss", label));
    CHECK(refused([&] { nn::smoothed_cross_entropy_loss(x, labels, 0.1); }, "smoothed_cross_entropy_loss", label));
  }
  const auto planes = drawn(rank<3>(1, 2, 3), 1);
  const tenon::tensor<std::uint8_t, rank<2>> bytes(rank<2>(1, 3), {0, 1, 156});  // -100, were it a byte
  CHECK(tenon_test::text_of<tenon::index_error>([&] { nn::nll_loss(planes, bytes); }) ==
        "nll_loss: labels: row 2: label 156, expected at least 0 and below 2 classes, or -100, which is ignored");
}

TEST_CASE("the mean over no row is NaN", "[probability_loss]") {
  const auto x = drawn(rank<2>(2, 4), 1);
  const auto labels = labels_of({-100, -100});
  CHECK(std::isnan(static_cast<double>(nn::nll_loss(x, labels))));
  CHECK(std::isnan(static_cast<double>(nn::cross_entropy_loss(x, labels))));
  CHECK(static_cast<double>(nn::cross_entropy_loss<nn::to_sum>(x, labels)) == 0);
}

TEST_CASE("a batch of which no label counts sends back zeros", "[probability_loss]") {
  const auto x = drawn(rank<2>(2, 3), 1);
  const tenon::tensor<double, rank<1>> weight = {1, 0, 2};
  const auto zeros = [](const auto& loss, const auto& v) {
    const auto value = tenon::backward(loss(v));
    const auto found = numbers_of(v.gradient());
    return std::isnan(static_cast<double>(value)) && found == std::vector<double>(found.size());
  };
  const auto none = labels_of({-100, -100}), free_of_charge = labels_of({1, -100});
  CHECK(zeros([&](const auto& v) { return nn::nll_loss(v, none); }, tenon::variable(x)));
  CHECK(zeros([&](const auto& v) { return nn::cross_entropy_loss(v, none); }, tenon::variable(x)));
  CHECK(zeros([&](const auto& v) { return nn::cross_entropy_loss(v, free_of_charge, weight); }, tenon::variable(x)));
  CHECK(zeros([&](const auto& v) { return nn::smoothed_cross_entropy_loss(v, none, 0.1); }, tenon::variable(x)));
  CHECK(zeros([&](const auto& v) { return nn::cross_entropy_loss(x, none, v); }, tenon::variable(weight)));
}

TEST_CASE("gradients of losses of probabilities", "[probability_loss]") {
  const auto target = drawn(rank<2>(4, 3), 6, 0, 1), weight = drawn(rank<2>(4, 3), 7, 0, 3);
  tenon_test::check_rows({
      {"bce_loss", loss_difference([&](const auto& x) { return nn::bce_loss(tenon::sigmoid(x), target); })},
      {"bce_loss", loss_difference([&](const auto& x) { return nn::bce_loss(target, tenon::sigmoid(x)); })},
      {"bce_with_logits_loss",
       loss_difference([&](const auto& x) { return nn::bce_with_logits_loss<nn::to_sum>(x, target, weight); })},
      {"kl_div_loss", loss_difference([&](const auto& x) { return nn::kl_div_loss<nn::unreduced>(x, target); })},
      {"kl_div_log_loss", loss_difference([&](const auto& x) { return nn::kl_div_log_loss(x, tenon::sin(x)); })},
  });
}

TEST_CASE("gradients of losses of classes: weights, labels that are ignored or spread", "[probability_loss]") {
  const auto weight = drawn(rank<1>(3), 6, 0.5f, 2);
  const auto target = drawn(rank<2>(4, 3), 7, 0, 1);
  const auto labels = labels_of({2, 0, -7, 1});
  const auto logs = drawn(rank<2>(4, 3), 8);
  auto weights = weight;
  tenon_test::check_rows({
      {"weighed_mean",
       tenon_test::gradient_difference([&](const auto& w) { return nn::nll_loss(logs, labels, w, -7); }, weights)},
      {"nll_loss", loss_difference([&](const auto& x) { return nn::nll_loss(x, labels, weight, -7); })},
      {"cross_entropy_loss",
       loss_difference([&](const auto& x) { return nn::cross_entropy_loss<nn::unreduced>(x, labels, weight, -7); })},
      {"cross_entropy_loss",
       loss_difference([&](const auto& x) { return nn::cross_entropy_loss<nn::to_sum>(x, target); })},
      {"cross_entropy_loss", loss_difference([&](const auto& x) { return nn::cross_entropy_loss(x, target, weight); })},
      {"smoothed_cross_entropy_loss",
       loss_difference([&](const auto& x) { return nn::smoothed_cross_entropy_loss(x, target, 0.2, weight); })},
      {"smoothed_cross_entropy_loss",
       loss_difference([&](const auto& x) { return nn::smoothed_cross_entropy_loss(x, labels, 0.2, weight, -7); })},
  });
}

TEST_CASE("traced losses of probabilities keep temporaries", "[probability_loss]") {
  const auto x = drawn(rank<2>(4, 3), 1, 0.1f, 0.9f), target = drawn(rank<2>(4, 3), 2, 0.1f, 0.9f);
  const auto weight = drawn(rank<1>(3), 3, 0.5f, 2);
  using tenon_test::keeps_temporaries;
  const auto of_logits = []<class... T>(const auto& v, T&&... t) {
    return nn::bce_with_logits_loss(v, std::forward<T>(t)...);
  };
  CHECK(
      keeps_temporaries([]<class T>(const auto& v, T&& t) { return nn::bce_loss(v, std::forward<T>(t)); }, x, target));
  CHECK(keeps_temporaries(of_logits, x, target));
  CHECK(keeps_temporaries(of_logits, x, target, weight));
  CHECK(keeps_temporaries([]<class T>(const auto& v, T&& t) { return nn::kl_div_loss(v, std::forward<T>(t)); }, x,
                          target));
  CHECK(keeps_temporaries([]<class T>(const auto& v, T&& t) { return nn::kl_div_log_loss(v, std::forward<T>(t)); }, x,
                          target));
}

TEST_CASE("traced losses of classes keep temporaries", "[probability_loss]") {
  const auto x = drawn(rank<2>(4, 3), 1), target = drawn(rank<2>(4, 3), 2, 0, 1);
  const auto weight = drawn(rank<1>(3), 3, 0.5f, 2);
  const auto labels = labels_of({2, 0, -100, 1});
  using tenon_test::keeps_temporaries;
  const auto of_classes = []<class... T>(const auto& v, T&&... t) {
    return nn::cross_entropy_loss(v, std::forward<T>(t)...);
  };
  CHECK(keeps_temporaries(of_classes, x, target));
  CHECK(keeps_temporaries(of_classes, x, labels));
  CHECK(keeps_temporaries(of_classes, x, labels, weight));
  CHECK(keeps_temporaries([]<class... T>(const auto& v, T&&... t) { return nn::nll_loss(v, std::forward<T>(t)...); }, x,
                          labels, weight));
  const auto smoothed = []<class L, class W>(const auto& v, L&& given, W&& weights) {
    return nn::smoothed_cross_entropy_loss(v, std::forward<L>(given), 0.1, std::forward<W>(weights));
  };
  CHECK(keeps_temporaries(smoothed, x, labels, weight));
  CHECK(keeps_temporaries(of_classes, x, target, weight));
  CHECK(keeps_temporaries(smoothed, x, target, weight));
}

TEST_CASE("weights of temporaries are kept beside planes", "[probability_loss]") {
  const auto planes = drawn(rank<3>(2, 3, 2), 1);
  const tenon::tensor<std::int64_t, rank<2>> labels(rank<2>(2, 2), {2, 0, 1, 1});
  const auto weight = drawn(rank<1>(3), 3, 0.5f, 2);
  const auto of_planes = []<class... T>(const auto& v, T&&... t) { return nn::nll_loss(v, std::forward<T>(t)...); };
  CHECK(tenon_test::keeps_temporaries(of_planes, planes, labels, weight));
}

TEST_CASE("targets of losses of probabilities are not repeated", "[probability_loss]") {
  const auto x = drawn(rank<2>(3, 3), 1, 0.1f, 0.9f), column = drawn(rank<2>(3, 1), 2, 0, 1);
  const auto row = drawn(rank<2>(1, 3), 2, 0, 1);
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::cross_entropy_loss(x, column); }) ==
        "cross_entropy_loss: probabilities: axis 1: extent 1, expected 3 (x [3, 3], probabilities [3, 1])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::cross_entropy_loss(x, row); }) ==
        "cross_entropy_loss: probabilities: axis 0: extent 1, expected 3 (x [3, 3], probabilities [1, 3])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::smoothed_cross_entropy_loss(x, row, 0.1); }) ==
        "smoothed_cross_entropy_loss: probabilities: axis 0: extent 1, expected 3 (x [3, 3], probabilities [1, 3])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::bce_loss(x, column); }) ==
        "bce_loss: target: axis 1: extent 1, expected 3 (x [3, 3], target [3, 1])");
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::bce_with_logits_loss(x, row); }) ==
        "bce_with_logits_loss: target: axis 0: extent 1, expected 3 (x [3, 3], target [1, 3])");
}

TEST_CASE("one number is the target of all elements", "[probability_loss]") {
  const tenon::tensor<float, rank<2>> x(rank<2>(2, 1), {0.25f, 0.5f}), ones(rank<2>(2, 1), {1, 1});
  CHECK(float(nn::bce_loss(x, 1.0f)) == float(nn::bce_loss(x, ones)));
  CHECK(float(nn::bce_with_logits_loss(x, 1)) == float(nn::bce_with_logits_loss(x, ones)));
  CHECK(float(nn::mse_loss(x, 1.0)) == float(nn::mse_loss(x, ones)));
  CHECK(float(nn::l1_loss(x, 1)) == float(nn::l1_loss(x, ones)));
  static_assert(std::is_same_v<decltype(nn::bce_with_logits_loss(x, 1.0))::element, float>);
  const auto v = tenon::variable(x);
  tenon::backward(nn::bce_with_logits_loss<nn::to_sum>(v, 1));
  const auto found = numbers_of(v.gradient());
  CHECK(std::fabs(found[0] - (1 / (1 + std::exp(-0.25)) - 1)) < 1e-6);
}
