// tests/data/batch.cpp: examples side by side.
// Shapes with an axis in front and without it, and the places of examples.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/data/batch.hpp>

#include "support/catch.hpp"

namespace data = tenon::data;

TEST_CASE("a batch has an axis more than an example", "[batch]") {
  using tenon::shape;
  STATIC_REQUIRE(std::is_same_v<data::batch_shape<shape<3, tenon::dyn>>, shape<tenon::dyn, 3, tenon::dyn>>);
  STATIC_REQUIRE(std::is_same_v<data::example_shape<shape<5, 3, 2>>, shape<3, 2>>);
  auto batch = data::make_batch_tensor<float>(4, shape<3, tenon::dyn>(3, 2));
  CHECK(batch.shape() == tenon::rank<3>(4, 3, 2));
  CHECK(data::extents_of_example(batch.shape()) == tenon::rank<2>(3, 2));
  CHECK(data::make_batch_tensor<int>(4, shape<>{}).shape() == tenon::rank<1>(4));
}

TEST_CASE("an example is a part of the batch", "[batch]") {
  auto batch = data::make_batch_tensor<int>(3, tenon::rank<2>(2, 2));
  for (int i = 0; i < 12; ++i) batch.data()[i] = i;
  const auto& read = batch;
  CHECK(data::example_at(read, 2)(1, 0) == 10);
  data::copy_elements(data::example_at(read, 2), data::example_at(batch, 0));
  CHECK(batch(0, 1, 1) == 11);
  CHECK(batch(1, 0, 0) == 4);
  auto empty = data::make_batch_tensor<int>(3, tenon::rank<1>(0));
  data::copy_elements(data::example_at(std::as_const(empty), 2), data::example_at(empty, 0));
}
