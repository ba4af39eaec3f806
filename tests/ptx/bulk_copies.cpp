// tests/ptx/bulk_copies.cpp: copies of bytes and of tiles, to shared memory of one block or several, and from it.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/program.hpp"
#include "ptx/tile_map.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using words = std::vector<std::uint32_t>;

const std::string copy_memory = ".extern .shared .align 1024 .b8 memory[];\n";

bool names(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string exchanged(std::string text, const std::string& word, const std::string& instead) {
  return text.replace(text.find(word), word.size(), instead);
}

words counted(std::uint32_t count) {
  words result(count);
  for (std::uint32_t i = 0; i < count; ++i) result[i] = 1000 + i;
  return result;
}

/// One thread a block makes a barrier at %s, expects bytes, and waits for a copy that COPY begins; %from and %out are
/// the last two parameters, behind a map. What lies at %s + PLACE goes to the part of %out of each block.
const std::string copy_program = R"(
.reg .b32 %s, %b, %c, %r, %v; .reg .b16 %m; .reg .b64 %map, %from, %out, %q; .reg .pred %first, %ended, %more;
mov.b64 %map, p0;
ld.param.u64 %from, [p16];
ld.param.u64 %out, [p17];
mov.u32 %r, %cluster_ctarank;
mov.u32 %s, memory;
mbarrier.init.shared::cta.b64 [%s], 1;
fence.mbarrier_init.release.cluster;
barrier.cluster.arrive.aligned;
barrier.cluster.wait.aligned;
setp.eq.u32 %first, %r, 0;
EXPECT
@!%first bra WAIT;
COPY
WAIT: mbarrier.try_wait.parity.shared::cta.b64 %ended, [%s], 0;
@!%ended bra WAIT;
mov.u32 %b, %ctaid.x;
mul.lo.s32 %b, %b, SIZE;
cvt.u64.u32 %q, %b;
add.s64 %out, %out, %q;
mov.u32 %c, 0;
GIVE: add.u32 %b, %s, %c;
ld.shared.u32 %v, [%b+PLACE];
st.global.u32 [%out], %v;
add.s64 %out, %out, 4;
add.u32 %c, %c, 4;
setp.lt.u32 %more, %c, SIZE;
@%more bra GIVE;
)";

struct copied {
  std::string fault;
  words values;
  counts done;
};

/// Runs `copy` in the first block of a cluster; every block expects and gives `size` bytes.
copied run_copy(const std::string& copy, const device_array<std::uint32_t>& from, std::uint32_t size,
                std::uint32_t blocks = 1, const tile_map& map = {}, std::string expect = "BYTES") {
  if (expect == "BYTES") expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], SIZE;";
  std::string body = exchanged(exchanged(copy_program, "COPY", copy), "EXPECT", expect);
  while (names(body, "SIZE")) body = exchanged(body, "SIZE", std::to_string(size));
  while (names(body, "PLACE")) body = exchanged(body, "PLACE", "1024");
  const device_array<std::uint32_t> out(size / 4 * blocks);
  std::vector<std::uint64_t> parameters(16);
  std::memcpy(parameters.data(), &map, sizeof(map));
  parameters.push_back(from.address());
  parameters.push_back(out.address());
  const test_launch how{.blocks = blocks, .threads = 1, .shared_bytes = 16384, .cluster = {blocks, 1, 1}};
  copied result;
  try {
    result.done = run_body(body, parameters, how, copy_memory);
    result.values = out.values();
  } catch (const fault& found) {
    result.fault = found.what();
  }
  return result;
}

const std::string load_bytes =
    "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%s+1024], [%from+16], SIZE, [%s];\n";

}  // namespace

