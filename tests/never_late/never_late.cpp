// tests/never_late/never_late.cpp: samples of a stream in a process whose system calls kill it, on a thread that is new
// to the stream; replaced functions count allocations and locks. `never_late WHAT` prints what was seen, and fails
// where it is not nothing.
// SPDX-License-Identifier: Apache-2.0
#include <tenon/nn/gru.hpp>
#include <tenon/nn/lstm.hpp>
#include <tenon/nn/rnn.hpp>
#include <tenon/nn/stream.hpp>

#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

namespace {

thread_local bool is_watched = false;
thread_local int allocations = 0, locks = 0;

void count(int& what) {
  if (is_watched) ++what;
}

}  // namespace

extern "C" {

void* __libc_malloc(std::size_t bytes);
void* __libc_calloc(std::size_t count, std::size_t bytes);
void* __libc_realloc(void* memory, std::size_t bytes);
void* __libc_memalign(std::size_t alignment, std::size_t bytes);
void __libc_free(void* memory);

// What C and C++ allocate by, of which operator new is made.
void* malloc(std::size_t bytes) { return count(allocations), __libc_malloc(bytes); }
void* calloc(std::size_t number, std::size_t bytes) { return count(allocations), __libc_calloc(number, bytes); }
void* realloc(void* memory, std::size_t bytes) { return count(allocations), __libc_realloc(memory, bytes); }
void* aligned_alloc(std::size_t alignment, std::size_t bytes) {
  return count(allocations), __libc_memalign(alignment, bytes);
}
int posix_memalign(void** memory, std::size_t alignment, std::size_t bytes) {
  return count(allocations), *memory = __libc_memalign(alignment, bytes), *memory == nullptr ? ENOMEM : 0;
}
void free(void* memory) { count(allocations), __libc_free(memory); }

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using function = int (*)(pthread_mutex_t*);
  static const function real = reinterpret_cast<function>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  return count(locks), real(mutex);
}

}  // extern "C"

namespace {

namespace nn = tenon::nn;

/// From here on the only system call of this thread that does not kill the process is its end.
void forbid_system_calls() {
  sock_filter program[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog filter{static_cast<unsigned short>(std::size(program)), program};
  if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0) {
    _exit(77);
  }
}

/// What a child says by its status, as it may not write.
struct seen {
  int allocations, locks;
  bool is_killed, is_skipped;
};

/// Runs `body` on a thread of its own of a process of its own, under watch.
template <class Body>
seen watched(const Body& body) {
  const pid_t child = fork();
  if (child == 0) {
    std::thread([&] {
      ::operator delete(::operator new(8));  // the first of a thread makes calls, which would hide the counts
      forbid_system_calls();
      is_watched = true;
      body();
      is_watched = false;
      _exit(std::min(allocations, 7) * 8 + std::min(locks, 7));
    }).join();
  }
  int status = 0;
  waitpid(child, &status, 0);
  if (WIFSIGNALED(status)) return {0, 0, WTERMSIG(status) == SIGSYS, false};
  return {WEXITSTATUS(status) / 8, WEXITSTATUS(status) % 8, false, WEXITSTATUS(status) == 77};
}

/// Every kind of layer that streams, and expressions around them.
struct voice : nn::module<voice> {
  nn::conv1d<1, 16, 3, nn::conv1d_options{.dilation = 2}> taps;
  nn::batch_norm<16> norm;
  nn::lstm<16, 16> lstm;
  nn::gru<16, 24> gru;
  nn::layer_norm<tenon::shape<24>> second_norm;
  nn::rnn<24, 80> rnn;
  nn::dropout zeros{0.1};
  nn::linear<80, 130> wide;
  nn::linear<130, 1> head;
  auto forward(const auto& x) {
    const auto features = lstm(tenon::tanh(norm(taps(x)))).sequence;
    const auto once = nn::silu{}(second_norm(gru(features).sequence));
    const auto hidden = tenon::softmax(wide(zeros(rnn(once).sequence)), tenon::axis<-1>);
    return head(hidden) + 0.5f * x;
  }
};

}  // namespace

int main(int count_of_arguments, char** arguments) {
  const std::string_view what = count_of_arguments > 1 ? arguments[1] : "stream";
  voice net;
  net.initialise(1);
  nn::stream use(net, tenon::shape<1>{});
  std::mutex mutex;
  float last = 0;
  const int samples = what == "stream" ? 10000 : 1;
  const seen found = watched([&] {
    if (what == "allocates") ::operator delete(::operator new(8));
    if (what == "locks") const std::lock_guard held(mutex);
    if (what == "calls") getppid();
    if (what == "yields") std::this_thread::yield();
    for (int i = 0; i < samples; ++i) last = use.next(last * 0.5f + 0.1f);
    use.reset();
  });
  if (found.is_skipped) return std::puts("no seccomp here"), 77;
  if (found.is_killed) return std::puts("killed at a system call"), 1;
  std::printf("%d samples: %d allocations, %d locks, no system call\n", samples, found.allocations, found.locks);
  return found.allocations + found.locks == 0 ? 0 : 1;
}
