// tenon/device/engines.hpp: what the library tenon::compiled holds of this room, and what it was compiled for.
// Each row names a function and its types; a program that links the library does not compile it again.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/simd.hpp>
#include <tenon/device/simd_transpose.hpp>

namespace tenon {

/// The flags that a program and the library must share. Where they differ, the linker's message names this template:
/// -march (bytes of a vector), -fopenmp, xsimd, TENON_CHECKED, TENON_FILL, TENON_NO_FUSE.
template <int VectorBytes, bool Threads, bool Xsimd, int Checked, int Fill, bool Fuses>
struct tenon_compiled_for {
  static const int these_flags;
};

namespace detail {

#if defined(_OPENMP)
inline constexpr bool has_threads = true;
#else
inline constexpr bool has_threads = false;
#endif
using compiled_for = tenon_compiled_for<simd::detail::vector_bytes, has_threads, TENON_XSIMD != 0, TENON_CHECKED,
                                        TENON_FILL, fuses_operations>;

}  // namespace detail

#if TENON_COMPILES != 0
template <int VectorBytes, bool Threads, bool Xsimd, int Checked, int Fill, bool Fuses>
const int tenon_compiled_for<VectorBytes, Threads, Xsimd, Checked, Fill, Fuses>::these_flags = 1;
template struct tenon_compiled_for<simd::detail::vector_bytes, detail::has_threads, TENON_XSIMD != 0, TENON_CHECKED,
                                   TENON_FILL, fuses_operations>;
#else
[[gnu::used]] inline const int* const flags_of_compiled_half = &detail::compiled_for::these_flags;
#endif

#define TENON_ROWS(T)                                                                                        \
  TENON_ENGINE(void simd::detail::gather_elements<T, false>(void*, const void*, const simd::copied_matrix&)) \
  TENON_ENGINE(void simd::detail::gather_elements<T, true>(void*, const void*, const simd::copied_matrix&))  \
  TENON_ENGINE(void simd::detail::scatter_elements<T>(void*, index, const void*, index))                     \
  TENON_ENGINE(void simd::copy_matrix<T>(T*, const T*, const simd::copied_matrix&))                          \
  TENON_ENGINE(void simd::copy_strided<T>(T*, const T*, index, index))
TENON_ROWS(float)
TENON_ROWS(double)
TENON_ROWS(index)
TENON_ROWS(int)
TENON_ROWS(std::uint8_t)
TENON_ROWS(bool)
#undef TENON_ROWS

}  // namespace tenon
