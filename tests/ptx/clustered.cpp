// tests/ptx/clustered.cpp: kernels of several blocks a cluster, and their twins with a fault each.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/program.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using words = std::vector<std::uint32_t>;

const std::string cluster_memory = ".extern .shared .align 128 .b8 memory[];\n";

bool tells(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

/// The text with something in the place of a word of it.
std::string put(std::string text, const std::string& word, const std::string& instead) {
  return text.replace(text.find(word), word.size(), instead);
}

const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";

/// Each thread writes a word of its block's shared memory and reads that of the next block: %v. Results go to p0.
const std::string read_next = thread_number + R"(
.reg .b32 %s, %a, %r, %n, %v, %w, %k; .reg .b64 %p, %q, %g;
mov.u32 %r, %cluster_ctarank;
mov.u32 %n, %cluster_nctarank;
mov.u32 %s, memory;
mad.lo.s32 %s, %i, 4, %s;
mad.lo.s32 %v, %r, 100, %i;
st.shared.u32 [%s], %v;
add.u32 %w, %r, 1;
rem.u32 %w, %w, %n;
FIRST
READ
LAST
mov.u32 %k, %ctaid.x;
mad.lo.s32 %k, %k, 64, %i;
ld.param.u64 %p, [p0];
mad.wide.u32 %q, %k, 4, %p;
st.global.u32 [%q], %v;
)";
const std::string read_by_address = "mapa.shared::cluster.u32 %a, %s, %w;\nld.shared::cluster.u32 %v, [%a];\n";

/// What the machine says of `read_next` in two clusters of four blocks; the values are checked where it says nothing.
std::string fault_of_reading(const std::string& read, const std::string& first = meet, const std::string& last = meet,
                             std::uint64_t seed = 1) {
  const device_array<std::uint32_t> out(8 * 64);
  const std::string found =
      fault_of(put(put(put(read_next, "FIRST", first), "READ", read), "LAST", last), {out.address()},
               {.blocks = 8, .threads = 64, .shared_bytes = 256, .seed = seed, .cluster = {4, 1, 1}}, cluster_memory);
  if (!found.empty()) return found;
  const words values = out.values();
  for (std::uint32_t i = 0; i < values.size(); ++i) {
    if (values[i] != (i / 64 + 1) % 4 * 100 + i % 64) return "a wrong value at " + std::to_string(i);
  }
  return {};
}

/// Lets others go on for a while: a loop over %k, for which %more says whether it goes on.
const std::string linger = R"(mov.u32 %k, 0;
SPIN: nanosleep.u32 5;
add.u32 %k, %k, 1;
setp.lt.u32 %more, %k, 200;
@%more bra SPIN;
)";

}  // namespace

TEST_CASE("blocks know their places in clusters", "[ptx]") {
  const std::vector<std::string> names{
      "%cluster_ctaid.x",  "%cluster_ctaid.y", "%cluster_ctaid.z",  "%cluster_nctaid.x", "%cluster_nctaid.y",
      "%cluster_nctaid.z", "%cluster_ctarank", "%cluster_nctarank", "%clusterid.x",      "%clusterid.y",
      "%clusterid.z",      "%nclusterid.x",    "%nclusterid.y",     "%nclusterid.z"};
  std::string body = R"(.reg .b32 %x, %y, %v; .reg .b64 %p, %q;
mov.u32 %x, %ctaid.x; mov.u32 %y, %ctaid.y;
mad.lo.s32 %x, %y, 6, %x;
ld.param.u64 %p, [p0];
mad.wide.u32 %q, %x, 56, %p;
)";
  for (std::size_t i = 0; i < names.size(); ++i)
    body += "mov.u32 %v, " + names[i] + ";\nst.global.u32 [%q+" + std::to_string(4 * i) + "], %v;\n";
  const device_array<std::uint32_t> out(24 * 14);
  run_body(body, {out.address()}, {.blocks = 6, .threads = 1, .rows = 4, .cluster = {3, 2, 1}});
  const words found = out.values();
  for (std::uint32_t y = 0; y < 4; ++y) {
    for (std::uint32_t x = 0; x < 6; ++x) {
      const words expected{x % 3, y % 2, 0, 3, 2, 1, y % 2 * 3 + x % 3, 6, x / 3, y / 2, 0, 2, 2, 1};
      const std::uint32_t* const here = &found[(y * 6 + x) * 14];
      CHECK(words(here, here + 14) == expected);
    }
  }
}

