// tests/golden/main.cpp: tenon_golden DIR [--family NAME] [--case NAME] [--device NAME]
// Runs the cases of a folder and tells, family by family, how many passed, failed and were skipped.
// SPDX-License-Identifier: Apache-2.0
#include <iostream>

#include "golden/cases.hpp"

namespace {

using namespace golden;

device_tables all_devices() {
  device_tables devices;
  add_activation(devices);
  add_attention(devices);
  add_convolution(devices);
  add_embedding(devices);
  add_linear(devices);
  add_loss(devices);
  add_network(devices);
  add_normalization(devices);
  add_optimizer(devices);
  add_padding(devices);
  add_pooling(devices);
  add_recurrent(devices);
  add_resampling(devices);
  return devices;
}

struct summary {
  int passed = 0, failed = 0, skipped = 0;
};

/// The first difference between tensors of a kind; empty when there is none.
std::string difference(const char* kind, const array_table& actual, const array_table& expected,
                       const tolerance_table& tolerances) {
  for (const auto& [name, wanted] : expected) {
    const auto found = actual.find(name);
    const std::string text = found == actual.end() ? "absent" : golden::difference(found->second, wanted, tolerances);
    if (!text.empty()) return std::string(kind) + " " + name + ": " + text;
  }
  return {};
}

std::string complaint_about(const golden_case& given, const layer& apply, const tolerance_table& tolerances) {
  const result actual = apply(given);
  std::string text = difference("output", actual.outputs, given.outputs, tolerances);
  if (text.empty()) text = difference("buffer", actual.buffers_after, given.buffers_after, tolerances);
  if (text.empty()) text = difference("gradient", actual.gradients, given.gradients, tolerances);
  if (text.empty()) text = difference("parameter", actual.parameters_after, given.parameters_after, tolerances);
  if (text.empty()) text = difference("later output", actual.outputs_after, given.outputs_after, tolerances);
  return text;
}

/// Runs a case and counts it; what is not as it should be is printed.
void run_case(const std::filesystem::path& folder, const layer_table& layers, const tolerance_table& tolerances,
              summary& counts) {
  const golden_case given = read_golden_case(folder);
  const auto tell = [&](const char* what, const std::string& text, int& count) {
    std::cout << given.name << " (" << given.layer << "): " << what << text << '\n';
    ++count;
  };
  const auto found = layers.find(given.layer);
  if (found == layers.end()) return tell("skipped: ", "no such layer in the table", counts.skipped);
  try {
    const std::string text = complaint_about(given, found->second, tolerances);
    text.empty() ? static_cast<void>(++counts.passed) : tell("", text, counts.failed);
  } catch (const not_supported& thrown) {
    tell("skipped: ", thrown.what(), counts.skipped);
  } catch (const std::exception& thrown) {
    tell("", thrown.what(), counts.failed);
  }
}

struct command {
  std::filesystem::path folder;
  std::string family, name, device;
};

/// Nothing when the command line makes no sense.
std::optional<command> parse(const std::vector<std::string>& words) {
  command result;
  for (std::size_t i = 0; i < words.size(); ++i) {
    const bool is_option = words[i].starts_with("--");
    if (is_option && i + 1 == words.size()) return std::nullopt;
    if (words[i] == "--family") result.family = words[++i];
    else if (words[i] == "--case") result.name = words[++i];
    else if (words[i] == "--device") result.device = words[++i];
    else if (!is_option && result.folder.empty()) result.folder = words[i];
    else return std::nullopt;
  }
  return result.folder.empty() ? std::nullopt : std::optional(result);
}

int run_command(command given) {
  const device_tables devices = all_devices();
  if (given.device.empty()) given.device = devices.begin()->first;
  const auto device = devices.find(given.device);
  if (device == devices.end()) {
    std::cerr << "tenon_golden: no device " << given.device << " in this program\n";
    return 2;
  }
  const auto cases = read_case_list(given.folder);
  std::map<std::string, summary> families;
  for (const auto& entry : cases.entries) {
    const bool is_selected =
        (given.family.empty() || given.family == entry.family) && (given.name.empty() || given.name == entry.name);
    const auto& allowed = cases.tolerances.at(entry.operation == "train" ? "train" : "layer");
    const tolerance_table tolerances{{"float32", allowed}};
    if (is_selected) run_case(given.folder / entry.name, device->second, tolerances, families[entry.family]);
  }
  int failed = 0;
  for (const auto& [family, counts] : families) {
    std::cout << family << ": " << counts.passed << " passed, " << counts.failed << " failed, " << counts.skipped
              << " skipped\n";
    failed += counts.failed;
  }
  return failed == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  const auto given = parse({words + 1, words + count});
  if (!given) {
    std::cerr << "usage: tenon_golden DIR [--family NAME] [--case NAME] [--device host|emulated|cuda]\n";
    return 2;
  }
  try {
    return run_command(*given);
  } catch (const std::exception& thrown) {
    std::cerr << thrown.what() << '\n';
    return 2;
  }
}
