// tests/evaluate_memory.cpp: what statements do with memory: captured and replayed, page-locked, or too little of it.
// On the emulation, whose memory keeps a GPU's books; the same cases run on CUDA.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>
#include <tenon/device/pinned.hpp>
#include <tenon/tenon.hpp>

#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::axis;
using tenon::rank;
using tenon_test::counting;
using tenon_test::elements_of;
using tenon_test::numbers_of;
using tenon_test::text_of;

template <class Space>
using matrix = tenon::tensor<float, rank<2>, Space>;
template <class Space>
using vector = tenon::tensor<float, rank<1>, Space>;

/// Softmax regression: a step is products, rows, reductions and a long sum that blocks share.
template <class Space>
struct training {
  matrix<tenon::pinned> next = matrix<tenon::pinned>({60, 200});
  matrix<Space> x = matrix<Space>({60, 200}), wanted = matrix<Space>({60, 10}), weight = matrix<Space>({200, 10}),
                error = matrix<Space>({60, 10});
  vector<Space> bias = vector<Space>({10});
  tenon::tensor<float, tenon::shape<>, Space> norm = tenon::zeros<float, Space>(tenon::shape<>{}), loss = norm;

  training() {
    wanted = tenon::uniform<float>(rank<2>(60, 10), 2);
    weight = tenon::uniform<float>(rank<2>(200, 10), 3, -0.1f, 0.1f);
    bias = tenon::zeros<float, Space>(rank<1>(10));
    load(0);
  }
  void load(std::uint64_t seed) { next = tenon::uniform<float>(rank<2>(60, 200), 100 + seed); }
  void step() {
    x.copy_from(next);
    error = tenon::softmax(tenon::matmul(x, weight) + bias, axis<-1>) - wanted;
    loss = tenon::mean(error * error, axis<0, 1>);
    norm = tenon::sum(x * x, axis<0, 1>);
    weight = weight - 0.1f / 60 * tenon::matmul(tenon::transpose(x), error);
    bias = bias - 0.1f * tenon::mean(error, axis<0>);
  }
  std::vector<std::vector<float>> results() const {
    return {elements_of(weight), elements_of(bias), elements_of(loss), elements_of(norm)};
  }
};

}  // namespace

TEMPLATE_LIST_TEST_CASE("a captured training step allocates nothing when it is replayed", "[memory]",
                        tenon_test::kernel_spaces) {
  training<TestType> replayed, direct;
  const auto before = replayed.results();
  const tenon::launch_counter launches;
  const auto graph = tenon::capture<TestType>([&] { replayed.step(); });
  CHECK(replayed.results() == before);
  const int captured = static_cast<int>(graph.kernels());
  CHECK(captured >= 5);
  for (std::uint64_t batch = 1; batch < 4; ++batch) {
    replayed.load(batch), direct.load(batch);
    direct.step();
    const auto allocated = tenon::blocks_of<TestType>().added();
    const tenon::launch_counter replay;
    graph.launch();
    CHECK(replay.count() == 1);
    CHECK(tenon::blocks_of<TestType>().added() == allocated);
    CHECK(replayed.results() == direct.results());
  }
  const tenon::launch_counter steps;
  direct.step();
  CHECK(steps.count() == captured);
}

TEMPLATE_LIST_TEST_CASE("a graph keeps what its function freed, and gives it back", "[memory]",
                        tenon_test::kernel_spaces) {
  const auto x = tenon::evaluated_tensor<TestType>(tenon::uniform<float>(rank<2>(30, 40), 1));
  matrix<TestType> y({30, 40});
  const auto in_use = tenon::blocks_of<TestType>().count();
  {
    const auto graph = tenon::capture<TestType>([&] {
      const auto total = tenon::evaluated_tensor(x + 1.0f);
      y = total / tenon::sum(total, axis<0>);
      const auto other = tenon::evaluated_tensor(y * 2.0f);
      y = other + 0.5f;
    });
    CHECK(tenon::blocks_of<TestType>().count() > in_use);
    graph.launch();
    graph.launch();
  }
  CHECK(tenon::blocks_of<TestType>().count() == in_use);
  const auto total = tenon::evaluated_tensor(x + 1.0f);
  CHECK(numbers_of(y) == numbers_of(total / tenon::sum(total, axis<0>) * 2.0f + 0.5f));
}