TEST_CASE("a kernel says how many blocks its clusters have", "[ptx]") {
  module program(
      ".version 9.0\n.target sm_90a\n.visible .entry two()\n.explicitcluster\n.reqnctapercluster 4, 2\n.maxntid "
      "128\n{\nret;\n}\n.visible .entry none()\n{\nret;\n}\n");
  const kernel &two = program.entry("two"), &none = program.entry("none");
  CHECK((two.has_cluster && two.cluster.x == 4 && two.cluster.y == 2 && two.cluster.z == 1));
  CHECK(two.most_threads == 128);
  CHECK((!none.has_cluster && none.cluster.count() == 1));
}

TEST_CASE("blocks of a cluster read each other's shared memory by every kind of address", "[ptx]") {
  CHECK(fault_of_reading(read_by_address) == "");
  CHECK(fault_of_reading("add.u32 %s, %s, 4;\nmapa.shared::cluster.u32 %a, %s, %w;\nld.shared::cluster.u32 %v, "
                         "[%a+-4];\n") == "");
  const std::string generic = R"(.reg .b64 %l;
cvt.u64.u32 %l, %s;
cvta.shared.u64 %g, %l;
mapa.u64 %g, %g, %w;
)";
  CHECK(fault_of_reading(generic + "ld.u32 %v, [%g];\n") == "");
  CHECK(fault_of_reading(generic + "cvta.to.shared::cluster.u64 %l, %g;\nld.shared::cluster.u32 %v, [%l];\n") == "");
  CHECK(fault_of_reading(read_by_address +
                         "cvt.u64.u32 %g, %a;\ncvta.shared::cluster.u64 %g, %g;\nld.u32 %v, [%g];\n") == "");
  // The rank of the address, of each kind, in the place of a value that was read.
  const std::string keep_rank = "mad.lo.s32 %v, %v, 100, %i;\n";
  CHECK(fault_of_reading("mapa.shared::cluster.u32 %a, %s, %w;\ngetctarank.shared::cluster.u32 %v, %a;\n" +
                         keep_rank) == "");
  CHECK(fault_of_reading(generic + "getctarank.u64 %v, %g;\n" + keep_rank) == "");
  const std::string own_rank = "getctarank.shared::cluster.u32 %k, %s;\nadd.u32 %v, %k, 1;\nand.b32 %v, %v, 3;\n";
  CHECK(fault_of_reading(own_rank + keep_rank) == "");
}

TEST_CASE("what blocks of a cluster write needs their barrier before others read it", "[ptx]") {
  const std::string relaxed = put(meet, "arrive.", "arrive.relaxed.");
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    CHECK(fault_of_reading(read_by_address, meet, meet, seed) == "");
    CHECK(tells(fault_of_reading(read_by_address, "bar.sync 0;\n", meet, seed), "of its cluster, which"));  // not begun
    const std::string found = fault_of_reading(read_by_address, relaxed, meet, seed);
    CHECK(tells(found, "race in shared memory"));
    CHECK(tells(found, "of another block of its cluster wrote without order"));
  }
}

TEST_CASE("a block ends when others are known to have read its shared memory", "[ptx]") {
  for (std::uint64_t seed = 1; seed < 6; ++seed) {
    const std::string found = fault_of_reading(read_by_address, meet, "", seed);
    CHECK((tells(found, "may still use its shared memory") || tells(found, "which has ended")));
  }
}

TEST_CASE("shared memory of a block that has ended is not read", "[ptx]") {
  const std::string late = R"(.reg .pred %first, %more;
setp.eq.u32 %first, %w, 1;
@!%first ret;
)" + linger;
  CHECK(tells(fault_of_reading(late + read_by_address, meet, ""),
              "uses shared memory of block 1 of its cluster, which has ended"));
}

TEST_CASE("what is outside of a cluster or of its memory is refused", "[ptx]") {
  CHECK(tells(fault_of_reading("mapa.shared::cluster.u32 %a, %s, 4;\nld.shared::cluster.u32 %v, [%a];\n"),
              "block 4 of a cluster of 4"));
  CHECK(tells(fault_of_reading(put(read_by_address, "[%a]", "[%a+256]")), "of shared memory, of which there are 256"));
  CHECK(tells(fault_of_reading(put(read_by_address, "ld.shared::cluster", "ld.shared::cta")),
              "of shared memory, of which there are 256"));
  CHECK(
      tells(fault_of_reading("ld.param.u64 %g, [p0];\nmapa.u64 %g, %g, %w;\n"), "in no shared memory of the cluster"));
}

