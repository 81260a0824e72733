/* sites.c - which frame of a stack to name */
#include "sites.h"
#include "document.h"

#include "cli/cli.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

/* ---- by their names */

static bool is_about_locking(const char *word, size_t length)
{
    static const char *const words[] = {"lock",    "locked",  "locker",  "trylock", "spinlock",
                                        "mutex",   "acquire", "gthread", "guard",   "futex",
                                        "pthread", "syscall", "sem",     "unlock",  "release"};
    for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
        if (strlen(words[i]) == length && strncasecmp(words[i], word, length) == 0)
            return true;
    return false;
}

/* Words end at what is not a letter, and where capitals begin: MutexLock, mutex_lock. */
static bool is_wrapper(const char *name)
{
    if (strncmp(name, "std::", 5) == 0)
        return true;
    const char *end = name + strcspn(name, "(");
    for (const char *word = name + strspn(name, "_"); word < end;) {
        const char *at = word + 1;
        while (at < end && isalpha((unsigned char)*at) &&
               !(isupper((unsigned char)*at) && islower((unsigned char)at[-1])))
            at++;
        if (is_about_locking(word, (size_t)(at - word)))
            return true;
        for (word = at; word < end && !isalpha((unsigned char)*word);)
            word++;
    }
    return false;
}

json_int_t site_by_name(const json_t *frames)
{
    size_t count = json_array_size(frames);
    for (size_t i = 0; i < count; i++) {
        const char *name = text_in(json_array_get(frames, i), "function");
        if (*name == '\0' || !is_wrapper(name))
            return (json_int_t)i;
    }
    return 0;
}

/* ---- without names */

enum { WRAPPERS = 3 }; /* that call each other, at most */

/* What is known of a frame in which locks may be acquired. */
typedef struct use {
    const json_t *lock;  /* the last of them; NULL: none yet */
    json_int_t caller;   /* the first */
    bool locks, callers; /* there are others */
} use;

static json_int_t frame_at(const json_t *stack, json_int_t depth)
{
    const json_t *place = json_array_get(json_object_get(stack, "frames"), (size_t)depth);
    return place != NULL ? json_integer_value(place) : -1;
}

/* Or the outermost, which nobody calls. */
static bool has_name(const json_t *d, const json_t *stack, json_int_t depth)
{
    const json_t *frame = json_array_get(json_object_get(d, "frames"), (size_t)frame_at(stack, depth));
    return frame == NULL || *text_in(frame, "function") != '\0' || frame_at(stack, depth + 1) < 0;
}

/* In one process: in another, one lock may have another address. */
static bool are_two(const json_t *a, const json_t *b)
{
    return number_in(a, "process") == number_in(b, "process") &&
           strcmp(text_in(a, "address"), text_in(b, "address")) != 0;
}

/* A wait for a condition variable names it and its mutex in one call, which need not be a wrapper. */
static void note(const json_t *d, use *uses, const json_t *item, const char *key)
{
    const json_t *stack = item_of(d, "stacks", item, key), *lock = item_of(d, "locks", item, "lock");
    json_int_t site = number_in(stack, "site");
    if (waits_for_event(lock))
        return;
    for (json_int_t i = site; i < site + WRAPPERS && !has_name(d, stack, i); i++) {
        use *u = &uses[frame_at(stack, i)];
        json_int_t caller = frame_at(stack, i + 1);
        if (u->lock == NULL)
            *u = (use){.lock = lock, .caller = caller};
        u->locks |= are_two(u->lock, lock);
        u->callers |= u->caller != caller;
        u->lock = lock;
    }
}

/* Behind the last wrapper: several locks are acquired in each, and it is called from several places. */
static json_int_t site_behind(const json_t *d, const use *uses, const json_t *stack)
{
    json_int_t first = number_in(stack, "site"), site = first;
    for (json_int_t i = first; i < first + WRAPPERS && !has_name(d, stack, i); i++) {
        const use *u = &uses[frame_at(stack, i)];
        if (!u->locks)
            break;
        if (u->callers)
            site = i + 1;
    }
    return site;
}

void sites_pass_nameless(json_t *d)
{
    static const struct {
        const char *array, *key;
    } users[] = {{"waits", "waiter"}, {"waits", "holder"}, {"holds", "stack"}};
    use *uses = allocate(json_array_size(json_object_get(d, "frames")) + 1, sizeof *uses);
    json_t *item;
    size_t i;
    for (size_t u = 0; u < sizeof users / sizeof *users; u++)
        json_array_foreach (json_object_get(d, users[u].array), i, item)
            note(d, uses, item, users[u].key);
    json_array_foreach (json_object_get(d, "stacks"), i, item)
        json_object_set_new(item, "site", json_integer(site_behind(d, uses, item)));
    free(uses);
}
