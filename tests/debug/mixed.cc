// mixed.cc - the program of mixed_cpp.h: `mixed_cpp correct`, `hooked` or `plain` (who takes two locks in both orders)
#include "mixed_cpp.h"

#include <string_view>
#include <thread>

static int correct()
{
    account *accounts = hooked::make(2), *others = plain::make(2);
    account &a = others[0];
    hooked::lock(a), plain::unlock(a);
    hooked::lock(a), hooked::unlock(a);
    plain::lock(a), hooked::unlock(a);
    std::thread thread([&] {
        hooked::take_turns(a, 0);
        hooked::use(accounts[0]);
        hooked::use_every_lock();
    });
    plain::take_turns(a, 1);
    plain::use(accounts[0]);
    plain::use_every_lock();
    thread.join();
    hooked::reuse();
    plain::reuse();
    const int turn = a.turn;
    hooked::unmake(accounts);
    plain::unmake(others);
    return turn;
}

int main(int argc, char **argv)
{
    const std::string_view what = argc == 2 ? argv[1] : "";
    if (what == "hooked")
        hooked::invert();
    else if (what == "plain")
        plain::invert();
    else
        return correct();
    return 0;
}