TEST_CASE("barriers of clusters are waited for once for each arrival", "[ptx]") {
  const test_launch two{.blocks = 2, .threads = 64, .cluster = {2, 1, 1}};
  CHECK(fault_of(meet + meet, {}, two) == "");
  CHECK(tells(fault_of("barrier.cluster.arrive;\nbarrier.cluster.arrive;", {}, two), "arrive twice"));
  CHECK(tells(fault_of("barrier.cluster.wait;", {}, two), "without a barrier.cluster.arrive"));
  const std::string leave = ".reg .pred %p; .reg .b32 %k;\nmov.u32 %k, %cluster_ctarank;\nsetp.eq.u32 %p, %k, 1;\n";
  CHECK(fault_of(leave + "@%p ret;\n" + meet, {}, two) == "");  // who has ended is not waited for
  CHECK(tells(fault_of(leave + "@%p bra SPIN;\n" + meet + "ret;\nSPIN: nanosleep.u32 5;\nbra SPIN;", {}, two),
              "all warps wait"));
}

TEST_CASE("blocks add to a word of the first block's shared memory", "[ptx]") {
  const std::string body = thread_number + R"(
.reg .b32 %s, %a, %r, %v; .reg .b64 %p; .reg .pred %other;
mov.u32 %r, %cluster_ctarank;
mov.u32 %s, memory;
st.shared.u32 [%s], 0;
MEET
mapa.shared::cluster.u32 %a, %s, 0;
add.u32 %v, %r, 1;
ADD
MEET
setp.ne.u32 %other, %r, 0;
@%other ret;
ld.shared.u32 %v, [%s];
ld.param.u64 %p, [p0];
st.global.u32 [%p], %v;
)";
  const test_launch three{.blocks = 3, .threads = 1, .shared_bytes = 16, .cluster = {3, 1, 1}};
  const auto sum_of = [&](const std::string& add) {
    const device_array<std::uint32_t> out(1);
    run_body(put(put(put(body, "MEET", meet), "MEET", meet), "ADD", add), {out.address()}, three, cluster_memory);
    return out.values()[0];
  };
  CHECK(sum_of("red.relaxed.cluster.shared::cluster.add.u32 [%a], %v;") == 6);
  CHECK(sum_of("atom.shared::cluster.add.u32 %v, [%a], %v;") == 6);
  CHECK(sum_of("atom.shared::cluster.max.u32 %v, [%a], %v;") == 3);
  const device_array<std::uint32_t> out(1);
  const std::string stores = put(put(put(body, "MEET", meet), "MEET", meet), "ADD", "st.shared::cluster.u32 [%a], %v;");
  CHECK(tells(fault_of(stores, {out.address()}, three, cluster_memory), "race in shared memory"));
}

namespace {

/// The second block writes a word of the first one's shared memory and tells it; the first one waits and gives the
/// word to p0.
const std::string tell_first = thread_number + R"(
.reg .b32 %s, %a, %b, %r, %v; .reg .b64 %p; .reg .pred %second, %ended;
mov.u32 %r, %cluster_ctarank;
mov.u32 %s, memory;
setp.ne.u32 %second, %r, 0;
MAKE
fence.mbarrier_init.release.cluster;
MEET
@%second bra TELL;
AWAIT
ld.shared.u32 %v, [%s+16];
ld.param.u64 %p, [p0];
st.global.u32 [%p], %v;
bra DONE;
TELL:
mapa.shared::cluster.u32 %b, %s, 0;
add.u32 %a, %b, 16;
WRITE
DONE:
END
)";
const std::string make_one = "mbarrier.init.shared::cta.b64 [%s], 1;";
const std::string wait_in_cluster =
    "WAIT: mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 %ended, [%s], 0;\n@!%ended bra WAIT;";
const std::string write_seven = "st.shared::cluster.u32 [%a], 7;\n";
const std::string arrive_in_cluster = "mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%b];\n";

std::string fault_of_telling(const std::string& write, const std::string& await = wait_in_cluster,
                             const std::string& make = make_one, const std::string& first = meet,
                             const std::string& end = "", std::uint32_t expected = 7) {
  const device_array<std::uint32_t> out(1);
  const std::string body = put(put(put(put(tell_first, "MAKE", make), "MEET", first), "AWAIT", await), "WRITE", write);
  const std::string found =
      fault_of(put(body, "END", end), {out.address()},
               {.blocks = 2, .threads = 1, .shared_bytes = 128, .cluster = {2, 1, 1}}, cluster_memory);
  if (found.empty()) CHECK(out.values()[0] == expected);
  return found;
}

}  // namespace

