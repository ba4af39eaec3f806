// tests/fault_injection/files.cpp: files that cannot be written, or read for want of memory.
// The old file is whole, nothing lies beside it, and what a file is loaded into is as it was.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <memory>
#include <tenon/data/loader.hpp>
#include <tenon/data/tensor_dataset.hpp>
#include <tenon/io/csv.hpp>
#include <tenon/io/npz.hpp>
#include <tenon/io/write_png.hpp>
#include <tenon/nn/batch_norm.hpp>
#include <tenon/nn/dropout.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/adam.hpp>
#include <tenon/train/average.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/csv_log.hpp>
#include <tenon/train/early_stopping.hpp>
#include <tenon/train/loss_plot.hpp>
#include <tenon/train/plateau.hpp>
#include <tenon/train/position.hpp>
#include <tenon/train/tensorboard_log.hpp>

#include "support/catch.hpp"
#include "support/faults.hpp"
#include "support/scratch_file.hpp"

namespace {

namespace io = tenon::io;
namespace nn = tenon::nn;
namespace train = tenon::train;
using tenon::rank;
using tenon_test::attack;
using tenon_test::bits_of;

/// A folder of its own, gone at the end; in memory where the machine has a folder for that, as disks take their time.
struct file_folder : tenon_test::scratch_file {
  explicit file_folder(const std::string& name) : scratch_file(name) {
    const std::filesystem::path memory = "/dev/shm";
    if (std::filesystem::exists(memory)) path = memory / path.filename();
    std::filesystem::remove_all(path);
    std::filesystem::create_directory(path);
  }
  ~file_folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path, ignored);
  }
  /// Names and bytes of all files.
  std::string content() const {
    std::vector<std::string> files;
    for (const auto& each : std::filesystem::directory_iterator(path)) {
      const auto bytes = io::read_bytes("test", each.path());
      files.push_back(each.path().filename().string() + ": " + std::string(bytes.begin(), bytes.end()) + "\n");
    }
    std::sort(files.begin(), files.end());
    std::string all;
    for (const auto& each : files) all += each;
    return all;
  }
};

/// The events of all logs in a folder, each record whole, without the times at which they were written.
std::string events_in(const file_folder& folder) {
  std::vector<std::string> logs;
  for (const auto& each : std::filesystem::directory_iterator(folder.path)) {
    auto bytes = io::read_bytes("test", each.path());
    std::string events = "log\n";
    for (std::size_t at = 0; at < bytes.size();) {
      const std::span rest = std::span(bytes).subspan(at);
      const std::uint64_t length = rest.size() < 12 ? rest.size() : io::little_endian<8>(rest);
      if (rest.size() < 16 + length) return "a part of a record";
      constexpr std::size_t time = 9;  // a key and a double, the first field
      events.append(rest.begin() + 12 + time, rest.begin() + 12 + static_cast<std::ptrdiff_t>(length));
      events += '\n', at += 16 + static_cast<std::size_t>(length);
    }
    logs.push_back(events);
  }
  std::sort(logs.begin(), logs.end());
  std::string all;
  for (const auto& each : logs) all += each;
  return all;
}

tenon::tensor<float, rank<2>> drawn(std::uint64_t seed) {
  return tenon::tensor<float, rank<2>>(tenon::uniform<float>(rank<2>(11, 3), seed, -1.0f, 1.0f));
}

/// All that a training remembers.
struct trainee {
  using network =
      decltype(nn::sequential(nn::linear<3, 5>{}, nn::batch_norm<5>{}, nn::dropout(0.5), nn::linear<5, 2>{}));
  using examples = tenon::data::tensor_dataset<tenon::tensor<float, rank<2>>>;
  network net = nn::sequential(nn::linear<3, 5>{}, nn::batch_norm<5>{}, nn::dropout(0.5), nn::linear<5, 2>{});
  examples set{drawn(1)};
  train::adam<> optimizer{};
  train::average<> average{};
  train::reduce_lr_on_plateau plateau{};
  train::early_stopping stopping{};
  train::position position{.seed = 4};
  train::loss_plot plot{};
  tenon::data::loader<examples> loader{set, {.batch = 2, .shuffle = true, .workers = 0}};
  train::training<network, train::adam<>, train::average<>, train::reduce_lr_on_plateau, train::early_stopping,
                  train::position, train::loss_plot, tenon::data::loader<examples>>
      all{net, optimizer, average, plateau, stopping, position, plot, loader};

