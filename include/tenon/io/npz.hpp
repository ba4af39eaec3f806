// tenon/io/npz.hpp: NPZ files, NumPy's format of several arrays: a ZIP archive of NPY files.
// Members that are stored, as numpy.savez does, are read in place; compressed ones by zlib, where the program has it.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <tenon/io/checksum.hpp>
#include <tenon/io/inflate.hpp>
#include <tenon/io/npy.hpp>

namespace tenon::io {

/// An NPZ file as numpy.savez and savez_compressed write it. Opening it checks its directory; reading an array checks
/// the array and its checksum.
/// throws    file_error when the file is truncated or its directory is wrong, and where members are compressed but the
///           program has no zlib
/// source    PKWARE: APPNOTE.TXT, .ZIP file format specification; numpy.lib.format
/// example   const io::npz_file file("digits.npz");
///           data::tensor_dataset examples(file.read<float, 2>("x"), file.read<std::int64_t, 1>("y"));
class npz_file {
 public:
  TENON_IF_CALLED explicit npz_file(const std::filesystem::path& path)
      : path_(path), bytes_(read_bytes("read_npz", path)) {
    within_memory("read_npz", path_, bytes_.size(), [&] { read_directory(); });
  }

  TENON_IF_CALLED std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, place] : members_) result.push_back(name);
    return result;
  }
  TENON_IF_CALLED bool contains(const std::string& name) const { return members_.contains(name); }
  /// Reads the array that was saved under this name, as read_npy does.
  /// throws    file_error when there is no such array, or it is damaged, or of another element type or rank
  template <dtype T, int Rank>
  tensor<T, rank<Rank>> read(const std::string& name) const {
    const auto found = members_.find(name);
    if (found == members_.end()) {
      std::string known;
      for (const auto& each : names()) known += (known.empty() ? "" : ", ") + each;
      refuse_file("there is no array " + name + "; there are " + known);
    }
    return within_memory("read_npz", path_, found->second.size,
                         [&] { return read_member<T, Rank>(name, found->second); });
  }

 private:
  struct member {
    std::size_t first, stored;  // where its bytes begin, and how many there are
    std::uint64_t size;         // how many they become
    std::uint32_t checksum;
    bool is_compressed;
  };
  static constexpr std::size_t end_bytes = 22, locator_bytes = 20, directory_bytes = 46, local_bytes = 30;
  static constexpr std::uint64_t is_elsewhere = 0xffffffff;  // a number of ZIP64, which lies in the notes

  [[noreturn]] void refuse_file(const std::string& fact) const { refuse("read_npz", path_, fact); }
  TENON_IF_CALLED void read_directory() {
    std::size_t at = find_directory();
    std::uint64_t count = number<2>(at + 10), first = number<4>(at + 16);
    if (is_large(at)) {
      const std::size_t large = number<8>(at - locator_bytes + 8);
      if (number<4>(large) != 0x06064b50) refuse_file(compose_text("byte ", large, " begins no directory of ZIP64"));
      count = number<8>(large + 32), first = number<8>(large + 48);
    }
    at = first;
    for (std::uint64_t i = 0; i < count; ++i) at = add_member(at);
  }
  template <int Bytes>
  std::uint64_t number(std::size_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < static_cast<std::size_t>(Bytes)) {
      refuse_file(compose_text("its directory points to byte ", at, " of ", bytes_.size(), "; is it truncated?"));
    }
    return little_endian<Bytes>(std::span(bytes_).subspan(at));
  }
  /// Behind the last member, but for a comment of up to 64 KiB.
  TENON_IF_CALLED std::size_t find_directory() const {
    for (std::size_t back = end_bytes; back <= bytes_.size() && back <= end_bytes + 65535; ++back) {
      const std::size_t at = bytes_.size() - back;
      if (number<4>(at) == 0x06054b50 && number<2>(at + 20) == back - end_bytes) return at;
    }
    refuse_file("it does not end as a ZIP archive does; is it truncated?");
  }
  /// Whether a directory of ZIP64 is named right before the end.
  TENON_IF_CALLED bool is_large(std::size_t end) const {
    return end >= locator_bytes && number<4>(end - locator_bytes) == 0x07064b50;
  }
  /// Adds the member whose entry of the directory lies at `at`; returns where the next one does.
  TENON_IF_CALLED std::size_t add_member(std::size_t at) {
    if (number<4>(at) != 0x02014b50) refuse_file(compose_text("byte ", at, " begins no entry of its directory"));
    const std::size_t length = number<2>(at + 28);
    const std::size_t next = at + directory_bytes + length + number<2>(at + 30) + number<2>(at + 32);
    if (next > bytes_.size()) refuse_file("its directory is truncated");
    std::string name(bytes_.begin() + static_cast<std::ptrdiff_t>(at + directory_bytes),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(at + directory_bytes + length));
    const std::uint64_t method = number<2>(at + 10);
    if (method != 0 && method != 8) {
      refuse_file(compose_text(name, ": it is compressed by method ", method, "; save it by numpy.savez"));
    }
    const auto [size, stored, local] = places_of(name, at, length);
    const std::size_t begin = content_of(name, local);
    if (begin > bytes_.size() || stored > bytes_.size() - begin || (method == 0 && stored != size)) {
      refuse_file(compose_text(name, ": ", stored, " bytes from byte ", begin, " on, of ", bytes_.size(),
                               "; is it truncated?"));
    }
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    members_[name] = {begin, stored, size, static_cast<std::uint32_t>(number<4>(at + 16)), method != 0};
    return next;
  }
  /// Size, compressed size and place of a member; those that 32 bits do not hold lie in its notes of ZIP64, in order.
  TENON_IF_CALLED std::array<std::uint64_t, 3> places_of(const std::string& name, std::size_t at,
                                                         std::size_t name_length) const {
    std::array<std::uint64_t, 3> places{number<4>(at + 24), number<4>(at + 20), number<4>(at + 42)};
    std::size_t note = at + directory_bytes + name_length;
    std::size_t end = note + number<2>(at + 30);
    while (note + 4 <= end && number<2>(note) != 1) note += 4 + number<2>(note + 2);
    if (note + 4 <= end) end = std::min<std::size_t>(end, note + 4 + number<2>(note + 2));
    note += 4;
    for (auto& each : places) {
      if (each != is_elsewhere) continue;
      if (note + 8 > end) refuse_file(name + ": its directory has no numbers of ZIP64");
      each = number<8>(note), note += 8;
    }
    return places;
  }
  template <dtype T, int Rank>
  tensor<T, rank<Rank>> read_member(const std::string& name, const member& place) const {
    const auto stored = std::span(bytes_).subspan(place.first, place.stored);
    std::vector<std::uint8_t> inflated;
    if (place.is_compressed) inflated = inflate_member(name, stored, place.size);
    const auto content = place.is_compressed ? std::span<const std::uint8_t>(inflated) : stored;
    if (crc32(content) != place.checksum) refuse_file(name + ": its checksum is wrong; is the file damaged?");
    return detail::parse_npy<T, Rank>(path_ / (name + ".npy"), content);
  }
  /// What a compressed member becomes.
  TENON_IF_CALLED std::vector<std::uint8_t> inflate_member(const std::string& name,
                                                           std::span<const std::uint8_t> deflated,
                                                           std::uint64_t size) const {
#if TENON_ZLIB != 0
    return inflate(deflated, size, [&](const std::string& fact) { refuse_file(name + ": " + fact); });
#else
    refuse_file(compose_text(name, ": ", deflated.size(), " compressed bytes of ", size,
                             " are read where the program has zlib (TENON_ZLIB); or save it by numpy.savez"));
#endif
  }
  /// Where the content of a member begins: behind a header of its own, whose name and notes may have other lengths.
  TENON_IF_CALLED std::size_t content_of(const std::string& name, std::size_t local) const {
    if (number<4>(local) != 0x04034b50) refuse_file(compose_text(name, ": byte ", local, " begins no member"));
    return local + local_bytes + number<2>(local + 26) + number<2>(local + 28);
  }

  std::filesystem::path path_;
  std::vector<std::uint8_t> bytes_;
  std::map<std::string, member> members_;
};

}  // namespace tenon::io
