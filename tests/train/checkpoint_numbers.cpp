// tests/train/checkpoint_numbers.cpp: files whose numbers cannot be those of a training.
// They are refused before anything of them is taken: weights, positions and state stay.
// SPDX-License-Identifier: Apache-2.0
#include <limits>
#include <tenon/data/loader.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/early_stopping.hpp>
#include <tenon/train/loss_plot.hpp>
#include <tenon/train/plateau.hpp>
#include <tenon/train/position.hpp>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace {

namespace data = tenon::data;
namespace io = tenon::io;
namespace nn = tenon::nn;
namespace train = tenon::train;
using tenon_test::has;
using tenon_test::text_of;

struct twenty {
  using batch_type = std::vector<tenon::index>;
  tenon::index size() const { return 20; }
  batch_type make_batch(tenon::index n) const { return batch_type(static_cast<std::size_t>(n)); }
  void copy_example(tenon::index i, batch_type& batch, tenon::index place) const {
    batch[static_cast<std::size_t>(place)] = i;
  }
};

struct numbered_training {
  using network = decltype(nn::sequential(nn::linear<3, 2>{}, nn::batch_norm<2>{}));
  network net = nn::sequential(nn::linear<3, 2>{}, nn::batch_norm<2>{});
  twenty examples;
  data::loader<twenty> loader{examples, {.batch = 2, .seed = 3, .workers = 0}};
  train::adam<> optimizer{};
  train::loss_plot plot{};
  train::reduce_lr_on_plateau plateau{};
  train::early_stopping stopping{};
  train::position position{};
  train::training<network, data::loader<twenty>, train::adam<>, train::loss_plot, train::reduce_lr_on_plateau,
                  train::early_stopping, train::position>
      all{net, loader, optimizer, plot, plateau, stopping, position};

  explicit numbered_training(std::uint64_t seed) { net.initialise(seed); }
  std::string bits() {
    std::string found;
    nn::visit_state(all, [&]<class Value>(const std::string& name, Value& value) {
      if constexpr (tenon::is_number_of_state<Value>) {
        found += tenon::compose_text(name, +value, " ");
      } else {
        const auto own = value.template to<tenon::host>();
        found.append(reinterpret_cast<const char*>(own.data()),
                     static_cast<std::size_t>(own.size()) * sizeof(*own.data()));
      }
    });
    return found;
  }
};

/// A file of a training in which the number `name` is another one.
template <class Number>
void save_with(numbered_training& each, const std::filesystem::path& path, const std::string& name, Number number) {
  io::safetensors_writer writer;
  nn::visit_state(each.all, [&](const std::string& own, auto& value) {
    if (own == name) writer.add(own, tenon::tensor<Number, tenon::shape<>>(tenon::shape<>{}, {number}));
    else writer.add(own, train::detail::state_on_host(value));
  });
  writer.save(path);
}

template <class Number>
std::string refusal_of(const std::string& name, Number number) {
  const tenon_test::scratch_file file("numbers.safetensors");
  numbered_training saved(1), loaded(2);
  save_with(saved, file.path, name, number);
  loaded.loader.restore({4, 5, 6});
  const auto before = loaded.bits();
  const auto text = text_of<tenon::file_error>([&] { train::load_state(loaded.all, file.path); });
  CHECK(loaded.bits() == before);
  return text.substr(text.find(';') + 2);
}

constexpr std::int64_t greatest = std::numeric_limits<std::int64_t>::max();

}  // namespace

TEST_CASE("positions behind the end of an epoch are refused, and nothing is loaded", "[checkpoint_numbers]") {
  CHECK(refusal_of("data.position", std::int64_t{11}) == "data.position is 11, expected 0 to 10");
  CHECK(refusal_of("data.position", std::int64_t{-1}) == "data.position is -1, expected 0 to 10");
  CHECK(refusal_of("data.position", greatest) ==
        tenon::compose_text("data.position is ", greatest, ", expected 0 to 10"));
  CHECK(has(refusal_of("data.epoch", std::int64_t{-1}), "data.epoch is -1, expected 0 to "));
  CHECK(refusal_of("data.position", 3.0) == "data.position is a number of F64, expected a whole one");
}

