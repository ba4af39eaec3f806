// tests/support/deflated.hpp: bytes as zlib deflates them, without a header, as members of ZIP archives are.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/io/inflate.hpp>

#if TENON_ZLIB != 0
#include "support/catch.hpp"
#include "support/scratch_file.hpp"

namespace tenon_test {

inline bytes deflated(bytes content) {
  z_stream stream{};
  REQUIRE(deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 8, Z_DEFAULT_STRATEGY) == Z_OK);
  bytes result(deflateBound(&stream, static_cast<uLong>(content.size())));
  stream.next_in = content.data(), stream.avail_in = static_cast<uInt>(content.size());
  stream.next_out = result.data(), stream.avail_out = static_cast<uInt>(result.size());
  REQUIRE(deflate(&stream, Z_FINISH) == Z_STREAM_END);
  result.resize(stream.total_out);
  deflateEnd(&stream);
  return result;
}

}  // namespace tenon_test
#endif
