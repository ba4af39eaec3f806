// benchmarks/cuda/g01_pointwise.cu: G1, pointwise statements: multiply-add, a chain, functions, casts, odd ends, few.
// Beside CUB's DeviceTransform, a copy within the device and an empty kernel; bytes count each operand once.
// SPDX-License-Identifier: Apache-2.0
#include <cub/device/device_transform.cuh>

#include "timing.hpp"

namespace {

namespace tn = tenon;
using floats = tn::tensor<float, tn::rank<1>, tn::cuda>;

struct operands {
  operands(tn::index n, int slot)
      : a(timing::random_tensor<float>(tn::rank<1>(n), 4 * slot + 1)),
        b(timing::random_tensor<float>(tn::rank<1>(n), 4 * slot + 2)),
        c(timing::random_tensor<float>(tn::rank<1>(n), 4 * slot + 3)),
        out(tn::rank<1>(n)),
        peer_out(tn::rank<1>(n)) {}
  floats a, b, c, out, peer_out;
};

/// Working sets of `n` elements, as many as are rotated.
std::vector<operands> operands_of(tn::index n) {
  std::vector<operands> sets;
  const int slots = timing::slots_for(static_cast<std::size_t>(n) * 16);
  sets.reserve(static_cast<std::size_t>(slots));
  for (int slot = 0; slot < slots; ++slot) sets.emplace_back(n, slot);
  return sets;
}

struct multiply_add {
  __device__ float operator()(float a, float b, float c) const { return a * b + c; }
};
struct chain {
  __device__ float operator()(float a, float b, float c) const { return (a * b + c) * 0.5f - a / (1.0f + b * b); }
};
struct functions {
  __device__ float operator()(float a, float b, float c) const { return tanhf(a) * expf(-b * b) + log1pf(fabsf(c)); }
};

template <class Operation>
void transform_with_cub(operands& x) {
  tn::check_cuda("cub::DeviceTransform",
                 cub::DeviceTransform::Transform(::cuda::std::make_tuple(x.a.data(), x.b.data(), x.c.data()),
                                                 x.peer_out.data(), x.out.size(), Operation{}, tn::current_stream()));
}

template <class Operation, class Statement>
void compare_statement(timing::session& session, const std::string& name, tn::index n, const Statement& statement) {
  auto sets = operands_of(n);
  const timing::measure by{.bytes = 16.0 * static_cast<double>(n), .slots = static_cast<int>(sets.size())};
  const timing::device_copy copy(by.bytes, by.slots);
  const auto set = [&sets](int slot) -> operands& { return sets[static_cast<std::size_t>(slot)]; };
  session.compare(
      name, by,
      {{"tenon", [&](int slot) { statement(set(slot)); }, timing::elements_of(sets[0].out)},
       {"cub", [&](int slot) { transform_with_cub<Operation>(set(slot)); }, timing::elements_of(sets[0].peer_out)},
       copy.as_limit()});
}

/// Statements of two element types; CUB's peer is a cast or operation on one or two inputs.
template <class In, class Out, class Make>
void compare_types(timing::session& session, const std::string& name, tn::index n, const Make& make) {
  const double bytes = static_cast<double>(n) * static_cast<double>(sizeof(In) + sizeof(Out));
  const int slots = timing::slots_for(static_cast<std::size_t>(bytes));
  std::vector<tn::tensor<In, tn::rank<1>, tn::cuda>> in;
  std::vector<tn::tensor<Out, tn::rank<1>, tn::cuda>> out, peer_out;
  for (int slot = 0; slot < slots; ++slot) {
    in.emplace_back(tn::rank<1>(n));
    in.back() = tn::cast<In>(tn::normal<float>(tn::rank<1>(n), slot + 1) * 20.0f);
    out.emplace_back(tn::rank<1>(n));
    peer_out.emplace_back(tn::rank<1>(n));
  }
  const timing::device_copy copy(bytes, slots);
  const auto at = [](int slot) { return static_cast<std::size_t>(slot); };
  const auto with_tenon = [&](int slot) { out[at(slot)] = make.statement(in[at(slot)]); };
  const auto with_cub = [&](int slot) {
    tn::check_cuda("cub::DeviceTransform",
                   cub::DeviceTransform::Transform(::cuda::std::make_tuple(in[at(slot)].data()),
                                                   peer_out[at(slot)].data(), n, make, tn::current_stream()));
  };
  session.compare(name, {.bytes = bytes, .bound = 1e-2, .slots = slots},
                  {{"tenon", with_tenon, timing::elements_of(out[0])},
                   {"cub", with_cub, timing::elements_of(peer_out[0])},
                   copy.as_limit()});
}

struct to_bfloat16 {
  template <class X>
  auto statement(const X& x) const {
    return tn::cast<tn::bfloat16>(x);
  }
  __device__ tn::bfloat16 operator()(float x) const { return tn::bfloat16(x); }
};
struct twice {
  template <class X>
  auto statement(const X& x) const {
    return x + x;
  }
  __device__ tn::bfloat16 operator()(tn::bfloat16 x) const {
    return tn::bfloat16(static_cast<float>(x) + static_cast<float>(x));
  }
};
struct scaled {
  template <class X>
  auto statement(const X& x) const {
    return tn::cast<float>(x) * 0.125f;
  }
  __device__ float operator()(std::int8_t x) const { return static_cast<float>(x) * 0.125f; }
};

struct halved_sum {
  __device__ float operator()(float x, float y) const { return x * 0.5f + y; }
};

/// In place, an odd number of elements, all operands one element behind an aligned address.
void compare_odd_ends(timing::session& session) {
  const tn::index n = (tn::index{1} << 28) - 3;
  const auto start = timing::random_tensor<float>(tn::rank<1>(n + 1), 1);
  const auto other = timing::random_tensor<float>(tn::rank<1>(n + 1), 2);
  floats ours = start.to<tn::cuda>(), theirs = start.to<tn::cuda>();
  const auto behind = tn::range(1, tn::open_end);
  auto own = tn::slice(ours, behind);
  const auto b = tn::slice(other, behind);
  const auto with_tenon = [&](int) { own = own * 0.5f + b; };
  const auto with_cub = [&](int) {
    float* const target = theirs.data() + 1;
    tn::check_cuda("cub::DeviceTransform",
                   cub::DeviceTransform::Transform(::cuda::std::make_tuple(target, other.data() + 1), target, n,
                                                   halved_sum{}, tn::current_stream()));
  };
  const timing::device_copy copy(12.0 * static_cast<double>(n));
  session.compare("G1e/in_place_odd", {.bytes = 12.0 * static_cast<double>(n)},
                  {{"tenon", with_tenon, timing::elements_of(ours)},
                   {"cub", with_cub, timing::elements_of(theirs)},
                   copy.as_limit()});
}

__global__ void empty() {}

void compare_small(timing::session& session) {
  auto sets = operands_of(4096);
  const auto with_tenon = [&](int slot) {
    auto& x = sets[static_cast<std::size_t>(slot)];
    x.out = x.a * x.b + x.c;
  };
  session.compare("G1f/4096", {.slots = static_cast<int>(sets.size())},
                  {{"tenon", with_tenon, timing::elements_of(sets[0].out)},
                   {"cub", [&](int slot) { transform_with_cub<multiply_add>(sets[static_cast<std::size_t>(slot)]); },
                    timing::elements_of(sets[0].peer_out)},
                   {"limit", [](int) { empty<<<1, 1, 0, tn::current_stream()>>>(); }, nullptr}});
}

void cases(timing::session& session) {
  const tn::index n = tn::index{1} << 28;
  compare_statement<multiply_add>(session, "G1a/multiply_add", n, [](operands& x) { x.out = x.a * x.b + x.c; });
  compare_statement<chain>(session, "G1b/chain", n,
                           [](operands& x) { x.out = (x.a * x.b + x.c) * 0.5f - x.a / (1.0f + x.b * x.b); });
  compare_statement<functions>(session, "G1c/functions", n, [](operands& x) {
    x.out = tn::tanh(x.a) * tn::exp(-x.b * x.b) + tn::log1p(tn::abs(x.c));
  });
  compare_types<float, tn::bfloat16>(session, "G1d/float_to_bfloat16", n, to_bfloat16{});
  compare_types<tn::bfloat16, tn::bfloat16>(session, "G1d/bfloat16_add", n, twice{});
  compare_types<std::int8_t, float>(session, "G1d/int8_scale", n, scaled{});
  compare_odd_ends(session);
  compare_small(session);
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
