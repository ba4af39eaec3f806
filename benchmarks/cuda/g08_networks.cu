// benchmarks/cuda/g08_networks.cu: G8, a convolutional network as captured graphs, and AdamW over 100 million floats.
// Results are compared with the host's, or with the definition, first; what is replayed may allocate nothing.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/device/graph.hpp>

#include "../simple_cnn.hpp"
#include "timing.hpp"

namespace {

namespace tn = tenon;
namespace nn = tenon::nn;

template <class Space>
tn::tensor<float, image_shape, Space> make_images(tn::index batch) {
  tn::tensor<float, image_shape, Space> images(image_shape(batch, 3, 28, 28));
  images = tn::normal<float>(images.shape(), 2);
  return images;
}

/// The network in training, as a program of Tenon writes it.
template <class Space>
class training {
 public:
  explicit training(tn::index batch)
      : images_(make_images<Space>(batch)),
        labels_(tn::arange<std::int64_t>(batch) % std::int64_t{10}),
        network_(make_simple_cnn().to<Space>()),
        pass_(network_),
        optimizer_({.lr = 0.01, .momentum = 0.9}) {}
  training(const training&) = delete;
  training& operator=(const training&) = delete;

  void step() {
    const auto logits = pass_.forward(images_.view());
    pass_.backward(images_.view(), nn::cross_entropy_gradient(logits, labels_));
    optimizer_.step(network_);
  }
  std::vector<float> answers() {
    const auto found = tn::evaluated_tensor(pass_.forward(images_.view())).template to<tn::host>();
    return {found.data(), found.data() + found.size()};
  }

 private:
  using network_type = decltype(make_simple_cnn().to<Space>());
  tn::tensor<float, image_shape, Space> images_;
  tn::tensor<std::int64_t, tn::rank<1>, Space> labels_;
  network_type network_;
  nn::pass<network_type, image_shape, Space> pass_;
  tn::train::sgd<Space> optimizer_;
};

/// A trained network in use.
template <class Space>
class inference {
 public:
  explicit inference(tn::index batch)
      : images_(make_images<Space>(batch)), use_(fused_network(), image_shape(batch, 3, 28, 28)) {}
  void run() { answers_ = use_.run(images_.view()).data(); }
  std::vector<float> answers() const {
    std::vector<float> found(static_cast<std::size_t>(10 * images_.extent(0)));
    Space::copy_to_host(found.data(), answers_, found.size() * sizeof(float));
    return found;
  }

 private:
  static auto fused_network() {
    auto network = make_simple_cnn();
    network.eval();
    return nn::fuse(network).template to<Space>();
  }
  tn::tensor<float, image_shape, Space> images_;
  nn::inference<decltype(fused_network()), tn::view<const float, image_shape, Space>> use_;
  const float* answers_ = nullptr;
};

/// Captures a function that has run before, and holds its launches against the plan: as many kernels as the function
/// itself starts, in one launch that allocates nothing. Whatever makes the host wait cannot be captured at all.
tn::graph<> captured(const std::string& name, const std::function<void()>& function) {
  const tn::launch_counter statements;
  function();
  const int planned = statements.count();
  tn::graph<> graph = tn::capture(function);
  const auto allocated = tn::blocks_of<tn::cuda>().added();
  const tn::launch_counter launches;
  graph.launch();
  const auto allocations = tn::blocks_of<tn::cuda>().added() - allocated;
  std::printf("%-40s %d kernels in %d launch, %d allocations\n", name.c_str(), static_cast<int>(graph.kernels()),
              launches.count(), static_cast<int>(allocations));
  if (graph.kernels() != planned || launches.count() != 1 || allocations != 0) {
    timing::session::fail(tn::compose_text(name, ": expected ", planned, " kernels in 1 launch, 0 allocations"));
  }
  return graph;
}

/// Compares what a graph leaves with what the host finds, then times it.
void compare_with_host(timing::session& session, const std::string& name, const timing::measure& by,
                       const timing::contender& host, const timing::contender& graph) {
  session.must_agree(name, by, {host, graph});
  session.compare(name, by, {graph});
}

/// The graph has been through three steps: one that loads kernels, one that is counted as statements, and a launch.
void measure_training(timing::session& session, tn::index batch) {
  const std::string name = tn::compose_text("G8a/simple_cnn_step_batch", batch);
  training<tn::cuda> replayed(batch);
  training<tn::host> reference(batch);
  replayed.step();
  const auto graph = captured(name, [&] { replayed.step(); });
  for (int i = 0; i < 3; ++i) reference.step();
  compare_with_host(session, name, {.bound = 2e-4},
                    {"host", [&](int) { reference.step(); }, [&] { return reference.answers(); }},
                    {"tenon", [&](int) { graph.launch(); }, [&] { return replayed.answers(); }});
}

void measure_inference(timing::session& session, tn::index batch) {
  const std::string name = tn::compose_text("G8a/simple_cnn_inference_batch", batch);
  inference<tn::cuda> replayed(batch);
  inference<tn::host> reference(batch);
  replayed.run();
  const auto graph = captured(name, [&] { replayed.run(); });
  compare_with_host(session, name, {.bound = 1e-4},
                    {"host", [&](int) { reference.run(); }, [&] { return reference.answers(); }},
                    {"tenon", [&](int) { graph.launch(); }, [&] { return replayed.answers(); }});
}

/// Parameters as a network shows them to an optimizer.
struct many_parameters {
  std::vector<nn::parameter<float, tn::rank<1>, tn::cuda>> all;

