// tests/ptx/figures.cpp: who holds what of a matrix, against tables typed from the PTX manual's figures.
// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ptx/program.hpp"
#include "ptx/small_floats.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using words = std::vector<std::uint32_t>;

const std::string aligned_shared = ".extern .shared .align 1024 .b8 memory[];\n";

/// Writes registers %r0 to %r3 of every lane to the array p1.
const std::string give_four = R"(
ld.param.u64 %p, [p1];
mad.lo.s64 %q, %at, 16, %p;
st.global.v4.u32 [%q], {%r0, %r1, %r2, %r3};
)";

/// Fragments of m16n8k16: register and half of it, of lane, by row and column of a (16 x 16), as figure "A fragment for
/// .f16" shows rows 0, 1, 8 and 15 at columns 0, 1, 2, 8 and 15.
struct place {
  int row, column, lane, element;
};
constexpr place left_places[] = {{0, 0, 0, 0}, {0, 1, 0, 1},   {0, 2, 1, 0},   {0, 8, 0, 4},   {0, 15, 3, 5},
                                 {1, 0, 4, 0}, {1, 2, 5, 0},   {7, 7, 31, 1},  {8, 0, 0, 2},   {8, 1, 0, 3},
                                 {8, 8, 0, 6}, {15, 0, 28, 2}, {15, 7, 31, 3}, {15, 8, 28, 6}, {15, 15, 31, 7}};
/// Rows and columns of b (16 x 8).
constexpr place right_places[] = {{0, 0, 0, 0},  {1, 0, 0, 1}, {2, 0, 1, 0},  {8, 0, 0, 2},  {9, 0, 0, 3},
                                  {15, 0, 3, 3}, {0, 1, 4, 0}, {0, 7, 28, 0}, {7, 7, 31, 1}, {15, 7, 31, 3}};
/// Rows and columns of c and d (16 x 8).
constexpr place sum_places[] = {{0, 0, 0, 0},  {0, 1, 0, 1}, {0, 2, 1, 0}, {0, 7, 3, 1},   {1, 0, 4, 0},
                                {7, 7, 31, 1}, {8, 0, 0, 2}, {8, 1, 0, 3}, {15, 6, 31, 2}, {15, 7, 31, 3}};

using halves = std::array<std::array<std::uint16_t, 8>, 32>;

/// d = a b of fragments that hold a single 1 each.
std::vector<float> product_of(const halves& left, const halves& right) {
  words packed(32 * 8);
  for (std::size_t lane = 0; lane < 32; ++lane) {
    for (std::size_t i = 0; i < 4; ++i) {
      packed[lane * 8 + i] = left[lane][2 * i] | std::uint32_t{left[lane][2 * i + 1]} << 16;
      if (i < 2) packed[lane * 8 + 4 + i] = right[lane][2 * i] | std::uint32_t{right[lane][2 * i + 1]} << 16;
    }
  }
  const device_array<std::uint32_t> in(packed);
  const device_array<float> out(32 * 4);
  run_body(thread_number + R"(.reg .b32 %a<4>; .reg .b32 %b<4>; .reg .f32 %r<4>; .reg .b64 %p, %q;
ld.param.u64 %p, [p0];
mad.lo.s64 %q, %at, 32, %p;
ld.global.v4.u32 {%a0, %a1, %a2, %a3}, [%q];
ld.global.v2.u32 {%b0, %b1}, [%q+16];
mov.f32 %r0, 0f00000000; mov.f32 %r1, 0f00000000; mov.f32 %r2, 0f00000000; mov.f32 %r3, 0f00000000;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  {%r0, %r1, %r2, %r3}, {%a0, %a1, %a2, %a3}, {%b0, %b1}, {%r0, %r1, %r2, %r3};
)" + give_four,
           {in.address(), out.address()});
  return out.values();
}

}  // namespace

