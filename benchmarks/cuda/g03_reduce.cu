// benchmarks/cuda/g03_reduce.cu: G3, reductions of all elements, of rows, of columns and of a middle axis.
// Beside CUB's reductions; a full sum that is not the same bit for bit in 100 runs ends the program.
// SPDX-License-Identifier: Apache-2.0
#include <thrust/iterator/counting_iterator.h>
#include <thrust/iterator/transform_iterator.h>
#include <cub/device/device_reduce.cuh>
#include <cub/device/device_segmented_reduce.cuh>
#include <cuda/std/tuple>

#include "timing.hpp"

namespace {

namespace tn = tenon;
using floats = tn::tensor<float, tn::rank<1>, tn::cuda>;
using number = tn::tensor<float, tn::shape<>, tn::cuda>;
using matrix = tn::tensor<float, tn::rank<2>, tn::cuda>;

/// Temporary memory that CUB asks for, once for each problem.
class workspace {
 public:
  workspace() = default;
  workspace(const workspace&) = delete;
  workspace& operator=(const workspace&) = delete;
  ~workspace() { tn::cuda::deallocate(memory_, bytes_); }

  /// Calls `run(memory, bytes)` as CUB wants it: without memory for the size, then with it.
  template <class Run>
  void with(const Run& run) {
    if (memory_ == nullptr) {
      tn::check_cuda("cub: size", run(nullptr, bytes_));
      memory_ = tn::cuda::allocate(bytes_ = std::max<std::size_t>(bytes_, 1));
    }
    tn::check_cuda("cub: reduction", run(memory_, bytes_));
  }