  many_parameters(tn::index count, tn::index elements) {
    for (tn::index i = 0; i < count; ++i) {
      const auto seed = static_cast<std::uint64_t>(2 * i);
      all.push_back({timing::random_tensor<float>(tn::rank<1>(elements), seed + 1),
                     timing::random_tensor<float>(tn::rank<1>(elements), seed + 2)});
    }
  }
  template <class Visitor>
  void visit_parameters(Visitor&& visitor) {
    for (std::size_t i = 0; i < all.size(); ++i) visitor(std::to_string(i), all[i]);
  }
};

/// AdamW by its definition, a joint statement for each parameter.
struct stated_adamw {
  struct averages {
    tn::tensor<float, tn::rank<1>, tn::cuda> first, second;
  };
  many_parameters& parameters;
  std::vector<averages> kept;
  int steps = 0;

  explicit stated_adamw(many_parameters& of) : parameters(of) {
    for (const auto& each : of.all) {
      const auto& extents = each.value.shape();
      kept.push_back({tn::zeros<float, tn::cuda>(extents), tn::zeros<float, tn::cuda>(extents)});
    }
  }
  void step() {
    constexpr float rate = 1e-3f, decay = 1e-2f, beta1 = 0.9f, beta2 = 0.999f, epsilon = 1e-8f;
    ++steps;
    const float step_size = rate / (1 - std::pow(beta1, static_cast<float>(steps)));
    const float root = std::sqrt(1 - std::pow(beta2, static_cast<float>(steps)));
    for (std::size_t i = 0; i < kept.size(); ++i) {
      auto& value = parameters.all[i].value;
      const auto& gradient = parameters.all[i].gradient;
      const auto first = kept[i].first * beta1 + gradient * (1 - beta1);
      const auto second = kept[i].second * beta2 + gradient * gradient * (1 - beta2);
      tn::evaluate(
          tn::assign(value, value * (1 - rate * decay) - first / (tn::sqrt(second) / root + epsilon) * step_size),
          tn::assign(kept[i].first, first), tn::assign(kept[i].second, second));
    }
  }
};

/// Values, gradients and both averages are read; values and averages are written.
void measure_adamw(timing::session& session, tn::index count, tn::index elements) {
  many_parameters moved(count, elements), stated(count, elements);
  tn::train::adamw<tn::cuda> optimizer;
  stated_adamw definition(stated);
  const double bytes = 7.0 * sizeof(float) * static_cast<double>(count * elements);
  const timing::device_copy copy(bytes);
  const std::string name = "G8b/adamw_100_million";
  const timing::measure by{.bytes = bytes, .bound = 1e-5};
  for (int i = 0; i < 2; ++i) optimizer.step(moved), definition.step();  // so that there are averages
  const timing::contender with_optimizer{"tenon", [&](int) { optimizer.step(moved); },
                                         timing::elements_of(moved.all.back().value)};
  session.must_agree(
      name, by,
      {{"statements", [&](int) { definition.step(); }, timing::elements_of(stated.all.back().value)}, with_optimizer});
  session.compare(name, by, {with_optimizer, copy.as_limit()});
}

void cases(timing::session& session) {
  measure_training(session, 64);
  for (const tn::index batch : {1, 64}) measure_inference(session, batch);
  measure_adamw(session, 100, 1000000);
}

}  // namespace

int main(int argument_count, char** arguments) { return timing::run_cases(argument_count, arguments, &cases); }