TEMPLATE_LIST_TEST_CASE("a tensor that a captured function makes may outlive it", "[memory]",
                        tenon_test::kernel_spaces) {
  const auto x = counting<float>(rank<1>(9)).template to<TestType>();
  vector<TestType> y;
  const auto graph = tenon::capture<TestType>([&] { y = x * 2.0f; });
  CHECK(y.size() == 9);
  graph.launch();
  CHECK(numbers_of(y) == numbers_of(x * 2.0f));
}

TEMPLATE_LIST_TEST_CASE("reading a value within a captured function is an error", "[memory]",
                        tenon_test::kernel_spaces) {
  const auto x = counting<float>(rank<1>(9)).template to<TestType>();
  vector<tenon::host> here({9});
  tenon::tensor<float, tenon::shape<9>> in_place;
  here = -1.0f, in_place = -1.0f;
  const auto refuses = [](const auto& function) {
    const auto text = text_of<tenon::capture_error>([&] { tenon::capture<TestType>(function); });
    return text.find("capture: a value is read on the host") == 0;
  };
  float number = -1;
  CHECK(refuses([&] { number = static_cast<float>(tenon::sum(x)); }));
  CHECK(refuses([&] { number = tenon::sum(x); }));
  CHECK(refuses([&] { here = x.template to<tenon::host>(); }));
  CHECK(refuses([&] { here.copy_from(x); }));
  CHECK(refuses([&] { in_place.copy_from(x); }));
  CHECK(number == -1);
  CHECK(numbers_of(here) == std::vector<double>(9, -1));
  CHECK(numbers_of(in_place) == std::vector<double>(9, -1));
  CHECK_THROWS_AS(tenon::capture<TestType>([&] { here = here + 1.0f; }), tenon::capture_error);
}

TEST_CASE("algorithms of the emulation run on the host, so they are not captured", "[memory]") {
  auto x = counting<float>(rank<1>(5)).to<tenon::emulated>(), y = x;
  const auto places = counting<int>(rank<1>(5)).to<tenon::emulated>();
  const auto refuses = [](const auto& function) {
    const auto text = text_of<tenon::capture_error>([&] { tenon::capture<tenon::emulated>(function); });
    return text.find("capture: an algorithm within a captured function") == 0;
  };
  CHECK(refuses([&] { y = tenon::sort(x, axis<0>, tenon::sort_options{.descending = true}); }));
  CHECK(refuses([&] { y = tenon::cumsum(x, axis<0>); }));
  CHECK(refuses([&] { tenon::scatter_add(y, axis<0>, places, x); }));
  CHECK(numbers_of(y) == numbers_of(x));
}

TEMPLATE_LIST_TEST_CASE("page-locked tensors are the host's in statements", "[memory]", tenon_test::spaces) {
  const auto numbers = counting<float>(rank<2>(5, 7));
  matrix<tenon::pinned> staging({5, 7}), back({5, 7});
  staging = numbers + 1.0f;
  const auto there = staging.to<TestType>();
  back.copy_from(there);
  CHECK(back(4, 6) == 35.0f);
  CHECK(numbers_of(back * numbers) == numbers_of((numbers + 1.0f) * numbers));
  const auto direct = there.template to<tenon::pinned>();
  CHECK(numbers_of(direct.view()) == numbers_of(staging));
  const matrix<tenon::pinned> sums(staging - back);
  CHECK(tenon::max(tenon::abs(sums)) == 0.0f);
  back = tenon::transpose(tenon::transpose(staging));
  CHECK(numbers_of(tenon::reshape(back, rank<1>(35))) == numbers_of(tenon::reshape(staging, rank<1>(35))));
  matrix<TestType> other({7, 5});
  CHECK(text_of<tenon::shape_error>([&] { other.copy_from(staging); }) ==
        "copy_from: extents [5, 7] given, expected [7, 5] of the destination");
}

#if defined(__CUDACC__)

TEST_CASE("too little memory is told with the bytes and the device", "[memory]") {
  vector<tenon::cuda> x = tenon::ones<float, tenon::cuda>(rank<1>(4));
  const std::string text = text_of<tenon::out_of_memory>([] { vector<tenon::cuda> vast({tenon::index{1} << 48}); });
  CHECK(text.find(tenon::compose_text("allocate: ", std::size_t{4} << 48, " bytes on device 0 of cuda: ")) == 0);
  x = x + 1.0f;
  CHECK(numbers_of(x) == std::vector<double>(4, 2.0));
}

