// tests/portability/forward.cpp: the same statements and networks, for other processors than the one that builds.
// usage: forward --write FILE      writes what comes out
//        forward --compare FILE    compares what comes out with what another build wrote
// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <cstdio>
#include <fstream>
#include <sstream>
#include <string>
#include <tenon/tenon.hpp>
#include <vector>

namespace tn = tenon;
namespace nn = tenon::nn;

namespace {

struct images_to_classes : nn::module<images_to_classes> {
  nn::conv2d<1, 8, 3, {.padding = 1}> first;
  nn::batch_norm<8> norm;
  nn::max_pool2d<2> pool;
  nn::linear<8 * 6 * 6, 10> head;
  auto forward(const auto& x) { return head(nn::flatten{}(pool(tn::relu(norm(first(x)))))); }
};

struct sequences_to_numbers : nn::module<sequences_to_numbers> {
  nn::lstm<5, 19> lstm;
  nn::linear<19, 3> head;
  auto forward(const auto& x) { return head(lstm(x).sequence); }
};

struct outcome {
  std::string name;
  std::vector<double> numbers;
};

template <class Values>
outcome named(const char* name, const Values& values) {
  const auto all = tn::evaluated_tensor(values);
  outcome result{name, {}};
  for (tn::index i = 0; i < all.size(); ++i) result.numbers.push_back(static_cast<double>(all.data()[i]));
  return result;
}

std::vector<outcome> outcomes() {
  const tn::no_grad testing;
  const tn::tensor<float, tn::rank<2>> a = tn::uniform<float>({37, 45}, 1, -1.0f, 1.0f);
  const tn::tensor<float, tn::rank<2>> b = tn::uniform<float>({45, 29}, 2, -1.0f, 1.0f);
  const tn::tensor<float, tn::rank<1>> bias = tn::uniform<float>({29}, 3);
  const tn::tensor<float, tn::rank<4>> images = tn::uniform<float>(tn::rank<4>(2, 1, 12, 12), 5);
  const tn::tensor<float, tn::rank<3>> sequences = tn::uniform<float>(tn::rank<3>(7, 2, 5), 6, -1.0f, 1.0f);
  const tn::tensor<float, tn::shape<4, 4>> pose = tn::reshape(tn::slice(a, tn::only(0), tn::range(0, 16)), {4, 4});
  images_to_classes classes;
  classes.initialise(1);
  classes.eval();
  sequences_to_numbers numbers;
  numbers.initialise(2);
  return {named("product", tn::relu(tn::matmul(a, b) + bias)),
          named("product of halves", tn::matmul(tn::cast<tn::half>(a), tn::cast<tn::half>(b))),
          named("product in place", tn::matmul(pose, tn::transpose(pose))),
          named("softmax", tn::softmax(a, tn::axis<1>)),
          named("functions", tn::tanh(a) * tn::exp(-a * a) + tn::log1p(tn::abs(a)) + tn::erf(a)),
          named("places", tn::argsort(a, tn::axis<1>)),
          named("convolutional network", classes(images)),
          named("recurrent network", numbers(sequences))};
}

int write(const char* path) {
  std::ofstream file(path);
  file.precision(17);
  for (const auto& each : outcomes()) {
    file << each.name << ":";
    for (const double number : each.numbers) file << " " << number;
    file << "\n";
  }
  return file.good() ? 0 : 1;
}

int compare(const char* path) {
  std::ifstream file(path);
  int failures = 0;
  for (const auto& each : outcomes()) {
    std::string line;
    std::getline(file, line);
    std::istringstream there(line.substr(line.find(':') + 1));
    std::vector<double> expected;
    for (double number = 0; there >> number;) expected.push_back(number);
    double difference = expected.size() == each.numbers.size() ? 0 : INFINITY;
    for (std::size_t i = 0; i < expected.size() && std::isfinite(difference); ++i) {
      difference = std::fmax(difference, std::fabs(expected[i] - each.numbers[i]));
    }
    const bool holds = !each.numbers.empty() && difference <= 1e-5;
    std::printf("%s: %zu numbers, greatest difference %g%s\n", each.name.c_str(), each.numbers.size(), difference,
                holds ? "" : ": too much");
    failures += holds ? 0 : 1;
  }
  return failures;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string mode = count == 3 ? arguments[1] : "";
  if (mode == "--write") return write(arguments[2]);
  if (mode == "--compare") return compare(arguments[2]);
  return std::puts("usage: forward --write FILE | --compare FILE"), 2;
}
