// tenon/linalg/cusolver.hpp: large matrices of CUDA devices by cuSOLVER.
// Included on its own, beside linalg.hpp, in files that nvcc compiles; it needs to link cusolver.
// Floor 7: may include base, core, device, algorithms, linalg.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/cuda.hpp>
#include <tenon/core/tensor.hpp>
#include <tenon/linalg/library.hpp>
#if defined(__CUDACC__)
#include <cusolverDn.h>

#include <map>

namespace tenon {

namespace detail {

/// throws    error with the number of what went wrong, by cusolverStatus_t
inline void check_cusolver(const char* call, cusolverStatus_t code) {
  if (code != CUSOLVER_STATUS_SUCCESS) {
    throw error(compose_text("cuSOLVER: ", call, ": cusolverStatus_t ", static_cast<int>(code)));
  }
}

class cusolver_handle {
 public:
  cusolver_handle() { check_cusolver("create", cusolverDnCreate(&handle_)); }
  cusolver_handle(const cusolver_handle&) = delete;
  cusolver_handle& operator=(const cusolver_handle&) = delete;
  ~cusolver_handle() { cusolverDnDestroy(handle_); }
  cusolverDnHandle_t get() const { return handle_; }

 private:
  cusolverDnHandle_t handle_ = nullptr;
};

/// This thread's handle of the current device, with the stream of its statements.
inline cusolverDnHandle_t current_cusolver() {
  static thread_local std::map<index, cusolver_handle> handles;
  const cusolverDnHandle_t handle = handles[space_devices<cuda>::current()].get();
  check_cusolver("stream", cusolverDnSetStream(handle, current_stream()));
  return handle;
}

/// cuSOLVER's functions for elements of `T`.
template <class T>
struct cusolver_of;
template <>
struct cusolver_of<float> {
  static constexpr auto potrf_size = cusolverDnSpotrf_bufferSize;
  static constexpr auto potrf = cusolverDnSpotrf;
  static constexpr auto potrs = cusolverDnSpotrs;
  static constexpr auto getrf_size = cusolverDnSgetrf_bufferSize;
  static constexpr auto getrf = cusolverDnSgetrf;
  static constexpr auto getrs = cusolverDnSgetrs;
  static constexpr auto geqrf_size = cusolverDnSgeqrf_bufferSize;
  static constexpr auto geqrf = cusolverDnSgeqrf;
  static constexpr auto orgqr_size = cusolverDnSorgqr_bufferSize;
  static constexpr auto orgqr = cusolverDnSorgqr;
  static constexpr auto syevd_size = cusolverDnSsyevd_bufferSize;
  static constexpr auto syevd = cusolverDnSsyevd;
  static constexpr auto gesvd_size = cusolverDnSgesvd_bufferSize;
  static constexpr auto gesvd = cusolverDnSgesvd;
};
template <>
struct cusolver_of<double> {
  static constexpr auto potrf_size = cusolverDnDpotrf_bufferSize;
  static constexpr auto potrf = cusolverDnDpotrf;
  static constexpr auto potrs = cusolverDnDpotrs;
  static constexpr auto getrf_size = cusolverDnDgetrf_bufferSize;
  static constexpr auto getrf = cusolverDnDgetrf;
  static constexpr auto getrs = cusolverDnDgetrs;
  static constexpr auto geqrf_size = cusolverDnDgeqrf_bufferSize;
  static constexpr auto geqrf = cusolverDnDgeqrf;
  static constexpr auto orgqr_size = cusolverDnDorgqr_bufferSize;
  static constexpr auto orgqr = cusolverDnDorgqr;
  static constexpr auto syevd_size = cusolverDnDsyevd_bufferSize;
  static constexpr auto syevd = cusolverDnDsyevd;
  static constexpr auto gesvd_size = cusolverDnDgesvd_bufferSize;
  static constexpr auto gesvd = cusolverDnDgesvd;
};

/// Writes the elements of the matrix of ones on the diagonal by their number.
template <class T>
struct write_diagonal_of_ones {
  T* to;
  index n;
  TENON_HOST_DEVICE void operator()(index number) const { to[number] = number / n == number % n ? T(1) : T(0); }
};

/// cuSOLVER's matrices lie column after column: what it gets is a^T, so a lower triangle is an upper one there. Extents
/// are ints: no device holds a matrix with a longer one.
template <class T>
class cusolver_library final : public matrix_library<T> {
 public:
  bool factor_cholesky(T* a, index n) const override {
    const auto handle = current_cusolver();
    const int extent = static_cast<int>(n);
    const auto size_of = [&](int* size) { return cusolver::potrf_size(handle, upper, extent, a, extent, size); };
    return comes_to_result("potrf", size_of, [&](T* work, int size, int* info) {
      return cusolver::potrf(handle, upper, extent, a, extent, work, size, info);
    });
  }
  bool solve(T* a, T* b, index n, index columns) const override {
    storage<int, cuda> places(n);
    return factor(a, n, places.data()) && substitute(a, b, n, columns, places.data(), CUBLAS_OP_T);
  }
  bool solve_positive(T* a, T* b, index n, index columns) const override {
    const int extent = static_cast<int>(n), count = static_cast<int>(columns);
    return factor_cholesky(a, n) && comes_to_result("potrs", needs_nothing, [&](T*, int, int* info) {
             return cusolver::potrs(current_cusolver(), upper, extent, count, a, extent, b, extent, info);
           });
  }
  bool invert(T* a, index n) const override {
    storage<int, cuda> places(n);
    storage<T, cuda> found(n * n);
    for_each_number<cuda>(n * n, 1, write_diagonal_of_ones<T>{found.data(), n});
    if (!factor(a, n, places.data()) || !substitute(a, found.data(), n, n, places.data(), CUBLAS_OP_N)) return false;
    cuda::copy(a, found.data(), static_cast<std::size_t>(n * n) * sizeof(T));
    return true;
  }
  bool eliminate(T* a, index n, index& swaps) const override {
    tensor<int, rank<1>, cuda> places({n});
    if (!factor(a, n, places.data())) return false;
    const auto found = places.template to<host>();
    for (index i = 0; i < n; ++i) swaps += found(i) != i + 1;  // counted from 1
    return true;
  }
  bool reflect_columns(T* columns, T* factors, index length, index count) const override {
    const auto handle = current_cusolver();
    const int m = static_cast<int>(length), n = static_cast<int>(count);
    const auto size_of = [&](int* size) { return cusolver::geqrf_size(handle, m, n, columns, m, size); };
    return comes_to_result("geqrf", size_of, [&](T* work, int size, int* info) {
      return cusolver::geqrf(handle, m, n, columns, m, factors, work, size, info);
    });
  }
  bool unfold_reflections(T* columns, const T* factors, index length, index count) const override {
    const auto handle = current_cusolver();
    const int m = static_cast<int>(length), n = static_cast<int>(count);
    const auto size_of = [&](int* size) { return cusolver::orgqr_size(handle, m, n, n, columns, m, factors, size); };
    return comes_to_result("orgqr", size_of, [&](T* work, int size, int* info) {
      return cusolver::orgqr(handle, m, n, n, columns, m, factors, work, size, info);
    });
  }
  bool diagonalise(T* a, T* values, index n, bool has_vectors) const override {
    const auto handle = current_cusolver();
    const auto mode = has_vectors ? CUSOLVER_EIG_MODE_VECTOR : CUSOLVER_EIG_MODE_NOVECTOR;
    const int m = static_cast<int>(n);
    const auto size_of = [&](int* size) { return cusolver::syevd_size(handle, mode, upper, m, a, m, values, size); };
    return comes_to_result("syevd", size_of, [&](T* work, int size, int* info) {
      return cusolver::syevd(handle, mode, upper, m, a, m, values, work, size, info);
    });
  }
  bool decompose(T* columns, T* partners, T* values, index length, index count) const override {
    const auto handle = current_cusolver();
    const signed char left = partners != nullptr ? 'O' : 'N', right = partners != nullptr ? 'S' : 'N';
    const int m = static_cast<int>(length), n = static_cast<int>(count);
    const auto size_of = [&](int* size) { return cusolver::gesvd_size(handle, m, n, size); };
    return comes_to_result("gesvd", size_of, [&](T* work, int size, int* info) {
      return cusolver::gesvd(handle, left, right, m, n, columns, m, values, nullptr, m, partners, n, work, size,
                             nullptr, info);
    });
  }

