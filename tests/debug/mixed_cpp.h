// mixed_cpp.h - mixed.h for C++, where inline functions and classes are the whole program's: mixed_part.cc is compiled
// with -DPAWL_DEBUG, and again without it
#pragma once

#include <pawl.hpp>

// A class of the program that both kinds have from a header, and pass to each other. Whoever made one destroys it.
struct account {
    pawl::mutex mutex;
    pawl::timed_mutex timed;
    pawl::condition_variable changed;
    pawl::mcs mcs;
    int turn = 0;

    // One copy of it is left, of either kind.
    void set(int value)
    {
        std::lock_guard<pawl::mutex> hold(mutex);
        turn = value;
    }
};

#define MIXED_PART(kind)                                                                                     \
    namespace kind                                                                                           \
    {                                                                                                        \
    account *make(int n);                                                                                    \
    void unmake(account *array);                                                                             \
    void lock(account &a);                                                                                   \
    void unlock(account &a);                                                                                 \
    void take_turns(account &a, int me);                                                                     \
    void use(account &a);                                                                                    \
    void use_every_lock();                                                                                   \
    void invert();                                                                                           \
    void reuse();                                                                                            \
    }
MIXED_PART(hooked)
MIXED_PART(plain)