  /// Trains, so that everything moves; what the optimizers keep is allocated.
  explicit trainee(int steps) {
    nn::pass<network, tenon::shape<tenon::dyn, 3>> pass(net);
    const auto x = tenon::tensor<float, tenon::shape<tenon::dyn, 3>>(drawn(2));
    for (int step = 0; step < steps; ++step) {
      const auto y = pass.forward(x.view());
      pass.backward(x.view(), y * 2.0f);
      optimizer.step(net), average.update(net);
      plateau.observe(step), stopping.observe(step), plot.add(step), position.advance(5);
      for (const auto& batch : loader.epoch(step)) {
        if (std::get<0>(batch).extent(0) == 2 && loader.state().position == 3) break;
      }
    }
  }
  std::string bits() {
    std::string found;
    nn::visit_state(all, [&]<class Value>(const std::string&, Value& value) {
      if constexpr (tenon::is_number_of_state<Value>) found += bits_of(+value);
      else found += bits_of(value.template to<tenon::host>());
    });
    return found;
  }
};

/// A folder that is made anew for each attack, with an old file in it.
struct written {
  file_folder folder{"faults_written"};
  std::filesystem::path path = folder.path / "file";

  written() {
    const std::uint8_t old[] = {1, 2, 3};
    const std::span<const std::uint8_t> parts[] = {old};
    io::write_bytes("test", path, parts);
  }
};
template <class Write>
bool write_holds(const char* name, const Write& write) {
  return attack(
             name, [] { return std::make_unique<written>(); }, write, [](written& all) { return all.folder.content(); })
      .is_good();
}

}  // namespace

TEST_CASE("a file that cannot be written is the old one", "[files]") {
  const auto x = drawn(3);
  trainee trained(2);
  CHECK(write_holds("write_npy", [&](written& all) { io::write_npy(all.path, x); }));
  const io::image pixels({1, 2, 3}, {1, 2, 3, 4, 5, 6});
  CHECK(write_holds("write_png", [&](written& all) { io::write_png(all.path, pixels); }));
  CHECK(write_holds("write_npz", [&](written& all) {
    io::npz_writer writer;
    writer.add("x", x);
    writer.save(all.path);
  }));
  CHECK(write_holds("safetensors", [&](written& all) {
    io::safetensors_writer writer;
    writer.add("x", x), writer.add("a tensor with a long name", x);
    writer.save(all.path);
  }));
  CHECK(write_holds("checkpoint of a training", [&](written& all) { train::save_state(trained.all, all.path); }));
  CHECK(write_holds("csv_log: a new one", [&](written& all) { train::csv_log(all.path, {"loss"}); }));
}

TEST_CASE("a log of rows that cannot go on is the old one", "[files]") {
  struct logged {
    file_folder folder{"faults_csv_log"};
    std::filesystem::path path = folder.path / "log";
    logged() {
      train::csv_log log(path, {"loss", "lr"});
      for (int step = 0; step < 20; ++step) log.add(step, {1.0 / (1 + step), 0.1});
    }
  };
  const auto make = [] { return std::make_unique<logged>(); };
  const auto content = [](logged& all) { return all.folder.content(); };
  CHECK(
      attack(
          "csv_log: one that goes on", make, [](logged& all) { train::csv_log(all.path, {"loss", "lr"}, 12); }, content)
          .is_good());
  CHECK(attack(
            "csv_log: one that goes on, its row", make,
            [](logged& all) {
              train::csv_log log(all.path, {"loss", "lr"}, 20);
              log.add(20, {0.5, 0.25}), log.flush();
            },
            content)
            .is_good());
}

