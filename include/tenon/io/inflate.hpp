// tenon/io/inflate.hpp: bytes that were deflated, as members of ZIP archives are, by zlib.
// No more bytes are made than were promised. Empty unless TENON_ZLIB is 1, which the CMake package sets where zlib is.
// Floor 2: may include base, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/base/config.hpp>
#if TENON_ZLIB != 0
#include <zlib.h>

#include <algorithm>
#include <limits>
#include <tenon/io/bytes.hpp>

namespace tenon::io {

namespace detail {

/// A decoder of zlib that ends with its scope.
struct inflating_stream : z_stream {
  inflating_stream() : z_stream{} {
    if (inflateInit2(this, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  }
  inflating_stream(const inflating_stream&) = delete;
  inflating_stream& operator=(const inflating_stream&) = delete;
  ~inflating_stream() { inflateEnd(this); }
};

}  // namespace detail

/// The `size` bytes that a raw stream of deflate holds; `refuse` is called with what is wrong with it, and throws.
/// throws    std::bad_alloc, which readers of files make a file_error of
/// source    RFC 1951, by zlib
template <class Refuse>
std::vector<std::uint8_t> inflate(std::span<const std::uint8_t> deflated, std::uint64_t size, const Refuse& refuse) {
  if (size > most_inflated_bytes * deflated.size()) {
    refuse(compose_text(deflated.size(), " compressed bytes cannot hold ", size));
  }
  std::vector<std::uint8_t> bytes(static_cast<std::size_t>(size) + 1);  // one more shows what holds too much
  detail::inflating_stream stream;
  std::size_t taken = 0, made = 0;
  int status = Z_OK;
  while (status == Z_OK) {  // zlib counts in 32 bits
    const auto step = [](std::size_t left) {
      return static_cast<uInt>(std::min<std::size_t>(left, std::numeric_limits<uInt>::max()));
    };
    stream.next_in = const_cast<Bytef*>(deflated.data() + taken);  // zlib does not write there
    stream.avail_in = step(deflated.size() - taken);
    stream.next_out = bytes.data() + made, stream.avail_out = step(bytes.size() - made);
    status = ::inflate(&stream, Z_NO_FLUSH);
    taken = static_cast<std::size_t>(stream.next_in - deflated.data());
    made = static_cast<std::size_t>(stream.next_out - bytes.data());
  }
  if (status != Z_STREAM_END && status != Z_BUF_ERROR) {
    refuse(compose_text("its compressed bytes are damaged (", stream.msg == nullptr ? "zlib" : stream.msg, ")"));
  }
  if (made > size) refuse(compose_text("its compressed bytes hold more than the ", size, " promised"));
  if (status != Z_STREAM_END || made < size) {
    refuse(compose_text("its compressed bytes end after ", made, " of ", size, "; is it truncated?"));
  }
  bytes.pop_back();
  return bytes;
}

}  // namespace tenon::io
#endif
