// tenon/grad/trace_step.hpp: one step of a traced program, what links steps, and the walk back through them.
// Steps are counted by their users; one that nobody needs goes back to a pool of its type, with its memory.
// Floor 6: may include base, core, evaluate, grad.
// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <tenon/core/buffer.hpp>
#include <tenon/evaluate.hpp>
#include <tenon/grad/kept_blocks.hpp>
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
  [[nodiscard("tenon: give no_grad a name; without one it ends with its line")]] no_grad()
      : before_(std::exchange(detail::is_tracing, false)) {}
  ~no_grad() { detail::is_tracing = before_; }
  no_grad(const no_grad&) = delete;
  no_grad& operator=(const no_grad&) = delete;

 private:
  bool before_;
};

namespace detail {

class trace_step;

/// One user of a step less. A step that nobody needs is given back, and so are those that only it needed.
void lose_user(trace_step* step);

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
  ~step_link() { lose_user(step_); }
  /// The link itself, in the place of one that is about to end: nobody counts.
  step_link handed_over() { return step_link(std::exchange(step_, nullptr), counted{}); }
  Step* get() const { return step_; }
  Step* operator->() const { return step_; }
  Step& operator*() const { return *step_; }

 private:
  struct counted {};
  step_link(Step* step, counted) : step_(step) {}

  Step* step_;
};

/// A step of a program, without the type of its value. Its gradients belong to the backward pass that runs, or to the
/// last one.
class trace_step {
 public:
  bool needs_gradient = false;  ///< whether a variable or parameter is among what it was made of
  bool meets_frozen = false;    ///< whether a frozen parameter is, so that a pass may leave nothing
  bool has_gradient = false;    ///< whether the pass has come to it

  trace_step() = default;
  trace_step(const trace_step&) = delete;
  trace_step& operator=(const trace_step&) = delete;
  [[gnu::noinline]] virtual ~trace_step() {}

  /// Adds to the gradients of the values that this one was made of.
  virtual void pull_back() {}
  virtual bool is_variable() const { return false; }
  /// throws    error where parameters that the way back reads are gone, or were changed
  virtual void must_be_current() const {}
  /// Computes what the gradient that the caller sees is to be; of variables.
  virtual void prepare_gradient() {}
  /// Shows it.
  virtual void take_gradient() {}
  /// Forgets what it holds, before it goes back to its pool.
  virtual void forget() {}
  /// How many elements it has memory for.
  virtual index capacity() const { return 0; }

  void add_input(trace_step* input) {
    if (!is_tracing) return;
    meets_frozen = meets_frozen || input->meets_frozen;
    if (!input->needs_gradient) return;
    inputs_.emplace_back(input);
    needs_gradient = true;
  }
  /// Keeps the memory of a tensor's or a view's elements; other leaves keep their own.
  template <class T, class Shape, class Space>
  void keep_elements(const leaf<T, Shape, Space>& input) {
    read_.add(input.elements.data());
  }
  void keep_elements(const auto&) {}
  void keep_no_elements() { read_.clear(); }
  void add_owner() { __atomic_fetch_add(&owners_, 1, __ATOMIC_RELAXED); }
  std::uint64_t number() const { return number_; }
  /// Whether a backward pass has begun here.
  bool has_led_back() const { return !walk_.empty(); }
  /// Whether there is none now. The only one there is needs no turn among others, which a processor waits for.
  bool lose_owner() {
    if (__atomic_load_n(&owners_, __ATOMIC_ACQUIRE) == 1) return owners_ = 0, true;
    return __atomic_sub_fetch(&owners_, 1, __ATOMIC_ACQ_REL) == 0;
  }

 private:
  friend void run_backward(trace_step& last, std::uint64_t first);
  friend class step_pool;

  std::vector<step_link<trace_step>> inputs_;
  read_blocks read_;
  list<trace_step*> walk_;      // of a pass that begins here
  trace_step* next_ = nullptr;  // of those that are given back
  const void* kind_ = nullptr;  // which pool it came from
  std::uint64_t number_ = 0;    // in the order in which steps ran
  std::uint64_t seen_ = 0;      // the last pass that came by
  long owners_ = 0;
};

