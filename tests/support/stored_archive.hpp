// tests/support/stored_archive.hpp: a ZIP archive of one member.
// Built byte by byte, as numpy.savez does; its directory may be falsified, or say that the content is compressed.
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
  bytes content, notes, large_end;  // notes in the directory; what stands before the end of the archive
  std::uint32_t checksum = 0;
  std::uint64_t method = 0, size = 0, stored = 0, local = 0, directory = 0, count = 1;

  explicit stored_archive(bytes array) : content(std::move(array)), size(content.size()), stored(size) {
    checksum = tenon::io::crc32(content);
    directory = 30 + name.size() + 20 + content.size();
  }
  /// The array, compressed by method 8.
  stored_archive(const bytes& array, bytes deflated) : stored_archive(std::move(deflated)) {
    method = 8, size = array.size(), checksum = tenon::io::crc32(array);
  }
  /// Every number that may need more than 32 bits moves to where ZIP64 keeps it.
  void enlarge() {
    append_number(notes, 0x7075, 2), append_number(notes, 3, 2), append_number(notes, 0, 3);  // a note of another kind
    append_number(notes, 1, 2), append_number(notes, 24, 2);
    for (auto* each : {&size, &stored, &local}) append_number(notes, std::exchange(*each, 0xffffffff), 8);
    const std::uint64_t end = directory + 46 + name.size() + notes.size();
    append_number(large_end, 0x06064b50, 4), append_number(large_end, 44, 8), append_number(large_end, 0, 12);
    append_number(large_end, count, 8), append_number(large_end, count, 8), append_number(large_end, 0, 8);
    append_number(large_end, std::exchange(directory, 0xffffffff), 8), count = 0xffff;
    append_number(large_end, 0x07064b50, 4), append_number(large_end, 0, 4), append_number(large_end, end, 8);
    append_number(large_end, 1, 4);
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
    append_number(all, 0, 4), append_number(all, checksum, 4);
    append_number(all, stored, 4), append_number(all, size, 4);
    append_number(all, name.size(), 2), append_number(all, notes.size(), 2), append_number(all, 0, 10);
    append_number(all, local, 4);
    all.insert(all.end(), name.begin(), name.end());
    all.insert(all.end(), notes.begin(), notes.end()), all.insert(all.end(), large_end.begin(), large_end.end());
    append_number(all, 0x06054b50, 4), append_number(all, 0, 4), append_number(all, count, 2);
    append_number(all, count, 2), append_number(all, 46 + name.size() + notes.size(), 4);
    append_number(all, directory, 4), append_number(all, 0, 2);
    return all;
  }
};

}  // namespace tenon_test