TEST_CASE("mma.sync finds elements where the manual's figures show them", "[ptx]") {
  constexpr std::uint16_t one = 0x3c00;
  for (const place& a : left_places) {
    for (const place& b : right_places) {
      halves left{}, right{};
      left[static_cast<std::size_t>(a.lane)][static_cast<std::size_t>(a.element)] = one;
      right[static_cast<std::size_t>(b.lane)][static_cast<std::size_t>(b.element)] = one;
      const auto found = product_of(left, right);
      int ones = 0;
      for (const float value : found) ones += value != 0 ? 1 : 0;
      CAPTURE(a.row, a.column, b.row, b.column);
      CHECK(ones == (a.column == b.row ? 1 : 0));
      for (const place& c : sum_places) {
        const bool is_here = a.column == b.row && c.row == a.row && c.column == b.column;
        const float value = found[static_cast<std::size_t>(c.lane * 4 + c.element)];
        if (is_here) CHECK(value == 1);
      }
    }
  }
}

TEST_CASE("ldmatrix gives lane l two elements of row l / 4", "[ptx]") {
  std::vector<std::uint16_t> rows(256);
  for (std::size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<std::uint16_t>(i);
  const device_array<std::uint16_t> in(rows);
  for (const bool is_transposed : {false, true}) {
    const device_array<std::uint32_t> out(128);
    run_body(thread_number + R"(.reg .b32 %r<4>; .reg .b32 %s; .reg .b64 %p, %q;
ld.param.u64 %p, [p0];
mad.lo.s64 %q, %at, 16, %p;
ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%q];
mov.u32 %s, memory;
mad.lo.s32 %s, %i, 16, %s;
st.shared.v4.u32 [%s], {%r0, %r1, %r2, %r3};
bar.sync 0;
ldmatrix.sync.aligned.m8n8.x4)" +
                 std::string(is_transposed ? ".trans" : "") + ".shared.b16 {%r0, %r1, %r2, %r3}, [%s];" + give_four,
             {in.address(), out.address()}, {.shared_bytes = 512}, aligned_shared);
    const auto found = out.values();
    for (std::uint32_t lane = 0; lane < 32; ++lane) {
      for (std::uint32_t matrix = 0; matrix < 4; ++matrix) {
        const std::uint32_t first = is_transposed ? lane % 4 * 16 + lane / 4 : lane / 4 * 8 + lane % 4 * 2;
        const std::uint32_t second = first + (is_transposed ? 8 : 1);
        CHECK(found[lane * 4 + matrix] == ((matrix * 64 + first) | (matrix * 64 + second) << 16));
      }
    }
  }
}

TEST_CASE("stmatrix takes two elements of row l / 4 of lane l", "[ptx]") {
  words given(32 * 4);
  for (std::uint32_t lane = 0; lane < 32; ++lane) {
    for (std::uint32_t i = 0; i < 4; ++i) given[lane * 4 + i] = (lane * 8 + 2 * i) | (lane * 8 + 2 * i + 1) << 16;
  }
  const device_array<std::uint32_t> in(given);
  const auto stored = [&](const std::string& kind, const std::string& registers, const std::string& distance) {
    const device_array<std::uint32_t> out(128);
    run_body(thread_number + R"(.reg .b32 %r<4>; .reg .b32 %s, %a; .reg .b64 %p, %q;
ld.param.u64 %p, [p0];
mad.lo.s64 %q, %at, 16, %p;
ld.global.v4.u32 {%r0, %r1, %r2, %r3}, [%q];
mov.u32 %s, memory;
mad.lo.s32 %s, %i, 16, %s;
mov.u32 %a, 0;
st.shared.v4.u32 [%s], {%a, %a, %a, %a};
st.shared.v4.u32 [%s+512], {%a, %a, %a, %a};
bar.sync 0;
stmatrix.sync.aligned.m8n8.)" +
                 kind + ".shared.b16 [%s+" + distance + "], {" + registers + R"(};
bar.sync 0;
ld.shared.v4.u32 {%r0, %r1, %r2, %r3}, [%s];)" +
                 give_four,
             {in.address(), out.address()}, {.shared_bytes = 1024}, aligned_shared);
    std::vector<std::uint32_t> elements;
    for (const std::uint32_t word : out.values()) elements.insert(elements.end(), {word & 0xffff, word >> 16});
    return elements;
  };
  const auto all = stored("x4", "%r0, %r1, %r2, %r3", "0"), transposed = stored("x4.trans", "%r0, %r1, %r2, %r3", "0");
  const auto two = stored("x2", "%r2, %r3", "0"), one = stored("x1.trans", "%r1", "0"), far = stored("x1", "%r1", "16");
  for (std::uint32_t i = 0; i < 256; ++i) {
    const std::uint32_t matrix = i / 64, row = i / 8 % 8, column = i % 8;
    const auto element_of = [](std::uint32_t in_matrix, std::uint32_t at_row, std::uint32_t at_column) {
      return (at_row * 4 + at_column / 2) * 8 + 2 * in_matrix + at_column % 2;
    };
    CHECK(all[i] == element_of(matrix, row, column));
    CHECK(transposed[i] == element_of(matrix, column, row));
    CHECK(two[i] == (matrix < 2 ? element_of(matrix + 2, row, column) : 0));
    CHECK(one[i] == (matrix == 0 ? element_of(1, column, row) : 0));
    CHECK(far[i] == (i >= 8 && i < 72 ? element_of(1, row == 0 ? 7 : row - 1, column) : 0));
  }
}

