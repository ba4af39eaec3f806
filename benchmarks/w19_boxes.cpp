// benchmarks/w19_boxes.cpp: W19, points, rotations, poses and short rows: 10,000 of a few elements in each statement.
// Tenon, Eigen's matrices of static extents one after another, plain loops, and libtorch. Items are boxes.
// SPDX-License-Identifier: Apache-2.0
#include <benchmark/benchmark.h>
#include <tenon/expr/random.hpp>
#include <tenon/expressions.hpp>
#include <tenon/products.hpp>

#include <Eigen/Core>
#include <Eigen/Geometry>

#include "agree.hpp"
#include "torch.hpp"

namespace tn = tenon;

namespace {

constexpr tn::index n = 10000, centres = 16;

template <tn::index... Extents>
using boxes = tn::tensor<float, tn::shape<tn::dyn, Extents...>>;
template <tn::index... Extents>
boxes<Extents...> random_boxes(tn::index count, unsigned seed) {
  boxes<Extents...> result(tn::shape<tn::dyn, Extents...>(count, Extents...));
  result = tn::uniform<float>(result.shape(), seed, -1.0f, 1.0f);
  return result;
}

struct operands {
  boxes<3> p = random_boxes<3>(n, 1), q = random_boxes<3>(n, 2), centre = random_boxes<3>(centres, 3);
  boxes<3, 3> rotations = random_boxes<3, 3>(n, 4);
  boxes<4, 4> a = random_boxes<4, 4>(n, 5), b = random_boxes<4, 4>(n, 6);
  tn::tensor<std::int64_t, tn::shape<tn::dyn>> chosen;
  boxes<3> points = random_boxes<3>(n, 7);  // results
  boxes<4, 4> poses = random_boxes<4, 4>(n, 8);
  tn::tensor<float, tn::rank<2>> rows = tn::uniform<float>(tn::rank<2>(n, 8), 9, -1.0f, 1.0f);
  tn::tensor<float, tn::rank<1>> sums = tn::zeros<float>({n});
  tn::tensor<float, tn::shape<3>> middle;
  tn::tensor<float, tn::rank<2>> distances = tn::zeros<float>({n, centres});

