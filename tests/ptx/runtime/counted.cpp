// tests/ptx/runtime/counted.cpp: what statements cost as PTX, counted, against numbers that are worked out by hand.
// SPDX-License-Identifier: Apache-2.0
#include <cstring>
#include <tenon/tenon.hpp>

#include "ptx/counts.hpp"
#include "support/catch.hpp"

namespace {

using tenon::bfloat16;
using tenon::cuda;
using tenon::rank;
using tenon_test::ptx::counts;
using tenon_test::ptx::launches_of;
using tenon_test::ptx::work;

/// The instructions of warps that the kernels of a statement issue, but for moves, which vanish with registers.
template <class Statement>
std::uint64_t issued_by(const Statement& statement) {
  std::uint64_t total = 0;
  for (const auto& launch : launches_of(statement)) {
    total += launch.done.instructions() - launch.done.warps_of(work::moves);
  }
  return total;
}

/// Blocks that wait for each other, the later ones longer.
struct meeting_kernel {
  static constexpr const char* name = "meeting";
  static constexpr bool is_cooperative = true;
  unsigned* barrier;
  int meetings;

  template <class Device>
  TENON_HOST_DEVICE void operator()(Device& device) const {
    for (int i = 0; i < meetings; ++i) device.sync_grid(barrier);
  }
};

}  // namespace

TEST_CASE("a sum of two vectors reads and writes each sector once", "[ptx]") {
  tenon::tensor<float, rank<1>, cuda> x({4096}), y({4096}), z({4096});
  x = 1.0f;
  y = 2.0f;
  const auto launches = launches_of([&] { z = x + y; });
  REQUIRE(launches.size() == 1);
  const counts& done = launches[0].done;
  CHECK(done.global_loads.bytes == 2 * 4096 * 4);
  CHECK(done.global_loads.parts == 2 * 4096 * 4 / 32);
  CHECK(done.global_stores.bytes == 4096 * 4);
  CHECK(done.global_stores.parts == 4096 * 4 / 32);
  CHECK(done.tensor_operations == 0);
  CHECK(done.shared_loads.accesses == 0);
}

TEST_CASE("a transposed matrix is read and written in whole sectors, without conflicts of banks", "[ptx]") {
  tenon::tensor<float, rank<2>, cuda> x({64, 96}), y({96, 64});
  x = 1.0f;
  const auto launches = launches_of([&] { y = tenon::transpose(x); });
  REQUIRE(launches.size() == 1);
  const counts& done = launches[0].done;
  CHECK(done.global_loads.parts == 64 * 96 * 4 / 32);
  CHECK(done.global_stores.parts == 64 * 96 * 4 / 32);
  CHECK(done.shared_loads.conflicts() == 0);
  CHECK(done.shared_stores.conflicts() == 0);
}

TEST_CASE("a product of short floats is done by matrix instructions, each once", "[ptx]") {
  tenon::tensor<tenon::bfloat16, rank<2>, cuda> x({128, 64}), y({64, 128}), z({128, 128});
  x = tenon::bfloat16(1.0f);
  y = tenon::bfloat16(1.0f);
  const auto launches = launches_of([&] { z = tenon::matmul(x, y); });
  REQUIRE(launches.size() == 1);
  CHECK(launches[0].done.tensor_operations == std::uint64_t{2} * 128 * 128 * 64);
}

TEST_CASE("typical statements take no tenth more instructions than they did", "[ptx]") {
  const auto must_not_exceed = [](const char* statement, std::uint64_t known, std::uint64_t found) {
    CAPTURE(statement, known, found);
    CHECK(found <= known + known / 10);
  };
  using matrix = tenon::tensor<bfloat16, rank<2>, cuda>;
  matrix x({256, 1024}), y({256, 1024}), turned({1024, 256});
  tenon::tensor<bfloat16, rank<1>, cuda> of_rows({256}), of_columns({1024});
  x = bfloat16(1.0f);
  must_not_exceed("relu(x * 2 + 1)", 86808, issued_by([&] { y = tenon::relu(x * bfloat16(2.0f) + bfloat16(1.0f)); }));
  must_not_exceed("transpose", 135680, issued_by([&] { turned = tenon::transpose(x); }));
  must_not_exceed("sums of rows", 60672, issued_by([&] { of_rows = tenon::sum(x, tenon::drop<1>); }));
  must_not_exceed("sums of columns", 117941, issued_by([&] { of_columns = tenon::sum(x, tenon::drop<0>); }));
  must_not_exceed("softmax", 181002, issued_by([&] { y = tenon::softmax(x, tenon::axis<1>); }));
  using images = tenon::tensor<bfloat16, rank<4>, cuda>;
  images image({2, 16, 16, 64}), pooled({2, 8, 8, 64}), weight({64, 3, 3, 64}), result({2, 16, 16, 64});
  image = bfloat16(1.0f), weight = bfloat16(1.0f);
  must_not_exceed("max pool", 17600, issued_by([&] {
                    const auto windows = tenon::windows(image, tenon::axis<1, 2>, tenon::shape<2, 2>{}, {{2, 2}});
                    pooled = tenon::max(windows, tenon::drop<4, 5>);
                  }));
  const auto channels_second = [](images& of) { return tenon::permute(of, tenon::axis<0, 3, 1, 2>); };
  must_not_exceed("convolution", 43768, issued_by([&] {
                    channels_second(result) =
                        tenon::convolve(channels_second(image), channels_second(weight), {.padding = {{1, 1}}});
                  }));
}

