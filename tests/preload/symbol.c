/* symbol.c - every way to reach the functions: by name, by version, by a reference of any age */
#include "case.h"
#include "unversioned.h"

#include <dlfcn.h>
#include <link.h>

/* ---- by name */

static bool is_pawls(const void *function)
{
    Dl_info info;
    return dladdr(function, &info) != 0 && info.dli_fname != NULL &&
           strstr(info.dli_fname, "libpawl-") != NULL;
}

static const char *const names[] = {
    "pthread_mutex_init",
    "pthread_mutex_destroy",
    "pthread_mutex_lock",
    "pthread_mutex_trylock",
    "pthread_mutex_timedlock",
    "pthread_mutex_clocklock",
    "pthread_mutex_unlock",
    "pthread_cond_init",
    "pthread_cond_destroy",
    "pthread_cond_signal",
    "pthread_cond_broadcast",
    "pthread_cond_wait",
    "pthread_cond_timedwait",
    "pthread_cond_clockwait",
    "pthread_spin_init",
    "pthread_spin_destroy",
    "pthread_spin_lock",
    "pthread_spin_trylock",
    "pthread_spin_unlock",
    "mtx_init",
    "mtx_destroy",
    "mtx_lock",
    "mtx_trylock",
    "mtx_timedlock",
    "mtx_unlock",
    "cnd_init",
    "cnd_destroy",
    "cnd_signal",
    "cnd_broadcast",
    "cnd_wait",
    "cnd_timedwait",
    "pthread_setcanceltype",
    "__pthread_mutex_init",
    "__pthread_mutex_destroy",
    "__pthread_mutex_lock",
    "__pthread_mutex_trylock",
    "__pthread_mutex_unlock",
};

static const char *const not_ours[] = {"pthread_rwlock_rdlock",     "pthread_create", "sem_wait", "fork",
                                       "pthread_mutexattr_settype", "malloc"};

static void every_function_is_the_librarys(void)
{
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        if (!is_pawls(dlsym(RTLD_DEFAULT, names[i])))
            fail(__FILE__, __LINE__, "%s is not ours", names[i]);
    for (size_t i = 0; i < sizeof not_ours / sizeof not_ours[0]; i++)
        if (is_pawls(dlsym(RTLD_DEFAULT, not_ours[i])))
            fail(__FILE__, __LINE__, "%s is ours", not_ours[i]);
}

static void nothing_else_is_exported(void)
{
    CHECK(dlsym(RTLD_DEFAULT, "pawl_mutex_lock_contended") == NULL);
    CHECK(dlsym(RTLD_DEFAULT, "pawl_hemlock_self") == NULL);
    CHECK(dlsym(RTLD_DEFAULT, "era_now") == NULL);
    CHECK(dlsym(RTLD_DEFAULT, "stats_on") == NULL);
}

/* ---- dlvsym() */

enum { VERSIONS_MOST = 100 };

/* All the versions that a library defines. */
static int versions_of(void *library, const char *found[VERSIONS_MOST])
{
    struct link_map *map;
    OK(dlinfo(library, RTLD_DI_LINKMAP, &map));
    uintptr_t definitions = 0, strings = 0;
    size_t count = 0;
    for (const ElfW(Dyn) *d = map->l_ld; d->d_tag != DT_NULL; d++) {
        uintptr_t value = d->d_un.d_val < map->l_addr ? d->d_un.d_val + map->l_addr : d->d_un.d_val;
        if (d->d_tag == DT_VERDEF)
            definitions = value;
        else if (d->d_tag == DT_STRTAB)
            strings = value;
        else if (d->d_tag == DT_VERDEFNUM)
            count = d->d_un.d_val;
    }
    CHECK(definitions != 0 && count <= VERSIONS_MOST);
    for (size_t i = 0; i < count; i++) {
        const ElfW(Verdef) *v = (const ElfW(Verdef) *)definitions;
        const ElfW(Verdaux) *a = (const ElfW(Verdaux) *)(definitions + v->vd_aux);
        found[i] = (const char *)(strings + a->vda_name);
        definitions += v->vd_next;
    }
    return (int)count;
}

static void *libc(void)
{
    void *library = dlopen("libc.so.6", RTLD_LAZY | RTLD_NOLOAD);
    CHECK(library != NULL);
    return library;
}

static void need_versions(void)
{
#ifndef PRELOAD_VERSIONS
    skip("linked without versions");
#endif
}

static void check_versions_of(const char *name, const char *const versions[], int count)
{
    int known = 0;
    for (int i = 0; i < count; i++) {
        if (dlvsym(libc(), name, versions[i]) == NULL)
            continue;
        known++;
        if (!is_pawls(dlvsym(RTLD_DEFAULT, name, versions[i])))
            fail(__FILE__, __LINE__, "%s of %s is not ours", name, versions[i]);
        if (!is_pawls(dlvsym(dlopen(NULL, RTLD_LAZY), name, versions[i])))
            fail(__FILE__, __LINE__, "%s of %s is not ours in the program's scope", name, versions[i]);
    }
    if (known == 0)
        fail(__FILE__, __LINE__, "libc has no %s", name);
}