TEST_CASE("bytes are copied to shared memory and tell their barrier", "[ptx]") {
  const device_array<std::uint32_t> from(counted(64));
  const words all = counted(64), expected(all.begin() + 4, all.begin() + 16);
  const copied found = run_copy(load_bytes, from, 48);
  CHECK(found.values == expected);
  CHECK(found.done.global_loads == traffic{1, 48, 2, 2});
  CHECK(run_copy(exchanged(load_bytes, "shared::cluster", "shared::cta"), from, 48).values == expected);
  const std::string with_policy = exchanged(load_bytes, "bytes [", "bytes.L2::cache_hint [");
  CHECK(run_copy(exchanged(with_policy, "[%s];", "[%s], %q;"), from, 48).values == expected);
  CHECK(names(run_copy(with_policy, from, 48).fault, "does not know"));
  CHECK(names(run_copy(exchanged(load_bytes, "+16", "+8"), from, 48).fault, "no multiple of 16"));
  CHECK(names(run_copy(exchanged(load_bytes, "SIZE", "40"), from, 48).fault, "cp.async.bulk of 40 bytes"));
  CHECK(names(run_copy(exchanged(load_bytes, "SIZE", "256"), from, 256).fault, "out of bounds"));
  CHECK(names(run_copy("st.shared.u32 [%s+1024], 1;\n" + load_bytes, from, 48).fault, "without a fence.proxy.async"));
  CHECK(run_copy("st.shared.u32 [%s+1024], 1;\nfence.proxy.async;\n" + load_bytes, from, 48).values == expected);
}

TEST_CASE("bytes are copied to the blocks of a mask", "[ptx]") {
  const device_array<std::uint32_t> from(counted(64));
  const std::string to_many =
      "mov.u16 %m, MASK;\ncp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
      "[%s+1024], [%from], SIZE, [%s], %m;\n";
  const copied found = run_copy(exchanged(to_many, "MASK", "7"), from, 64, 3);
  words expected = counted(16);
  expected.insert(expected.end(), expected.begin(), expected.begin() + 16);
  expected.insert(expected.end(), expected.begin(), expected.begin() + 16);
  CHECK(found.values == expected);
  CHECK(found.done.global_loads == traffic{1, 64, 2, 2});  // read once
  CHECK(names(run_copy(exchanged(to_many, "MASK", "3"), from, 64, 3).fault, "all warps wait"));
  CHECK(names(run_copy(exchanged(to_many, "MASK", "15"), from, 64, 3).fault, "a copy to block 3 of a cluster of 3"));
}

TEST_CASE("a block sends bytes of its shared memory to another one", "[ptx]") {
  const device_array<std::uint32_t> from(counted(64));
  const std::string send = R"(.reg .b32 %to, %told;
st.shared.u32 [%s+512], 21; st.shared.u32 [%s+516], 22; st.shared.u32 [%s+520], 23; st.shared.u32 [%s+524], 24;
FENCE
add.u32 %c, %s, 1024;
mapa.shared::cluster.u32 %to, %c, 1;
mapa.shared::cluster.u32 %told, %s, 1;
cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%to], [%s+512], 16, [%told];
st.shared.u32 [%s+1024], 1; st.shared.u32 [%s+1028], 2; st.shared.u32 [%s+1032], 3; st.shared.u32 [%s+1036], 4;
mbarrier.arrive.shared::cta.b64 _, [%s];
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
)";
  const std::string expect = R"(@!%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], 16;
@%first bra SEND;
AGAIN: mbarrier.try_wait.parity.shared::cta.b64 %ended, [%s], 0;
@!%ended bra AGAIN;
barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
SEND:)";
  const copied found = run_copy(exchanged(send, "FENCE", "fence.proxy.async;"), from, 16, 2, {}, expect);
  CHECK(found.fault == "");
  CHECK(found.values == words{1, 2, 3, 4, 21, 22, 23, 24});
  CHECK(names(run_copy(exchanged(send, "FENCE", ""), from, 16, 2, {}, expect).fault, "without a fence.proxy.async"));
  const std::string elsewhere = exchanged(exchanged(send, "FENCE", "fence.proxy.async;"), "[%told]", "[%s]");
  CHECK(names(run_copy(elsewhere, from, 16, 2, {}, expect).fault, "an mbarrier of another block"));
}

