/* export.h - what a program sees of a library, and by which of glibc's versions
 *
 * A reference of any version reaches a symbol that has none, also one of a glibc to come. dlvsym() wants the version
 * that it names, so each function has an alias for every version that glibc has of it. The aliases are weak, because
 * GNU ld drops `f` if there is an `f@VERSION` of the same kind at the same place; other linkers drop it anyhow and are
 * not asked for versions.
 *
 * On x86-64, condition variables of GLIBC_2.2.5 are smaller objects than those of 2.3.2. Only a default version keeps
 * references to the two apart.
 */
#pragma once

#define EXPORT __attribute__((visibility("default")))

#ifdef PRELOAD_VERSIONS

#ifdef __x86_64__
#define FIRST_VERSION "2.2.5"
#else
#define FIRST_VERSION "2.17"
#endif

/* The version script keeps these names to itself. */
#define VERSION(name, word, version)                                                                         \
    extern __typeof(name) versioned_##word##_##name                                                          \
        __attribute__((weak, alias(#name), visibility("default")));                                          \
    __asm__(".symver versioned_" #word "_" #name ", " #name "@GLIBC_" version)

#define OF_LIBC(name)       VERSION(name, first, FIRST_VERSION)
#define OF_LIBPTHREAD(name) MOVED(name, FIRST_VERSION)
#define MOVED(name, version)                                                                                 \
    VERSION(name, since, version);                                                                           \
    VERSION(name, moved, "2.34") /* from libpthread to libc */

#ifdef __x86_64__
#define OF_COND(name)         __asm__(".symver " #name ", " #name "@@@GLIBC_2.3.2")
#define OF_OLD_COND(name, of) __asm__(".symver " #name ", " #of "@GLIBC_2.2.5")
#else
#define OF_COND(name) OF_LIBC(name)
#endif

#else

#define OF_LIBC(name)        _Static_assert(1, #name)
#define OF_LIBPTHREAD(name)  OF_LIBC(name)
#define MOVED(name, version) OF_LIBC(name)
#define OF_COND(name)        OF_LIBC(name)

#endif
