// tenon/device/cuda.hpp: the device object of kernels that nvcc compiles.
// Fragments are loaded by our own .shared instructions: most of the toolkit's loads are generic and much slower.
// Floor 1: may include base, device.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <tenon/device/cuda_grid.hpp>
#include <tenon/device/cuda_matrix.hpp>
#include <tenon/device/cuda_memory.hpp>
#if defined(__CUDACC__)

namespace tenon {

namespace detail {

/// The block's shared memory. Arrays keep offsets into it, never pointers, so accesses stay in the shared state space.
__device__ __forceinline__ unsigned char* shared_bytes() {
  extern __shared__ __align__(1024) unsigned char tenon_shared_bytes[];
  return tenon_shared_bytes;
}

/// `value` as 32-bit words and back.
template <class T>
struct word_sequence {
  static constexpr int count = (static_cast<int>(sizeof(T)) + 3) / 4;
  unsigned words[count];

  __device__ __forceinline__ explicit word_sequence(const T& value) : words{} { memcpy(words, &value, sizeof(T)); }
  __device__ __forceinline__ T value() const {
    T result;
    memcpy(&result, words, sizeof(T));
    return result;
  }
};

/// Up to 16 bytes that move in one access.
template <int Bytes>
struct alignas(Bytes) access_unit {
  unsigned char bytes[Bytes];
};
template <>
struct alignas(4) access_unit<4> {
  unsigned word;
};
template <>
struct alignas(8) access_unit<8> {
  uint2 words;
};
template <>
struct alignas(16) access_unit<16> {
  uint4 words;
};

}  // namespace detail

/// Shared memory of a block as elements of `T`.
template <class T>
class cuda_shared_array {
 public:
  using value_type = T;

  __device__ __forceinline__ cuda_shared_array(int offset, int count) : offset_(offset), count_(count) {}

  __device__ __forceinline__ T load(int i) const { return *pointer(i); }
  __device__ __forceinline__ void store(int i, T value) const { *pointer(i) = value; }

  template <int N>
  __device__ __forceinline__ array<T, N> load_vector(int i) const {
    const auto unit = *reinterpret_cast<const detail::access_unit<N * sizeof(T)>*>(pointer(i));
    array<T, N> result;
    memcpy(&result, &unit, sizeof(result));
    return result;
  }
  template <int N>
  __device__ __forceinline__ void store_vector(int i, const array<T, N>& values) const {
    detail::access_unit<N * sizeof(T)> unit;
    memcpy(&unit, &values, sizeof(unit));
    *reinterpret_cast<detail::access_unit<N * sizeof(T)>*>(pointer(i)) = unit;
  }

  __device__ __forceinline__ int size() const { return count_; }
  __device__ __forceinline__ cuda_shared_array part(int first, int count) const { return {offset_of(first), count}; }
  template <class Other>
  __device__ __forceinline__ cuda_shared_array<Other> as() const {
    return {offset_, count_ * static_cast<int>(sizeof(T)) / static_cast<int>(sizeof(Other))};
  }
  __device__ __forceinline__ int offset_of(int i) const { return offset_ + i * static_cast<int>(sizeof(T)); }
  __device__ __forceinline__ T* pointer(int i) const {
    return reinterpret_cast<T*>(detail::shared_bytes() + offset_of(i));
  }
  /// The address within the shared state space, as instructions take it.
  __device__ __forceinline__ unsigned address(int i) const {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer(i)));
  }

 private:
  int offset_, count_;
};

/// A lane's share of a matrix, in registers.
template <class Role, int M, int N, int K, class T, class Layout = row_major>
struct cuda_fragment {
  static_assert(fragment_is_legal<Role, T, M, N, K>,
                "tenon: no matrix unit has this fragment; see operand_is_legal for the element types and extents");
  using role = Role;
  using element = T;
  using storage = fragment_storage<T>;
  using layout = Layout;
  using extent = fragment_extent<Role, M, N, K>;
  static constexpr int m = M, n = N, k = K;
  // the unit keeps every element of a half operand in two lanes
  static constexpr bool is_doubled = std::is_same_v<T, half> && !std::is_same_v<Role, accumulator>;
  static constexpr int count = extent::size / warp_size * (is_doubled ? 2 : 1);
  using word = std::conditional_t<std::is_same_v<T, double>, double, unsigned>;
  static constexpr int word_count = count * static_cast<int>(sizeof(storage)) / static_cast<int>(sizeof(word));

  word words[word_count];

  /// Replaces each element by `change(element)`; which elements a lane has is unspecified.
  template <class Change>
  __device__ __forceinline__ void map(Change change) {
    storage elements[count];
    memcpy(elements, words, sizeof(words));
    for (storage& value : elements) value = static_cast<storage>(change(value));
    memcpy(words, elements, sizeof(words));
  }
};

