// pawl.hpp - the locks of Pawl for C++17: what std::lock_guard and its kin expect, and guards of their own
//
//   pawl::mutex, ticket, ...    basic_lock<traits::mutex>, ...    Lockable; without trylock, BasicLockable
//   pawl::timed_mutex           pawl_mutex                        TimedLockable
//   pawl::fair_mutex            pawl_fairmutex                    TimedLockable
//   pawl::raw<traits::mcs>      pawl_mcs and no byte more: for guard and + only
//   pawl::condition_variable    pawl_cond, over any of them
//
//   pawl::guard hold(lock);               holds the lock, and the context that unlock needs, until its end
//   int n = lock + [&] { return ++m; };   runs the lambda under the lock, and returns what it returns
//
// lock() and unlock() take no argument here, so a lock's context must live somewhere between the two. A basic_lock
// keeps it next to the lock. Only the owner touches it, and never after the release: it costs its bytes, but breaks
// no promise. A guard and + keep it on the stack, as in the papers. A lock without a context has the size of its C
// struct.
//
// Locks start unlocked, constant-initialised where the standard library permits, and are neither copied nor moved.
// Nothing here throws. Which thread may unlock, and when a lock may be destroyed, depends on the algorithm: see its
// header, or `pawl list`.
#pragma once

#include "pawl/cond.h"
#include "pawl/locks.h"

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <type_traits>
#include <utility>