 private:
  using cusolver = cusolver_of<T>;
  static constexpr auto upper = CUBLAS_FILL_MODE_UPPER;

  static cusolverStatus_t needs_nothing(int*) { return CUSOLVER_STATUS_SUCCESS; }

  /// Gives `call(work, size, info)` its memory. What it leaves in `info` says whether there is a result; the host waits
  /// for it.
  template <class Size, class Call>
  static bool comes_to_result(const char* name, const Size& size_of, const Call& call) {
    int size = 0;
    check_cusolver(name, size_of(&size));
    storage<T, cuda> work(size);
    tensor<int, rank<1>, cuda> info({1});
    check_cusolver(name, call(work.data(), size, info.data()));
    return info.template to<host>()(0) == 0;
  }
  static bool factor(T* a, index n, int* places) {
    const auto handle = current_cusolver();
    const int extent = static_cast<int>(n);
    const auto size_of = [&](int* size) { return cusolver::getrf_size(handle, extent, extent, a, extent, size); };
    return comes_to_result("getrf", size_of, [&](T* work, int, int* info) {
      return cusolver::getrf(handle, extent, extent, a, extent, work, places, info);
    });
  }
  static bool substitute(const T* a, T* b, index n, index columns, const int* places, cublasOperation_t how) {
    const int extent = static_cast<int>(n), count = static_cast<int>(columns);
    return comes_to_result("getrs", needs_nothing, [&](T*, int, int* info) {
      return cusolver::getrs(current_cusolver(), how, extent, count, a, extent, places, b, extent, info);
    });
  }
};

template <class T>
inline constexpr cusolver_library<T> cusolver{};

/// From here on the program has this library.
inline const bool has_cusolver = [] {
  library_of<float, cuda> = &cusolver<float>;
  library_of<double, cuda> = &cusolver<double>;
  return true;
}();

}  // namespace detail

}  // namespace tenon
#endif
