// tests/train/checkpoint.cpp: the state of networks through files and back.
// What does not fit is refused whole, with everything that is wrong in one sentence.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/activation.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/conv.hpp>
#include <tenon/nn/embedding.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/norm.hpp>
#include <tenon/nn/quantise.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/tenon.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/average.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/plateau.hpp>

#include "support/elements.hpp"
#include "support/scratch_file.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::shape;
using tenon_test::has;
using tenon_test::numbers_of;
using tenon_test::scratch_file;
using names_of_state = std::vector<std::string>;

namespace {

template <class Space = tenon::host>
auto make_network(std::uint64_t seed) {
  auto net = nn::sequential(nn::linear<3, 4>{}, nn::batch_norm<4>{}, nn::linear<4, 2>{});
  net.initialise(seed);
  auto& norm = tenon::get<1>(net.layers);
  norm.running_mean = tenon::uniform<float>(norm.running_mean.shape(), seed);
  norm.num_batches_tracked = (std::int64_t{1} << 40) + static_cast<std::int64_t>(seed);
  return net.template to<Space>();
}

template <class Network>
std::vector<double> all_values(Network& net) {
  std::vector<double> result;
  nn::visit_state(net, [&](const auto&, auto& value) {
    const auto values = numbers_of(tenon::train::detail::state_on_host(value));
    result.insert(result.end(), values.begin(), values.end());
  });
  return result;
}

template <class Network>
using pass_of = nn::pass<Network, shape<dyn, 3>>;

}  // namespace

TEMPLATE_LIST_TEST_CASE("a saved state is loaded bit for bit", "[checkpoint]", tenon_test::spaces) {
  const scratch_file file("round.safetensors");
  auto saved = make_network<TestType>(3), loaded = make_network<TestType>(4);
  tenon::train::save_state(saved, file.path);
  REQUIRE(all_values(saved) != all_values(loaded));
  const float* memory = tenon::get<0>(loaded.layers).weight.value.data();
  const auto differences = tenon::train::load_state(loaded, file.path);
  CHECK(all_values(saved) == all_values(loaded));
  CHECK(tenon::get<0>(loaded.layers).weight.value.data() == memory);
  CHECK(differences.missing.empty());
  CHECK(differences.unexpected.empty());
  const tenon::io::safetensors_file opened(file.path);
  CHECK(opened.names() == names_of_state{"0.bias", "0.weight", "1.bias", "1.num_batches_tracked", "1.running_mean",
                                         "1.running_var", "1.weight", "2.bias", "2.weight"});
  CHECK(opened.dtype("1.num_batches_tracked") == "I64");
  CHECK(opened.extents("1.num_batches_tracked").empty());
}

TEST_CASE("layers whose sizes are given at run time are loaded as they were made", "[checkpoint]") {
  const scratch_file file("sizes.safetensors");
  const auto make = [](auto seed) {
    auto net = tenon::make_tuple_of(nn::linear<dyn, dyn>(3, 4), nn::conv2d<dyn, 2, 3>(3, 2, 3), nn::batch_norm<>(4),
                                    nn::embedding<dyn, 2>(5, 2), nn::group_norm<dyn>(2, 4));
    tenon::apply_tuple([&](auto&... layer) { (layer.initialise(seed), ...); }, net);
    return net;
  };
  auto saved = make(std::uint64_t{3});
  const auto check = [&](auto& given, auto made) {
    tenon::train::save_state(given, file.path);
    tenon::train::load_state(made, file.path);
    CHECK(all_values(given) == all_values(made));
  };
  check(tenon::get<0>(saved), nn::linear<dyn, dyn>(3, 4));
  check(tenon::get<1>(saved), nn::conv2d<dyn, 2, 3>(3, 2, 3));
  check(tenon::get<2>(saved), nn::batch_norm<>(4));
  check(tenon::get<3>(saved), nn::embedding<dyn, 2>(5, 2));
  check(tenon::get<4>(saved), nn::group_norm<dyn>(2, 4));
  nn::linear<dyn, dyn> unwritten(3, 4);
  const std::string refused = "save_state: its weight was never written; call initialise(seed), or load weights";
  CHECK(tenon_test::text_of<tenon::error>([&] { tenon::train::save_state(unwritten, file.path); }) == refused);
}

