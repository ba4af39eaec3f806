// tests/train/loss_plot.cpp: the curve of a loss, its file, and how it goes on from a checkpoint.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/io/text.hpp>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/checkpoint.hpp>
#include <tenon/train/loss_plot.hpp>

#include "support/scratch_file.hpp"
#include "support/text_of.hpp"

namespace {

using tenon::io::read_text;
using tenon::train::loss_plot_of;
using tenon_test::has;
using tenon_test::scratch_file;

/// Stands still until it is moved.
struct plot_clock {
  using duration = std::chrono::seconds;
  using time_point = std::chrono::time_point<plot_clock, duration>;
  static inline time_point present{duration(100)};
  static time_point now() { return present; }
};
using still_plot = loss_plot_of<plot_clock>;

}  // namespace

TEST_CASE("a plot is drawn at first, after each interval, and at its end", "[loss_plot]") {
  const scratch_file file("plot.svg");
  {
    still_plot plot(file.path, 10);
    plot.add(4);
    const auto first = read_text(file.path);
    CHECK(has(first, "<svg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 640 360'"));
    CHECK(has(first, "</svg>\n"));
    plot_clock::present += std::chrono::seconds(9);
    plot.add(2);
    CHECK(read_text(file.path) == first);
    plot_clock::present += std::chrono::seconds(1);
    plot.add(3);
    CHECK(has(read_text(file.path), "d='M249.3 56.0L430.7 304.0L612.0 180.0'"));
    CHECK(has(read_text(file.path), ">2</text>"));
    plot.add(std::nan(""));
    plot.add(3);
    CHECK(plot.steps() == 5);
  }
  CHECK(has(read_text(file.path), "d='M176.8 56.0L285.6 304.0L394.4 180.0M612.0 180.0'"));
}

TEST_CASE("numbers at axes are round", "[loss_plot]") {
  const scratch_file file("round.svg");
  const auto drawn = [&](std::initializer_list<double> losses) {
    still_plot plot(file.path, 1e9);
    for (const double loss : losses) plot.add(loss);
    plot.draw();
    return read_text(file.path);
  };
  const auto text = drawn({1.732, 0.5847, 0.71, 0.63});
  for (const char* each : {">0.5</text>", ">1</text>", ">1.5</text>", ">2</text>", ">4</text>"}) CHECK(has(text, each));
  CHECK(!has(text, ">1.732</text>"));
  CHECK(!has(text, ">-0</text>"));
  CHECK(!has(text, "e-1"));  // a tick that is nothing is 0
  const auto small = drawn({-2e-5, 3e-5});
  for (const char* each : {">-2e-05</text>", ">0</text>", ">3e-05</text>"}) CHECK(has(small, each));
  const auto flat = drawn({1, 1});
  for (const char* each : {">0.9999</text>", ">1</text>", ">1.0001</text>"}) CHECK(has(flat, each));
}

TEST_CASE("long trainings have as many points, each the mean of more steps", "[loss_plot]") {
  const scratch_file file("long.svg");
  still_plot plot(file.path, 1e9);
  for (int step = 0; step < 5000; ++step) plot.add(step % 2 == 0 ? 1 : 3);
  CHECK(plot.steps() == 5000);
  plot.draw();
  CHECK(has(read_text(file.path), "mean of 16 steps a point"));
  CHECK(read_text(file.path).size() < 20000);
}

TEST_CASE("a plot goes on from a checkpoint, with a path or without", "[loss_plot]") {
  const scratch_file state("plot.safetensors"), file("whole.svg"), other("resumed.svg");
  auto net = tenon::nn::sequential(tenon::nn::linear<1, 1>{});
  still_plot whole(file.path), stopped, resumed(other.path);
  const auto losses = [](still_plot& plot, int first, int last) {
    for (int step = first; step < last; ++step) plot.add(1.0 / (step + 1));
  };
  losses(whole, 0, 900), losses(stopped, 0, 601), losses(resumed, 0, 3);
  tenon::train::save_state(tenon::train::training(net, stopped), state.path);
  tenon::train::training all(net, resumed);
  tenon::train::load_state(all, state.path);
  CHECK(resumed.steps() == 601);
  losses(resumed, 601, 900);
  whole.draw(), resumed.draw();
  CHECK(read_text(file.path) == read_text(other.path));
}

TEST_CASE("a plot of nothing, and one that cannot be written", "[loss_plot]") {
  const scratch_file file("nothing.svg");
  {
    const still_plot plot(file.path);
  }
  CHECK(has(read_text(file.path), "d=''"));
  still_plot plot("/no/folder/plot.svg");
  CHECK(tenon_test::text_of<tenon::file_error>([&] { plot.add(1); }) ==
        "loss_plot: /no/folder/plot.svg: it cannot be written: No such file or directory");
}