TEST_CASE("the layout of wmma's fragments is drawn", "[ptx]") {
  const std::string load = thread_number + R"(.reg .b32 %r<8>; .reg .b32 %s; .reg .b64 %p, %q;
mov.u32 %s, memory;
mad.lo.s32 %s, %i, 4, %s;
st.shared.u32 [%s], %i; st.shared.u32 [%s+128], %i; st.shared.u32 [%s+256], %i; st.shared.u32 [%s+384], %i;
st.shared.u32 [%s+512], %i; st.shared.u32 [%s+640], %i; st.shared.u32 [%s+768], %i; st.shared.u32 [%s+896], %i;
bar.sync 0;
mov.u32 %s, memory;
wmma.load.c.sync.aligned.row.m16n16k16.shared.f32 {%r0, %r1, %r2, %r3, %r4, %r5, %r6, %r7}, [%s], 16;
)";
  const device_array<std::uint32_t> unused(1), out(128);
  run_body(load + give_four, {unused.address(), out.address()}, {.shared_bytes = 1024}, aligned_shared);
  const auto found = out.values();
  bool looks_like_rows = true;
  for (std::uint32_t lane = 0; lane < 32; ++lane) looks_like_rows = looks_like_rows && found[lane * 4] % 32 == lane;
  CHECK_FALSE(looks_like_rows);
}

TEST_CASE("a barrier in shared memory ends its phase when all have arrived", "[ptx]") {
  const std::string body = thread_number + R"(.reg .b32 %s, %v; .reg .b64 %p, %q; .reg .pred %first, %ended;
mov.u32 %s, memory;
setp.ne.u32 %first, %i, 0;
@%first bra MADE;
mbarrier.init.shared::cta.b64 [%s], 64;
MADE: bar.sync 0;
mad.lo.s32 %v, %i, 4, %s;
st.shared.u32 [%v+64], %i;
mbarrier.arrive.shared::cta.b64 _, [%s];
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %ended, [%s], 0;
@!%ended bra WAIT;
xor.b32 %v, %v, 128;
ld.shared.u32 %v, [%v+64];
ld.param.u64 %p, [p0];
mad.lo.s64 %q, %at, 4, %p;
st.global.u32 [%q], %v;
)";
  const device_array<std::uint32_t> out(64);
  run_body(body, {out.address()}, {.threads = 64, .shared_bytes = 512}, aligned_shared);
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(out.values()[i] == (i ^ 32));
  std::string without_wait = body;
  without_wait.replace(without_wait.find("@!%ended bra WAIT;"), 18, "");
  CHECK_FALSE(fault_of(without_wait, {out.address()}, {.threads = 64, .shared_bytes = 512}, aligned_shared).empty());
  std::string too_many = body;
  too_many.replace(too_many.find("64;"), 3, "65;");
  CHECK(fault_of(too_many, {out.address()}, {.threads = 64, .shared_bytes = 512}, aligned_shared)
            .find("all warps wait") == 0);
}
