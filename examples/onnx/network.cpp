// examples/onnx/network.cpp: names, members and lines of a network that is being written.
// SPDX-License-Identifier: Apache-2.0
#include "network.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <stdexcept>

#include "call.hpp"

namespace onnx_in {

std::string joined(const std::vector<std::string>& all, const char* between) {
  std::string made;
  for (const std::string& each : all) made += (made.empty() ? "" : between) + each;
  return made;
}
std::string listed(const std::vector<std::int64_t>& all) {
  std::vector<std::string> texts;
  for (const std::int64_t each : all) texts.push_back(std::to_string(each));
  return joined(texts);
}
extent unknown_extent() { return extent("?"); }

namespace {
/// An integer of a type; C++ has no literal for the least one, and of what int64 lacks only with a suffix.
std::string integer_literal(int element, std::int64_t number) {
  if (number >= 0) return std::to_string(number);
  if (element == uint64) return std::to_string(static_cast<std::uint64_t>(number)) + "u";
  return number == INT64_MIN ? "std::numeric_limits<std::int64_t>::min()" : std::to_string(number);
}
}  // namespace

std::string literal(const constant& one) {
  const bool is_number = one.element == boolean || type_of(one.element).is_floating;
  return is_number ? literal(one.element, one.numbers().at(0)) : integer_literal(one.element, one.integers().at(0));
}

std::string number_of(const value& each) {
  return std::string("static_cast<") + type_of(each.element).name + ">(" + each.whole.value().at(0).code + ")";
}

std::string literal(int element, double number) {
  const element_type& type = type_of(element);
  if (element == boolean) return number != 0 ? "true" : "false";
  if (!type.is_floating) return integer_literal(element, constant::of(element, {}, {number}).integers()[0]);
  if (element == float16) return "tn::half(" + literal(float32, number) + ")";
  const std::string limits = std::string("std::numeric_limits<") + type.name + ">::";
  if (std::isnan(number)) return limits + "quiet_NaN()";
  if (std::isinf(number)) return (number < 0 ? "-" : "") + limits + "infinity()";
  char text[32];
  const auto end = element == float32 ? std::to_chars(text, text + 32, static_cast<float>(number)).ptr
                                      : std::to_chars(text, text + 32, number).ptr;
  std::string made(text, end);
  if (made.find_first_of(".e") == std::string::npos) made += ".0";
  return element == float32 ? made + "f" : made;
}

std::string shape_type_of(const extents& all) {
  std::vector<std::string> texts;
  for (const extent& each : all) texts.push_back(each.known ? each.code : "tn::dyn");
  return "tn::shape<" + joined(texts) + ">";
}
std::string shape_of(const extents& all) {
  std::vector<std::string> dynamic;
  for (const extent& each : all) {
    if (!each.known) dynamic.push_back(each.code);
  }
  return shape_type_of(all) + (dynamic.empty() ? "{}" : "(" + joined(dynamic) + ")");
}

namespace {
/// An expression of one number.
std::string filled_code(const extents& all, const constant& one) {
  const element_type& type = type_of(one.element);
  const std::string typed = std::string(type.name) + "{" + literal(one) + "}";
  return "tn::constants(" + shape_of(all) + ", " + (type.is_floating ? literal(one) : typed) + ")";
}
}  // namespace

namespace {
/// throws    error where a value has two origins: ONNX lets each be written once
void check_names(const graph& from) {
  std::map<std::string, std::string> origins;
  for (const auto& [name, each] : from.constants) origins[name] = "an initialiser";
  for (const graph_input& each : from.inputs) origins[each.name] = "an input";
  for (const node& each : from.nodes) {
    for (const std::string& name : each.outputs) {
      const auto [origin, is_new] = origins.emplace(name, each.text());
      if (is_new || name.empty()) continue;
      throw tenon::error(each.text() + " writes '" + name + "', which is written by " + origin->second + " already");
    }
  }
}
}  // namespace

network::network(const graph& from) : graph_(from) {
  check_names(from);
  count_reads(from);
  read_inputs();
  read(from);
  write_result();
  drop_unread_lines();
}

/// Those of all graphs within nodes, too, of which perhaps one is read.
void network::count_reads(const graph& part) {
  for (const node& each : part.nodes) {
    for (const std::string& name : each.inputs) {
      readers_[name].push_back(&each);
      if (each.operation != "Shape" && each.operation != "Size") ++uses_[name];
    }
    for (const auto& [name, attribute] : each.attributes) {
      if (attribute.part != nullptr) count_reads(*attribute.part);
    }
  }
  for (const std::string& name : part.outputs) ++uses_[name], readers_[name].push_back(nullptr);
}

void network::read_inputs() {
  for (std::size_t i = 0; i < graph_.inputs.size(); ++i) {
    const graph_input& each = graph_.inputs[i];
    static_cast<void>(type_of(each.element));
    value made;
    made.element = each.element, made.extents = each.extents, made.is_name = true;
    made.code = graph_.inputs.size() == 1 ? "x" : "x" + std::to_string(i + 1);
    for (std::size_t axis = 0; axis < each.extents.size(); ++axis) {
      const std::string& symbol = each.extents[axis].code;
      if (each.extents[axis].known || !symbols_.insert(symbol).second) continue;
      lines_.push_back("const tn::index " + symbol + " = " + made.code + ".shape().extent(" + std::to_string(axis) +
                       ");");
    }
    values_[each.name] = std::move(made);
  }
}

void network::read(const graph& part) {
  for (const auto& [name, each] : part.constants) {
    value made;
    made.element = each.element;
    made.extents.assign(each.extents.begin(), each.extents.end());
    made.data = each, made.source = name;
    if (!values_.emplace(name, std::move(made)).second)
      throw tenon::error("holds an initialiser '" + name + "', which is a value already");
  }
  for (const node& each : part.nodes) {
    const call now{*this, each, graph_.opset};
    if (absorbed_.contains(&each)) continue;
    if (each.outputs.empty()) now.refuse("has no output");
    try {
      if (!fold(now)) write_node(now);
    } catch (const tenon::error& failure) {
      const std::string text = failure.what();
      if (text.starts_with("node '")) throw;
      now.refuse(text);
    } catch (const std::out_of_range&) {
      now.refuse("has attributes or constants that do not fit its inputs");
    }
  }
}

void network::write_result() {
  std::vector<std::string> codes;
  for (const std::string& name : graph_.outputs) {
    if (!values_.contains(name)) throw tenon::error("output '" + name + "' is made by no node");
    value& each = of(name);
    output_extents_.push_back(each.extents);
    codes.push_back(graph_.outputs.size() == 1 ? code_of(each) : name_of(each));
  }
  result_ = codes.size() == 1 ? codes[0] : "std::tuple{" + joined(codes) + "}";
}

/// Lines whose names no later line reads, last lines first.
void network::drop_unread_lines() {
  std::vector<std::string> kept;
  for (auto line = lines_.rbegin(); line != lines_.rend(); ++line) {
    const std::string before = line->substr(0, line->find(" = "));
    const std::string name = before.substr(before.rfind(' ') + 1);
    const auto reads = [&](const std::string& each) { return holds_word(each, name); };
    if (reads(result_) || std::any_of(kept.begin(), kept.end(), reads)) kept.push_back(*line);
  }
  lines_.assign(kept.rbegin(), kept.rend());
}

value& network::of(const std::string& name) {
  const auto found = values_.find(name);
  if (found == values_.end()) throw tenon::error("value '" + name + "' is made by no node and is no initialiser");
  return found->second;
}
void network::define(const std::string& name, value made) {
  if (name.empty()) return;
  lengths all;
  for (const extent& each : made.extents) {
    if (each.known) all.push_back(*each.known);
  }
  static_cast<void>(size_of(all));
  const bool is_unknown = std::any_of(made.extents.begin(), made.extents.end(),
                                      [](const extent& each) { return each == unknown_extent(); });
  const bool is_result = graph_.outputs.size() == 1 && graph_.outputs[0] == name;
  const bool is_long = made.code.size() > 90 && !is_result;
  if (!made.is_known() && !made.is_name && (is_unknown || uses(name) > 1 || is_long)) name_of(made);
  for (std::size_t axis = 0; axis < made.extents.size() && is_unknown; ++axis) {
    if (!(made.extents[axis] == unknown_extent())) continue;
    made.extents[axis] = extent(made.code + ".shape().extent(" + std::to_string(axis) + ")");
  }
  values_[name] = std::move(made);
}
int network::uses(const std::string& name) const {
  const auto found = uses_.find(name);
  return found == uses_.end() ? 0 : found->second;
}
const node* network::only_reader(const std::string& name) const {
  const auto found = readers_.find(name);
  return found == readers_.end() || found->second.size() != 1 ? nullptr : found->second[0];
}

const node* network::maker(const std::string& name, const char* operation) const {
  for (const node& each : graph_.nodes) {
    if (each.outputs.empty() || each.outputs[0] != name) continue;
    return each.operation == operation && only_reader(name) != nullptr ? &each : nullptr;
  }
  return nullptr;
}

std::string network::layer(const std::string& key, const std::string& stem, member made) {
  const auto found = keys_.find(key);
  if (found != keys_.end()) return found->second;
  made.path = free_path(stem);
  const std::string token = "@" + std::to_string(members_.size()) + "@";
  members_.push_back(std::move(made));
  keys_[key] = token;
  return token;
}

std::string network::named(const std::string& code, const char* type) {
  const std::string name = "h" + std::to_string(++names_);
  lines_.push_back(std::string(type) + " " + name + " = " + code + ";");
  return name;
}
std::string network::name_of(value& each) {
  if (each.is_name) return each.code;
  each.code = named(code_of(each));
  each.is_name = true, each.strength = binding::tight;
  each.data.reset(), each.fill.reset(), each.whole.reset();
  return each.code;
}
std::string network::code_of(value& each, binding least) {
  if (each.is_known()) return constant_code(each);
  return each.strength < least ? "(" + each.code + ")" : each.code;
}

/// An expression of one number, or a member that holds the elements.
std::string network::constant_code(value& each) {
  if (each.data && each.rank() == 0) return filled_code({}, each.data->one());
  if (each.fill) return filled_code(each.extents, *each.fill);
  if (each.whole) {
    if (each.rank() == 0) return "tn::constants(tn::shape<>{}, " + number_of(each) + ")";
    std::vector<std::string> codes;
    for (const extent& number : *each.whole) codes.push_back(number.code);
    return named("tn::tensor<" + std::string(type_of(each.element).name) + ", " + shape_type_of(each.extents) +
                     ", Space>({}, {" + joined(codes) + "})",
                 "const auto");
  }
  const bool is_parameter = type_of(each.element).is_floating && !each.source.empty();
  const std::string element = std::string(type_of(each.element).name) + ", " + shape_type_of(each.extents) + ", Space>";
  member made{{}, (is_parameter ? "nn::parameter<" : "tn::tensor<") + element, "", {{"", *each.data}}};
  const std::string bytes(each.data->bytes.begin(), each.data->bytes.end());
  const std::string key = each.source.empty() ? made.type + "constant " + bytes : "initialiser " + each.source;
  return layer(key, each.source.empty() ? "constant" : each.source, std::move(made));
}

namespace {

bool begins_with(const std::vector<std::string>& path, const std::vector<std::string>& front) {
  return front.size() <= path.size() && std::equal(front.begin(), front.end(), path.begin());
}

}  // namespace

std::vector<std::string> network::free_path(const std::string& stem) const {
  std::vector<std::string> path;
  for (std::size_t begin = 0; begin <= stem.size();) {
    const std::size_t end = std::min(stem.find('.', begin), stem.size());
    path.push_back(member_name(stem.substr(begin, end - begin)));
    begin = end + 1;
  }
  if (symbols_.contains(path[0])) path[0] += "_layer";
  const std::string last = path.back();
  const auto is_taken = [&](const member& each) {
    return begins_with(each.path, path) || begins_with(path, each.path);
  };
  for (int number = 2; std::any_of(members_.begin(), members_.end(), is_taken); ++number) {
    const bool is_below = std::any_of(members_.begin(), members_.end(), [&](const member& each) {
      return each.path.size() < path.size() && begins_with(path, each.path);
    });
    if (is_below) path = {joined(path, "_")};
    else path.back() = last + std::to_string(number);
  }
  return path;
}

std::string network::stem_of(const node& at, const std::vector<std::string>& weights) const {
  for (const std::string& name : weights) {
    for (const char* ending : {".weight", ".bias", "_weight", "_bias"}) {
      if (graph_.constants.contains(name) && name.ends_with(ending)) return name.substr(0, name.rfind(ending[0]));
    }
  }
  std::string path, before;
  if (at.name.starts_with('/')) {  // /layer1/layer1.0/conv1/Conv
    for (std::size_t begin = 1, end; (end = at.name.find('/', begin)) != std::string::npos; begin = end + 1) {
      const std::string part = at.name.substr(begin, end - begin);
      const bool repeats = !before.empty() && part.starts_with(before + ".");
      path = repeats ? path + part.substr(before.size()) : path.empty() ? part : path + "." + part;
      before = part;
    }
  }
  if (!path.empty()) return path;
  std::string name = at.operation;
  for (char& each : name) each = static_cast<char>(std::tolower(static_cast<unsigned char>(each)));
  return name;
}

}  // namespace onnx_in
