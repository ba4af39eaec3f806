// tests/fuzz/readers/arrays.cpp: attacks on the readers of arrays: IDX, NPY, NPZ and deflated bytes.
// What is read goes out and in again with the same bits.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/idx.hpp>
#include <tenon/io/npz.hpp>

#include "fuzz/readers/damage.hpp"
#include "support/deflated.hpp"
#include "support/stored_archive.hpp"

namespace fuzz {

namespace {

namespace io = tenon::io;
using tenon::rank;

constexpr const char* descrs[] = {"|u1", "<f4", "|b1", "<i8", "<f2", ">f4", "<c8"};
constexpr std::size_t sizes_of_descrs[] = {1, 4, 1, 8, 2, 4, 8};

bytes random_bytes(std::size_t size, random_source& random) {
  bytes result(size);
  for (auto& each : result) each = static_cast<std::uint8_t>(random.bits());
  return result;
}

template <class Tensor>
void must_equal(const Tensor& found, const Tensor& expected) {
  must_hold(found.shape() == expected.shape(), "other extents come back");
  const auto size = static_cast<std::size_t>(found.size()) * sizeof(typename Tensor::element);
  must_hold(size == 0 || std::memcmp(found.data(), expected.data(), size) == 0, "other elements come back");
}

bytes make_idx(random_source& random) {
  bytes content{0, 0, 8, static_cast<std::uint8_t>(1 + random.below(3))};
  std::size_t count = 1;
  for (int axis = 0; axis < content[3]; ++axis) {
    const auto extent = static_cast<std::size_t>(random.below(5));
    count *= extent;
    for (const int shift : {24, 16, 8, 0}) content.push_back(static_cast<std::uint8_t>(extent >> shift & 0xff));
  }
  return tenon_test::joined(content, random_bytes(count, random));
}

template <int Rank>
void check_idx_of(const std::filesystem::path& path) {
  static const memory_file again("again.idx");
  const auto read = io::read_idx<Rank>(path);
  io::write_idx(again.path, read);
  must_equal(io::read_idx<Rank>(again.path), read);
}

void check_idx(const std::filesystem::path& path, const bytes& content) {
  const int rank = content.size() > 3 ? content[3] : 0;
  rank == 1 ? check_idx_of<1>(path) : rank == 2 ? check_idx_of<2>(path) : check_idx_of<3>(path);
}

/// An array of NumPy's of up to three axes, in any version, type and order; its header is damaged at times.
bytes make_npy(random_source& random) {
  const auto type = static_cast<std::size_t>(random.below(std::size(descrs)));
  std::string shape;
  std::size_t count = 1;
  for (auto axes = random.below(4); axes > 0; --axes) {
    const auto extent = random.below(5);
    count *= static_cast<std::size_t>(extent);
    shape += std::to_string(extent) + ", ";
  }
  const std::string order = once_in(2, random) ? "True" : "False";
  bytes header = tenon_test::bytes_of("{'descr': '" + std::string(descrs[type]) + "', 'fortran_order': " + order +
                                      ", 'shape': (" + shape + "), }\n");
  if (once_in(3, random)) header = damaged(std::move(header), random);
  const auto version = static_cast<std::uint8_t>(1 + random.below(3));
  bytes content{0x93, 'N', 'U', 'M', 'P', 'Y', version, 0};
  tenon_test::append_number(content, header.size(), version == 1 ? 2 : 4);
  return tenon_test::joined(tenon_test::joined(content, header), random_bytes(count * sizes_of_descrs[type], random));
}

template <class T, int Rank>
void check_npy_of(const std::filesystem::path& path) {
  static const memory_file again("again.npy");
  const auto read = io::read_npy<T, Rank>(path);
  io::write_npy(again.path, read);
  must_equal(io::read_npy<T, Rank>(again.path), read);
}

template <class T>
void check_npy_as(const std::filesystem::path& path, std::int64_t axes) {
  axes == 0   ? check_npy_of<T, 0>(path)
  : axes == 1 ? check_npy_of<T, 1>(path)
  : axes == 2 ? check_npy_of<T, 2>(path)
              : check_npy_of<T, 3>(path);
}

void check_npy(const std::filesystem::path& path, const bytes& content) {
  const std::string text(content.begin(), content.end());
  const auto shape = text.find('('), end = text.find(')', std::min(shape, text.size()));
  const auto axes = end == std::string::npos ? 0
                                             : std::count(text.begin() + static_cast<std::ptrdiff_t>(shape),
                                                          text.begin() + static_cast<std::ptrdiff_t>(end), ',');
  const auto is = [&](const char* descr) { return text.find(descr) != std::string::npos; };
  if (is("<f4")) check_npy_as<float>(path, axes);
  else if (is("|b1")) check_npy_as<bool>(path, axes);
  else if (is("<i8")) check_npy_as<std::int64_t>(path, axes);
  else if (is("<f2")) check_npy_as<tenon::half>(path, axes);
  else check_npy_as<std::uint8_t>(path, axes);
}

/// An archive of an array that may be damaged before its sum is made; what the directory says is falsified at times.
bytes make_npz(random_source& random) {
  bytes array = make_npy(random);
  if (once_in(3, random)) array = damaged(std::move(array), random);
  tenon_test::stored_archive archive(array);
#if TENON_ZLIB != 0
  if (once_in(2, random)) {
    bytes deflated = tenon_test::deflated(array);
    if (once_in(4, random)) deflated = damaged(std::move(deflated), random);
    archive = tenon_test::stored_archive(array, std::move(deflated));
  }
#endif
  std::uint64_t* const numbers[] = {&archive.method, &archive.size,      &archive.stored,
                                    &archive.local,  &archive.directory, &archive.count};
  if (once_in(4, random)) *one_of(numbers, random) = one_of(numbers_at_ends, random);
  if (once_in(3, random)) archive.enlarge();
  if (once_in(4, random)) *one_of(numbers, random) += static_cast<std::uint64_t>(random.below(9)) - 4;
  return archive.file();
}

void check_npz(const std::filesystem::path& path, const bytes&) {
  const io::npz_file file(path);
  int read = 0;
  const auto attempt = [&](const auto& body) {
    try {
      body(), ++read;
    } catch (const tenon::file_error&) {
    }
  };
  for (const auto& name : file.names()) {
    attempt([&] { file.read<float, 2>(name); });
    attempt([&] { file.read<std::uint8_t, 1>(name); });
    attempt([&] { file.read<std::int64_t, 3>(name); });
  }
  if (read == 0) throw tenon::file_error("no array is read");
}

#if TENON_ZLIB != 0
/// Two bytes of size, then a stream of that many bytes.
bytes make_deflated(random_source& random) {
  const auto size = static_cast<std::size_t>(random.below(600));
  bytes content =
      once_in(2, random) ? random_bytes(size, random) : bytes(size, static_cast<std::uint8_t>(random.bits()));
  bytes all;
  tenon_test::append_number(all, content.size(), 2);
  return tenon_test::joined(all, tenon_test::deflated(std::move(content)));
}

void check_deflated(const std::filesystem::path&, const bytes& content) {
  const auto inflate = [](std::span<const std::uint8_t> deflated, std::uint64_t size) {
    return io::inflate(deflated, size, [](const std::string& fact) { throw tenon::file_error(fact); });
  };
  if (content.size() < 2) throw tenon::file_error("no size");
  const std::uint64_t size = io::little_endian<2>(content);
  const auto inflated = inflate(std::span(content).subspan(2), size);
  must_hold(inflated.size() == size, "another size comes back");
  must_hold(inflate(tenon_test::deflated(inflated), size) == inflated, "other bytes come back");
}
#endif

}  // namespace

std::vector<format> array_formats() {
  return {
      {"idx", make_idx, check_idx},
      {"npy", make_npy, check_npy},
      {"npz", make_npz, check_npz},
#if TENON_ZLIB != 0
      {"inflate", make_deflated, check_deflated},
#endif
  };
}

}  // namespace fuzz
