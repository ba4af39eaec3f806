// tests/ptx/faults.cpp: kernels with a fault each, which the machine must name, and their sound twins.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/program.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using floats = std::vector<float>;

bool says(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// `with` stands where the text says BARRIER.
std::string with(std::string text, const std::string& barrier) {
  text.replace(text.find("BARRIER"), 7, barrier);
  return text;
}

const std::string dynamic_shared = ".extern .shared .align 16 .b8 memory[];\n";

/// Each thread writes a word of shared memory, and reads that of the thread in the next warp.
const std::string exchange = thread_number + R"(
.reg .b32 %a, %b, %v; .reg .b64 %p, %q;
shl.b32 %a, %i, 2;
mov.u32 %b, memory;
add.s32 %a, %a, %b;
st.shared.u32 [%a], %i;
BARRIER
xor.b32 %b, %a, 128;
ld.shared.u32 %v, [%b];
ld.param.u64 %p, [p0];
mad.lo.s64 %q, %at, 4, %p;
st.global.u32 [%q], %v;
)";

}  // namespace

TEST_CASE("an access behind an allocation is refused, one at its end is not", "[ptx]") {
  const device_array<float> x(32);
  const std::string body = thread_number +
                           ".reg .b64 %p, %q; .reg .f32 %f;\nld.param.u64 %p, [p0];\nmad.lo.s64 %q, %at, 4, %p;\n"
                           "mov.f32 %f, 0f3F800000;\nBARRIER";
  CHECK(fault_of(with(body, "st.global.f32 [%q], %f;"), {x.address()}).empty());
  const std::string found = fault_of(with(body, "st.global.f32 [%q+4], %f;"), {x.address()});
  CHECK(says(found, "lane 31 writes 4 bytes of global memory, out of bounds"));
  CHECK(says(found, "128 bytes behind the begin of an allocation of 128 bytes"));
}

TEST_CASE("an access behind shared memory is refused", "[ptx]") {
  const std::string body =
      ".reg .b32 %a, %v;\nmov.u32 %a, memory;\nmov.u32 %v, 1;\nst.shared.u32 [%a+60], %v;\nBARRIER";
  CHECK(fault_of(with(body, ""), {}, {.threads = 1, .shared_bytes = 64}, dynamic_shared).empty());
  CHECK(says(fault_of(with(body, "st.shared.u32 [%a+64], %v;"), {}, {.threads = 1, .shared_bytes = 64}, dynamic_shared),
             "byte 64 of shared memory, of which there are 64"));
}

TEST_CASE("an access at an odd address is refused", "[ptx]") {
  const device_array<float> x(floats(32));
  CHECK(says(fault_of(".reg .b64 %p; .reg .f32 %f, %g;\nld.param.u64 %p, [p0];\nld.global.v2.f32 {%f, %g}, [%p+4];",
                      {x.address()}),
             "8 bytes at an address that is no multiple of that"));
}

TEST_CASE("values that nobody wrote are not read", "[ptx]") {
  const device_array<float> empty(32), full(floats(32));
  const std::string body = ".reg .b64 %p; .reg .f32 %f;\nld.param.u64 %p, [p0];\nld.global.f32 %f, [%p+64];";
  CHECK(fault_of(body, {full.address()}).empty());
  CHECK(says(fault_of(body, {empty.address()}), "reads byte 64 of an allocation of 128 bytes, which nobody wrote"));
}

TEST_CASE("a missing barrier between warps is a race", "[ptx]") {
  const device_array<std::uint32_t> out(64);
  const test_launch two_warps{.threads = 64, .shared_bytes = 256};
  CHECK(fault_of(with(exchange, "bar.sync 0;"), {out.address()}, two_warps, dynamic_shared).empty());
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(out.values()[i] == (i ^ 32));
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const std::string found = fault_of(with(exchange, "bar.warp.sync 0xffffffff;"), {out.address()},
                                       {.threads = 64, .shared_bytes = 256, .seed = seed}, dynamic_shared);
    CHECK((says(found, "race in shared memory") || says(found, "nobody wrote")));
  }
}

