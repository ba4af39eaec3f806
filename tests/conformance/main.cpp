// tests/conformance/main.cpp: tenon_conformance DIR [--op NAME] [--family NAME] [--device NAME]
// Reads the command line and fills the tables.
// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "conformance/runner.hpp"

namespace {

using namespace conformance;

device_tables all_devices() {
  device_tables devices;
  add_arithmetic(devices);
  add_attention(devices);
  add_functions(devices);
  add_activation(devices);
  add_logical(devices);
  add_reduction(devices);
  add_softmax(devices);
  add_normalization(devices);
  add_loss(devices);
  add_dropout(devices);
  add_quantized(devices);
  add_scan(devices);
  add_indexing(devices);
  add_shape(devices);
  add_view(devices);
  add_cast(devices);
  add_matmul(devices);
  add_convolution(devices);
  add_pooling(devices);
  add_resampling(devices);
  add_generator(devices);
  add_recurrent(devices);
  add_optimizer(devices);
  return devices;
}

struct command {
  selection selected;
  std::string device;
};

/// Nothing when the command line makes no sense.
std::optional<command> parse(const std::vector<std::string>& words) {
  command result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_option = words[i].starts_with("--");
    if (is_option && i + 1 == words.size()) return std::nullopt;
    if (words[i] == "--op") result.selected.operation = words[++i];
    else if (words[i] == "--family") result.selected.family = words[++i];
    else if (words[i] == "--device") result.device = words[++i];
    else if (!is_option && result.selected.folder.empty()) result.selected.folder = words[i];
    else return std::nullopt;
  }
  return result.selected.folder.empty() ? std::nullopt : std::optional(result);
}

int run_command(command given) {
  const device_tables devices = all_devices();
  if (given.device.empty()) given.device = devices.contains("host") ? "host" : devices.begin()->first;
  const auto found = devices.find(given.device);
  if (found == devices.end()) {
    std::cerr << "tenon_conformance: no device " << given.device << " in this program\n";
    return 2;
  }
  return run(given.selected, found->second, std::cout).failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  const auto given = parse({words + 1, words + count});
  if (!given) {
    std::cerr << "usage: tenon_conformance DIR [--op NAME] [--family NAME] [--device host|emulated|cuda]\n";
    return 2;
  }
  try {
    return run_command(*given);
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 2;
  }
}
