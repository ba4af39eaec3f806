// tests/distributed/data_parallel.cpp: several ranks train as one process does with the whole batch.
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <mutex>
#include <tenon/distributed/data_parallel.hpp>
#include <tenon/distributed/threads.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/lamb.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

namespace distributed = tenon::distributed;
namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon::shape;
using numbers = std::vector<double>;

template <class Space>
auto parallel_network(std::uint64_t seed) {
  auto net =
      nn::sequential(nn::linear<3, 5>{}, nn::linear<5, 4, nn::linear_options{.bias = false}>{}, nn::linear<4, 2>{});
  net.initialise(seed);
  return net.template to<Space>();
}

template <class Network>
numbers all_gradients(Network& net) {
  numbers result;
  net.visit_parameters([&](const auto&, auto& parameter) {
    const auto own = tenon_test::numbers_of(parameter.gradient.template to<tenon::host>());
    result.insert(result.end(), own.begin(), own.end());
  });
  return result;
}

/// A step of loss mean(y^2) over rows `first` to `last` of a batch that is drawn.
template <class Space, class Communicator, class Network>
distributed::batch_part one_step(Network& net, distributed::data_parallel<Network, Communicator>& parallel,
                                 tenon::index first, tenon::index last, bool accumulates = false) {
  nn::pass<Network, shape<dyn, 3>, Space> pass(net);
  const tenon::tensor<float, shape<dyn, 3>> drawn = tenon::uniform<float>(shape<dyn, 3>(12, 3), 9, -1.0f, 1.0f);
  const tenon::tensor<float, shape<dyn, 3>> rows(tenon::slice(drawn, tenon::range(first, last)));
  const auto x = rows.to<Space>();
  const auto y = pass.forward(x.view());
  const float loss = tenon::mean(tenon::square(y));
  const distributed::batch_part part{last - first, loss, first == 5};
  const auto gradient = y * (2.0f / static_cast<float>(y.size()));
  if (!accumulates) return parallel.backward(pass, x.view(), gradient, part);
  parallel.accumulate(pass, x.view(), gradient, part);
  return part;
}

/// Two ranks, of which this one notes when its sums begin: how many gradients of the first layer were there already.
struct noting_ranks : distributed::alone {
  const tenon::tensor<float, shape<5, 3>, tenon::host>* first_layer = nullptr;
  std::vector<std::size_t> counts;
  std::vector<bool> was_first_layer_done;

  int size() const { return 2; }
  request start_sum(float*, std::size_t count) {
    counts.push_back(count);
    was_first_layer_done.push_back(tenon::sum(tenon::square(*first_layer)) != 0);
    return {};
  }
};

