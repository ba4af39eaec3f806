// tests/train/progress.cpp: what a training shows where the output is no terminal.
// A clock of the test's own makes the lines exact.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/train/progress.hpp>

#include <vector>

#include "support/catch.hpp"

namespace {

/// Stands still until it is moved.
struct still_clock {
  using duration = std::chrono::seconds;
  using time_point = std::chrono::time_point<still_clock, duration>;
  static inline time_point present{};
  static time_point now() { return present; }
};

std::vector<std::string> lines_of(std::FILE* file) {
  std::rewind(file);
  std::vector<std::string> lines;
  char text[256];
  while (std::fgets(text, sizeof(text), file) != nullptr) lines.emplace_back(text);
  std::fclose(file);
  return lines;
}

}  // namespace

TEST_CASE("ten plain lines an epoch tell share, average loss, speed and time left", "[progress]") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    tenon::train::progress_of<still_clock> progress("epoch 1/2", 200, file);
    for (int step = 0; step < 100; ++step) {
      still_clock::present += std::chrono::seconds(1);
      progress.advance(2, step < 50 ? 3.0f : 1.0f);
    }
  }
  const auto lines = lines_of(file);
  REQUIRE(lines.size() == 10);
  CHECK(lines[0] == "epoch 1/2 [==                      ]  10.0 %  loss 3.0000  2 images/s  90 s left  \n");
  CHECK(lines[9] == "epoch 1/2 [========================] 100.0 %  loss 2.0000  2 images/s  0 s left  \n");
}

TEST_CASE("a measure is averaged as the loss is, and what an earlier run did counts for neither", "[progress]") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    tenon::train::progress_of<still_clock> progress("epoch", 8, file, "words");
    progress.skip(4);
    for (int step = 0; step < 2; ++step) {
      still_clock::present += std::chrono::seconds(2);
      progress.advance(2, 1.0f, {"accuracy", step == 0 ? 0.5 : 1.0});
    }
  }
  const auto lines = lines_of(file);
  REQUIRE(lines.size() == 2);
  CHECK(lines[0] == "epoch [==================      ]  75.0 %  loss 1.0000  accuracy 0.5000  1 words/s  2 s left  \n");
  CHECK(lines[1] == "epoch [========================] 100.0 %  loss 1.0000  accuracy 0.7500  1 words/s  0 s left  \n");
}

TEST_CASE("counts beyond the total, or below 0, are no progress", "[progress]") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    tenon::train::progress_of<still_clock> progress("much", 4, file), none("none", 0, file), less("less", 4, file);
    still_clock::present += std::chrono::seconds(1);
    progress.advance(5, 1.0f);
    progress.advance(1, 1.0f);
    none.advance(2, 1.0f);
    less.advance(-1, 1.0f);
    less.advance(3, 1.0f);
  }
  const auto lines = lines_of(file);
  REQUIRE(lines.size() == 3);
  CHECK(lines[0] == "much [========================] 100.0 %  loss 1.0000  5 images/s  0 s left  \n");
  CHECK(lines[1] == "none [========================] 100.0 %  loss 1.0000  2 images/s  0 s left  \n");
  CHECK(lines[2] == "less [============            ]  50.0 %  loss 1.0000  2 images/s  1 s left  \n");
}

TEST_CASE("progress of nothing shows nothing", "[progress]") {
  std::FILE* file = std::tmpfile();
  REQUIRE(file != nullptr);
  {
    const tenon::train::progress_of<still_clock> progress("epoch", 0, file);
  }
  CHECK(lines_of(file).empty());
}
