// tests/ptx/program.hpp: small programs for tests of the machine: a body of PTX, arrays, a launch.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstring>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ptx/grid.hpp"
#include "ptx/module.hpp"

namespace tenon_test::ptx {

/// An array in the machine's memory.
template <class Value>
class device_array {
 public:
  explicit device_array(std::size_t count)
      : count_(count), data_(device_memory::of_process().allocate(count * sizeof(Value))) {}
  explicit device_array(const std::vector<Value>& values) : device_array(values.size()) {
    device_memory::of_process().copy(data_, values.data(), count_ * sizeof(Value));
  }
  device_array(device_array&& other) noexcept : count_(other.count_), data_(std::exchange(other.data_, nullptr)) {}
  ~device_array() { device_memory::of_process().release(data_); }

  std::uint64_t address() const { return reinterpret_cast<std::uint64_t>(data_); }
  std::vector<Value> values() const {
    std::vector<Value> result(count_);
    std::memcpy(result.data(), data_, count_ * sizeof(Value));
    return result;
  }

 private:
  std::size_t count_;
  void* data_;
};

/// An entry `test` with parameters p0, p1, ... of 64 bits around a body, which declares its registers.
inline std::string module_text(const std::string& body, std::size_t parameters, const std::string& declarations = "") {
  std::string text = ".version 9.0\n.target sm_90a\n.address_size 64\n" + declarations + "\n.visible .entry test(\n";
  for (std::size_t i = 0; i < parameters; ++i)
    text += std::string(i == 0 ? "" : ",\n") + ".param .u64 p" + std::to_string(i);
  return text + "\n)\n{\n" + body + "\nret;\n}\n";
}

/// How a test's kernel is launched.
struct test_launch {
  std::uint32_t blocks = 1, threads = 32, shared_bytes = 0;
  bool is_cooperative = false;
  std::uint64_t seed = 1;
  std::uint32_t rows = 1;  ///< of blocks
  triple cluster = {};
};

/// Runs a body with the addresses as its parameters. Throws fault.
inline counts run_body(const std::string& body, const std::vector<std::uint64_t>& parameters,
                       const test_launch& how = {}, const std::string& declarations = "") {
  module program(module_text(body, parameters.size(), declarations));
  launch asked{.code = &program.entry("test"),
               .grid = {how.blocks, how.rows, 1},
               .block = {how.threads, 1, 1},
               .cluster = how.cluster,
               .shared_bytes = how.shared_bytes,
               .parameters = {},
               .is_cooperative = how.is_cooperative,
               .counts_traffic = true,
               .seed = how.seed};
  asked.parameters.resize(parameters.size() * 8);
  if (!parameters.empty()) std::memcpy(asked.parameters.data(), parameters.data(), asked.parameters.size());
  grid running(asked);
  running.run();
  return running.done;
}

/// What the machine says of a body; empty where it has nothing to say.
inline std::string fault_of(const std::string& body, const std::vector<std::uint64_t>& parameters = {},
                            const test_launch& how = {}, const std::string& declarations = "") {
  try {
    run_body(body, parameters, how, declarations);
    return {};
  } catch (const fault& found) {
    return found.what();
  }
}

/// The text that gives each thread of a block `%i`, its number, and `%at`, the number as 64 bits.
inline const std::string thread_number = ".reg .b32 %i;\n.reg .b64 %at;\nmov.u32 %i, %tid.x;\ncvt.u64.u32 %at, %i;\n";

template <class Value>
std::string bits_of_type() {
  return "b" + std::to_string(8 * sizeof(Value));
}

/// The results of one instruction, whose operands are called %a, %b, %c and whose result is %d, for each element.
template <class To, class From, class... More>
std::vector<To> results_of(const std::string& instruction, const std::vector<From>& first,
                           const std::vector<More>&... more) {
  const std::size_t count = first.size(), padded = (count + 31) / 32 * 32;
  std::string body = thread_number + ".reg ." + bits_of_type<To>() + " %d;\n.reg .b64 %p, %q;\n.reg .pred %t;\n";
  std::vector<std::uint64_t> parameters;
  int operands = 0;
  const auto add = [&]<class Value>(const std::vector<Value>& values, const device_array<Value>& array) {
    const std::string name = std::string("%") + "abc"[operands], bits = bits_of_type<Value>();
    body += ".reg ." + bits + " " + name + ";\nld.param.u64 %p, [p" + std::to_string(operands++) +
            "];\nmad.lo.s64 %q, %at, " + std::to_string(sizeof(values[0])) + ", %p;\nld.global." + bits + " " + name +
            ", [%q];\n";
    parameters.push_back(array.address());
  };
  const auto run = [&](const auto&... arrays) {
    const device_array<To> result(padded);
    parameters.push_back(result.address());
    body += instruction + "\nld.param.u64 %p, [p" + std::to_string(operands) + "];\nmad.lo.s64 %q, %at, " +
            std::to_string(sizeof(To)) + ", %p;\nst.global." + bits_of_type<To>() + " [%q], %d;\n";
    static_cast<void>(sizeof...(arrays));
    run_body(body, parameters, {.threads = static_cast<std::uint32_t>(padded)});
    std::vector<To> values = result.values();
    values.resize(count);
    return values;
  };
  const auto padded_copy = [&]<class Value>(std::vector<Value> values) {
    values.resize(padded, values[0]);
    return device_array<Value>(values);
  };
  const device_array<From> first_array = padded_copy(first);
  const std::tuple<device_array<More>...> arrays{padded_copy(more)...};
  add(first, first_array);
  std::apply([&](const auto&... each) { (add(more, each), ...); }, arrays);
  return std::apply(run, arrays);
}

}  // namespace tenon_test::ptx
