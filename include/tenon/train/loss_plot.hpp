// tenon/train/loss_plot.hpp: the curve of a loss as a picture that any browser shows.
// It keeps means over runs of steps, twice as long whenever there are too many, so a long training costs no more.
// Floor 8: may include base, core, expr, io.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <string>
#include <tenon/core/kept_number.hpp>
#include <tenon/core/tensor.hpp>
#include <tenon/io/write_bytes.hpp>

namespace tenon::train {

/// Draws a loss over steps into an SVG file, at most once in `interval` seconds and at its end. What is kept is part of
/// a checkpoint, whether there is a path or not; without one it draws nothing.
/// throws    file_error while it lives; what fails at its end does so silently
/// example   train::loss_plot plot("loss.svg"); plot.add(loss);
template <class Clock = std::chrono::steady_clock>
class loss_plot_of {
 public:
  static constexpr const char* state_prefix = "plot.";
  static constexpr index capacity = 512;  // points at most

  explicit loss_plot_of(std::filesystem::path path = {}, double interval = 1)
      : path_(std::move(path)), wait_(interval) {
    for (index i = 0; i < capacity; ++i) means_.data()[i] = 0;
  }
  loss_plot_of(const loss_plot_of&) = delete;
  loss_plot_of& operator=(const loss_plot_of&) = delete;
  ~loss_plot_of() {
    try {
      draw();
    } catch (const std::exception&) {  // nobody is left to hear of it
    }
  }

  /// The loss of the next step.
  void add(double loss) {
    sum_ += loss;
    if (++pending_ >= stride_) close_point();
    const auto now = Clock::now();
    if (path_.empty() || std::chrono::duration<double>(now - drawn_).count() < wait_) return;
    drawn_ = now;
    draw();
  }
  /// Writes the file.
  void draw() const {
    if (path_.empty()) return;
    const std::string text = svg();
    const std::span<const std::uint8_t> parts[] = {{reinterpret_cast<const std::uint8_t*>(text.data()), text.size()}};
    io::write_bytes("loss_plot", path_, parts);
  }
  /// Steps so far.
  std::int64_t steps() const { return count_ * stride_ + pending_; }
  /// Calls `visitor(name, values)` for all that it remembers.
  template <class Network, class Visitor>
  void visit_state(Network&, Visitor&& visitor) {
    constexpr std::int64_t most = std::int64_t{1} << 48;  // steps of a point
    auto count = kept_within(count_, {0, capacity - 1}), stride = kept_within(stride_, {1, most});
    auto pending = kept_within(pending_, {0, most});
    visitor(std::string("means"), means_), visitor(std::string("count"), count);
    visitor(std::string("stride"), stride), visitor(std::string("pending"), pending);
    visitor(std::string("sum"), sum_);
  }

 private:
  static constexpr double width = 640, height = 360, margin = 56, left = 68;
  struct extent {
    double low, high;
  };
  struct ticks {
    double step, first, last;  // first and last in steps
  };

  void close_point() {
    means_.data()[count_++] = sum_ / static_cast<double>(pending_);
    sum_ = 0, pending_ = 0;
    if (count_ < capacity) return;
    count_ /= 2, stride_ *= 2;
    for (index i = 0; i < count_; ++i) means_.data()[i] = (means_.data()[2 * i] + means_.data()[2 * i + 1]) / 2;
  }
  /// About five ticks within a range. Steps are 1, 2 or 5 times a power of ten, and at least `least`.
  static ticks ticks_within(const extent& range, double least = 0) {
    const double wanted = std::fmax((range.high - range.low) / 5, least);
    const double power = std::pow(10.0, std::floor(std::log10(wanted)));
    double step = 10 * power;
    for (const double each : {5.0, 2.0, 1.0}) step = each * power >= wanted * (1 - 1e-9) ? each * power : step;
    return {step, std::ceil(range.low / step - 1e-9) + 0.0, std::floor(range.high / step + 1e-9)};  // -0 + 0 is 0
  }
  /// Of the finite losses, a little more than nothing, as far as the next ticks beyond them.
  extent losses() const {
    extent found{INFINITY, -INFINITY};
    for (index i = 0; i < count_; ++i) {
      const double loss = means_.data()[i];
      if (std::isfinite(loss)) found = {std::fmin(found.low, loss), std::fmax(found.high, loss)};
    }
    if (!(found.low <= found.high)) return {0, 1};
    const double least = std::fmax(std::fabs(found.high) * 1e-4, 1e-12);
    if (found.high - found.low < least) found = {found.low - least, found.high + least};
    const double step = ticks_within(found).step;
    return {step * std::floor(found.low / step + 1e-9), step * std::ceil(found.high / step - 1e-9)};
  }
  static double across(double share) { return left + share * (width - left - margin / 2); }
  static double down(double share) { return height - margin - share * (height - 2 * margin); }

  std::string svg() const {
    const extent y = losses();
    const auto last = static_cast<double>(std::max<std::int64_t>(count_ * stride_, 1));
    std::string text = printed("<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 %g %g' ", width, height);
    text += "font-family='sans-serif' font-size='12'>\n<rect width='100%' height='100%' fill='white'/>\n";
    const ticks up = ticks_within(y), along = ticks_within({0, last}, 1);
    for (double i = up.first; i <= up.last; ++i) {
      const double at = down((i * up.step - y.low) / (y.high - y.low));
      text += printed("<path d='M%g %gH%g' stroke='#ddd'/>", across(0), at, across(1));
      text += printed("<text x='%g' y='%g' text-anchor='end'>%g</text>\n", across(0) - 6, at + 4, i * up.step);
    }
    for (double i = along.first; i <= along.last; ++i) {
      const double step = i * along.step;
      text +=
          printed("<text x='%g' y='%g' text-anchor='middle'>%.0f</text>\n", across(step / last), down(0) + 18, step);
    }
    text += printed("<text x='%g' y='%g' text-anchor='middle'>step</text>\n", across(0.5), height - 14);
    text += printed(stride_ == 1 ? "<text x='%g' y='24'>loss of each step</text>\n"
                                 : "<text x='%g' y='24'>loss: mean of %.0f steps a point</text>\n",
                    across(0), static_cast<double>(stride_));
    return text + curve(y) + "</svg>\n";
  }
  /// A line through the points; losses that are not finite break it.
  std::string curve(const extent& y) const {
    std::string text = "<path fill='none' stroke='#1f77b4' stroke-width='1.5' d='";
    bool is_drawing = false;
    for (index i = 0; i < count_; ++i) {
      const double loss = means_.data()[i];
      if (std::isfinite(loss)) {
        text += printed(is_drawing ? "L%.1f %.1f" : "M%.1f %.1f",
                        across((static_cast<double>(i) + 1) / static_cast<double>(count_)),
                        down((loss - y.low) / (y.high - y.low)));
      }
      is_drawing = std::isfinite(loss);
    }
    return text + "'/>\n";
  }
  template <class... Numbers>
  static std::string printed(const char* format, Numbers... numbers) {
    char text[160];
    std::snprintf(text, sizeof(text), format, numbers...);
    return text;
  }

  std::filesystem::path path_;
  double wait_;
  typename Clock::time_point drawn_{};
  tensor<double, shape<capacity>> means_{shape<capacity>{}};
  std::int64_t count_ = 0, stride_ = 1, pending_ = 0;  // points, steps of each, and steps of the next so far
  double sum_ = 0;                                     // of those
};

/// A plot of losses in an SVG file, which is drawn again while training goes on: `train::loss_plot plot("loss.svg");`
using loss_plot = loss_plot_of<>;

}  // namespace tenon::train