TEST_CASE("a file of another network is refused whole", "[checkpoint]") {
  const scratch_file file("other.safetensors");
  tenon::train::save_state(nn::sequential(nn::linear<3, 5>{}, nn::batch_norm<5, nn::affine::none>{}), file.path);
  auto net = make_network(4);
  const auto before = all_values(net);
  const auto text = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(net, file.path); });
  CHECK(text ==
        "load_state: " + file.path.string() +
            ": it does not fit the network; 0.weight has extents [5, 3], expected [4, 3]; 0.bias has extents "
            "[5], expected [4]; 1.running_mean has extents [5], expected [4]; 1.running_var has extents [5], expected "
            "[4]; 1.weight is missing; 1.bias is missing; 2.weight is missing; 2.bias is "
            "missing");
  CHECK(all_values(net) == before);
}

TEST_CASE("what was loaded refuses the way back of earlier calls", "[checkpoint]") {
  const scratch_file file("again.safetensors");
  nn::linear<3, 2> layer;
  layer.initialise(1);
  tenon::train::save_state(layer, file.path);
  const auto x = tenon::evaluated_tensor(tenon::uniform<float>(tenon::rank<2>(5, 3), 1));
  const tenon::traced before = tenon::sum(layer(x));
  tenon::train::load_state(layer, file.path);
  CHECK(tenon_test::text_of<tenon::error>([&] {
          before.backward();
        }).starts_with("backward: linear: a step, loading or an assignment has changed what the way back reads"));
  CHECK_NOTHROW(tenon::backward(tenon::sum(layer(x))));
}

TEST_CASE("names that one side lacks are listed, and left where loading is not strict", "[checkpoint]") {
  const scratch_file file("more.safetensors");
  const auto saved = nn::sequential(nn::linear<3, 4>{});
  tenon::io::safetensors_writer writer;
  writer.add("0.weight", tenon::get<0>(saved.layers).weight.value);
  writer.add("head.bias", tenon::tensor<float, shape<2>>({2}, {1, 2}));
  writer.add("head.weight", tenon::tensor<float, shape<2>>({2}, {1, 2}));
  writer.save(file.path);
  auto net = nn::sequential(nn::linear<3, 4>{});
  net.initialise(9);
  const auto bias = numbers_of(tenon::get<0>(net.layers).bias.value), before = all_values(net);
  const auto text = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(net, file.path); });
  CHECK(has(text, "network; 0.bias is missing; head.bias is unexpected; head.weight is unexpected"));
  CHECK_FALSE(has(text, "leaves the rest"));
  CHECK(all_values(net) == before);
  const auto differences = tenon::train::load_state(net, file.path, {.strict = false});
  CHECK(differences.missing == names_of_state{"0.bias"});
  CHECK(differences.unexpected == names_of_state{"head.bias", "head.weight"});
  CHECK(numbers_of(tenon::get<0>(net.layers).bias.value) == bias);
  CHECK(numbers_of(tenon::get<0>(net.layers).weight.value) == numbers_of(tenon::get<0>(saved.layers).weight.value));
  auto other = nn::sequential(nn::linear<3, 5>{});
  const auto misshapen =
      tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(other, file.path, {.strict = false}); });
  CHECK(has(misshapen, "network; 0.weight has extents [4, 3], expected [5, 3]"));
}

TEST_CASE("a file that has more than a network says how to leave the rest", "[checkpoint]") {
  const scratch_file file("training.safetensors");
  auto saved = nn::sequential(nn::linear<3, 4>{}, nn::linear<4, 2>{});
  saved.initialise(1);
  tenon::train::save_state(saved, file.path);
  auto part = nn::sequential(nn::linear<3, 4>{});
  const auto text = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(part, file.path); });
  CHECK(has(text,
            "network; 1.bias is unexpected; 1.weight is unexpected; all that the network has is there: {.strict = "
            "false} leaves the rest"));
  tenon::train::load_state(part, file.path, {.strict = false});
  CHECK(all_values(part) == all_values(tenon::get<0>(saved.layers)));
}