TEST_CASE("lanes of a warp need order, too", "[ptx]") {
  const device_array<std::uint32_t> out(32);
  std::string body = exchange;
  body.replace(body.find("128;"), 4, "4;");
  CHECK(fault_of(with(body, "bar.warp.sync 0xffffffff;"), {out.address()}, {.shared_bytes = 128}, dynamic_shared)
            .empty());
  CHECK(says(fault_of(with(body, ""), {out.address()}, {.shared_bytes = 128}, dynamic_shared),
             "race in shared memory: thread 0 reads what thread 1 wrote without order"));
  const std::string product = R"(.reg .b32 %z; .reg .f32 %f, %g, %h, %k;
mov.u32 %z, 0; mov.f32 %f, 0f00000000; mov.f32 %g, %f; mov.f32 %h, %f; mov.f32 %k, %f;
mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%f, %g, %h, %k}, {%z, %z, %z, %z}, {%z, %z}, {%f, %g, %h, %k};)";
  CHECK(says(fault_of(with(body, product), {out.address()}, {.shared_bytes = 128}, dynamic_shared),
             "race in shared memory: thread 0 reads what thread 1 wrote without order"));  // though all lanes met
}

TEST_CASE("blocks that write the same word race, atomic operations do not", "[ptx]") {
  const device_array<std::uint32_t> sum(std::vector<std::uint32_t>{0});
  const std::string body = ".reg .b64 %p; .reg .b32 %v;\nld.param.u64 %p, [p0];\nmov.u32 %v, 1;\nBARRIER";
  CHECK(fault_of(with(body, "red.global.add.u32 [%p], %v;"), {sum.address()}, {.blocks = 5, .threads = 64}).empty());
  CHECK(sum.values()[0] == 320);
  CHECK(says(fault_of(with(body, "st.global.u32 [%p], %v;"), {sum.address()}, {.blocks = 2, .threads = 1}),
             "race in global memory"));
}

TEST_CASE("the last block sees what the others wrote, by a fence on either side of a counter", "[ptx]") {
  const std::string body = R"(
.reg .b64 %c, %w, %o, %q; .reg .b32 %b, %old, %v, %s; .reg .pred %last;
ld.param.u64 %c, [p0]; ld.param.u64 %w, [p1]; ld.param.u64 %o, [p2];
mov.u32 %b, %ctaid.x;
mul.wide.u32 %q, %b, 4;
add.s64 %q, %q, %w;
st.global.u32 [%q], %b;
BARRIER
setp.ne.u32 %last, %old, 3;
@%last ret;
BARRIER
ld.global.u32 %s, [%w]; ld.global.u32 %v, [%w+4]; add.s32 %s, %s, %v;
ld.global.u32 %v, [%w+8]; add.s32 %s, %s, %v; ld.global.u32 %v, [%w+12]; add.s32 %s, %s, %v;
st.global.u32 [%o], %s;
)";
  const auto of_four_blocks = [&](const std::string& count, const std::string& fence_behind) {
    const device_array<std::uint32_t> counter(std::vector<std::uint32_t>{0}), parts(4), out(1);
    const std::string found =
        fault_of(with(with(body, count), fence_behind), {counter.address(), parts.address(), out.address()},
                 {.blocks = 4, .threads = 1});
    if (found.empty()) CHECK(out.values()[0] == 6);
    return found;
  };
  const std::string add = "atom.global.add.u32 %old, [%c], 1;";
  CHECK(of_four_blocks("membar.gl;\n" + add, "fence.acq_rel.gpu;") == "");
  CHECK(of_four_blocks("atom.acq_rel.gpu.global.add.u32 %old, [%c], 1;", "") == "");
  CHECK(of_four_blocks("atom.release.gpu.global.add.u32 %old, [%c], 1;", "membar.sys;") == "");
  CHECK(says(of_four_blocks(add, "membar.gl;"), "race in global memory"));
  CHECK(says(of_four_blocks("membar.gl;\n" + add, ""), "race in global memory"));
  CHECK(says(of_four_blocks("membar.cta;\n" + add, "membar.gl;"), "race in global memory"));
}

