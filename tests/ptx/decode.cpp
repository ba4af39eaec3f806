// tests/ptx/decode.cpp: statements become instructions.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>

#include "ptx/grid.hpp"

namespace tenon_test::ptx {

namespace {

constexpr std::uint32_t parameter_address_slot = std::size(special_slots::names) * special_slots::bytes_each;
constexpr std::uint32_t first_register = parameter_address_slot + 8 * warp_lanes;

slot register_at(std::uint32_t offset) { return {.offset = offset & 0x3fffffff, .is_constant = 0, .is_there = 1}; }

/// Bytes of 32 lanes; a predicate is one word.
std::uint32_t bytes_of_lanes(int bytes) { return bytes == 0 ? 64 : static_cast<std::uint32_t>(bytes * warp_lanes); }

std::uint32_t rounded_up(std::uint32_t value, std::size_t to) {
  return static_cast<std::uint32_t>((value + to - 1) / to * to);
}

void collect_names(const operand& each, std::map<std::string_view, bool>& names) {
  if (!each.text.empty()) names[each.text] = true;
  for (const operand& part : each.parts) collect_names(part, names);
}

/// The class of an instruction; most of a family are of one.
work work_of(const decoder& d, work of_family) {
  const std::string_view name = d.part(0);
  if (name == "st" || name == "stmatrix" || (name == "wmma" && d.part(1) == "store")) return work::stores;
  if (name == "atom" || name == "red") return work::atomics;
  if (name == "ldmatrix" || (name == "wmma" && d.part(1) == "load")) return work::loads;
  if (name == "ld" && d.has("param")) return work::moves;
  if (name == "cp") return work::copies;
  const bool is_fence = name == "membar" || name == "fence" || name == "mbarrier";
  if (is_fence || d.has("acquire") || name == "bar" || name == "barrier") return work::barriers;
  if (name == "wgmma" && d.part(1) != "mma_async") return work::barriers;
  return of_family;
}

}  // namespace

decoder::decoder(kernel& into, const entry_text& entry, module& of) : into_(into), module_(of) {
  into_.name = entry.name;
  into_.most_threads = entry.most_threads;
  into_.cluster = entry.cluster;
  into_.has_cluster = entry.has_cluster;
  into_.register_bytes = first_register;
  for (std::uint32_t i = 0; i < std::size(special_slots::names); ++i)
    registers_[special_slots::names[i]] = {register_at(i * special_slots::bytes_each), 4};
  for (const declaration& each : entry.parameters) {
    const auto bytes = static_cast<std::uint32_t>(each.count) * static_cast<std::uint32_t>(bytes_of_type(each.type));
    const std::size_t alignment = std::max(each.alignment, static_cast<std::size_t>(bytes_of_type(each.type)));
    const std::uint32_t offset = rounded_up(into_.all_parameter_bytes, alignment);
    parameters_[each.name] = offset;
    into_.parameter_offsets.push_back(offset);
    into_.parameter_bytes.push_back(bytes);
    into_.all_parameter_bytes = offset + bytes;
  }
  for (const declaration& each : entry.declarations) {
    if (each.state == "reg") declare(each);
    else if (each.state == "local") place_local(each);
  }
  place_shared(entry);
}

/// Variables of the entry, then those of the module that it names, then the block's dynamic memory.
void decoder::place_shared(const entry_text& entry) {
  std::map<std::string_view, bool> names;
  for (const statement& each : entry.statements) {
    for (const operand& part : each.operands) collect_names(part, names);
  }
  std::uint32_t end = first_shared_byte;
  const auto place_one = [&](const declaration& each) {
    end = rounded_up(end, each.alignment);
    symbols_[each.name] = end;
    end += static_cast<std::uint32_t>(each.count) * static_cast<std::uint32_t>(bytes_of_type(each.type));
  };
  for (const declaration& each : entry.declarations) {
    if (each.state == "shared") place_one(each);
  }
  for (const bool is_dynamic : {false, true}) {
    for (const declaration& each : module_.shared_declarations()) {
      if ((each.count == 0) == is_dynamic && names.count(each.name) != 0) place_one(each);
    }
  }
  into_.static_shared_bytes = end - first_shared_byte;
}

void decoder::place_local(const declaration& each) {
  const std::uint32_t begin = rounded_up(into_.local_bytes, each.alignment);
  symbols_[each.name] = begin;
  const std::size_t bytes = each.count * static_cast<std::size_t>(bytes_of_type(each.type));
  into_.local_bytes = rounded_up(begin + static_cast<std::uint32_t>(bytes), 16);
}

void decoder::declare(const declaration& each) {
  const int bytes = each.type == "pred" ? 0 : std::max(2, bytes_of_type(each.type));
  const int count = each.most >= 0 ? each.most + 1 : 1;
  if (each.most >= 0) families_.push_back({each.name, into_.register_bytes, bytes, count});
  else registers_[each.name] = {register_at(into_.register_bytes), bytes};
  into_.register_bytes += bytes_of_lanes(bytes) * static_cast<std::uint32_t>(count);
}

const decoder::place* decoder::find_register(std::string_view name) const {
  const std::size_t digits = name.find_last_not_of("0123456789") + 1;
  if (digits < name.size()) {
    for (const family& each : families_) {
      if (each.prefix != name.substr(0, digits)) continue;
      std::uint32_t number = 0;
      std::from_chars(name.data() + digits, name.data() + name.size(), number);
      found_ = {register_at(each.first + number * bytes_of_lanes(each.bytes)), each.bytes};
      return &found_;
    }
  }
  const auto found = registers_.find(name);
  return found == registers_.end() ? nullptr : &found->second;
}

bool decoder::is_register(const operand& each) const {
  return each.what == operand::name && find_register(each.text) != nullptr;
}

void decoder::refuse(const std::string& why) const {
  throw fault("PTX: " + why + ": " + std::string(text->text) + " (in " + into_.name + ")");
}

void decoder::begin(const statement& next) {
  text = &next;
  made = {};
  if (next.guard.empty()) return;
  made.guard = source({.what = operand::name, .text = next.guard}, 0);
  made.is_guard_negated = next.is_guard_negated;
}

std::string_view decoder::part(int i) const {
  const int size = static_cast<int>(text->opcode.size()), at = i < 0 ? size + i : i;
  return at >= 0 && at < size ? text->opcode[static_cast<std::size_t>(at)] : std::string_view{};
}

bool decoder::has(std::string_view part) const {
  return std::find(text->opcode.begin(), text->opcode.end(), part) != text->opcode.end();
}

const operand& decoder::at(std::size_t i) const {
  if (i >= text->operands.size()) refuse("operand " + std::to_string(i) + " is missing");
  return text->operands[i];
}

int decoder::width(const operand& each, int otherwise) const {
  const place* const found = each.what == operand::name ? find_register(each.text) : nullptr;
  return found == nullptr ? otherwise : found->bytes;
}

slot decoder::source(const operand& each, int bytes) {
  if (each.what == operand::number) return add_constant(each.bits, bytes);
  if (each.what != operand::name) refuse("a register or number is expected");
  if (const place* const found = find_register(each.text)) {
    if (found->bytes != bytes)
      refuse(std::string(each.text) + " has " + std::to_string(found->bytes) + " bytes, not " + std::to_string(bytes));
    return found->where;
  }
  if (const auto shared = symbols_.find(each.text); shared != symbols_.end())
    return add_constant(shared->second, bytes);
  if (variable* const global = module_.find_variable(each.text))
    return add_constant(reinterpret_cast<std::uint64_t>(global->address), bytes);
  refuse("the name " + std::string(each.text) + " is not known");
}

slot decoder::target(const operand& each, int bytes) {
  if (each.text == "_") return add_register(bytes);
  const slot where = source(each, bytes);
  if (where.is_constant != 0) refuse("a register is expected");
  return where;
}

void decoder::add_list(const operand& each, int bytes, bool is_target) {
  const auto add = [&](const operand& part) {
    into_.lists.push_back(is_target ? target(part, bytes) : source(part, bytes));
    ++made.listed;
  };
  if (made.count == 0) made.first = static_cast<std::uint32_t>(into_.lists.size());
  if (made.count == 0) made.count = static_cast<std::uint16_t>(each.what == operand::list ? each.parts.size() : 1);
  if (each.what != operand::list) return add(each);
  for (const operand& part : each.parts) add(part);
}

void decoder::parameter_address(const operand& each) {
  made.a = register_at(parameter_address_slot);
  made.offset = parameters_.at(each.text);
}

void decoder::address(std::size_t i, slot instruction::* into) {
  const operand& each = at(i);
  if (each.what != operand::address) refuse("an address is expected");
  made.offset = each.offset;
  if (const auto parameter = parameters_.find(each.text); parameter != parameters_.end()) {
    made.*into = register_at(parameter_address_slot);
    made.offset += parameter->second;
  } else if (each.text.empty()) {
    made.*into = add_constant(0, 8);
  } else {
    const int bytes = width({.what = operand::name, .text = each.text}, 8);
    made.*into = source({.what = operand::name, .text = each.text}, bytes);
    made.is_wide_address = bytes == 8;
  }
}

slot decoder::add_register(int bytes) {
  const slot made_here = register_at(into_.register_bytes);
  into_.register_bytes += bytes_of_lanes(bytes);
  return made_here;
}

slot decoder::carry() {
  if (carry_.is_there == 0) carry_ = add_register(4);
  return carry_;
}

slot decoder::add_constant(std::uint64_t bits, int bytes) {
  const auto [known, is_new] = known_constants_.try_emplace({bits, bytes});
  if (!is_new) return known->second;
  std::vector<unsigned char> lanes(bytes_of_lanes(bytes));
  const std::uint64_t all = 0 - std::uint64_t{bits != 0};
  for (std::size_t i = 0; i < lanes.size(); i += static_cast<std::size_t>(bytes == 0 ? 8 : bytes))
    std::memcpy(&lanes[i], bytes == 0 ? &all : &bits, static_cast<std::size_t>(bytes == 0 ? 8 : bytes));
  slot& where = known->second;
  where = {
      .offset = static_cast<std::uint32_t>(into_.constants.size() * 8) & 0x3fffffff, .is_constant = 1, .is_there = 1};
  into_.constants.resize(into_.constants.size() + lanes.size() / 8);
  std::memcpy(&into_.constants[where.offset / 8], lanes.data(), lanes.size());
  return where;
}

void decoder::add(bool is_label) {
  if (is_label) {
    labels_[text->label] = static_cast<std::uint32_t>(into_.code.size());
    return;
  }
  into_.code.push_back(made);
  into_.texts.emplace_back(text->text);
  into_.lines.push_back(text->line);
}

void decoder::finish() {
  for (const auto& [at, label] : labels_used_) {
    const auto found = labels_.find(label);
    if (found == labels_.end()) throw fault("PTX: no label is called " + std::string(label));
    into_.code[at].target = found->second;
  }
}

kernel decode(const entry_text& entry, module& of) {
  struct family {
    bool (*decode)(decoder&);
    work counts_as;
  };
  static constexpr family families[] = {
      {decode_integers, work::integers}, {decode_carries, work::integers},  {decode_floats, work::floats},
      {decode_compares, work::compares}, {decode_moves, work::moves},       {decode_conversions, work::conversions},
      {decode_accesses, work::loads},    {decode_clusters, work::integers}, {decode_control, work::control},
      {decode_shuffles, work::shuffles}, {decode_copies, work::copies},     {decode_matrices, work::matrices},
      {decode_hopper, work::matrices}};
  kernel result;
  decoder d(result, entry, of);
  for (const statement& each : entry.statements) {
    d.begin(each);
    result.has_fences |=
        d.part(0) == "membar" || d.part(0) == "fence" || d.has("acquire") || d.has("release") || d.has("acq_rel");
    const bool is_label = !each.label.empty();
    const auto knows = [&](const family& one) { return one.decode(d); };
    const auto* const found =
        is_label ? std::begin(families) : std::find_if(std::begin(families), std::end(families), knows);
    if (found == std::end(families)) d.refuse("an instruction that the machine does not know");
    d.made.counts_as = work_of(d, found->counts_as);
    d.add(is_label);
  }
  d.finish();
  watch_sums(result);
  return result;
}

}  // namespace tenon_test::ptx
