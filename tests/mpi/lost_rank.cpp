// tests/mpi/lost_rank.cpp: a program one of whose ranks is lost, in a way that its argument names.
// The others must end, too, and somebody must say why; tests/mpi/CMakeLists.txt looks at that.
// SPDX-License-Identifier: Apache-2.0
#include <csignal>
#include <string>
#include <tenon/distributed/mpi.hpp>

int main(int count, char** arguments) {
  const std::string how = count > 1 ? arguments[1] : "";
  return tenon::distributed::run_with_mpi(count, arguments,
                                          [&](tenon::distributed::mpi_communicator& all) {
                                            for (int step = 0; step < 20; ++step) {
                                              if (step == 10 && all.rank() == 1) {
                                                if (how == "throws") throw tenon::error("the disk is full");
                                                if (how == "killed") std::raise(SIGKILL);
                                                if (how == "hangs")
                                                  std::this_thread::sleep_for(std::chrono::seconds(300));
                                              }
                                              float one[1] = {1};
                                              auto sum = all.start_sum(one, 1);
                                              all.wait(sum);
                                              if (one[0] != static_cast<float>(all.size())) return 3;
                                            }
                                            if (all.rank() == 0) std::puts("all steps are done");
                                            return 0;
                                          },
                                          {.timeout = std::chrono::seconds(3)});
}