bool are_near(const numbers& found, const numbers& expected) {
  double greatest = 0, difference = 0;
  for (std::size_t i = 0; i < expected.size(); ++i) {
    greatest = std::fmax(greatest, std::fabs(expected[i]));
    difference = std::fmax(difference, std::fabs(found.at(i) - expected[i]));
  }
  return found.size() == expected.size() && difference <= 1e-6 * greatest;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("ranks have the gradient of the whole batch, whatever their parts and buckets",
                        "[data_parallel]", tenon_test::spaces) {
  auto whole = parallel_network<TestType>(3);
  distributed::alone one;
  distributed::data_parallel alone(whole, one);
  const auto expected = one_step<TestType>(whole, alone, 0, 12);
  for (const tenon::index bucket_bytes : {tenon::index{4}, tenon::index{64}, tenon::index{1} << 20}) {
    std::mutex mutex;
    std::vector<numbers> found;
    std::vector<distributed::batch_part> parts;
    distributed::run_in_threads(3, [&](auto& all) {
      auto net = parallel_network<TestType>(3 + static_cast<std::uint64_t>(all.rank()));
      distributed::data_parallel parallel(net, all, {.bucket_bytes = bucket_bytes});
      const tenon::index starts[] = {0, 5, 6, 12};
      for (int repeat = 0; repeat < 2; ++repeat) {
        const auto part = one_step<TestType>(net, parallel, starts[all.rank()], starts[all.rank() + 1]);
        const std::lock_guard lock(mutex);
        found.push_back(all_gradients(net)), parts.push_back(part);
      }
    });
    for (const auto& each : found) CHECK(each == found[0]);
    CHECK(are_near(found[0], all_gradients(whole)));
    for (const auto& each : parts) {
      CHECK(each.examples == 12);
      CHECK(std::fabs(each.loss - expected.loss) <= 1e-6 * expected.loss);
      CHECK(each.wants_to_stop);
    }
  }
}

TEST_CASE("buckets of late layers are summed while early layers have no gradients yet", "[data_parallel]") {
  auto net = parallel_network<tenon::host>(3);
  noting_ranks ranks;
  ranks.first_layer = &tenon::get<0>(net.layers).weight.gradient;
  distributed::data_parallel parallel(net, ranks, {.bucket_bytes = 64});
  one_step<tenon::host>(net, parallel, 0, 12);
  CHECK(ranks.counts == std::vector<std::size_t>{3 + 5 + 8, 2 + 20, 15 + 5});  // what leads, then 2; 1; 0
  CHECK(ranks.was_first_layer_done == std::vector<bool>{false, false, true});
}

TEST_CASE("ranks share the gradients of a traced loss", "[data_parallel]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(12, 3), 1));
  const auto make = [] {
    auto net = nn::sequential(nn::linear<3, 4>{}, nn::linear<4, 2>{});
    net.initialise(2);
    return net;
  };
  auto whole = make();
  tenon::backward(tenon::mean(tenon::square(whole(x))));
  distributed::run_in_threads(3, [&](auto& all) {
    auto net = make();
    distributed::data_parallel parallel(net, all);
    constexpr tenon::index bounds[] = {0, 3, 8, 12};
    const tenon::index first = bounds[all.rank()], last = bounds[all.rank() + 1];
    const auto own = tenon::evaluated_tensor(tenon::slice(x, tenon::range(first, last)));
    const tenon::traced loss = tenon::mean(tenon::square(net(own)));
    const auto part = parallel.backward(loss, last - first, all.rank() == 2);
    if (part.examples != 12 || !part.wants_to_stop) throw tenon::error("other facts");
    if (!are_near(all_gradients(net), all_gradients(whole))) throw tenon::error("other gradients");
  });
  auto single = make();
  distributed::alone one;
  distributed::data_parallel alone(single, one);
  const tenon::traced loss = tenon::mean(tenon::square(single(x)));
  CHECK(alone.backward(loss, 12).loss == static_cast<double>(static_cast<float>(loss)));
  CHECK(all_gradients(single) == all_gradients(whole));
}

TEST_CASE("traced losses of parts add up over ranks, and none is lost in silence", "[data_parallel]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(12, 3), 1));
  const auto loss_of = [&](auto& net, tenon::index first, tenon::index last) {
    const auto own = tenon::evaluated_tensor(tenon::slice(x, tenon::range(first, last)));
    return tenon::traced(tenon::mean(tenon::square(net(own))));
  };
  auto whole = parallel_network<tenon::host>(3);
  tenon::backward(loss_of(whole, 0, 12));
  for (const int ranks : {1, 2}) {
    distributed::run_in_threads(ranks, [&](auto& all) {
      auto net = parallel_network<tenon::host>(3);
      distributed::data_parallel parallel(net, all);
      const tenon::index first = all.rank() == 0 ? 0 : 7, last = all.size() == 2 && all.rank() == 0 ? 7 : 12;
      for (int step = 0; step < 2; ++step) {
        parallel.accumulate(loss_of(net, first, first + 1), 1);
        parallel.accumulate(loss_of(net, first + 1, first + 3), 2);
        const auto part = parallel.backward(loss_of(net, first + 3, last), last - first - 3);
        if (part.examples != 12) throw tenon::error("other examples");
        if (!are_near(all_gradients(net), all_gradients(whole))) throw tenon::error("other gradients");
      }
    });
  }
  auto net = parallel_network<tenon::host>(3);
  tenon::backward(loss_of(net, 0, 12));
  distributed::alone one;
  distributed::data_parallel alone(net, one);
  alone.backward(loss_of(net, 0, 12), 12);  // gradients from before the ranks met do not count
  CHECK(all_gradients(net) == all_gradients(whole));
  nn::clear_gradients(net);
  distributed::data_parallel other(net, one);
  tenon::backward(loss_of(net, 0, 4));
  CHECK(tenon_test::text_of<tenon::error>([&] { other.backward(loss_of(net, 4, 12), 8); }) ==
        "data_parallel: the network has gradients that the ranks have not summed; add a part of the batch by "
        "accumulate(loss, examples), or clear them by zero_grad()");
}

TEST_CASE("a layer that only some ranks call has the same gradient on all, and one that none calls has none",
          "[data_parallel]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(4, 3), 1));
  auto single = parallel_network<tenon::host>(3);
  auto& lone = tenon::get<0>(single.layers);
  tenon::backward(tenon::mean(tenon::square(lone(x))) / 2);  // the other rank's part has the gradient 0
  const auto expected = tenon_test::numbers_of(lone.weight.gradient);
  distributed::run_in_threads(2, [&](auto& all) {
    auto net = parallel_network<tenon::host>(3);
    distributed::data_parallel parallel(net, all);
    auto& [first, second, third] = net.layers;
    for (int step = 0; step < 2; ++step) {
      const tenon::traced sum_of_both = tenon::sum(tenon::square(first(x))) + tenon::sum(tenon::square(second.weight));
      if (step == 0) {  // later, what it left must not count again
        parallel.backward(sum_of_both, 4);
      } else if (all.rank() == 0) {
        parallel.backward(tenon::traced(tenon::mean(tenon::square(first(x)))), 4);
      } else {
        parallel.backward(tenon::traced(0 * tenon::sum(third.bias)), 4);
      }
    }
    if (!first.weight.has_gradient || second.weight.has_gradient || !third.bias.has_gradient) {
      throw tenon::error("other parameters have gradients");
    }
    if (!are_near(tenon_test::numbers_of(first.weight.gradient), expected)) throw tenon::error("other gradients");
  });
}

TEST_CASE("ranks whose networks differ are told so before anything is copied", "[data_parallel]") {
  for (const int more : {-1, 1}) {
    const auto text = tenon_test::text_of<tenon::shape_error>([&] {
      distributed::run_in_threads(2, [&](auto& all) {
        nn::linear<dyn, 1> net(5 + more * all.rank(), 1);
        net.initialise(1);
        const distributed::data_parallel parallel(net, all);
      });
    });
    CHECK(text == "broadcast_state: rank 1: weight has " + std::to_string(5 + more) +
                      " elements, on rank 0 5; ranks train one network");
  }
}

TEST_CASE("ranks whose optimizers differ are told so", "[data_parallel]") {
  const auto broadcast = [](const auto& optimizer, const auto& other) {
    distributed::run_in_threads(2, [&](auto& all) {
      nn::linear<3, 1> net;
      net.initialise(1);
      const auto send = [&](auto own) {
        tenon::train::training training(net, own);
        distributed::broadcast_state(training, all);
      };
      if (all.rank() == 0) send(optimizer);
      else send(other);
    });
  };
  using tenon_test::text_of;
  const tenon::train::adam<> adam;
  broadcast(adam, adam);
  CHECK(text_of<tenon::shape_error>([&] { broadcast(tenon::train::adamw<>(), adam); }) ==
        "broadcast_state: rank 1: optim.name has 4 elements, on rank 0 5; ranks train one network");
  CHECK(text_of<tenon::error>([&] { broadcast(tenon::train::lamb<>(), adam); }) == "kept_text: lamb, expected adam");
}

TEST_CASE("a rank without examples has no share in the loss", "[data_parallel]") {
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(rank<2>(12, 3), 1));
  distributed::run_in_threads(2, [&](auto& all) {
    auto net = parallel_network<tenon::host>(3);
    distributed::data_parallel parallel(net, all);
    const auto own = tenon::evaluated_tensor(tenon::slice(x, tenon::range(0, 12 * all.rank())));
    const tenon::traced loss = tenon::mean(tenon::square(net(own)));
    const auto part = parallel.backward(loss, own.extent(0));
    if (!(part.loss > 0) || part.examples != 12) throw tenon::error("other facts");
    if (all.rank() == 1 && std::fabs(part.loss - static_cast<float>(loss)) > 1e-6) throw tenon::error("another loss");
  });
  auto net = parallel_network<tenon::host>(3);
  distributed::alone one;
  distributed::data_parallel alone(net, one);
  CHECK(tenon_test::text_of<tenon::error>([&] {
          alone.accumulate(tenon::traced(tenon::mean(tenon::square(net(x)))), -3);
        }) == "data_parallel: -3 examples, expected at least 0");
}

