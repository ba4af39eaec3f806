// tests/ptx/calls.cpp: bodies of functions in the place of calls, as text.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/calls.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include "ptx/module.hpp"

namespace tenon_test::ptx {

namespace {

bool is_part_of_name(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%';
}
bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// The name that begins at `at`; a single character where none does.
std::string_view token_at(std::string_view text, std::size_t at) {
  std::size_t end = at;
  while (end < text.size() && is_part_of_name(text[end])) ++end;
  return text.substr(at, std::max<std::size_t>(end - at, 1));
}
std::vector<std::string_view> names_in(std::string_view text) {
  std::vector<std::string_view> names;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view token = token_at(text, at);
    if (is_part_of_name(token[0])) names.push_back(token);
    at += token.size();
  }
  return names;
}

/// Where the next call begins, a statement of its own; npos where there is none.
std::size_t find_call(std::string_view text, std::size_t from) {
  for (std::size_t at = text.find("call", from); at != std::string_view::npos; at = text.find("call", at + 1)) {
    const std::size_t before = text.find_last_not_of(" \t", at == 0 ? 0 : at - 1),
                      end = at + std::string_view("call").size();
    const bool begins = at == 0 || before == std::string_view::npos || text[before] == '\n' || text[before] == ';';
    if (begins && end < text.size() && (text[end] == '.' || is_blank(text[end]))) return at;
  }
  return std::string_view::npos;
}

/// `call.uni (result), name, (first, second)`.
struct call_text {
  std::string_view name;
  std::vector<std::string_view> places;  ///< of the result, where there is one, then of the arguments

  explicit call_text(std::string_view text) {
    const std::size_t operands = std::min(text.find_first_of(" \t\n"), text.size());
    const std::vector<std::string_view> names = names_in(text.substr(operands));
    const std::size_t first = text.find_first_not_of(" \t\n", operands);
    const std::size_t results = first != std::string_view::npos && text[first] == '(' ? 1 : 0;
    if (names.size() <= results) throw fault("PTX: a call without a function: " + std::string(text));
    name = names[results];
    places.assign(names.begin(), names.begin() + static_cast<std::ptrdiff_t>(results));
    places.insert(places.end(), names.begin() + static_cast<std::ptrdiff_t>(results) + 1, names.end());
  }
};

/// `.func (.param .b64 result) name(.param .b64 first, .param .b64 second) { body }`.
struct function_text {
  std::vector<std::string_view> parameters;  ///< names: of the result, where there is one, then of the arguments
  std::string_view body;

  explicit function_text(std::string_view text) {
    const std::size_t begin = text.find('{');
    body = text.substr(begin + 1, text.rfind('}') - begin - 1);
    for (std::size_t at = text.find(".param"); at < begin; at = text.find(".param", at + 1)) {
      parameters.push_back(parse_declaration(text.substr(at, text.find_first_of(",)", at) - at)).name);
    }
  }
};

class expansion {
 public:
  explicit expansion(const function_texts& functions) : functions_(functions) {}

  /// Declarations of the registers of all bodies.
  const std::string& registers() const { return registers_; }
  std::string expanded(std::string_view text) {
    std::string result;
    std::size_t done = 0;
    for (std::size_t at = find_call(text, 0); at != std::string_view::npos; at = find_call(text, done)) {
      const std::size_t end = std::min(text.find(';', at), text.size());
      result += text.substr(done, at - done);
      result += body_of(text.substr(at, end - at));
      done = std::min(end + 1, text.size());
    }
    return result += text.substr(done);
  }

