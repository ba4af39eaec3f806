// benchmarks/cuda/g06b_pools.cu: G6e, the greatest or the mean of each window, and of whole images, channels last.
// Beside cuDNN where it is found, on 256 images of bfloat16; bytes count images and results once.
// SPDX-License-Identifier: Apache-2.0
#include "cudnn_pool.hpp"
#include "timing.hpp"

namespace {

namespace tn = tenon;
using element = tn::bfloat16;
using images = tn::tensor<element, tn::rank<4>, tn::cuda>;

/// The greatest is exact; means are rounded twice, to 8 bits.
inline constexpr double bound = 1e-2;

template <tn::index Kernel>
void pool(const pool_case& of, const images& image, images& result) {
  const auto windows = tn::windows(image, tn::axis<1, 2>, tn::shape<Kernel, Kernel>{}, {{of.stride, of.stride}});
  if (of.is_mean) result = tn::mean(windows, tn::drop<4, 5>);
  else result = tn::max(windows, tn::drop<4, 5>);
}
void pool_whole(const pool_case&, const images& image, images& result) { result = tn::mean(image, tn::axis<1, 2>); }

template <class Pool>
void compare(timing::session& session, const std::string& name, const pool_case& of, const Pool& run) {
  const double bytes = sizeof(element) * static_cast<double>(of.image().count() + of.result().count());
  const int slots = timing::slots_for(static_cast<std::size_t>(bytes));
  std::vector<images> image, result, peer_result;
  for (int slot = 0; slot < slots; ++slot) {
    image.push_back(timing::random_tensor<element>(of.image(), static_cast<std::uint64_t>(slot + 1)));
    result.emplace_back(of.result());
    peer_result.emplace_back(of.result());
  }
  const timing::device_copy copy(bytes, slots);
  const auto with_tenon = [&](int slot) {
    const auto at = static_cast<std::size_t>(slot);
    run(of, image[at], result[at]);
  };
  std::vector<timing::contender> contenders{{"tenon", with_tenon, timing::elements_of(result[0])}, copy.as_limit()};
#if defined(BENCHMARKS_CUDNN)
  const cudnn::pool<element> peer(of);
  const auto with_cudnn = [&](int slot) {
    const auto at = static_cast<std::size_t>(slot);
    return peer.run(image[at].data(), peer_result[at].data());
  };
  cudnn::add_to(contenders, name, with_cudnn, timing::elements_of(peer_result[0]));
#endif
  session.compare(name, {.bytes = bytes, .bound = bound, .slots = slots}, contenders);
}

void cases(timing::session& session) {
  compare(session, "G6e/max_2x2", {256, 64, 112, 2, 2, false}, pool<2>);
  compare(session, "G6e/mean_2x2", {256, 64, 112, 2, 2, true}, pool<2>);
  compare(session, "G6e/max_3x3_s2", {256, 64, 112, 3, 2, false}, pool<3>);
  compare(session, "G6e/mean_3x3_s2", {256, 64, 112, 3, 2, true}, pool<3>);
  compare(session, "G6e/global_mean", {256, 2048, 7, 7, 7, true}, pool_whole);
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