TEST_CASE("gradients of no examples are 0", "[data_parallel]") {
  const tenon::tensor<float, rank<2>> none({0, 3});
  distributed::run_in_threads(2, [&](auto& all) {
    auto net = parallel_network<tenon::host>(3);
    distributed::data_parallel parallel(net, all);
    parallel.backward(tenon::traced(tenon::mean(tenon::square(net(none)))), 0);
    for (const double each : all_gradients(net)) {
      if (each != 0) throw tenon::error("a gradient that is not 0");
    }
  });
}

TEST_CASE("gradients of parts add up, on one rank and on two", "[data_parallel]") {
  using space = tenon::host;
  auto whole = parallel_network<space>(3), parted = parallel_network<space>(3);
  distributed::alone one;
  distributed::data_parallel alone(whole, one), accumulating(parted, one);
  const auto expected = one_step<space>(whole, alone, 0, 12);
  for (int repeat = 0; repeat < 2; ++repeat) {
    one_step<space>(parted, accumulating, 0, 4, true), one_step<space>(parted, accumulating, 4, 7, true);
    const auto part = one_step<space>(parted, accumulating, 7, 12);
    CHECK(are_near(all_gradients(parted), all_gradients(whole)));
    CHECK(part.examples == 12);
    CHECK(std::fabs(part.loss - expected.loss) <= 1e-6 * expected.loss);
  }
  distributed::run_in_threads(2, [&](auto& all) {
    auto net = parallel_network<space>(3);
    distributed::data_parallel parallel(net, all);
    one_step<space>(net, parallel, all.rank() == 0 ? 0 : 3, all.rank() == 0 ? 3 : 5, true);
    one_step<space>(net, parallel, all.rank() == 0 ? 5 : 11, all.rank() == 0 ? 11 : 12);
    if (!are_near(all_gradients(net), all_gradients(whole))) throw tenon::error("other gradients");
  });
}