TEST_CASE("the target of a copy has no values until it has come", "[ptx]") {
  const device_array<std::uint32_t> from(counted(64));
  const std::string early = "st.shared.u32 [%s+1024], 1;\nfence.proxy.async;\n" + load_bytes;
  CHECK(run_copy(early, from, 48).fault == "");
  CHECK(names(run_copy(early + "ld.shared.u32 %v, [%s+1024];\n", from, 48).fault, "which nobody wrote"));
}

TEST_CASE("a barrier that was ended is none", "[ptx]") {
  const device_array<std::uint32_t> from(counted(64));
  const std::string again =
      "mbarrier.inval.shared::cta.b64 [%s];\nmbarrier.init.shared::cta.b64 [%s], 1;\n"
      "fence.mbarrier_init.release.cluster;\n"
      "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], SIZE;\n";
  CHECK(run_copy(again + load_bytes, from, 48).fault == "");
  CHECK(names(run_copy("mbarrier.inval.shared::cta.b64 [%s];\n" + load_bytes, from, 48).fault, "no mbarrier was made"));
  CHECK(names(run_copy(load_bytes + "mbarrier.inval.shared::cta.b64 [%s];\n", from, 48).fault,
              "mbarrier.inval while a copy is under way"));
}

TEST_CASE("a copy that nobody waits for is found when its block ends", "[ptx]") {
  const device_array<std::uint32_t> from(counted(64));
  const std::string text = run_copy(exchanged(load_bytes, "SIZE", "16") + "ret;\n", from, 16).fault;
  CHECK(names(text, "a block ends while a copy to its shared memory is under way"));
}

TEST_CASE("bytes are copied from shared memory, by groups", "[ptx]") {
  const std::string store = R"(.reg .b32 %s, %v; .reg .b64 %p, %o;
ld.param.u64 %p, [p0];
ld.param.u64 %o, [p1];
mov.u32 %s, memory;
st.shared.u32 [%s], 5; st.shared.u32 [%s+4], 6; st.shared.u32 [%s+8], 7; st.shared.u32 [%s+12], 8;
FENCE
cp.async.bulk.global.shared::cta.bulk_group [%p+16], [%s], 16;
cp.async.bulk.commit_group;
WAIT
mov.u32 %v, 0;
LOOK
st.global.u32 [%o], %v;
)";
  const std::string look = "ld.global.u32 %v, [%p+24];";
  const auto of_store = [&](const std::string& fence, const std::string& wait, const std::string& then) {
    const device_array<std::uint32_t> to(8), seen(1);
    const std::string found =
        fault_of(exchanged(exchanged(exchanged(store, "FENCE", fence), "WAIT", wait), "LOOK", then),
                 {to.address(), seen.address()}, {.threads = 1, .shared_bytes = 16}, copy_memory);
    if (found.empty()) {
      const words values = to.values();
      CHECK(words(values.begin() + 4, values.end()) == words{5, 6, 7, 8});
      CHECK(seen.values()[0] == (then == look ? 7 : 0));
    }
    return found;
  };
  const std::string fence = "fence.proxy.async.shared::cta;", wait = "cp.async.bulk.wait_group 0;";
  const std::string overwrite = "st.shared.u32 [%s], 9; st.shared.u32 [%s+4], 9;";
  CHECK(of_store(fence, wait, look) == "");
  CHECK(of_store(fence, "cp.async.bulk.wait_group.read 0;", overwrite) == "");
  CHECK(names(of_store(fence, "cp.async.bulk.wait_group.read 0;", look), "nobody wrote"));
  CHECK(names(of_store(fence, "cp.async.bulk.wait_group 1;", look), "nobody wrote"));
  CHECK(names(of_store(fence, "", ""), "a block ends while cp.async.bulk still reads its shared memory"));
  CHECK(names(of_store("", wait, look), "without a fence.proxy.async"));
}

