// tests/ptx/reductions.cpp: copies to global memory that change what is there: cp.reduce.async.bulk.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/decode.hpp"
#include "ptx/hopper.hpp"
#include "ptx/lanes.hpp"

namespace tenon_test::ptx {

namespace {

constexpr std::string_view operations[] = {"add", "min", "max", "inc", "dec", "and", "or", "xor"};
/// In the order of the driver's numbers.
constexpr std::string_view types[] = {"u8", "u16", "u32", "s32", "u64", "s64", "f16", "f32", "f64"};

bool is_of_bits(std::string_view operation) { return operation == "and" || operation == "or" || operation == "xor"; }

template <class T>
combiner combiner_of(std::string_view operation) {
  return for_change<combiner, T>(operation, []<class Function>(Function) -> combiner {
    return [](unsigned char* memory, const unsigned char* values, std::size_t bytes) {
      for (std::size_t i = 0; i < bytes; i += sizeof(T)) {
        T old, value;
        std::memcpy(&old, memory + i, sizeof(T)), std::memcpy(&value, values + i, sizeof(T));
        const auto made = static_cast<T>(Function{}(old, value, value));
        std::memcpy(memory + i, &made, sizeof(T));
      }
    };
  });
}

}  // namespace

combiner reduction_of(std::uint32_t operation, std::uint32_t type) {
  if (operation == 0 || type >= std::size(types)) return nullptr;
  const std::string_view name = operations[operation - 1], of = types[type];
  const bool is_sum = name == "add", counts = name == "inc" || name == "dec";
  if (of == "f32") return is_sum ? combiner_of<float>(name) : nullptr;
  if (of == "f64") return is_sum ? combiner_of<double>(name) : nullptr;
  if (of == "u32") return combiner_of<std::uint32_t>(name);
  if (of == "s32") return combiner_of<std::int32_t>(name);
  if (of == "u64") return counts ? nullptr : combiner_of<std::uint64_t>(name);
  return of == "s64" && !is_sum ? combiner_of<std::int64_t>(name) : nullptr;
}

std::uint32_t number_of_reduction(std::string_view name) {
  const auto* const found = std::find(std::begin(operations), std::end(operations), name);
  return found == std::end(operations) ? 0 : static_cast<std::uint32_t>(found - std::begin(operations)) + 1;
}

/// `made.target` gets the operation's number, `made.kind` the type's. Operations of bits have types b32 and b64.
bool decode_bulk_reduction(decoder& d) {
  const std::string_view operation = d.part(-2), named = d.part(-1);
  if (is_of_bits(operation) != (named[0] == 'b')) return false;
  const std::string_view type = named == "b32" ? "u32" : named == "b64" ? "u64" : named;
  d.made.target = number_of_reduction(operation);
  d.made.kind = static_cast<std::uint8_t>(std::find(std::begin(types), std::end(types), type) - std::begin(types));
  return reduction_of(d.made.target, d.made.kind) != nullptr;
}

}  // namespace tenon_test::ptx
