// tests/portability/standard_library.cpp: what hangs on the standard library, built with another one than g++'s.
// Numbers as text, threads, files and formats; a process of its own, so that no test needs two libraries.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>
#include <numeric>
#include <sstream>
#include <string>
#include <tenon/io/csv.hpp>
#include <tenon/io/print.hpp>
#include <tenon/train.hpp>
#include <vector>

namespace {

namespace tn = tenon;
namespace nn = tenon::nn;

int failures = 0;

void check(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "standard_library: %s\n", what);
  ++failures;
}

void check_texts(const std::string& folder) {
  const tn::tensor<float, tn::rank<2>> x = {{0.1f, 2}, {-0.01f, 1.0f / 3}};
  std::ostringstream text;
  text << x;
  check(text.str() == "[[ 0.1         2.        ]\n [-0.01        0.33333334]]", "a tensor is printed by its digits");
  std::ofstream(folder + "/table.csv") << "a,b\n1.5,-2e-3\n+3,inf\n";
  const auto table = tn::io::csv_table(folder + "/table.csv");
  const tn::tensor<float, tn::rank<1>> a = {1.5f, 3};
  check(tn::all(table.column<float>("a") == a), "a table's numbers are read");
  check(table.column<float>("b")(0) == -2e-3f, "an exponent is read");
  try {
    tn::io::csv_table(folder + "/absent.csv");
    check(false, "a file that is not there is refused");
  } catch (const tn::file_error&) {
  }
}

struct classifier : nn::module<classifier> {
  nn::linear<2, 8> first;
  nn::linear<8, 2> head;
  auto forward(const auto& x) { return head(nn::relu{}(first(x))); }
};

void check_training(const std::string& folder) {
  const tn::index count = 96;
  tn::tensor<float, tn::rank<2>> points = tn::normal<float>({count, 2}, 1);
  tn::tensor<tn::index, tn::rank<1>> labels({count});
  for (tn::index i = 0; i < count; ++i) labels(i) = points(i, 0) > points(i, 1) ? 1 : 0;
  const tn::data::tensor_dataset examples(points, labels);
  tn::data::loader batches(examples, {.batch = 32, .shuffle = true, .seed = 3, .workers = 2});
  classifier net;
  net.initialise(1);
  tn::train::adamw optimizer(net, {.lr = 3e-2});
  float loss = 0;
  for (tn::index epoch = 0; epoch < 20; ++epoch) {
    for (const auto& [x, y] : batches.epoch(epoch)) {
      loss = optimizer.step([&] { return tn::mean(nn::cross_entropy(net(x), y)); });
    }
  }
  check(loss < 0.3f, "a network learns from batches that threads make");
  tn::train::save_state(net, folder + "/net.safetensors");
  classifier again;
  tn::train::load_state(again, folder + "/net.safetensors");
  check(tn::all(again.head.weight == net.head.weight), "weights are saved and loaded");
}

void check_ranks() {
  std::vector<float> sums(3);
  tn::distributed::run_in_threads(3, [&](auto& all) {
    float value = static_cast<float>(all.rank() + 1);
    auto sum = all.start_sum(&value, 1);
    all.wait(sum);
    sums[static_cast<std::size_t>(all.rank())] = value;
  });
  check(sums == std::vector<float>{6, 6, 6}, "ranks add up");
}

}  // namespace

int main(int count, char** arguments) {
  const std::string folder = count > 1 ? arguments[1] : ".";
  check_texts(folder);
  check_training(folder);
  check_ranks();
  return failures == 0 ? 0 : 1;
}