TEST_CASE("kinds of copies that the machine does not know are named", "[ptx]") {
  const device_array<std::uint32_t> from(counted(64));
  for (const std::string text :
       {"cp.reduce.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes.add.u32 [%s], [%s], 16, [%s];",
        "cp.reduce.async.bulk.global.shared::cta.bulk_group.add.noftz.f16 [%from], [%s], 16;",
        "cp.async.bulk.prefetch.L2.global [%from], 16;",
        "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 [%s], 1, [%s];",
        "cp.async.bulk.tensor.3d.global.shared::cta.im2col_no_offs.bulk_group [%map, {%r, %r, %r}], [%s];"})
    CHECK(names(run_copy(text, from, 16).fault, "does not know: " + text.substr(0, text.find(' '))));
}

namespace {

/// A map of 32-bit words, whose axes lie one after another without gaps.
tile_map map_of(const device_array<std::uint32_t>& of, const std::vector<std::uint32_t>& extents,
                const std::vector<std::uint16_t>& box) {
  tile_map map;
  map.mark = tile_map::written;
  map.rank = static_cast<std::uint8_t>(extents.size());
  map.element_bytes = 4;
  map.address = of.address();
  std::uint64_t step = 4;
  for (std::size_t i = 0; i < extents.size(); ++i) {
    map.extents[i] = extents[i];
    if (i < box.size()) map.box[i] = box[i];
    step *= extents[i];
    if (i + 1 < extents.size()) map.strides[i] = step;
  }
  return map;
}

}  // namespace

TEST_CASE("a tile is copied to the blocks of a mask", "[ptx]") {
  const device_array<std::uint32_t> from(counted(8 * 6));
  const tile_map map = map_of(from, {8, 6}, {4, 2});
  const std::string copy = R"(mov.u16 %m, 6;
mov.u32 %c, 2;
mov.u32 %v, 3;
cp.async.bulk.tensor.2d.shared::cluster.global.tile.mbarrier::complete_tx::bytes.multicast::cluster
  [%s+1024], [%map, {%c, %v}], [%s], %m;
)";
  const std::string expect =
      "@!%first mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], SIZE;\n@%first st.shared.u32 [%s+1024], 0;\n"
      "@%first st.shared.u32 [%s+1028], 0; @%first st.shared.u32 [%s+1032], 0; @%first st.shared.u32 [%s+1036], 0;\n"
      "@%first st.shared.u32 [%s+1040], 0; @%first st.shared.u32 [%s+1044], 0; @%first st.shared.u32 [%s+1048], 0;\n"
      "@%first st.shared.u32 [%s+1052], 0;\n@%first mbarrier.arrive.shared::cta.b64 _, [%s];\n";
  const copied found = run_copy(copy + "barrier.cluster.arrive.aligned;\n", from, 32, 3, map, expect);
  CHECK(found.fault == "");
  const words tile{1026, 1027, 1028, 1029, 1034, 1035, 1036, 1037};
  words expected(8);
  for (int i = 0; i < 2; ++i) expected.insert(expected.end(), tile.begin(), tile.end());
  CHECK(found.values == expected);
  CHECK(found.done.global_loads.bytes == 32);
}

