// tests/ptx/module.cpp: the text of a module, taken apart.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/module.hpp"

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <cstring>

#include "ptx/decode.hpp"
#include "ptx/scopes.hpp"

namespace tenon_test::ptx {

int bytes_of_type(std::string_view name) {
  static const std::map<std::string_view, int> known{{"b8", 1},  {"u8", 1},  {"s8", 1},    {"b16", 2},    {"u16", 2},
                                                     {"s16", 2}, {"f16", 2}, {"bf16", 2},  {"b32", 4},    {"u32", 4},
                                                     {"s32", 4}, {"f32", 4}, {"f16x2", 4}, {"bf16x2", 4}, {"tf32", 4},
                                                     {"b64", 8}, {"u64", 8}, {"s64", 8},   {"f64", 8},    {"b128", 16}};
  const auto found = known.find(name);
  return found == known.end() ? 0 : found->second;
}

namespace {

bool is_name_character(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '$' || c == '%' || c == '.';
}

bool starts_with(std::string_view text, std::string_view start) { return text.substr(0, start.size()) == start; }

/// Reads words, numbers and punctuation of a text one after another.
class reader {
 public:
  explicit reader(std::string_view text) : text_(text) {}

  void skip_blanks() {
    for (; at_ < text_.size(); ++at_) {
      if (text_.compare(at_, 2, "//") == 0) at_ = std::min(text_.find('\n', at_), text_.size() - 1);
      else if (std::isspace(static_cast<unsigned char>(text_[at_])) == 0) return;
    }
  }
  bool is_done() {
    skip_blanks();
    return at_ >= text_.size();
  }
  char next() {
    skip_blanks();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool take(char c) {
    if (next() != c) return false;
    ++at_;
    return true;
  }
  void expect(char c) {
    if (!take(c)) throw fault("PTX: expected " + std::string(1, c) + " in: " + std::string(text_.substr(0, 200)));
  }
  std::string_view word() {
    skip_blanks();
    const std::size_t begin = at_;
    while (at_ < text_.size() && is_name_character(text_[at_])) ++at_;
    return text_.substr(begin, at_ - begin);
  }
  /// Up to `end`, which is taken too.
  std::string_view until(char end) {
    const std::size_t begin = at_, found = std::min(text_.find(end, at_), text_.size());
    at_ = std::min(found + 1, text_.size());
    return text_.substr(begin, found - begin);
  }
  std::string_view rest() const { return text_.substr(std::min(at_, text_.size())); }
  std::size_t position() const { return at_; }
  void go_to(std::size_t position) { at_ = position; }
  void skip_braces() {
    int depth = 0;
    do {
      const char c = next();
      depth += c == '{' ? 1 : c == '}' ? -1 : 0;
      ++at_;
    } while (depth > 0 && at_ < text_.size());
  }

 private:
  std::string_view text_;
  std::size_t at_ = 0;
};

template <class Number>
Number parse_number(std::string_view text, int base = 10) {
  Number value{};
  std::from_chars(text.data(), text.data() + text.size(), value, base);
  return value;
}

operand parse_literal(std::string_view text, bool is_negative) {
  operand result{.what = operand::number, .text = text};
  if (starts_with(text, "0f") || starts_with(text, "0F") || starts_with(text, "0d") || starts_with(text, "0D")) {
    result.is_float = true;
    result.bits = parse_number<std::uint64_t>(text.substr(2), 16);
  } else if (starts_with(text, "0x") || starts_with(text, "0X")) {
    result.bits = parse_number<std::uint64_t>(text.substr(2), 16);
  } else {
    result.bits = parse_number<std::uint64_t>(text);
  }
  if (is_negative) result.bits = ~result.bits + 1;
  return result;
}

operand parse_operand(reader& from);

std::vector<operand> parse_list(reader& from) {
  std::vector<operand> parts;
  from.expect('{');
  do parts.push_back(parse_operand(from));
  while (from.take(','));
  from.expect('}');
  return parts;
}

operand parse_address(reader& from) {
  from.expect('[');
  operand result{.what = operand::address};
  const operand base = parse_operand(from);
  if (base.what == operand::number) result.offset = static_cast<std::int64_t>(base.bits);
  else result.text = base.text;
  while (from.next() == '+' || from.next() == '-') {
    const bool is_negative = from.take('-') || (from.take('+') && from.take('-'));
    const auto value = static_cast<std::int64_t>(parse_literal(from.word(), false).bits);
    result.offset += is_negative ? -value : value;
  }
  if (from.take(',')) result.parts = parse_list(from);
  from.expect(']');
  return result;
}

operand parse_operand(reader& from) {
  if (from.next() == '{') return {.what = operand::list, .parts = parse_list(from)};
  if (from.next() == '[') return parse_address(from);
  const bool is_negated = from.take('!'), is_negative = from.take('-');
  const std::string_view word = from.word();
  if (word.empty()) throw fault("PTX: an operand is expected in: " + std::string(from.rest().substr(0, 100)));
  if (std::isdigit(static_cast<unsigned char>(word[0])) != 0) return parse_literal(word, is_negative);
  operand result{.what = operand::name, .text = word, .is_negated = is_negated};
  if (from.take('|')) result.parts.push_back(parse_operand(from));
  return result;
}

std::vector<std::string_view> split(std::string_view text, char at) {
  std::vector<std::string_view> parts;
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(at, begin), text.size());
    parts.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return parts;
}

/// `@!%p1 add.s32 %r1, %r2, 3`.
statement parse_instruction(std::string_view text) {
  statement result;
  result.text = text;
  reader from(text);
  if (from.take('@')) {
    result.is_guard_negated = from.take('!');
    result.guard = from.word();
  }
  from.skip_blanks();
  const std::size_t begin = from.position();
  const std::size_t end = std::min(text.find_first_of(" \t\n", begin), text.size());
  result.opcode = split(text.substr(begin, end - begin), '.');
  from.go_to(end);
  if (from.is_done()) return result;
  do result.operands.push_back(parse_operand(from));
  while (from.take(','));
  return result;
}

/// The statements between the braces of an entry.
class body_parser {
 public:
  body_parser(std::string_view text, entry_text& result, std::list<std::string>& names)
      : from_(text), result_(result), scopes_(names) {}

