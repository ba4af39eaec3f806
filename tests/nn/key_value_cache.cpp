// tests/nn/key_value_cache.cpp: attention of pieces of a sequence beside attention of the whole sequence.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/key_value_cache.hpp>

#include "nn/passes.hpp"
#include "support/elements.hpp"
#include "support/spaces.hpp"
#include "support/text_of.hpp"

namespace nn = tenon::nn;
using tenon::dyn;
using tenon::rank;
using tenon_test::difference;
using tenon_test::numbers_of;
using tenon_test::text_of;

namespace {

constexpr nn::multihead_attention_options backward_looking{.batch_first = true, .is_causal = true};
constexpr nn::multihead_attention_options length_first_unbiased{.bias = false, .is_causal = true};

/// How far a causal layer's results for pieces that end at `ends`, along axis `Length`, are from those for the whole.
template <int Length, class Layer, class Input>
std::string difference_of_pieces(Layer& layer, const Input& x, const std::vector<tenon::index>& ends) {
  using space = typename Layer::space;
  using element = typename Layer::element;
  const tenon::no_grad writing;
  const tenon::tensor<element, rank<3>, space> whole(layer.forward(x));
  tenon::tensor<element, rank<3>, space> pieces(whole.shape());
  pieces = 0;
  nn::key_value_cache<space, element> seen(ends.back() + 2);
  for (int turn = 0; turn < 2; ++turn) {  // the second one in the memory of the first
    seen.clear();
    tenon::index begin = 0;
    for (const tenon::index end : ends) {
      const auto piece = [&](auto& from) {
        if constexpr (Length == 0) return tenon::slice(from, tenon::range(begin, end));
        else return tenon::slice(from, tenon::all_of, tenon::range(begin, end));
      };
      piece(pieces) = layer(piece(x), seen);
      begin = end;
      if (seen.places() != end) return "places " + std::to_string(seen.places());
    }
    const std::string found = difference(numbers_of(pieces), numbers_of(whole), 2e-6);
    if (!found.empty()) return found;
  }
  return "";
}

tenon::tensor<float, rank<4>> drawn_heads(tenon::index places, std::uint64_t seed) {
  return tenon::normal<float>({2, 3, places, 5}, seed);
}

}  // namespace

TEMPLATE_LIST_TEST_CASE("a layer with a cache reads pieces as it reads the whole", "[key_value_cache]",
                        tenon_test::spaces) {
  nn::multihead_attention<6, 3, backward_looking, TestType> layer;
  layer.initialise(1);
  const auto x = tenon_test::random_input<TestType>(rank<3>(3, 11, 6));
  CHECK(difference_of_pieces<1>(layer, x, {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}) == "");
  CHECK(difference_of_pieces<1>(layer, x, {7, 7, 8, 11}) == "");
}

TEST_CASE("caches serve layers of any order of axes, of sizes known at run time, and of double", "[key_value_cache]") {
  nn::multihead_attention<dyn, dyn, length_first_unbiased, tenon::host, double> layer(10, 5);
  layer.initialise(2);
  const tenon::tensor<double, rank<3>> x = tenon::normal<double>({67, 2, 10}, 3);
  CHECK(difference_of_pieces<0>(layer, x, {1, 66, 67}) == "");
  nn::multihead_attention<8, 1, backward_looking> of_one_head;
  of_one_head.initialise(3);
  CHECK(difference_of_pieces<1>(of_one_head, tenon::tensor<float, rank<3>>({0, 5, 8}), {2, 5}) == "");
}

TEST_CASE("attention written by hand sees what was appended before", "[key_value_cache]") {
  const auto q = drawn_heads(13, 1), k = drawn_heads(13, 2), v = drawn_heads(13, 3);
  const tenon::attention_options softer{.scale = 0.25f, .softcap = 2};
  tenon::attention_options causal = softer;
  causal.is_causal = true;
  const tenon::tensor<float, rank<4>> whole = tenon::scaled_dot_product_attention(q, k, v, causal);
  nn::key_value_cache<> seen(13);
  tenon::index begin = 0;
  for (const tenon::index end : {3, 4, 13}) {
    const auto piece = [&](const auto& from) {
      return tenon::slice(from, tenon::all_of, tenon::all_of, tenon::range(begin, end));
    };
    const tenon::tensor<float, rank<4>> found = seen.attend(piece(q), piece(k), piece(v), softer);
    CHECK(difference(numbers_of(found), numbers_of(piece(whole)), 2e-6) == "");
    begin = end;
  }
  CHECK(numbers_of(seen.keys()) == numbers_of(k));
  CHECK(numbers_of(seen.values()) == numbers_of(v));
  const nn::key_value_cache<> copy = seen;  // with places of its own
  seen.clear();
  seen.append(v, k);
  CHECK(numbers_of(copy.keys()) == numbers_of(k));
  CHECK(copy.capacity() == 13);
}

