// benchmarks/w11_attention.cpp: W11, attention of several heads, of small windows, causal, and of one query.
// Tenon in one statement and in three, libtorch; steps with gradients; the limit is two products that store scores.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/tenon.hpp>

#include <cmath>
#include <string>
#include <vector>

#include "agree.hpp"
#include "torch.hpp"
#if defined(BENCHMARKS_TORCH)
#include <torch/csrc/autograd/autograd.h>
#endif
#if __has_include(<torch/version.h>)
#include <torch/version.h>
#endif

namespace tn = tenon;

namespace {

/// Operations count products of all queries and keys, also of those that a mask keeps apart.
struct attention_case {
  const char* name;
  long batch, heads, queries, keys, features;
  bool is_causal;
};

struct operands {
  using heads = tn::tensor<float, tn::rank<4>>;
  explicit operands(const attention_case& of)
      : query({of.batch, of.heads, of.queries, of.features}),
        key({of.batch, of.heads, of.keys, of.features}),
        value({of.batch, of.heads, of.keys, of.features}),
        result({of.batch, of.heads, of.queries, of.features}),
        scores({of.batch, of.heads, of.queries, of.keys}) {
    query = tn::uniform<float>(query.shape(), 1, -1.0f, 1.0f), key = tn::uniform<float>(key.shape(), 2, -1.0f, 1.0f);
    value = tn::uniform<float>(value.shape(), 3, -1.0f, 1.0f);
  }
  heads query, key, value, result, scores;
};

float scale_of(const attention_case& of) { return 1 / std::sqrt(static_cast<float>(of.features)); }

void run_loop(const attention_case& of, operands& x) {
  std::vector<double> weights(static_cast<std::size_t>(of.keys));
  for (long batch = 0; batch < of.batch * of.heads; ++batch) {
    const float* const query = x.query.data() + batch * of.queries * of.features;
    const float* const key = x.key.data() + batch * of.keys * of.features;
    const float* const value = x.value.data() + batch * of.keys * of.features;
    float* const result = x.result.data() + batch * of.queries * of.features;
    for (long i = 0; i < of.queries; ++i) {
      const long seen = of.is_causal ? i + 1 : of.keys;
      double total = 0;
      for (long k = 0; k < seen; ++k) {
        double score = 0;
        for (long e = 0; e < of.features; ++e) score += query[i * of.features + e] * key[k * of.features + e];
        total += weights[static_cast<std::size_t>(k)] = std::exp(score * scale_of(of));  // of numbers below 1 in size
      }
      for (long e = 0; e < of.features; ++e) {
        double sum = 0;
        for (long k = 0; k < seen; ++k) sum += weights[static_cast<std::size_t>(k)] * value[k * of.features + e];
        result[i * of.features + e] = static_cast<float>(sum / total);
      }
    }
  }
}

template <class Run>
void time_it(benchmark::State& state, const attention_case& of, operands& x, const Run& run, bool is_attention = true) {
  run(), run();
  if (is_attention) {
    operands reference(of);
    run_loop(of, reference);
    must_agree("w11", x.result.data(), reference.result.data(), x.result.size(), 1e-5);
  }
  for (auto _ : state) {
    run();
    benchmark::DoNotOptimize(x.result.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 4 * x.scores.size() * of.features);
}

void with_tenon(benchmark::State& state, const attention_case& of) {
  operands x(of);
  time_it(state, of, x,
          [&] { x.result = tn::scaled_dot_product_attention(x.query, x.key, x.value, {.is_causal = of.is_causal}); });
}
void with_three_statements(benchmark::State& state, const attention_case& of) {
  operands x(of);
  time_it(state, of, x, [&] {
    const auto products = tn::matmul(x.query, tn::transpose(x.key)) * scale_of(of);
    if (of.is_causal) {
      const auto later = tn::triu(tn::ones_like(x.scores), 1) > 0;
      x.result = tn::matmul(tn::softmax(tn::where(later, -INFINITY, products), tn::axis<-1>), x.value);
    } else {
      x.result = tn::matmul(tn::softmax(products, tn::axis<-1>), x.value);
    }
  });
}
void with_limit(benchmark::State& state, const attention_case& of) {
  operands x(of);
  const auto run = [&] {
    x.scores = tn::matmul(x.query, tn::transpose(x.key));
    x.result = tn::matmul(x.scores, x.value);
  };
  time_it(state, of, x, run, false);
}

#if defined(BENCHMARKS_TORCH)
void with_torch(benchmark::State& state, const attention_case& of) {
  operands x(of);
  const at::Tensor query = seen_by_torch(x.query), key = seen_by_torch(x.key), value = seen_by_torch(x.value);
  at::Tensor result = seen_by_torch(x.result);
  const at::Tensor later = at::ones({of.queries, of.keys}, at::kBool).triu(1);
  time_it(state, of, x, [&] {
#if defined(TORCH_VERSION_MAJOR) && TORCH_VERSION_MAJOR >= 2
    result.copy_(at::scaled_dot_product_attention(query, key, value, {}, 0, of.is_causal));
#else
    at::Tensor scores = at::matmul(query, key.transpose(-2, -1)).mul_(scale_of(of));
    if (of.is_causal) scores.masked_fill_(later, -INFINITY);
    at::matmul_out(result, at::softmax(scores, -1), value);
#endif
  });
}
#endif

/// A step of training: the result and, from its gradient, which is the value here, those of all operands.
struct step_operands : operands {
  using operands::operands;
  heads of_query{query.shape()}, of_key{key.shape()}, of_value{value.shape()};
};

template <class Run>
void time_step(benchmark::State& state, const attention_case& of, step_operands& x, const Run& run) {
  run(), run();
  step_operands reference(of);
  const auto node =
      tn::scaled_dot_product_attention(reference.query, reference.key, reference.value, {.is_causal = of.is_causal});
  reference.of_query = tn::detail::gradient_in_memory<0>(node, tn::as_node(reference.value));
  reference.of_key = tn::detail::gradient_in_memory<1>(node, tn::as_node(reference.value));
  reference.of_value = tn::detail::gradient_in_memory<2>(node, tn::as_node(reference.value));
  must_agree("w11", x.of_query.data(), reference.of_query.data(), x.of_query.size(), 1e-5);
  must_agree("w11", x.of_key.data(), reference.of_key.data(), x.of_key.size(), 1e-5);
  must_agree("w11", x.of_value.data(), reference.of_value.data(), x.of_value.size(), 1e-5);
  for (auto _ : state) {
    run();
    benchmark::DoNotOptimize(x.of_value.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * 14 * x.scores.size() * of.features);
}

void step_with_tenon(benchmark::State& state, const attention_case& of) {
  step_operands x(of);
  time_step(state, of, x, [&] {
    const auto node = tn::scaled_dot_product_attention(x.query, x.key, x.value, {.is_causal = of.is_causal});
    x.result = node;
    tn::write_attention_gradients(node, tn::as_node(x.value), x.of_query.write_view(), x.of_key.write_view(),
                                  x.of_value.write_view());
  });
}
#if defined(BENCHMARKS_TORCH)
void step_with_torch(benchmark::State& state, const attention_case& of) {
  step_operands x(of);
  const at::Tensor query = seen_by_torch(x.query).requires_grad_(), key = seen_by_torch(x.key).requires_grad_(),
                   gradient = seen_by_torch(x.value), value = gradient.detach().requires_grad_();
  at::Tensor of_query = seen_by_torch(x.of_query), of_key = seen_by_torch(x.of_key),
             of_value = seen_by_torch(x.of_value);
  const at::Tensor later = at::ones({of.queries, of.keys}, at::kBool).triu(1);
  time_step(state, of, x, [&] {
#if defined(TORCH_VERSION_MAJOR) && TORCH_VERSION_MAJOR >= 2
    const at::Tensor result = at::scaled_dot_product_attention(query, key, value, {}, 0, of.is_causal);
#else
    at::Tensor scores = at::matmul(query, key.transpose(-2, -1)) * scale_of(of);
    if (of.is_causal) scores = scores.masked_fill(later, -INFINITY);
    const at::Tensor result = at::matmul(at::softmax(scores, -1), value);
#endif
    const auto gradients = torch::autograd::grad({result}, {query, key, value}, {gradient});
    of_query.copy_(gradients[0]), of_key.copy_(gradients[1]), of_value.copy_(gradients[2]);
  });
}
#endif

constexpr attention_case cases[] = {
    {"heads_128/", 1, 8, 128, 128, 64, false},     {"heads_512/", 1, 8, 512, 512, 64, false},
    {"heads_1024/", 1, 8, 1024, 1024, 64, false},  {"heads_1024_causal/", 1, 8, 1024, 1024, 64, true},
    {"windows_64/", 64, 4, 64, 64, 32, false},     {"wide_2048/", 1, 1, 2048, 2048, 128, false},
    {"one_query_1024/", 1, 8, 1, 1024, 64, false}, {"one_query_4096/", 1, 8, 1, 4096, 64, false}};
constexpr attention_case steps[] = {{"step_512/", 1, 8, 512, 512, 64, false},
                                    {"step_1024/", 1, 8, 1024, 1024, 64, false},
                                    {"step_1024_causal/", 1, 8, 1024, 1024, 64, true}};

}  // namespace

int main(int count, char** arguments) {
  for (const attention_case& each : cases) {
    const auto add = [&](const char* library, auto function) {
      benchmark::RegisterBenchmark((std::string(each.name) + library).c_str(), function, each);
    };
    add("tenon", with_tenon);
    add("three_statements", with_three_statements);
    add("limit", with_limit);
#if defined(BENCHMARKS_TORCH)
    add("torch", with_torch);
#endif
  }
  for (const attention_case& each : steps) {
    const auto add = [&](const char* library, auto function) {
      benchmark::RegisterBenchmark((std::string(each.name) + library).c_str(), function, each);
    };
    add("tenon", step_with_tenon);
#if defined(BENCHMARKS_TORCH)
    add("torch", step_with_torch);
#endif
  }
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