static void every_version_that_libc_has_is_ours(void)
{
    need_versions();
    const char *versions[VERSIONS_MOST];
    int count = versions_of(libc(), versions);
    for (size_t i = 0; i < sizeof names / sizeof names[0]; i++)
        check_versions_of(names[i], versions, count);
}

static void a_version_excludes_those_without(void)
{
    const char *versions[VERSIONS_MOST];
    int count = versions_of(libc(), versions);
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    for (int i = 0; i < count; i++) {
        int (*lock)(pthread_mutex_t *), (*unlock)(pthread_mutex_t *);
        *(void **)&lock = dlvsym(RTLD_DEFAULT, "pthread_mutex_lock", versions[i]);
        *(void **)&unlock = dlvsym(RTLD_DEFAULT, "pthread_mutex_unlock", versions[i]);
        if (lock == NULL || unlock == NULL)
            continue;
        OK(lock(&m));
        CHECK_IS(try_elsewhere(&m), EBUSY);
        OK(unlock(&m));
        OK(try_elsewhere(&m));
    }
}

/* ---- references without a version, from a library that was linked with no other */

static void a_library_without_versions_reaches_us(void)
{
    const uintptr_t *bound = unversioned_functions();
    for (int i = 0; bound[i] != 0; i++)
        if (!is_pawls((const void *)bound[i]))
            fail(__FILE__, __LINE__, "reference %d is not ours", i);
    CHECK_IS(bound[0], dlsym(RTLD_DEFAULT, "pthread_cond_wait")); /* not that of GLIBC_2.2.5 */
}

/* ---- references of the program, bound when it was linked */

#ifdef __x86_64__

/* What old and new binaries ask for, bound when the program was linked: X(name, version, the same as a word). */
#define VERSIONS(X)                                                                                          \
    X(pthread_mutex_init, 2.2.5, 2_2_5)                                                                      \
    X(pthread_mutex_destroy, 2.2.5, 2_2_5)                                                                   \
    X(pthread_mutex_lock, 2.2.5, 2_2_5)                                                                      \
    X(pthread_mutex_unlock, 2.2.5, 2_2_5)                                                                    \
    X(pthread_mutex_trylock, 2.2.5, 2_2_5)                                                                   \
    X(pthread_mutex_trylock, 2.34, 2_34)                                                                     \
    X(pthread_mutex_timedlock, 2.2.5, 2_2_5) X(pthread_mutex_timedlock, 2.34, 2_34)                          \
        X(pthread_mutex_clocklock, 2.30, 2_30) X(pthread_mutex_clocklock, 2.34, 2_34)                        \
            X(pthread_cond_init, 2.2.5, 2_2_5) X(pthread_cond_init, 2.3.2, 2_3_2)                            \
                X(pthread_cond_wait, 2.2.5, 2_2_5) X(pthread_cond_wait, 2.3.2, 2_3_2)                        \
                    X(pthread_cond_timedwait, 2.2.5, 2_2_5) X(pthread_cond_timedwait, 2.3.2, 2_3_2)          \
                        X(pthread_cond_signal, 2.2.5, 2_2_5) X(pthread_cond_signal, 2.3.2, 2_3_2) X(         \
                            pthread_cond_broadcast, 2.2.5, 2_2_5) X(pthread_cond_broadcast, 2.3.2, 2_3_2)    \
                            X(pthread_cond_destroy, 2.2.5, 2_2_5) X(pthread_cond_destroy, 2.3.2, 2_3_2) X(   \
                                pthread_cond_clockwait, 2.30, 2_30) X(pthread_cond_clockwait, 2.34, 2_34)    \
                                X(pthread_spin_lock, 2.2.5, 2_2_5) X(pthread_spin_lock, 2.34, 2_34)          \
                                    X(pthread_spin_unlock, 2.2.5, 2_2_5) X(pthread_spin_unlock, 2.34, 2_34)  \
                                        X(mtx_lock, 2.28, 2_28) X(mtx_lock, 2.34, 2_34)                      \
                                            X(cnd_wait, 2.28, 2_28) X(cnd_wait, 2.34, 2_34)                  \
                                                X(__pthread_mutex_lock, 2.2.5, 2_2_5)                        \
                                                    X(__pthread_mutex_unlock, 2.2.5, 2_2_5)                  \
                                                        X(__pthread_mutex_trylock, 2.2.5, 2_2_5)             \
                                                            X(__pthread_mutex_init, 2.2.5, 2_2_5)            \
                                                                X(__pthread_mutex_destroy, 2.2.5, 2_2_5)

