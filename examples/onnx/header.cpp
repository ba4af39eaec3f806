// examples/onnx/header.cpp: the text of a network: modules of at most 16 members, lines of `forward`, weights.
// SPDX-License-Identifier: Apache-2.0
#include "header.hpp"

#include <algorithm>
#include <cstring>
#include <tenon/io/safetensors_header.hpp>
#include <tenon/io/write_bytes.hpp>

#include "call.hpp"

namespace onnx_in {

namespace {

constexpr std::size_t most_members = 16;

/// Members by name, in order: each a leaf, or a group of others.
struct group {
  std::string name, type;
  const member* leaf = nullptr;
  std::size_t number = 0;  // of the leaf
  std::vector<group> parts;

  group& part(const std::string& wanted) {
    for (group& each : parts) {
      if (each.name == wanted) return each;
    }
    parts.push_back({});
    parts.back().name = wanted;
    return parts.back();
  }
};

group tree_of(const std::vector<member>& members) {
  group root;
  for (std::size_t i = 0; i < members.size(); ++i) {
    group* at = &root;
    for (const std::string& part : members[i].path) at = &at->part(part);
    at->leaf = &members[i], at->number = i;
  }
  return root;
}

/// Groups of too many parts become groups of groups.
void divide(group& all) {
  for (group& each : all.parts) divide(each);
  while (all.parts.size() > most_members) {
    std::vector<group> made;
    for (std::size_t begin = 0; begin < all.parts.size(); begin += most_members) {
      group some;
      some.name = "group" + std::to_string(made.size());
      const auto end = std::min(begin + most_members, all.parts.size());
      some.parts.assign(all.parts.begin() + static_cast<std::ptrdiff_t>(begin),
                        all.parts.begin() + static_cast<std::ptrdiff_t>(end));
      made.push_back(std::move(some));
    }
    all.parts = std::move(made);
  }
}

/// Members by the number of their token.
using paths = std::vector<std::string>;
void find_paths(const group& all, const std::string& front, paths& found) {
  if (all.leaf != nullptr) found[all.number] = front;
  for (const group& each : all.parts) find_paths(each, front.empty() ? each.name : front + "." + each.name, found);
}
paths paths_of(const network& net) {
  group tree = tree_of(net.members());
  divide(tree);
  paths found(net.members().size());
  find_paths(tree, "", found);
  return found;
}

std::string with_paths(std::string text, const paths& all) {
  for (std::size_t begin = text.find('@'); begin != std::string::npos; begin = text.find('@', begin)) {
    const std::size_t end = text.find('@', begin + 1);
    const std::string& path = all[std::stoull(text.substr(begin + 1, end - begin - 1))];
    text.replace(begin, end - begin + 1, path);
  }
  return text;
}

std::string members_text(const group& all) {
  std::string made;
  for (const group& each : all.parts) {
    const std::string initial = each.leaf == nullptr ? "" : each.leaf->initial;
    made += "  " + (each.leaf == nullptr ? each.type + "<Space>" : each.leaf->type) + " " + each.name + initial + ";\n";
  }
  return made;
}

/// Modules of groups, inner ones first; groups of the same members share one.
void write_groups(group& all, const std::string& front, std::map<std::string, std::string>& known, std::string& text) {
  for (group& each : all.parts) {
    if (each.leaf != nullptr) continue;
    const std::string name = front.empty() ? each.name : front + "_" + each.name;
    write_groups(each, name, known, text);
    const std::string members = members_text(each);
    const auto [found, is_new] = known.emplace(members, name + "_layers");
    each.type = found->second;
    if (!is_new) continue;
    text += "template <tn::memory_space Space>\nstruct " + each.type + " : nn::module<" + each.type + "<Space>> {\n" +
            members + "};\n\n";
  }
}

/// The parameters of `forward`; one that nothing reads has no name.
std::string signature(const graph& from, const std::string& body) {
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < from.inputs.size(); ++i) {
    const std::string name = from.inputs.size() == 1 ? "x" : "x" + std::to_string(i + 1);
    texts.push_back(holds_word(body, name) ? "const auto& " + name : "const auto&");
  }
  return joined(texts);
}

/// What goes in and what comes out, as comments and types.
std::string description(const network& net) {
  std::string made;
  const auto& inputs = net.source().inputs;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const std::string number = inputs.size() == 1 ? "" : std::to_string(i + 1);
    made += "/// x" + number + ": '" + inputs[i].name + "', " + type_of(inputs[i].element).name + " " +
            text_of(inputs[i].extents) + "\n";
  }
  for (std::size_t i = 0; i < net.output_extents().size(); ++i) {
    std::string all = text_of(net.output_extents()[i]);
    if (all.find('.') != std::string::npos) all = "of extents that are known at run time";
    made += "/// returns '" + net.source().outputs[i] + "' " + all + "\n";
  }
  return made;
}
std::string input_types(const graph& from) {
  std::string made;
  for (std::size_t i = 0; i < from.inputs.size(); ++i) {
    const std::string number = from.inputs.size() == 1 ? "" : std::to_string(i + 1);
    made += "using input" + number + " = tn::tensor<" + type_of(from.inputs[i].element).name + ", " +
            shape_type_of(from.inputs[i].extents) + ">;\n";
  }
  return made;
}

