// tenon/algorithms/cufft.hpp: transforms of memory of CUDA devices, by cuFFT.
// Included on its own in files that nvcc compiles; it needs to link cufft. Other compilers see nothing here.
// Floor 5: may include base, core, device, algorithms.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/algorithms/fft.hpp>
#include <tenon/algorithms/fft_plans.hpp>
#include <tenon/device/cuda_memory.hpp>
#if defined(__CUDACC__)
#include <cufft.h>

namespace tenon {

namespace detail {

/// throws    error with the number of what went wrong, by cufftResult
inline void check_cufft(const char* call, cufftResult code) {
  if (code != CUFFT_SUCCESS) throw error(compose_text(call, ": cufftResult ", static_cast<int>(code)));
}

/// A plan with its workspace.
class cufft_plan {
 public:
  template <int Rank>
  cufft_plan(cufftType type, const array<index, Rank>& lengths, index batch) {
    check_cufft("cufftCreate", cufftCreate(&handle_));
    long long extents[Rank];
    for (int axis = 0; axis < Rank; ++axis) extents[axis] = lengths[axis];
    std::size_t bytes = 0;
    const cufftResult made =
        cufftMakePlanMany64(handle_, Rank, extents, nullptr, 1, 0, nullptr, 1, 0, type, batch, &bytes);
    if (made != CUFFT_SUCCESS) cufftDestroy(handle_);
    check_cufft("cufftMakePlanMany64", made);
  }
  cufft_plan(const cufft_plan&) = delete;
  cufft_plan& operator=(const cufft_plan&) = delete;
  ~cufft_plan() { cufftDestroy(handle_); }

  /// With the stream of this thread's statements.
  cufftHandle handle() const {
    check_cufft("cufftSetStream", cufftSetStream(handle_, current_stream()));
    return handle_;
  }

 private:
  cufftHandle handle_ = 0;
};

/// The plan of a batch. Its workspace belongs to one stream of one thread.
template <int Rank>
cufftHandle cufft_plan_of(cufftType type, const array<index, Rank>& lengths, index batch) {
  static_assert(Rank <= 3 || must_hold<array<index, Rank>>, "tenon: cuFFT transforms along three axes at most");
  static thread_local fft_plans<cufft_plan> plans;
  std::vector<index> numbers{static_cast<index>(type), batch, space_devices<cuda>::current(),
                             static_cast<index>(reinterpret_cast<std::uintptr_t>(current_stream()))};
  for (const index length : lengths) numbers.push_back(length);
  return plans.of(numbers, [&] { return std::make_shared<cufft_plan>(type, lengths, batch); })->handle();
}

}  // namespace detail

/// Plans are made by the first call for a stream; they allocate, which a capture does not take.
template <>
struct fft_pass<cuda> {
  static constexpr bool available = true;

  template <class T, int Rank>
  static void transform(const thrust::complex<T>* from, thrust::complex<T>* to, const array<index, Rank>& lengths,
                        index batch, fft_direction direction) {
    const int towards = direction == fft_direction::forward ? CUFFT_FORWARD : CUFFT_INVERSE;
    auto* const operand = const_cast<thrust::complex<T>*>(from);
    if constexpr (std::is_same_v<T, float>) {
      const auto plan = detail::cufft_plan_of(CUFFT_C2C, lengths, batch);
      detail::check_cufft("cufftExecC2C", cufftExecC2C(plan, as<cufftComplex>(operand), as<cufftComplex>(to), towards));
    } else {
      const auto plan = detail::cufft_plan_of(CUFFT_Z2Z, lengths, batch);
      detail::check_cufft("cufftExecZ2Z",
                          cufftExecZ2Z(plan, as<cufftDoubleComplex>(operand), as<cufftDoubleComplex>(to), towards));
    }
  }
  template <class T, int Rank>
  static void to_spectrum(const T* from, thrust::complex<T>* to, const array<index, Rank>& lengths, index batch) {
    auto* const operand = const_cast<T*>(from);
    if constexpr (std::is_same_v<T, float>) {
      const auto plan = detail::cufft_plan_of(CUFFT_R2C, lengths, batch);
      detail::check_cufft("cufftExecR2C", cufftExecR2C(plan, operand, as<cufftComplex>(to)));
    } else {
      const auto plan = detail::cufft_plan_of(CUFFT_D2Z, lengths, batch);
      detail::check_cufft("cufftExecD2Z", cufftExecD2Z(plan, operand, as<cufftDoubleComplex>(to)));
    }
  }
  template <class T, int Rank>
  static void from_spectrum(thrust::complex<T>* from, T* to, const array<index, Rank>& lengths, index batch) {
    if constexpr (std::is_same_v<T, float>) {
      const auto plan = detail::cufft_plan_of(CUFFT_C2R, lengths, batch);
      detail::check_cufft("cufftExecC2R", cufftExecC2R(plan, as<cufftComplex>(from), to));
    } else {
      const auto plan = detail::cufft_plan_of(CUFFT_Z2D, lengths, batch);
      detail::check_cufft("cufftExecZ2D", cufftExecZ2D(plan, as<cufftDoubleComplex>(from), to));
    }
  }

 private:
  template <class To, class From>
  static To* as(From* numbers) {
    return reinterpret_cast<To*>(numbers);
  }
};

}  // namespace tenon
#endif