TEST_CASE("a part that fails is tried again, and nothing that was accumulated is lost", "[data_parallel]") {
  using space = tenon::host;
  const auto gradients_of_two = [](bool fails) {
    std::vector<numbers> found(2);
    distributed::run_in_threads(2, [&](auto& all) {
      auto net = parallel_network<space>(3);
      distributed::data_parallel parallel(net, all);
      const tenon::index first = all.rank() == 0 ? 0 : 6;
      const auto fail = [&](bool accumulates) {
        nn::pass<decltype(net), shape<dyn, 3>> pass(net);
        const tenon::tensor<float, shape<dyn, 3>> x(tenon::uniform<float>(shape<dyn, 3>(4, 3), 1, -1.0f, 1.0f));
        pass.forward(x.view());
        const auto misfit = tenon::ones<float>(shape<dyn, 2>(3, 2));
        try {
          if (accumulates) parallel.accumulate(pass, x.view(), misfit, {4});
          else parallel.backward(pass, x.view(), misfit, {4});
        } catch (const tenon::shape_error&) {
          return;
        }
        throw tenon::error("a gradient of other extents is taken");
      };
      one_step<space>(net, parallel, first, first + 2, true);
      if (fails) fail(true);
      one_step<space>(net, parallel, first + 2, first + 3, true);
      if (fails) fail(false);
      const auto whole = one_step<space>(net, parallel, first + 3, first + 6);
      if (whole.examples != 12) throw tenon::error("other examples");
      found[static_cast<std::size_t>(all.rank())] = all_gradients(net);
    });
    return found;
  };
  CHECK(gradients_of_two(true) == gradients_of_two(false));
}

TEST_CASE("one rank alone trains as without", "[data_parallel]") {
  auto net = parallel_network<tenon::host>(3), other = parallel_network<tenon::host>(3);
  distributed::alone one;
  distributed::data_parallel alone(net, one);
  const auto part = one_step<tenon::host>(net, alone, 0, 5);
  CHECK(part.examples == 5);
  CHECK_FALSE(part.wants_to_stop);
  nn::pass<decltype(other), shape<dyn, 3>> pass(other);
  const tenon::tensor<float, shape<dyn, 3>> drawn = tenon::uniform<float>(shape<dyn, 3>(12, 3), 9, -1.0f, 1.0f);
  const tenon::tensor<float, shape<dyn, 3>> x(tenon::slice(drawn, tenon::range(0, 5)));
  const auto y = pass.forward(x.view());
  pass.backward(x.view(), y * (2.0f / static_cast<float>(y.size())));
  CHECK(all_gradients(net) == all_gradients(other));
}

TEST_CASE("a rank that is lost in its backward pass ends the others", "[data_parallel]") {
  const auto text = tenon_test::text_of<tenon::shape_error>([] {
    distributed::run_in_threads(2, [&](auto& all) {
      auto net = parallel_network<tenon::host>(3);
      distributed::data_parallel parallel(net, all);
      if (all.rank() == 1) throw tenon::shape_error("no more examples");
      one_step<tenon::host>(net, parallel, 0, 5);
    });
  });
  CHECK(text == "no more examples");
}
