// tests/ptx/stored_tiles.cpp: copies of tiles and bytes from shared memory to global memory, and those that reduce.
// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <bit>

#include "ptx/program.hpp"
#include "ptx/tile_map.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using words = std::vector<std::uint32_t>;

const std::string store_memory = ".extern .shared .align 1024 .b8 memory[];\n";

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string instead_of(const std::string& word, std::string text, const std::string& now) {
  return text.replace(text.find(word), word.size(), now);
}

/// The numbers of the driver.
constexpr std::uint32_t type_u32 = 2, type_s32 = 3, type_u64 = 4, type_f32 = 7;

tile_map map_to(const device_array<std::uint32_t>& of, const std::vector<std::uint64_t>& extents,
                const std::vector<std::uint16_t>& box, std::uint8_t swizzle = 0, std::uint32_t type = type_u32) {
  tile_map map;
  map.mark = tile_map::written;
  map.rank = static_cast<std::uint8_t>(extents.size());
  map.element_bytes = 4;
  map.swizzle_bytes = swizzle;
  map.element_type = type;
  map.address = of.address();
  std::uint64_t step = 4;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    map.extents[i] = extents[i], map.box[i] = box[i];
    step *= extents[i];
    if (i + 1 < extents.size()) map.strides[i] = step;
  }
  return map;
}

/// Word i of shared memory is 3 i + FIRST; then FENCE, a barrier, and in the first thread STORE, COMMIT, WAIT and THEN.
/// %x<5> are a position; %out is the last parameter.
const std::string store_program = R"(.reg .b32 %s, %a, %i, %v, %more; .reg .b32 %x<5>; .reg .b64 %map, %out, %g;
.reg .pred %is, %first;
mov.b64 %map, p0;
ld.param.u64 %out, [p16];
mov.u32 %s, memory;
mov.u32 %more, %tid.x;
setp.eq.u32 %first, %more, 0;
mov.u32 %i, %more;
FILL: mad.lo.s32 %a, %i, 4, %s;
mad.lo.s32 %v, %i, 3, FIRST;
st.shared.u32 [%a], %v;
add.u32 %i, %i, 32;
setp.lt.u32 %is, %i, 2048;
@%is bra FILL;
FENCE
bar.sync 0;
@!%first bra LAST;
STORE
COMMIT
WAIT
THEN
LAST:
AFTER
)";

struct storing {
  std::string store, then = "", fence = "fence.proxy.async.shared::cta;", wait = "cp.async.bulk.wait_group 0;";
  std::string first = "7", commit = "cp.async.bulk.commit_group;", after = "";
  std::uint32_t blocks = 1;
};

struct stored {
  std::string fault;
  counts done;
};

stored run_store(const storing& what, const device_array<std::uint32_t>& out, const tile_map& map = {}) {
  std::string body = instead_of("FIRST", store_program, what.first);
  body = instead_of("FENCE", body, what.fence);
  body = instead_of("STORE", body, what.store);
  body = instead_of("COMMIT", body, what.commit);
  body = instead_of("WAIT", body, what.wait);
  body = instead_of("THEN", body, what.then);
  body = instead_of("AFTER", body, what.after);
  std::vector<std::uint64_t> parameters(16);
  std::memcpy(parameters.data(), &map, sizeof(map));
  parameters.push_back(out.address());
  try {
    return {
        .fault = "",
        .done = run_body(body, parameters, {.blocks = what.blocks, .threads = 32, .shared_bytes = 8192}, store_memory)};
  } catch (const fault& found) {
    return {.fault = found.what(), .done = {}};
  }
}

/// The instruction with a position, which the registers %x<5> get.
std::string tile_store(const std::string& kind, const std::vector<int>& position, const std::string& from = "%s") {
  std::string text, names;
  for (std::size_t i = 0; i < position.size(); ++i) {
    const std::string name = "%x" + std::to_string(i);
    text += "mov.u32 " + name + ", " + std::to_string(position[i]) + ";\n";
    names += (i == 0 ? "" : ", ") + name;
  }
  const std::string rank = std::to_string(position.size()) + "d.global.shared::cta.";
  return text + (kind.empty() ? "cp.async.bulk.tensor." + rank : "cp.reduce.async.bulk.tensor." + rank + kind + ".") +
         "tile.bulk_group [%map, {" + names + "}], [" + from + "];\n";
}

