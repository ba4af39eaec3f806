// tests/real_time/steps.cpp: steps of a stream in a process that the kernel kills at any system call, and that counts
// allocations and locks.
// usage: steps [allocate | lock | ask]    what one step does that it must not, to see that it is found out
// SPDX-License-Identifier: Apache-2.0
#include <dlfcn.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <tenon/nn/stream.hpp>
#include <tenon/tenon.hpp>

namespace tn = tenon;
namespace nn = tenon::nn;

namespace {

long allocations = 0, locks = 0;

int (*const lock_of_system)(pthread_mutex_t*) =
    reinterpret_cast<int (*)(pthread_mutex_t*)>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));

}  // namespace

// These stand in front of the C library's own. operator new goes through malloc.
extern "C" {
void* __libc_malloc(std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void* malloc(std::size_t bytes) { return ++allocations, __libc_malloc(bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return ++allocations, __libc_memalign(alignment, bytes);
}
int pthread_mutex_lock(pthread_mutex_t* mutex) { return ++locks, lock_of_system(mutex); }
}

namespace {

struct effect : nn::module<effect> {
  nn::lstm<1, 16> lstm{{.layers = 2}};
  nn::gru<16, 12> gru;
  nn::linear<12, 1> head;
  auto forward(const auto& x) { return head(tn::tanh(gru(lstm(x).sequence).sequence)) + x; }
};
struct filters : nn::module<filters> {
  nn::conv1d<1, 8, 3> first;
  nn::conv1d<8, 1, 3, {.dilation = 4}> second;
  auto forward(const auto& x) { return second(tn::relu(first(x))); }
};
struct policy : nn::module<policy> {
  nn::linear<48, 256> first;
  nn::layer_norm<tn::shape<256>> norm;
  nn::linear<256, 128> second;
  nn::linear<128, 12> head;
  auto forward(const auto& x) { return head(tn::elu(second(tn::elu(norm(first(x)))))); }
};

/// Whether all steps of a network ran without what takes an unknown time.
template <class Network, class Step>
bool runs_in_time(const char* name, const Step& step, std::string_view fault) {
  std::fflush(stdout);
  const pid_t child = fork();
  if (child == 0) {
    Network net;
    net.initialise(1);
    nn::stream use(net, step);
    pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT) != 0) _exit(77);
    allocations = locks = 0;
    float sum = 0;
    for (int i = 0; i < 1000; ++i) {
      sum += use.next(step).data()[0];
      if (i == 500 && fault == "allocate") std::free(std::malloc(64));
      if (i == 500 && fault == "lock") pthread_mutex_lock(&mutex), pthread_mutex_unlock(&mutex);
      if (i == 500 && fault == "ask") (void)getppid();
    }
    syscall(SYS_exit, allocations != 0 ? 2 : locks != 0 ? 3 : sum == sum ? 0 : 4);  // exit_group is refused
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFEXITED(status) && WEXITSTATUS(status) == 77) std::puts("skipped: no seccomp"), std::exit(77);
  const char* const found = WIFSIGNALED(status)         ? "a step called the system"
                            : WEXITSTATUS(status) == 2 ? "a step allocated"
                            : WEXITSTATUS(status) == 3 ? "a step took a lock"
                            : WEXITSTATUS(status) == 4 ? "the sum is no number"
                                                       : "1000 steps, no allocation, lock or system call";
  std::printf("%s: %s\n", name, found);
  return status == 0;
}

}  // namespace

int main(int count, char** arguments) {
  const std::string_view fault = count > 1 ? arguments[1] : "";
  tn::tensor<float, tn::shape<1, 1, 1>> sample;
  tn::tensor<float, tn::shape<1, 48>> observation;
  sample = 0.5f, observation = 0.25f;
  bool holds = runs_in_time<effect>("lstm, gru", sample, fault);
  holds = runs_in_time<filters>("conv1d", sample, fault) && holds;
  holds = runs_in_time<policy>("linear", observation, fault) && holds;
  return holds ? 0 : 1;
}
