/* seqlock.h - a record that is copied without a lock (Dice & Kogan, Hapax, appendix C; Corbet, LWN 2003)
 *
 * Writers     wait for nobody, neither readers nor one another; of two that overlap, both may be lost
 * Readers     write nothing; a copy is whole, or refused
 * Space       1 word per record, and the payload in words; none per thread
 * Sharing     by threads, and by processes if the record is in shared memory
 * Differs     the paper's writers store a hapax to WriteFirst, then the payload, then the hapax to WriteLast; a copy
 *             counts if both are the same. A writer that stops after WriteFirst, and goes on when another one is done,
 *             tears a record that still counts. Two words that are only stored to cannot remember both writers, so
 *             here they are one word that counts
 *
 *   bits 0-15    writers at work
 *   bit 16       WHOLE: the last writer worked alone
 *   bits 17-63   writes begun
 *
 *   write begins   count + 1, writers + 1               write ends   writers - 1; WHOLE if it was alone throughout
 *   copy           counts if WHOLE, nobody at work, and the word is the same before and after
 *
 * A record is refused from the start, and after writers have overlapped, until one writes alone. So this is for what
 * can be made again: an entry of a cache. A writer that dies at work (its process is killed; or it was another thread of
 * a fork()'s parent) leaves the record refused for ever; whoever knows that nobody writes may clear the word.
 *
 *   pawl_seqlock lock;
 *   pawl_word words[PAWL_SEQLOCK_WORDS(sizeof(struct point))];
 *   pawl_seqlock_write(&lock, words, &from, sizeof from);
 *   if (pawl_seqlock_read(&lock, words, &to, sizeof to)) ...
 */
#pragma once

#include "detail/base.h"

#include <string.h>

#define PAWL_SEQLOCK_WORDS(bytes) (((bytes) + sizeof(uint64_t) - 1) / sizeof(uint64_t))

typedef struct pawl_seqlock {
    pawl_word state; /* all-zero: a record that was never written */
} pawl_seqlock;

#define PAWL_SEQLOCK_WRITERS (((uint64_t)1 << 16) - 1)
#define PAWL_SEQLOCK_WHOLE   ((uint64_t)1 << 16)
#define PAWL_SEQLOCK_COUNT   ((uint64_t)1 << 17)

/* Payloads are copied by words: whole ones, whose size the compiler knows, and what is left of the last. */
static inline void pawl_seqlock_put(pawl_word *words, const char *from, size_t size)
{
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, from += sizeof word) {
        memcpy(&word, from, sizeof word);
        /* B: whoever sees this word also sees that a write has begun */
        atomic_store_explicit(words++, word, memory_order_release);
    }
    if (size > 0) {
        word = 0;
        memcpy(&word, from, size);
        atomic_store_explicit(words, word, memory_order_release); /* B */
    }
}

static inline void pawl_seqlock_get(pawl_word *words, char *to, size_t size)
{
    uint64_t word;
    for (; size >= sizeof word; size -= sizeof word, to += sizeof word) {
        word = atomic_load_explicit(words++, memory_order_acquire); /* B */
        memcpy(to, &word, sizeof word);
    }
    if (size > 0) {
        word = atomic_load_explicit(words, memory_order_acquire); /* B */
        memcpy(to, &word, size);
    }
}

/* Ends a write that saw `before` when it began. True if nobody else wrote meanwhile. */
static inline bool pawl_seqlock_end(pawl_seqlock *s, uint64_t before)
{
    bool whole;
    uint64_t count = before / PAWL_SEQLOCK_COUNT + 1;
    uint64_t now = atomic_load_explicit(&s->state, memory_order_relaxed), next;
    do {
        whole = (before & PAWL_SEQLOCK_WRITERS) == 0 && now / PAWL_SEQLOCK_COUNT == count;
        next = ((now - 1) & ~PAWL_SEQLOCK_WHOLE) | (whole ? PAWL_SEQLOCK_WHOLE : 0);
    } while (!atomic_compare_exchange_weak_explicit(&s->state, &now, next, memory_order_release,
                                                    memory_order_relaxed)); /* A: publishes the payload */
    return whole;
}

/* Copies `size` bytes to the record. False if another writer was at work at the same time: then the record is refused
 * until somebody writes alone. */
PAWL_HOOK bool pawl_seqlock_write(pawl_seqlock *s, pawl_word *words, const void *from, size_t size)
{
    pawl_hook_sending(s);
    pawl_hook_quiet();
    /* A: after all earlier writes, or one of their words might replace one of ours */
    uint64_t before = atomic_fetch_add_explicit(&s->state, PAWL_SEQLOCK_COUNT + 1, memory_order_acquire);
    pawl_seqlock_put(words, (const char *)from, size);
    bool whole = pawl_seqlock_end(s, before);
    pawl_hook_loud();
    return whole;
}

/* Copies `size` bytes from the record. False if they may belong to different writes; `to` is garbage then. */
PAWL_HOOK bool pawl_seqlock_read(pawl_seqlock *s, pawl_word *words, void *to, size_t size)
{
    pawl_hook_quiet();
    uint64_t state = atomic_load_explicit(&s->state, memory_order_acquire); /* A: sees the whole payload */
    bool whole = (state & (PAWL_SEQLOCK_WHOLE | PAWL_SEQLOCK_WRITERS)) == PAWL_SEQLOCK_WHOLE;
    if (PAWL_LIKELY(whole)) {
        pawl_seqlock_get(words, (char *)to, size);
        whole = atomic_load_explicit(&s->state, memory_order_relaxed) == state;
    }
    pawl_hook_loud();
    if (whole)
        pawl_hook_received(s);
    return whole;
}
