// benchmarks/cuda/predict/convolutions.cu: G6, convolutions of images of bfloat16 with channels last, and pools.
// SPDX-License-Identifier: Apache-2.0
#include "model.hpp"

namespace {

namespace tn = tenon;
using element = tn::bfloat16;
using images = tn::tensor<element, tn::rank<4>, tn::cuda>;

struct convolution_case {
  tn::index batch, channels, extent, outputs, kernel, stride, padding, groups;

  tn::index windows() const { return (extent + 2 * padding - kernel) / stride + 1; }
  tn::index taps() const { return channels / groups * kernel * kernel; }
  tn::index results() const { return batch * windows() * windows() * outputs; }
  predict::work work() const {
    return {2.0 * static_cast<double>(batch * extent * extent * channels + results() + outputs * taps()),
            2.0 * static_cast<double>(results() * taps())};
  }
  tn::window_geometry<2> geometry() const {
    return {.stride = {{stride, stride}}, .padding = {{padding, padding}}, .groups = groups};
  }
};

/// Images as Tenon's statements see them: [n, c, h, w], where channels lie side by side.
auto channels_second(images& x) { return tn::permute(x, tn::axis<0, 3, 1, 2>); }

/// Images, weights and results lie with channels last, as cuDNN's do.
void convolution_rows(predict::session& session, const std::string& extents, const convolution_case& of,
                      bool with_gradients) {
  images x = predict::random_tensor<element>(tn::rank<4>(of.batch, of.extent, of.extent, of.channels), 1);
  images w = predict::random_tensor<element>(tn::rank<4>(of.outputs, of.kernel, of.kernel, of.channels / of.groups), 2);
  images y = predict::random_tensor<element>(tn::rank<4>(of.batch, of.windows(), of.windows(), of.outputs), 3);
  const auto image = channels_second(x), weight = channels_second(w), result = channels_second(y);
  session.row(tn::compose_text("G6/forward_", extents), of.work(),
              [&] { result = tn::convolve(image, weight, of.geometry()); });
  if (!with_gradients) return;
  session.row("G6/image_gradient_" + extents, of.work(),
              [&] { image = tn::convolve_image_gradient(result, weight, {{of.extent, of.extent}}, of.geometry()); });
  session.row("G6/weight_gradient_" + extents, of.work(),
              [&] { weight = tn::convolve_weight_gradient(result, image, {{of.kernel, of.kernel}}, of.geometry()); });
}

/// The same of planes, as layers of nn have them.
void plane_rows(predict::session& session, const std::string& extents, const convolution_case& of) {
  images x = predict::random_tensor<element>(tn::rank<4>(of.batch, of.channels, of.extent, of.extent), 1);
  images w = predict::random_tensor<element>(tn::rank<4>(of.outputs, of.channels, of.kernel, of.kernel), 2);
  images y = predict::random_tensor<element>(tn::rank<4>(of.batch, of.outputs, of.windows(), of.windows()), 3);
  session.row("G6/planes_forward_" + extents, of.work(), [&] { y = tn::convolve(x, w, of.geometry()); });
  session.row("G6/planes_image_gradient_" + extents, of.work(),
              [&] { x = tn::convolve_image_gradient(y, w, {{of.extent, of.extent}}, of.geometry()); });
  session.row("G6/planes_weight_gradient_" + extents, of.work(),
              [&] { w = tn::convolve_weight_gradient(y, x, {{of.kernel, of.kernel}}, of.geometry()); });
}

template <tn::index Kernel>
void pool_rows(predict::session& session, const std::string& extents, const images& x, tn::index stride) {
  const auto windows = tn::windows(x, tn::axis<1, 2>, tn::shape<Kernel, Kernel>{}, {{stride, stride}});
  images y(tn::rank<4>(x.shape().extent(0), windows.shape().extent(1), windows.shape().extent(2), x.shape().extent(3)));
  const predict::work work{2.0 * static_cast<double>(x.size() + y.size())};
  session.row("G6e/max_" + extents, work, [&] { y = tn::max(windows, tn::drop<4, 5>); });
  session.row("G6e/mean_" + extents, work, [&] { y = tn::mean(windows, tn::drop<4, 5>); });
}

}  // namespace

void predict::window_rows(session& session) {
  convolution_rows(session, "3x3_56x56x64", {2, 64, 56, 64, 3, 1, 1, 1}, true);
  plane_rows(session, "3x3_56x56x64", {2, 64, 56, 64, 3, 1, 1, 1});
  convolution_rows(session, "3x3_14x14x256", {16, 256, 14, 256, 3, 1, 1, 1}, true);
  plane_rows(session, "3x3_14x14x256", {16, 256, 14, 256, 3, 1, 1, 1});
  convolution_rows(session, "1x1_56x56x64_256", {2, 64, 56, 256, 1, 1, 0, 1}, false);
  convolution_rows(session, "stem_7x7_112x112x3_64", {2, 3, 112, 64, 7, 2, 3, 1}, false);
  convolution_rows(session, "depthwise_3x3_56x56x256", {1, 256, 56, 256, 3, 1, 1, 256}, false);
  const images x = predict::random_tensor<element>(tn::rank<4>(2, 112, 112, 64), 1);
  pool_rows<2>(session, "2x2", x, 2);
  pool_rows<3>(session, "3x3_s2", x, 2);
}