  operands() { chosen = tn::iota<std::int64_t>({n}) * 7919 % std::int64_t{n}; }
};

using vector_map = Eigen::Map<Eigen::Vector3f>;
using rotation_map = Eigen::Map<Eigen::Matrix<float, 3, 3, Eigen::RowMajor>>;
using pose_map = Eigen::Map<Eigen::Matrix<float, 4, 4, Eigen::RowMajor>>;
vector_map point(boxes<3>& x, tn::index i) { return vector_map(x.data() + 3 * i); }
pose_map pose(boxes<4, 4>& x, tn::index i) { return pose_map(x.data() + 16 * i); }

struct cross {
  static constexpr auto result = &operands::points;
  static void tenon(operands& x) { x.points = tn::cross(x.p, x.q); }
  static void eigen(operands& x) {
    for (tn::index i = 0; i < n; ++i) point(x.points, i) = point(x.p, i).cross(point(x.q, i));
  }
  static void loop(operands& x) {
    const float *p = x.p.data(), *q = x.q.data();
    float* out = x.points.data();
    for (tn::index i = 0; i < 3 * n; i += 3) {
      out[i] = p[i + 1] * q[i + 2] - p[i + 2] * q[i + 1];
      out[i + 1] = p[i + 2] * q[i] - p[i] * q[i + 2];
      out[i + 2] = p[i] * q[i + 1] - p[i + 1] * q[i];
    }
  }
#if defined(BENCHMARKS_TORCH)
  static void torch(operands& x) {
    auto out = seen_by_torch(x.points);
    at::cross_out(out, seen_by_torch(x.p), seen_by_torch(x.q), 1);
  }
#endif
};

struct unit {
  static constexpr auto result = &operands::points;
  static void tenon(operands& x) { x.points = x.p / tn::norm_l2(x.p, tn::axis<-1>); }
  static void eigen(operands& x) {
    for (tn::index i = 0; i < n; ++i) point(x.points, i) = point(x.p, i) / point(x.p, i).norm();
  }
  static void loop(operands& x) {
    const float* p = x.p.data();
    float* out = x.points.data();
    for (tn::index i = 0; i < 3 * n; i += 3) {
      const float norm = std::sqrt(p[i] * p[i] + p[i + 1] * p[i + 1] + p[i + 2] * p[i + 2]);
      for (int k = 0; k < 3; ++k) out[i + k] = p[i + k] / norm;
    }
  }
#if defined(BENCHMARKS_TORCH)
  static void torch(operands& x) {
    auto out = seen_by_torch(x.points), p = seen_by_torch(x.p);
    at::div_out(out, p, at::norm(p, 2, 1, true));
  }
#endif
};

struct turned {
  static constexpr auto result = &operands::points;
  static void tenon(operands& x) { x.points = tn::einsum<"nij,nj->ni">(x.rotations, x.p); }
  static void eigen(operands& x) {
    for (tn::index i = 0; i < n; ++i) {
      point(x.points, i).noalias() = rotation_map(x.rotations.data() + 9 * i) * point(x.p, i);
    }
  }
  static void loop(operands& x) {
    const float *r = x.rotations.data(), *p = x.p.data();
    float* out = x.points.data();
    for (tn::index i = 0; i < n; ++i) {
      for (int row = 0; row < 3; ++row) {
        float sum = 0;
        for (int k = 0; k < 3; ++k) sum += r[9 * i + 3 * row + k] * p[3 * i + k];
        out[3 * i + row] = sum;
      }
    }
  }
#if defined(BENCHMARKS_TORCH)
  static void torch(operands& x) {
    auto out = seen_by_torch(x.points).unsqueeze(2);
    at::bmm_out(out, seen_by_torch(x.rotations), seen_by_torch(x.p).unsqueeze(2));
  }
#endif
};

struct poses {
  static constexpr auto result = &operands::poses;
  static void tenon(operands& x) { x.poses = tn::matmul(x.a, x.b); }
  static void eigen(operands& x) {
    for (tn::index i = 0; i < n; ++i) pose(x.poses, i).noalias() = pose(x.a, i) * pose(x.b, i);
  }
  static void loop(operands& x) {
    const float *a = x.a.data(), *b = x.b.data();
    float* out = x.poses.data();
    for (tn::index i = 0; i < 16 * n; i += 16) {
      for (int row = 0; row < 4; ++row) {
        for (int column = 0; column < 4; ++column) {
          float sum = 0;
          for (int k = 0; k < 4; ++k) sum += a[i + 4 * row + k] * b[i + 4 * k + column];
          out[i + 4 * row + column] = sum;
        }
      }
    }
  }
#if defined(BENCHMARKS_TORCH)
  static void torch(operands& x) {
    auto out = seen_by_torch(x.poses);
    at::bmm_out(out, seen_by_torch(x.a), seen_by_torch(x.b));
  }
#endif
};

struct distances {
  static constexpr auto result = &operands::distances;
  static void tenon(operands& x) {
    x.distances = tn::sum(tn::square(tn::new_axis<1>(x.p) - tn::new_axis<0>(x.centre)), tn::drop<-1>);
  }
  static void eigen(operands& x) {
    for (tn::index i = 0; i < n; ++i) {
      for (tn::index c = 0; c < centres; ++c) {
        x.distances.data()[i * centres + c] = (point(x.p, i) - point(x.centre, c)).squaredNorm();
      }
    }
  }
  static void loop(operands& x) {
    const float *p = x.p.data(), *centre = x.centre.data();
    float* out = x.distances.data();
    for (tn::index i = 0; i < n; ++i) {
      for (tn::index c = 0; c < centres; ++c) {
        float sum = 0;
        for (int k = 0; k < 3; ++k) sum += (p[3 * i + k] - centre[3 * c + k]) * (p[3 * i + k] - centre[3 * c + k]);
        out[i * centres + c] = sum;
      }
    }
  }
#if defined(BENCHMARKS_TORCH)
  static void torch(operands& x) {
    auto out = seen_by_torch(x.distances);
    at::sum_out(out, at::square(seen_by_torch(x.p).unsqueeze(1) - seen_by_torch(x.centre).unsqueeze(0)), {2});
  }
#endif
};

struct chosen {
  static constexpr auto result = &operands::points;
  static void tenon(operands& x) { x.points = tn::take(x.p, x.chosen, tn::axis<0>); }
  static void eigen(operands& x) {
    for (tn::index i = 0; i < n; ++i) point(x.points, i) = point(x.p, x.chosen.data()[i]);
  }
  static void loop(operands& x) {
    for (tn::index i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) x.points.data()[3 * i + k] = x.p.data()[3 * x.chosen.data()[i] + k];
    }
  }
#if defined(BENCHMARKS_TORCH)
  static void torch(operands& x) {
    auto out = seen_by_torch(x.points);
    at::index_select_out(out, seen_by_torch(x.p), 0, at::from_blob(x.chosen.data(), {n}, at::kLong));
  }
#endif
};

