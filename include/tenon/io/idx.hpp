// tenon/io/idx.hpp: IDX files, the format of MNIST.
// Big-endian: two zero bytes, a type, a rank, the extents, then the elements.
// Floor 2: may include base, core, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdio>
#include <tenon/core/tensor.hpp>
#include <tenon/io/bytes.hpp>
#include <tenon/io/write_bytes.hpp>

namespace tenon::io {

namespace detail {

inline constexpr std::uint64_t idx_unsigned_bytes = 0x08;

inline std::string magic_text(std::uint64_t magic) {
  std::array<char, 24> text{};
  std::snprintf(text.data(), text.size(), "0x%08llx", static_cast<unsigned long long>(magic));
  return text.data();
}

inline void check_idx_magic(const std::filesystem::path& path, std::span<const std::uint8_t> bytes, int rank) {
  if (bytes.size() >= 2 && bytes[0] == 0x1f && bytes[1] == 0x8b)
    refuse("read_idx", path, "it is compressed; gunzip it");
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(rank);
  if (bytes.size() < header) {
    refuse("read_idx", path, compose_text(bytes.size(), " bytes, expected a header of ", header, "; is it truncated?"));
  }
  const std::uint64_t magic = big_endian<4>(bytes),
                      expected = idx_unsigned_bytes << 8 | static_cast<std::uint64_t>(rank);
  if (magic != expected) {
    refuse("read_idx", path,
           compose_text("magic number ", magic_text(magic), ", expected ", magic_text(expected), " (unsigned bytes, ",
                        rank, rank == 1 ? " axis)" : " axes)"));
  }
}

/// Parses an IDX file's bytes; `path` is for messages.
template <int Rank>
tensor<std::uint8_t, rank<Rank>> parse_idx(const std::filesystem::path& path, std::span<const std::uint8_t> bytes) {
  check_idx_magic(path, bytes, Rank);
  const std::size_t header = 4 + 4 * static_cast<std::size_t>(Rank), present = bytes.size() - header;
  array<index, Rank> extents{};
  for (int axis = 0; axis < Rank; ++axis) {
    extents[axis] = static_cast<index>(big_endian<4>(bytes.subspan(4 + 4 * static_cast<std::size_t>(axis))));
  }
  const std::uint64_t count = bytes_of_elements("read_idx", path, extents, 1);
  if (count != present) {
    refuse("read_idx", path,
           compose_text(present, " elements, expected ", count, " (extents ", extents, ")",
                        present < count ? "; is the file truncated?" : ""));
  }
  tensor<std::uint8_t, rank<Rank>> result{rank<Rank>(extents)};
  if (present != 0) std::memcpy(result.data(), bytes.data() + header, present);
  return result;
}

}  // namespace detail

/// Reads an IDX file of unsigned bytes. The extents are the file's, of which there must be `Rank`.
/// throws    file_error when the file is missing, compressed, of another type or rank, truncated or too long, or memory
///           is too small; nothing is allocated for a header that contradicts the size of the file
/// example   const auto images = io::read_idx<3>("train-images-idx3-ubyte");
template <int Rank>
tensor<std::uint8_t, rank<Rank>> read_idx(const std::filesystem::path& path) {
  const auto bytes = read_bytes("read_idx", path);
  return within_memory("read_idx", path, bytes.size(), [&] { return detail::parse_idx<Rank>(path, bytes); });
}

/// Writes a tensor of unsigned bytes as an IDX file. A file of this name is replaced whole.
/// throws    file_error when it cannot be written
template <shape_type Shape>
void write_idx(const std::filesystem::path& path, const tensor<std::uint8_t, Shape>& elements) {
  std::vector<std::uint8_t> header{0, 0, static_cast<std::uint8_t>(detail::idx_unsigned_bytes), Shape::rank};
  for (int axis = 0; axis < Shape::rank; ++axis) {
    for (int shift = 24; shift >= 0; shift -= 8) {
      header.push_back(static_cast<std::uint8_t>(elements.extent(axis) >> shift & 0xff));
    }
  }
  const std::array<std::span<const std::uint8_t>, 2> parts{
      header, {elements.data(), static_cast<std::size_t>(elements.size())}};
  write_bytes("write_idx", path, parts);
}

}  // namespace tenon::io
