// tenon/io/npz.hpp: NPZ files, NumPy's format of several arrays: a ZIP archive of NPY files.
// Members that are stored, as numpy.savez does, are read in place; their checksums must be right.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <tenon/io/checksum.hpp>
#include <tenon/io/npy.hpp>

namespace tenon::io {

/// An NPZ file as numpy.savez writes it, its directory checked when it is opened, an array when it is read.
/// throws    file_error when the file is truncated, its directory lies, members are compressed or larger than 4 GiB
/// source    PKWARE: APPNOTE.TXT, .ZIP file format specification; numpy.lib.format
/// example   const io::npz_file file("digits.npz");
///           data::tensor_dataset examples(file.read<float, 2>("x"), file.read<std::int64_t, 1>("y"));
class npz_file {
 public:
  explicit npz_file(const std::filesystem::path& path) : path_(path), bytes_(read_bytes("read_npz", path)) {
    std::size_t at = find_directory();
    const std::uint64_t count = number<2>(at + 10);
    at = static_cast<std::size_t>(number<4>(at + 16));
    for (std::uint64_t i = 0; i < count; ++i) at = add_member(at);
  }

  std::vector<std::string> names() const {
    std::vector<std::string> result;
    for (const auto& [name, place] : members_) result.push_back(name);
    return result;
  }
  bool contains(const std::string& name) const { return members_.contains(name); }
  /// The array that was saved by this name, as read_npy reads it.
  /// throws    file_error when there is none, or it is damaged, of another element type or rank
  template <dtype T, int Rank>
  tensor<T, rank<Rank>> read(const std::string& name) const {
    const auto found = members_.find(name);
    if (found == members_.end()) {
      std::string known;
      for (const auto& each : names()) known += (known.empty() ? "" : ", ") + each;
      refuse_file("there is no array " + name + "; there are " + known);
    }
    const auto content = std::span(bytes_).subspan(found->second.first, found->second.size);
    if (crc32(content) != found->second.checksum) {
      refuse_file(name + ": its checksum is wrong; is the file damaged?");
    }
    return detail::parse_npy<T, Rank>(path_ / (name + ".npy"), content);
  }

 private:
  struct member {
    std::size_t first, size;
    std::uint32_t checksum;
  };
  static constexpr std::size_t end_bytes = 22, directory_bytes = 46, local_bytes = 30;

  [[noreturn]] void refuse_file(const std::string& fact) const { refuse("read_npz", path_, fact); }
  template <int Bytes>
  std::uint64_t number(std::size_t at) const {
    if (at > bytes_.size() || bytes_.size() - at < static_cast<std::size_t>(Bytes)) {
      refuse_file(compose_text("its directory points to byte ", at, " of ", bytes_.size(), "; is it truncated?"));
    }
    return little_endian<Bytes>(std::span(bytes_).subspan(at));
  }
  /// Behind the last member, but for a comment of up to 64 KiB.
  std::size_t find_directory() const {
    for (std::size_t back = end_bytes; back <= bytes_.size() && back <= end_bytes + 65535; ++back) {
      const std::size_t at = bytes_.size() - back;
      if (number<4>(at) == 0x06054b50 && number<2>(at + 20) == back - end_bytes) return at;
    }
    refuse_file("it does not end as a ZIP archive does; is it truncated?");
  }
  /// Adds the member whose entry of the directory lies at `at`; returns where the next one does.
  std::size_t add_member(std::size_t at) {
    if (number<4>(at) != 0x02014b50) refuse_file(compose_text("byte ", at, " begins no entry of its directory"));
    const auto length = static_cast<std::size_t>(number<2>(at + 28));
    const std::size_t next = at + directory_bytes + length + static_cast<std::size_t>(number<2>(at + 30)) +
                             static_cast<std::size_t>(number<2>(at + 32));
    const std::uint64_t size = number<4>(at + 24), local = number<4>(at + 42);
    if (next > bytes_.size()) refuse_file("its directory is truncated");
    std::string name(bytes_.begin() + static_cast<std::ptrdiff_t>(at + directory_bytes),
                     bytes_.begin() + static_cast<std::ptrdiff_t>(at + directory_bytes + length));
    if (number<2>(at + 10) != 0) refuse_file(name + ": it is compressed; save it by numpy.savez");
    if (size == 0xffffffff || local == 0xffffffff) refuse_file(name + ": more than 4 GiB are not read; save it as NPY");
    const std::size_t begin = content_of(name, static_cast<std::size_t>(local));
    if (begin > bytes_.size() || size > bytes_.size() - begin || size != number<4>(at + 20)) {
      refuse_file(
          compose_text(name, ": ", size, " bytes from byte ", begin, " on, of ", bytes_.size(), "; is it truncated?"));
    }
    if (name.ends_with(".npy")) name.resize(name.size() - 4);
    members_[name] = {begin, static_cast<std::size_t>(size), static_cast<std::uint32_t>(number<4>(at + 16))};
    return next;
  }
  /// Where the content of a member begins: behind a header of its own, whose name and notes may have other lengths.
  std::size_t content_of(const std::string& name, std::size_t local) const {
    if (number<4>(local) != 0x04034b50) refuse_file(compose_text(name, ": byte ", local, " begins no member"));
    return local + local_bytes + static_cast<std::size_t>(number<2>(local + 26)) +
           static_cast<std::size_t>(number<2>(local + 28));
  }

  std::filesystem::path path_;
  std::vector<std::uint8_t> bytes_;
  std::map<std::string, member> members_;
};

}  // namespace tenon::io