TEST_CASE("events that cannot be written leave whole ones, and no file that has none", "[files]") {
  struct logging {
    file_folder folder{"faults_events"};
    std::unique_ptr<train::tensorboard_log> log;
  };
  const auto make = [] { return std::make_unique<logging>(); };
  const auto make_begun = [&] {
    auto all = make();
    all->log = std::make_unique<train::tensorboard_log>(all->folder.path);
    all->log->add("loss", 1, 0.5);
    return all;
  };
  const auto events = [](logging& all) { return events_in(all.folder); };
  CHECK(attack(
            "tensorboard_log: a new one", make, [](logging& all) { train::tensorboard_log(all.folder.path); }, events)
            .is_good());
  CHECK(attack(
            "tensorboard_log: one that goes on", make_begun,
            [](logging& all) { train::tensorboard_log(all.folder.path, 7); }, events)
            .is_good());
  CHECK(attack(
            "tensorboard_log: a number", make_begun,
            [](logging& all) { all.log->add("a tag that lies in no string itself", 2, 0.25); }, events)
            .is_good());
}

TEST_CASE("rows and plots that cannot be written leave whole ones", "[files]") {
  struct logging {
    file_folder folder{"faults_logged"};
    train::csv_log log{folder.path / "log", {"loss", "lr"}};
    train::loss_plot plot{folder.path / "plot", 1e9};
    logging() { log.add(0, {1, 2}), plot.add(1), plot.draw(); }
  };
  const auto make = [] { return std::make_unique<logging>(); };
  const auto content = [](logging& all) { return all.folder.content(); };
  CHECK(attack("csv_log: a row", make, [](logging& all) { all.log.add(1, {3, 4}); }, content).is_good());
  CHECK(attack("loss_plot: a picture", make, [](logging& all) { all.plot.draw(); }, content).is_good());
}

TEST_CASE("what a file is loaded into is as it was, or as the file is", "[files]") {
  const file_folder folder("faults_loaded");
  const auto path = folder.path / "file";
  trainee saved(3);
  train::save_state(saved.all, path);
  CHECK(attack(
            "load_state of a training", [] { return std::make_unique<trainee>(2); },
            [&](trainee& each) { train::load_state(each.all, path); }, [](trainee& each) { return each.bits(); })
            .is_good());
  trainee loaded(1);
  train::load_state(loaded.all, path);
  CHECK(loaded.bits() == saved.bits());

  io::write_npy(path, drawn(3));
  struct array {
    tenon::tensor<float, rank<2>> x;
  };
  CHECK(attack(
            "read_npy", [] { return std::make_unique<array>(); },
            [&](array& all) { all.x = io::read_npy<float, 2>(path); }, [](array& all) { return bits_of(all.x); })
            .is_good());
}

TEST_CASE("a table that cannot be read leaves what was read before", "[files]") {
  const tenon_test::scratch_file file("faults_table");
  file.write(
      tenon_test::bytes_of("width,length,the name of a species\n1.5,2,\"one, in quotes, of two\"\n"
                           "3,1e-400,another one of two\n-4,5,another one of two\n"));
  struct table {
    tenon::tensor<float, rank<2>> numbers;
    io::csv_classes classes;
    std::vector<std::string> texts;
  };
  const auto bits = [](table& all) {
    std::string found = bits_of(all.numbers) + bits_of(all.classes.labels);
    for (const auto* each : {&all.classes.names, &all.texts}) {
      for (const auto& text : *each) found += text + "\n";
    }
    return found;
  };
  CHECK(attack(
            "csv_table", [] { return std::make_unique<table>(); },
            [&](table& all) {
              const io::csv_table read(file.path);
              const std::string name = read.names()[2];
              all = {read.columns<float>({"width", "length"}), read.classes(name), read.texts(name)};
            },
            bits)
            .is_good());
}
