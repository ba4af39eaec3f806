// tests/nn/ctc_loss.cpp: against the sum over every path there is; gradients, impossible targets, what is refused.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/ctc_loss.hpp>

#include <tenon/grad/gradient.hpp>

#include "support/elements.hpp"
#include "support/gradient.hpp"
#include "support/gradient_rows.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::difference;
using tenon_test::is_close;
using tenon_test::numbers_of;

namespace {

constexpr double ctc_infinity = std::numeric_limits<double>::infinity();

/// A batch as the reference reads it; the logarithms are [times, samples, classes].
struct ctc_case {
  tenon::index times, samples, classes, blank;
  std::vector<double> log_probs;
  std::vector<std::vector<tenon::index>> targets;
  std::vector<tenon::index> input_lengths;

  double at(tenon::index time, tenon::index sample, tenon::index label) const {
    return log_probs[static_cast<std::size_t>((time * samples + sample) * classes + label)];
  }
  std::vector<tenon::index> counts() const {
    std::vector<tenon::index> result;
    for (const auto& target : targets) result.push_back(static_cast<tenon::index>(target.size()));
    return result;
  }
};

/// What a path tells: without repetitions, then without blanks.
std::vector<tenon::index> told_by(const std::vector<tenon::index>& path, tenon::index blank) {
  std::vector<tenon::index> told;
  for (std::size_t time = 0; time < path.size(); ++time) {
    if (path[time] != blank && (time == 0 || path[time] != path[time - 1])) told.push_back(path[time]);
  }
  return told;
}

/// Calls `visit(path, probability)` for each path of the sample that tells its target.
template <class Visit>
void for_each_telling_path(const ctc_case& given, tenon::index sample, const Visit& visit) {
  const auto length = static_cast<std::size_t>(given.input_lengths[static_cast<std::size_t>(sample)]);
  std::vector<tenon::index> path(length, 0);
  while (true) {
    if (told_by(path, given.blank) == given.targets[static_cast<std::size_t>(sample)]) {
      double sum = 0;
      for (std::size_t time = 0; time < length; ++time)
        sum += given.at(static_cast<tenon::index>(time), sample, path[time]);
      visit(path, std::exp(sum));
    }
    std::size_t place = 0;
    while (place < length && ++path[place] == given.classes) path[place++] = 0;
    if (place == length) return;
  }
}

double loss_by_enumeration(const ctc_case& given, tenon::index sample) {
  double total = 0;
  for_each_telling_path(given, sample, [&](const auto&, double probability) { total += probability; });
  return -std::log(total);
}

/// The gradient of the sum of all losses, as PyTorch has it: probability minus share of the paths through a class.
std::vector<double> gradient_by_enumeration(const ctc_case& given) {
  std::vector<double> result(given.log_probs.size(), 0.0);
  for (tenon::index sample = 0; sample < given.samples; ++sample) {
    const double total = std::exp(-loss_by_enumeration(given, sample));
    const auto place = [&](tenon::index time, tenon::index label) -> double& {
      return result[static_cast<std::size_t>((time * given.samples + sample) * given.classes + label)];
    };
    for (tenon::index time = 0; time < given.input_lengths[static_cast<std::size_t>(sample)]; ++time) {
      for (tenon::index label = 0; label < given.classes; ++label) {
        place(time, label) = total == 0 ? std::nan("") : std::exp(given.at(time, sample, label));
      }
    }
    for_each_telling_path(given, sample, [&](const std::vector<tenon::index>& path, double probability) {
      for (std::size_t time = 0; time < path.size(); ++time) {
        place(static_cast<tenon::index>(time), path[time]) -= probability / total;
      }
    });
  }
  return result;
}

/// Logarithms of a softmax of scattered numbers.
std::vector<double> scattered_log_probs(tenon::index times, tenon::index samples, tenon::index classes) {
  std::vector<double> result;
  for (tenon::index row = 0; row < times * samples; ++row) {
    double total = 0;
    for (tenon::index label = 0; label < classes; ++label) {
      total += std::exp(2 * tenon_test::scattered(7 * (row * classes + label) + 3));
    }
    for (tenon::index label = 0; label < classes; ++label) {
      result.push_back(2 * tenon_test::scattered(7 * (row * classes + label) + 3) - std::log(total));
    }
  }
  return result;
}

/// Labels once and again, without any, impossible for their times, and of one time.
ctc_case mixed_ctc_case(tenon::index blank) {
  const auto label = [&](tenon::index number) { return number + (number >= blank ? 1 : 0); };  // no blank
  return {.times = 5,
          .samples = 6,
          .classes = 4,
          .blank = blank,
          .log_probs = scattered_log_probs(5, 6, 4),
          .targets = {{label(0), label(1)},
                      {label(2), label(2), label(1)},
                      {},
                      {label(1), label(1), label(1)},
                      {label(0), label(1), label(0)},
                      {label(2)}},
          .input_lengths = {5, 5, 4, 4, 5, 1}};
}

template <class T, class Space>
auto ctc_tensor(const ctc_case& given) {
  return tenon_test::made_tensor<T, Space>(rank<3>(given.times, given.samples, given.classes), [&](tenon::index i) {
    return given.log_probs[static_cast<std::size_t>(i)];
  });
}
template <class Space>
auto ctc_lengths(const std::vector<tenon::index>& lengths) {
  return tenon_test::tensor_of<Space, tenon::index>(rank<1>(static_cast<tenon::index>(lengths.size())), lengths);
}
/// Targets [samples, 4], with what must not be read behind them.
template <class Space>
auto padded_ctc_targets(const ctc_case& given) {
  std::vector<std::int32_t> rows;
  for (const auto& target : given.targets) {
    for (std::size_t place = 0; place < 4; ++place) {
      rows.push_back(place < target.size() ? static_cast<std::int32_t>(target[place]) : -77);
    }
  }
  return tenon_test::tensor_of<Space, std::int32_t>(rank<2>(given.samples, 4), rows);
}
template <class Space>
auto joined_ctc_targets(const ctc_case& given) {
  std::vector<tenon::index> all;
  for (const auto& target : given.targets) all.insert(all.end(), target.begin(), target.end());
  return ctc_lengths<Space>(all);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a CTC loss is that of all paths", "[ctc_loss]", tenon_test::spaces) {
  using space = TestType;
  for (const tenon::index blank : {0, 2, 3}) {
    const ctc_case given = mixed_ctc_case(blank);
    std::vector<double> expected;
    for (tenon::index sample = 0; sample < given.samples; ++sample)
      expected.push_back(loss_by_enumeration(given, sample));
    REQUIRE(std::isinf(expected[3]));
    const auto x = ctc_tensor<double, space>(given);
    const auto times = ctc_lengths<space>(given.input_lengths);
    const auto counts = ctc_lengths<tenon::host>(given.counts());
    const nn::ctc_options options{.blank = blank};
    const auto padded = padded_ctc_targets<space>(given);
    CHECK(difference(numbers_of<space>(nn::ctc_loss<nn::unreduced>(x, padded, times, counts, options)), expected,
                     1e-12) == "");
    const auto joined = joined_ctc_targets<tenon::host>(given);
    const tenon::launch_counter launches;
    const auto [losses, gradient] = nn::ctc_loss_and_gradient<nn::unreduced>(x, joined, times, counts, options);
    CHECK(std::string(launches.last_kind()) == "ctc_loss");
    CHECK(difference(numbers_of<space>(losses), expected, 1e-12) == "");
    CHECK(difference(numbers_of<space>(gradient), gradient_by_enumeration(given), 1e-12) == "");
  }
}

TEMPLATE_LIST_TEST_CASE("reductions of CTC losses, and infinite ones as zeros", "[ctc_loss]", tenon_test::spaces) {
  using space = TestType;
  const ctc_case given = mixed_ctc_case(0);
  const auto x = ctc_tensor<float, space>(given);
  const auto times = ctc_lengths<space>(given.input_lengths), counts = ctc_lengths<space>(given.counts());
  const auto targets = padded_ctc_targets<space>(given);
  const nn::ctc_options options{.zero_infinity = true};

  double sum = 0, mean = 0;
  std::vector<double> mean_gradient = gradient_by_enumeration(given), sum_gradient = mean_gradient;
  for (tenon::index sample = 0; sample < given.samples; ++sample) {
    const double loss = sample == 3 ? 0 : loss_by_enumeration(given, sample);
    const double labels = std::fmax(1.0, static_cast<double>(given.counts()[static_cast<std::size_t>(sample)]));
    sum += loss, mean += loss / (6 * labels);
    for (tenon::index time = 0; time < given.times; ++time) {
      for (tenon::index label = 0; label < given.classes; ++label) {
        const auto place = static_cast<std::size_t>((time * given.samples + sample) * given.classes + label);
        if (sample == 3) sum_gradient[place] = 0;
        mean_gradient[place] = sum_gradient[place] / (6 * labels);
      }
    }
  }
  const auto of_sum = nn::ctc_loss_and_gradient<nn::to_sum>(x, targets, times, counts, options);
  CHECK(is_close(static_cast<double>(static_cast<float>(of_sum.loss)), sum, 1e-5));
  CHECK(difference(numbers_of<space>(of_sum.gradient), sum_gradient, 1e-5) == "");
  const auto of_mean = nn::ctc_loss_and_gradient(x, targets, times, counts, options);
  CHECK(is_close(static_cast<double>(static_cast<float>(of_mean.loss)), mean, 1e-5));
  CHECK(difference(numbers_of<space>(of_mean.gradient), mean_gradient, 1e-5) == "");
  CHECK(static_cast<float>(nn::ctc_loss(x, targets, times, counts)) == std::numeric_limits<float>::infinity());
}

TEMPLATE_LIST_TEST_CASE("the gradient of a CTC loss is that of logits too", "[ctc_loss]", tenon_test::spaces) {
  using space = TestType;
  auto logits = tenon_test::drawn(rank<3>(7, 2, 5), 4);
  const auto targets = tenon_test::tensor_of<tenon::host, tenon::index>(rank<2>(2, 3), {1, 1, 4, 3, 2, 0});
  const auto times = ctc_lengths<tenon::host>({7, 6}), counts = ctc_lengths<tenon::host>({3, 2});
  const auto in_space = logits.to<space>();
  const auto log_probs = [](const auto& x) { return tenon::log_softmax(x, tenon::axis<2>); };
  const auto [loss, gradient] = nn::ctc_loss_and_gradient(log_probs(in_space), targets, times, counts);
  const auto x = tenon::variable<0>(in_space);
  const auto [through] = tenon::vjp(log_probs(x), gradient, tenon::wrt(x));
  CHECK(difference(numbers_of<space>(through), numbers_of<space>(gradient), 1e-12) == "");
  const auto value = [&] { return static_cast<double>(nn::ctc_loss(log_probs(logits), targets, times, counts)); };
  CHECK(is_close(static_cast<double>(loss), value(), 1e-12));
  const auto here = tenon::evaluated_tensor<space>(gradient).template to<tenon::host>();
  tenon_test::check_rows({
      {"ctc_loss", tenon_test::difference_from_slopes(logits, here, value, 1e-5, 1e-8)},
  });
}

TEMPLATE_LIST_TEST_CASE("CTC losses of many labels, of views, of short floats", "[ctc_loss]", tenon_test::spaces) {
  using space = TestType;
  // All labels alike and as many times as they need: one path, label and blank in turn.
  constexpr tenon::index labels = 300, times = 2 * labels - 1;
  const auto turned = tenon_test::made_tensor<float, space>(rank<3>(1, times, 3), tenon_test::scattered);
  const tenon::view<const float, rank<3>, space> x(turned.data(), rank<3>(times, 1, 3), {{3, 3 * times, 1}});
  const auto targets = tenon_test::made_tensor<tenon::index, space>(rank<2>(1, labels), [](tenon::index) { return 2; });
  const auto all = ctc_lengths<space>({times}), counts = ctc_lengths<space>({labels});
  double expected = 0;
  for (tenon::index time = 0; time < times; ++time) {
    expected -= static_cast<float>(tenon_test::scattered(3 * time + (time % 2 == 0 ? 2 : 0)));
  }
  CHECK(is_close(static_cast<double>(static_cast<float>(nn::ctc_loss<nn::to_sum>(x, targets, all, counts))), expected,
                 1e-5));

  const ctc_case given = mixed_ctc_case(0);
  const auto half = ctc_tensor<tenon::half, space>(given);
  const auto losses = numbers_of<space>(nn::ctc_loss<nn::unreduced>(half, padded_ctc_targets<space>(given),
                                                                    ctc_lengths<space>(given.input_lengths),
                                                                    ctc_lengths<space>(given.counts())));
  for (tenon::index sample = 0; sample < given.samples; ++sample) {
    CHECK(is_close(losses[static_cast<std::size_t>(sample)], loss_by_enumeration(given, sample), 4e-3));
  }
}

TEMPLATE_LIST_TEST_CASE("CTC losses of nothing, of certainty and of NaN", "[ctc_loss]", tenon_test::spaces) {
  using space = TestType;
  const auto x = tenon_test::made_tensor<double, space>(
      rank<3>(2, 3, 2), [](tenon::index i) { return i % 6 < 2 ? (i % 2 == 0 ? -ctc_infinity : 0.0) : std::log(0.5); });
  const auto targets = tenon_test::tensor_of<space, tenon::index>(rank<2>(3, 1), {1, 1, 1});
  // Certain of its label; without times and labels; without times for its label.
  const auto times = ctc_lengths<space>({2, 0, 0}), counts = ctc_lengths<space>({1, 0, 1});
  const auto [losses, gradient] = nn::ctc_loss_and_gradient<nn::unreduced>(x, targets, times, counts);
  CHECK(numbers_of<space>(losses) == std::vector<double>{0, 0, ctc_infinity});
  CHECK(numbers_of<space>(gradient) == std::vector<double>(12, 0.0));

  const auto lost = tenon_test::made_tensor<double, space>(rank<3>(3, 1, 2),
                                                           [](tenon::index i) { return i == 3 ? std::nan("") : -1.0; });
  const auto one = tenon_test::tensor_of<space, tenon::index>(rank<2>(1, 1), {1});
  const auto loss = nn::ctc_loss(lost, one, ctc_lengths<space>({3}), ctc_lengths<space>({1}));
  CHECK(std::isnan(static_cast<double>(loss)));

  const tenon::tensor<float, rank<3>, space> empty(rank<3>(4, 0, 3));
  const tenon::tensor<tenon::index, rank<2>, space> no_targets(rank<2>(0, 2));
  const tenon::tensor<tenon::index, rank<1>, space> none(rank<1>(0));
  CHECK(static_cast<float>(nn::ctc_loss<nn::to_sum>(empty, no_targets, none, none)) == 0);
  CHECK(nn::ctc_loss_and_gradient<nn::unreduced>(empty, no_targets, none, none).gradient.size() == 0);
}

TEST_CASE("what CTC losses refuse", "[ctc_loss]") {
  const auto x = tenon_test::made_tensor<float>(rank<3>(4, 2, 3), [](tenon::index) { return -1; });
  const auto text = [&](const std::vector<tenon::index>& labels, const std::vector<tenon::index>& times,
                        const std::vector<tenon::index>& counts, tenon::index blank = 0) {
    const auto targets = tenon_test::tensor_of<tenon::host, tenon::index>(rank<2>(2, 2), labels);
    const auto call = [&] {
      nn::ctc_loss(x, targets, ctc_lengths<tenon::host>(times), ctc_lengths<tenon::host>(counts), {.blank = blank});
    };
    const bool is_of_labels = blank != 0 || labels != std::vector<tenon::index>{1, 2, 1, 2};
    return is_of_labels ? tenon_test::text_of<tenon::index_error>(call) : tenon_test::text_of<tenon::shape_error>(call);
  };
  CHECK(text({1, 2, 1, 2}, {4, 5}, {2, 2}) ==
        "ctc_loss: input_lengths: 5 of sample 1, expected at least 0 and at most 4 as axis 0 of the logarithms "
        "[4, 2, 3]");
  CHECK(text({1, 2, 1, 2}, {-1, 4}, {2, 2}) ==
        "ctc_loss: input_lengths: -1 of sample 0, expected at least 0 and at most 4 as axis 0 of the logarithms "
        "[4, 2, 3]");
  CHECK(text({1, 2, 1, 2}, {4, 4}, {3, 2}) ==
        "ctc_loss: target_lengths: 3 of sample 0, expected at least 0 and at most 2 as axis 1 of the targets [2, 2]");
  CHECK(text({1, 2, 1, 2}, {4}, {2, 2}) ==
        "ctc_loss: input_lengths: 1 of them, expected 2 as axis 1 of the logarithms");
  CHECK(text({1, 2, 3, 2}, {4, 4}, {2, 2}) ==
        "ctc_loss: targets: label 3 of sample 1 at 0, expected at least 0, below 3 as axis 2 of the logarithms, and "
        "not the blank 0");
  CHECK(text({1, 0, 1, 2}, {4, 4}, {2, 2}) ==
        "ctc_loss: targets: label 0 of sample 0 at 1, expected at least 0, below 3 as axis 2 of the logarithms, and "
        "not the blank 0");
  CHECK(text({1, 2, 1, 2}, {4, 4}, {2, 2}, 3) ==
        "ctc_loss: blank: 3, expected at least 0 and below 3 as axis 2 of the logarithms [4, 2, 3]");
  const auto lengths = ctc_lengths<tenon::host>({2, 1});
  CHECK(tenon_test::text_of<tenon::shape_error>([&] {
          nn::ctc_loss(x, ctc_lengths<tenon::host>({1, 2, 1, 2}), lengths, lengths);
        }) == "ctc_loss: targets: axis 0: extent 4, expected 3, the sum of the target_lengths");
  const tenon::tensor<tenon::index, rank<2>> three(rank<2>(3, 2));
  CHECK(tenon_test::text_of<tenon::shape_error>([&] { nn::ctc_loss(x, three, lengths, lengths); }) ==
        "ctc_loss: targets: axis 0: extent 3, expected 2 as there are samples");
}

TEST_CASE("a traced CTC loss has its gradient", "[ctc]") {
  tenon::tensor<double, rank<3>> scores(tenon::uniform<double>(rank<3>(5, 2, 3), 1, -1.0, 1.0));
  const tenon::tensor<tenon::index, rank<2>> targets = {{1, 2}, {2, 1}};
  const auto times = ctc_lengths<tenon::host>({5, 4}), counts = ctc_lengths<tenon::host>({2, 1});
  const auto loss_of = [&](const auto& x) {
    return nn::ctc_loss(tenon::log_softmax(x, tenon::axis<2>), targets, times, counts);
  };
  const tenon::tensor<double, rank<1>> weights = {0.5, -2.0};  // lives until the loss has gone backward
  const auto each_of = [&](const auto& x) {
    return tenon::sum(nn::ctc_loss<nn::unreduced>(tenon::log_softmax(x, tenon::axis<2>), targets, times, counts) *
                      weights);
  };
  const auto check = [&](const auto& loss) {
    const auto v = tenon::variable(scores);
    tenon::backward(loss(tenon::tanh(v)));
    const auto value = [&] { return static_cast<double>(tenon::traced(loss(tenon::tanh(scores)))); };
    CHECK(tenon_test::difference_from_slopes(scores, v.gradient(), value, 1e-6, 1e-5) == "");
  };
  check(loss_of);
  check(each_of);
}