TEST_CASE("memory may be used on one stream and freed on another", "[memory]") {
  const tenon::stream first, second;
  tenon::event ready;
  vector<tenon::cuda> result({1 << 20});
  tenon::synchronize();  // other streams use it
  for (int round = 0; round < 20; ++round) {
    vector<tenon::cuda> x =
        tenon::with_stream(first, [] { return vector<tenon::cuda>(tenon::linspace<float>(0.0f, 1.0f, 1 << 20)); });
    ready.record(first.handle());
    tenon::with_stream(second, [&] {
      ready.hold();
      result = x + static_cast<float>(round);
    });
  }
  second.synchronize();
  const float last = tenon::max(result);
  CHECK(last == 20.0f);
}

TEST_CASE("a copy into page-locked memory is complete when it is read", "[memory]") {
  const tenon::stream own;
  matrix<tenon::pinned> target({1000, 1000});
  tenon::with_stream(own, [&] {
    const matrix<tenon::cuda> x = tenon::ones<float, tenon::cuda>(rank<2>(1000, 1000));
    target.copy_from(x);
  });
  CHECK(target(999, 999) == 1.0f);
}

#else

namespace {

/// Memory of the emulation that runs out: `left` allocations succeed.
struct scarce : tenon::emulated {
  static constexpr const char* name = "scarce";
  static inline int left = 1 << 30;

  static void* allocate(std::size_t bytes) {
    if (left == 0) throw tenon::out_of_memory("allocate: no more");
    --left;
    return tenon::emulated::allocate(bytes);
  }
};

}  // namespace

template <>
struct tenon::detail::launcher<scarce> : tenon::detail::launcher<tenon::emulated> {};

namespace {

/// Runs `statement` with 0, 1, ... allocations until it succeeds; it must fail `failures` times, each time leave what
/// `destination` was, and take no memory.
template <class Destination, class Statement>
void check_scarcity(int failures, Destination& destination, Statement statement) {
  const auto before = elements_of(destination);
  const auto in_use = tenon::blocks_of<tenon::emulated>().count();
  for (int allowed = 0; allowed <= failures; ++allowed) {
    scarce::left = allowed;
    bool failed = false;
    try {
      statement();
    } catch (const tenon::out_of_memory&) {
      failed = true;
    }
    scarce::left = 1 << 30;
    CAPTURE(allowed, failures);
    CHECK(failed == (allowed < failures));
    if (failed) {
      CHECK(elements_of(destination) == before);
      CHECK(tenon::blocks_of<tenon::emulated>().count() == in_use);
    }
  }
}

}  // namespace

TEST_CASE("where memory runs out, a statement takes none and writes nothing", "[memory]") {
  const matrix<scarce> x = counting<float>(rank<2>(6, 6)).to<scarce>();
  matrix<scarce> y = counting<float>(rank<2>(6, 6)).to<scarce>(), z = y;
  check_scarcity(1, y, [&] { y = tenon::transpose(y) + x; });  // a copy of what it overwrites
  check_scarcity(2, y, [&] { y = tenon::softmax(tenon::matmul(x, x) + tenon::matmul(x, tenon::exp(x)), axis<-1>); });
  check_scarcity(1, y, [&] { y = tenon::sum(x, axis<0>); });
  check_scarcity(2, y, [&] { tenon::evaluate(tenon::assign(y, tenon::transpose(z)), tenon::assign(z, y * 2.0f)); });
}

TEST_CASE("where memory runs out, a tensor without elements stays without", "[memory]") {
  const matrix<scarce> x = counting<float>(rank<2>(6, 6)).to<scarce>();
  matrix<scarce> y;
  scarce::left = 1;
  CHECK_THROWS_AS((y = tenon::matmul(x, tenon::sqrt(tenon::matmul(x, x)))), tenon::out_of_memory);
  scarce::left = 1 << 30;
  CHECK(y.is_empty());
  y = x + 1.0f;
  CHECK(y.extent(1) == 6);
}

#endif
