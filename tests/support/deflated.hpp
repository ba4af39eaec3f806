// tests/support/deflated.hpp: bytes as zlib deflates them, without a header, as members of ZIP archives are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/io/inflate.hpp>

#if TENON_ZLIB != 0
#include <stdexcept>

#include "support/scratch_file.hpp"

namespace tenon_test {

inline bytes deflated(bytes content) {
  z_stream stream{};
  const auto check = [](bool is_done) {
    if (!is_done) throw std::runtime_error("zlib does not deflate");
  };
  check(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  bytes result(deflateBound(&stream, static_cast<uLong>(content.size())));
  stream.next_in = content.data(), stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = result.data(), stream.avail_out = static_cast<uInt>(result.size());
  check(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace tenon_test
#endif
