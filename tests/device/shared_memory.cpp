// tests/device/shared_memory.cpp: the record of accesses to shared memory.
// Each kernel here is right but for one barrier, one index or one alignment, and must be told so; its sound twin not.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/shared_memory.hpp>

#include <cmath>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

enum class race { none, read_after_write, write_after_read, write_after_write, warp, other_warp, collective };

/// Passes values through shared memory, leaving out one barrier.
struct exchange_kernel {
  static constexpr const char* name = "exchange";
  float* out;
  race left_out;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto tile = device.template shared<float>(64);
    const int here = device.thread(), there = 63 - here, neighbour = here ^ 1;
    tile.store(here, static_cast<float>(here));
    if (left_out == race::write_after_write) tile.store(there, 0.0f);
    if (left_out != race::read_after_write) device.sync();
    const float far = tile.load(there);
    if (left_out != race::write_after_read) device.sync();
    tile.store(here, far);
    if (left_out != race::warp) device.sync_warp();
    const float near = tile.load(left_out == race::other_warp ? there : neighbour);
    out[here] = near;
  }
};

void run_exchange(race left_out, std::uint64_t seed = 1) {
  const tenon::emulation_scope scope({.seed = seed});
  std::vector<float> out(64);
  tenon::launch<tenon::emulated>({.block = 64, .shared_bytes = 256}, exchange_kernel{out.data(), left_out});
  for (int i = 0; i < 64; ++i) REQUIRE(out[static_cast<std::size_t>(i)] == static_cast<float>(63 - (i ^ 1)));
}

/// Bytes and halves that share words: neighbours may write side by side, but not the same byte.
struct part_kernel {
  tenon::half* out;
  bool overlaps;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto tile = device.template shared<tenon::half>(128);
    tile.store(device.thread(), tenon::half(static_cast<float>(device.thread())));
    const auto bytes = tile.template as<std::uint8_t>();
    if (overlaps && device.thread() == 40) bytes.store(3, 0);  // the upper byte of element 1
    device.sync();
    const auto words = tile.template as<std::uint32_t>();
    const auto pair = words.load(device.thread() / 2);
    device.sync();
    words.store(device.thread(), pair);
    device.sync();
    out[device.thread()] = tile.load(2 * device.thread() + 1);
  }
};

enum class misuse { none, above, below, vector_end, misaligned, part, too_much };

struct misuse_kernel {
  float* out;
  misuse way;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto tile = device.template shared<float>(way == misuse::too_much ? 65 : 64);
    tenon::index at = 4 * (device.thread() % 16);
    if (way == misuse::above) at = 64;
    if (way == misuse::below) at = -1;
    if (way == misuse::vector_end) at = 61;
    if (way == misuse::misaligned) at = 2;
    if (way == misuse::part) at = tile.part(60, 8).size();
    out[device.thread()] = way == misuse::none || way == misuse::vector_end || way == misuse::misaligned
                               ? tile.template load_vector<4>(at)[0]
                               : tile.load(at);
  }
};

std::string misuse_text(misuse way) {
  std::vector<float> out(32);
  return text_thrown<tenon::error>(
      [&] { tenon::launch<tenon::emulated>({.block = 32, .shared_bytes = 256}, misuse_kernel{out.data(), way}); });
}

/// Three threads and their clocks, to be stepped by hand: 0 and 1 share a warp, 40 is in another.
struct stepped_block {
  std::vector<unsigned char> bytes = std::vector<unsigned char>(64);
  std::vector<tenon::detail::access_record> words = std::vector<tenon::detail::access_record>(17), parts;
  tenon::detail::shared_arena arena{
      "stepped", tenon::detail::host_arena_services(), bytes.data(), words.data(), nullptr, 64, true, &parts};
  tenon::detail::access_time first_warp = 0, second_warp = 0, epoch = 0;
  tenon::detail::memory_user users[3]{{&arena, &first_warp, 0}, {&arena, &first_warp, 1}, {&arena, &second_warp, 40}};

  stepped_block() { sync(); }
  void sync() { first_warp = second_warp = ++epoch << tenon::detail::block_time_shift; }
  void read(int user) { tenon::shared_array<float>(users[user], 0, 16).load(3); }
  void write(int user) { tenon::shared_array<float>(users[user], 0, 16).store(3, 1.0f); }
};

}  // namespace