TEST_CASE("what does not fit a cache is refused, and the cache stays as it was", "[key_value_cache]") {
  CHECK(text_of<tenon::error>([] { nn::key_value_cache<> none(0); }) ==
        "key_value_cache: capacity 0, expected at least 1");
  nn::key_value_cache<> seen(4);
  const auto k = drawn_heads(3, 1);
  seen.append(k, k);
  CHECK(text_of<tenon::shape_error>([&] { seen.append(drawn_heads(2, 1), drawn_heads(2, 1)); }) ==
        "key_value_cache: keys, axis 2: extent 2 behind 3 places, expected at most 1 (keys [2, 3, 2, 5], capacity 4)");
  const tenon::tensor<float, rank<4>> fewer = tenon::zeros<float>({2, 2, 1, 5});
  CHECK(text_of<tenon::shape_error>([&] { seen.append(fewer, fewer); }) ==
        "key_value_cache: keys, axis 1: extent 2, expected 3 as of the places before (keys [2, 2, 1, 5])");
  seen.clear();
  CHECK(text_of<tenon::shape_error>([&] { seen.append(k, drawn_heads(2, 1)); }) ==
        "key_value_cache: values, axis 2: extent 2, expected 3 as of keys (keys [2, 3, 3, 5], values [2, 3, 2, 5])");
  CHECK(seen.places() == 0);
  seen.append(fewer, fewer);
  CHECK(seen.places() == 1);
}

TEST_CASE("a call that throws, and a move, leave no places behind", "[key_value_cache]") {
  nn::key_value_cache<> seen(8);
  const auto k = drawn_heads(2, 1);
  const tenon::tensor<float, rank<4>> of_fewer_heads = tenon::zeros<float>({2, 2, 2, 5}), wide({2, 3, 2, 6});
  CHECK_THROWS_AS(seen.attend(of_fewer_heads, k, k), tenon::shape_error);
  CHECK(seen.places() == 0);
  seen.append(k, k);
  CHECK_THROWS_AS(seen.attend(wide, k, k), tenon::shape_error);
  CHECK(seen.places() == 2);
  nn::key_value_cache<> moved = std::move(seen);
  CHECK(moved.places() == 2);
  CHECK(numbers_of(moved.keys()) == numbers_of(k));
  CHECK(seen.places() == 0);
  seen.append(k, k);
  seen = std::move(moved);
  CHECK(seen.places() == 2);
  CHECK(moved.places() == 0);
}

TEST_CASE("a layer with a cache looks back, and has no gradients", "[key_value_cache]") {
  nn::multihead_attention<6, 3, nn::multihead_attention_options{.batch_first = true}> layer;
  layer.initialise(1);
  const tenon::tensor<float, rank<3>> x = tenon::ones<float>({1, 2, 6});
  nn::key_value_cache<> seen(4);
  CHECK(text_of<tenon::error>([&] { layer(x, seen); }) ==
        "multihead_attention: a key_value_cache keeps nothing for gradients; call under tenon::no_grad");
  const tenon::no_grad writing;
  CHECK(text_of<tenon::error>([&] { layer(x, seen); }) ==
        "multihead_attention: a key_value_cache knows the places before alone; set is_causal");
  CHECK(seen.places() == 0);
  layer.is_causal = true;
  const tenon::tensor<float, rank<3>> wide = tenon::ones<float>({1, 2, 7});
  CHECK_THROWS_AS(layer(wide, seen), tenon::shape_error);
  CHECK(seen.places() == 0);
}

TEST_CASE("a cache belongs to one layer until it is cleared", "[key_value_cache]") {
  using layer_type = nn::multihead_attention<6, 3, backward_looking>;
  std::vector<layer_type> layers(2);
  for (layer_type& each : layers) each.initialise(1);
  const tenon::tensor<float, rank<3>> x = tenon::ones<float>({1, 2, 6});
  const tenon::no_grad writing;
  nn::key_value_cache<> seen(8);
  layers[0](x, seen);
  const auto text = text_of<tenon::error>([&] { layers[1](x, seen); });
  CHECK(text ==
        "multihead_attention: its key_value_cache has 2 places of another layer, or of a copy of this one; each layer "
        "needs a cache of its own");
  CHECK(seen.places() == 2);
  layers.reserve(100);  // which moves the layers
  layers[0](x, seen);
  nn::key_value_cache<> moved = std::move(seen), copied = moved;
  layers[0](x, moved), layers[0](x, copied);
  CHECK_THROWS_AS(layers[1](x, copied), tenon::error);
  CHECK((moved.places() == 6 && copied.places() == 6));
  moved.clear();
  layers[1](x, moved);
  CHECK(moved.places() == 2);
}