/// Steps that nobody needs, on this thread, by their type.
class step_pool {
 public:
  /// One of a type whose memory fits `count` elements best; none where there is none.
  static trace_step* take(const void* kind, index count) {
    if (is_gone_) return nullptr;
    auto& idle = list_of(kind).steps;
    if (idle.empty()) return nullptr;
    std::size_t best = idle.size() - 1;
    for (std::size_t i = best; i-- > 0 && idle[best]->capacity() != count;) {
      if (fits_better(idle[i]->capacity(), idle[best]->capacity(), count)) best = i;
    }
    trace_step* const taken = std::exchange(idle[best], idle.back());
    idle.pop_back();
    return taken;
  }
  /// Makes room for the way back of a step that is made, so that it cannot fail.
  static void expect(const void* kind) {
    if (is_gone_) return;
    idle_steps& expecting = list_of(kind);
    expecting.steps.reserve(++expecting.made);
  }
  static void begin(trace_step& step, const void* kind) {
    static std::uint64_t last = 0;
    step.kind_ = kind;
    step.number_ = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  }
  static void clear() {
    if (!is_gone_) lists_.clear();
  }
  static void give(trace_step& step) {
    step.forget();
    step.inputs_.clear();
    step.walk_.clear();
    step.keep_no_elements();
    step.needs_gradient = step.meets_frozen = step.has_gradient = false;
    idle_steps* const own = is_gone_ ? nullptr : find(step.kind_);
    if (own != nullptr && own->steps.size() < own->steps.capacity()) own->steps.push_back(&step);
    else delete &step;
  }
  // Out of line, as links go with every leaf; a loop, as chains may be long.
  [[gnu::noinline]] static void lose_user(trace_step* step) {
    static thread_local trace_step* waiting = nullptr;
    static thread_local bool is_busy = false;
    if (step == nullptr || !step->lose_owner()) return;
    step->next_ = std::exchange(waiting, step);
    if (std::exchange(is_busy, true)) return;
    while (waiting != nullptr) {
      trace_step* const next = waiting;
      waiting = std::exchange(next->next_, nullptr);
      give(*next);
    }
    is_busy = false;
  }

 private:
  struct idle_steps {
    const void* kind;
    idle_steps* next;
    list<trace_step*> steps{};
    std::size_t made = 0;
  };
  struct lists {
    idle_steps* first;

    ~lists() {
      is_gone_ = true;
      clear();
    }
    void clear() {
      while (first != nullptr) {
        idle_steps* const last = std::exchange(first, first->next);
        for (trace_step* each : last->steps) delete each;
        delete last;
      }
    }
  };
  static idle_steps* find(const void* kind) {
    idle_steps* each = lists_.first;
    while (each != nullptr && each->kind != kind) each = each->next;
    return each;
  }
  static idle_steps& list_of(const void* kind) {
    idle_steps* const found = find(kind);
    return found != nullptr ? *found : *(lists_.first = new idle_steps{kind, lists_.first});
  }
  static bool fits_better(index left, index right, index count) {
    return left >= count ? right < count || left < right : right < count && left > right;
  }
  inline static thread_local bool is_gone_ = false;  // destructors that run later make and destroy each step
  inline static thread_local lists lists_{nullptr};
};

inline void lose_user(trace_step* step) { step_pool::lose_user(step); }

