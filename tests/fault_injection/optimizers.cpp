// tests/fault_injection/optimizers.cpp: steps of every optimizer at which memory runs out.
// A step that failed and is taken again comes to the bits of one that never failed.
// SPDX-License-Identifier: Apache-2.0
#include <memory>
#include <tenon/train.hpp>

#include "support/catch.hpp"
#include "support/faults.hpp"

namespace {

namespace train = tenon::train;
using tenon::host;
using tenon::rank;
using tenon_test::attack;
using tenon_test::bits_of;

/// Parameters with names too long to lie in a string, and their gradients.
template <class T>
struct parameters {
  std::vector<tenon::nn::parameter<T, rank<1>, host>> all;

  parameters() {
    for (const tenon::index size : {3, 0, 5000, 70}) {
      const rank<1> extent(size);
      all.push_back({tenon::cast<T>(tenon::uniform<float>(extent, 1, -1.0f, 1.0f)),
                     tenon::cast<T>(tenon::uniform<float>(extent, 2, -1.0f, 1.0f))});
    }
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    int number = 0;
    for (auto& each : all) visitor("a parameter with a long name, number " + std::to_string(number++), each);
  }
};

/// Parameters and what is stepped with them.
template <class T, class Stepped>
struct subject_of {
  parameters<T> net;
  Stepped stepped;

  explicit subject_of(const Stepped& made) : stepped(made) {}
};

/// What lasts of a step: looked at in a copy, as a first look would allocate.
template <class Subject>
std::string stepped_bits(Subject& subject) {
  std::string bits;
  auto copy = subject.stepped;
  const auto add = [&]<class Value>(const std::string&, Value& value) {
    if constexpr (tenon::is_kept_number<Value>) bits += bits_of(value.number());
    else if constexpr (std::is_arithmetic_v<Value>) bits += bits_of(value);
    else bits += bits_of(value.template to<host>());
  };
  copy.visit_state(subject.net, add);
  for (auto& each : subject.net.all) bits += bits_of(each.value);
  return bits;
}

template <class T = float, class Stepped, class Step>
bool steps_hold(const std::string& name, const Stepped& made, const Step& step) {
  using subject = subject_of<T, Stepped>;
  const auto make = [&] { return std::make_unique<subject>(made); };
  const auto make_behind = [&] {
    auto all = make();
    step(*all);
    for (auto& each : all->net.all) each.gradient = each.gradient * T(0.5f);
    return all;
  };
  const auto first = attack(name + ", first step", make, step, stepped_bits<subject>);
  const auto second = attack(name + ", second step", make_behind, step, stepped_bits<subject>);
  return first.is_good() && second.wrong + second.crashed == 0;
}
template <class T = float, class Optimizer>
bool optimizer_holds(const std::string& name, const Optimizer& optimizer) {
  return steps_hold<T>(name, optimizer, [](auto& all) { all.stepped.step(all.net); });
}

struct scaled_adam {
  train::adam<> optimizer{};
  train::loss_scaler<> scaler{{.growth_interval = 2}};

  template <class Network, class Visitor>
  void visit_state(Network& net, const Visitor& visitor) {
    optimizer.visit_state(net, visitor), scaler.visit_state(net, visitor);
  }
};

}  // namespace

TEST_CASE("steps without memory have not begun", "[optimizers]") {
  CHECK(optimizer_holds("sgd", train::sgd<>({.momentum = 0.9})));
  CHECK(optimizer_holds("adam", train::adam<>({.amsgrad = true})));
  CHECK(optimizer_holds("adagrad from a sum", train::adagrad<>({.initial_accumulator_value = 0.5})));
  CHECK(optimizer_holds("adadelta", train::adadelta<>()));
  CHECK(optimizer_holds("rmsprop", train::rmsprop<>({.momentum = 0.5, .centered = true})));
  CHECK(optimizer_holds("lion", train::lion<>()));
  CHECK(optimizer_holds("lamb", train::lamb<>()));
  CHECK(optimizer_holds("nadam", train::nadam<>()));
  CHECK(optimizer_holds("radam", train::radam<>({.betas = {{0.9, 0.95}}})));
  CHECK(optimizer_holds("adamax", train::adamax<>()));
  CHECK(optimizer_holds<tenon::half>("adam with values of its own", train::adam<host, float, tenon::half>()));
}

TEST_CASE("clipping, groups, scales and averages hold too", "[optimizers]") {
  train::adamw<> clipped({}, {{train::ends_with("number 2"), {.lr = 0.1}}});
  clipped.clipping().max_norm = 0.5;
  CHECK(optimizer_holds("adamw, clipped, of two groups", clipped));
  CHECK(steps_hold("average", train::average<>({.decay = 0.5}), [](auto& all) { all.stepped.update(all.net); }));

  CHECK(steps_hold("adam, scaled", scaled_adam(),
                   [](auto& all) { all.stepped.scaler.step(all.stepped.optimizer, all.net); }));
}

TEST_CASE("weights become averages all at once", "[optimizers]") {
  using subject = subject_of<float, train::average<>>;
  const auto make = [] {
    auto all = std::make_unique<subject>(train::average<>());
    all->stepped.update(all->net);
    for (auto& each : all->net.all) each.value = each.value * 2.0f;
    return all;
  };
  CHECK(attack(
            "average: copy_to", make, [](subject& all) { all.stepped.copy_to(all.net); }, stepped_bits<subject>)
            .is_good());
}

TEST_CASE("gradients that were accumulated outlive a part without memory", "[optimizers]") {
  using network = decltype(tenon::nn::sequential(tenon::nn::linear<3, 40>{}, tenon::nn::linear<40, 2>{}));
  struct subject {
    network net = tenon::nn::sequential(tenon::nn::linear<3, 40>{}, tenon::nn::linear<40, 2>{});
    tenon::distributed::alone all{};
    tenon::distributed::data_parallel<network, tenon::distributed::alone> parallel{net, all};
    tenon::nn::pass<network, tenon::shape<tenon::dyn, 3>> pass{net};
    tenon::tensor<float, tenon::shape<tenon::dyn, 3>> x{
        tenon::uniform<float>(tenon::shape<tenon::dyn, 3>(6, 3), 1, -1.0f, 1.0f)};

    void accumulate(float factor) { parallel.accumulate(pass, x.view(), pass.forward(x.view()) * factor, {6}); }
    void backward() { parallel.backward(pass, x.view(), pass.forward(x.view()) * 0.5f, {6}); }
    std::string gradients() {
      std::string bits;
      net.visit_parameters([&](const auto&, auto& parameter) { bits += bits_of(parameter.gradient); });
      return bits;
    }
  };
  const auto make = [] { return std::make_unique<subject>(); };
  const auto make_behind = [&] {
    auto all = make();
    all->accumulate(1);
    return all;
  };
  const auto nothing = [](subject&) { return std::string(); };
  const auto with_the_next = [](subject& all) { return all.backward(), all.gradients(); };
  const auto accumulate = [](subject& all) { all.accumulate(2); };
  CHECK(attack("data_parallel: a first part", make, accumulate, nothing, with_the_next).is_good());
  CHECK(attack("data_parallel: a second part", make_behind, accumulate, nothing, with_the_next).is_good());
  CHECK(attack(
            "data_parallel: backward behind a part", make_behind, [](subject& all) { all.backward(); }, nothing,
            [](subject& all) { return all.gradients(); })
            .is_good());
}
