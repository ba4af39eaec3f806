// tests/train/checkpoint_misfits.cpp: files of a training that is another one, though all of its names are there.
// They are refused by a sentence with both names, strict or not, and nothing is loaded.
// SPDX-License-Identifier: Apache-2.0
#include <set>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/adagrad.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/adamax.hpp>
#include <tenon/train/average.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/early_stopping.hpp>
#include <tenon/train/lamb.hpp>
#include <tenon/train/lion.hpp>
#include <tenon/train/nadam.hpp>
#include <tenon/train/plateau.hpp>
#include <tenon/train/radam.hpp>
#include <tenon/train/rmsprop.hpp>
#include <tenon/train/sgd.hpp>

#include "support/elements.hpp"
#include "support/scratch_file.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace misfits {

namespace io = tenon::io;
namespace nn = tenon::nn;
namespace train = tenon::train;
using tenon_test::has;
using tenon_test::scratch_file;
using tenon_test::text_of;

template <class Space = tenon::host>
auto make_network(std::uint64_t seed) {
  auto net = nn::sequential(nn::linear<3, 4>{}, nn::linear<4, 2>{});
  net.initialise(seed);
  return net.template to<Space>();
}
using network = decltype(make_network(0));

template <class Network>
void take_steps(Network& net, auto& optimizer, int count) {
  for (int step = 0; step < count; ++step) {
    net.visit_parameters([&](const auto&, auto& parameter) { parameter.gradient = parameter.value * 0.5f; });
    optimizer.step(net);
  }
}

/// All that a training remembers, as bytes.
std::string bits_of(auto&& all) {
  std::string found;
  nn::visit_state(all, [&](const std::string&, auto& value) {
    const auto own = train::detail::state_on_host(value);
    found.append(reinterpret_cast<const char*>(own.data()), static_cast<std::size_t>(own.size()) * sizeof(*own.data()));
  });
  return found;
}

/// Writes a file as older versions did: without the entries whose names end so.
void save_without(auto&& all, const std::filesystem::path& path, const std::vector<std::string>& ends) {
  io::safetensors_writer writer;
  nn::visit_state(all, [&](const std::string& name, auto& value) {
    for (const auto& end : ends) {
      if (name.ends_with(end)) return;
    }
    writer.add(name, train::detail::state_on_host(value));
  });
  writer.save(path);
}

/// Why a file is refused by a network and what is trained with it, which it leaves as they are.
std::string refusal_of(const std::filesystem::path& path, network& net, auto&... parts) {
  train::training all(net, parts...);
  const auto before = bits_of(all);
  std::string found;
  for (const bool is_strict : {true, false}) {
    found = text_of<tenon::file_error>([&] { train::load_state(all, path, {.strict = is_strict}); });
    CHECK(bits_of(all) == before);
  }
  return found.substr(found.find(';') + 2);
}

TEST_CASE("an optimizer refuses the file of another one that keeps the same", "[checkpoint_misfits]") {
  const scratch_file file("misfits.safetensors");
  auto net = make_network(1), loaded = make_network(2);
  train::adamw<> saved;
  take_steps(net, saved, 3);
  train::save_state(train::training(net, saved), file.path);
  train::adam<> adam;
  train::lamb<> lamb;
  train::sgd<> sgd;
  CHECK(refusal_of(file.path, loaded, adam) == "optim.name is adamw, expected adam");
  CHECK(refusal_of(file.path, loaded, lamb) == "optim.name is adamw, expected lamb");
  CHECK(refusal_of(file.path, loaded, sgd) == "optim.name is adamw, expected sgd");

  train::adamw<> other({.lr = 0.5, .weight_decay = 0.25});  // which programs may change
  train::training all(loaded, other);
  CHECK(train::load_state(all, file.path).missing.empty());
  CHECK(bits_of(all) == bits_of(train::training(net, saved)));

  save_without(train::training(net, saved), file.path, {".name", ".size"});  // an older version did
  train::training older(loaded, adam);
  CHECK(train::load_state(older, file.path).missing.empty());
  CHECK(adam.steps() == 3);
}

TEST_CASE("every optimizer has a name of its own", "[checkpoint_misfits]") {
  const std::set<std::string> names{
      train::adagrad_options::name, train::adadelta_options::name, train::adam_options::name,
      train::adamw_options::name,   train::lamb_options::name,     train::lion_options::name,
      train::rmsprop_options::name, train::sgd_options::name,      train::nadam_options::name,
      train::radam_options::name,   train::adamax_options::name};
  CHECK(names.size() == 11);
}

TEST_CASE("a name in a file that is no name is refused", "[checkpoint_misfits]") {
  const scratch_file file("misfits.safetensors");
  auto net = make_network(1);
  train::sgd<> optimizer;
  const auto refusal = [&](const auto& name) {
    io::safetensors_writer writer;
    train::training all(net, optimizer);
    nn::visit_state(all, [&](const std::string& own, auto& value) {
      if (own == "optim.name") writer.add(own, name);
      else writer.add(own, train::detail::state_on_host(value));
    });
    writer.save(file.path);
    return refusal_of(file.path, net, optimizer);
  };
  using bytes = tenon::tensor<std::uint8_t, tenon::rank<1>>;
  CHECK(refusal(tenon::tensor<float, tenon::shape<3>>({3}, {1, 2, 3})) ==
        "optim.name has extents [3] of F32, expected sgd");
  CHECK(refusal(tenon::tensor<std::uint8_t, tenon::shape<>>(tenon::shape<>{}, {1})) ==
        "optim.name has extents [] of U8, expected sgd");
  CHECK(refusal(bytes({1000})) == "optim.name has extents [1000] of U8, expected sgd");
  CHECK(refusal(bytes({3}, {'s', 'g', 'b'})) == "optim.name is sgb, expected sgd");
}

