/* thread_key.c - how the library learns of a thread's end
 *
 * Little of that is exported, so its source is part of this program.
 */
#include "harness.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>

static const ElfW(Dyn) * dynamic; /* what the library takes for that of the file it is in */
#define _DYNAMIC dynamic
#include "../src/thread_exit.c"

static atomic_int asked; /* for the end of a thread */
static bool refuse;
static __thread bool enters;

int pthread_setspecific(pthread_key_t key, const void *value)
{
    static int (*libc)(pthread_key_t, const void *);
    if (enters) {
        CHECK(atomic_fetch_add(&asked, 1) < 2, "asks again, without end");
        CHECK(pawl_thread_enter(), "what an allocator's lock would do");
        if (refuse)
            return ENOMEM;
    }
    if (libc == NULL)
        *(void **)&libc = dlsym(RTLD_NEXT, "pthread_setspecific");
    return libc(key, value);
}

static void *enter_often(void *unused)
{
    enters = true;
    refuse = true;
    CHECK(!pawl_thread_enter() && atomic_load(&asked) == 1, "takes no for an answer");
    refuse = false;
    for (int i = 0; i < 3; i++)
        CHECK(pawl_thread_enter() && atomic_load(&asked) == 2, "asked %d times", atomic_load(&asked));
    enters = false;
    return unused;
}

static void *enter_without_a_key(void *unused)
{
    have_key = false; /* there were none left */
    enters = true;
    CHECK(!pawl_thread_enter() && atomic_load(&asked) == 0, "asked without a key");
    once = (pthread_once_t)PTHREAD_ONCE_INIT;
    CHECK(pawl_thread_enter() && have_key && atomic_load(&asked) == 1, "there is no key");
    enters = false;
    return unused;
}

static void in_a_thread(void *(*body)(void *))
{
    pthread_t thread;
    CHECK(pthread_create(&thread, NULL, body, NULL) == 0, "cannot create a thread");
    pthread_join(thread, NULL);
}

static void a_thread_asks_once_for_its_end(const lock_info *unused)
{
    (void)unused;
    CHECK(have_key, "the key is not taken early");
    in_a_thread(enter_often);
}

static void a_thread_asks_only_with_a_key(const lock_info *unused)
{
    (void)unused;
    in_a_thread(enter_without_a_key);
}

static bool key_exists(void)
{
    return pthread_setspecific(key, NULL) == 0;
}

/* Only a plugin's code can be gone while its threads live on. */
static void threads_are_forgotten_where_code_is_unloaded(const lock_info *unused)
{
    (void)unused;
    static const ElfW(Dyn) program[] = {{.d_tag = DT_NEEDED}, {.d_tag = DT_DEBUG}, {.d_tag = DT_NULL}},
                           library[] = {{.d_tag = DT_NEEDED},
                                        {.d_tag = DT_FLAGS_1, .d_un.d_val = DF_1_NOW | DF_1_NODELETE},
                                        {.d_tag = DT_NULL}},
                           plugin[] = {{.d_tag = DT_NEEDED, .d_un.d_val = DF_1_NODELETE},
                                       {.d_tag = DT_FLAGS_1, .d_un.d_val = DF_1_NOW},
                                       {.d_tag = DT_NULL}};
    const ElfW(Dyn) *const stay[] = {NULL, program, library};
    for (int i = 0; i < 3; i++) {
        dynamic = stay[i];
        forget_threads();
        CHECK(have_key && key_exists(), "forgotten in file %d", i);
    }
    dynamic = plugin;
    forget_threads();
    CHECK(!have_key && !key_exists(), "a thread would call code that is gone");
    CHECK(pthread_key_create(&key, NULL) == 0, "no key");
    forget_threads();
    CHECK(key_exists(), "the program's key is gone");
    dynamic = NULL;
}

#define KEY(check_)                                                                                          \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "system"                                                \
    }

static const promise promises[] = {
    KEY(a_thread_asks_once_for_its_end),
    KEY(a_thread_asks_only_with_a_key),
    KEY(threads_are_forgotten_where_code_is_unloaded),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