 private:
  void* memory_ = nullptr;
  std::size_t bytes_ = 0;
};

void compare_full(timing::session& session, const std::string& name, tn::index n, double bound) {
  std::vector<floats> sets;
  const double bytes = 4.0 * static_cast<double>(n);
  const int slots = timing::slots_for(static_cast<std::size_t>(bytes));
  for (int slot = 0; slot < slots; ++slot) sets.push_back(timing::random_tensor<float>(tn::rank<1>(n), slot + 1));
  number sum, peer_sum, greatest, peer_greatest;
  sum = 0.0f, peer_sum = 0.0f, greatest = 0.0f, peer_greatest = 0.0f;
  workspace for_sum, for_max;
  const auto set = [&sets](int slot) -> floats& { return sets[static_cast<std::size_t>(slot)]; };
  const auto sum_with_cub = [&](int slot) {
    for_sum.with([&](void* memory, std::size_t& size) {
      return cub::DeviceReduce::Sum(memory, size, set(slot).data(), peer_sum.data(), n, tn::current_stream());
    });
  };
  const auto max_with_cub = [&](int slot) {
    for_max.with([&](void* memory, std::size_t& size) {
      return cub::DeviceReduce::Max(memory, size, set(slot).data(), peer_greatest.data(), n, tn::current_stream());
    });
  };
  const timing::device_copy copy(bytes, slots);
  session.compare(name + "/sum", {.bytes = bytes, .bound = bound, .slots = slots},
                  {{"tenon", [&](int slot) { sum = tn::sum(set(slot)); }, timing::elements_of(sum)},
                   {"cub", sum_with_cub, timing::elements_of(peer_sum)},
                   copy.as_limit()});
  session.compare(name + "/max", {.bytes = bytes, .bound = 0, .slots = slots},
                  {{"tenon", [&](int slot) { greatest = tn::max(set(slot)); }, timing::elements_of(greatest)},
                   {"cub", max_with_cub, timing::elements_of(peer_greatest)},
                   copy.as_limit()});
}

struct squared_difference {
  const float *a, *b;
  __host__ __device__ float operator()(tn::index i) const { return (a[i] - b[i]) * (a[i] - b[i]); }
};

void compare_distance(timing::session& session, tn::index n) {
  const floats a = timing::random_tensor<float>(tn::rank<1>(n), 1), b = timing::random_tensor<float>(tn::rank<1>(n), 2);
  number sum, peer_sum;
  sum = 0.0f, peer_sum = 0.0f;
  workspace temporary;
  const timing::measure by{.bytes = 8.0 * static_cast<double>(n), .bound = 1e-4};
  const timing::device_copy copy(by.bytes);
  const auto with_cub = [&](int) {
    const auto squares = thrust::make_transform_iterator(thrust::make_counting_iterator(tn::index{0}),
                                                         squared_difference{a.data(), b.data()});
    temporary.with([&](void* memory, std::size_t& size) {
      return cub::DeviceReduce::Sum(memory, size, squares, peer_sum.data(), n, tn::current_stream());
    });
  };
  session.compare("G3b/squared_distance", by,
                  {{"tenon", [&](int) { sum = tn::sum(tn::square(a - b)); }, timing::elements_of(sum)},
                   {"cub", with_cub, timing::elements_of(peer_sum)},
                   copy.as_limit()});
}

struct row_start {
  tn::index columns;
  __host__ __device__ tn::index operator()(tn::index row) const { return row * columns; }
};

void compare_axes(timing::session& session, tn::index rows, tn::index columns) {
  const matrix x = timing::random_tensor<float>(tn::rank<2>(rows, columns), 1);
  floats of_rows({rows}), of_columns({columns}), peer_rows({rows});
  workspace temporary;
  const auto starts = thrust::make_transform_iterator(thrust::make_counting_iterator(tn::index{0}), row_start{columns});
  const auto with_cub = [&](int) {
    temporary.with([&](void* memory, std::size_t& size) {
      return cub::DeviceSegmentedReduce::Sum(memory, size, x.data(), peer_rows.data(), rows, starts, starts + 1,
                                             tn::current_stream());
    });
  };
  const timing::measure by{.bytes = 4.0 * static_cast<double>(x.size()), .bound = 1e-2};
  const timing::device_copy copy(by.bytes);
  const std::string extents = tn::compose_text(rows, "x", columns);
  session.compare("G3d/rows_" + extents, by,
                  {{"tenon", [&](int) { of_rows = tn::sum(x, tn::axis<1>); }, timing::elements_of(of_rows)},
                   {"cub", with_cub, timing::elements_of(peer_rows)},
                   copy.as_limit()});
  session.compare("G3d/columns_" + extents, by,
                  {{"tenon", [&](int) { of_columns = tn::sum(x, tn::axis<0>); }, timing::elements_of(of_columns)},
                   copy.as_limit()});
}

void compare_middle(timing::session& session) {
  const auto x = timing::random_tensor<float>(tn::rank<3>(256, 4096, 256), 1);
  matrix sums({256, 256}), variances({256, 256});
  tn::tensor<tn::index, tn::rank<2>, tn::cuda> places({256, 256});
  const timing::measure by{.bytes = 4.0 * static_cast<double>(x.size())};
  const timing::device_copy copy(by.bytes);
  session.compare(
      "G3e/middle_sum", by,
      {{"tenon", [&](int) { sums = tn::sum(x, tn::axis<1>); }, timing::elements_of(sums)}, copy.as_limit()});
  session.compare(
      "G3e/middle_argmax", by,
      {{"tenon", [&](int) { places = tn::argmax(x, tn::axis<1>); }, timing::elements_of(places)}, copy.as_limit()});
  session.compare("G3e/middle_variance", by,
                  {{"tenon", [&](int) { variances = tn::variance(x, tn::axis<1>); }, timing::elements_of(variances)},
                   copy.as_limit()});
}

void must_repeat(tn::index n) {
  const floats x = timing::random_tensor<float>(tn::rank<1>(n), 1);
  number sum;
  sum = tn::sum(x);
  const float expected = timing::on_host(sum.data(), 1)[0];
  for (int run = 1; run < 100; ++run) {
    sum = tn::sum(x);
    if (timing::on_host(sum.data(), 1)[0] != expected) timing::session::fail("G3f: two runs of a sum differ");
  }
}

void cases(timing::session& session) {
  compare_full(session, "G3a/2^30", tn::index{1} << 30, 1e-2);
  compare_distance(session, tn::index{1} << 29);
  compare_full(session, "G3c/2^16", tn::index{1} << 16, 1e-3);
  compare_full(session, "G3c/2^20", tn::index{1} << 20, 1e-3);
  compare_full(session, "G3c/2^22", tn::index{1} << 22, 1e-3);
  compare_axes(session, tn::index{1} << 22, 64);
  compare_axes(session, 65536, 4096);
  compare_axes(session, 64, tn::index{1} << 23);
  compare_middle(session);
  must_repeat((tn::index{1} << 26) + 17);
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