namespace {

/// What a convolution asks for: pixels of a filter's place, from a position in the box on.
struct pixel_case {
  std::int64_t lower[2], upper[2];  ///< along x and y
  int step;
  int channel, x, y, image;  ///< of the first pixel, before offsets
  int offsets[2];
};

constexpr int depth = 8, width = 7, height = 5, images = 3, channels = 4, pixels = 40;

words pixels_of(const pixel_case& of, const words& values) {
  words result;
  std::int64_t x = of.x, y = of.y, image = of.image;
  for (int pixel = 0; pixel < pixels; ++pixel) {
    for (int c = 0; c < channels; ++c) {
      const std::int64_t column = x + of.offsets[0], row = y + of.offsets[1], channel = of.channel + c;
      const bool is_inside = column >= 0 && column < width && row >= 0 && row < height && image < images &&
                             channel >= 0 && channel < depth;
      result.push_back(
          is_inside ? values[static_cast<std::size_t>(((image * height + row) * width + column) * depth + channel)]
                    : 0);
    }
    x += of.step;
    if (x <= width - 1 + of.upper[0]) continue;
    x = of.lower[0];
    y += of.step;
    if (y <= height - 1 + of.upper[1]) continue;
    y = of.lower[1];
    ++image;
  }
  return result;
}

copied run_pixels(const pixel_case& of, const device_array<std::uint32_t>& from, const std::string& mode = "im2col") {
  tile_map map = map_of(from, {depth, width, height, images}, {channels, pixels});
  map.is_of_pixels = 1;
  for (std::size_t i = 0; i < 2; ++i) {
    map.lower[i] = static_cast<std::int16_t>(of.lower[i]);
    map.upper[i] = static_cast<std::int16_t>(of.upper[i]);
    map.steps[i + 1] = static_cast<std::uint8_t>(of.step);
  }
  const auto number = [](int value) { return std::to_string(value) + ";\n"; };
  const std::string copy = ".reg .b32 %x<4>; .reg .b16 %o<2>;\nmov.u32 %x0, " + number(of.channel) + "mov.u32 %x1, " +
                           number(of.x) + "mov.u32 %x2, " + number(of.y) + "mov.u32 %x3, " + number(of.image) +
                           "mov.u16 %o0, " + number(of.offsets[0]) + "mov.u16 %o1, " + number(of.offsets[1]) +
                           "cp.async.bulk.tensor.4d.shared::cluster.global." + mode +
                           ".mbarrier::complete_tx::bytes [%s+1024], [%map, {%x0, %x1, %x2, %x3}], [%s]" +
                           (mode == "im2col" ? ", {%o0, %o1};\n" : ";\n");
  return run_copy(copy, from, pixels * channels * 4, 1, map);
}

}  // namespace

TEST_CASE("pixels of images are copied as a convolution asks for them", "[ptx]") {
  const words values = counted(depth * width * height * images);
  const device_array<std::uint32_t> from(values);
  const pixel_case padded{
      .lower = {-1, -1}, .upper = {-1, -1}, .step = 1, .channel = 4, .x = -1, .y = -1, .image = 0, .offsets = {0, 0}};
  pixel_case each = padded;
  for (int x = 0; x < 3; ++x) {
    for (int y = 0; y < 3; ++y) {
      each.offsets[0] = x, each.offsets[1] = y;
      CHECK(run_pixels(each, from).values == pixels_of(each, values));
    }
  }
  CHECK(pixels_of(padded, values) != pixels_of(each, values));
  const pixel_case others[] = {
      {.lower = {0, 0}, .upper = {-2, -2}, .step = 1, .channel = 0, .x = 3, .y = 2, .image = 1, .offsets = {2, 1}},
      {.lower = {-1, -2}, .upper = {0, 1}, .step = 2, .channel = -2, .x = 1, .y = 0, .image = 0, .offsets = {1, 0}},
      {.lower = {0, 0}, .upper = {0, 0}, .step = 3, .channel = 6, .x = 6, .y = 3, .image = 2, .offsets = {0, 0}}};
  for (const pixel_case& one : others) CHECK(run_pixels(one, from).values == pixels_of(one, values));
  CHECK(names(run_pixels(padded, from, "tile").fault, "encoded for the other kind"));
  each = padded;
  each.x = width - 1;
  CHECK(names(run_pixels(each, from).fault, "begins at 6 of axis 1, outside of the box from -1 to 5"));
}
