// tests/device/emulated.cpp: the primitives of kernels, on the emulated device and on a GPU where there is one.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/emulated.hpp>

#include <cmath>
#include <thread>

#include "spaces.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test;

struct position_kernel {
  int* visits;  // one for each thread of the grid
  int* sizes;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto grid = device.grid_size();
    const auto at = device.block();
    const int block = (at.z * grid.y + at.y) * grid.x + at.x;
    const int expected_thread = device.warp() * tenon::warp_size + device.lane();
    visits[block * device.block_size() + expected_thread] += device.thread() == expected_thread ? 1 : 100;
    if (device.thread() == 0) device.atomic_add(sizes, device.block_size());
  }
};

/// Adds its numbers where it lies as its type asks.
struct alignas(64) numbers_kernel {
  int numbers[20];
  int* out;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    if (reinterpret_cast<std::uintptr_t>(this) % 64 == 0) out[device.thread()] += numbers[device.thread()];
  }
};

struct wide_value {
  double a;
  std::int64_t b;
  float c[4];
};

struct lane_kernel {
  float* floats;  // 4 x 64
  wide_value* wide;
  unsigned* bits;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const int thread = device.thread(), lane = device.lane();
    const float value = static_cast<float>(thread);
    floats[thread] = device.shuffle(value, 3);
    floats[64 + thread] = device.shuffle(value, lane + 33);
    floats[128 + thread] = device.shuffle_xor(value, 5);
    floats[192 + thread] = device.shuffle_down(value, 4);
    wide[thread] = device.shuffle_xor(wide_value{value + 0.5, -thread, {value, 1, 2, 3}}, 1);
    const unsigned ballot = device.ballot(lane % 3 == 0);
    if (lane == 7) bits[device.warp()] = ballot;
  }
};

struct copy_kernel {
  const float* in;
  float* out;  // what is seen: before the wait, after a wait for one group, at the end
  int shift;   // misaligns the source

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto tile = device.template shared<float>(2 * 64 * 4);
    const int first = 4 * device.thread(), second = 256 + first;
    tile.store(first, -1.0f), tile.store(second, -1.0f);
    device.sync();
    device.template copy_async<16>(tile, first, in + first + shift, true);
    device.commit_copies();
    device.template copy_async<4>(tile, second, in + second, device.thread() % 2 == 0);
    device.template copy_async<8>(tile, second + 2, in + second + 2, true);
    device.commit_copies();
    out[device.thread()] = tile.load(second);
    device.template wait_copies<1>();
    out[64 + device.thread()] = tile.load(first + 3);
    device.template wait_copies<0>();
    device.sync();
    out[128 + device.thread()] = tile.load(256 + 4 * (63 - device.thread()));
    out[192 + device.thread()] = tile.load(256 + 4 * (63 - device.thread()) + 3);
  }
};

/// Reads what another thread copied without a barrier between.
struct hasty_copy_kernel {
  const float* in;
  float* out;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    const auto tile = device.template shared<float>(64);
    device.template copy_async<4>(tile, device.thread(), in + device.thread(), true);
    device.commit_copies();
    device.template wait_copies<0>();
    out[device.thread()] = tile.load(63 - device.thread());
  }
};

struct add_kernel {
  int* whole;
  unsigned* natural;
  float* real;
  std::int64_t* large;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    device.atomic_add(whole, device.thread());
    device.atomic_add(natural, 2u);
    device.atomic_add(real, 0.5f);
    device.atomic_add(large, std::int64_t{1} << 33);
    device.fence();
  }
};

/// Threads of a block hand values on through global memory.
struct global_exchange_kernel {
  float* values;
  float* out;
  bool with_barrier;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    values[device.thread()] = static_cast<float>(device.thread());
    if (with_barrier) device.sync();
    out[device.thread()] = values[63 - device.thread()];
  }
};

}  // namespace

namespace {
bool race_is_expected = false;
int expected_races = 0, other_races = 0;
}  // namespace