 private:
  std::string body_of(std::string_view statement) {
    const call_text call(statement);
    const auto known = functions_.find(call.name);
    if (known == functions_.end()) throw fault("PTX: " + std::string(call.name) + " is called and has no body");
    if (std::find(within_.begin(), within_.end(), call.name) != within_.end())
      throw fault("PTX: " + std::string(call.name) + " calls itself");
    const function_text function(known->second);
    if (function.parameters.size() != call.places.size())
      throw fault("PTX: another number of arguments than " + std::string(call.name) + " takes");
    std::map<std::string_view, std::string_view> places;
    for (std::size_t i = 0; i < call.places.size(); ++i) places[function.parameters[i]] = call.places[i];
    const std::string number = std::to_string(++count_), end = "$L_return_" + number;
    within_.emplace_back(call.name);
    std::string body = expanded(renamed(function.body, places, number, end));
    within_.pop_back();
    return "{\n" + body + "\n}\n" + end + ":\n";
  }
  /// A body with names of its own, whose registers are declared elsewhere, and whose returns go to `end`.
  std::string renamed(std::string_view body, const std::map<std::string_view, std::string_view>& places,
                      const std::string& number, const std::string& end) {
    const std::set<std::string_view> families = take_families(body, number);
    std::string result;
    for (std::size_t at = 0; at < body.size();) {
      if (const std::size_t skipped = family_at(body, at); skipped != at) {
        at = skipped;
        continue;
      }
      const std::string_view token = token_at(body, at);
      const std::size_t digits = token.find_last_not_of("0123456789") + 1;
      if (const auto place = places.find(token); place != places.end()) result += place->second;
      else if (token[0] == '$') result += std::string(token) + "_" + number;
      else if (digits < token.size() && families.count(token.substr(0, digits)) != 0)
        result += family_name(token.substr(0, digits), number) + std::string(token.substr(digits));
      else if (token == "ret" && is_return(body, at)) result += "bra " + end;
      else result += token;
      at += token.size();
    }
    return result;
  }
  static bool is_return(std::string_view body, std::size_t at) {
    const std::size_t next = body.find_first_not_of(" \t\n", at + std::string_view("ret").size());
    return next != std::string_view::npos && body[next] == ';' && (at == 0 || is_blank(body[at - 1]));
  }
  static std::string family_name(std::string_view family, const std::string& number) {
    return std::string(family) + "_" + number + "_";
  }
  /// The end of a declaration of a family of registers, `.reg .b32 %r<9>;`, that begins at `at`; `at` where none does.
  static std::size_t family_at(std::string_view body, std::size_t at) {
    if (body.compare(at, 5, ".reg ") != 0) return at;
    const std::size_t end = std::min(body.find(';', at), body.size());
    return body.substr(at, end - at).find('<') == std::string_view::npos ? at : std::min(end + 1, body.size());
  }
  std::set<std::string_view> take_families(std::string_view body, const std::string& number) {
    std::set<std::string_view> families;
    for (std::size_t at = body.find(".reg "); at != std::string_view::npos; at = body.find(".reg ", at + 1)) {
      const std::size_t end = family_at(body, at);
      if (end == at) continue;
      const declaration family = parse_declaration(body.substr(at, end - at));
      families.insert(family.name);
      registers_ += ".reg ." + std::string(family.type) + " " + family_name(family.name, number) + "<" +
                    std::to_string(family.most) + ">;\n";
    }
    return families;
  }

  const function_texts& functions_;
  std::vector<std::string> within_;
  std::string registers_;
  int count_ = 0;
};

/// Arguments of calls as local memory. What else is read as a parameter is one of the entry, by name or by its address.
std::string with_local_arguments(std::string_view body) {
  constexpr std::string_view word = ".param";
  std::set<std::string_view> arguments;
  std::string result;
  std::size_t done = 0;
  for (std::size_t at = body.find(word); at != std::string_view::npos; at = body.find(word, at + 1)) {
    const std::string_view opcode = body.substr(std::max<std::size_t>(at, 2) - 2, 2);
    bool is_argument = opcode == "st";
    if (opcode == "ld") {
      is_argument = arguments.count(token_at(body, std::min(body.find('[', at) + 1, body.size() - 1))) != 0;
    } else if (at == 0 || is_blank(body[at - 1]) || body[at - 1] == '{') {
      arguments.insert(parse_declaration(body.substr(at, body.find(';', at) - at)).name);
      is_argument = true;
    }
    result += body.substr(done, at - done);
    result += is_argument ? std::string_view(".local") : word;
    done = at + word.size();
  }
  return result += body.substr(done);
}

}  // namespace

std::string with_bodies_of_calls(std::string_view entry, const function_texts& functions) {
  if (find_call(entry, 0) == std::string_view::npos) return std::string(entry);
  const std::size_t begin = entry.find('{') + 1;
  expansion calls(functions);
  const std::string body = calls.expanded(entry.substr(begin));
  return std::string(entry.substr(0, begin)) + "\n" + calls.registers() + with_local_arguments(body);
}

}  // namespace tenon_test::ptx