/// A matrix whose elements are all `value`, with a box of it taken from shared memory, whose word i is 3 i + 7.
words matrix_with_box(int rows, int columns, int y, int x, int box_rows, int box_columns, int swizzle,
                      std::uint32_t value) {
  words result(static_cast<std::size_t>(rows * columns), value);
  for (int r = 0; r < box_rows; ++r) {
    for (int c = 0; c < box_columns; ++c) {
      if (y + r < 0 || y + r >= rows || x + c < 0 || x + c >= columns) continue;
      const int row_of_128 = r * box_columns * 4 / 128;
      const int part = swizzle == 0 ? c / 4 : (c / 4) ^ (row_of_128 % (swizzle / 16));
      const int word = r * box_columns + part * 4 + c % 4;
      result[static_cast<std::size_t>((y + r) * columns + x + c)] = static_cast<std::uint32_t>(3 * word + 7);
    }
  }
  return result;
}

}  // namespace

TEST_CASE("a tile is stored in global memory, and what is outside of the tensor is left", "[ptx]") {
  constexpr int rows = 21, columns = 44;
  struct one {
    int y, x, box_rows, box_columns, swizzle;
  };
  for (const one& each : {one{2, 4, 8, 16, 0},
                          {0, 0, 16, 32, 128},
                          {5, 20, 16, 32, 128},
                          {-3, -5, 8, 32, 128},
                          {14, 36, 12, 16, 64},
                          {3, 39, 9, 8, 32},
                          {40, 0, 8, 8, 0},
                          {20, 43, 1, 4, 0}}) {
    const device_array<std::uint32_t> out(words(rows * columns, 9));
    const tile_map map = map_to(
        out, {columns, rows}, {static_cast<std::uint16_t>(each.box_columns), static_cast<std::uint16_t>(each.box_rows)},
        static_cast<std::uint8_t>(each.swizzle));
    const stored found = run_store({.store = tile_store("", {each.x, each.y})}, out, map);
    CHECK(found.fault == "");
    CHECK(out.values() ==
          matrix_with_box(rows, columns, each.y, each.x, each.box_rows, each.box_columns, each.swizzle, 9));
    CHECK(found.done.global_stores.accesses == 1);
  }
}

TEST_CASE("a tile of three axes is stored, with steps between its rows in memory", "[ptx]") {
  const device_array<std::uint32_t> out(words(8 * 5 * 3, 9));
  tile_map map = map_to(out, {8, 5, 3}, {4, 2, 2});
  map.extents[0] = 7;  // the last of each row is no part of the tensor
  CHECK(run_store({.store = tile_store("", {4, 1, 1}, "%s+128")}, out, map).fault == "");
  words expected(8 * 5 * 3, 9);
  for (std::uint32_t z = 0; z < 2; ++z) {
    for (std::uint32_t y = 0; y < 2; ++y) {
      for (std::uint32_t x = 0; x < 3; ++x)
        expected[((z + 1) * 5 + y + 1) * 8 + x + 4] = 3 * (32 + (z * 2 + y) * 4 + x) + 7;
    }
  }
  CHECK(out.values() == expected);
}