// ThreadSanitizer calls these: a race that a test provokes is no failure of the program.
extern "C" void __tsan_on_report(void*) { ++(race_is_expected ? expected_races : other_races); }
namespace __tsan {
bool OnFinalize(bool) { return other_races != 0; }
}  // namespace __tsan

TEST_CASE("ThreadSanitizer sees a missing barrier on global memory, and only that", "[device]") {
  if (!tenon::detail::thread_sanitized) return;
  std::vector<float> values(64), out(64);
  const auto run = [&](bool with_barrier) {
    tenon::launch<tenon::emulated>({.grid = {3}, .block = 64},
                                   global_exchange_kernel{values.data(), out.data(), with_barrier});
  };
  run(true);
  CHECK(other_races == 0);
  race_is_expected = true;
  run(false);
  race_is_expected = false;
  CHECK(expected_races > 0);
}

TEST_CASE("every thread of a grid runs once and knows its place", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    const device_copy<Space, int> visits(std::vector<int>(2 * 3 * 4 * 96)), sizes(std::vector<int>(1));
    tenon::launch<Space>({.grid = {2, 3, 4}, .block = 96}, position_kernel{visits.data(), sizes.data()});
    for (const int visit : visits.values()) REQUIRE(visit == 1);
    CHECK(sizes.values()[0] == 24 * 96);
  });
}

TEST_CASE("lanes pass values of up to 32 bytes", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    const device_copy<Space, float> floats(std::vector<float>(256));
    const device_copy<Space, wide_value> wide(std::vector<wide_value>(64));
    const device_copy<Space, unsigned> bits(std::vector<unsigned>(2));
    tenon::launch<Space>({.block = 64}, lane_kernel{floats.data(), wide.data(), bits.data()});
    const auto seen = floats.values();
    const auto seen_wide = wide.values();
    for (int i = 0; i < 64; ++i) {
      const auto at = static_cast<std::size_t>(i);
      const int lane = i % 32, base = i - lane;
      CHECK(seen[at] == static_cast<float>(base + 3));
      CHECK(seen[64 + at] == static_cast<float>(base + (lane + 1) % 32));
      CHECK(seen[128 + at] == static_cast<float>(base + (lane ^ 5)));
      CHECK(seen[192 + at] == static_cast<float>(lane < 28 ? i + 4 : i));
      CHECK(seen_wide[at].a == (i ^ 1) + 0.5);
      CHECK(seen_wide[at].b == -(i ^ 1));
      CHECK(seen_wide[at].c[0] == static_cast<float>(i ^ 1));
      CHECK(seen_wide[at].c[3] == 3.0f);
    }
    for (const unsigned ballot : bits.values()) CHECK(ballot == 0x49249249u);
  });
}

TEST_CASE("asynchronous copies arrive by groups, with zeros for what is not valid", "[device]") {
  std::vector<float> in(512), zeros(256);
  for (std::size_t i = 0; i < in.size(); ++i) in[i] = static_cast<float>(i + 1);
  on_each_space([&](auto space) {
    using Space = decltype(space);
    const device_copy<Space, float> source(in), out(zeros);
    tenon::launch<Space>({.block = 64, .shared_bytes = 2048}, copy_kernel{source.data(), out.data(), 0});
    const auto seen = out.values();
    for (std::size_t i = 0; i < 64; ++i) {
      if constexpr (std::is_same_v<Space, tenon::emulated>) CHECK(seen[i] == -1.0f);  // a GPU may be quicker
      CHECK(seen[64 + i] == in[4 * i + 3]);
      const std::size_t other = 63 - i;
      CHECK(seen[128 + i] == (other % 2 == 0 ? in[256 + 4 * other] : 0.0f));
      CHECK(seen[192 + i] == in[256 + 4 * other + 3]);
    }
  });
}

TEST_CASE("asynchronous copies keep the rules of alignment and barriers", "[device]") {
  const std::vector<float> in(516);
  const device_copy<tenon::emulated, float> source(in), out(in);
  const std::string text = text_thrown<tenon::barrier_error>([&] {
    tenon::launch<tenon::emulated>({.block = 64, .shared_bytes = 2048}, copy_kernel{source.data(), out.data(), 1});
  });
  CHECK(contains(text, "not aligned"));
  CHECK_THROWS_AS((tenon::launch<tenon::emulated>({.block = 64, .shared_bytes = 256},
                                                  hasty_copy_kernel{source.data(), out.data()})),
                  tenon::race_error);
}