TEST_CASE("layers' convolutions of planes go to warpgroups by copies with channels last", "[ptx]") {
  using here = tenon::tensor<bfloat16, rank<4>>;
  using there = tenon::tensor<bfloat16, rank<4>, cuda>;
  const auto random = [](const rank<4>& extents, std::uint64_t seed) {
    return tenon::evaluated_tensor(tenon::uniform<bfloat16>(extents, seed, -1.0f, 1.0f));
  };
  const auto kernels_of = [](const auto& statement) {
    std::string names;
    for (const auto& launch : launches_of(statement)) {
      for (const char* name : {"plane_kernel ", "hopper_product_kernel ", "tiled_product_kernel "}) {
        const std::string type = std::string(name, std::strlen(name) - 1) + '<';
        if (launch.kernel.find(type) != std::string::npos) names += name;
      }
    }
    return names;
  };
  const here x = random({2, 128, 16, 16}, 1), w = random({128, 128, 3, 3}, 2), g = random({2, 128, 16, 16}, 3);
  const auto image = x.to<cuda>(), weight = w.to<cuda>(), gradient = g.to<cuda>();
  there y(x.shape()), of_image(x.shape()), of_weight(w.shape());
  const tenon::window_geometry<2> geometry{.padding = {{1, 1}}};
  const std::string of_two = "plane_kernel plane_kernel hopper_product_kernel ";
  CHECK(kernels_of([&] { y = tenon::relu(tenon::convolve(image, weight, geometry)); }) == of_two);
  CHECK(kernels_of([&] { of_image = tenon::convolve_image_gradient(gradient, weight, {{16, 16}}, geometry); }) ==
        of_two);
  CHECK(kernels_of([&] { of_weight = tenon::convolve_weight_gradient(gradient, image, {{3, 3}}, geometry); }) ==
        of_two);
  const auto differs = [](const there& found, const here& expected, float bound) {
    const auto here_too = found.to<tenon::host>();
    const tenon::tensor<float, tenon::shape<>> most(
        tenon::max(tenon::abs(tenon::cast<float>(here_too) - tenon::cast<float>(expected))));
    return !(most() <= bound);
  };
  CHECK_FALSE(differs(y, tenon::evaluated_tensor(tenon::relu(tenon::convolve(x, w, geometry))), 0.5f));
  CHECK_FALSE(
      differs(of_image, tenon::evaluated_tensor(tenon::convolve_image_gradient(g, w, {{16, 16}}, geometry)), 0.5f));
  CHECK_FALSE(
      differs(of_weight, tenon::evaluated_tensor(tenon::convolve_weight_gradient(g, x, {{3, 3}}, geometry)), 0.5f));
}

TEST_CASE("blocks that wait for the grid take two fences, however long they wait", "[ptx]") {
  constexpr int blocks = 4, meetings = 5, barriers_and_fences = 2 + 2;
  const tenon::tensor<unsigned, rank<1>, cuda> barrier = tenon::zeros<unsigned, cuda>({1});
  const auto launches = launches_of([&] {
    tenon::launch<cuda>({.grid = {blocks}, .block = 32},
                        meeting_kernel{const_cast<unsigned*>(barrier.data()), meetings});
  });
  REQUIRE(launches.size() == 1);
  const counts& done = launches[0].done;
  CHECK(done.warps_of(work::barriers) == blocks * meetings * barriers_and_fences);
  CHECK(done.warps_of(work::loads) > blocks * meetings);  // some had to ask again
}
