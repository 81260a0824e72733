/* standard.cc - every mutex, lock and condition variable of the C++20 library: standard ROUNDS
 *
 * Four threads do the same with each; what they count must come out exactly.
 */
#include <atomic>
#include <barrier>
#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <future>
#include <latch>
#include <mutex>
#include <queue>
#include <semaphore>
#include <shared_mutex>
#include <stop_token>
#include <thread>
#include <vector>

using namespace std::chrono_literals;

namespace
{
constexpr int threads = 4;
int rounds;

void team(const std::function<void(int)> &work)
{
    std::vector<std::jthread> all;
    for (int t = 0; t < threads; t++)
        all.emplace_back(work, t);
}

void result(const char *what, long got)
{
    printf("%s: %ld\n", what, got);
}

template <class M>
void counts(const char *what)
{
    M m;
    long n = 0;
    team([&](int) {
        for (int i = 0; i < rounds; i++) {
            std::lock_guard hold(m);
            n++;
        }
    });
    result(what, n);
}

template <class M>
void tries(const char *what)
{
    M m;
    long n = 0;
    team([&](int) {
        for (int i = 0; i < rounds;) {
            std::unique_lock hold(m, std::try_to_lock);
            if (hold) {
                n++;
                i++;
            } else {
                std::this_thread::yield();
            }
        }
    });
    result(what, n);
}

template <class M>
void times_out(const char *what)
{
    M m;
    std::unique_lock hold(m);
    int timeouts = 0;
    std::jthread([&] { timeouts += !m.try_lock_for(2ms); }).join();
    std::jthread([&] { timeouts += !m.try_lock_until(std::chrono::system_clock::now() + 2ms); }).join();
    hold.unlock();
    std::jthread([&] {
        if (m.try_lock_for(10s)) {
            timeouts += 10;
            m.unlock();
        }
    }).join();
    result(what, timeouts);
}

template <class M>
void enters_again(const char *what)
{
    M m;
    long n = 0;
    team([&](int) {
        for (int i = 0; i < rounds; i++) {
            std::lock_guard outer(m);
            std::lock_guard inner(m);
            std::lock_guard innermost(m);
            n++;
        }
    });
    result(what, n);
}

void locks_two()
{
    std::mutex a;
    std::timed_mutex b;
    long n = 0;
    team([&](int t) {
        for (int i = 0; i < rounds; i++) {
            if (t % 2 == 0) {
                std::scoped_lock both(a, b);
                n++;
            } else {
                std::scoped_lock both(b, a);
                n++;
            }
        }
    });
    result("scoped_lock of two", n);
}

template <class M>
void shares(const char *what)
{
    M m;
    long n = 0;
    std::atomic<long> torn{0};
    long twin = 0;
    team([&](int t) {
        for (int i = 0; i < rounds; i++) {
            if ((i + t) % 4 == 0) {
                std::unique_lock hold(m);
                n++;
                twin++;
            } else {
                std::shared_lock hold(m);
                torn += n != twin;
            }
        }
    });
    result(what, n + torn * 1000000);
}

/* Two produce, two consume; producers wait for a place in the queue, too. */
template <class M, class C>
void queues(const char *what)
{
    M m;
    C filled, emptied;
    std::queue<int> q;
    long sum = 0;
    team([&](int t) {
        for (int i = 0; i < rounds; i++) {
            std::unique_lock hold(m);
            if (t % 2 == 0) {
                emptied.wait(hold, [&] { return q.size() < 3; });
                q.push(i);
                filled.notify_one();
            } else {
                filled.wait(hold, [&] { return !q.empty(); });
                sum += q.front();
                q.pop();
                emptied.notify_all();
            }
        }
    });
    result(what, sum);
}

template <class M, class C>
void waits_in_vain(const char *what)
{
    M m;
    C c;
    std::unique_lock hold(m);
    int timeouts = 0;
    timeouts += !c.wait_for(hold, 2ms, [] { return false; });
    timeouts += !c.wait_until(hold, std::chrono::system_clock::now() + 2ms, [] { return false; });
    timeouts += !c.wait_until(hold, std::chrono::steady_clock::now() + 2ms, [] { return false; });
    timeouts += hold.owns_lock() ? 10 : 0;
    result(what, timeouts);
}

void stops()
{
    std::mutex m;
    std::condition_variable_any c;
    std::atomic<int> stopped{0};
    {
        std::jthread waiting([&](std::stop_token token) {
            std::unique_lock hold(m);
            stopped += !c.wait(hold, token, [] { return false; });
        });
        std::this_thread::sleep_for(1ms);
    }
    result("condition_variable_any with stop_token", stopped);
}

void once()
{
    long n = 0;
    for (int i = 0; i < rounds / 50; i++) {
        std::once_flag flag;
        team([&](int) { std::call_once(flag, [&] { n++; }); });
    }
    result("call_once", n - rounds / 50);
}

void futures()
{
    long sum = 0;
    std::vector<std::future<int>> all;
    for (int i = 0; i < 20; i++)
        all.push_back(std::async(std::launch::async, [i] { return i; }));
    for (auto &f : all)
        sum += f.get();
    std::promise<int> promise;
    std::shared_future<int> shared = promise.get_future().share();
    std::atomic<int> seen{0};
    std::jthread sets([&] { promise.set_value(7); });
    team([&](int) { seen += shared.get(); });
    std::packaged_task<int()> task([] { return 5; });
    auto late = task.get_future();
    std::jthread does(std::move(task));
    result("async, promise, packaged_task", sum + seen + late.get());
}

void counters()
{
    std::latch latch(threads);
    std::barrier barrier(threads);
    std::counting_semaphore<8> semaphore(2);
    std::atomic<long> n{0};
    std::atomic<int> inside{0}, most{0};
    team([&](int) {
        latch.arrive_and_wait();
        for (int i = 0; i < rounds / 20; i++) {
            semaphore.acquire();
            int now = ++inside;
            if (now > 2)
                most = now;
            inside--;
            semaphore.release();
            n++;
            barrier.arrive_and_wait();
        }
    });
    result("latch, barrier, semaphore", n + most * 1000000);
}

/* The last user of a mutex frees it, as reference counts do. */
void destroys_promptly()
{
    struct object {
        std::mutex m;
        int users = threads;
    };
    std::atomic<long> freed{0};
    for (int i = 0; i < rounds / 20; i++) {
        object *o = new object;
        team([&](int) {
            o->m.lock();
            bool last = --o->users == 0;
            o->m.unlock();
            if (last) {
                delete o;
                freed++;
            }
        });
    }
    result("freed by the last user", freed - rounds / 20);
}
} // namespace