// With hooks (pawl/detail/hooks.h), the same names stand for other types, so that the linker never mixes code of two
// modes. Their functions call hooks, and their destructors report the end of a lock. Without hooks there are no such
// destructors: each would cost a global lock a place in atexit()'s list.
#ifdef PAWL_HOOKED
#define PAWL_MODE_BEGIN                                                                                      \
    inline namespace PAWL_HOOKED                                                                             \
    {
#define PAWL_MODE_END }
#else
#define PAWL_MODE_BEGIN
#define PAWL_MODE_END
#endif

// A traits type for pawl_<name>, a lock of that form (locks.h). Also for locks that are not in the register, such as
// your own capacitors.
#define PAWL_TRAITS(name, form)                                                                              \
    PAWL_MODE_BEGIN                                                                                          \
    PAWL_TRAITS_HERE(name, form)                                                                             \
    PAWL_MODE_END

#define PAWL_TRAITS_HERE(name, form)                                                                         \
    struct name {                                                                                            \
        using lock_type = pawl_##name;                                                                       \
        using context = PAWL_CTX_OF(name, form);                                                             \
        static constexpr bool has_trylock = PAWL_HAS(form, TRYLOCK);                                         \
        static constexpr bool has_destroy = PAWL_HAS(form, IDLE);                                            \
        static constexpr bool requeues = PAWL_HAS(form, REQUEUE);                                            \
        static void lock(lock_type *l, context *c) noexcept                                                  \
        {                                                                                                    \
            PAWL_CALL(name, form, lock, l, c);                                                               \
        }                                                                                                    \
        static bool trylock(lock_type *l, context *c) noexcept                                               \
        {                                                                                                    \
            return PAWL_IF(form, TRYLOCK, PAWL_CALL(name, form, trylock, l, c), ((void)l, (void)c, false));  \
        }                                                                                                    \
        static void unlock(lock_type *l, context *c) noexcept                                                \
        {                                                                                                    \
            PAWL_CALL(name, form, unlock, l, c);                                                             \
        }                                                                                                    \
        static void destroy(lock_type *l) noexcept                                                           \
        {                                                                                                    \
            PAWL_IF(form, DESTROY, pawl_##name##_destroy, pawl_destroy)(l);                                  \
        }                                                                                                    \
        PAWL_IF(                                                                                             \
            form, DEADLINE,                                                                                  \
            static bool lock_until(lock_type *l, int clock, const timespec *deadline) noexcept {             \
                return pawl_##name##_clocklock(l, clock, deadline) == 0;                                     \
            }, )                                                                                             \
    };

namespace pawl
{
PAWL_MODE_BEGIN

namespace traits
{

#define PAWL_LOCK(name, form, ...) PAWL_TRAITS_HERE(name, form)
#include "pawl/locks.def"
#undef PAWL_LOCK

} // namespace traits

namespace detail
{

// With hooks, the end of a lock is reported.
#ifdef PAWL_HOOKED
inline constexpr bool tells_of_end = true;
#else
inline constexpr bool tells_of_end = false;
#endif

// `{}`, because before C++20 a default-initialised std::atomic has no value.
template <class X, bool = X::has_destroy || tells_of_end>
struct storage {
    typename X::lock_type lock{};
};

template <class X>
struct storage<X, true> {
    typename X::lock_type lock{};
    storage() = default;
    storage(const storage &) = delete;
    storage &operator=(const storage &) = delete;
    ~storage()
    {
        X::destroy(&lock);
    }
};

// Keeps a context between lock and unlock.
template <class Context>
struct shelf {
    Context context{};
    void put(const Context &c) noexcept
    {
        context = c;
    }
    Context get() const noexcept
    {
        return context;
    }
};

template <>
struct shelf<pawl_no_ctx> {
    void put(const pawl_no_ctx &) noexcept
    {
    }
    pawl_no_ctx get() const noexcept
    {
        return {};
    }
};

// Times as the C functions take them, none before the clock's epoch and none later than 250 years after it:
// hours::max() is a long time and not an overflow.
template <class Rep, class Period>
std::chrono::nanoseconds saturated(const std::chrono::duration<Rep, Period> &d) noexcept
{
    using namespace std::chrono;
    constexpr double most = 8e9;
    const double s = duration_cast<duration<double>>(d).count();
    if (!(s > 0))
        return nanoseconds::zero();
    return s < most ? ceil<nanoseconds>(d) : duration_cast<nanoseconds>(duration<double>(most));
}

inline timespec as_timespec(std::chrono::nanoseconds since_epoch) noexcept
{
    constexpr auto second = std::chrono::nanoseconds(std::chrono::seconds(1)).count();
    timespec t{};
    t.tv_sec = static_cast<decltype(t.tv_sec)>(since_epoch.count() / second);
    t.tv_nsec = static_cast<decltype(t.tv_nsec)>(since_epoch.count() % second);
    return t;
}

template <class Rep, class Period>
timespec from_now(const std::chrono::duration<Rep, Period> &d) noexcept
{
    return as_timespec(std::chrono::steady_clock::now().time_since_epoch() + saturated(d));
}

// The kernel's number for a clock, or -1. Both standard libraries map these two in this way.
template <class Clock>
inline constexpr int kernel_clock = std::is_same_v<Clock, std::chrono::steady_clock>   ? CLOCK_MONOTONIC
                                    : std::is_same_v<Clock, std::chrono::system_clock> ? CLOCK_REALTIME
                                                                                       : -1;

} // namespace detail

template <class Lock>
class guard;
class condition_variable;

// The C struct, which only guards and + can lock.
template <class X>
class raw
{
  public:
    using traits_type = X;
    using native_handle_type = typename X::lock_type *;

    raw() = default;
    raw(const raw &) = delete;
    raw &operator=(const raw &) = delete;

    native_handle_type native_handle() noexcept
    {
        return &storage_.lock;
    }

  private:
    detail::storage<X> storage_;
};

template <class X>
class basic_lock : public raw<X>, private detail::shelf<typename X::context>
{
    using context = typename X::context;
    friend class condition_variable;

  public:
    void lock() noexcept
    {
        context c;
        X::lock(this->native_handle(), &c);
        this->put(c);
    }

    // Only if the algorithm has a trylock.
    template <class T = X>
    auto try_lock() noexcept -> std::enable_if_t<T::has_trylock, bool>
    {
        context c;
        const bool locked = T::trylock(this->native_handle(), &c);
        if (locked)
            this->put(c);
        return locked;
    }

    // Copies the context first: once released, the lock is the next owner's, to write or to destroy.
    void unlock() noexcept
    {
        context c = this->get();
        X::unlock(this->native_handle(), &c);
    }

    // Only pawl_mutex: hands off to the first in its queue (pawl/mutex.h).
    template <class T = X>
    auto unlock_fair() noexcept -> std::enable_if_t<std::is_same_v<typename T::lock_type, pawl_mutex>>
    {
        pawl_mutex_unlock_fair(this->native_handle());
    }
};

template <class X>
class timed_lock : public basic_lock<X>
{
  public:
    template <class Rep, class Period>
    bool try_lock_for(const std::chrono::duration<Rep, Period> &d)
    {
        const timespec deadline = detail::from_now(d);
        return X::lock_until(this->native_handle(), CLOCK_MONOTONIC, &deadline);
    }

    template <class Clock, class Duration>
    bool try_lock_until(const std::chrono::time_point<Clock, Duration> &t)
    {
        if constexpr (detail::kernel_clock<Clock> >= 0) {
            const timespec deadline = detail::as_timespec(detail::saturated(t.time_since_epoch()));
            return X::lock_until(this->native_handle(), detail::kernel_clock<Clock>, &deadline);
        } else {
            // A clock of unknown pace: asked again after each wait, until it says that the time has come.
            do
                if (try_lock_for(t - Clock::now()))
                    return true;
            while (Clock::now() < t);
            return false;
        }
    }
};

#define PAWL_LOCK(name, ...) using name = basic_lock<traits::name>;
#include "pawl/locks.def"
#undef PAWL_LOCK

using timed_mutex = timed_lock<traits::mutex>;
using fair_mutex = timed_lock<traits::fairmutex>;

// pawl::guard g(lock) for a lock of this file. pawl::guard<pawl::mcs> g(l) also for a C struct: it must name the
// algorithm, because several share a struct.
template <class Lock>
class guard
{
    using traits = typename Lock::traits_type;
    friend class condition_variable;

  public:
    explicit guard(typename traits::lock_type &lock) noexcept : lock_(&lock)
    {
        traits::lock(lock_, &context_);
    }
    explicit guard(Lock &lock) noexcept : guard(*lock.native_handle())
    {
    }
    guard(const guard &) = delete;
    guard &operator=(const guard &) = delete;
    ~guard()
    {
        traits::unlock(lock_, &context_);
    }

  private:
    typename traits::lock_type *lock_;
    typename traits::context context_;
};

template <class X, class F>
auto operator+(raw<X> &lock, F &&f) -> std::invoke_result_t<F>
{
    guard<raw<X>> hold(lock);
    return std::forward<F>(f)();
}

// Waits with whatever holds the lock: a std::unique_lock or a guard. Concurrent waiters must use the same lock.
class condition_variable
{
  public:
    condition_variable() = default;
    condition_variable(const condition_variable &) = delete;
    condition_variable &operator=(const condition_variable &) = delete;

    void notify_one() noexcept
    {
        pawl_cond_signal(&cond_);
    }

    void notify_all() noexcept
    {
        pawl_cond_broadcast(&cond_);
    }

    template <class Holder>
    void wait(Holder &holder)
    {
        sleep(holder, 0, nullptr);
    }

    template <class Holder, class Predicate>
    void wait(Holder &holder, Predicate ready)
    {
        while (!ready())
            wait(holder);
    }

    template <class Holder, class Rep, class Period>
    std::cv_status wait_for(Holder &holder, const std::chrono::duration<Rep, Period> &d)
    {
        const timespec deadline = detail::from_now(d);
        return status(sleep(holder, CLOCK_MONOTONIC, &deadline));
    }

    template <class Holder, class Rep, class Period, class Predicate>
    bool wait_for(Holder &holder, const std::chrono::duration<Rep, Period> &d, Predicate ready)
    {
        const auto now = std::chrono::steady_clock::now().time_since_epoch();
        return wait_until(holder, std::chrono::steady_clock::time_point(now + detail::saturated(d)),
                          std::move(ready));
    }

    template <class Holder, class Clock, class Duration>
    std::cv_status wait_until(Holder &holder, const std::chrono::time_point<Clock, Duration> &t)
    {
        if constexpr (detail::kernel_clock<Clock> >= 0) {
            const timespec deadline = detail::as_timespec(detail::saturated(t.time_since_epoch()));
            return status(sleep(holder, detail::kernel_clock<Clock>, &deadline));
        } else {
            // If that clock says it is too early, return: the caller checks its condition and comes back. To sleep on
            // here could miss a signal that came in between.
            const auto slept = wait_for(holder, t - Clock::now());
            return Clock::now() < t ? std::cv_status::no_timeout : slept;
        }
    }

    template <class Holder, class Clock, class Duration, class Predicate>
    bool wait_until(Holder &holder, const std::chrono::time_point<Clock, Duration> &t, Predicate ready)
    {
        while (!ready())
            if (wait_until(holder, t) == std::cv_status::timeout)
                return ready();
        return true;
    }

    pawl_cond *native_handle() noexcept
    {
        return &cond_;
    }

  private:
    static std::cv_status status(bool signalled) noexcept
    {
        return signalled ? std::cv_status::no_timeout : std::cv_status::timeout;
    }

    template <class Lock>
    bool sleep(std::unique_lock<Lock> &holder, int clock, const timespec *deadline) noexcept
    {
        basic_lock<typename Lock::traits_type> &lock = *holder.mutex();
        auto c = lock.get();
        const bool signalled = sleep<typename Lock::traits_type>(lock.native_handle(), &c, clock, deadline);
        lock.put(c);
        return signalled;
    }

    template <class Lock>
    bool sleep(guard<Lock> &holder, int clock, const timespec *deadline) noexcept
    {
        return sleep<typename Lock::traits_type>(holder.lock_, &holder.context_, clock, deadline);
    }

    template <class X>
    bool sleep(typename X::lock_type *l, typename X::context *c, int clock, const timespec *deadline) noexcept
    {
        if constexpr (X::requeues) {
            if (deadline != nullptr)
                return pawl_cond_clockwait(&cond_, l, clock, deadline) == 0;
            pawl_cond_wait(&cond_, l);
            return true;
        } else {
            return PAWL_COND_PARTS(&cond_, X::unlock(l, c), X::lock(l, c), clock, deadline) == 0;
        }
    }

    pawl_cond cond_{};
};

PAWL_MODE_END
} // namespace pawl
