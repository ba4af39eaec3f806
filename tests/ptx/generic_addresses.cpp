// tests/ptx/generic_addresses.cpp: mbarriers by generic addresses, and questions in which memory an address lies.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/program.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using words = std::vector<std::uint32_t>;

const std::string generic_memory = ".extern .shared .align 128 .b8 memory[];\n";

bool holds(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

std::string filled(std::string text, const std::string& word, const std::string& with) {
  return text.replace(text.find(word), word.size(), with);
}

/// 64 threads: those of the second warp wait for a word that the first thread writes. %b is the barrier's address, %n
/// the same place in the next block of a cluster.
const std::string told_by_address = thread_number + R"(
.reg .b32 %s, %v, %r, %t; .reg .b64 %b, %n, %p, %q; .reg .pred %ended, %first, %waits;
mov.u32 %s, memory;
cvt.u64.u32 %b, %s;
cvta.shared.u64 %b, %b;
mov.u32 %r, %cluster_ctarank;
xor.b32 %r, %r, 1;
NEXT
setp.eq.u32 %first, %i, 0;
mov.u32 %t, %ctaid.x;
mad.lo.s32 %t, %t, 64, %i;
setp.ge.u32 %waits, %i, 32;
@%first mbarrier.init.b64 [%b+8], 2;
bar.sync 0;
@%first st.shared.u32 [%s+16], 5;
@%first TELL
@!%waits bra OUT;
WAIT: mbarrier.try_wait.parity.b64 %ended, [%b+8], 0;
@!%ended bra WAIT;
ld.shared.u32 %v, [%s+16];
ld.param.u64 %p, [p0];
mad.wide.u32 %q, %t, 4, %p;
st.global.u32 [%q], %v;
OUT: bar.sync 0;
LAST
)";

std::string fault_of_address(const std::string& tell, const std::string& last = "", std::uint32_t blocks = 1,
                             const std::string& next = "mov.u64 %n, %b;") {
  const device_array<std::uint32_t> out(words(64 * blocks, 1));
  const std::string found =
      fault_of(filled(filled(filled(told_by_address, "TELL", tell), "LAST", last), "NEXT", next), {out.address()},
               {.blocks = blocks, .threads = 64, .shared_bytes = 64, .cluster = {blocks, 1, 1}}, generic_memory);
  if (found.empty()) {
    words expected(64 * blocks, 1);
    for (std::size_t i = 0; i < expected.size(); ++i) expected[i] = i % 64 < 32 ? 1 : 5;
    CHECK(out.values() == expected);
  }
  return found;
}

}  // namespace

TEST_CASE("mbarriers are made, told and waited for by generic addresses", "[ptx]") {
  CHECK(fault_of_address("mbarrier.arrive.b64 _, [%b+8], 2;") == "");
  CHECK(fault_of_address("mbarrier.arrive.b64 _, [%b+8], 2;", "@%first mbarrier.inval.b64 [%b+8];") == "");
  CHECK(fault_of_address("mbarrier.arrive.b64 _, [%b+8];\n@%first mbarrier.arrive.shared::cta.b64 _, [%s+8];") == "");
  CHECK(fault_of_address("mbarrier.arrive.expect_tx.b64 _, [%b+8], 16;\n@%first mbarrier.arrive.b64 _, [%b+8];\n"
                         "@%first mbarrier.complete_tx.b64 [%b+8], 16;") == "");
  CHECK(holds(fault_of_address("mbarrier.arrive.b64 _, [%b+8];"), "all warps wait"));
  CHECK(holds(fault_of_address("mbarrier.arrive.b64 _, [%b+8], 3;"), "more arrivals than the 2"));
  CHECK(holds(fault_of_address("mbarrier.arrive.b64 _, [%b], 2;"), "no mbarrier was made at byte 0"));
  CHECK(holds(fault_of_address("mbarrier.arrive.b64 _, [%p], 2;"), "in no shared memory of the cluster"));
}

TEST_CASE("only a block's own mbarriers are made, ended and waited for by generic addresses", "[ptx]") {
  const std::string meet = "barrier.cluster.arrive.aligned;\nbarrier.cluster.wait.aligned;\n";
  const std::string next = "mapa.u64 %n, %b, %r;", tell = "mbarrier.arrive.b64 _, [%b+8], 2;";
  const std::string text = "an mbarrier of another block is made, ended or waited for";
  const auto fault_at_end = [&](const std::string& last) {
    return fault_of_address(tell, meet + last + meet, 2, next);
  };
  CHECK(fault_at_end("@%first mbarrier.arrive.release.cluster.b64 _, [%n+8], 1;\n") == "");
  CHECK(holds(fault_at_end("@%first mbarrier.inval.b64 [%n+8];\n"), text));
  CHECK(holds(fault_at_end("@%first mbarrier.init.b64 [%n+24], 1;\n"), text));
  CHECK(holds(fault_at_end("mbarrier.test_wait.parity.b64 %ended, [%n+8], 0;\n"), text));
}

TEST_CASE("an address tells in which memory it lies", "[ptx]") {
  const std::string body = R"(.reg .b32 %r, %a, %t, %s; .reg .b64 %g<5>; .reg .pred %is;
.local .align 8 .b8 own[16];
mov.u32 %s, memory;
cvt.u64.u32 %g0, %s;
cvta.shared.u64 %g0, %g0;
mov.u32 %r, %cluster_ctarank;
xor.b32 %r, %r, 1;
mapa.u64 %g1, %g0, %r;
mov.u64 %g2, own;
cvta.local.u64 %g2, %g2;
ld.param.u64 %g3, [p0];
mov.b64 %g4, p0;
mov.u32 %a, 0;
ASK
setp.eq.u32 %is, %r, 0;
@%is bra LAST;
st.global.u32 [%g3], %a;
LAST: barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;
)";
  const std::vector<std::string> spaces{"global", "shared", "shared::cta", "shared::cluster",
                                        "local",  "param",  "param::entry"};
  // Of the block's own shared memory, another block's, a thread's own memory, global memory, parameters.
  const std::vector<std::uint32_t> expected{0b01000, 0b00001, 0b00001, 0b00011, 0b00100, 0b10000, 0b10000};
  for (std::size_t i = 0; i < spaces.size(); ++i) {
    std::string ask;
    for (int kind = 0; kind < 5; ++kind)
      ask += "isspacep." + spaces[i] + " %is, %g" + std::to_string(kind) + ";\nselp.u32 %t, " +
             std::to_string(1 << kind) + ", 0, %is;\nor.b32 %a, %a, %t;\n";
    const device_array<std::uint32_t> out(words(1, 77));
    CHECK(fault_of(filled(body, "ASK", ask), {out.address()},
                   {.blocks = 2, .threads = 1, .shared_bytes = 64, .cluster = {2, 1, 1}}, generic_memory) == "");
    CHECK(out.values()[0] == expected[i]);
  }
  CHECK(holds(fault_of(".reg .pred %is; .reg .b64 %a;\nmov.u64 %a, 0;\nisspacep.const %is, %a;\n"),
              "does not know: isspacep"));
}
