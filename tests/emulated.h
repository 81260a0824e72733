/* emulated.h - whether this machine keeps what C11 promises of seq_cst
 *
 * qemu 7.2 on x86 lets a seq_cst load of AArch64 (LDAR) overtake a seq_cst store (STLR) before it: in one of twenty
 * tries, two threads that each store and then load the other's word both miss the store. hapax_vw's hand-off rests on
 * that order, and hangs there now and then.
 */
#pragma once

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>

#ifdef __aarch64__

enum { EMULATED_TRIES = 20000 };

static struct {
    _Alignas(128) atomic_long word[2];
    _Alignas(128) atomic_long go;
    _Alignas(128) atomic_long done;
    long seen[2];
} emulated;

static long emulated_store_and_load(int i)
{
    atomic_store(&emulated.word[i], 1);
    return atomic_load(&emulated.word[1 - i]);
}

static void emulated_await(atomic_long *word, long value)
{
    while (atomic_load_explicit(word, memory_order_acquire) < value)
        sched_yield();
}

static void *emulated_other(void *unused)
{
    for (long i = 1; i <= EMULATED_TRIES; i++) {
        emulated_await(&emulated.go, i);
        emulated.seen[1] = emulated_store_and_load(1);
        atomic_store_explicit(&emulated.done, i, memory_order_release);
    }
    return unused;
}

static bool keeps_seq_cst(void)
{
    pthread_t other;
    bool keeps = true;
    if (pthread_create(&other, NULL, emulated_other, NULL) != 0)
        return false;
    for (long i = 1; i <= EMULATED_TRIES; i++) {
        atomic_store(&emulated.word[0], 0);
        atomic_store(&emulated.word[1], 0);
        atomic_store_explicit(&emulated.go, i, memory_order_release);
        emulated.seen[0] = emulated_store_and_load(0);
        emulated_await(&emulated.done, i);
        keeps = keeps && (emulated.seen[0] == 1 || emulated.seen[1] == 1);
    }
    pthread_join(other, NULL);
    return keeps;
}

#else

static inline bool keeps_seq_cst(void)
{
    return true;
}

#endif