[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_changed(const char* name) {
  throw error(compose_text("backward: ", name,
                           ": a step, loading or an assignment has changed what the way back reads; call backward "
                           "before it, or compute the value again behind it"));
}
[[noreturn, gnu::cold, gnu::noinline]] inline void refuse_gone(const char* name) {
  throw error(compose_text("backward: ", name,
                           ": it was destroyed or moved since it was called; keep it where it is until backward"));
}

/// From the gradient of the last step to those of all variables that it was made of.
/// throws    error where a step before number `first` is among them, or one whose parameters are gone or were changed
inline void run_backward(trace_step& last, std::uint64_t first) {
  last.has_gradient = true;
  if (!last.needs_gradient) return;
  static std::uint64_t passes = 0;
  const std::uint64_t pass = last.seen_ = __atomic_add_fetch(&passes, 1, __ATOMIC_RELAXED);
  auto& walk = last.walk_;
  walk.clear();
  walk.push_back(&last);
  for (std::size_t i = 0; i < walk.size(); ++i) {
    for (const auto& input : walk[i]->inputs_) {
      if (input->number_ < first) {
        throw error("checkpoint: the function reads a traced value from outside; make it one of the inputs");
      }
      if (std::exchange(input->seen_, pass) != pass) walk.push_back(input.get()), input->has_gradient = false;
    }
  }
  for (const trace_step* each : walk) each->must_be_current();
  std::sort(walk.begin(), walk.end(), [](const auto* a, const auto* b) { return a->number_ > b->number_; });
  for (trace_step* each : walk) {
    if (each->has_gradient) each->pull_back();
  }
  for (trace_step* each : walk) {
    if (each->has_gradient) each->prepare_gradient();
  }
  for (trace_step* each : walk) {
    if (each->has_gradient) each->take_gradient();
  }
}

/// throws    error for a value that no backward pass leads anywhere from
inline void must_lead_back(const trace_step& last) {
  if (last.needs_gradient || last.meets_frozen) return;
  throw error(
      "backward: this value was made of no variable and of no parameter (no_grad, detached() and gradient() leave "
      "constants); make it of v = variable(x), or of what a network makes");
}

/// A value that is assigned to a traced one has its rank, and those of its extents that types know.
template <class Kept, class Given>
consteval void must_keep_shape() {
  static_assert(shapes_agree<Kept, Given>() || must_hold<Kept, Given>,
                "tenon: a traced value keeps its rank and static extents when it is assigned; give a value of another "
                "shape a name of its own");
}

/// The type of a step, as an address.
template <class Step>
inline constexpr char step_kind = 0;

/// A step of a type, as new.
template <class Step>
Step& taken_step(index count) {
  const void* const kind = &step_kind<Step>;
  trace_step* step = step_pool::take(kind, count);
  if (step == nullptr) step_pool::expect(kind), step = new Step;
  step_pool::begin(*step, kind);
  return static_cast<Step&>(*step);
}

/// A step with a value and its gradient, as elements in a row: steps of all shapes share this.
template <class T, class Space>
class value_memory : public trace_step {
 public:
  using elements = buffer<T, rank<1>, Space>;
  elements memory;  ///< the value, unless it lies elsewhere

  index capacity() const override { return memory.capacity(); }
  T* gradient() { return gradient_.current().data(); }

  /// Where one more gradient of the value is written, before `add_next_gradient`.
  T* next_gradient(index count) { return (has_gradient ? next_ : gradient_).resize(rank<1>(count)).data(); }
  void add_next_gradient() {
    if (has_gradient) gradient_.current() = gradient_.current() + next_.current();
    has_gradient = true;
  }
  /// Adds a gradient whose memory is no longer needed, and gives other memory for it.
  void take_over(elements& part) {
    next_gradient(part.current().size());
    std::swap(has_gradient ? next_ : gradient_, part);
    add_next_gradient();
  }
  /// Gives the gradient away.
  elements& gradient_memory() { return gradient_; }

 private:
  elements gradient_, next_;
};

/// The same under its shape.
template <class T, class Shape, class Space>
struct value_step : value_memory<T, Space> {
  using base = value_memory<T, Space>;
  using view_type = view<T, Shape, Space>;

  view_type value(const Shape& shape) { return {base::memory.resize(rank<1>(shape.count())).data(), shape}; }
  view_type gradient_under(const Shape& shape) { return {base::gradient(), shape}; }

  /// Adds to the gradient.
  template <class Part>
  void add_gradient(const Shape& shape, const Part& part) {
    view_type(base::next_gradient(shape.count()), shape) = part;
    base::add_next_gradient();
  }
};

}  // namespace detail

/// Frees the memory that this thread keeps for steps of traced programs to come.
inline void free_traced_memory() { detail::step_pool::clear(); }

}  // namespace tenon