TEST_CASE("tiles that are stored need their fence, their wait and their alignment", "[ptx]") {
  const device_array<std::uint32_t> out(words(8 * 8, 9));
  const tile_map map = map_to(out, {8, 8}, {8, 4});
  const storing good{.store = tile_store("", {0, 2})};
  const auto fault_with = [&](auto change) {
    storing changed = good;
    change(changed);
    return run_store(changed, out, map).fault;
  };
  CHECK(run_store(good, out, map).fault == "");
  CHECK(says(fault_with([](storing& s) { s.fence = ""; }), "without a fence.proxy.async"));
  CHECK(says(fault_with([](storing& s) { s.wait = ""; }), "a block ends while cp.async.bulk still reads"));
  CHECK(says(fault_with([](storing& s) { s.commit = ""; }), "a block ends while cp.async.bulk still reads"));
  CHECK(says(fault_with([](storing& s) { s.store = tile_store("", {0, 2}, "%s+64"); }), "no multiple of 128"));
  CHECK(says(fault_with([](storing& s) { s.store = tile_store("", {0}); }), "at a position of 1 axes"));
  const std::string look = "ld.global.u32 %v, [%out+64];\n";  // element 16: the first that is stored
  CHECK(fault_with([&](storing& s) { s.then = look; }) == "");
  CHECK(says(fault_with([&](storing& s) { s.then = look, s.wait = "cp.async.bulk.wait_group.read 0;"; }),
             "which nobody wrote"));
  tile_map never = map;
  never.mark = 0;
  CHECK(says(run_store(good, out, never).fault, "never encoded"));
}

TEST_CASE("shared memory is not written while a copy still reads it", "[ptx]") {
  const device_array<std::uint32_t> out(words(8 * 8, 9));
  const tile_map map = map_to(out, {8, 8}, {8, 4});
  const std::string tile = tile_store("", {0, 2});
  const std::string bytes = "cp.async.bulk.global.shared::cta.bulk_group [%out], [%s], 128;\n";
  for (const std::string& store : {tile, bytes}) {
    const auto fault_of_write = [&](const std::string& wait, const std::string& write) {
      return run_store({.store = store, .then = write + "cp.async.bulk.wait_group 0;\n", .wait = wait}, out, map).fault;
    };
    const std::string inside = "st.shared.u32 [%s+124], 1;\n", behind = "st.shared.u32 [%s+128], 1;\n";
    CHECK(says(fault_of_write("", inside), "writes shared memory that cp.async.bulk still reads"));
    CHECK(says(fault_of_write("cp.async.bulk.wait_group.read 1;", inside), "that cp.async.bulk still reads"));
    CHECK(fault_of_write("", behind) == "");
    CHECK(fault_of_write("cp.async.bulk.wait_group.read 0;", inside) == "");
    CHECK(fault_of_write("cp.async.bulk.wait_group 0;", inside) == "");
    // Another thread knows of the wait behind a barrier alone.
    const std::string other = "setp.eq.u32 %first, %more, 31;\n@%first st.shared.u32 [%s+4], 1;\n";
    CHECK(says(run_store({.store = store, .after = other}, out, map).fault, "race in shared memory"));
    CHECK(run_store({.store = store, .after = "bar.sync 0;\n" + other}, out, map).fault == "");
    const std::string late = "bar.sync 0;\n@%first cp.async.bulk.wait_group.read 0;\n";
    CHECK(
        says(run_store({.store = store, .wait = "", .after = late + other}, out, map).fault, "race in shared memory"));
    CHECK(run_store({.store = store, .wait = "", .after = late + "bar.sync 0;\n" + other}, out, map).fault == "");
  }
}

namespace {

/// What two blocks make of `before` by a reduction of `kind` with the words 3 i + first, by bytes or as a tile.
words reduced(const std::string& operation, const std::string& type, std::uint32_t number, const words& before,
              const std::string& first, bool is_tile) {
  const device_array<std::uint32_t> out(before);
  const tile_map map = map_to(out, {8, 4}, {8, 4}, 0, number);
  const std::string bytes =
      "cp.reduce.async.bulk.global.shared::cta.bulk_group." + operation + "." + type + " [%out], [%s], 128;\n";
  const stored found =
      run_store({.store = is_tile ? tile_store(operation, {0, 0}) : bytes, .first = first, .blocks = 2}, out, map);
  CHECK(found.fault == "");
  CHECK(found.done.global_atomics.bytes == 256);
  return out.values();
}

}  // namespace