int main(int argc, char **argv)
{
    rounds = argc == 2 ? atoi(argv[1]) : 0;
    if (rounds < 100) {
        fprintf(stderr, "usage: standard ROUNDS, at least 100\n");
        return 2;
    }
    counts<std::mutex>("mutex");
    counts<std::timed_mutex>("timed_mutex");
    counts<std::recursive_mutex>("recursive_mutex");
    counts<std::recursive_timed_mutex>("recursive_timed_mutex");
    counts<std::shared_mutex>("shared_mutex");
    counts<std::shared_timed_mutex>("shared_timed_mutex");
    tries<std::mutex>("mutex, tried");
    tries<std::recursive_timed_mutex>("recursive_timed_mutex, tried");
    times_out<std::timed_mutex>("timed_mutex, too late");
    times_out<std::recursive_timed_mutex>("recursive_timed_mutex, too late");
    times_out<std::shared_timed_mutex>("shared_timed_mutex, too late");
    enters_again<std::recursive_mutex>("recursive_mutex, three deep");
    enters_again<std::recursive_timed_mutex>("recursive_timed_mutex, three deep");
    locks_two();
    shares<std::shared_mutex>("shared_mutex, shared");
    shares<std::shared_timed_mutex>("shared_timed_mutex, shared");
    queues<std::mutex, std::condition_variable>("condition_variable");
    queues<std::mutex, std::condition_variable_any>("condition_variable_any");
    queues<std::recursive_mutex, std::condition_variable_any>("condition_variable_any, recursive");
    queues<std::shared_mutex, std::condition_variable_any>("condition_variable_any, shared");
    waits_in_vain<std::mutex, std::condition_variable>("condition_variable, in vain");
    waits_in_vain<std::timed_mutex, std::condition_variable_any>("condition_variable_any, in vain");
    stops();
    once();
    futures();
    counters();
    destroys_promptly();
    return 0;
}
