/* slices.c - per-thread state: the slices that lock headers declare, and what happens to them when a thread ends
 *
 * Gaps keep shared slices apart, not alignment: a library loaded by dlopen() gets thread-local storage aligned to 16
 * bytes at most (on AArch64; 64 on x86-64), and all such libraries together have about 1.5 kB of it left. The slices
 * and the gaps are variables of one section, which keeps their order, and begin with a gap. As one object with
 * fields, Hemlock's mailbox would be at an offset, and its fast path an instruction longer.
 */
#include "slices.h"
#include "copy.h"

#include <pawl/detail/atomic.h>

PAWL_ONE_COPY

#if __has_attribute(no_reorder)
#define IN_ORDER __attribute__((no_reorder))
#else
#define IN_ORDER /* clang does not reorder */
#endif
#if __has_attribute(retain)
#define LISTED __attribute__((section("pawl_slices"), used, retain))
#else
#define LISTED __attribute__((section("pawl_slices"), used))
#endif
#define INITIAL_EXEC __attribute__((tls_model("initial-exec")))
#define APART                                                                                                \
    __attribute__((section(".tbss.pawl_shared"), aligned(PAWL_TLS_ALIGNMENT), used)) IN_ORDER INITIAL_EXEC
#define GAP(name) static __thread char name[PAWL_APART] APART

#define TABLED(name_, type, shared_, ...)                                                                    \
    static void *name_##_address(void)                                                                       \
    {                                                                                                        \
        return (void *)&pawl_##name_##_self;                                                                 \
    }                                                                                                        \
    static const pawl_slice name_##_slice = {                                                                \
        .name = #name_, .address = name_##_address, .size = sizeof(type), .shared = shared_, __VA_ARGS__};   \
    static const pawl_slice *const name_##_listed LISTED = &name_##_slice

#define PAWL_SLICE(name, type, ...)                                                                          \
    __thread type pawl_##name##_self PAWL_NUMBERED("pawl_" #name "_self") INITIAL_EXEC;                      \
    TABLED(name, type, false, __VA_ARGS__)
#define PAWL_SHARED_SLICE(name, type, ...)                                                                   \
    __thread type pawl_##name##_self PAWL_NUMBERED("pawl_" #name "_self") APART;                             \
    GAP(after_##name);                                                                                       \
    TABLED(name, type, true, __VA_ARGS__)

GAP(before_all);

#include <pawl/locks.h>

/* The linker defines these: the section's ends. */
extern const pawl_slice *const __start_pawl_slices[] __attribute__((visibility("hidden")));
extern const pawl_slice *const __stop_pawl_slices[] __attribute__((visibility("hidden")));

const pawl_slice *pawl_slice_at(int i)
{
    return i < __stop_pawl_slices - __start_pawl_slices ? __start_pawl_slices[i] : NULL;
}

void pawl_thread_leave(void)
{
    const pawl_slice *s;
    for (int i = 0; (s = pawl_slice_at(i)) != NULL; i++)
        if (s->leave != NULL)
            s->leave();
}
