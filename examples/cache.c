/* cache.c - a cache that many threads ask: entries under a seqlock, a mutex, or a reader-writer lock
 *
 *   cache [THREADS [MILLISECONDS]]
 *
 * A lookup copies the entry of its key. If it is another key's, or writers have torn it, the thread makes the answer
 * again and installs it: with a seqlock nobody waits, neither for readers nor for another who installs. An entry that
 * two threads install at the same time is lost, and made once more by whoever asks next.
 */
#include <pawl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { ENTRIES = 1024, KEYS = 1040, LENGTH = 7 };

typedef struct answer {
    uint64_t key; /* 0: none */
    uint64_t value[LENGTH];
} answer;

typedef struct entry {
    pawl_seqlock seqlock;
    pawl_word words[PAWL_SEQLOCK_WORDS(sizeof(answer))];
    pawl_mutex mutex;
    pthread_rwlock_t rwlock;
    answer plain; /* under one of the locks */
} PAWL_ALIGNED entry;

static entry cache[ENTRIES];
static atomic_bool stop;

/* What is worth keeping: some hundred steps. */
static void make(answer *a, uint64_t key)
{
    a->key = key;
    uint64_t x = key;
    for (int i = 0; i < LENGTH; i++) {
        for (int k = 0; k < 50; k++)
            x = x * 6364136223846793005u + 1442695040888963407u;
        a->value[i] = x ^ key;
    }
}

static bool look_seqlock(entry *e, uint64_t key, answer *a)
{
    return pawl_seqlock_read(&e->seqlock, e->words, a, sizeof *a) && a->key == key;
}

static void keep_seqlock(entry *e, const answer *a)
{
    pawl_seqlock_write(&e->seqlock, e->words, a, sizeof *a);
}

static bool look_mutex(entry *e, uint64_t key, answer *a)
{
    pawl_mutex_lock(&e->mutex);
    *a = e->plain;
    pawl_mutex_unlock(&e->mutex);
    return a->key == key;
}

static void keep_mutex(entry *e, const answer *a)
{
    pawl_mutex_lock(&e->mutex);
    e->plain = *a;
    pawl_mutex_unlock(&e->mutex);
}

static bool look_rwlock(entry *e, uint64_t key, answer *a)
{
    pthread_rwlock_rdlock(&e->rwlock);
    *a = e->plain;
    pthread_rwlock_unlock(&e->rwlock);
    return a->key == key;
}

static void keep_rwlock(entry *e, const answer *a)
{
    pthread_rwlock_wrlock(&e->rwlock);
    e->plain = *a;
    pthread_rwlock_unlock(&e->rwlock);
}

static const struct way {
    const char *name;
    bool (*look)(entry *e, uint64_t key, answer *a);
    void (*keep)(entry *e, const answer *a);
} ways[] = {{"pawl_seqlock", look_seqlock, keep_seqlock},
            {"pawl_mutex", look_mutex, keep_mutex},
            {"pthread_rwlock", look_rwlock, keep_rwlock}};

typedef struct asker {
    pthread_t thread;
    const struct way *way;
    uint64_t seed, asked, made, wrong;
} asker;

/* Three of four questions are about eight keys. */
static uint64_t draw(uint64_t *seed)
{
    *seed = *seed * 6364136223846793005u + 1442695040888963407u;
    uint64_t random = *seed >> 32;
    return 1 + (random >> 2) % (random % 4 != 0 ? 8 : KEYS);
}

static void *ask(void *arg)
{
    asker *me = arg;
    while (!atomic_load_explicit(&stop, memory_order_relaxed)) {
        answer a, right;
        uint64_t key = draw(&me->seed);
        entry *e = &cache[key % ENTRIES];
        me->asked++;
        if (!me->way->look(e, key, &a)) {
            make(&a, key);
            me->way->keep(e, &a);
            me->made++;
        } else if (me->asked % 1024 == 0) {
            make(&right, key);
            for (int i = 0; i < LENGTH; i++)
                me->wrong += a.value[i] != right.value[i];
        }
    }
    return NULL;
}

int main(int argc, char **argv)
{
    int threads = argc > 1 ? atoi(argv[1]) : 4, milliseconds = argc > 2 ? atoi(argv[2]) : 200;
    uint64_t wrong = 0;
    if (threads < 1 || threads > 256 || milliseconds < 1)
        return fprintf(stderr, "cache [THREADS [MILLISECONDS]]: 1 to 256 threads\n"), 2;
    for (int i = 0; i < ENTRIES; i++)
        pthread_rwlock_init(&cache[i].rwlock, NULL);
    asker *askers = calloc((size_t)threads, sizeof *askers);
    if (askers == NULL)
        return 1;
    for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++) {
        uint64_t asked = 0, made = 0;
        struct timespec length = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
        atomic_store(&stop, false);
        for (int i = 0; i < threads; i++) {
            askers[i] = (asker){.way = &ways[w], .seed = (uint64_t)i + 1};
            if (pthread_create(&askers[i].thread, NULL, ask, &askers[i]) != 0)
                return fprintf(stderr, "cache: cannot create a thread\n"), 1;
        }
        nanosleep(&length, NULL);
        atomic_store(&stop, true);
        for (int i = 0; i < threads; i++) {
            pthread_join(askers[i].thread, NULL);
            asked += askers[i].asked;
            made += askers[i].made;
            wrong += askers[i].wrong;
        }
        printf("%-15s %8.2f M lookups/s, %5.2f %% made again\n", ways[w].name,
               (double)asked / milliseconds / 1000, 100 * (double)made / (double)asked);
    }
    free(askers);
    return wrong != 0;
}
