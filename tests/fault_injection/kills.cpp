// tests/fault_injection/kills.cpp: a process that is killed while it saves.
// The file is whole whenever the kill comes; TENON_KILLS says how many come, 10 where it does not.
// SPDX-License-Identifier: Apache-2.0
#include <signal.h>
#include <sys/wait.h>

#include <chrono>
#include <cstdlib>
#include <tenon/nn/linear.hpp>
#include <tenon/nn/sequential.hpp>
#include <tenon/train/checkpoint.hpp>
#include <thread>

#include "support/catch.hpp"
#include "support/random.hpp"
#include "support/scratch_file.hpp"

namespace {

namespace train = tenon::train;
using network = tenon::nn::sequential_network<tenon::nn::linear<300, 300>, tenon::nn::linear<300, 100>>;

/// All parameters have one value: a file that is not whole would show two.
void fill(network& net, float value) {
  net.visit_parameters([&](const auto&, auto& parameter) { parameter.value = value; });
}
bool is_whole(network& net) {
  bool is_one_value = true;
  const float first = tenon::get<0>(net.layers).weight.value.data()[0];
  net.visit_parameters([&](const auto&, auto& parameter) {
    for (tenon::index i = 0; i < parameter.value.size(); ++i) is_one_value &= parameter.value.data()[i] == first;
  });
  return is_one_value;
}

/// A process that saves until it is killed; a new file each time, or over one that is there.
class saving_process {
 public:
  saving_process(network& net, const std::filesystem::path& path) : process_(fork()) {
    if (process_ != 0) return;
    try {
      for (int round = 1;; ++round) fill(net, static_cast<float>(round)), train::save_state(net, path);
    } catch (...) {
      _exit(1);
    }
  }
  saving_process(const saving_process&) = delete;
  saving_process& operator=(const saving_process&) = delete;

  /// Whether it ran until then.
  bool kill() const {
    int status = 0;
    ::kill(process_, SIGKILL);
    return waitpid(process_, &status, 0) == process_ && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
  }

 private:
  pid_t process_;
};

int files_in(const std::filesystem::path& folder) {
  int count = 0;
  for (const auto& each : std::filesystem::directory_iterator(folder)) count += each.exists() ? 1 : 0;
  return count;
}

}  // namespace

TEST_CASE("a process that is killed while it saves leaves a whole file, and one beside it at most", "[kills]") {
  const tenon::single_thread_scope alone;
  const tenon_test::scratch_file place("kills");
  std::filesystem::create_directory(place.path);
  const auto path = place.path / "weights.safetensors";
  network net;
  net.initialise(1);
  fill(net, 0);
  train::save_state(net, path);

  const char* const wanted = std::getenv("TENON_KILLS");
  const int kills = wanted == nullptr ? 10 : std::atoi(wanted);
  tenon_test::random_source random(23);
  int beside = 0;
  for (int kill = 0; kill < kills; ++kill) {
    const saving_process saving(net, path);
    std::this_thread::sleep_for(std::chrono::microseconds(1000 + random.below(20000)));
    REQUIRE(saving.kill());
    beside += files_in(place.path) - 1;
    REQUIRE(files_in(place.path) <= 2);
    train::load_state(net, path);
    REQUIRE(is_whole(net));
  }
  fill(net, 7);
  train::save_state(net, path);
  CHECK(files_in(place.path) == 1);
  std::printf("%d kills while saving, %d of them left a file beside the whole one\n", kills, beside);
  std::filesystem::remove_all(place.path);
}