  void parse() {
    while (!from_.is_done()) {
      if (from_.take('{')) scopes_.open();
      else if (from_.next() == '}') close();
      else if (from_.next() == '.') parse_directive();
      else parse_statement();
    }
  }

 private:
  void close() {
    from_.expect('}');
    if (!scopes_.is_outermost()) scopes_.close();
  }
  void parse_directive() {
    const std::string_view rest = from_.rest();
    if (starts_with(rest, ".loc\t") || starts_with(rest, ".loc ")) {
      reader line(from_.until('\n'));
      line.word();
      line_.file = parse_number<int>(line.word());
      line_.line = parse_number<int>(line.word());
    } else if (starts_with(rest, ".pragma") || starts_with(rest, ".file")) {
      from_.until(starts_with(rest, ".file") ? '\n' : ';');
    } else {
      const std::vector<std::string_view> names = split(from_.until(';'), ',');
      declaration each = parse_declaration(names[0]);
      for (std::size_t i = 0; i < names.size(); ++i) {
        if (i > 0) each.name = reader(names[i]).word();
        declaration scoped = each;
        scoped.name = scopes_.declare(each.name);
        result_.declarations.push_back(scoped);
      }
    }
  }
  void parse_statement() {
    const std::size_t begin = from_.position();
    const std::string_view name = from_.next() == '@' ? std::string_view{} : from_.word();
    if (!name.empty() && from_.next() == ':' && !starts_with(from_.rest(), "::")) {
      from_.expect(':');
      result_.statements.push_back({.text = name, .label = name, .line = line_});
      return;
    }
    from_.go_to(begin);
    statement each = parse_instruction(from_.until(';'));
    each.line = line_;
    each.guard = scopes_.renamed(each.guard);
    for (operand& part : each.operands) scopes_.rename(part);
    result_.statements.push_back(std::move(each));
  }

