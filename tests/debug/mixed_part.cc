// mixed_part.cc - see mixed_cpp.h; KIND is the namespace
#include "mixed_cpp.h"

#include <new>

namespace KIND
{

account *make(int n)
{
    return new account[n];
}

void unmake(account *array)
{
    delete[] array;
}

void lock(account &a)
{
    a.mutex.lock();
}

void unlock(account &a)
{
    a.mutex.unlock();
}

void take_turns(account &a, int me)
{
    for (int i = 0; i < 100; i++) {
        pawl::guard hold(a.mutex);
        a.changed.wait(hold, [&] { return a.turn == me; });
        a.turn = 1 - me;
        a.changed.notify_all();
    }
}

void use(account &a)
{
    using namespace std::chrono_literals;
    a.set(a.mutex + [&] { return a.turn; });
    std::unique_lock<pawl::timed_mutex> timed(a.timed, 1h);
    timed.unlock();
    void (pawl::timed_mutex::*take)() = &pawl::timed_mutex::lock;
    (a.timed.*take)();
    a.timed.unlock();
}

template <class Lock>
static void use_one()
{
    static Lock lock;
    pawl::guard<Lock> hold(lock);
}

// The locks of the register are of one kind's code each.
void use_every_lock()
{
#define PAWL_LOCK(name, ...) use_one<pawl::name>();
#include <pawl/locks.def>
#undef PAWL_LOCK
}

static void both(pawl::ticket &first, pawl::ticket &second)
{
    pawl::guard outer(first);
    pawl::guard inner(second);
}

void invert()
{
    static pawl::ticket a, b;
    both(a, b);
    both(b, a);
}

// New locks where others were: the order of those does not bind them.
void reuse()
{
    alignas(pawl::ticket) static unsigned char memory[2][sizeof(pawl::ticket)];
    for (int i = 0; i < 2; i++) {
        auto *a = new (memory[i]) pawl::ticket, *b = new (memory[1 - i]) pawl::ticket;
        both(*a, *b);
        a->~basic_lock();
        b->~basic_lock();
    }
}

} // namespace KIND
