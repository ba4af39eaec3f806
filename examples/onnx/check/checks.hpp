// examples/onnx/check/checks.hpp: what the checks of converted networks have in common.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstdio>
#include <exception>
#include <string>
#include <tenon/tenon.hpp>
#include <tenon/train/checkpoint.hpp>
#include <vector>

namespace tn = tenon;
namespace nn = tenon::nn;

inline int faults = 0;
inline void check(const std::string& what, bool holds) {
  std::printf("%s: %s\n", what.c_str(), holds ? "right" : "WRONG");
  faults += holds ? 0 : 1;
}

/// Compares elements, one after another, with numbers from some place on.
template <class Found>
void compare(const std::string& what, const Found& found, const std::vector<double>& expected, std::size_t begin = 0) {
  const auto all = tn::evaluated_tensor<tn::host>(found);
  double most = 0;
  for (std::size_t i = 0; i < static_cast<std::size_t>(all.size()); ++i) {
    most = std::fmax(most, std::fabs(static_cast<double>(all.data()[i]) - expected.at(begin + i)));
  }
  std::printf("%s: differs by %.1e\n", what.c_str(), most);
  check(what, most < 1e-5);
}

/// Compares all elements, of which there are as many.
template <class Found>
void compare_all(const std::string& what, const Found& found, const std::vector<double>& expected) {
  const auto all = tn::evaluated_tensor<tn::host>(found);
  check(what + ", count", static_cast<std::size_t>(all.size()) == expected.size());
  if (static_cast<std::size_t>(all.size()) <= expected.size()) compare(what, all, expected);
}

template <class Input>
Input input_of(const typename Input::shape_type& extents, const std::vector<double>& numbers) {
  Input made(extents);
  std::copy(numbers.begin(), numbers.end(), made.data());
  return made;
}

template <class Net>
Net loaded(const std::string& folder, const std::string& name) {
  Net net;
  tn::train::load_state(net, folder + "/" + name + ".safetensors");
  net.eval();
  return net;
}

/// The main function of a program of checks: runs `checks(folder)` with the folder that it is given.
template <class Checks>
int run_checks(int count, char** arguments, const Checks& checks) {
  if (count != 2) {
    std::fprintf(stderr, "usage: %s FOLDER\n", arguments[0]);
    return 2;
  }
  try {
    checks(std::string(arguments[1]));
    return faults == 0 ? 0 : 1;
  } catch (const std::exception& failure) {
    std::fprintf(stderr, "%s\n", failure.what());
    return 1;
  }
}
