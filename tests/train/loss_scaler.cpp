// tests/train/loss_scaler.cpp: short floats in training: values kept as float, losses scaled, steps skipped.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated.hpp>
#include <tenon/device/launch_count.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/loss_scaler.hpp>
#include <tenon/train/sgd.hpp>

#include "support/optimizer.hpp"
#include "support/text_of.hpp"

namespace loss_scalers {

using tenon::bfloat16;
using tenon::half;

using tenon_test::loose_parameters;
using tenon_test::numbers_of;

constexpr double infinity = std::numeric_limits<double>::infinity();

/// Gives every parameter the gradients `at(i)`, counted through all of them.
template <class Space, class T, class At>
void set_gradients(loose_parameters<Space, T>& net, const At& at) {
  tenon::index first = 0;
  for (auto& each : net.all) {
    each.gradient = tenon_test::made_tensor<T, Space>(each.value.shape(), [&](auto i) { return at(first + i); });
    first += each.value.size();
  }
}

/// What short floats hold.
template <class T>
double rounded(double x) {
  return static_cast<double>(static_cast<float>(T(static_cast<float>(x))));
}

template <class T>
double scale_of(const T& scaler) {
  return numbers_of<typename std::remove_cvref_t<decltype(scaler.scale())>::space>(scaler.scale()).front();
}

}  // namespace loss_scalers

TEMPLATE_LIST_TEST_CASE("parameters of half move by less than they can show", "[loss_scaler]", tenon_test::spaces) {
  using namespace loss_scalers;
  loose_parameters<TestType, half> net({3, 0, 9001});
  tenon::train::sgd<TestType, float, half> optimizer({.lr = 0x1p-16});
  const auto before = net.values();
  set_gradients(net, [](auto i) { return i % 5 - 2; });
  for (int step = 1; step <= 40; ++step) {
    const tenon::launch_counter counter;
    optimizer.step(net);
    CHECK((step == 1 || counter.count() == 1));
  }
  auto expected = before;
  for (std::size_t i = 0; i < before.size(); ++i) {
    expected[i] = rounded<half>(before[i] - 40 * 0x1p-16 * (static_cast<double>(i % 5) - 2));
  }
  CHECK(tenon_test::difference(net.values(), expected) == "");
  std::vector<double> masters;
  optimizer.visit_kept(net, [&](const std::string& name, auto&, auto& kept) {
    CHECK(name.ends_with(".master"));
    const auto own = numbers_of<TestType>(kept.elements);
    masters.insert(masters.end(), own.begin(), own.end());
  });
  for (std::size_t i = 0; i < before.size(); ++i) {
    expected[i] = before[i] - 40 * 0x1p-16 * (static_cast<double>(i % 5) - 2);
  }
  CHECK(tenon_test::difference(masters, expected, 1e-7) == "");
}

TEMPLATE_LIST_TEST_CASE("values given to parameters of half are where the next step begins", "[loss_scaler]",
                        tenon_test::spaces) {
  using namespace loss_scalers;
  loose_parameters<TestType, half> net({3, 9001}), given({9001, 3});
  tenon::train::sgd<TestType, float, half> optimizer({.lr = 0x1p-12});
  set_gradients(net, [](auto i) { return i % 5 - 2; });
  optimizer.step(net);
  net.all[1].value = given.all[0].value;
  net.all[1].value(4) = half(infinity);
  const auto before = net.values();
  optimizer.options().lr = 0;
  optimizer.step(net);
  CHECK(tenon_test::difference(net.values(), before) == "");
  optimizer.visit_kept(net, [&](const std::string& name, auto& parameter, auto& kept) {
    if (name == "0.bias.master") CHECK(numbers_of<TestType>(kept.elements) == numbers_of<TestType>(parameter.value));
  });
}

