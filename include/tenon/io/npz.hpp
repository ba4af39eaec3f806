// tenon/io/npz.hpp: NPZ files, NumPy's format of several arrays: a ZIP archive of NPY files.
// Members are written stored, as numpy.savez does, and read in place; compressed ones by zlib, where programs have it.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <map>
#include <set>
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

namespace detail {

/// A ZIP archive that is being made, of members that are stored as they are.
class zip_archive {
 public:
  /// Numbers of `large` and more are written as those of ZIP64.
  explicit zip_archive(std::uint64_t large = 0xffffffff) : large_(large) {}

  void add(const std::string& name, std::vector<std::uint8_t> content) {
    const std::uint64_t size = content.size();
    const std::uint32_t checksum = crc32(content);
    const auto own_notes = notes_of({size, size}), notes = notes_of({size, size, size_});
    std::vector<std::uint8_t> local;
    append_little_endian<4>(local, 0x04034b50);
    append_facts(local, checksum, size, name.size(), own_notes.size());
    append_bytes(local, name), append_bytes(local, own_notes);
    append_little_endian<4>(directory_, 0x02014b50), append_little_endian<2>(directory_, version);
    append_facts(directory_, checksum, size, name.size(), notes.size());
    append_little_endian<8>(directory_, 0), append_little_endian<2>(directory_, 0);  // no comment, no attributes
    append_number(directory_, size_), append_bytes(directory_, name), append_bytes(directory_, notes);
    size_ += local.size() + size, ++count_;
    parts_.push_back(std::move(local)), parts_.push_back(std::move(content));
  }
  /// Writes the members, then the directory and where it lies.
  void save(const char* operation, const std::filesystem::path& path) const {
    std::vector<std::uint8_t> end;
    const std::uint64_t length = directory_.size();
    if (count_ >= most_members || count_ >= large_ || length >= large_ || size_ >= large_) {
      append_little_endian<4>(end, 0x06064b50), append_little_endian<8>(end, 44);
      append_little_endian<2>(end, version), append_little_endian<2>(end, version), append_little_endian<8>(end, 0);
      for (const std::uint64_t number : {count_, count_, length, size_}) append_little_endian<8>(end, number);
      append_little_endian<4>(end, 0x07064b50), append_little_endian<4>(end, 0);
      append_little_endian<8>(end, size_ + length), append_little_endian<4>(end, 1);
    }
    append_little_endian<4>(end, 0x06054b50), append_little_endian<4>(end, 0);
    for (int i = 0; i < 2; ++i) append_little_endian<2>(end, std::min(count_, most_members));
    append_number(end, length), append_number(end, size_), append_little_endian<2>(end, 0);
    std::vector<std::span<const std::uint8_t>> all(parts_.begin(), parts_.end());
    all.push_back(directory_), all.push_back(end);
    write_bytes(operation, path, all);
  }

 private:
  static constexpr std::uint64_t version = 45, utf8_names = 0x800, first_of_1980 = 0x21, most_members = 0xffff;

  /// What a member's header and its entry of the directory both say.
  void append_facts(std::vector<std::uint8_t>& to, std::uint32_t checksum, std::uint64_t size, std::size_t name,
                    std::size_t notes) const {
    append_little_endian<2>(to, version), append_little_endian<2>(to, utf8_names);
    append_little_endian<4>(to, 0), append_little_endian<2>(to, first_of_1980);  // stored, at midnight
    append_little_endian<4>(to, checksum), append_number(to, size), append_number(to, size);
    append_little_endian<2>(to, name), append_little_endian<2>(to, notes);
  }
  void append_number(std::vector<std::uint8_t>& to, std::uint64_t number) const {
    append_little_endian<4>(to, number < large_ ? number : 0xffffffff);
  }
  template <class Bytes>
  static void append_bytes(std::vector<std::uint8_t>& to, const Bytes& bytes) {
    to.insert(to.end(), bytes.begin(), bytes.end());
  }
  /// Those of some numbers that are large, in order.
  std::vector<std::uint8_t> notes_of(std::initializer_list<std::uint64_t> numbers) const {
    std::vector<std::uint8_t> found, notes;
    for (const std::uint64_t number : numbers) {
      if (number >= large_) append_little_endian<8>(found, number);
    }
    if (found.empty()) return notes;
    append_little_endian<2>(notes, 1), append_little_endian<2>(notes, found.size());
    append_bytes(notes, found);
    return notes;
  }

  std::uint64_t large_, count_ = 0, size_ = 0;
  std::vector<std::vector<std::uint8_t>> parts_;
  std::vector<std::uint8_t> directory_;
};

}  // namespace detail

/// Collects named arrays and writes them as one NPZ file, which numpy.load reads: `add(name, x)` copies the elements,
/// `save(path)` writes all, stored as numpy.savez does.
/// example   io::npz_writer file;
///           file.add("x", x), file.add("y", y);
///           file.save("digits.npz");
class npz_writer {
 public:
  /// throws    file_error where the name was added before, is empty or longer than 65531 bytes
  template <class T, shape_type Shape, memory_space Space>
    requires std::is_same_v<statement_space<Space>, host>
  void add(const std::string& name, const tensor<T, Shape, Space>& elements) {
    constexpr std::size_t longest = 65535 - 4;
    if (name.empty() || name.size() > longest) {
      throw file_error(compose_text("npz: a name of ", name.size(), " bytes, expected 1 to ", longest));
    }
    if (names_.contains(name)) throw file_error("npz: array " + name + ": the name was added before");
    auto content = detail::npy_header_of<T>(elements.shape().to_array());
    const auto bytes = detail::bytes_of(elements);
    content.insert(content.end(), bytes.begin(), bytes.end());
    archive_.add(name + ".npy", std::move(content));
    names_.insert(name);
  }
  /// The same of the values of a view or an expression.
  template <class T, shape_type Shape>
  void add(const std::string& name, const view<T, Shape, host>& elements) {
    add(name, tensor<std::remove_const_t<T>, Shape>(elements));
  }
  template <expression_node Expression>
  void add(const std::string& name, const Expression& expression) {
    add(name, tensor<typename Expression::element, typename Expression::shape_type>(expression));
  }
  /// A file of this name is replaced whole.
  /// throws    file_error when the file cannot be written
  void save(const std::filesystem::path& path) const { archive_.save("write_npz", path); }

 private:
  std::set<std::string> names_;
  detail::zip_archive archive_;
};

}  // namespace tenon::io
