// tenon/base/config.hpp: version, markers and feature detection.
// Every macro of the library is defined here, and nothing else is.
// Floor 0: includes nothing.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#define TENON_VERSION 200  // major * 10000 + minor * 100 + patch

// A header that is not there ends what the compiler prints: else errors of every header would follow.
#if defined(__clang__) ? __clang_major__ < 18 && !defined(__apple_build_version__) : __GNUC__ < 12
#error "tenon: needs g++ 12 or clang++ 18, or a newer one"
#include "the error above"
#elif __cplusplus < 202002L
#error "tenon: needs C++20: -std=c++20"
#include "the error above"
#elif !defined(__SIZEOF_INT128__) || __SIZEOF_POINTER__ < 8
#error "tenon: needs a 64-bit target with __int128: leave out -m32"
#include "the error above"
#elif !defined(__cpp_exceptions)
#error "tenon: needs exceptions: leave out -fno-exceptions"
#include "the error above"
#elif __FINITE_MATH_ONLY__ && !defined(TENON_ACCEPT_FINITE_MATH)
#error "tenon: needs NaN and infinity: leave out -ffast-math, -Ofast, -ffinite-math-only (docs/guide/start.md)"
#include "the error above"
#endif

/// Marks what a kernel may call; empty outside nvcc.
#if defined(__CUDACC__)
#define TENON_HOST_DEVICE __host__ __device__
#else
#define TENON_HOST_DEVICE
#endif

/// Declares a function object that kernels may call, as `sum` and `exp` are.
#if defined(__CUDA_ARCH__)
#define TENON_FUNCTION_OBJECT __device__ constexpr
#else
#define TENON_FUNCTION_OBJECT inline constexpr
#endif

/// Forces a function of a hot loop into its caller. Unoptimised code has no copies: they would only cost compile time.
#if defined(__GNUC__) && (defined(__OPTIMIZE__) || defined(__CUDA_ARCH__))
#define TENON_INLINE inline __attribute__((always_inline))
#else
#define TENON_INLINE inline
#endif

/// Keeps a function out of its callers, in one copy: g++ makes more of them for arguments that it knows.
#if defined(__clang__) || !defined(__GNUC__)
#define TENON_OUT_OF_LINE [[gnu::noinline]]
#else
#define TENON_OUT_OF_LINE [[gnu::noinline, gnu::noclone]]
#endif

/// Stands before a function that is no template and that few programs call, so that what it uses is instantiated in
/// these, and not wherever its header is read. It does so only where no other function that is no template calls it.
#define TENON_IF_CALLED template <int = 0>

/// Marks what a result refers to, so that clang warns where that is gone; empty elsewhere, and behind nvcc, which moves
/// it to where clang does not take it.
#if defined(__clang__) && !defined(__CUDACC__)
#define TENON_LIFETIMEBOUND [[clang::lifetimebound]]
#else
#define TENON_LIFETIMEBOUND
#endif

/// Unrolls the loop that follows `count` times, so that arrays it walks over are registers; nvcc does not know how.
#if defined(__GNUC__) && !defined(__CUDACC__)
#define TENON_PRAGMA(text) _Pragma(#text)
#define TENON_UNROLL(count) TENON_PRAGMA(GCC unroll count)
#else
#define TENON_UNROLL(count)
#endif

/// TENON_NO_EXEC_CHECK stands before templates that kernels instantiate with numbers, the host with expressions, whose
/// functions are the host's alone.
#if defined(__CUDACC__)
#define TENON_NO_EXEC_CHECK _Pragma("nv_exec_check_disable")
#else
#define TENON_NO_EXEC_CHECK
#endif

/// TENON_UNROLLED stands before loops of kernels over registers, which have no number at run time.
#if defined(__CUDA_ARCH__)
#define TENON_UNROLLED _Pragma("unroll")
#else
#define TENON_UNROLLED
#endif

/// TENON_CHECKED: indices of element accesses, views of freed storage and the promise of noalias() are checked at run
/// time. It must be the same in a whole program.
#if !defined(TENON_CHECKED)
#define TENON_CHECKED 0
#endif

/// TENON_FILL: new storage is filled, so that two fills tell what was read before it was written (base/unwritten.hpp).
/// Part of TENON_CHECKED. It must be the same in a whole program.
#if !defined(TENON_FILL)
#define TENON_FILL TENON_CHECKED
#endif

/// TENON_XSIMD: functions that device/simd_batch.hpp serves come from xsimd (set by the CMake package where found).
#if !defined(TENON_XSIMD)
#define TENON_XSIMD 0
#endif

/// TENON_PNG: io/png.hpp reads images through libpng (set by the CMake package where found).
#if !defined(TENON_PNG)
#define TENON_PNG 0
#endif

/// TENON_ZLIB: io/inflate.hpp reads compressed NPZ files through zlib (set by the CMake package where found).
#if !defined(TENON_ZLIB)
#define TENON_ZLIB 0
#endif

/// TENON_NO_FUSE: every operation becomes a kernel of its own, to compare with. It must be the same in a whole program.
#if !defined(TENON_NO_FUSE)
#define TENON_NO_FUSE 0
#endif

/// TENON_COMPILED: the program links tenon::compiled, whose engines it need not compile (set by that CMake target).
/// TENON_COMPILES: this translation unit is part of that library.
#if !defined(TENON_COMPILES)
#define TENON_COMPILES 0
#endif
#if defined(__CUDACC__) || !defined(TENON_COMPILED)
#undef TENON_COMPILED
#define TENON_COMPILED TENON_COMPILES
#endif

/// TENON_ENGINE(declaration): an instantiation that tenon::compiled holds.
#if TENON_COMPILES != 0
#define TENON_ENGINE(...) template __VA_ARGS__;
#elif TENON_COMPILED != 0
#define TENON_ENGINE(...) extern template __VA_ARGS__;
#else
#define TENON_ENGINE(...)
#endif

/// TENON_NVTX: in profilers, each CUDA launch is a range of the domain "tenon", named as its kernel. It is 1 where nvcc
/// finds the toolkit's NVTX headers, and costs next to nothing while no profiler is attached.
#if !defined(TENON_NVTX)
#if defined(__CUDACC__) && __has_include(<nvtx3/nvToolsExt.h>)
#define TENON_NVTX 1
#else
#define TENON_NVTX 0
#endif
#endif

namespace tenon {

/// False where operations are evaluated one by one.
inline constexpr bool fuses_operations = TENON_NO_FUSE == 0;

/// True where nvcc compiles this translation unit; kernels for `cuda` exist only there.
#if defined(__CUDACC__)
inline constexpr bool compiled_by_nvcc = true;
#else
inline constexpr bool compiled_by_nvcc = false;
#endif

}  // namespace tenon
