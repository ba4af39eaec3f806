// tenon/grad/trace_step.hpp: one step of a traced program, what links steps, and the walk back through them.
// Steps are counted by their users; one that nobody needs goes back to a pool of its type, with its memory.
// Floor 6: may include base, core, evaluate, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <memory>
#include <tenon/core/buffer.hpp>
#include <tenon/evaluate.hpp>
#include <vector>

namespace tenon {

namespace detail {

/// Whether steps remember what they were made of, on this thread.
inline thread_local bool is_tracing = true;

}  // namespace detail

/// While one lives, what this thread computes is not traced, and nothing is kept for gradients.
/// example   const no_grad testing; const auto answers = evaluated_tensor(argmax(net(images), axis<-1>));
class no_grad {
 public:
  no_grad() : before_(std::exchange(detail::is_tracing, false)) {}
  ~no_grad() { detail::is_tracing = before_; }
  no_grad(const no_grad&) = delete;
  no_grad& operator=(const no_grad&) = delete;

 private:
  bool before_;
};

namespace detail {

class trace_step;

/// Gives back a step that nobody needs, and those that only it needed; a loop, as chains may be long.
void retire(trace_step& step);

/// Keeps a step.
template <class Step>
class step_link {
 public:
  explicit step_link(Step* step) : step_(step) { step_->add_owner(); }
  step_link(const step_link& other) : step_link(other.step_) {}
  step_link& operator=(step_link other) {
    std::swap(step_, other.step_);
    return *this;
  }
  ~step_link() {
    if (step_->lose_owner()) retire(*step_);
  }
  Step* get() const { return step_; }
  Step* operator->() const { return step_; }
  Step& operator*() const { return *step_; }

 private:
  Step* step_;
};

/// A step of a program, whatever the type of its value. Its gradients are those of the pass that runs, or of the last.
class trace_step {
 public:
  bool needs_gradient = false;  ///< whether a variable or parameter is among what it was made of
  bool has_gradient = false;    ///< whether the pass has come to it

  trace_step() = default;
  trace_step(const trace_step&) = delete;
  trace_step& operator=(const trace_step&) = delete;
  virtual ~trace_step() = default;

  /// Adds to the gradients of what the value was made of.
  virtual void pull_back() {}
  virtual bool is_variable() const { return false; }
  /// Adds what a pass left to the gradient that the caller sees; of variables.
  virtual void take_gradient() {}
  /// Forgets what it holds, and goes back to its pool.
  virtual void let_go() = 0;

  void add_input(trace_step* input) {
    if (!is_tracing || !input->needs_gradient) return;
    inputs_.emplace_back(input);
    needs_gradient = true;
  }
  void forget_inputs() {
    inputs_.clear();
    needs_gradient = has_gradient = false;
  }
  /// Steps have numbers in the order in which they ran.
  void begin() {
    static std::uint64_t last = 0;
    number_ = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  }
  void add_owner() { __atomic_fetch_add(&owners_, 1, __ATOMIC_RELAXED); }
  bool lose_owner() { return __atomic_sub_fetch(&owners_, 1, __ATOMIC_ACQ_REL) == 0; }

 private:
  friend void run_backward(trace_step& last);
  friend void retire(trace_step& step);

  std::vector<step_link<trace_step>> inputs_;
  std::vector<trace_step*> walk_;  // of a pass that begins here
  trace_step* next_ = nullptr;     // of those that are given back
  std::uint64_t number_ = 0;
  long owners_ = 0;
};

inline void retire(trace_step& step) {
  static thread_local trace_step* waiting = nullptr;
  static thread_local bool is_busy = false;
  step.next_ = std::exchange(waiting, &step);
  if (std::exchange(is_busy, true)) return;
  while (waiting != nullptr) {
    trace_step* const next = waiting;
    waiting = std::exchange(next->next_, nullptr);
    next->let_go();
  }
  is_busy = false;
}

/// From the gradient of the last step to those of all variables that it was made of.
inline void run_backward(trace_step& last) {
  last.has_gradient = true;
  if (!last.needs_gradient) return;
  auto& walk = last.walk_;
  walk.assign(1, &last);
  for (std::size_t i = 0; i < walk.size(); ++i) {
    for (const auto& input : walk[i]->inputs_) {
      if (input->next_ == nullptr) input->next_ = walk[i], walk.push_back(input.get()), input->has_gradient = false;
    }
  }
  for (trace_step* each : walk) each->next_ = nullptr;
  std::sort(walk.begin(), walk.end(), [](const auto* a, const auto* b) { return a->number_ > b->number_; });
  for (trace_step* each : walk) {
    if (each->has_gradient) each->pull_back();
  }
  for (trace_step* each : walk) {
    if (each->has_gradient) each->take_gradient();
  }
}

/// Steps of one type that nobody needs, on this thread.
template <class Step>
class step_pool {
 public:
  /// One whose memory fits `count` elements best; a new one where there is none.
  static Step& take(index count) {
    auto& idle = idle_.steps;
    if (idle.empty()) return idle.reserve(++idle_.made), *new Step;
    std::size_t best = idle.size() - 1;
    for (std::size_t i = best; i-- > 0 && idle[best]->memory.capacity() != count;) {
      if (fits_better(idle[i]->memory.capacity(), idle[best]->memory.capacity(), count)) best = i;
    }
    std::swap(idle[best], idle.back());
    Step* const taken = idle.back().release();
    idle.pop_back();
    return *taken;
  }
  static void give(Step& step) {
    const bool has_room = !is_gone_ && idle_.steps.size() < idle_.steps.capacity();
    if (has_room) idle_.steps.emplace_back(&step);
    else delete &step;
  }

 private:
  struct list {
    std::vector<std::unique_ptr<Step>> steps;  // with room for all that were made here, so that none fails to go back
    std::size_t made = 0;
    ~list() { is_gone_ = true; }
  };
  static bool fits_better(index left, index right, index count) {
    return left >= count ? right < count || left < right : right < count && left > right;
  }
  inline static thread_local bool is_gone_ = false;
  inline static thread_local list idle_;
};

/// A step of a type, as new.
template <class Step>
Step& taken_step(index count) {
  Step& step = step_pool<Step>::take(count);
  step.begin();
  return step;
}
/// What a step's `let_go` ends with.
template <class Step>
void recycle(Step& step) {
  step.forget_inputs();
  step_pool<Step>::give(step);
}

/// A step with a value and the gradient of it.
template <class T, class Shape, class Space>
struct value_step : trace_step {
  buffer<T, Shape, Space> memory;  ///< the value, unless it lies elsewhere
  buffer<T, Shape, Space> gradient, spare;

  /// Adds to the gradient.
  template <class Part>
  void add_gradient(const Shape& shape, const Part& part) {
    if (has_gradient) gradient.current() = gradient.current() + part;
    else gradient.resize(shape) = part;
    has_gradient = true;
  }
  /// Adds a gradient whose memory is no longer needed.
  void take_over(const Shape& shape, buffer<T, Shape, Space>& part) {
    if (has_gradient) add_gradient(shape, as_node(part.current()));
    else std::swap(gradient, part);
    has_gradient = true;
  }
  /// Adds what `write(view)` writes.
  template <class Write>
  void add_written(const Shape& shape, const Write& write) {
    if (!has_gradient) {
      write(gradient.resize(shape));
    } else {
      const auto more = spare.resize(shape);
      write(more);
      gradient.current() = gradient.current() + more;
    }
    has_gradient = true;
  }
};

}  // namespace detail

}  // namespace tenon