TEST_CASE("atomic additions all arrive", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    const device_copy<Space, int> whole(std::vector<int>(1));
    const device_copy<Space, unsigned> natural(std::vector<unsigned>(1));
    const device_copy<Space, float> real(std::vector<float>(1));
    const device_copy<Space, std::int64_t> large(std::vector<std::int64_t>(1));
    tenon::launch<Space>({.grid = {5}, .block = 128},
                         add_kernel{whole.data(), natural.data(), real.data(), large.data()});
    CHECK(whole.values()[0] == 5 * 127 * 64);
    CHECK(natural.values()[0] == 2u * 640);
    CHECK(real.values()[0] == 320.0f);
    CHECK(large.values()[0] == std::int64_t{640} << 33);
  });
}

TEST_CASE("two host threads launch at the same time", "[device]") {
  const auto work = [](std::vector<int>& visits) {
    int sizes = 0;
    for (int i = 0; i < 5; ++i) {
      visits.assign(8 * 64, 0);
      tenon::launch<tenon::emulated>({.grid = {8}, .block = 64}, position_kernel{visits.data(), &sizes});
    }
  };
  std::vector<int> here, there;
  std::thread other([&] { work(there); });
  work(here);
  other.join();
  CHECK(here == std::vector<int>(8 * 64, 1));
  CHECK(there == here);
}

TEST_CASE("a barrier carries global memory too", "[device]") {
  on_each_space([](auto space) {
    using Space = decltype(space);
    const device_copy<Space, float> values(std::vector<float>(64)), out(std::vector<float>(64));
    tenon::launch<Space>({.block = 64}, global_exchange_kernel{values.data(), out.data(), true});
    const auto seen = out.values();
    for (std::size_t i = 0; i < 64; ++i) CHECK(seen[i] == static_cast<float>(63 - i));
  });
}

TEST_CASE("emulated memory is aligned as a GPU's and copies whatever it is asked", "[device]") {
  void* memory = tenon::emulated::allocate(1000);
  CHECK(reinterpret_cast<std::uintptr_t>(memory) % 256 == 0);
  const std::string text = "abcdef";
  std::string back = "......";
  tenon::emulated::copy_from_host(memory, text.data(), text.size());
  tenon::emulated::copy(static_cast<char*>(memory) + 1, memory, text.size() / 2);  // overlapping
  tenon::emulated::copy_to_host(back.data(), memory, text.size());
  CHECK(back == "aabcef");
  tenon::emulated::copy(nullptr, nullptr, 0);
  tenon::emulated::deallocate(memory, 1000);
}

TEST_CASE("a captured launch has a copy of its kernel", "[device]") {
  std::vector<int> out(20);
  tenon::captured_work work([](void*, std::size_t) noexcept {}, {});
  tenon::detail::graph_recording<tenon::emulated> steps;
  steps.begin();
  {
    numbers_kernel kernel{{}, out.data()};
    for (int i = 0; i < 20; ++i) kernel.numbers[i] = i + 1;
    for (int launches = 0; launches < 3; ++launches) tenon::launch<tenon::emulated>({.block = 20}, kernel);
    std::memset(&kernel, 0, sizeof(kernel.numbers));
  }
  steps.end();
  CHECK(out == std::vector<int>(20));
  steps.launch(work);
  for (int i = 0; i < 20; ++i) CHECK(out[static_cast<std::size_t>(i)] == 3 * (i + 1));
}

TEST_CASE("options hold within their scope", "[device]") {
  const auto outer = tenon::current_emulation().seed;
  {
    const tenon::emulation_scope scope({.seed = 99, .record_races = false});
    CHECK(tenon::current_emulation().seed == 99);
    CHECK_FALSE(tenon::current_emulation().record_races);
  }
  CHECK(tenon::current_emulation().seed == outer);
  CHECK(tenon::current_emulation().record_races);
}