TEST_CASE("a block arrives at another block's mbarrier", "[ptx]") {
  const std::string relaxed = put(meet, "arrive.", "arrive.relaxed.");
  CHECK(fault_of_telling(write_seven + arrive_in_cluster) == "");
  CHECK(fault_of_telling(write_seven + arrive_in_cluster, wait_in_cluster, make_one, relaxed) == "");
  const std::string expects = "mbarrier.arrive.expect_tx.release.cluster.shared::cluster.b64 _, [%b], 64;\n";
  const std::string completes = "mbarrier.complete_tx.relaxed.cluster.shared::cluster.b64 [%b], 64;\n";
  CHECK(fault_of_telling(write_seven + expects + completes) == "");
  CHECK(tells(fault_of_telling(write_seven + expects), "all warps wait"));
  const std::string twice = put(arrive_in_cluster, "[%b]", "[%b], 2");
  CHECK(fault_of_telling(write_seven + twice, wait_in_cluster, put(make_one, "1;", "2;")) == "");
  CHECK(tells(fault_of_telling(write_seven + twice), "more arrivals than the 1 of a phase"));
}

TEST_CASE("arrivals at another block's mbarrier order memory where both sides say that of the cluster", "[ptx]") {
  const std::string of_block = put(arrive_in_cluster, "release.cluster.", "");
  CHECK(tells(fault_of_telling(write_seven + of_block), "race in shared memory"));
  CHECK(tells(fault_of_telling(write_seven + arrive_in_cluster, put(wait_in_cluster, "acquire.cluster.", "")),
              "race in shared memory"));
  CHECK(tells(fault_of_telling(arrive_in_cluster + write_seven), "race in shared memory"));
  const std::string only_told = "st.shared.u32 [%s+16], 7;\n" + wait_in_cluster;
  CHECK(fault_of_telling(of_block, only_told) == "");  // that it has arrived is known
  const std::string without_wait = "st.shared.u32 [%s+16], 7;\n";
  const std::string found = fault_of_telling(of_block, without_wait);
  CHECK((tells(found, "may still use its shared memory") || tells(found, "which has ended")));
  CHECK(fault_of_telling(of_block, without_wait, make_one, meet, meet) == "");
}

TEST_CASE("a barrier that another block may not know yet is not told", "[ptx]") {
  const std::string found = fault_of_telling(write_seven + arrive_in_cluster, wait_in_cluster, make_one, "");
  CHECK((tells(found, "may not have begun") || tells(found, "no mbarrier was made")));
  // Without its fence the making of a barrier is memory as any other.
  std::string body = put(put(put(tell_first, "MAKE", make_one), "AWAIT", wait_in_cluster), "END", "");
  body = put(put(body, "MEET", put(meet, "arrive.", "arrive.relaxed.")), "WRITE", write_seven + arrive_in_cluster);
  const device_array<std::uint32_t> out(1);
  CHECK(tells(fault_of(put(body, "fence.mbarrier_init.release.cluster;", ""), {out.address()},
                       {.blocks = 2, .threads = 1, .shared_bytes = 128, .cluster = {2, 1, 1}}, cluster_memory),
              "race in shared memory"));
}

TEST_CASE("a barrier that is made behind the cluster's one is not known to other blocks", "[ptx]") {
  std::string body = put(put(put(tell_first, "AWAIT", wait_in_cluster), "MEET", ""), "END", "");
  body = put(body, "MAKE", meet + "@!%second " + make_one);
  const std::string late = ".reg .b32 %k; .reg .pred %more;\n" + linger;
  const device_array<std::uint32_t> out(1);
  CHECK(tells(fault_of(put(body, "WRITE", late + write_seven + arrive_in_cluster), {out.address()},
                       {.blocks = 2, .threads = 1, .shared_bytes = 128, .cluster = {2, 1, 1}}, cluster_memory),
              "race in shared memory"));
}