namespace detail {

template <class Fragment>
inline constexpr bool is_double = std::is_same_v<typename Fragment::element, double>;

/// The architecture from which on there is a unit for fragments of an element type and shape.
template <class Fragment>
inline constexpr int minimum_architecture =
    Fragment::k == 16 && !std::is_same_v<typename Fragment::element, bfloat16> ? 75 : 80;

template <class Fragment>
__device__ __forceinline__ void load_words(Fragment& fragment, unsigned address, int leading) {
  using role = role_text<typename Fragment::role>;
  using layout = layout_text<typename Fragment::layout>;
  using shape = shape_text<Fragment>;
  using element = element_text<typename Fragment::element>;
  auto& w = fragment.words;
  if constexpr (Fragment::word_count == 8 && !is_double<Fragment>) {
    asm volatile("wmma.load.%10.sync.aligned.%11.%12.shared.%13 {%0, %1, %2, %3, %4, %5, %6, %7}, [%8], %9;"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3]), "=r"(w[4]), "=r"(w[5]), "=r"(w[6]), "=r"(w[7])
                 : "r"(address), "r"(leading), "C"(role::text), "C"(layout::text), "C"(shape::text), "C"(element::text)
                 : "memory");
  } else if constexpr (Fragment::word_count == 4 && !is_double<Fragment>) {
    asm volatile("wmma.load.%6.sync.aligned.%7.%8.shared.%9 {%0, %1, %2, %3}, [%4], %5;"
                 : "=r"(w[0]), "=r"(w[1]), "=r"(w[2]), "=r"(w[3])
                 : "r"(address), "r"(leading), "C"(role::text), "C"(layout::text), "C"(shape::text), "C"(element::text)
                 : "memory");
  } else if constexpr (Fragment::word_count == 2 && !is_double<Fragment>) {
    asm volatile("wmma.load.%4.sync.aligned.%5.%6.shared.%7 {%0, %1}, [%2], %3;"
                 : "=r"(w[0]), "=r"(w[1])
                 : "r"(address), "r"(leading), "C"(role::text), "C"(layout::text), "C"(shape::text), "C"(element::text)
                 : "memory");
  } else if constexpr (Fragment::word_count == 2 && is_double<Fragment>) {
    asm volatile("wmma.load.%4.sync.aligned.%5.%6.shared.%7 {%0, %1}, [%2], %3;"
                 : "=d"(w[0]), "=d"(w[1])
                 : "r"(address), "r"(leading), "C"(role::text), "C"(layout::text), "C"(shape::text), "C"(element::text)
                 : "memory");
  } else if constexpr (Fragment::word_count == 1 && is_double<Fragment>) {
    asm volatile("wmma.load.%3.sync.aligned.%4.%5.shared.%6 {%0}, [%1], %2;"
                 : "=d"(w[0])
                 : "r"(address), "r"(leading), "C"(role::text), "C"(layout::text), "C"(shape::text), "C"(element::text)
                 : "memory");
  }
}

template <class Fragment>
__device__ __forceinline__ void store_words(const Fragment& fragment, unsigned address, int leading) {
  using layout = layout_text<typename Fragment::layout>;
  using shape = shape_text<Fragment>;
  using element = element_text<typename Fragment::element>;
  const auto& w = fragment.words;
  if constexpr (!is_double<Fragment>) {
    asm volatile("wmma.store.d.sync.aligned.%10.%11.shared.%12 [%8], {%0, %1, %2, %3, %4, %5, %6, %7}, %9;"
                 :
                 : "r"(w[0]), "r"(w[1]), "r"(w[2]), "r"(w[3]), "r"(w[4]), "r"(w[5]), "r"(w[6]), "r"(w[7]), "r"(address),
                   "r"(leading), "C"(layout::text), "C"(shape::text), "C"(element::text)
                 : "memory");
  } else {
    asm volatile("wmma.store.d.sync.aligned.%4.%5.shared.%6 [%2], {%0, %1}, %3;"
                 :
                 : "d"(w[0]), "d"(w[1]), "r"(address), "r"(leading), "C"(layout::text), "C"(shape::text),
                   "C"(element::text)
                 : "memory");
  }
}