TEMPLATE_LIST_TEST_CASE("a scale that is a power of two changes nothing", "[loss_scaler]", tenon_test::spaces) {
  using namespace loss_scalers;
  loose_parameters<TestType> plain, scaled;
  tenon::train::adam<TestType> one({.lr = 0.01}), other({.lr = 0.01});
  one.clipping() = other.clipping() = {.clip_value = 1.5, .max_norm = 3};
  tenon::train::loss_scaler<TestType> scaler;
  for (int step = 1; step <= 3; ++step) {
    const auto gradient = [step](auto i) { return 3 * tenon_test::scattered(7 * i + step); };
    set_gradients(plain, gradient);
    set_gradients(scaled, [&](auto i) { return 65536 * static_cast<double>(static_cast<float>(gradient(i))); });
    one.step(plain);
    const tenon::launch_counter counter;
    scaler.step(other, scaled);
    CHECK((step == 1 || counter.count() == 4));  // finite, norm, step, scale
    CHECK(scaled.values() == plain.values());
  }
}

TEMPLATE_LIST_TEST_CASE("steps with gradients that are not finite are skipped", "[loss_scaler]", tenon_test::spaces) {
  using namespace loss_scalers;
  loose_parameters<TestType, bfloat16> net({5, 4097, 2});
  tenon::train::adam<TestType, float, bfloat16> optimizer({.lr = 0.1});
  tenon::train::loss_scaler<TestType> scaler({.init_scale = 8, .growth_interval = 2});
  const double nan_value = std::numeric_limits<double>::quiet_NaN();
  const double bad[] = {1, 1, infinity, 1, nan_value, -infinity, 1, 1};
  const double scales[] = {8, 16, 8, 8, 4, 2, 2, 4};
  const std::int64_t steps[] = {1, 2, 2, 3, 3, 3, 4, 5};
  for (int step = 0; step < 8; ++step) {
    const auto before = net.values();
    set_gradients(net, [&](auto i) { return i == 4000 ? bad[step] : 1; });
    scaler.step(optimizer, net);
    CHECK((net.values() == before) == (bad[step] != 1));
    CHECK((numbers_of<TestType>(scaler.found_inf()).front() != 0) == (bad[step] != 1));
    CHECK(scale_of(scaler) == scales[step]);
    CHECK(optimizer.steps() == steps[step]);
  }
}

TEST_CASE("a step is skipped where its scale has fallen to zero", "[loss_scaler]") {
  using namespace loss_scalers;
  loose_parameters<tenon::host> net({5});
  tenon::train::sgd<> optimizer({.lr = 1});
  tenon::train::loss_scaler<> scaler;
  for (int step = 0; step < 200; ++step) {
    set_gradients(net, [](auto) { return infinity; });
    scaler.step(optimizer, net);
  }
  REQUIRE(scale_of(scaler) == 0);
  const auto before = net.values();
  set_gradients(net, [](auto i) { return i; });
  scaler.step(optimizer, net);
  CHECK(net.values() == before);
  CHECK(optimizer.steps() == 0);
}

namespace loss_scalers {

struct two_heads : tenon::nn::module<two_heads> {
  tenon::nn::linear<2, 3> first, second;
  auto forward(const auto& x) { return std::pair{first(x), second(x)}; }
};

}  // namespace loss_scalers

TEST_CASE("with a scaler, too, parameters that no backward pass reached stay", "[loss_scaler]") {
  loss_scalers::two_heads net;
  net.initialise(1);
  const auto x = tenon::uniform<float>({4, 2}, 2);
  tenon::train::adam optimizer(net, {.lr = 0.1});
  tenon::train::loss_scaler<> scaler;
  for (int step = 0; step < 3; ++step) {
    optimizer.zero_grad();
    const auto [y, z] = net(x);
    const auto before = tenon_test::numbers_of(net.second.weight.value);
    if (step == 0) tenon::backward(tenon::mean(y + z) * scaler.scale());
    else tenon::backward(tenon::mean(y) * scaler.scale());
    scaler.step(optimizer, net);
    CHECK((tenon_test::numbers_of(net.second.weight.value) == before) == (step != 0));
  }
  optimizer.zero_grad();
  CHECK(tenon_test::text_of<tenon::error>([&] { scaler.step(optimizer, net); }).starts_with("optimizer: no parameter"));
}

