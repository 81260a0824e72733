// mutex.cc - pawl::mutex, timed_mutex, fair_mutex and condition_variable: time, and order
#include <pawl.hpp>

#include "promise.h"

#include <atomic>

using namespace std::chrono_literals;
using std::chrono::steady_clock;
using std::chrono::system_clock;

namespace
{

// A clock that the kernel does not know, and that goes at half speed.
struct slow_clock {
    using duration = std::chrono::microseconds;
    using rep = duration::rep;
    using period = duration::period;
    using time_point = std::chrono::time_point<slow_clock>;
    [[maybe_unused]] static constexpr bool is_steady = true;
    static time_point now()
    {
        return time_point(std::chrono::duration_cast<duration>(steady_clock::now().time_since_epoch()) / 2);
    }
};

// Runs it in another thread, and says how long it took, if it returned what it should; else nothing.
template <class F>
steady_clock::duration time_of(bool expected, F attempt)
{
    steady_clock::duration took{};
    std::thread([&] {
        const auto start = steady_clock::now();
        if (attempt() == expected)
            took = steady_clock::now() - start;
    }).join();
    return took;
}

template <class F>
bool succeeds(F attempt)
{
    return time_of(true, attempt) != 0ns;
}

template <class L>
void timed_promises(const char *name)
{
    L l;
    l.lock();
    const auto at_least = [&](steady_clock::duration d, auto attempt) {
        return time_of(false, attempt) >= d;
    };
    const auto at_once = [&](auto attempt) {
        const auto took = time_of(false, attempt);
        return took > 0ns && took < 30s;
    };
    promise(name, "for_waits_as_long_as_told", at_least(20ms, [&] { return l.try_lock_for(20ms); }));
    promise(name, "for_takes_fractions",
            at_least(15ms, [&] { return l.try_lock_for(std::chrono::duration<double>(0.015)); }));
    promise(name, "until_waits_by_the_steady_clock",
            at_least(19ms, [&] { return l.try_lock_until(steady_clock::now() + 20ms); }));
    promise(name, "until_waits_by_the_system_clock",
            at_least(19ms, [&] { return l.try_lock_until(system_clock::now() + 20ms); }));
    promise(name, "until_waits_by_any_clock",
            at_least(39ms, [&] { return l.try_lock_until(slow_clock::now() + 20ms); }));
    promise(name, "for_nothing_returns_at_once", at_once([&] { return l.try_lock_for(0s); }));
    promise(name, "for_less_than_nothing_returns_at_once",
            at_once([&] { return l.try_lock_for(std::chrono::hours::min()); }));
    promise(name, "until_the_past_returns_at_once",
            at_once([&] { return l.try_lock_until(steady_clock::time_point::min()); }) &&
                at_once([&] { return l.try_lock_until(system_clock::time_point::min()); }) &&
                at_once([&] { return l.try_lock_until(slow_clock::now() - 1h); }));

    // Long times are not past ones: the attempt must still be under way when the lock is released.
    std::atomic<int> got{0};
    std::vector<std::thread> patient;
    const auto wait = [&](auto attempt) {
        patient.emplace_back([&, attempt] {
            if (attempt()) {
                got++;
                l.unlock();
            }
        });
    };
    wait([&] { return l.try_lock_for(std::chrono::hours::max()); });
    wait([&] { return l.try_lock_for(30s); });
    wait([&] { return l.try_lock_until(steady_clock::time_point::max()); });
    wait([&] { return l.try_lock_until(system_clock::time_point::max()); });
    std::this_thread::sleep_for(20ms);
    promise(name, "nobody_enters_a_held_lock", got == 0);
    l.unlock();
    for (auto &p : patient)
        p.join();
    promise(name, "waits_long_if_told_so", got == 4);

    promise(name, "unique_lock_takes_a_duration",
            succeeds([&] { return std::unique_lock(l, 1s).owns_lock(); }));
    promise(name, "unique_lock_takes_a_time",
            succeeds([&] { return std::unique_lock(l, system_clock::now()).owns_lock(); }));
    promise(name, "is_free_in_the_end",
            succeeds([&] { return std::unique_lock(l, std::try_to_lock).owns_lock(); }));
}

// That it hands off is for tests/mutex/handoff.c to see.
template <class L>
void handoff_promises(const char *name)
{
    L l;
    int entered = 0;
    team(3, [&] {
        for (int i = 0; i < 300; i++) {
            l.lock();
            entered++;
            l.unlock_fair();
        }
    });
    promise(name, "excludes_with_unlock_fair", entered == 900 && l.try_lock());
    l.unlock_fair();
}

template <class L>
void mutex_promises(const char *name)
{
    L l, m;
    int entered = 0;
    team(4, [&] {
        for (int i = 0; i < 3000; i++) {
            std::lock_guard held(l);
            entered++;
        }
    });
    promise(name, "excludes_with_lock_guard", entered == 12000);
    team(4, [&] {
        for (int i = 0; i < 3000; i++)
            l + [&] { entered++; };
    });
    promise(name, "excludes_with_lambda", entered == 24000);
    team(4, [&] {
        static std::atomic<unsigned> number{0};
        const bool turned = number++ % 2 != 0;
        for (int i = 0; i < 1000; i++) {
            std::scoped_lock both(turned ? m : l, turned ? l : m);
            entered++;
        }
    });
    promise(name, "excludes_with_scoped_lock_in_both_orders", entered == 28000);

    l.lock();
    promise(name, "try_lock_refuses_a_held_lock", time_of(false, [&] { return l.try_lock(); }) > 0ns);
    l.unlock();
    try {
        l + [] { throw 1; };
    } catch (int) {
    }
    promise(name, "exception_releases_the_lock", succeeds([&] {
                std::unique_lock held(l, std::try_to_lock);
                return held.owns_lock();
            }));
}

// Tokens pass from producers to consumers; each is counted once.
template <class L, class Condition>
void queue_promises(const char *name, const char *what)
{
    constexpr int tokens = 1000;
    L l;
    Condition changed;
    int ready = 0, taken = 0;
    std::thread producer([&] {
        for (int i = 0; i < tokens; i++) {
            std::unique_lock held(l);
            ready++;
            held.unlock();
            changed.notify_one();
        }
    });
    team(3, [&] {
        for (;;) {
            std::unique_lock held(l);
            changed.wait(held, [&] { return ready > 0 || taken == tokens; });
            if (taken == tokens)
                return;
            ready--;
            if (++taken == tokens)
                changed.notify_all();
        }
    });
    producer.join();
    promise(name, what, taken == tokens && ready == 0);
}

template <class L>
void condition_promises(const char *name)
{
    queue_promises<L, pawl::condition_variable>(name, "works_with_condition_variable");
    queue_promises<L, std::condition_variable_any>(name, "works_with_condition_variable_any");

    L l;
    pawl::condition_variable never;
    const auto at_least = [&](steady_clock::duration d, auto attempt) {
        return time_of(false, attempt) >= d;
    };
    const auto timed_out = [&](auto wait) {
        std::unique_lock held(l);
        return wait(held) != std::cv_status::timeout;
    };
    promise(name, "wait_for_times_out", at_least(20ms, [&] {
                return timed_out([&](auto &held) { return never.wait_for(held, 20ms); });
            }));
    promise(name, "wait_until_times_out_by_the_steady_clock", at_least(19ms, [&] {
                return timed_out(
                    [&](auto &held) { return never.wait_until(held, steady_clock::now() + 20ms); });
            }));
    promise(name, "wait_until_times_out_by_the_system_clock", at_least(19ms, [&] {
                return timed_out(
                    [&](auto &held) { return never.wait_until(held, system_clock::now() + 20ms); });
            }));
    promise(name, "wait_until_with_predicate_times_out_by_any_clock", at_least(39ms, [&] {
                std::unique_lock held(l);
                return never.wait_until(held, slow_clock::now() + 20ms, [] { return false; });
            }));
    promise(name, "wait_for_with_predicate_takes_what_is_true", succeeds([&] {
                pawl::guard held(l);
                return never.wait_for(held, std::chrono::hours::max(), [] { return true; });
            }));

    pawl::condition_variable changed;
    bool open = false;
    std::atomic<int> through{0};
    std::vector<std::thread> waiters;
    for (int i = 0; i < 4; i++)
        waiters.emplace_back([&] {
            pawl::guard held(l);
            if (changed.wait_for(held, 30s, [&] { return open; }))
                through++;
        });
    std::this_thread::sleep_for(5ms);
    l + [&] { open = true; };
    changed.notify_all();
    for (auto &w : waiters)
        w.join();
    promise(name, "notify_all_reaches_all", through == 4);
}

} // namespace

int main()
{
    mutex_promises<pawl::mutex>("mutex");
    mutex_promises<pawl::timed_mutex>("timed_mutex");
    mutex_promises<pawl::fair_mutex>("fair_mutex");
    timed_promises<pawl::timed_mutex>("timed_mutex");
    timed_promises<pawl::fair_mutex>("fair_mutex");
    handoff_promises<pawl::mutex>("mutex");
    handoff_promises<pawl::timed_mutex>("timed_mutex");
    condition_promises<pawl::mutex>("mutex");
    condition_promises<pawl::timed_mutex>("timed_mutex");
    condition_promises<pawl::fair_mutex>("fair_mutex");
    condition_promises<pawl::ticket>("ticket");
    condition_promises<pawl::mcs>("mcs");
    return verdict();
}
