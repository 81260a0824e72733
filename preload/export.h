/* export.h - what a program sees of a library, and by which of glibc's versions
 *
 * A symbol without a version satisfies references to any version, also of a future glibc. dlvsym() insists on its
 * version, so each function also has an alias for every version that glibc has of it. The aliases are weak: GNU ld would
 * drop `f` for a strong `f@VERSION` at the same address. Other linkers drop it anyway, so they get no versions.
 *
 * On x86-64, condition variables of GLIBC_2.2.5 are smaller than those of 2.3.2. Only a default version keeps references
 * to the two apart.
 */
#pragma once

#define EXPORT __attribute__((visibility("default")))

#ifdef PRELOAD_VERSIONS

#ifdef __x86_64__
#define FIRST_VERSION "2.2.5"
#else
#define FIRST_VERSION "2.17"
#endif

/* The version script hides the names versioned_*. */
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
