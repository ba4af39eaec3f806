// tests/ptx/memory.hpp: allocations of the device, and what is known of their bytes: which hold values, who used them.
// Addresses are those of the host, so that copies of the runtime are plain copies; between allocations lie guards.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <memory>
#include <mutex>

#include "ptx/instruction.hpp"

namespace tenon_test::ptx {

/// Bytes whose first address is a multiple of `Alignment`.
template <std::size_t Alignment>
class aligned_bytes {
 public:
  aligned_bytes() = default;
  explicit aligned_bytes(std::size_t bytes) : memory_(new unsigned char[bytes + Alignment]), bytes_(bytes) {}
  unsigned char* begin() const {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.get());
    return memory_.get() + (Alignment - address % Alignment) % Alignment;
  }
  std::size_t bytes() const { return bytes_; }

 private:
  std::unique_ptr<unsigned char[]> memory_;
  std::size_t bytes_ = 0;
};

/// When and by whom four bytes were used.
struct stamp {
  std::uint32_t clock = 0;        ///< of the warp
  std::uint32_t block = 0;        ///< its number among all blocks that ever ran; 0: nobody
  std::uint32_t block_clock = 0;  ///< of the block
  std::uint16_t thread = 0;       ///< within the block
  std::uint8_t bytes = 0;         ///< a bit a byte
  bool is_atomic = false;
};

/// The last uses of four bytes. Two readers of different warps are kept.
struct uses {
  stamp write, read[2];
};

/// Bytes that kernels use: an allocation or the shared memory of a block.
class region {
 public:
  region(unsigned char* begin, std::size_t bytes, std::string name);

  std::uintptr_t begin() const { return reinterpret_cast<std::uintptr_t>(begin_); }
  std::uintptr_t end() const { return begin() + bytes_; }
  std::size_t bytes() const { return bytes_; }
  const std::string& name() const { return name_; }
  bool holds(std::uintptr_t address, std::size_t bytes) const {
    return address >= begin() && bytes <= bytes_ && address - begin() <= bytes_ - bytes;
  }
  /// What is known of a byte: whether it has a value, and whether only threads know that, not yet the units that copy
  /// tiles and multiply.
  enum knowledge : unsigned char { unwritten, known, known_to_threads };
  /// A `knowledge` for each byte.
  unsigned char* written(std::uintptr_t address) { return &written_[address - begin()]; }
  void mark(std::uintptr_t address, std::size_t bytes, bool is_written);
  /// The uses of the four bytes around an address.
  uses& used(std::uintptr_t address);
  /// Forgets all values.
  void forget();

  enum mark : std::uint8_t { was_read = 1, was_written = 2 };
  std::uint8_t marks = 0;  ///< of the launch under way

 private:
  unsigned char* begin_;
  std::size_t bytes_;
  std::string name_;
  std::unique_ptr<unsigned char[]> written_;
  std::unique_ptr<uses[]> uses_;
};

/// The allocations of all devices.
class device_memory {
 public:
  static device_memory& of_process();

  /// Memory whose address is a multiple of 256; nullptr where more is asked for than a device has.
  void* allocate(std::size_t bytes);
  /// Whether there was such an allocation.
  bool release(void* memory);
  /// The allocation around an address; nullptr: none.
  region* find(std::uintptr_t address);
  /// A sentence about an address that is in no allocation.
  std::string describe(std::uintptr_t address);
  void copy(void* to, const void* from, std::size_t bytes);
  void fill(void* to, int value, std::size_t bytes);
  std::size_t bytes_in_use() const { return bytes_in_use_; }

 private:
  struct allocation {
    aligned_bytes<256> memory;
    std::unique_ptr<region> known;
  };
  std::map<std::uintptr_t, allocation> allocations_;  ///< by first address
  std::recursive_mutex mutex_;
  std::size_t bytes_in_use_ = 0;
};

}  // namespace tenon_test::ptx
