// tests/io/checksum.cpp: the checksums of known messages.
// The messages are those of RFC 3720, their sums by the other polynomial, and by RFC 1950, zlib's; the masked one is
// TensorBoard's own.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/checksum.hpp>
#include <vector>

#include "support/catch.hpp"
#include "support/scratch_file.hpp"

TEST_CASE("checksums of known messages", "[checksum]") {
  struct known {
    tenon_test::bytes message;
    std::uint32_t crc32, crc32c;
  };
  tenon_test::bytes up, down;
  for (int i = 0; i < 32; ++i) {
    up.push_back(static_cast<std::uint8_t>(i));
    down.push_back(static_cast<std::uint8_t>(31 - i));
  }
  const known messages[] = {{{}, 0, 0},
                            {tenon_test::bytes_of("123456789"), 0xCBF43926u, 0xE3069283u},
                            {tenon_test::bytes(32, 0x00), 0x190A55ADu, 0x8A9136AAu},
                            {tenon_test::bytes(32, 0xff), 0xFF6CAB0Bu, 0x62A8AB43u},
                            {up, 0x91267E8Au, 0x46DD794Eu},
                            {down, 0x9AB0EF72u, 0x113FDB5Cu}};
  for (const auto& [message, crc32, crc32c] : messages) {
    CHECK(tenon::io::crc32(message) == crc32);
    CHECK(tenon::io::crc32c(message) == crc32c);
  }
}

TEST_CASE("checksums of zlib's streams", "[checksum]") {
  CHECK(tenon::io::adler32({}) == 1);
  CHECK(tenon::io::adler32(tenon_test::bytes_of("Wikipedia")) == 0x11E60398u);
  CHECK(tenon::io::adler32(tenon_test::bytes(100000, 0xff)) == 0x149A302Cu);
}

TEST_CASE("a masked checksum is the record format's", "[checksum]") {
  const tenon_test::bytes length{24, 0, 0, 0, 0, 0, 0, 0};
  CHECK(tenon::io::masked_crc32c(length) == 0x224B7FA3u);
}
