// cplusplus.cc - every lock of the register, used from C++17
#include <pawl.h>

#include <cstdio>
#include <memory>
#include <thread>
#include <vector>

namespace
{

int passed, failed;

template <class Lock, class Context>
void count(const char *name, void (*lock)(Lock *, Context *), void (*unlock)(Lock *, Context *))
{
    constexpr int threads = 3, rounds = 2000;
    auto l = std::make_unique<Lock>(); // all-zero, which is unlocked
    int entered = 0;
    std::vector<std::thread> team;
    for (int t = 0; t < threads; t++)
        team.emplace_back([&] {
            for (int i = 0; i < rounds; i++) {
                Context c;
                lock(l.get(), &c);
                entered++;
                unlock(l.get(), &c);
            }
        });
    for (auto &t : team)
        t.join();
    if (entered == threads * rounds) {
        passed++;
        return;
    }
    std::printf("FAIL %s/usable_from_cplusplus: %d of %d critical sections counted\n", name, entered,
                threads * rounds);
    failed++;
}

} // namespace

int main()
{
#define PAWL_LOCK(name, form, ...)                                                                           \
    count<pawl_##name, PAWL_CTX_OF(name, form)>(                                                             \
        #name, [](auto *l, auto *c) { PAWL_CALL(name, form, lock, l, c); },                                  \
        [](auto *l, auto *c) { PAWL_CALL(name, form, unlock, l, c); });
#include <pawl/locks.def>
#undef PAWL_LOCK
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}
