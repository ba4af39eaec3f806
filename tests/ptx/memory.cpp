// tests/ptx/memory.cpp: allocations of the device.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/memory.hpp"

#include <algorithm>
#include <cstring>

namespace tenon_test::ptx {

namespace {

constexpr std::size_t guard = 512;
constexpr std::size_t most_bytes = std::size_t{8} << 30;
constexpr unsigned char poison = 0xff;  // a NaN as a float

std::string hexadecimal(std::uintptr_t address) {
  char text[32];
  std::snprintf(text, sizeof(text), "0x%llx", static_cast<unsigned long long>(address));
  return text;
}

}  // namespace

region::region(unsigned char* begin, std::size_t bytes, std::string name)
    : begin_(begin), bytes_(bytes), name_(std::move(name)), written_(new unsigned char[bytes + 16]) {
  forget();
}

void region::mark(std::uintptr_t address, std::size_t bytes, bool is_written) {
  std::memset(written(address), is_written ? known : unwritten, bytes);
}

uses& region::used(std::uintptr_t address) {
  if (!uses_) uses_.reset(new uses[bytes_ / 4 + 2]);
  return uses_[(address / 4) - (begin() / 4)];
}

void region::forget() {
  std::memset(begin_, poison, bytes_);
  std::memset(written_.get(), unwritten, bytes_ + 16);
}

device_memory& device_memory::of_process() {
  static device_memory& memory = *new device_memory;
  return memory;
}

void* device_memory::allocate(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  if (bytes > most_bytes || bytes_in_use_ + bytes > most_bytes) return nullptr;
  allocation made;
  made.memory = aligned_bytes<256>(bytes + 2 * guard);
  made.known = std::make_unique<region>(made.memory.begin() + guard, bytes,
                                        "an allocation of " + std::to_string(bytes) + " bytes");
  const std::uintptr_t begin = made.known->begin();
  bytes_in_use_ += bytes;
  allocations_[begin] = std::move(made);
  return reinterpret_cast<void*>(begin);
}

bool device_memory::release(void* memory) {
  const std::lock_guard lock(mutex_);
  const auto found = allocations_.find(reinterpret_cast<std::uintptr_t>(memory));
  if (found == allocations_.end()) return false;
  bytes_in_use_ -= found->second.known->bytes();
  allocations_.erase(found);
  return true;
}

region* device_memory::find(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return nullptr;
  region* const before = std::prev(after)->second.known.get();
  return address < before->end() ? before : nullptr;
}

std::string device_memory::describe(std::uintptr_t address) {
  const std::lock_guard lock(mutex_);
  const std::string text = "address " + hexadecimal(address);
  auto after = allocations_.upper_bound(address);
  if (after == allocations_.begin()) return text + " is in no allocation";
  const region& before = *std::prev(after)->second.known;
  return text + " lies " + std::to_string(address - before.begin()) + " bytes behind the begin of " + before.name();
}

void device_memory::copy(void* to, const void* from, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto target = reinterpret_cast<std::uintptr_t>(to), source = reinterpret_cast<std::uintptr_t>(from);
  region *const into = find(target), *const out_of = find(source);
  if ((into != nullptr && !into->holds(target, bytes)) || (out_of != nullptr && !out_of->holds(source, bytes)))
    throw fault("a copy of " + std::to_string(bytes) + " bytes leaves its allocation");
  std::memmove(to, from, bytes);
  if (into == nullptr) return;
  if (out_of == nullptr) into->mark(target, bytes, true);
  else std::memmove(into->written(target), out_of->written(source), bytes);
}

void device_memory::fill(void* to, int value, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const auto target = reinterpret_cast<std::uintptr_t>(to);
  region* const into = find(target);
  if (into == nullptr || !into->holds(target, bytes)) throw fault("a memset leaves its allocation");
  std::memset(to, value, bytes);
  into->mark(target, bytes, true);
}

}  // namespace tenon_test::ptx