TEST_CASE("words are stored asynchronously to another block", "[ptx]") {
  const std::string expect = "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%s], BYTES;\n" + wait_in_cluster;
  const std::string store = "st.async.weak.shared::cluster.mbarrier::complete_tx::bytes.b32 [%a], 7, [%b];\n";
  CHECK(fault_of_telling(store, put(expect, "BYTES", "4")) == "");
  CHECK(tells(fault_of_telling(store, put(expect, "BYTES", "8")), "all warps wait"));
  CHECK(tells(fault_of_telling(store, ""), "nobody wrote"));
  const std::string two =
      "st.async.shared::cluster.mbarrier::complete_tx::bytes.v2.b32 [%a+-8], {%r, 11}, [%b];\nmov.u32 %r, 5;\n";
  CHECK(fault_of_telling(two, put(expect, "BYTES", "8") + "ld.shared.u32 %v, [%s+12];\nst.shared.u32 [%s+16], %v;\n",
                         make_one, meet, "", 11) == "");
  CHECK(tells(fault_of_telling(put(store, "[%b]", "[%s]"), put(expect, "BYTES", "4")), "an mbarrier of another block"));
}

TEST_CASE("a flag in another block's shared memory orders what comes before it", "[ptx]") {
  const std::string spin = R"(SPIN: ld.relaxed.cluster.shared::cta.u32 %v, [%s+32];
setp.ne.u32 %ended, %v, 3;
@%ended bra SPIN;
)";
  const std::string clear = "st.shared.u32 [%s+32], 0;\n", fence = "fence.acq_rel.cluster;\n";
  const std::string raise = "st.relaxed.cluster.shared::cluster.u32 [%b+32], 3;\n";
  const auto of_flag = [&](const std::string& write, const std::string& await) {
    return fault_of_telling(write, await, clear, meet, meet);
  };
  CHECK(of_flag(write_seven + fence + raise, spin + fence) == "");
  CHECK(of_flag(write_seven + put(raise, "relaxed", "release"), put(spin, "relaxed", "acquire")) == "");
  CHECK(tells(of_flag(write_seven + raise, spin + fence), "race in shared memory"));
  CHECK(tells(of_flag(write_seven + fence + raise, spin), "race in shared memory"));
  CHECK(tells(of_flag(write_seven + put(fence, "cluster", "cta") + raise, spin + fence), "race in shared memory"));
}

TEST_CASE("a barrier of a cluster hands on what one of its blocks has learnt of another cluster", "[ptx]") {
  const std::string body = R"(.reg .b32 %b, %v; .reg .b64 %p; .reg .pred %is, %wait;
ld.param.u64 %p, [p0];
mov.u32 %b, %ctaid.x;
setp.eq.u32 %is, %b, 2;
@%is bra WRITE;
setp.eq.u32 %is, %b, 0;
@!%is bra MEET;
SPIN: ld.acquire.gpu.global.u32 %v, [%p];
setp.ne.u32 %wait, %v, 5;
@%wait bra SPIN;
MEET:
BARRIER
setp.eq.u32 %is, %b, 1;
@!%is ret;
ld.global.u32 %v, [%p+4];
st.global.u32 [%p+8], %v;
ret;
WRITE: st.global.u32 [%p+4], 9;
st.release.gpu.global.u32 [%p], 5;
)";
  const device_array<std::uint32_t> memory(words{0, 1, 2});
  const test_launch four{.blocks = 4, .threads = 1, .is_cooperative = true, .cluster = {2, 1, 1}};
  CHECK(fault_of(put(body, "BARRIER", meet), {memory.address()}, four) == "");
  CHECK(memory.values()[2] == 9);
  CHECK(tells(fault_of(put(body, "BARRIER", put(meet, "arrive.", "arrive.relaxed.")), {memory.address()}, four),
              "race in global memory"));
}

TEST_CASE("the barrier of a cluster orders global memory of its blocks alone", "[ptx]") {
  const std::string body = R"(.reg .b32 %b, %o, %v; .reg .b64 %p, %q;
ld.param.u64 %p, [p0];
mov.u32 %b, %ctaid.x;
mad.wide.u32 %q, %b, 4, %p;
st.global.u32 [%q], %b;
MEET
xor.b32 %o, %b, DISTANCE;
mad.wide.u32 %q, %o, 4, %p;
ld.global.u32 %v, [%q];
)";
  const auto of_distance = [&](const std::string& distance, const std::string& between) {
    const device_array<std::uint32_t> out(4);
    return fault_of(put(put(body, "DISTANCE", distance), "MEET", between), {out.address()},
                    {.blocks = 4, .threads = 1, .cluster = {2, 1, 1}});
  };
  CHECK(of_distance("1", meet) == "");
  CHECK_FALSE(of_distance("1", "") == "");
  CHECK_FALSE(of_distance("2", meet) == "");
}
