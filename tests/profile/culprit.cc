// culprit.cc - the same in C++: a thread holds a std::mutex while another wants it
#include <atomic>
#include <chrono>
#include <cstdio>
#include <mutex>
#include <thread>
#include <unistd.h>

namespace shop {

class Stock {
public:
    template <class Work> __attribute__((noinline)) void with_lock(Work work)
    {
        std::lock_guard<std::mutex> hold(mutex_);
        work();
    }

private:
    std::mutex mutex_;
};

static Stock *stock = new Stock; // on the heap: it has no symbol
static std::atomic<bool> held{false};
static std::atomic<int> waiter{0};

static bool is_asleep(int thread)
{
    char path[64], state = '?';
    std::snprintf(path, sizeof path, "/proc/self/task/%d/stat", thread);
    std::FILE *f = std::fopen(path, "r");
    if (f == nullptr || std::fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
        state = '?';
    if (f != nullptr)
        std::fclose(f);
    return state == 'S';
}

__attribute__((noinline)) void take_inventory(int)
{
    stock->with_lock([] { // HOLDER
        held = true;
        while (waiter == 0 || !is_asleep(waiter))
            std::this_thread::sleep_for(std::chrono::milliseconds(1));
        std::this_thread::sleep_for(std::chrono::milliseconds(10));
    });
    asm volatile("" ::: "memory"); // no tail call
}

__attribute__((noinline)) void sell(const char *)
{
    while (!held)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    waiter = gettid();
    stock->with_lock([] {}); // WAITER
    asm volatile("" ::: "memory");
}

} // namespace shop

int main()
{
    std::thread a(shop::take_inventory, 1), b(shop::sell, "apple");
    a.join();
    b.join();
}