TEST_CASE("a barrier in one branch is refused, one in both lanes' way is not", "[ptx]") {
  const std::string body =
      ".reg .b32 %i; .reg .pred %p;\nmov.u32 %i, %tid.x;\nsetp.lt.u32 %p, %i, 7;\n@%p bra INSIDE;\nBARRIER";
  CHECK(fault_of(with(body, "bra.uni JOINED;\nINSIDE:\nadd.s32 %i, %i, 1;\nJOINED:\nbar.sync 0;")).empty());
  CHECK(says(fault_of(with(body, "bra.uni JOINED;\nINSIDE:\nbar.sync 0;\nJOINED:\nadd.s32 %i, %i, 1;")),
             "lanes end while others of their warp wait at a barrier"));
  CHECK(says(fault_of(with(body, "bar.sync 0;\nbra.uni JOINED;\nINSIDE:\nbar.sync 0;\nJOINED:\nadd.s32 %i, %i, 1;")),
             "divergent lanes wait for each other"));
}

TEST_CASE("a barrier that a warp never reaches is a deadlock", "[ptx]") {
  const std::string body =
      ".reg .b32 %i; .reg .pred %p;\nmov.u32 %i, %tid.x;\nsetp.ge.u32 %p, %i, 32;\n@%p bra DONE;\nbar.sync 1, "
      "64;\nDONE:";
  CHECK(says(fault_of(body, {}, {.threads = 64}), "all warps wait"));
}

TEST_CASE("an asynchronous copy needs its wait", "[ptx]") {
  const device_array<std::uint32_t> in(std::vector<std::uint32_t>(128, 7)), out(32);
  const std::string body = thread_number + R"(
.reg .b32 %a, %v; .reg .b64 %p, %q;
ld.param.u64 %p, [p0];
mad.lo.s64 %q, %at, 16, %p;
mov.u32 %a, memory;
mad.lo.s32 %a, %i, 16, %a;
cp.async.cg.shared.global [%a], [%q], 16, 8;
cp.async.commit_group;
BARRIER
ld.shared.u32 %v, [%a+4];
ld.param.u64 %p, [p1];
mad.lo.s64 %q, %at, 4, %p;
st.global.u32 [%q], %v;
ld.shared.u32 %v, [%a+8];
st.global.u32 [%q], %v;
)";
  const test_launch one_warp{.shared_bytes = 512};
  CHECK(
      fault_of(with(body, "cp.async.wait_group 0;"), {in.address(), out.address()}, one_warp, dynamic_shared).empty());
  CHECK(out.values() == std::vector<std::uint32_t>(32, 0));
  CHECK(says(fault_of(with(body, "cp.async.wait_group 1;"), {in.address(), out.address()}, one_warp, dynamic_shared),
             "nobody wrote"));
}

TEST_CASE("copies of tiles and products of warpgroups need a fence in front of the first", "[ptx]") {
  const std::string copy = R"(.reg .b32 %s; .reg .b64 %p;
mov.u32 %s, memory;
ld.param.u64 %p, [p0];
mbarrier.init.shared::cta.b64 [%s], 1;
BARRIER
cp.async.bulk.tensor.1d.shared::cluster.global.mbarrier::complete_tx::bytes [%s+128], [%p, {%s}], [%s];
)";
  const device_array<float> no_map(32);
  const auto of_copy = [&](const std::string& fence) {
    return fault_of(with(copy, fence), {no_map.address()}, {.threads = 1, .shared_bytes = 256}, dynamic_shared);
  };
  CHECK(says(of_copy(""), "an mbarrier that no fence.mbarrier_init has shown"));
  CHECK(says(of_copy("fence.mbarrier_init.release.cluster;"), "a tensor map that is no parameter"));  // the next fault
  const std::string product = R"(.reg .b64 %d; .reg .f32 %f, %g, %h, %i; .reg .pred %adds;
mov.u64 %d, 4611686018427387904;
setp.ne.s64 %adds, %d, %d;
BARRIER
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f, %g, %h, %i}, %d, %d, %adds, 1, 1, 0, 0;
)";
  CHECK(says(fault_of(with(product, "")), "wgmma.mma_async without a wgmma.fence"));
  CHECK(fault_of(with(product, "wgmma.fence.sync.aligned;")).empty());
}