TEST_CASE("a state is loaded from bytes in memory", "[checkpoint]") {
  const scratch_file file("memory.safetensors");
  nn::linear<3, 2> saved, loaded;
  saved.initialise(1);
  tenon::train::save_state(saved, file.path);
  const auto bytes = tenon::io::read_bytes("checkpoint", file.path);
  tenon::train::load_state(loaded, tenon::io::safetensors_file(bytes));
  CHECK(numbers_of(loaded.weight.value) == numbers_of(saved.weight.value));
  nn::linear<3, 4> other;
  other.initialise(2);
  const auto before = numbers_of(other.weight.value);
  const auto text = tenon_test::text_of<tenon::file_error>(
      [&] { tenon::train::load_state(other, tenon::io::safetensors_file(bytes, "built in")); });
  CHECK(has(text, "load_state: built in: it does not fit the network; weight has extents [2, 3], expected [4, 3]"));
  CHECK(numbers_of(other.weight.value) == before);
}

TEST_CASE("a part is loaded from the file of a whole network", "[checkpoint]") {
  const scratch_file file("whole.safetensors");
  auto whole = make_network(3);
  pass_of<decltype(whole)> saving(whole);
  const tenon::tensor<float, shape<dyn, 3>> sample({1, 3}, {1, 2, 3});
  tenon::train::save_state(saving, file.path, sample);
  nn::linear<4, 2> head, other;
  const auto differences = tenon::train::load_state(head, file.path, {.prefix = "2."});
  CHECK(all_values(head) == all_values(tenon::get<2>(whole.layers)));
  CHECK(differences.unexpected.empty());
  const auto misfit =
      tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(other, file.path, {.prefix = "1."}); });
  CHECK(has(misfit,
            "network; 1.weight has extents [4], expected [2, 4]; 1.bias has extents [4], expected [2]; "
            "1.num_batches_tracked is unexpected; 1.running_mean is unexpected; 1.running_var is unexpected"));
  auto norm = nn::sequential(nn::batch_norm<4>{});
  const auto found = tenon::train::load_state(norm, file.path, {.strict = false, .prefix = "1."});
  CHECK(found.missing.size() == 5);
  CHECK(found.unexpected.size() == 5);
  CHECK(found.missing.front() == "1.0.weight");
  const auto nowhere = tenon_test::text_of<tenon::file_error>(
      [&] { tenon::train::load_state(other, file.path, {.strict = false, .prefix = "head."}); });
  CHECK(has(nowhere, "whole.safetensors: none of its names begins with head."));
}

TEST_CASE("a model that answers its sample otherwise is refused", "[checkpoint]") {
  const scratch_file file("sample.safetensors");
  auto net = make_network(3), loaded = make_network(4);
  pass_of<decltype(net)> saving(net), loading(loaded);
  tenon::tensor<float, shape<dyn, 3>> sample({5, 3});
  sample = tenon::uniform<float>(sample.shape(), 1);
  const auto state = all_values(net);
  tenon::train::save_state(saving, file.path, sample);
  CHECK(all_values(net) == state);  // the sample was no training
  tenon::tensor<float, shape<5, 2>> answer;
  tenon::io::safetensors_file(file.path).read("tenon.sample.output", answer);
  auto used = net;
  used.eval();
  CHECK(numbers_of(pass_of<decltype(net)>(used).forward(std::as_const(sample).view())) == numbers_of(answer));
  const auto before = all_values(loaded);
  const auto unasked = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(loaded, file.path); });
  CHECK(has(unasked, "it carries a sample; load it by a pass, which runs it, or with run_sample = false"));
  tenon::get<1>(loaded.layers).options.epsilon = 0.5f;  // an option, which no file holds
  const auto text = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(loading, file.path); });
  CHECK(has(text, "the network answers its sample by up to "));
  CHECK(all_values(loaded) == before);
  tenon::get<1>(loaded.layers).options.epsilon = 1e-5f;
  nn::pass<decltype(net), shape<4, 3>> narrow(loaded);
  const auto unfit = tenon_test::text_of<tenon::file_error>([&] { tenon::train::load_state(narrow, file.path); });
  CHECK(has(unfit, "its sample does not fit the pass: "));
  CHECK(all_values(loaded) == before);
  CHECK(tenon::train::load_state(loading, file.path).unexpected.empty());
  CHECK(all_values(loaded) == state);
  auto third = make_network(5);
  tenon::train::load_state(third, file.path, {.run_sample = false});
  CHECK(all_values(third) == state);
}

