// tests/ptx/traffic.cpp: counts of small kernels, against numbers that are worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/program.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using words = std::vector<std::uint32_t>;

const std::string shared_for_copies = ".extern .shared .align 128 .b8 memory[];\n";

/// Each lane loads `type` at its number times `step`, plus `offset`.
counts of_global_loads(const std::string& load, int step, int offset, int threads = 32) {
  const device_array<std::uint32_t> memory(words(2048));
  const std::string body = thread_number +
                           ".reg .b64 %p, %q; .reg .b32 %r<4>;\nld.param.u64 %p, [p0];\nmad.lo.s64 %q, %at, " +
                           std::to_string(step) + ", %p;\n" + load + ", [%q+" + std::to_string(offset) + "];";
  return run_body(body, {memory.address()}, {.threads = static_cast<std::uint32_t>(threads)});
}

/// Each lane stores at its number times `step` in shared memory.
traffic of_shared_stores(const std::string& store, const std::string& values, int step) {
  return run_body(thread_number + ".reg .b32 %a; .reg .b32 %r<4>;\nmov.u32 %a, memory;\nmad.lo.s32 %a, %i, " +
                      std::to_string(step) +
                      ", %a;\nmov.u32 %r0, 1; mov.u32 %r1, 1; mov.u32 %r2, 1; mov.u32 %r3, 1;\n" + store + " [%a], " +
                      values + ";",
                  {}, {.shared_bytes = 8192}, shared_for_copies)
      .shared_stores;
}

}  // namespace

TEST_CASE("global memory is counted in sectors of 32 bytes", "[ptx]") {
  CHECK(of_global_loads("ld.global.u32 %r0", 4, 0).global_loads == traffic{1, 128, 4, 4});
  CHECK(of_global_loads("ld.global.u32 %r0", 4, 4).global_loads == traffic{1, 128, 5, 4});    // one more is touched
  CHECK(of_global_loads("ld.global.u32 %r0", 8, 0).global_loads == traffic{1, 128, 8, 4});    // every second word
  CHECK(of_global_loads("ld.global.u32 %r0", 64, 0).global_loads == traffic{1, 128, 32, 4});  // each lane has its own
  CHECK(of_global_loads("ld.global.u32 %r0", 0, 0).global_loads == traffic{1, 128, 1, 4});    // all lanes the same
  CHECK(of_global_loads("ld.global.v4.u32 {%r0, %r1, %r2, %r3}", 16, 0).global_loads == traffic{1, 512, 16, 16});
  CHECK(of_global_loads("ld.global.u32 %r0", 4, 0, 40).global_loads == traffic{2, 160, 5, 5});  // 32 lanes and 8
  CHECK(of_global_loads("ld.u32 %r0", 4, 0).global_loads == traffic{1, 128, 4, 4});             // by generic address
}

TEST_CASE("shared memory is counted in passes over its banks", "[ptx]") {
  CHECK(of_shared_stores("st.shared.u32", "%r0", 4) == traffic{1, 128, 1, 1});
  CHECK(of_shared_stores("st.shared.u32", "%r0", 8) == traffic{1, 128, 2, 1});     // banks 0, 2, 4, ... twice
  CHECK(of_shared_stores("st.shared.u32", "%r0", 128) == traffic{1, 128, 32, 1});  // bank 0 alone
  CHECK(of_shared_stores("st.shared.u32", "%r0", 132) == traffic{1, 128, 1, 1});   // a row of 33 words
  CHECK(of_shared_stores("st.shared.v2.u32", "{%r0, %r1}", 8) == traffic{1, 256, 2, 2});
  CHECK(of_shared_stores("st.shared.v4.u32", "{%r0, %r1, %r2, %r3}", 16) == traffic{1, 512, 4, 4});
  CHECK(of_shared_stores("st.shared.v4.u32", "{%r0, %r1, %r2, %r3}", 128) == traffic{1, 512, 32, 4});
  CHECK(of_shared_stores("st.shared.v4.u32", "{%r0, %r1, %r2, %r3}", 144) == traffic{1, 512, 4, 4});
}

TEST_CASE("a word that many lanes read is one pass", "[ptx]") {
  const counts found = run_body(R"(.reg .b32 %a, %v;
mov.u32 %a, memory;
st.shared.u32 [%a], 7;
bar.warp.sync 0xffffffff;
ld.shared.u32 %v, [%a];)",
                                {}, {.threads = 1, .shared_bytes = 8}, shared_for_copies);
  CHECK(found.shared_stores == traffic{1, 4, 1, 1});
  CHECK(found.shared_loads == traffic{1, 4, 1, 1});
}

