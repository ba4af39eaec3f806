// examples/command_line.hpp: the options of an example, each said once: how it is written, where it goes, what it does.
// Every mistake becomes one sentence; `run_example` prints it and ends with code 2, or 1 where the work itself failed.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <charconv>
#include <cstdio>
#include <exception>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "errors.hpp"
#include "output_file.hpp"

namespace example {

/// A number as briefly as it can be written.
template <class Number>
std::string written(Number number) {
  char text[32];
  return {text, std::to_chars(text, text + sizeof(text), number).ptr};
}

/// `text` as a finite number that is at least `least`.
template <class Number>
Number parse_number(const std::string& option, std::string_view text, Number least) {
  constexpr Number most = std::numeric_limits<Number>::max();
  Number value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = end == text.data() + text.size();
  const bool is_beyond = status == std::errc::result_out_of_range && !text.starts_with('-');
  if (is_whole && status == std::errc{} && value >= least && value <= most) return value;
  throw usage_error(
      option + ": " + std::string(text) + ", expected a " + (std::is_integral_v<Number> ? "whole number" : "number") +
      (is_whole && (is_beyond || value > most) ? " of at most " + written(most) : " of at least " + written(least)));
}

/// `text` if it is one of `words`.
inline std::string parse_word(const std::string& option, std::string_view text, const std::vector<std::string>& words) {
  std::string expected;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i] == text) return words[i];
    expected += (i == 0 ? "" : i + 1 == words.size() ? " or " : ", ") + words[i];
  }
  throw usage_error(option + ": " + std::string(text) + ", expected " + expected);
}

/// The options that a program takes. Each is given as it is written: `--name VALUE`, or `--name` alone for a flag.
/// Help ends with the default of a number or a word, which is what the variable holds, unless it speaks of that itself.
class command_line {
 public:
  explicit command_line(std::string purpose) : purpose_(std::move(purpose)) {}

  void add(const std::string& usage, bool& into, const std::string& help) {
    options_.push_back({usage, help, [&into](std::string_view) { into = true; }});
  }
  void add(const std::string& usage, std::string& into, const std::string& help) {
    options_.push_back({usage, help, [usage, &into](std::string_view text) {
                          if (text.empty())
                            throw usage_error(name_of(usage) + ": nothing, expected " + value_of(usage));
                          into = text;
                        }});
  }
  /// A file that the program writes in the end: whether that is possible is known at once.
  void add_output(const std::string& usage, std::string& into, const std::string& help) {
    add(usage, into, help);
    options_.back().set = [set = options_.back().set, name = name_of(usage)](std::string_view text) {
      set(text);
      const std::string fault = output_fault(std::string(text));
      if (!fault.empty()) throw usage_error(name + ": " + std::string(text) + ": " + fault);
    };
  }
  void add(const std::string& usage, std::string& into, const std::vector<std::string>& words,
           const std::string& help) {
    const auto set = [name = name_of(usage), &into, words](std::string_view text) {
      into = parse_word(name, text, words);
    };
    options_.push_back({usage, with_default(help, into), set});
  }
  template <class Number>
    requires std::is_arithmetic_v<Number>
  void add(const std::string& usage, Number& into, Number least, const std::string& help) {
    const auto set = [name = name_of(usage), &into, least](std::string_view text) {
      into = parse_number(name, text, least);
    };
    options_.push_back({usage, with_default(help, written(into)), set});
  }
  /// What stands without a name, in this order, and must be there.
  void add_argument(const std::string& usage, std::string& into, const std::string& help) {
    arguments_.push_back({usage, help, [&into](std::string_view text) { into = text; }});
  }
  /// The option `name` means nothing without the option `needed`, both as they are written.
  void require(const std::string& name, const std::string& needed) { needs_.push_back({name, needed}); }

  /// Sets what the arguments say; false where they ask for help, which is printed.
  /// throws    usage_error
  bool parse(const std::vector<std::string_view>& arguments) const {
    std::set<std::string_view> given;
    auto argument = arguments_.begin();
    for (auto at = arguments.begin(); at != arguments.end(); ++at) {
      if (*at == "--help" || *at == "-h") return print_help(), false;
      if (argument != arguments_.end() && !at->starts_with('-')) {
        (argument++)->set(*at);
        continue;
      }
      const option* const found = find(*at);
      const bool takes_value = found != nullptr && found->usage != *at;
      if (found == nullptr || (takes_value && at + 1 == arguments.end())) {
        throw usage_error(std::string(*at) + " is not an option, or its value is missing; see --help");
      }
      given.insert(*at);
      if (takes_value) ++at;
      found->set(*at);
    }
    if (argument != arguments_.end()) throw usage_error(argument->usage + " is missing; see --help");
    for (const auto& [name, needed] : needs_) {
      if (!given.contains(name) || given.contains(name_of(needed))) continue;
      throw usage_error(name + ": " + needed + " is missing");
    }
    return true;
  }

 private:
  struct option {
    std::string usage, help;
    std::function<void(std::string_view)> set;
  };
  struct need {
    std::string name, needed;
  };

  static std::string name_of(const std::string& usage) { return usage.substr(0, usage.find(' ')); }
  static std::string value_of(const std::string& usage) { return usage.substr(usage.find(' ') + 1); }
  static std::string with_default(const std::string& help, const std::string& value) {
    return help.find("(default") == std::string::npos ? help + " (default " + value + ")" : help;
  }
  const option* find(std::string_view name) const {
    for (const option& each : options_) {
      if (name_of(each.usage) == name) return &each;
    }
    return nullptr;
  }
  /// Help of several lines goes on below its first one.
  void print_help() const {
    std::printf("usage: %s\n\n", purpose_.c_str());
    for (const option& each : arguments_) print_help(each);
    for (const option& each : options_) print_help(each);
    std::printf("  %-20s%s\n", "--help", "print this text");
  }
  static void print_help(const option& each) {
    std::string usage = each.usage;
    for (std::size_t begin = 0; begin < each.help.size(); usage.clear()) {
      const std::size_t end = std::min(each.help.find('\n', begin), each.help.size());
      std::printf("  %-20s%s\n", usage.c_str(), each.help.substr(begin, end - begin).c_str());
      begin = end + 1;
    }
  }

  std::string purpose_;
  std::vector<option> options_, arguments_;
  std::vector<need> needs_;
};

/// What `main` returns: the program's code, or 2 or 1 behind one sentence about what went wrong.
template <class Program>
int run_example(const char* name, int count, char** arguments, Program&& program) {
  try {
    return program(std::vector<std::string_view>(arguments + 1, arguments + count));
  } catch (const failed& failure) {
    std::fprintf(stderr, "%s: %s\n", name, failure.what());
    return 1;
  } catch (const std::exception& mistake) {
    std::fprintf(stderr, "%s: %s\n", name, mistake.what());
    return 2;
  }
}

}  // namespace example