TEST_CASE("products of warpgroups name their depth, and what their elements have", "[ptx]") {
  const auto of = [](const std::string& shape_and_types, const std::string& rest) {
    return fault_of(R"(.reg .b64 %d; .reg .b32 %f, %g, %h, %i; .reg .pred %adds;
mov.u64 %d, 4611686018427387904;
setp.ne.s64 %adds, %d, %d;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.)" +
                    shape_and_types + " {%f, %g, %h, %i}, %d, %d, %adds" + rest + ";\n");
  };
  CHECK(of("m64n8k16.f32.bf16.bf16", ", 1, 1, 0, 1").empty());
  CHECK(of("m64n8k32.f32.e4m3.e4m3", ", 1, 1").empty());
  CHECK(of("m64n8k8.f32.tf32.tf32", ", 1, 1").empty());
  CHECK(of("m64n8k32.s32.s8.s8", "").empty());
  const std::string unknown = "does not know";
  CHECK(says(of("m64n8k16.f32.tf32.tf32", ", 1, 1"), unknown));
  CHECK(says(of("m64n8k8.f32.tf32.tf32", ", 1, 1, 0, 0"), unknown));  // its depth lies side by side
  CHECK(says(of("m64n8k32.s32.s8.s8", ", 1, 1"), unknown));
  CHECK(says(of("m64n8k32.f32.s8.s8", ""), unknown));
}

TEST_CASE("what threads wrote needs a fence before a warpgroup multiplies it", "[ptx]") {
  const std::string product = thread_number + R"(
.reg .b32 %a, %z, %n; .reg .b64 %d, %w; .reg .f32 %f, %g, %h, %j; .reg .pred %adds, %more;
mov.u32 %z, 0;
mov.u32 %n, 0;
mov.u32 %a, memory;
mad.lo.s32 %a, %i, 16, %a;
WRITE:
st.shared.v4.u32 [%a], {%z, %z, %z, %z};
add.s32 %a, %a, 2048;
add.s32 %n, %n, 1;
setp.lt.u32 %more, %n, 4;
@%more bra WRITE;
BARRIER
mov.u32 %a, memory;
shr.u32 %a, %a, 4;
cvt.u64.u32 %d, %a;
mov.u64 %w, 4611686293305294848;
or.b64 %d, %d, %w;
setp.ne.s64 %adds, %d, %d;
wgmma.fence.sync.aligned;
wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f, %g, %h, %j}, %d, %d, %adds, 1, 1, 0, 0;
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
)";
  const test_launch warpgroup{.threads = 128, .shared_bytes = 8192};
  const auto of_product = [&](const std::string& between) {
    return fault_of(with(product, between), {}, warpgroup, dynamic_shared);
  };
  CHECK(of_product("fence.proxy.async;\nbar.sync 0;") == "");
  CHECK(of_product("bar.sync 0;\nfence.proxy.async.shared::cta;") == "");
  CHECK(says(of_product("bar.sync 0;"), "that a thread wrote, without a fence.proxy.async between"));
}

TEST_CASE("registers of a warpgroup's product belong to it until it is waited for, and are shown to the next one",
          "[ptx]") {
  const std::string products = R"(.reg .b64 %d; .reg .f32 %f, %g, %h, %i, %k; .reg .pred %adds;
mov.u64 %d, 4611686293305294848;
or.b64 %d, %d, 64;
setp.ne.s64 %adds, %d, %d;
mov.f32 %f, 0f00000000;
wgmma.fence.sync.aligned;
PRODUCT
BARRIER
wgmma.commit_group.sync.aligned;
wgmma.wait_group.sync.aligned 0;
)";
  const std::string product =
      "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%f, %g, %h, %i}, %d, %d, %adds, 1, 1, 0, 0;\n";
  const std::string clear = R"(.reg .b32 %a, %z;
