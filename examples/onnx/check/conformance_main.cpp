// examples/onnx/check/conformance_main.cpp: runs the cases of a family, or of all, and says which fail or were refused.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>

#include "conformance_run.hpp"

int main(int count, char** arguments) {
  if (count != 3 && count != 4) {
    std::fprintf(stderr, "usage: tenon_onnx_conformance CASES HEADERS [FAMILY]\n");
    return 2;
  }
  const std::string cases = arguments[1], headers = arguments[2], family = count == 4 ? arguments[3] : "";
  long passed = 0, failed = 0, refused = 0;
  for (const conformance_entry& each : conformance_entry::all()) {
    if (!family.empty() && family != each.family) continue;
    try {
      each.run({headers + "/" + each.name + ".safetensors", cases + "/" + each.name + "/"});
      ++passed;
    } catch (const std::exception& failure) {
      std::printf("%s: %s\n", each.name, failure.what());
      ++failed;
    }
  }
  std::ifstream refusals(headers + "/refused.txt");
  for (std::string line; std::getline(refusals, line);) {
    if (!line.starts_with(family + (family.empty() ? "" : ": "))) continue;
    std::printf("refused: %s\n", line.c_str());
    ++refused;
  }
  std::printf("%ld passed, %ld failed, %ld refused\n", passed, failed, refused);
  return passed > 0 && failed + refused == 0 ? 0 : 1;
}
