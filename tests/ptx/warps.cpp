// tests/ptx/warps.cpp: branches, loops, shuffles, votes, barriers and grids of the machine.
// SPDX-License-Identifier: Apache-2.0
#include "ptx/program.hpp"
#include "support/catch.hpp"

namespace {

using namespace tenon_test::ptx;
using words = std::vector<std::uint32_t>;

words numbers(std::uint32_t count) {
  words result(count);
  for (std::uint32_t i = 0; i < count; ++i) result[i] = i;
  return result;
}

}  // namespace

TEST_CASE("lanes leave a loop one after another and meet behind it", "[ptx]") {
  const words found = results_of<std::uint32_t>(R"(.reg .b32 %n; .reg .pred %more;
mov.u32 %n, 0; mov.u32 %d, 0;
LOOP: setp.le.u32 %more, %n, %a;
@!%more bra DONE;
add.u32 %d, %d, %n; add.u32 %n, %n, 1;
bra.uni LOOP;
DONE: shfl.sync.bfly.b32 %d, %d, 1, 0x1f, 0xffffffff;)",
                                                numbers(64));
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(found[i] == (i ^ 1) * ((i ^ 1) + 1) / 2);
}

TEST_CASE("shuffles read within their segments", "[ptx]") {
  const words up =
      results_of<std::uint32_t>("shfl.sync.up.b32 %d|%t, %a, 3, 0x0, 0xffffffff;\n@!%t mov.u32 %d, 99;", numbers(32));
  const words down = results_of<std::uint32_t>("shfl.sync.down.b32 %d, %a, 4, 0x1f, 0xffffffff;", numbers(32));
  const words each_eight = results_of<std::uint32_t>("shfl.sync.idx.b32 %d, %a, 2, 0x181f, 0xffffffff;", numbers(32));
  for (std::uint32_t i = 0; i < 32; ++i) {
    CHECK(up[i] == (i < 3 ? 99 : i - 3));
    CHECK(down[i] == (i < 28 ? i + 4 : i));
    CHECK(each_eight[i] == i / 8 * 8 + 2);
  }
}

TEST_CASE("votes and reductions of a warp", "[ptx]") {
  const words ballot =
      results_of<std::uint32_t>("setp.lt.u32 %t, %a, 5;\nvote.sync.ballot.b32 %d, %t, 0xffffffff;", numbers(32));
  CHECK(ballot == words(32, 31));
  const words sum = results_of<std::uint32_t>("redux.sync.add.u32 %d, %a, 0xffffffff;", numbers(32));
  CHECK(sum == words(32, 496));
  const words some =
      results_of<std::uint32_t>("setp.lt.u32 %t, %a, 5;\nmov.u32 %d, 0;\n@%t activemask.b32 %d;", numbers(32));
  CHECK(some[4] == 31);
  CHECK(some[5] == 0);
}

TEST_CASE("reductions of every kind, of all lanes and of some", "[ptx]") {
  words values(32);
  for (std::uint32_t i = 0; i < 32; ++i) values[i] = i % 2 == 0 ? 0xf0u + i : 0x80000000u + i;
  const auto reduced = [&](const std::string& kind) {
    return results_of<std::uint32_t>("redux.sync." + kind + " %d, %a, 0xffffffff;", values);
  };
  CHECK(reduced("min.u32") == words(32, 0xf0));
  CHECK(reduced("max.u32") == words(32, 0x8000001f));
  CHECK(reduced("min.s32") == words(32, 0x80000001));
  CHECK(reduced("max.s32") == words(32, 0x10e));
  CHECK(reduced("and.b32") == words(32, 0));
  CHECK(reduced("or.b32") == words(32, 0x800001ff));
  CHECK(reduced("xor.b32") == words(32, 0));
  const words some = results_of<std::uint32_t>(
      "setp.lt.u32 %t, %a, 3;\nmov.u32 %d, 9;\n@%t redux.sync.add.u32 %d, %a, 7;", numbers(32));
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(some[i] == (i < 3 ? 3 : 9));
}

