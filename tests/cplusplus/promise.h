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

template <class F>
void team(int threads, F work)
{
    std::vector<std::thread> members;
    for (int i = 0; i < threads; i++)
        members.emplace_back(work);
    for (auto &m : members)
        m.join();
}