TEST_CASE("a warp's barrier orders its own lanes and no others", "[device]") {
  stepped_block block;
  block.write(0);
  CHECK_THROWS_AS(block.read(1), tenon::race_error);
  ++block.first_warp;
  block.read(1);
  CHECK_THROWS_AS(block.read(2), tenon::race_error);
  ++block.second_warp, ++block.second_warp;
  CHECK_THROWS_AS(block.read(2), tenon::race_error);
  block.sync();
  block.read(2);
}

TEST_CASE("every reader since the last barrier forbids a write", "[device]") {
  for (const int reader : {0, 1, 2}) {
    for (const int writer : {0, 1, 2}) {
      stepped_block block;
      block.read(reader);
      block.read(writer);
      if (reader == writer) {
        block.write(writer);
      } else {
        CHECK_THROWS_AS(block.write(writer), tenon::race_error);
        block.sync();
        block.write(writer);
      }
    }
  }
  stepped_block block;
  block.read(0);
  block.read(1);
  ++block.first_warp;
  block.write(1);
}

TEST_CASE("a kernel with all its barriers passes under every order", "[device]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) CHECK_NOTHROW(run_exchange(race::none, seed));
}

TEST_CASE("a removed barrier is found under every order", "[device]") {
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    CHECK_THROWS_AS(run_exchange(race::read_after_write, seed), tenon::race_error);
    CHECK_THROWS_AS(run_exchange(race::write_after_read, seed), tenon::race_error);
    CHECK_THROWS_AS(run_exchange(race::write_after_write, seed), tenon::race_error);
    CHECK_THROWS_AS(run_exchange(race::warp, seed), tenon::race_error);
    CHECK_THROWS_AS(run_exchange(race::other_warp, seed), tenon::race_error);
  }
}

TEST_CASE("a race names kernel, place, threads and remedy", "[device]") {
  const std::string text = text_thrown<tenon::race_error>([] { run_exchange(race::read_after_write); });
  CHECK(contains(text, "emulated exchange: shared memory: thread "));
  CHECK(contains(text, "shared_memory.cpp:"));
  CHECK(contains(text, "since the last barrier"));
  CHECK(contains(text, "missing barrier"));
}

TEST_CASE("the record can be switched off", "[device]") {
  const tenon::emulation_scope scope({.record_races = false});
  std::vector<float> out(64);
  const exchange_kernel kernel{out.data(), race::write_after_write};
  CHECK_NOTHROW(tenon::launch<tenon::emulated>({.block = 64, .shared_bytes = 256}, kernel));
}

TEST_CASE("parts of words have records of their own", "[device]") {
  std::vector<tenon::half> out(64, tenon::half(0.0f));
  const auto run = [&](bool overlaps) {
    tenon::launch<tenon::emulated>({.block = 64, .shared_bytes = 256}, part_kernel{out.data(), overlaps});
  };
  CHECK_NOTHROW(run(false));
  for (int i = 0; i < 64; ++i) {
    const int source = i / 2 * 2 + 1;
    CHECK(static_cast<float>(out[static_cast<std::size_t>(i)]) == static_cast<float>(source));
  }
  CHECK_THROWS_AS(run(true), tenon::race_error);
}

TEST_CASE("accesses outside shared memory are refused", "[device]") {
  CHECK(misuse_text(misuse::none).empty());
  CHECK(contains(misuse_text(misuse::above), "from element 64 of an array of 64"));
  CHECK(contains(misuse_text(misuse::below), "from element -1 of an array of 64"));
  CHECK(contains(misuse_text(misuse::vector_end), "16 bytes from element 61"));
  CHECK(contains(misuse_text(misuse::misaligned), "expected a multiple of 16"));
  CHECK(contains(misuse_text(misuse::part), "from element 60"));
  CHECK(contains(misuse_text(misuse::too_much), "shared_bytes"));
}

TEST_CASE("shared memory is NaN when a block starts", "[device]") {
  std::vector<float> out(32, 0.0f);
  tenon::launch<tenon::emulated>({.block = 32, .shared_bytes = 256}, misuse_kernel{out.data(), misuse::none});
  for (const float value : out) CHECK(std::isnan(value));
}