template <class Result, class Left, class Right>
__device__ __forceinline__ void multiply_words(Result& result, const Left& left, const Right& right) {
  using shape = shape_text<Result>;
  using rows = layout_text<typename Left::layout>;
  using columns = layout_text<typename Right::layout>;
  using element = element_text<typename Left::element>;
  auto& d = result.words;
  const auto& a = left.words;
  const auto& b = right.words;
  if constexpr (Left::word_count == 8) {
    asm("wmma.mma.sync.aligned.%24.%25.%26.%27 "
        "{%0, %1, %2, %3, %4, %5, %6, %7}, "
        "{%8, %9, %10, %11, %12, %13, %14, %15}, "
        "{%16, %17, %18, %19, %20, %21, %22, %23}, "
        "{%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(a[4]), "r"(a[5]), "r"(a[6]), "r"(a[7]), "r"(b[0]), "r"(b[1]),
          "r"(b[2]), "r"(b[3]), "r"(b[4]), "r"(b[5]), "r"(b[6]), "r"(b[7]), "C"(rows::text), "C"(columns::text),
          "C"(shape::text), "C"(element::product));
  } else if constexpr (Left::word_count == 4) {
    asm("wmma.mma.sync.aligned.%16.%17.%18.%19 "
        "{%0, %1, %2, %3, %4, %5, %6, %7}, "
        "{%8, %9, %10, %11}, {%12, %13, %14, %15}, "
        "{%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]), "r"(b[2]), "r"(b[3]), "C"(rows::text),
          "C"(columns::text), "C"(shape::text), "C"(element::product));
  } else if constexpr (Left::word_count == 2) {
    asm("wmma.mma.sync.aligned.%12.%13.%14.%15 "
        "{%0, %1, %2, %3, %4, %5, %6, %7}, "
        "{%8, %9}, {%10, %11}, {%0, %1, %2, %3, %4, %5, %6, %7};"
        : "+r"(d[0]), "+r"(d[1]), "+r"(d[2]), "+r"(d[3]), "+r"(d[4]), "+r"(d[5]), "+r"(d[6]), "+r"(d[7])
        : "r"(a[0]), "r"(a[1]), "r"(b[0]), "r"(b[1]), "C"(rows::text), "C"(columns::text), "C"(shape::text),
          "C"(element::product));
  } else if constexpr (Left::word_count == 1) {
    asm("wmma.mma.sync.aligned.%4.%5.%6.%7 "
        "{%0, %1}, {%2}, {%3}, {%0, %1};"
        : "+d"(d[0]), "+d"(d[1])
        : "d"(a[0]), "d"(b[0]), "C"(rows::text), "C"(columns::text), "C"(shape::text), "C"(element::product));
  }
}

template <class T>
__device__ __forceinline__ void round_operand(T&) {}
template <int M, int N, int K, class Role, class Layout>
__device__ __forceinline__ void round_operand(cuda_fragment<Role, M, N, K, tf32, Layout>& fragment) {
  for (unsigned& word : fragment.words) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(word) : "f"(__uint_as_float(word)));
}

}  // namespace detail

/// The device object of CUDA kernels.
class cuda_device : public cuda_lane_matrices {
 public:
  template <class T>
  using shared_array = cuda_shared_array<T>;
  template <class Role, int M, int N, int K, class T, class Layout = row_major>
  using fragment = cuda_fragment<Role, M, N, K, T, Layout>;
  /// Whether the device that is compiled for multiplies fragments of Element.
  template <class Element>
  __device__ static constexpr bool has_matrix_unit() {
    constexpr bool is_oldest = std::is_same_v<Element, half> || std::is_same_v<Element, std::int8_t>;
    return detail::target_architecture() >= (is_oldest ? 75 : 80);
  }

  __device__ __forceinline__ int thread() const { return static_cast<int>(threadIdx.x); }
  __device__ __forceinline__ int reread_thread() const {
    int thread;
    asm volatile("mov.u32 %0, %%tid.x;" : "=r"(thread));
    return thread;
  }
  __device__ __forceinline__ grid_position block() const {
    return {static_cast<int>(blockIdx.x), static_cast<int>(blockIdx.y), static_cast<int>(blockIdx.z)};
  }
  __device__ __forceinline__ int block_size() const { return static_cast<int>(blockDim.x); }
  __device__ __forceinline__ grid_extent grid_size() const {
    return {static_cast<int>(gridDim.x), static_cast<int>(gridDim.y), static_cast<int>(gridDim.z)};
  }
  __device__ __forceinline__ int lane() const { return thread() % warp_size; }
  __device__ __forceinline__ int warp() const { return thread() / warp_size; }

  __device__ __forceinline__ void sync() { __syncthreads(); }
  __device__ __forceinline__ void sync_warp() { __syncwarp(); }

