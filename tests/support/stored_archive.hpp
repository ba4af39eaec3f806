// tests/support/stored_archive.hpp: a ZIP archive of one member that is not compressed.
// Built byte by byte, as numpy.savez does; its directory may be falsified.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/io/checksum.hpp>

#include "support/scratch_file.hpp"

namespace tenon_test {

inline void append_number(bytes& to, std::uint64_t value, int count) {
  for (int i = 0; i < count; ++i) to.push_back(static_cast<std::uint8_t>(i < 8 ? value >> (8 * i) : 0));
}

/// An archive of one member and what its directory says of it, to be falsified.
struct stored_archive {
  std::string name = "x.npy";
  bytes content;
  std::uint32_t checksum = 0;
  std::uint64_t method = 0, size = 0, local = 0, directory = 0;

  explicit stored_archive(bytes array) : content(std::move(array)), size(content.size()) {
    checksum = tenon::io::crc32(content);
    directory = 30 + name.size() + 20 + content.size();
  }
  /// The member's own header carries 20 bytes of notes, as numpy.savez leaves room for large files.
  bytes file() const {
    bytes all;
    append_number(all, 0x04034b50, 4), append_number(all, 0, 22), append_number(all, name.size(), 2);
    append_number(all, 20, 2);
    all.insert(all.end(), name.begin(), name.end());
    append_number(all, 0, 20);
    all.insert(all.end(), content.begin(), content.end());
    append_number(all, 0x02014b50, 4), append_number(all, 0, 6), append_number(all, method, 2);
    append_number(all, 0, 4), append_number(all, checksum, 4), append_number(all, size, 4), append_number(all, size, 4);
    append_number(all, name.size(), 2), append_number(all, 0, 12), append_number(all, local, 4);
    all.insert(all.end(), name.begin(), name.end());
    append_number(all, 0x06054b50, 4), append_number(all, 0, 4), append_number(all, 1, 2), append_number(all, 1, 2);
    append_number(all, 46 + name.size(), 4), append_number(all, directory, 4), append_number(all, 0, 2);
    return all;
  }
};

}  // namespace tenon_test
