// promise.h - counts promises kept and broken
//
// One that hangs ends the program after some minutes.
#pragma once

#include <cstdio>
#include <thread>
#include <unistd.h>
#include <vector>

inline int passed, failed;
inline unsigned limit = alarm(600);

inline void promise(const char *subject, const char *name, bool kept)
{
    (kept ? passed : failed)++;
    if (!kept)
        std::printf("FAIL %s/%s\n", subject, name);
}

inline int verdict()
{
    std::printf("%d passed, %d failed\n", passed, failed);
    return failed > 0;
}

// Work to be done, whatever its type: a thread of each type would take the compiler a minute.
class task
{
    const void *what;
    void (*how)(const void *);

public:
    template <class F>
    task(const F &f) : what(&f), how([](const void *w) { (*static_cast<const F *>(w))(); })
    {
    }
    void operator()() const
    {
        how(what);
    }
};

inline void team(int threads, task work)
{
    std::vector<std::thread> members;
    for (int i = 0; i < threads; i++)
        members.emplace_back(work);
    for (auto &m : members)
        m.join();
}

inline void alone(task work)
{
    team(1, work);
}