/// The mean of all points.
struct middle {
  static constexpr auto result = &operands::middle;
  static void tenon(operands& x) { x.middle = tn::mean(x.p, tn::drop<0>); }
  static void eigen(operands& x) {
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, 3, Eigen::RowMajor>;
    Eigen::Map<Eigen::RowVector3f>(x.middle.data()) = Eigen::Map<matrix>(x.p.data(), n, 3).colwise().mean();
  }
  static void loop(operands& x) {
    float sums[3] = {};
    for (tn::index i = 0; i < n; ++i) {
      for (int k = 0; k < 3; ++k) sums[k] += x.p.data()[3 * i + k];
    }
    for (int k = 0; k < 3; ++k) x.middle.data()[k] = sums[k] / static_cast<float>(n);
  }
#if defined(BENCHMARKS_TORCH)
  static void torch(operands& x) {
    auto out = seen_by_torch(x.middle);
    at::mean_out(out, seen_by_torch(x.p), 0);
  }
#endif
};

/// The sum of squares of each row of eight, of which the run alone knows that they are eight.
struct short_rows {
  static constexpr auto result = &operands::sums;
  static void tenon(operands& x) { x.sums = tn::sum(tn::square(x.rows), tn::drop<1>); }
  static void eigen(operands& x) {
    using matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
    Eigen::Map<Eigen::VectorXf>(x.sums.data(), n) =
        Eigen::Map<matrix>(x.rows.data(), n, x.rows.extent(1)).rowwise().squaredNorm();
  }
  static void loop(operands& x) {
    const tn::index length = x.rows.extent(1);
    for (tn::index i = 0; i < n; ++i) {
      float sum = 0;
      for (tn::index k = 0; k < length; ++k) sum += x.rows.data()[i * length + k] * x.rows.data()[i * length + k];
      x.sums.data()[i] = sum;
    }
  }
#if defined(BENCHMARKS_TORCH)
  static void torch(operands& x) {
    auto out = seen_by_torch(x.sums);
    at::sum_out(out, at::square(seen_by_torch(x.rows)), 1);
  }
#endif
};

template <class Case>
void time_it(benchmark::State& state, void (*run)(operands&)) {
  operands x, reference;
  run(x), Case::loop(reference);
  auto& result = x.*Case::result;
  must_agree("w19", result.data(), (reference.*Case::result).data(), result.size(), 1e-5);
  for (auto _ : state) {
    run(x);
    benchmark::DoNotOptimize(result.data());
    benchmark::ClobberMemory();
  }
  state.SetItemsProcessed(state.iterations() * n);
}

template <class Case>
void add_case(const std::string& name) {
  const auto add = [&](const char* library, void (*run)(operands&)) {
    benchmark::RegisterBenchmark((name + "/" + library).c_str(), &time_it<Case>, run);
  };
  add("tenon", &Case::tenon), add("eigen", &Case::eigen), add("loop", &Case::loop);
#if defined(BENCHMARKS_TORCH)
  add("torch", &Case::torch);
#endif
}

}  // namespace

int main(int count, char** arguments) {
  add_case<cross>("cross"), add_case<unit>("unit"), add_case<turned>("turned");
  add_case<poses>("poses"), add_case<distances>("distances"), add_case<chosen>("chosen");
  add_case<middle>("middle"), add_case<short_rows>("short_rows");
  benchmark::Initialize(&count, arguments);
  benchmark::RunSpecifiedBenchmarks();
}
