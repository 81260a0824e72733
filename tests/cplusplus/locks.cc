// locks.cc - every lock of the register, and the mutexes, in every way that C++ has to hold one
#include <pawl.hpp>

#include "promise.h"

#include <atomic>
#include <memory>
#include <stdexcept>
#include <string>

namespace
{

constexpr int threads = 3, rounds = 1500;

template <class L, class = void>
struct has_trylock : std::false_type {
};
template <class L>
struct has_trylock<L, std::void_t<decltype(std::declval<L &>().try_lock())>> : std::true_type {
};

int entered; // sections

void section()
{
    entered++;
}

// Whether nothing was lost.
bool excludes(task enter)
{
    entered = 0;
    team(threads, [&] {
        for (int i = 0; i < rounds; i++)
            enter();
    });
    return entered == threads * rounds;
}

// Whether another thread finds it free: by trylock if there is one, else by coming back at all.
template <class L>
bool is_free(L &l)
{
    bool free = true;
    alone([&] {
        if constexpr (has_trylock<L>::value)
            free = l.try_lock();
        else
            l.lock();
        if (free)
            l.unlock();
    });
    return free;
}

template <class L>
void trylock_promises(const char *name)
{
    L l;
    {
        std::unique_lock held(l, std::try_to_lock);
        promise(name, "try_lock_takes_a_free_lock", held.owns_lock());
        promise(name, "try_lock_refuses_a_held_lock", !is_free(l));
    }
    promise(name, "unique_lock_releases", is_free(l));
    promise(name, "excludes_with_try_lock", excludes([&] {
                std::unique_lock held(l, std::try_to_lock);
                if (!held)
                    held.lock();
                section();
            }));

    pawl::mutex m;
    promise(name, "excludes_with_scoped_lock_of_two_kinds", excludes([&] {
                // In either order: std::lock sorts it out.
                static thread_local bool turned;
                if ((turned = !turned)) {
                    std::scoped_lock both(l, m);
                    section();
                } else {
                    std::scoped_lock both(m, l);
                    section();
                }
            }));
}

template <class L>
void exception_promises(const char *name)
{
    L l;
    std::string what;
    try {
        l + [&]() -> int { throw std::runtime_error("thrown inside"); };
    } catch (const std::runtime_error &e) {
        what = e.what();
    }
    promise(name, "exception_passes_the_lambda", what == "thrown inside");
    promise(name, "exception_releases_the_lock", is_free(l));
    int n = 41;
    int &same = l + [&]() -> int & { return ++n; };
    promise(name, "lambda_result_comes_back", &same == &n && n == 42);
    promise(name, "lambda_result_may_be_moved", *(l + [] { return std::make_unique<int>(7); }) == 7);
}

template <class L>
void promises(const char *name)
{
    using X = typename L::traits_type;
    L l;
    promise(name, "excludes_with_lock_guard", excludes([&] {
                std::lock_guard held(l);
                section();
            }));
    promise(name, "excludes_with_guard", excludes([&] {
                pawl::guard held(l);
                section();
            }));
    promise(name, "excludes_with_lambda", excludes([&] { l + section; }));
    promise(name, "excludes_with_all_of_them", excludes([&] {
                static thread_local int turn;
                switch (turn++ % 3) {
                case 0: {
                    std::lock_guard held(l);
                    return section();
                }
                case 1: {
                    pawl::guard held(l);
                    return section();
                }
                default:
                    return l + section;
                }
            }));

    pawl::raw<X> bare;
    promise(name, "excludes_when_bare", excludes([&] { bare + section; }));
    typename X::lock_type c_struct{};
    promise(name, "excludes_with_guard_of_the_c_struct", excludes([&] {
                pawl::guard<L> held(c_struct);
                section();
            }));
    X::destroy(&c_struct);

    // Several held, released in any order: no context is mistaken for another's.
    auto several = std::make_unique<L[]>(3);
    promise(name, "excludes_when_several_are_held", excludes([&] {
                several[0].lock();
                several[1].lock();
                pawl::guard last(several[2]);
                section();
                several[0].unlock();
                several[1].unlock();
            }));

    exception_promises<L>(name);
    if constexpr (has_trylock<L>::value)
        trylock_promises<L>(name);
}

// A ping-pong under std::condition_variable_any, which unlocks and locks what it is given.
template <class L>
void any_promises(const char *name)
{
    L l;
    std::condition_variable_any changed;
    std::atomic<int> players{0};
    int turn = 0;
    team(2, [&] {
        int me = players++;
        for (int i = 0; i < 300; i++) {
            std::unique_lock held(l);
            while (turn % 2 != me)
                changed.wait(held);
            turn++;
            changed.notify_all();
        }
    });
    promise(name, "works_with_condition_variable_any", turn == 600);
}

// The same with pawl::condition_variable: one side holds a unique_lock, the other a guard.
template <class L>
void condition_promises(const char *name)
{
    L l;
    pawl::condition_variable changed;
    std::atomic<int> players{0};
    int turn = 0;
    auto play = [&](auto &held, int me) {
        for (int i = 0; i < 300; i++) {
            changed.wait(held, [&] { return turn % 2 == me; });
            turn++;
            changed.notify_one();
        }
    };
    team(2, [&] {
        if (players++ == 0) {
            pawl::guard held(l);
            return play(held, 1);
        }
        std::unique_lock held(l);
        play(held, 0);
        promise(name, "unique_lock_still_owns_after_wait", held.owns_lock());
    });
    promise(name, "works_with_condition_variable", turn == 600);
    promise(name, "is_free_after_waits", is_free(l));
}

template <class L>
void all(const char *name)
{
    promises<L>(name);
    any_promises<L>(name);
    condition_promises<L>(name);
}

} // namespace

int main()
{
#define PAWL_LOCK(name, ...) all<pawl::name>(#name);
#include <pawl/locks.def>
#undef PAWL_LOCK
    return verdict();
}
