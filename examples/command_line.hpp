// examples/command_line.hpp: the options of an example, each said once: its name, where it goes, what it does.
// Every mistake becomes one sentence; `run_example` prints it and ends with code 2.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <charconv>
#include <cstdio>
#include <exception>
#include <functional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace example {

/// A command line that cannot be understood.
struct usage_error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// `text` as a number that is at least `least`.
template <class Number>
Number parse_number(const std::string& option, std::string_view text, Number least) {
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size() || !(value >= least)) {
    throw usage_error(option + ": " + std::string(text) + ", expected a number of at least " + std::to_string(least));
  }
  return value;
}

/// The options that a program takes.
class command_line {
 public:
  explicit command_line(std::string purpose) : purpose_(std::move(purpose)) {}

  void add(const std::string& name, std::string& into, const std::string& help) {
    options_.push_back({name, name + " TEXT", help, [&into](std::string_view text) { into = text; }});
  }
  template <class Number>
  void add(const std::string& name, Number& into, Number least, const std::string& help) {
    const auto set = [name, &into, least](std::string_view text) { into = parse_number(name, text, least); };
    options_.push_back({name, name + " N", help, set});
  }

  /// Sets what the arguments say; false where they ask for help, which is printed.
  /// throws    usage_error
  bool parse(const std::vector<std::string_view>& arguments) const {
    for (std::size_t i = 0; i < arguments.size(); i += 2) {
      if (arguments[i] == "--help" || arguments[i] == "-h") return print_help(), false;
      const option* const found = find(arguments[i]);
      if (found == nullptr || i + 1 == arguments.size()) {
        throw usage_error(std::string(arguments[i]) + " is not an option, or its value is missing; see --help");
      }
      found->set(arguments[i + 1]);
    }
    return true;
  }

 private:
  struct option {
    std::string name, usage, help;
    std::function<void(std::string_view)> set;
  };

  const option* find(std::string_view name) const {
    for (const option& each : options_) {
      if (each.name == name) return &each;
    }
    return nullptr;
  }
  void print_help() const {
    std::printf("usage: %s\n\n", purpose_.c_str());
    for (const option& each : options_) std::printf("  %-16s%s\n", each.usage.c_str(), each.help.c_str());
    std::printf("  %-16s%s\n", "--help", "print this text");
  }

  std::string purpose_;
  std::vector<option> options_;
};

/// What `main` returns: the program's code, or 2 behind one sentence about what went wrong.
template <class Program>
int run_example(const char* name, int count, char** arguments, Program&& program) {
  try {
    program(std::vector<std::string_view>(arguments + 1, arguments + count));
    return 0;
  } catch (const std::exception& mistake) {
    std::fprintf(stderr, "%s: %s\n", name, mistake.what());
    return 2;
  }
}

}  // namespace example
