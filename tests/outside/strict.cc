// strict.cc - the same in C++, in a project that knows no C
#include <pawl.hpp>

#include <chrono>
#include <iostream>
#include <mutex>
#include <thread>

namespace {

pawl::hapax_vw lock;
pawl::timed_mutex mutex;
pawl::mutex plain;
pawl::condition_variable ready;
long counter;
int ended;

void count()
{
    for (int i = 0; i < 1000000; i++) {
        pawl::guard hold(lock);
        counter++;
    }
    std::lock_guard hold(plain);
    ended++;
    ready.notify_all();
}

} // namespace

int main()
{
    std::thread other(count);
    count();
    {
        std::unique_lock hold(plain);
        ready.wait(hold, [] { return ended == 2; });
    }
    other.join();
    if (!mutex.try_lock_for(std::chrono::milliseconds(1)))
        return 1;
    mutex.unlock();
    std::cout << (plain + [] { return counter; }) << '\n';
    return counter == 2000000 ? 0 : 1;
}