  template <lane_value T>
  __device__ __forceinline__ T shuffle(T value, int from) {
    detail::word_sequence<T> sequence(value);
    for (unsigned& word : sequence.words) word = __shfl_sync(whole_warp, word, from);
    return sequence.value();
  }
  template <lane_value T>
  __device__ __forceinline__ T shuffle_xor(T value, int mask) {
    detail::word_sequence<T> sequence(value);
    for (unsigned& word : sequence.words) word = __shfl_xor_sync(whole_warp, word, mask);
    return sequence.value();
  }
  template <lane_value T>
  __device__ __forceinline__ T shuffle_down(T value, int delta) {
    detail::word_sequence<T> sequence(value);
    for (unsigned& word : sequence.words) word = __shfl_down_sync(whole_warp, word, static_cast<unsigned>(delta));
    return sequence.value();
  }
  __device__ __forceinline__ unsigned ballot(bool flag) { return __ballot_sync(whole_warp, flag); }

  template <class T>
  __device__ __forceinline__ shared_array<T> shared(int count) {
    const int offset = shared_used_;
    shared_used_ += shared_bytes_of<T>(count);
    return {offset, count};
  }
  __device__ __forceinline__ int shared_used() const { return shared_used_; }
  __device__ __forceinline__ void release_shared(int used) { shared_used_ = used; }

  template <int Bytes, class T>
  __device__ __forceinline__ void copy_async(const shared_array<T>& target, int first, const T* source, bool valid) {
    static_assert(Bytes == 4 || Bytes == 8 || Bytes == 16, "tenon: asynchronous copies have 4, 8 or 16 bytes");
    static_assert(Bytes % sizeof(T) == 0, "tenon: an asynchronous copy has whole elements");
    if constexpr (detail::target_architecture() < 80) {
      detail::access_unit<Bytes> unit{};
      if (valid) unit = *reinterpret_cast<const detail::access_unit<Bytes>*>(source);
      *reinterpret_cast<detail::access_unit<Bytes>*>(target.pointer(first)) = unit;
    } else if constexpr (Bytes == 16) {  // past the first-level cache
      asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;"
                   :
                   : "r"(target.address(first)), "l"(__cvta_generic_to_global(source)), "r"(valid ? 16 : 0)
                   : "memory");
    } else {
      asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;"
                   :
                   : "r"(target.address(first)), "l"(__cvta_generic_to_global(source)), "n"(Bytes),
                     "r"(valid ? Bytes : 0)
                   : "memory");
    }
  }
  __device__ __forceinline__ void commit_copies() {
    if constexpr (detail::target_architecture() >= 80) asm volatile("cp.async.commit_group;" : : : "memory");
  }
  template <int Groups>
  __device__ __forceinline__ void wait_copies() {
    if constexpr (detail::target_architecture() >= 80) {
      asm volatile("cp.async.wait_group %0;" : : "n"(Groups) : "memory");
    }
  }

  template <class T>
  __device__ __forceinline__ T atomic_add(T* target, T value) {
    if constexpr (std::is_integral_v<T> && sizeof(T) == 8) {
      using word = unsigned long long;
      return static_cast<T>(atomicAdd(reinterpret_cast<word*>(target), static_cast<word>(value)));
    } else {
      return atomicAdd(target, value);
    }
  }
  __device__ __forceinline__ void fence() { detail::order_accesses(); }
  __device__ __forceinline__ void sync_grid(unsigned* barrier) { detail::meet_grid(barrier); }

  template <class Fragment>
  __device__ __forceinline__ void fill(Fragment& held, typename Fragment::storage value) {
    held.map([value](typename Fragment::storage) { return value; });
  }
  template <class Fragment>
  __device__ __forceinline__ void load_fragment(Fragment& held, const shared_array<typename Fragment::storage>& from,
                                                int first, int leading) {
    if constexpr (detail::target_architecture() >= detail::minimum_architecture<Fragment>) {
      detail::load_words(held, from.address(first), leading);
      detail::round_operand(held);
    } else {
      refuse();
    }
  }
  template <class Fragment>
  __device__ __forceinline__ void store_fragment(const shared_array<typename Fragment::storage>& to, int first,
                                                 const Fragment& held, int leading) {
    if constexpr (detail::target_architecture() >= detail::minimum_architecture<Fragment>) {
      detail::store_words(held, to.address(first), leading);
    } else {
      refuse();
    }
  }
  template <class Result, class Left, class Right>
  __device__ __forceinline__ void multiply_add(Result& result, const Left& left, const Right& right) {
    static_assert(product_is_legal<Result, Left, Right>, "tenon: these fragments are not multiplied with each other");
    if constexpr (detail::target_architecture() >= detail::minimum_architecture<Left>) {
      detail::multiply_words(result, left, right);
    } else {
      refuse();
    }
  }

 private:
  static constexpr unsigned whole_warp = 0xffffffffu;

  int shared_used_ = 0;
};

}  // namespace tenon
#endif
