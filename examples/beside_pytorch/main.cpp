// examples/beside_pytorch/main.cpp: trains six programs, and compares their losses with those of PyTorch.
// Ends with exit code 1 where a loss is further from PyTorch's than the tolerance.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>
#include <string>

#include "../command_line.hpp"
#include "losses.hpp"

std::vector<float> train_digits();
std::vector<float> train_text();
std::vector<float> train_rnn();
std::vector<float> train_lstm();
std::vector<float> train_resnet();
std::vector<float> train_unet();
std::vector<float> train_transformer();

namespace {

/// Relative; about ten times the largest `spread`.
constexpr double tolerance = 1e-5;

/// The greatest distance from PyTorch's losses, relative to these.
double distance(const std::vector<float>& losses, const std::vector<float>& others) {
  if (losses.size() != others.size()) return INFINITY;
  double greatest = 0;
  for (std::size_t i = 0; i < losses.size(); ++i) {
    const double other = static_cast<double>(others[i]), difference = std::abs(static_cast<double>(losses[i]) - other);
    greatest = std::isnan(difference) ? INFINITY : std::max(greatest, difference / other);
  }
  return greatest;
}

void print_losses(const char* name, const std::vector<float>& losses) {
  std::printf("  %-8s", name);
  for (const float loss : losses) std::printf(" %.6f", static_cast<double>(loss));
  std::printf("\n");
}

/// The program's exit code.
int compare_all() {
  const std::map<std::string, std::vector<float> (*)()> programs = {
      {"digits", train_digits}, {"text", train_text}, {"cells: RNN", train_rnn},         {"cells: LSTM", train_lstm},
      {"resnet", train_resnet}, {"unet", train_unet}, {"transformer", train_transformer}};
  bool agree = true;
  for (const auto& [name, spread, losses] : recorded_losses) {
    const std::vector<float> own = programs.at(name)();
    const double greatest = distance(own, losses);
    std::printf("%s: at most %.1e apart (PyTorch from a start one rounding away: %.1e)\n", name, greatest, spread);
    print_losses("PyTorch", losses);
    print_losses("Tenon", own);
    agree = agree && greatest <= tolerance;
  }
  std::printf("%s %.0e\n", agree ? "all losses agree to" : "losses are further apart than", tolerance);
  return agree ? 0 : 1;
}

}  // namespace

int main(int count, char** arguments) {
  return example::run_example("beside_pytorch", count, arguments, [](const std::vector<std::string_view>& given) {
    const example::command_line line(
        "beside_pytorch\n\nTrains six networks from PyTorch's start, and compares their losses with PyTorch's.");
    return line.parse(given) ? compare_all() : 0;
  });
}
