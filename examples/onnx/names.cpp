// examples/onnx/names.cpp: names of a model as names of C++, without words that mean something else there.
// SPDX-License-Identifier: Apache-2.0
#include "names.hpp"

#include <algorithm>
#include <cctype>

namespace onnx_in {

namespace {

/// What networks and their members are called already, and macros of the library of C.
constexpr const char* taken_words =
    "EOF NULL Space assert errno eval forward forward_count initialise linux main module network nn std stderr stdin "
    "stdout tenon tn to train undo_forward unix visit_buffers visit_parameters visit_random_state with_epsilon x";

bool is_digit(char each) { return std::isdigit(static_cast<unsigned char>(each)) != 0; }

/// Letters and digits of a name alone; what lies between them becomes one `_`.
std::string plain(const std::string& name) {
  std::string made;
  for (const char each : name) {
    if (std::isalnum(static_cast<unsigned char>(each)) != 0) made += each;
    else if (!made.empty() && made.back() != '_') made += '_';
  }
  while (!made.empty() && made.back() == '_') made.pop_back();
  return made;
}

/// `front` and a number.
bool is_numbered(const std::string& name, const std::string& front) {
  return name.size() > front.size() && name.starts_with(front) &&
         std::all_of(name.begin() + static_cast<std::ptrdiff_t>(front.size()), name.end(), is_digit);
}
bool is_taken(const std::string& name) {
  return is_numbered(name, "h") || is_numbered(name, "x") || is_keyword(name) || holds_word(taken_words, name);
}

/// Whether macros are written like this: with capital letters, more than one.
bool is_capital(const std::string& name) {
  const auto is_small = [](char each) { return each >= 'a' && each <= 'z'; };
  const auto is_great = [](char each) { return each >= 'A' && each <= 'Z'; };
  return std::none_of(name.begin(), name.end(), is_small) && std::count_if(name.begin(), name.end(), is_great) > 1;
}

}  // namespace

bool holds_word(const std::string& text, const std::string& word) {
  const auto is_part = [](char each) { return std::isalnum(static_cast<unsigned char>(each)) || each == '_'; };
  for (std::size_t at = text.find(word); at != std::string::npos; at = text.find(word, at + 1)) {
    const bool begins = at == 0 || !is_part(text[at - 1]);
    if (begins && (at + word.size() == text.size() || !is_part(text[at + word.size()]))) return true;
  }
  return false;
}

bool is_keyword(const std::string& word) {
  static constexpr const char* all =
      "alignas alignof and and_eq asm auto bitand bitor bool break case catch char char16_t char32_t char8_t class "
      "co_await co_return co_yield compl concept const const_cast consteval constexpr constinit continue decltype "
      "default delete do double dynamic_cast else enum explicit export extern false final float for friend goto if "
      "inline int long mutable namespace new noexcept not not_eq nullptr operator or or_eq override private protected "
      "public register reinterpret_cast requires return short signed sizeof static static_assert static_cast struct "
      "switch template this thread_local throw true try typedef typeid typename union unsigned using virtual void "
      "volatile wchar_t while xor xor_eq";
  return holds_word(all, word);
}

std::string member_name(const std::string& name) {
  const std::string made = plain(name);
  if (made.empty() || is_digit(made[0])) return "part" + made;
  return is_taken(made) ? made + "_layer" : made;
}

std::string file_name(const std::string& model) {
  const std::string made = plain(model);
  const bool begins_well = !made.empty() && !is_digit(made[0]) && model[0] == made[0];
  return begins_well ? made : made.empty() ? "net" : "net_" + made;
}
std::string namespace_of(const std::string& file) { return file + "_network"; }

std::string extent_names::of(const std::string& symbol) {
  const auto [found, is_new] = names_.emplace(symbol, "");
  if (!is_new) return found->second;
  std::string name = plain(symbol);
  if (name.empty() || is_digit(name[0])) name = "n" + name;
  if (is_taken(name) || is_numbered(name, "group") || is_capital(name)) name += "_extent";
  const std::string front = name + "_";
  for (int number = 2; !taken_.insert(name).second; ++number) name = front + std::to_string(number);
  return found->second = name;
}

}  // namespace onnx_in
