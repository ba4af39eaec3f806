// tests/data/space_batches.cpp: the batches of an epoch in another memory space.
// Every batch is what the loader gave, the short one too, and stays until the next one but one.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/space_batches.hpp>

#include <tenon/data/tensor_dataset.hpp>
#include <tenon/device/emulated.hpp>

#include "support/text_of.hpp"

namespace data = tenon::data;

namespace {

template <class Space>
void check_batches_in_space() {
  tenon::tensor<float, tenon::rank<2>> x({11, 3});
  tenon::tensor<std::int64_t, tenon::rank<1>> y({11});
  for (tenon::index i = 0; i < 33; ++i) x.data()[i] = static_cast<float>(i);
  for (tenon::index i = 0; i < 11; ++i) y(i) = i;
  const data::tensor_dataset examples(std::move(x), std::move(y));
  for (const int workers : {0, 2}) {
    data::loader loader(examples, {.batch = 2, .shuffle = true, .seed = 2, .workers = workers});
    const auto order = data::shuffled_order(11, 2, 5);
    std::size_t seen = 0;
    const float* earlier = nullptr;
    for (const auto& [inputs, labels] : data::batches_in<Space>(loader, 5)) {
      STATIC_REQUIRE(std::is_same_v<typename std::remove_cvref_t<decltype(inputs)>::space, Space>);
      CHECK(inputs.data() != earlier);
      earlier = inputs.data();
      const auto host_inputs = inputs.template to<tenon::host>();
      const auto host_labels = labels.template to<tenon::host>();
      CHECK(loader.state().position == static_cast<tenon::index>(seen / 2 + 1) % loader.batches());
      for (tenon::index i = 0; i < host_labels.extent(0); ++i, ++seen) {
        CHECK(host_labels(i) == order[seen]);
        CHECK(host_inputs(i, 2) == static_cast<float>(3 * order[seen] + 2));
      }
    }
    CHECK(seen == 11);
  }
}

}  // namespace

TEST_CASE("batches are copied to another space", "[space_batches]") {
  check_batches_in_space<tenon::emulated>();
  check_batches_in_space<tenon::host>();
}

TEST_CASE("an error of a worker comes through, and no batches at all", "[space_batches]") {
  const data::token_windows none(tenon::tensor<std::int64_t, tenon::rank<1>>({3}), {.length = 3});
  data::loader loader(none, {});
  int batches = 0;
  for (const auto& batch : data::batches_in<tenon::emulated>(loader, 0))
    batches += std::get<0>(batch).size() >= 0 ? 1 : 0;
  CHECK(batches == 0);
  struct torn {
    using batch_type = data::token_windows::batch_type;
    tenon::index size() const { return 5; }
    batch_type make_batch(tenon::index) const { return {}; }
    void copy_example(tenon::index i, batch_type&, tenon::index) const {
      if (i == 4) throw tenon::error("it is torn");
    }
  };
  const torn examples;
  data::loader failing(examples, {.batch = 2});
  CHECK(tenon_test::text_of<tenon::error>([&] {
          for (const auto& batch : data::batches_in<tenon::emulated>(failing, 0)) {
            batches += std::get<0>(batch).size() == 0 ? 1 : 0;
          }
        }) == "loader: example 4: it is torn");
  CHECK(batches == 2);
}