TEST_CASE("passes without traced values train with an optimizer of the network, cleared or not", "[loss_scaler]") {
  using tenon::shape;
  auto net = tenon::nn::sequential(tenon::nn::linear<2, 3>{});
  net.initialise(1);
  tenon::nn::pass<decltype(net), shape<tenon::dyn, 2>> pass(net);
  tenon::train::sgd optimizer(net, {.lr = 0.1});
  tenon::train::loss_scaler<> scaler;
  const tenon::tensor<float, shape<tenon::dyn, 2>> x = tenon::uniform<float>(shape<tenon::dyn, 2>(4), 2);
  const auto values = [&] {
    std::vector<double> all;
    net.visit_parameters([&](const auto&, auto& each) {
      const auto own = tenon_test::numbers_of(each.value);
      all.insert(all.end(), own.begin(), own.end());
    });
    return all;
  };
  for (const bool has_scaler : {false, true}) {
    const auto before = values();
    optimizer.zero_grad();
    pass.backward(x.view(), tenon::evaluated_tensor(pass.forward(x.view()) * (has_scaler ? 65536.0f : 1.0f)));
    if (has_scaler) scaler.step(optimizer, net);
    else optimizer.step(net);
    CHECK(values() != before);
  }
}

TEST_CASE("a scale grows while it is finite, and is kept", "[loss_scaler]") {
  using namespace loss_scalers;
  loose_parameters<tenon::host> net({2});
  tenon::train::sgd<> optimizer;
  tenon::train::loss_scaler<> scaler({.init_scale = 0x1p126, .growth_interval = 1});
  set_gradients(net, [](auto) { return 1; });
  for (const double expected : {0x1p127, 0x1p127}) {
    scaler.step(optimizer, net);
    CHECK(scale_of(scaler) == expected);
  }
  std::vector<std::string> names;
  scaler.visit_state(net, [&](const std::string& name, auto& value) {
    names.push_back(name);
    CHECK(value.shape().rank == 0);
  });
  CHECK(names == std::vector<std::string>{"scale", "growth_tracker"});
  CHECK(tenon_test::text_of<tenon::error>([] { tenon::train::loss_scaler<> wrong({.backoff_factor = 1}); }) ==
        "loss_scaler: backoff_factor: 1, expected at least 1e-06 and below 1");
}

namespace loss_scalers {

/// The last of 40 losses of a small network that learns which of its inputs is the greatest.
template <class T, class Space>
double trained_loss() {
  namespace nn = tenon::nn;
  auto net = nn::sequential(nn::linear<6, 24, nn::linear_options{}, Space, T>{}, nn::relu{},
                            nn::linear<24, 6, nn::linear_options{}, Space, T>{});
  nn::pass<decltype(net), tenon::shape<tenon::dyn, 6>, Space, T> passes(net);
  tenon::train::adam<Space, float, T> optimizer({.lr = 0.02});
  tenon::train::loss_scaler<Space> scaler;
  const tenon::shape<tenon::dyn, 6> extents(96, 6);
  const auto drawn = tenon_test::made_tensor<T, Space>(extents, [](auto i) { return tenon_test::scattered(i); });
  const tenon::tensor<std::int64_t, tenon::rank<1>, Space> labels(tenon::argmax(drawn, tenon::drop<1>));
  double loss = 0;
  for (int step = 0; step < 40; ++step) {
    const auto logits = passes.forward(drawn.view());
    loss = static_cast<double>(static_cast<float>(tenon::mean(tenon::cast<float>(nn::cross_entropy(logits, labels)))));
    passes.backward(drawn.view(), nn::cross_entropy_gradient(logits, labels) * scaler.scale());
    scaler.step(optimizer, net);
  }
  return loss;
}

}  // namespace loss_scalers

TEST_CASE("networks of half and bfloat16 learn as those of float do", "[loss_scaler]") {
  using namespace loss_scalers;
  const double whole = trained_loss<float, tenon::host>();
  CHECK(whole < 0.6);
  CHECK(std::fabs(trained_loss<half, tenon::host>() - whole) < 0.01);
  CHECK(std::fabs(trained_loss<bfloat16, tenon::host>() - whole) < 0.05);
  CHECK(std::fabs(trained_loss<half, tenon::emulated>() - whole) < 0.01);
}