TEMPLATE_LIST_TEST_CASE("a training goes on bit for bit from its checkpoint", "[checkpoint]", tenon_test::spaces) {
  const scratch_file file("training.safetensors");
  const auto make_optimizer = [] {
    return tenon::train::adam<TestType>({.lr = 0.1}, {{tenon::train::ends_with("bias"), {.amsgrad = true}}});
  };
  const auto step = [](auto& net, auto& optimizer, auto& average, auto& plateau, int number) {
    net.visit_parameters([&](const auto&, auto& parameter) {
      const auto seed = static_cast<std::uint64_t>(number * 100 + parameter.value.size());
      parameter.gradient = tenon::uniform<float>(parameter.value.shape(), seed, -1.0f, 1.0f);
    });
    plateau.observe(number);
    optimizer.schedule(plateau);
    optimizer.step(net);
    average.update(net);
  };
  auto net = make_network<TestType>(3), loaded = make_network<TestType>(4);
  auto optimizer = make_optimizer(), resumed = make_optimizer();
  tenon::train::average<TestType> average({.decay = 0.5}), resumed_average({.decay = 0.5});
  tenon::train::reduce_lr_on_plateau plateau({.factor = 0.5, .patience = 1}), resumed_plateau = plateau;
  for (int number = 1; number <= 3; ++number) step(net, optimizer, average, plateau, number);
  tenon::train::save_state(tenon::train::training(net, optimizer, average, plateau), file.path);

  tenon::train::training all(loaded, resumed, resumed_average, resumed_plateau);
  const auto differences = tenon::train::load_state(all, file.path);
  CHECK(differences.missing.empty());
  CHECK(resumed.steps() == 3);
  CHECK(resumed_average.updates() == 3);
  CHECK(plateau.reductions() == 1);
  CHECK(resumed_plateau.reductions() == 1);
  CHECK(all_values(loaded) == all_values(net));
  for (int number = 4; number <= 6; ++number) {
    step(net, optimizer, average, plateau, number);
    step(loaded, resumed, resumed_average, resumed_plateau, number);
  }
  CHECK(all_values(loaded) == all_values(net));
  average.copy_to(net), resumed_average.copy_to(loaded);
  CHECK(all_values(loaded) == all_values(net));
  const tenon::io::safetensors_file opened(file.path);
  CHECK(opened.contains("optim.0.weight.exp_avg"));
  CHECK(opened.contains("optim.2.bias.max_exp_avg_sq"));
  CHECK_FALSE(opened.contains("optim.2.weight.max_exp_avg_sq"));
  CHECK(opened.extents("optim.0.weight.exp_avg") == std::vector<tenon::index>{4, 3});
  CHECK(opened.contains("average.0.weight.average"));
  CHECK(opened.contains("plateau.best"));
}

TEMPLATE_LIST_TEST_CASE("a network of bytes is saved as bytes and scales, and needs no samples again", "[checkpoint]",
                        tenon_test::spaces) {
  using input = shape<dyn, 2, 4, 4>;
  const scratch_file file("checkpoint_bytes.safetensors");
  auto net = nn::sequential(nn::conv2d<2, 3, 3>{}, nn::relu{}, nn::flatten{}, nn::linear<12, 4>{}).to<TestType>();
  net.eval();
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(input(3, 2, 4, 4), 8, -1.0f, 1.0f));
  nn::calibration seen(nn::fuse(net), x.shape());
  seen.run(x.view());
  auto bytes = seen.quantised();
  tenon::train::save_state(bytes, file.path);
  const tenon::io::safetensors_file saved(file.path);
  CHECK(saved.names() == std::vector<std::string>{"0.scale", "1.bias", "1.scale", "1.weight", "3.scale", "5.bias",
                                                  "5.scale", "5.weight"});

  net.initialise(77);
  auto loaded = nn::quantised(nn::fuse(net));
  tenon::train::load_state(loaded, file.path);
  nn::inference first(bytes, x.shape()), second(loaded, x.shape());
  CHECK(numbers_of(second.run(x.view())) == numbers_of(first.run(x.view())));
}