TEST_CASE("one lane of those that take part is elected", "[ptx]") {
  const words found = results_of<std::uint32_t>(R"(.reg .b32 %who; .reg .pred %chosen;
mov.u32 %d, 0;
setp.ge.u32 %t, %a, 5;
@!%t bra DONE;
griddepcontrol.wait;
elect.sync %who|%chosen, 0xffffffe0;
griddepcontrol.launch_dependents;
mov.u32 %d, %who;
@%chosen add.u32 %d, %d, 100;
DONE:)",
                                                numbers(32));
  std::uint32_t chosen = 0;
  for (std::uint32_t i = 0; i < 32; ++i) {
    if (found[i] > 100) chosen = i;
  }
  REQUIRE(chosen >= 5);
  for (std::uint32_t i = 0; i < 32; ++i) CHECK(found[i] == (i < 5 ? 0 : chosen) + (i == chosen ? 100 : 0));
}

TEST_CASE("a reduction at a barrier counts the votes of all warps", "[ptx]") {
  const words found = results_of<std::uint32_t>("setp.lt.u32 %t, %a, 40;\nbar.red.popc.u32 %d, 0, %t;", numbers(64));
  CHECK(found == words(64, 40));
}

TEST_CASE("a barrier of some warps leaves the others alone", "[ptx]") {
  const words found = results_of<std::uint32_t>(R"(.reg .pred %other;
mov.u32 %d, 1;
setp.ge.u32 %other, %a, 64;
@%other bra DONE;
bar.sync 3, 64;
mov.u32 %d, 2;
DONE: )",
                                                numbers(96));
  for (std::uint32_t i = 0; i < 96; ++i) CHECK(found[i] == (i < 64 ? 2 : 1));
}

TEST_CASE("a block waits for a flag of another block of a cooperative grid", "[ptx]") {
  const device_array<std::uint32_t> flag(words{0}), out(words(3));
  const std::string body = R"(
.reg .b64 %f, %o, %q; .reg .b32 %b, %v; .reg .pred %first, %wait;
ld.param.u64 %f, [p0]; ld.param.u64 %o, [p1];
mov.u32 %b, %ctaid.x;
setp.eq.u32 %first, %b, 0;
@%first bra RAISE;
SPIN: ld.acquire.gpu.global.u32 %v, [%f];
setp.ne.u32 %wait, %v, 5;
@%wait bra SPIN;
mul.wide.u32 %q, %b, 4;
add.s64 %q, %q, %o;
st.global.u32 [%q], %v;
ret;
RAISE: st.release.gpu.global.u32 [%f], 5;
)";
  run_body(body, {flag.address(), out.address()}, {.blocks = 3, .threads = 1, .is_cooperative = true});
  CHECK(out.values() == words{0, 5, 5});
}

TEST_CASE("a lane spins until another lane of its warp has gone on", "[ptx]") {
  const device_array<std::uint32_t> flag(words{0});
  const std::string body = R"(
.reg .b64 %f; .reg .b32 %i, %v; .reg .pred %first, %wait;
ld.param.u64 %f, [p0];
mov.u32 %i, %tid.x;
setp.ne.u32 %first, %i, 0;
@!%first bra RAISE;
SPIN: ld.volatile.global.u32 %v, [%f];
setp.eq.u32 %wait, %v, 0;
@%wait bra SPIN;
bra.uni DONE;
RAISE: st.volatile.global.u32 [%f], 1;
DONE: )";
  CHECK(fault_of(body, {flag.address()}).empty());
}

TEST_CASE("the same seed gives the same schedule", "[ptx]") {
  const device_array<std::uint32_t> out(words{0});
  const std::string body =
      ".reg .b64 %p; .reg .b32 %v;\nld.param.u64 %p, [p0];\nmov.u32 %v, %ctaid.x;\natom.global.exch.b32 %v, [%p], %v;";
  const auto last = [&](std::uint64_t seed) {
    run_body(body, {out.address()}, {.blocks = 50, .threads = 1, .seed = seed});
    return out.values()[0];
  };
  CHECK(last(3) == last(3));
  bool differ = false;
  for (std::uint64_t seed = 1; seed < 9; ++seed) differ = differ || last(seed) != last(seed + 1);
  CHECK(differ);
}

