// tenon/contraction/host.hpp: the matrix product of the host.
// Packed panels, a tile of the result in registers, and the epilogue applied while a finished tile is in cache.
// Floor 4: may include base, core, device, expr, plan, contraction.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <new>
#include <tenon/contraction/host_attention.hpp>
#include <tenon/contraction/host_byte_rows.hpp>
#include <tenon/contraction/host_byte_windows.hpp>
#include <tenon/contraction/host_depthwise.hpp>
#include <tenon/contraction/host_phases.hpp>
#include <tenon/contraction/host_product.hpp>
#include <tenon/contraction/host_unrolled.hpp>
#include <tenon/contraction/host_weight_gradient.hpp>

namespace tenon {

namespace detail {

/// One result at a time.
template <class T, class Left, class Right, class Epilogue>
void multiply_plainly(const matrix_extents& extents, const Left& left, const Right& right, const Epilogue& epilogue) {
  const index work = extents.depth * extents.columns;
  parallel_for(extents.rows, 1 + 16384 / (work + 1), [&](index first, index last) {
    for (index row = first; row < last; ++row) {
      for (index column = 0; column < extents.columns; ++column) {
        T sum_of_products = T(0);
        for (index begin = 0; begin < extents.depth; begin += longest_sum) {
          T part = T(0);
          for (index k = begin; k < least(begin + longest_sum, extents.depth); ++k) {
            part += static_cast<T>(left.value(row, k)) * static_cast<T>(right.value(k, column));
          }
          sum_of_products += part;
        }
        epilogue.store(row, column, sum_of_products);
      }
    }
  });
}

}  // namespace detail

namespace on_host {

/// Complex numbers and truth values.
struct one_by_one {
  static constexpr const char* name = "one by one";
  template <class Problem>
  static constexpr bool can_take = Problem::products::group == 0;
  template <class Problem>
  static void run(const Problem& problem) {
    detail::multiply_plainly<typename Problem::product_type::accumulator>(problem.extents, problem.left, problem.right,
                                                                          problem.epilogue);
  }
};

/// The algorithm that a right matrix brings, as weights in blocks do (contraction/host_block_weights.hpp).
struct brought_product {
  static constexpr const char* name = "weights in blocks";
  template <class Problem>
  static constexpr bool can_take =
      requires { requires product_of_right<typename Problem::right_type>::template can_take<Problem>; };
  template <class Problem>
  static bool takes(const Problem& problem) {
    return product_of_right<typename Problem::right_type>::takes(problem);
  }
  template <class Problem>
  static void run(const Problem& problem) {
    product_of_right<typename Problem::right_type>::run(problem);
  }
};

/// The algorithms of the host that take whole statements. They are asked before anything else is done.
using statements = algorithm_list<unrolled_product>;

/// The algorithms of the host, in the order in which they are asked for each batch of a product.
using algorithms = algorithm_list<one_by_one, brought_product, small_product, few_rows, few_columns, few_byte_rows,
                                  byte_windows, phases, windows, weight_gradients, packed_tiles>;

/// Those that take all batches of a product, of which they see the first one. They are asked before.
using batched_algorithms = algorithm_list<depthwise_windows, depthwise_weight_gradients>;

}  // namespace on_host

namespace detail {

/// The product of one batch behind a function pointer: `run(product, position)`.
template <int Rank>
struct batch_product {
  const void* product;
  void (*run)(const void* product, const array<index, Rank>& position);
};

/// Runs each batch. Where there are enough batches, each is one thread's work. A batch allocates before it writes, and
/// all need the same: batches for which a thread finds no memory are done by one that has some.
template <int Rank>
[[gnu::noinline]] void run_all_batches(const product_extents<Rank>& extents, const batch_product<Rank>& batch) {
  const auto run_all = [&](array<index, 2>& range) {
    for (; range[0] < range[1]; ++range[0]) batch.run(batch.product, extents.batch_position(range[0]));
  };
  const index batches = extents.batch_count(), work = extents.rows * extents.columns * extents.depth;
  const index grain = 1 + multiplying_grain / (work + 1), parts = part_count(batches, grain);
  array<index, 2> whole{{0, batches}};
  if (batches < thread_count() || parts <= 1) return run_all(whole);
  const scratch memory;
  auto* const left = memory.take<array<index, 2>>(parts);  // batches that parts have not done
  std::fill(left, left + parts, array<index, 2>{});
  const auto run_with_memory = [&](array<index, 2>& range) {
    try {
      run_all(range);
    } catch (const std::bad_alloc&) {
    }
  };
  parallel_parts(batches, 1, parts, [&](index first, index last, index part) {
    left[part] = {{first, last}};
    run_with_memory(left[part]);
  });
  const auto is_left = [](const array<index, 2>& range) { return range[0] < range[1]; };
  if (std::none_of(left, left + parts, is_left)) return;
  run_in_turns(static_cast<int>(parts), [&] { std::for_each(left, left + parts, run_with_memory); });
  if (std::any_of(left, left + parts, is_left)) throw std::bad_alloc();
}

/// Calls `run(position)` for each batch.
template <int Rank, class Run>
void run_batches(const product_extents<Rank>& extents, const Run& run) {
  run_all_batches<Rank>(extents, {&run, [](const void* product, const array<index, Rank>& position) {
                                    (*static_cast<const Run*>(product))(position);
                                  }});
}

}  // namespace detail

/// Evaluates a statement of the form `contract` into `target`. The order of additions depends on extents and strides
/// alone, so results have the same bits on any number of threads.
template <class Target, class E>
void run_contraction_host(const Target& target, const E& node) {
  const auto& product = contraction_of(node);
  using product_type = std::remove_cvref_t<decltype(product)>;
  const auto extents = extents_of_product(product);
  const auto epilogue = make_epilogue<product_type>(target, node);
  const counted_launch counted(operation_name<product_type>);
  if constexpr (is_attention<product_type>) {
    const auto operands = host_attention_of(product);
    detail::run_batches(extents,
                        [&](const auto& position) { operands.at_batch(position).run(epilogue.at_batch(position)); });
  } else {
    const auto left = detail::made_without_casts([&] { return left_matrix(product); });
    const auto right = detail::made_without_casts([&] { return right_matrix(product); });
    const matrix_extents counts{extents.rows, extents.columns, extents.depth};
    const auto first = host_problem_of<product_type>(counts, left, right, epilogue);
    if (run_first(first, on_host::batched_algorithms{}) != nullptr) return;
    if constexpr (product_type::result_axes::batches.size() == 0) {
      run_first(first, on_host::algorithms{});
    } else {
      detail::run_batches(extents, [&](const auto& position) {
        run_first(host_problem_of<product_type>(counts, left.at_batch(position), right.at_batch(position),
                                                epilogue.at_batch(position)),
                  on_host::algorithms{});
      });
    }
  }
}

/// The name of the algorithm that runs such a statement or its first batch; null for attention, which has only one.
template <class T, int Rank, class E>
const char* host_algorithm_name(const strided_target<T, Rank>& target, const E& node) {
  using statement = host_statement<T, E>;
  using product_type = typename statement::product_type;
  if (const char* const name = name_of_first(statement{target, node}, on_host::statements{})) return name;
  if constexpr (is_attention<product_type>) {
    return nullptr;
  } else {
    const auto& product = contraction_of(node);
    const auto extents = extents_of_product(product);
    const matrix_extents counts{extents.rows, extents.columns, extents.depth};
    const auto left = detail::without_casts(left_matrix(product));
    const auto right = detail::without_casts(right_matrix(product));
    const auto epilogue = make_epilogue<product_type>(target, node);
    const auto first = host_problem_of<product_type>(counts, left, right, epilogue);
    const char* const of_all = name_of_first(first, on_host::batched_algorithms{});
    return of_all != nullptr ? of_all : name_of_first(first, on_host::algorithms{});
  }
}

}  // namespace tenon
