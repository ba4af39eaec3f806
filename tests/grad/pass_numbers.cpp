// tests/grad/pass_numbers.cpp: checkpoints around layers that draw random numbers and gather statistics.
// Gradients, masks and statistics are those without checkpoints, bit for bit.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/grad/pass_numbers.hpp>

#include <map>
#include <tenon/tenon.hpp>

#include "support/catch.hpp"
#include "support/elements.hpp"
#include "support/late_destructor.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::rank;
using tenon_test::numbers_of;

namespace {

/// `function(x)`, with a checkpoint around it or without.
template <class Function, class Input>
auto through(bool is_checked, const Function& function, const Input& x) {
  return is_checked ? tenon::checkpoint(function, x) : tenon::traced(function(x));
}

/// Layers of random numbers and statistics; one dropout is shared. Checkpoints lie one in the other.
template <tenon::memory_space Space = tenon::host>
struct noisy : nn::module<noisy<Space>> {
  nn::linear<8, 8, nn::linear_options{}, Space> first, second;
  nn::batch_norm<8, nn::affine::both, Space> norm;
  nn::dropout mask{0.4};
  nn::alpha_dropout other{0.3};
  nn::lstm<8, 8, Space> lstm{{.layers = 2, .dropout = 0.4}};
  nn::multihead_attention<8, 2, nn::multihead_attention_options{.dropout = 0.4}, Space> attention;
  bool is_checked = false;

  auto forward(const auto& x) {
    const tenon::traced<float, rank<2>, Space> start = mask(first(x));
    const auto inner = [this](const auto& h) { return mask(tenon::tanh(second(norm(h)))); };
    const auto outer = [inner, this](const auto& h) {
      return other(mask(through(is_checked, inner, tenon::traced<float, rank<2>, Space>(mask(h)))));
    };
    tenon::traced<float, rank<2>, Space> h = through(is_checked, outer, start);
    h = through(is_checked, outer, h);
    const auto sequences = [this](const auto& in) {
      const tenon::traced steps = tenon::new_axis<1>(in);
      const tenon::traced seen = attention(lstm(steps).sequence);
      return tenon::sum(seen, tenon::drop<1>);
    };
    return through(is_checked, sequences, h);
  }
};

/// Gradients, statistics and numbers of masks after two steps.
template <class Network, class Input>
auto state_after(Network net, const Input& x, bool is_checked) {
  net.is_checked = is_checked;
  std::map<std::string, std::vector<double>> found;
  for (int step = 0; step < 2; ++step) {
    const auto v = tenon::variable(x);
    const auto y = net(v);
    found["value"] = numbers_of<typename Input::space>(y);
    tenon::backward(tenon::sum(tenon::square(y)));
    found["input"] = numbers_of<typename Input::space>(v.gradient());
  }
  net.visit_parameters([&](const std::string& name, auto& parameter) {
    found[name] = numbers_of<typename Input::space>(parameter.gradient);
  });
  found["mean"] = numbers_of<typename Input::space>(net.norm.running_mean);
  found["variance"] = numbers_of<typename Input::space>(net.norm.running_var);
  found["batches"] = {static_cast<double>(net.norm.num_batches_tracked)};
  net.visit_random_state(
      [&](const std::string& name, auto& number) { found["random " + name] = {static_cast<double>(number)}; });
  return found;
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a checkpoint draws the same masks again and moves statistics once", "[pass_numbers]",
                        tenon_test::spaces) {
  noisy<> drawn;
  drawn.initialise(1);
  const auto net = drawn.to<TestType>();
  const auto x = tenon::evaluated_tensor<TestType>(tenon::normal<float>(rank<2>(6, 8), 2));
  const auto expected = state_after(net, x, false), found = state_after(net, x, true);
  CHECK(found.size() == expected.size());
  for (const auto& [name, numbers] : expected) {
    INFO(name);
    CHECK(found.at(name) == numbers);
  }
  CHECK(expected.at("batches") == std::vector<double>{4});
}

TEST_CASE("a checkpoint draws the masks of its own pass, whatever was drawn in between", "[pass_numbers]") {
  nn::dropout mask(0.5);
  const auto x = tenon::evaluated_tensor(tenon::ones<float>(rank<1>(64)));
  const auto v = tenon::variable(x), u = tenon::variable(x);
  const auto run = [&](const auto& in) { return mask(in * 1.0f); };
  const tenon::traced one = tenon::checkpoint(run, v), two = tenon::checkpoint(run, u);
  CHECK(numbers_of(one) != numbers_of(two));
  one.backward(x), two.backward(x);
  CHECK(numbers_of(v.gradient()) == numbers_of(one));
  CHECK(numbers_of(u.gradient()) == numbers_of(two));
  CHECK(mask.step == 2);
}

TEST_CASE("a function that calls other layers than before is refused", "[pass_numbers]") {
  nn::dropout mask(0.5);
  const auto x = tenon::evaluated_tensor(tenon::ones<float>(rank<1>(8)));
  const auto refusal = [&](int before, int again) {
    int calls = before;
    const auto v = tenon::variable(x);
    const tenon::traced h = tenon::checkpoint(
        [&](const auto& in) {
          tenon::traced each = in * 1.0f;
          for (int i = 0; i < calls; ++i) each = mask(each);
          return each;
        },
        v);
    calls = again;
    return tenon_test::text_of<tenon::error>([&] { h.backward(x); });
  };
  const char* const text =
      "checkpoint: the function calls other layers than before, expected the same whenever it runs";
  CHECK(refusal(1, 2) == text);
  CHECK(refusal(2, 1) == text);
  CHECK(mask.step == 3);
  const auto y = tenon::evaluated_tensor(mask(x));  // which draws by itself again
  CHECK(mask.step == 4);
  CHECK(y.size() == 8);
}

TEST_CASE("passes within passes are noted by both", "[pass_numbers]") {
  using namespace tenon::detail;
  std::uint64_t count = 5;
  std::vector<std::uint64_t> outer, inner, again;
  {
    const noted_passes all;
    (void)next_pass(count);
    {
      const noted_passes some;
      (void)next_pass(count);
      some.copy_to(inner);
    }
    (void)next_pass(count);
    all.copy_to(outer);
  }
  CHECK(outer == std::vector<std::uint64_t>{5, 6, 7});
  CHECK(inner == std::vector<std::uint64_t>{6});
  {
    const noted_passes outside;
    {
      repeated_passes repeated(outer);
      const noted_passes noted;
      CHECK(next_pass(count) == 5);
      {
        repeated_passes nested(inner);
        CHECK(next_pass(count) == 6);
        nested.must_be_complete();
      }
      CHECK(next_pass(count) == 6);
      CHECK(next_pass(count) == 7);
      repeated.must_be_complete();
      noted.copy_to(again);
    }
    CHECK(again == outer);
    outside.copy_to(again);
    CHECK(again.empty());
  }
  CHECK_FALSE(are_passes_repeated());
  CHECK(next_pass(count) == 8);
}

TEST_CASE("destructors that run when the notes of their thread are gone note passes", "[pass_numbers]") {
  std::uint64_t count = 0;
  const auto noted = [&](int passes) {
    const tenon::detail::noted_passes notes;
    for (int pass = 0; pass < passes; ++pass) (void)tenon::detail::next_pass(count);
    std::vector<std::uint64_t> numbers;
    notes.copy_to(numbers);
    return numbers;
  };
  tenon_test::run_and_outlive([&] { CHECK(noted(3).size() == 3); },
                              [&] { CHECK(noted(2) == std::vector<std::uint64_t>{3, 4}); });
}