mov.u32 %z, 0;
mov.u32 %a, %tid.x;
shl.b32 %a, %a, 6;
add.s32 %a, %a, 1024;
st.shared.v4.u32 [%a], {%z, %z, %z, %z};
st.shared.v4.u32 [%a+16], {%z, %z, %z, %z};
st.shared.v4.u32 [%a+32], {%z, %z, %z, %z};
st.shared.v4.u32 [%a+48], {%z, %z, %z, %z};
fence.proxy.async;
bar.sync 0;
)";
  const auto of_products = [&](const std::string& between) {
    std::string body = clear + with(products, between);
    body.replace(body.find("PRODUCT"), 7, product);
    return fault_of(body, {}, {.threads = 128, .shared_bytes = 16384}, dynamic_shared);
  };
  const std::string fence = "wgmma.fence.sync.aligned;\n";
  const std::string wait = "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;\n";
  CHECK(of_products("") == "");
  CHECK(of_products(product) == "");                                // products of one shape follow each other
  CHECK(of_products("mov.f32 %k, 0f00000000;\n" + product) == "");  // of another register
  CHECK(
      says(of_products("mov.f32 %k, %h;\n"), "registers of a product of a warpgroup are used before it is waited for"));
  CHECK(says(of_products("mov.f32 %f, 0f00000000;\n"), "used before it is waited for"));
  CHECK(of_products(wait + "mov.f32 %k, %h;\n") == "");
  CHECK(says(of_products(wait + "mov.f32 %k, %h;\n" + product), "without a wgmma.fence between"));
  CHECK(says(of_products(wait + "mov.f32 %f, 0f00000000;\n" + product), "without a wgmma.fence between"));
  CHECK(of_products(wait + "mov.f32 %f, 0f00000000;\n" + fence + product) == "");
  CHECK(says(of_products(wait + "st.shared.v4.f32 [%a+8192], {%k, %k, %k, %i};\n" + product),
             "without a wgmma.fence between"));
}

TEST_CASE("the warps of a warpgroup come to one setmaxnreg after another", "[ptx]") {
  const auto of_body = [](const std::string& body) {
    const std::string numbers =
        ".reg .b32 %i, %w; .reg .pred %p, %q;\nmov.u32 %i, %tid.x;\nshr.u32 %w, %i, 5;\n"
        "setp.ge.u32 %p, %w, 4;\nsetp.eq.u32 %q, %w, 2;\n";
    return fault_of(numbers + body, {}, {.threads = 256});
  };
  const std::string less = "setmaxnreg.dec.sync.aligned.u32 40;\n", more = "setmaxnreg.inc.sync.aligned.u32 232;\n";
  const std::string barrier = "bar.sync 0;\n";
  CHECK(of_body("@%p bra MORE;\n" + less + "ret;\nMORE:\n" + more) == "");  // each warpgroup its own
  CHECK(of_body(less + barrier + more) == "");
  CHECK(says(of_body(less + more), "without a barrier of its warpgroup between"));
  CHECK(says(of_body(more + barrier + "setmaxnreg.inc.sync.aligned.u32 200;\n"),
             "setmaxnreg.inc from 232 registers to 200"));
  CHECK(says(of_body(less + barrier + "setmaxnreg.dec.sync.aligned.u32 48;\n"),
             "setmaxnreg.dec from 40 registers to 48"));
  CHECK(says(of_body("@%q bra MORE;\n" + less + "ret;\nMORE:\n" + more), "come to different setmaxnreg"));
  CHECK(says(of_body("@%q bra DONE;\n" + less + "DONE:"), "only some warps of a warpgroup"));
  for (const std::string count : {"16", "36", "264"})
    CHECK(says(of_body("setmaxnreg.inc.sync.aligned.u32 " + count + ";"), "expected a multiple of 8 from 24 to 256"));
}

TEST_CASE("an instruction that the machine does not know is named", "[ptx]") {
  CHECK(says(fault_of(".reg .b32 %r;\nvabsdiff4.u32.u32.u32 %r, %r, %r, %r;"), "does not know: vabsdiff4.u32"));
  CHECK(says(fault_of("trap;"), "trap"));
}