TEST_CASE("copies add to global memory, or keep the least or the greatest", "[ptx]") {
  words before(32);
  for (std::uint32_t i = 0; i < 32; ++i) before[i] = i % 3 == 0 ? i * 2 : ~i;
  const auto expected = [&](auto change) {
    words result = before;
    for (int block = 0; block < 2; ++block) {
      for (std::uint32_t i = 0; i < 32; ++i) result[i] = change(result[i], 3 * i + 7);
    }
    return result;
  };
  using word = std::uint32_t;
  const auto lesser = [](word a, word b) { return std::min(a, b); };
  const auto lesser_signed = [](word a, word b) { return static_cast<int>(a) < static_cast<int>(b) ? a : b; };
  for (const bool is_tile : {false, true}) {
    const auto of = [&](const std::string& operation, const std::string& type, std::uint32_t number) {
      return reduced(operation, type, number, before, "7", is_tile);
    };
    CHECK(of("add", "u32", type_u32) == expected([](word a, word b) { return a + b; }));
    CHECK(of("add", "s32", type_s32) == expected([](word a, word b) { return a + b; }));
    CHECK(of("min", "u32", type_u32) == expected(lesser));
    CHECK(of("min", "s32", type_s32) == expected(lesser_signed));
    CHECK(of("max", "u32", type_u32) == expected([](word a, word b) { return std::max(a, b); }));
    CHECK(of("xor", "b32", type_u32) == before);
    CHECK(of("or", "b32", type_u32) == expected([](word a, word b) { return a | b; }));
    CHECK(of("inc", "u32", type_u32) == expected([](word a, word b) { return a >= b ? 0 : a + 1; }));
  }
}

TEST_CASE("copies add floats and long integers", "[ptx]") {
  words before(32), sums(32), longs(32);
  for (std::uint32_t i = 0; i < 32; ++i) {
    before[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i) * 0.5f);
    const auto value = std::bit_cast<float>(3 * i + 0x3f800000u);  // of 1 and a little more
    sums[i] = std::bit_cast<std::uint32_t>(static_cast<float>(i) * 0.5f + value + value);
  }
  CHECK(reduced("add", "f32", type_f32, before, "0x3f800000", false) == sums);
  CHECK(reduced("add", "f32", type_f32, before, "0x3f800000", true) == sums);
  for (std::uint32_t i = 0; i < 32; i += 2) {
    const auto whole = [](std::uint32_t low, std::uint32_t high) { return std::uint64_t{high} << 32 | low; };
    const std::uint64_t sum = whole(before[i], before[i + 1]) + 2 * whole(3 * i + 7, 3 * i + 10);
    longs[i] = static_cast<std::uint32_t>(sum), longs[i + 1] = static_cast<std::uint32_t>(sum >> 32);
  }
  CHECK(reduced("add", "u64", type_u64, before, "7", false) == longs);
}

TEST_CASE("reductions that PTX does not have are refused by name", "[ptx]") {
  const device_array<std::uint32_t> out(words(32, 9));
  for (const std::string text : {"cp.reduce.async.bulk.global.shared::cta.bulk_group.min.f32 [%out], [%s], 16;\n",
                                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.s64 [%out], [%s], 16;\n",
                                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.and.u32 [%out], [%s], 16;\n",
                                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.b32 [%out], [%s], 16;\n",
                                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.inc.u64 [%out], [%s], 16;\n",
                                 "cp.reduce.async.bulk.global.shared::cta.bulk_group.exch.b32 [%out], [%s], 16;\n"})
    CHECK(says(run_store({.store = text}, out).fault, "does not know: " + text.substr(0, text.find(' '))));
  CHECK(says(run_store({.store = tile_store("mul", {0, 0})}, out).fault, "does not know"));
  const tile_map map = map_to(out, {8, 4}, {8, 4}, 0, type_f32);
  CHECK(says(run_store({.store = tile_store("max", {0, 0})}, out, map).fault, "whose type has no such operation"));
  CHECK(out.values() == words(32, 9));
}
