// examples/onnx/check/conformance_main.cpp: runs all cases that the converter took, and says which fail.
// SPDX-License-Identifier: Apache-2.0
#include <cstdio>
#include <fstream>

#include "conformance_run.hpp"

int main(int count, char** arguments) {
  if (count != 4) {
    std::fprintf(stderr, "usage: tenon_onnx_conformance CASES HEADERS LEAST\n");
    return 2;
  }
  const std::string cases = arguments[1], headers = arguments[2];
  long passed = 0, refused = 0;
  for (const conformance_entry& each : conformance_entry::all()) {
    try {
      each.run({headers + "/" + each.name + ".safetensors", cases + "/" + each.name + "/"});
      ++passed;
    } catch (const std::exception& failure) {
      std::printf("%s: %s\n", each.name, failure.what());
    }
  }
  std::ifstream refusals(headers + "/refused.txt");
  for (std::string line; std::getline(refusals, line); ++refused) std::printf("refused: %s\n", line.c_str());
  const auto converted = static_cast<long>(conformance_entry::all().size());
  std::printf("%ld of %ld cases pass, %ld are refused\n", passed, converted + refused, refused);
  return passed >= std::stol(arguments[3]) ? 0 : 1;
}