TEST_CASE("instructions are counted by class, for warps and for lanes", "[ptx]") {
  const device_array<std::uint32_t> out(words{0});
  const counts found = run_body(R"(.reg .b32 %i, %v; .reg .f32 %f; .reg .b64 %p; .reg .pred %low;
mov.u32 %i, %tid.x;
setp.lt.u32 %low, %i, 5;
@%low add.u32 %i, %i, 1;
cvt.rn.f32.u32 %f, %i;
fma.rn.f32 %f, %f, %f, %f;
shfl.sync.bfly.b32 %v, %i, 1, 0x1f, 0xffffffff;
bar.sync 0;
ld.param.u64 %p, [p0];
red.global.add.u32 [%p], 1;)",
                                {out.address()}, {.blocks = 3, .threads = 64});
  constexpr std::uint64_t warps = 6, lanes = 192;
  CHECK(found.instructions() == 10 * warps);  // and `ret`
  CHECK(found.lane_instructions() == 9 * lanes + 3 * 5);
  CHECK(found.lanes_of(work::integers) == 3 * 5);  // the guard holds for five lanes of each block
  CHECK(found.warps_of(work::integers) == warps);
  CHECK(found.lanes_of(work::moves) == 2 * lanes);
  for (const work kind :
       {work::compares, work::conversions, work::floats, work::shuffles, work::barriers, work::atomics, work::control})
    CHECK(found.lanes_of(kind) == lanes);
  CHECK(found.global_atomics == traffic{6, lanes * 4, 6, 6 * 4});
}

TEST_CASE("matrix instructions count their multiplications and additions", "[ptx]") {
  const counts found = run_body(R"(.reg .b32 %a<4>; .reg .f32 %c<4>;
mov.u32 %a0, 0; mov.u32 %a1, 0; mov.u32 %a2, 0; mov.u32 %a3, 0;
mov.f32 %c0, 0f00000000; mov.f32 %c1, 0f00000000; mov.f32 %c2, 0f00000000; mov.f32 %c3, 0f00000000;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32
  {%c0, %c1, %c2, %c3}, {%a0, %a1, %a2, %a3}, {%a0, %a1}, {%c0, %c1, %c2, %c3};)",
                                {}, {.threads = 96});
  CHECK(found.tensor_operations == 3 * 2 * 16 * 8 * 16);
  CHECK(found.warps_of(work::matrices) == 3);
}

TEST_CASE("rows of matrices that lie 16 bytes apart load without conflicts, those 128 apart in eight passes", "[ptx]") {
  for (const int step : {16, 128, 144}) {
    const std::string row = std::to_string(step);
    const counts found = run_body(thread_number + R"(.reg .b32 %s; .reg .b32 %r<4>;
mov.u32 %s, memory;
mad.lo.s32 %s, %i, )" + row + R"(, %s;
mov.u32 %r0, 0;
st.shared.v4.u32 [%s], {%r0, %r0, %r0, %r0};
bar.warp.sync 0xffffffff;
ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%r0, %r1, %r2, %r3}, [%s];)",
                                  {}, {.shared_bytes = 8192}, shared_for_copies);
    CHECK(found.shared_loads == traffic{4, 512, step == 128 ? 32u : 4u, 4});
  }
}

TEST_CASE("copies past the registers count at both ends", "[ptx]") {
  const device_array<std::uint32_t> in(words(512));
  const counts found = run_body(thread_number + R"(.reg .b32 %a; .reg .b64 %p, %q;
ld.param.u64 %p, [p0];
mad.lo.s64 %q, %at, 32, %p;
mov.u32 %a, memory;
mad.lo.s32 %a, %i, 16, %a;
cp.async.cg.shared.global [%a], [%q], 16;
cp.async.wait_all;)",
                                {in.address()}, {.shared_bytes = 512}, shared_for_copies);
  CHECK(found.global_loads == traffic{1, 512, 32, 16});  // half of each sector
  CHECK(found.shared_stores == traffic{1, 512, 4, 4});
  CHECK(found.lanes_of(work::copies) == 64);
}

TEST_CASE("the counts of a launch are a line of JSON", "[ptx]") {
  counted_launch launch{
      .kernel = R"(f<'"'>)", .entry = "f", .grid = {3, 1, 1}, .block = {64, 2, 1}, .shared_bytes = 16, .done = {}};
  launch.done.lanes[1] = 5;
  launch.done.shared_loads = {1, 128, 32, 1};
  const std::string text = json_of(launch);
  const auto has = [&](const char* part) { return text.find(part) != std::string::npos; };
  CHECK(text.find(R"({"kernel":"f<'\"'>","entry":"f","grid":[3,1,1],"block":[64,2,1],"shared_bytes":16,)") == 0);
  CHECK(has(R"("lanes":{"integers":0,"floats":5,)"));
  CHECK(has(R"("shared_loads":{"accesses":1,"bytes":128,"passes":32,"fewest":1})"));
  CHECK(text.back() == '}');
}