TEST_CASE("lanes have memory of their own", "[ptx]") {
  const words found = results_of<std::uint32_t>(R"(.local .align 8 .b8 own[16];
.reg .b64 %l, %g;
mov.u64 %l, own;
cvta.local.u64 %g, %l;
st.local.u32 [%l+4], %a;
st.u32 [%g+8], 7;
ld.u32 %d, [%g+4];
.reg .b32 %e;
ld.local.u32 %e, [%l+8];
add.u32 %d, %d, %e;)",
                                                numbers(64));
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(found[i] == i + 7);
}

namespace {

/// Functions as nvcc leaves them: 2 x + 1 by way of another, x below 10 alone, and one that calls itself.
const std::string functions = R"(.func (.param .b32 out) more_than_twice
(
.param .b32 in
)
;
.func (.param .b32 twice_out) twice(.param .b64 at, .param .align 8 .b8 in[8])
{
.reg .b32 %r<4>;
.reg .b64 %rd<2>;
ld.param.u64 %rd1, [at+0];
ld.u32 %r1, [%rd1];
ld.param.u32 %r2, [in+4];
mul.lo.u32 %r3, %r1, %r2;
st.param.b32 [twice_out+0], %r3;
ret;
}
.func (.param .b32 out) more_than_twice(.param .b32 in)
{
.local .align 4 .b8 own[4];
.reg .pred %p<2>;
.reg .b32 %r<5>;
.reg .b64 %rd<3>;
ld.param.u32 %r1, [in];
setp.lt.u32 %p1, %r1, 10;
@%p1 bra $L__small;
mov.u64 %rd1, own;
cvta.local.u64 %rd2, %rd1;
st.local.u32 [%rd1], %r1;
mov.u32 %r2, 2;
{
.param .b64 param0;
st.param.b64 [param0+0], %rd2;
.param .align 8 .b8 param1[8];
st.param.b32 [param1+4], %r2;
.param .b32 retval0;
call.uni (retval0),
twice,
(
param0,
param1
);
ld.param.b32 %r3, [retval0+0];
}
add.u32 %r4, %r3, 1;
st.param.b32 [out], %r4;
ret;
$L__small:
st.param.b32 [out], %r1;
ret;
}
.func again(.param .b32 in)
{
{
.param .b32 param0;
call.uni again, (param0);
}
ret;
}
)";

std::string call_of(const std::string& function, const std::string& from, const std::string& to) {
  return "{\n.param .b32 param0;\nst.param.b32 [param0], " + from + ";\n.param .b32 retval0;\ncall.uni (retval0),\n" +
         function + ",\n(\nparam0\n);\nld.param.b32 " + to + ", [retval0];\n}\n";
}

}  // namespace

TEST_CASE("functions are called, from functions and where lanes have parted, too", "[ptx]") {
  const device_array<std::uint32_t> out(words(64));
  const std::string body =
      ".reg .b64 %p, %q, %o; .reg .b32 %a, %d, %e; .reg .b32 %r<3>;\n"
      "mov.b64 %q, p0;\nld.param.u64 %p, [%q];\nmov.u32 %a, %tid.x;\nmov.u32 %r1, 1;\n" +
      call_of("more_than_twice", "%a", "%d") + call_of("more_than_twice", "%d", "%e") +
      "add.u32 %e, %e, %r1;\nmad.wide.u32 %o, %a, 4, %p;\nst.global.u32 [%o], %e;";
  run_body(body, {out.address()}, {.threads = 64}, functions);
  const words found = out.values();
  for (std::uint32_t i = 0; i < 64; ++i) CHECK(found[i] == (i < 10 ? i : 2 * (2 * i + 1) + 1) + 1);
}

TEST_CASE("calls that lead nowhere are refused by name", "[ptx]") {
  const auto text_of_call = [](const std::string& call) {
    return fault_of("{\n.param .b32 param0;\nst.param.b32 [param0], 1;\n" + call + "}", {}, {}, functions);
  };
  CHECK(text_of_call("call.uni again, (param0);\n") == "PTX: again calls itself");
  CHECK(text_of_call("call.uni twice, (param0);\n") == "PTX: another number of arguments than twice takes");
  CHECK(text_of_call("call.uni elsewhere, (param0);\n") == "PTX: elsewhere is called and has no body");
}