TEST_CASE("groups of parameters are those of the file", "[checkpoint_misfits]") {
  const scratch_file file("misfits.safetensors");
  auto net = make_network(1);
  using groups = std::vector<train::parameter_group<train::sgd_options>>;
  train::sgd<> one({.lr = 0.5}), two({.lr = 0.5}, groups{{train::ends_with("bias"), {.lr = 0.25}}});
  train::sgd<> others({.lr = 0.5}, groups{{train::begins_with("1.bias"), {.lr = 0.25}}});
  train::save_state(train::training(net, one), file.path);
  CHECK(refusal_of(file.path, net, two) == "optim.param_groups.0.size is 4, expected 2");
  train::save_state(train::training(net, two), file.path);
  CHECK(refusal_of(file.path, net, one) == "optim.param_groups.0.size is 2, expected 4");
  CHECK(refusal_of(file.path, net, others) ==
        "optim.param_groups.0.size is 2, expected 3; optim.param_groups.1.size is 2, expected 1");
}

TEMPLATE_LIST_TEST_CASE("an optimizer's state goes with the network that it was made with", "[checkpoint_misfits]",
                        tenon_test::spaces) {
  const scratch_file file("misfits.safetensors");
  auto net = make_network<TestType>(1), copy = net;
  train::adam<TestType> optimizer(net), free;
  take_steps(net, optimizer, 2), take_steps(net, free, 2);
  train::training right(net, optimizer), wrong(copy, optimizer);
  const auto before = bits_of(right);
  const std::string refused =
      "optimizer: its state is that of the network that it was made with; this is another one, or a copy";
  CHECK(text_of<tenon::error>([&] { train::save_state(wrong, file.path); }) == refused);
  CHECK_FALSE(std::filesystem::exists(file.path));
  train::save_state(train::training(copy, free), file.path);  // which was made with none
  CHECK(text_of<tenon::error>([&] { train::load_state(wrong, file.path); }) == refused);
  CHECK(bits_of(right) == before);
  train::load_state(right, file.path);

  auto fewer = nn::sequential(nn::linear<3, 4>{}.template to<TestType>());
  CHECK(text_of<tenon::error>([&] { train::save_state(train::training(fewer, optimizer), file.path); }) == refused);
  take_steps(net, optimizer, 1);  // goes on
  CHECK(optimizer.steps() == 3);
}

TEST_CASE("a view of a network by other names has its optimizer", "[checkpoint_misfits]") {
  const scratch_file file("misfits.safetensors");
  auto net = make_network(1);
  train::sgd<> optimizer(net, {.momentum = 0.5}, {{train::begins_with("0."), {.lr = 0.25, .momentum = 0.5}}});
  auto named = nn::with_names(net, {{"0", "first"}, {"1", "second"}});
  train::training all(named, optimizer);
  train::save_state(all, file.path);
  const io::safetensors_file saved(file.path);
  CHECK(saved.contains("optim.first.weight.momentum_buffer"));
  std::int64_t size = 0;
  nn::visit_state(all, [&]<class Value>(const std::string& name, Value& value) {
    if constexpr (tenon::is_kept_number<Value>) size = name == "optim.param_groups.1.size" ? std::int64_t(value) : size;
  });
  CHECK(size == 2);  // of those that begin with 0
  train::load_state(all, file.path);
}

TEST_CASE("parts of one kind are numbered", "[checkpoint_misfits]") {
  const scratch_file file("misfits.safetensors");
  auto net = make_network(1), loaded = make_network(2);
  train::average<> slow({.decay = 0.75}), fast({.decay = 0.25}), slow_again, fast_again;
  train::early_stopping first, second, first_again, second_again;
  slow.update(net), fast.update(net), fast.update(net);
  first.observe(0.5), second.observe(0.25);
  train::save_state(train::training(net, slow, fast, first, second), file.path);
  train::training all(loaded, slow_again, fast_again, first_again, second_again);
  train::load_state(all, file.path);
  CHECK(slow_again.updates() == 1);
  CHECK(fast_again.updates() == 2);
  CHECK(first_again.best() == 0.5);
  CHECK(second_again.best() == 0.25);
  const io::safetensors_file saved(file.path);
  CHECK(saved.contains("average.0.weight.average"));
  CHECK(saved.contains("average2.0.weight.average"));
  CHECK(saved.contains("early_stopping2.best"));
  train::training fewer(loaded, slow_again, first_again);
  CHECK(has(text_of<tenon::file_error>([&] { train::load_state(fewer, file.path); }),
            "; average2.0.bias.average is unexpected; "));
}

TEST_CASE("a measure that was better when less is not better when greater", "[checkpoint_misfits]") {
  const scratch_file file("misfits.safetensors");
  auto net = make_network(1);
  train::early_stopping least, greatest({.mode = train::better::max});
  train::reduce_lr_on_plateau least_rate, greatest_rate({.mode = train::better::max});
  least.observe(0.5), least_rate.observe(0.5);
  train::save_state(train::training(net, least, least_rate), file.path);
  CHECK(refusal_of(file.path, net, greatest, greatest_rate) ==
        "early_stopping.mode is min, expected max; plateau.mode is min, expected max");
  save_without(train::training(net, least, least_rate), file.path, {".mode"});  // an older version did
  train::training older(net, greatest, least_rate);
  CHECK(train::load_state(older, file.path).missing.empty());
}

}  // namespace misfits