#define REFER(name, version, word)                                                                           \
    extern void name##_of_##word(void);                                                                      \
    __asm__(".symver " #name "_of_" #word ", " #name "@GLIBC_" #version);
VERSIONS(REFER)

static void every_version_reaches_us(void)
{
#define ASK(name, version, word)                                                                             \
    if (!is_pawls((const void *)(uintptr_t)name##_of_##word))                                                \
        fail(__FILE__, __LINE__, "%s of %s is not ours", #name, "GLIBC_" #version);
    VERSIONS(ASK)
}

extern int old_trylock(pthread_mutex_t *m), new_trylock(pthread_mutex_t *m), old_unlock(pthread_mutex_t *m);
extern int old_signal(pthread_cond_t *c), new_signal(pthread_cond_t *c);
__asm__(".symver old_trylock, pthread_mutex_trylock@GLIBC_2.2.5");
__asm__(".symver new_trylock, pthread_mutex_trylock@GLIBC_2.34");
__asm__(".symver old_unlock, pthread_mutex_unlock@GLIBC_2.2.5");
__asm__(".symver old_signal, pthread_cond_signal@GLIBC_2.2.5");
__asm__(".symver new_signal, pthread_cond_signal@GLIBC_2.3.2");

static void old_and_new_references_meet_in_one_lock(void)
{
    pthread_mutex_t m = PTHREAD_MUTEX_INITIALIZER;
    OK(old_trylock(&m));
    CHECK_IS(new_trylock(&m), EBUSY);
    OK(old_unlock(&m));
    OK(new_trylock(&m));
    CHECK_IS(old_trylock(&m), EBUSY);
    OK(pthread_mutex_unlock(&m));
    if (lock_name() != NULL)
        CHECK(is_pawls((const void *)(uintptr_t)old_signal) && is_pawls((const void *)(uintptr_t)new_signal));
}

/* ---- condition variables of GLIBC_2.2.5, which were smaller */

extern int old_init(pthread_cond_t *c, const pthread_condattr_t *attributes), old_destroy(pthread_cond_t *c);
extern int old_broadcast(pthread_cond_t *c), old_wait(pthread_cond_t *c, pthread_mutex_t *m);
extern int old_timedwait(pthread_cond_t *c, pthread_mutex_t *m, const struct timespec *deadline);
__asm__(".symver old_init, pthread_cond_init@GLIBC_2.2.5");
__asm__(".symver old_destroy, pthread_cond_destroy@GLIBC_2.2.5");
__asm__(".symver old_broadcast, pthread_cond_broadcast@GLIBC_2.2.5");
__asm__(".symver old_wait, pthread_cond_wait@GLIBC_2.2.5");
__asm__(".symver old_timedwait, pthread_cond_timedwait@GLIBC_2.2.5");

enum { OLD_SIZE = 24, OLD_WAITERS = 2 };

static struct {
    pthread_mutex_t mutex;
    _Alignas(8) unsigned char cond[sizeof(pthread_cond_t)]; /* and what is behind it */
    int waiting, called;
} old = {.mutex = PTHREAD_MUTEX_INITIALIZER};

static void *wait_as_of_old(void *c)
{
    OK(pthread_mutex_lock(&old.mutex));
    old.waiting++;
    while (old.called == 0)
        OK(old_wait(c, &old.mutex));
    old.called--;
    OK(pthread_mutex_unlock(&old.mutex));
    return NULL;
}

static void call_as_of_old(int (*call)(pthread_cond_t *), pthread_cond_t *c)
{
    OK(pthread_mutex_lock(&old.mutex));
    while (old.waiting < OLD_WAITERS) {
        OK(pthread_mutex_unlock(&old.mutex));
        pause_ms(1);
        OK(pthread_mutex_lock(&old.mutex));
    }
    old.called++;
    OK(call(c));
    OK(pthread_mutex_unlock(&old.mutex));
}

static void an_old_condition_variable_is_24_bytes(void)
{
    memset(old.cond, 0xff, sizeof old.cond);
    pthread_cond_t *c = (void *)old.cond;
    OK(old_init(c, NULL));
    pthread_t t[OLD_WAITERS] = {spawn(wait_as_of_old, c), spawn(wait_as_of_old, c)};
    call_as_of_old(old_signal, c);
    call_as_of_old(old_broadcast, c);
    join(t[0]);
    join(t[1]);
    OK(pthread_mutex_lock(&old.mutex));
    struct timespec soon = in_ms(CLOCK_REALTIME, 1);
    CHECK_IS(old_timedwait(c, &old.mutex, &soon), ETIMEDOUT);
    OK(pthread_mutex_unlock(&old.mutex));
    OK(old_destroy(c));
    for (size_t i = OLD_SIZE; i < sizeof old.cond; i++)
        CHECK_IS(old.cond[i], 0xff);
}

#else

static void an_old_condition_variable_is_24_bytes(void)
{
    skip("one version here");
}

static void every_version_reaches_us(void)
{
    skip("one version here");
}

static void old_and_new_references_meet_in_one_lock(void)
{
    skip("one version here");
}

#endif

const test_case symbol_cases[] = {BEYOND(every_function_is_the_librarys),
                                  BEYOND(nothing_else_is_exported),
                                  BEYOND(every_version_that_libc_has_is_ours),
                                  CASE(a_version_excludes_those_without),
                                  BEYOND(a_library_without_versions_reaches_us),
                                  BEYOND(every_version_reaches_us),
                                  CASE(old_and_new_references_meet_in_one_lock),
                                  CASE(an_old_condition_variable_is_24_bytes),
                                  {0}};