  reader from_;
  entry_text& result_;
  scopes scopes_;
  source_line line_;
};

/// `.global .align 4 .b8 name[8] = {1, 2, 3}`: numbers that are not given are 0.
variable parse_variable(std::string_view line) {
  const declaration each = parse_declaration(line);
  const auto size = static_cast<std::size_t>(bytes_of_type(each.type));
  variable made{.name = std::string(each.name), .bytes = each.count * size, .alignment = each.alignment};
  made.value.resize(made.bytes);
  const std::size_t equals = line.find('=');
  if (equals == std::string_view::npos) return made;
  reader numbers(line.substr(equals + 1));
  numbers.take('{');
  for (std::size_t i = 0; i + size <= made.bytes && numbers.next() != '}' && !numbers.is_done(); i += size) {
    const operand number = parse_operand(numbers);
    if (number.what != operand::number) throw fault("PTX: the initial value of " + made.name + " is no number");
    std::memcpy(&made.value[i], &number.bits, size);
    numbers.take(',');
  }
  return made;
}

/// Of `.func (.param .b64 result) name(`, in which the first parentheses may be absent.
std::string_view name_of_function(std::string_view text) {
  reader from(text);
  from.word();  // .func
  if (from.take('(')) from.until(')');
  return from.word();
}

}  // namespace

declaration parse_declaration(std::string_view text) {
  declaration result;
  reader from(text);
  while (true) {
    const std::string_view word = from.word();
    if (word.empty()) break;
    if (word == ".align") result.alignment = parse_number<std::size_t>(from.word());
    else if (word == ".reg" || word == ".shared" || word == ".local" || word == ".global" || word == ".const" ||
             word == ".param")
      result.state = word.substr(1);
    else if (word[0] == '.' && (bytes_of_type(word.substr(1)) != 0 || word == ".pred")) result.type = word.substr(1);
    else if (word[0] != '.') {
      result.name = word;
      break;
    }
  }
  if (from.take('<')) result.most = parse_number<int>(from.word());
  while (from.take('[')) {
    result.count *= from.next() == ']' ? 0 : parse_number<std::size_t>(from.word());
    from.expect(']');
  }
  return result;
}

entry_text parse_entry(std::string_view text, std::list<std::string>& names) {
  entry_text result;
  reader from(text);
  from.word();  // .entry
  result.name = from.word();
  from.expect('(');
  if (!from.take(')')) {
    do {
      const std::size_t begin = from.position();
      const std::size_t end = text.find_first_of(",)", begin);
      result.parameters.push_back(parse_declaration(text.substr(begin, end - begin)));
      from.go_to(end);
    } while (from.take(','));
    from.expect(')');
  }
  while (from.next() != '{') {
    const std::string_view word = from.word();
    if (word == ".maxntid") result.most_threads = parse_number<int>(from.word());
    if (word.empty()) from.expect(from.next());
    if (word != ".reqnctapercluster") continue;
    result.has_cluster = true;
    for (std::uint32_t* const each : {&result.cluster.x, &result.cluster.y, &result.cluster.z}) {
      *each = parse_number<std::uint32_t>(from.word());
      if (!from.take(',')) break;
    }
  }
  from.expect('{');
  body_parser(from.rest(), result, names).parse();
  return result;
}

module::module(std::string text) :text_(std::move(text)) {
  const std::string_view all = text_;
  reader from(all);
  while (!from.is_done()) {
    const std::size_t begin = from.position();
    const std::string_view word = from.word();
    if (word == ".visible" || word == ".extern" || word == ".weak") continue;
    if (word == ".entry") {
      const std::string name(from.word());
      from.go_to(all.find('{', from.position()));
      from.skip_braces();
      entries_[name] = all.substr(begin, from.position() - begin);
    } else if (word == ".file") {
      reader line(from.until('\n'));
      const int number = parse_number<int>(line.word());
      line.until('"');
      files_[number] = line.until('"');
    } else if (word == ".func") {
      from.go_to(std::min(all.find_first_of("{;", from.position()), all.size()));
      if (from.take(';')) continue;  // its body comes later
      from.skip_braces();
      const std::string_view function = all.substr(begin, from.position() - begin);
      functions_[std::string(name_of_function(function))] = function;
    } else if (word == ".section") {
      from.go_to(all.find('{', from.position()));
      from.skip_braces();
    } else if (word == ".shared") {
      shared_.push_back(parse_declaration(all.substr(begin, all.find(';', begin) - begin)));
      from.until(';');
    } else if (word == ".global" || word == ".const") {
      variable made = parse_variable(from.until(';'));
      variables_[made.name] = std::move(made);
    } else {
      from.until('\n');
    }
  }
}

const kernel& module::entry(const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<kernel>& made = kernels_[name];
  if (!made) {
    const auto text = entries_.find(name);
    if (text == entries_.end()) throw fault("PTX: no entry is called " + name);
    std::list<std::string> names;
    const std::string expanded = with_bodies_of_calls(text->second, functions_);
    made = std::make_unique<kernel>(decode(parse_entry(expanded, names), *this));
  }
  return *made;
}

variable* module::find_variable(std::string_view name) {
  const auto found = variables_.find(name);
  return found == variables_.end() ? nullptr : &found->second;
}

std::vector<std::string> module::entry_names() const {
  std::vector<std::string> names;
  for (const auto& each : entries_) names.push_back(each.first);
  return names;
}

int module::architecture() const {
  const std::string_view start = ".target sm_";
  const std::size_t at = text_.find(start);
  return entries_.empty() || at == std::string::npos ? 0 : std::atoi(text_.c_str() + at + start.size());
}

const std::string& module::file(int number) const {
  static const std::string unknown = "?";
  const auto found = files_.find(number);
  return found == files_.end() ? unknown : found->second;
}

}  // namespace tenon_test::ptx