/// A line of code as lines of at most 120 columns, broken behind commas that lie in few brackets.
std::string wrapped(const std::string& line, const std::string& indent) {
  constexpr std::size_t most = 120;
  if (indent.size() + line.size() <= most) return indent + line + "\n";
  std::size_t best = 0;
  int depth = 0, least = 8;
  for (std::size_t at = 0; at + 1 < line.size() && indent.size() + at < most; ++at) {
    depth += line[at] == '<' ? 8 : line[at] == '(' || line[at] == '{' ? 1 : 0;  // arguments of templates stay together
    depth -= line[at] == '>' ? 8 : line[at] == ')' || line[at] == '}' ? 1 : 0;
    const bool may_break =
        line[at + 1] == ' ' && (line[at] == ',' || line[at] == '=' || line[at] == '+' || line[at] == '*');
    if (may_break && at > 0 && (depth < least || (depth == least && line[at] != '='))) best = at + 1, least = depth;
  }
  if (best == 0) return indent + line + "\n";
  const std::string further = indent.size() > 4 ? indent : indent + "    ";
  return indent + line.substr(0, best) + "\n" + wrapped(line.substr(best + 1), further);
}

}  // namespace

std::string header_text(network& net, const std::string& name, const std::string& model) {
  const std::string space = namespace_of(name);
  const paths all = paths_of(net);
  group tree = tree_of(net.members());
  divide(tree);
  std::map<std::string, std::string> known;
  std::string groups;
  write_groups(tree, "", known, groups);
  std::string text = "// " + name + ".hpp: the network of " + model + ", written by tenon-onnx; its weights are in " +
                     name + ".safetensors.\n#pragma once\n\n";
  for (const std::string& each : net.includes()) text += "#include <" + each + ">\n";
  text += "\nnamespace " + space + " {\n\nnamespace tn = tenon;\nnamespace nn = tenon::nn;\n\n" +
          input_types(net.source()) + "\n";
  for (const std::string& each : net.helpers()) text += each;
  std::string body;
  for (const std::string& line : net.lines()) body += wrapped(with_paths(line, all), "    ");
  body += wrapped("return " + with_paths(net.result(), all) + ";", "    ");
  text += groups + description(net) + "template <tn::memory_space Space = tn::host>\n" +
          "struct network : nn::module<network<Space>> {\n" + members_text(tree) + (tree.parts.empty() ? "" : "\n") +
          "  auto forward(" + signature(net.source(), body) + ") {\n" + body + "  }\n};\n\n}  // namespace " + space +
          "\n";
  return text;
}

void save_weights(const network& net, const std::filesystem::path& path) {
  const paths all = paths_of(net);
  std::string header;
  std::vector<std::uint8_t> data;
  for (std::size_t i = 0; i < net.members().size(); ++i) {
    for (const auto& [ending, each] : net.members()[i].state) {
      const std::size_t begin = data.size();
      data.insert(data.end(), each.bytes.begin(), each.bytes.end());
      header += std::string(header.empty() ? "" : ",") + tenon::io::quoted_json(all[i] + ending) + ":{\"dtype\":\"" +
                type_of(each.element).dtype + "\",\"shape\":[" + listed(each.extents) + "],\"data_offsets\":[" +
                std::to_string(begin) + "," + std::to_string(data.size()) + "]}";
    }
  }
  header = "{" + header + "}";
  header.resize((header.size() + 7) / 8 * 8, ' ');
  std::uint8_t length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<std::uint8_t>(header.size() >> (8 * i) & 0xff);
  const std::span<const std::uint8_t> parts[] = {
      length, {reinterpret_cast<const std::uint8_t*>(header.data()), header.size()}, data};
  tenon::io::write_bytes("tenon-onnx", path, parts);
}

}  // namespace onnx_in
