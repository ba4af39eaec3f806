// benchmarks/cuda/g09_attention.cu: G9, attention of bfloat16 over 2048 and 4096 positions, causal too, and its gradients.
// Results are compared with those of the weights in memory; PyTorch's times are those of layer_peers.py.
// SPDX-License-Identifier: Apache-2.0
#include "timing.hpp"

namespace {

namespace tn = tenon;
using element = tn::bfloat16;
using heads = tn::tensor<element, tn::rank<3>, tn::cuda>;

struct problem {
  tn::index count, length, width;
  bool is_causal;

  std::string text() const { return tn::compose_text(count, "x", length, "x", width, is_causal ? "_causal" : ""); }
  tn::rank<3> extents() const { return {count, length, width}; }
  double bytes() const { return 2.0 * static_cast<double>(extents().count()); }
  /// Of a product of queries and keys; of a causal one, half.
  double product() const { return 2.0 * static_cast<double>(count * length * length * width) / (is_causal ? 2 : 1); }
};

void compare(timing::session& session, const problem& of) {
  const auto query = timing::random_tensor<element>(of.extents(), 1),
             key = timing::random_tensor<element>(of.extents(), 2),
             value = timing::random_tensor<element>(of.extents(), 3),
             gradient = timing::random_tensor<element>(of.extents(), 4);
  heads result(of.extents()), apart(of.extents()), of_query(of.extents()), of_key(of.extents()), of_value(of.extents());
  const auto attended = tn::scaled_dot_product_attention(query, key, value, {.is_causal = of.is_causal});
  const float scale = 1 / std::sqrt(static_cast<float>(of.width));
  const auto with_weights = [&](int) {
    const auto scores = tn::cast<float>(tn::matmul(query, tn::transpose(key))) * scale;
    const auto before = tn::arange<tn::index>(of.length);
    const auto hidden = of.is_causal && before > tn::new_axis<1>(before);
    const tn::tensor<element, tn::rank<3>, tn::cuda> weights(
        tn::cast<element>(tn::softmax(tn::where(hidden, -1e30f, scores), tn::axis<-1>)));
    apart = tn::matmul(weights, value);
  };
  session.compare("G9a/forward_" + of.text(), {.bytes = 4 * of.bytes(), .operations = 2 * of.product(), .bound = 2e-2},
                  {{"tenon", [&](int) { result = attended; }, timing::elements_of(result)},
                   {"apart", with_weights, timing::elements_of(apart)}});
  session.compare("G9b/gradients_" + of.text(), {.bytes = 7 * of.bytes(), .operations = 5 * of.product()},
                  {{"tenon",
                    [&](int) {
                      tn::write_attention_gradients(attended, tn::as_node(gradient), of_query.write_view(),
                                                    of_key.write_view(), of_value.write_view());
                    },
                    nullptr}});
}

void cases(timing::session& session) {
  compare(session, {64, 2048, 64, false});
  compare(session, {32, 4096, 128, false});
  compare(session, {32, 4096, 128, true});
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
