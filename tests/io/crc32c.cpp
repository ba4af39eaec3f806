// tests/io/crc32c.cpp: the checksum of known messages.
// The messages are those of RFC 3720, and one whose masked checksum TensorBoard's own writer gave.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/crc32c.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/scratch_file.hpp"

TEST_CASE("checksums of known messages", "[crc32c]") {
  using tenon::io::crc32c;
  tenon_test::bytes up, down;
  for (int i = 0; i < 32; ++i) {
    up.push_back(static_cast<std::uint8_t>(i));
    down.push_back(static_cast<std::uint8_t>(31 - i));
  }
  CHECK(crc32c({}) == 0);
  CHECK(crc32c(tenon_test::bytes_of("123456789")) == 0xE3069283u);
  CHECK(crc32c(tenon_test::bytes(32, 0x00)) == 0x8A9136AAu);
  CHECK(crc32c(tenon_test::bytes(32, 0xff)) == 0x62A8AB43u);
  CHECK(crc32c(up) == 0x46DD794Eu);
  CHECK(crc32c(down) == 0x113FDB5Cu);
}

TEST_CASE("a masked checksum is the record format's", "[crc32c]") {
  const tenon_test::bytes length{24, 0, 0, 0, 0, 0, 0, 0};
  CHECK(tenon::io::masked_crc32c(length) == 0x224B7FA3u);
}