TEST_CASE("counts that cannot be are refused, and nothing is loaded", "[checkpoint_numbers]") {
  CHECK(refusal_of("optim.step", std::int64_t{-1}) == "optim.step is -1, expected 0 to 2147483647");
  CHECK(refusal_of("optim.step", std::int64_t{1} << 31) == "optim.step is 2147483648, expected 0 to 2147483647");
  CHECK(refusal_of("plot.count", std::int64_t{512}) == "plot.count is 512, expected 0 to 511");
  CHECK(has(refusal_of("plot.stride", std::int64_t{0}), "plot.stride is 0, expected 1 to "));
  CHECK(has(refusal_of("plateau.reductions", std::int64_t{-1}), "plateau.reductions is -1, expected at least 0"));
  CHECK(has(refusal_of("early_stopping.bad_measures", std::int64_t{-1}), "bad_measures is -1, expected at least 0"));
  CHECK(has(refusal_of("position.batch", std::int64_t{-3}), "position.batch is -3, expected at least 0"));
}

TEST_CASE("learning rates that were set by hand go on", "[checkpoint_numbers]") {
  const tenon_test::scratch_file file("numbers.safetensors");
  auto net = nn::sequential(nn::linear<3, 2>{});
  net.initialise(1);
  const auto make = [] { return train::adam<>({.lr = 0.5}, {{train::ends_with("bias"), {.lr = 0.25}}}); };
  auto saved = make(), loaded = make();
  saved.options().lr = 1e-4, saved.options(1).lr = 0;
  train::save_state(train::training(net, saved), file.path);
  train::training all(net, loaded);
  train::load_state(all, file.path);
  CHECK(loaded.options().lr == 1e-4);
  CHECK(loaded.options(1).lr == 0);
  loaded.schedule([](double began, tenon::index) { return began; });  // of the rates that the program named
  CHECK(loaded.options(1).lr == 0.25);
  CHECK(has(refusal_of("optim.param_groups.0.lr", -0.5), "lr is -0.5, expected at least 0"));
}

TEST_CASE("a file that was saved without learning rates leaves them", "[checkpoint_numbers]") {
  const tenon_test::scratch_file file("numbers.safetensors");
  numbered_training saved(1), loaded(2);
  io::safetensors_writer writer;
  nn::visit_state(saved.all, [&](const std::string& name, auto& value) {
    if (!name.ends_with(".lr")) writer.add(name, train::detail::state_on_host(value));
  });
  writer.save(file.path);
  loaded.optimizer.options().lr = 0.5;
  const auto differences = train::load_state(loaded.all, file.path);
  CHECK(differences.missing.empty());
  CHECK(loaded.optimizer.options().lr == 0.5);
  loaded.optimizer.options().lr = saved.optimizer.options().lr;
  CHECK(loaded.bits() == saved.bits());
}

TEST_CASE("a file of the end of an epoch begins the next one", "[checkpoint_numbers]") {
  const tenon_test::scratch_file file("numbers.safetensors");
  numbered_training saved(1), loaded(2);
  for (const auto& batch : saved.loader.epoch(7)) CHECK(batch.size() == 2);
  train::save_state(saved.all, file.path);
  train::load_state(loaded.all, file.path);
  CHECK(loaded.loader.state() == data::loader_state{8, 0, 3});
  save_with(saved, file.path, "data.position", std::int64_t{10});  // of epoch 8: an older version wrote that
  train::load_state(loaded.all, file.path);
  CHECK(loaded.loader.state() == data::loader_state{9, 0, 3});
  CHECK(loaded.bits() != saved.bits());
}
