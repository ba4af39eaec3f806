// tests/ptx/counts.cpp: sectors, passes over banks, and the counts of a launch as text.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/counts.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <numeric>

namespace tenon_test::ptx {

namespace {

constexpr unsigned lanes_of_warp = 32, sector_bytes = 32, banks = 32, bank_bytes = 4;

void add(traffic& to, const traffic& more) {
  to.accesses += more.accesses;
  to.bytes += more.bytes;
  to.parts += more.parts;
  to.fewest += more.fewest;
}

/// How often the banks are read for some words: a bank gives one word at a time, to whoever wants it.
std::uint64_t passes_of(const std::uintptr_t* words, std::size_t count) {
  std::array<std::array<std::uintptr_t, lanes_of_warp>, banks> seen;
  std::array<std::uint32_t, banks> counts{};
  std::uint32_t most = 0;
  for (std::size_t i = 0; i < count; ++i) {
    auto& here = seen[words[i] % banks];
    std::uint32_t& number = counts[words[i] % banks];
    if (std::find(here.begin(), here.begin() + number, words[i]) != here.begin() + number) continue;
    here[number++] = words[i];
    most = std::max(most, number);
  }
  return most;
}

std::string json_of(const char* name, const traffic& of, const char* parts) {
  return std::string("\"") + name + "\":{\"accesses\":" + std::to_string(of.accesses) +
         ",\"bytes\":" + std::to_string(of.bytes) + ",\"" + parts + "\":" + std::to_string(of.parts) +
         ",\"fewest\":" + std::to_string(of.fewest) + "}";
}

/// A text in quotes.
std::string quoted(const std::string& text) {
  std::string result = "\"";
  for (const char each : text) result += each == '"' || each == '\\' ? std::string{'\\', each} : std::string{each};
  return result + "\"";
}

std::string json_of(const std::array<std::uint32_t, 3>& extents) {
  return "[" + std::to_string(extents[0]) + "," + std::to_string(extents[1]) + "," + std::to_string(extents[2]) + "]";
}

}  // namespace

std::uint64_t counts::instructions() const { return std::accumulate(warps.begin(), warps.end(), std::uint64_t{0}); }
std::uint64_t counts::lane_instructions() const {
  return std::accumulate(lanes.begin(), lanes.end(), std::uint64_t{0});
}

counts& counts::operator+=(const counts& more) {
  for (std::size_t i = 0; i < warps.size(); ++i) warps[i] += more.warps[i], lanes[i] += more.lanes[i];
  add(global_loads, more.global_loads), add(global_stores, more.global_stores);
  add(global_atomics, more.global_atomics), add(shared_loads, more.shared_loads);
  add(shared_stores, more.shared_stores), add(shared_atomics, more.shared_atomics);
  tensor_operations += more.tensor_operations;
  return *this;
}

void count_global(traffic& into, const std::uintptr_t* addresses, std::uint32_t active, unsigned bytes) {
  std::array<std::uintptr_t, lanes_of_warp> seen;
  std::size_t count = 0;
  for (std::uint32_t left = active; left != 0; left &= left - 1) {
    const std::uintptr_t sector = addresses[std::countr_zero(left)] / sector_bytes;
    if (count != 0 && seen[count - 1] == sector) continue;
    if (std::find(seen.begin(), seen.begin() + count, sector) == seen.begin() + count) seen[count++] = sector;
  }
  const auto asked = static_cast<std::uint64_t>(std::popcount(active)) * bytes;
  add(into, {.accesses = 1, .bytes = asked, .parts = count, .fewest = (asked + sector_bytes - 1) / sector_bytes});
}

/// Lanes take turns so that at most 128 bytes are asked for at a time.
void count_shared(traffic& into, const std::uintptr_t* addresses, std::uint32_t active, unsigned bytes) {
  const unsigned words_each = std::max(bytes / bank_bytes, 1u), lanes_each = lanes_of_warp / words_each;
  traffic here{.accesses = 1, .bytes = static_cast<std::uint64_t>(std::popcount(active)) * bytes};
  for (unsigned first = 0; first < lanes_of_warp; first += lanes_each) {
    std::array<std::uintptr_t, lanes_of_warp> words;
    std::size_t count = 0;
    for (unsigned lane = first; lane < first + lanes_each; ++lane) {
      if ((active >> lane & 1) == 0) continue;
      for (unsigned i = 0; i < words_each; ++i) words[count++] = addresses[lane] / bank_bytes + i;
    }
    here.parts += passes_of(words.data(), count);
    here.fewest += count != 0 ? 1 : 0;
  }
  add(into, here);
}

std::string json_of(const counted_launch& launch) {
  const counts& done = launch.done;
  std::string text = "{\"kernel\":" + quoted(launch.kernel) + ",\"entry\":" + quoted(launch.entry) +
                     ",\"grid\":" + json_of(launch.grid) + ",\"block\":" + json_of(launch.block) +
                     ",\"shared_bytes\":" + std::to_string(launch.shared_bytes) +
                     ",\"instructions\":" + std::to_string(done.instructions()) +
                     ",\"lane_instructions\":" + std::to_string(done.lane_instructions()) + ",\"lanes\":{";
  for (std::size_t i = 0; i < work_names.size(); ++i)
    text += std::string(i == 0 ? "\"" : ",\"") + work_names[i] + "\":" + std::to_string(done.lanes[i]);
  text += "}," + json_of("global_loads", done.global_loads, "sectors");
  text += "," + json_of("global_stores", done.global_stores, "sectors");
  text += "," + json_of("global_atomics", done.global_atomics, "sectors");
  text += "," + json_of("shared_loads", done.shared_loads, "passes");
  text += "," + json_of("shared_stores", done.shared_stores, "passes");
  text += "," + json_of("shared_atomics", done.shared_atomics, "passes");
  return text + ",\"tensor_operations\":" + std::to_string(done.tensor_operations) + "}";
}

}  // namespace tenon_test::ptx
