/* litmus.c - the programs (instrumented); see litmus.h
 *
 * Names follow the literature: SB store buffering, MP message passing, LB load buffering, IRIW independent reads of
 * independent writes, Co* coherence, 2+2W, ISA2, WRC write-to-read causality, RWC read-to-write causality, R, S.
 */
#include "litmus.h"
#include <stdatomic.h>

#define RLX memory_order_relaxed
#define ACQ memory_order_acquire
#define REL memory_order_release
#define AR memory_order_acq_rel
#define SC memory_order_seq_cst

static _Atomic int x, y, z;
static int data;
int r[4];

void litmus_setup(void *unused)
{
    (void)unused;
    x = y = z = 0;
    data = 0;
    for (int i = 0; i < 4; i++)
        r[i] = UNSET;
}

#define W(v, n, o) atomic_store_explicit(&v, n, o)
#define R(v, o) atomic_load_explicit(&v, o)
#define FENCE(o) atomic_thread_fence(o)
#define ADD(v, n, o) atomic_fetch_add_explicit(&v, n, o)

/* BODY(name, T0, T1, ...) defines what each thread does. */
#define BODY2(name, t0, t1)                                                                                          \
    static void name(void *unused, int id)                                                                           \
    {                                                                                                                \
        (void)unused;                                                                                                \
        if (id == 0) {                                                                                               \
            t0;                                                                                                      \
        } else {                                                                                                     \
            t1;                                                                                                      \
        }                                                                                                            \
    }
#define BODY3(name, t0, t1, t2)                                                                                      \
    static void name(void *unused, int id)                                                                           \
    {                                                                                                                \
        (void)unused;                                                                                                \
        if (id == 0) {                                                                                               \
            t0;                                                                                                      \
        } else if (id == 1) {                                                                                        \
            t1;                                                                                                      \
        } else {                                                                                                     \
            t2;                                                                                                      \
        }                                                                                                            \
    }
#define BODY4(name, t0, t1, t2, t3)                                                                                  \
    static void name(void *unused, int id)                                                                           \
    {                                                                                                                \
        (void)unused;                                                                                                \
        if (id == 0) {                                                                                               \
            t0;                                                                                                      \
        } else if (id == 1) {                                                                                        \
            t1;                                                                                                      \
        } else if (id == 2) {                                                                                        \
            t2;                                                                                                      \
        } else {                                                                                                     \
            t3;                                                                                                      \
        }                                                                                                            \
    }

/* clang-format off */

/* ---- store buffering: both read 0 ---- */
BODY2(sb_rlx,      W(x, 1, RLX); r[0] = R(y, RLX),              W(y, 1, RLX); r[1] = R(x, RLX))
BODY2(sb_ra,       W(x, 1, REL); r[0] = R(y, ACQ),              W(y, 1, REL); r[1] = R(x, ACQ))
BODY2(sb_sc,       W(x, 1, SC);  r[0] = R(y, SC),               W(y, 1, SC);  r[1] = R(x, SC))
BODY2(sb_fences,   W(x, 1, RLX); FENCE(SC); r[0] = R(y, RLX),   W(y, 1, RLX); FENCE(SC); r[1] = R(x, RLX))
BODY2(sb_one_fence, W(x, 1, RLX); FENCE(SC); r[0] = R(y, RLX),  W(y, 1, RLX); r[1] = R(x, RLX))
BODY2(sb_ar_fences, W(x, 1, RLX); FENCE(AR); r[0] = R(y, RLX),  W(y, 1, RLX); FENCE(AR); r[1] = R(x, RLX))
BODY2(sb_sc_store, W(x, 1, SC);  r[0] = R(y, ACQ),              W(y, 1, SC);  r[1] = R(x, ACQ))
BODY2(sb_sc_mixed, W(x, 1, SC);  r[0] = R(y, SC),               W(y, 1, RLX); FENCE(SC); r[1] = R(x, RLX))
BODY2(sb_rmw,      W(x, 1, RLX); r[0] = ADD(y, 0, AR),          W(y, 1, RLX); r[1] = ADD(x, 0, AR))
BODY2(sb_rmw_both, ADD(x, 1, SC); r[0] = R(y, SC),              ADD(y, 1, SC); r[1] = R(x, SC))
BODY2(sb_rmw_rlx,  ADD(x, 1, RLX); r[0] = R(y, RLX),            ADD(y, 1, RLX); r[1] = R(x, RLX))
/* Dekker through RMWs of one word: whoever comes second synchronises with the first. */
BODY2(dekker_rmw,  W(x, 1, RLX); ADD(z, 0, AR); r[0] = R(y, RLX), W(y, 1, RLX); ADD(z, 0, AR); r[1] = R(x, RLX))

/* ---- message passing: sees the flag, not the message ---- */
BODY2(mp_rlx,      W(x, 1, RLX); W(y, 1, RLX),                  r[0] = R(y, RLX); r[1] = R(x, RLX))
BODY2(mp_ra,       W(x, 1, RLX); W(y, 1, REL),                  r[0] = R(y, ACQ); r[1] = R(x, RLX))
BODY2(mp_rel_rlx,  W(x, 1, RLX); W(y, 1, REL),                  r[0] = R(y, RLX); r[1] = R(x, RLX))
BODY2(mp_fences,   W(x, 1, RLX); FENCE(REL); W(y, 1, RLX),      r[0] = R(y, RLX); FENCE(ACQ); r[1] = R(x, RLX))
BODY2(mp_rel_fence, W(x, 1, RLX); FENCE(REL); W(y, 1, RLX),     r[0] = R(y, RLX); r[1] = R(x, RLX))
BODY2(mp_late_fence, W(x, 1, RLX); W(y, 1, RLX); FENCE(REL),    r[0] = R(y, RLX); FENCE(ACQ); r[1] = R(x, RLX))
BODY2(mp_sc_fences, W(x, 1, RLX); FENCE(SC); W(y, 1, RLX),      r[0] = R(y, RLX); FENCE(SC); r[1] = R(x, RLX))
/* A release sequence: continued by anyone's RMW, ended by another thread's store and, as in C++20, by one's own. */
BODY3(rs_rmw,      W(x, 1, RLX); W(y, 1, REL),                  ADD(y, 1, RLX),
                   if ((r[0] = R(y, ACQ)) == 2) r[1] = R(x, RLX))
BODY3(rs_store,    W(x, 1, RLX); W(y, 1, REL),                  if (R(y, RLX) == 1) W(y, 2, RLX),
                   if ((r[0] = R(y, ACQ)) == 2) r[1] = R(x, RLX))
BODY2(rs_own,      W(x, 1, RLX); W(y, 1, REL); W(y, 2, RLX),    if ((r[0] = R(y, ACQ)) == 2) r[1] = R(x, RLX))
BODY3(rs_fence,    W(x, 1, RLX); FENCE(REL); W(y, 1, RLX),      ADD(y, 1, RLX),
                   if ((r[0] = R(y, ACQ)) == 2) r[1] = R(x, RLX))

/* ---- load buffering: C11 allows it, the model does not ---- */
BODY2(lb_rlx,      r[0] = R(x, RLX); W(y, 1, RLX),              r[1] = R(y, RLX); W(x, 1, RLX))
BODY2(lb_ra,       r[0] = R(x, ACQ); W(y, 1, REL),              r[1] = R(y, ACQ); W(x, 1, REL))

/* ---- several observers ---- */
BODY4(iriw_rlx,    W(x, 1, RLX), W(y, 1, RLX), r[0] = R(x, RLX); r[1] = R(y, RLX), r[2] = R(y, RLX); r[3] = R(x, RLX))
BODY4(iriw_ra,     W(x, 1, REL), W(y, 1, REL), r[0] = R(x, ACQ); r[1] = R(y, ACQ), r[2] = R(y, ACQ); r[3] = R(x, ACQ))
BODY4(iriw_sc,     W(x, 1, SC),  W(y, 1, SC),  r[0] = R(x, SC);  r[1] = R(y, SC),  r[2] = R(y, SC);  r[3] = R(x, SC))
BODY4(iriw_sc_acq, W(x, 1, SC),  W(y, 1, SC),  r[0] = R(x, ACQ); r[1] = R(y, SC),  r[2] = R(y, ACQ); r[3] = R(x, SC))
BODY4(iriw_fences, W(x, 1, RLX), W(y, 1, RLX), r[0] = R(x, RLX); FENCE(SC); r[1] = R(y, RLX),
                                               r[2] = R(y, RLX); FENCE(SC); r[3] = R(x, RLX))
BODY3(wrc_ra,      W(x, 1, RLX), if (R(x, RLX)) W(y, 1, REL),   r[0] = R(y, ACQ); r[1] = R(x, RLX))
BODY3(wrc_rlx,     W(x, 1, RLX), if (R(x, RLX)) W(y, 1, RLX),   r[0] = R(y, RLX); r[1] = R(x, RLX))
BODY3(isa2_ra,     W(x, 1, RLX); W(y, 1, REL), if (R(y, ACQ)) W(z, 1, REL), r[0] = R(z, ACQ); r[1] = R(x, RLX))
BODY3(isa2_rlx,    W(x, 1, RLX); W(y, 1, REL), if (R(y, RLX)) W(z, 1, REL), r[0] = R(z, ACQ); r[1] = R(x, RLX))
BODY3(rwc_fences,  W(x, 1, RLX), r[0] = R(x, RLX); FENCE(SC); r[1] = R(y, RLX), W(y, 1, RLX); FENCE(SC); r[2] = R(x, RLX))
BODY3(rwc_ra,      W(x, 1, REL), r[0] = R(x, ACQ); r[1] = R(y, ACQ), W(y, 1, REL); r[2] = R(x, ACQ))

/* ---- coherence ---- */
BODY2(corr,        W(x, 1, RLX),                                r[0] = R(x, RLX); r[1] = R(x, RLX))
BODY2(coww,        W(x, 1, RLX); W(x, 2, RLX),                  r[0] = R(x, RLX); r[1] = R(x, RLX))
BODY2(cowr,        W(x, 1, RLX); r[0] = R(x, RLX),              W(x, 2, RLX); r[1] = R(x, RLX))
BODY2(corw,        r[2] = R(x, RLX); W(x, 1, RLX),              W(x, 2, RLX))
BODY3(corr_both,   W(x, 1, RLX); W(x, 2, RLX), r[0] = R(x, RLX); r[1] = R(x, RLX), r[2] = R(x, RLX); r[3] = R(x, RLX))

/* ---- modification order against execution order. The last value decides, and finish reads it. ---- */
BODY2(w22_rlx,     W(x, 1, RLX); W(y, 2, RLX),                  W(y, 1, RLX); W(x, 2, RLX))
BODY2(w22_sc,      W(x, 1, SC);  W(y, 2, SC),                   W(y, 1, SC);  W(x, 2, SC))
BODY2(w22_fences,  W(x, 1, RLX); FENCE(SC); W(y, 2, RLX),       W(y, 1, RLX); FENCE(SC); W(x, 2, RLX))
BODY2(r_fences,    W(x, 1, RLX); FENCE(SC); W(y, 1, RLX),       W(y, 2, RLX); FENCE(SC); r[2] = R(x, RLX))
BODY2(r_ra,        W(x, 1, REL); W(y, 1, REL),                  W(y, 2, REL); r[2] = R(x, ACQ))
BODY2(s_ra,        W(x, 2, RLX); W(y, 1, REL),                  r[2] = R(y, ACQ); W(x, 1, RLX))
BODY2(s_rlx,       W(x, 2, RLX); W(y, 1, RLX),                  r[2] = R(y, RLX); W(x, 1, RLX))
/* No store comes between an RMW and what it read. */
BODY3(rmw_atomic,  ADD(x, 1, RLX), ADD(x, 1, RLX), ADD(x, 1, RLX))
BODY2(rmw_store,   r[2] = ADD(x, 1, RLX),                       W(x, 4, RLX))

/* ---- compare and swap ---- */
static int cas(_Atomic int *v, int expected, int n, memory_order success, memory_order failure)
{
    atomic_compare_exchange_strong_explicit(v, &expected, n, success, failure);
    return expected;
}

BODY2(cas_fail_rlx, W(x, 1, RLX); W(y, 1, REL),                 r[0] = cas(&y, 7, 8, AR, RLX); r[1] = R(x, RLX))
BODY2(cas_fail_acq, W(x, 1, RLX); W(y, 1, REL),                 r[0] = cas(&y, 7, 8, AR, ACQ); r[1] = R(x, RLX))
BODY2(cas_fail_stale, W(y, 1, RLX); W(x, 1, REL),               r[0] = R(x, RLX); r[1] = cas(&y, 1, 2, RLX, RLX))
BODY2(cas_fail_sc, W(x, 1, SC); r[0] = cas(&y, 7, 8, SC, SC),  W(y, 1, SC); r[1] = R(x, SC))
BODY2(cas_fail_not_sc, W(x, 1, SC); r[0] = cas(&y, 7, 8, SC, RLX), W(y, 1, SC); r[1] = R(x, SC))

static void weak_cas(void *unused, int id)
{
    (void)unused;
    int expected = 0;
    if (id == 0)
        r[0] = atomic_compare_exchange_weak_explicit(&x, &expected, 1, RLX, RLX);
}

/* ---- data races ---- */
BODY2(race_plain,   data = 1,                                   r[0] = data)
BODY2(race_atomic,  data = 1; W(x, 1, REL),                     if (R(x, RLX)) r[0] = data)
BODY2(no_race,      data = 1; W(x, 1, REL),                     if (R(x, ACQ)) r[0] = data)
BODY2(no_race_rmw,  data = 1; ADD(x, 1, REL),                   if (ADD(x, 0, ACQ)) r[0] = data)
/* seq_cst fences forbid SB's outcome but order no plain accesses: the loser of the Dekker race may not touch data. */
BODY2(fence_no_hb,  data = 1; W(x, 1, RLX); FENCE(SC); r[0] = R(y, RLX),
                    W(y, 1, RLX); FENCE(SC); if (R(x, RLX) == 1) data = 2)
BODY2(fence_hb,     data = 1; FENCE(SC); W(x, 1, RLX),          if (R(x, RLX)) { FENCE(SC); r[0] = data; })

static union { _Atomic int atomic; int plain; } both;
BODY2(race_mixed,   both.plain = 1,                             r[0] = R(both.atomic, ACQ))
BODY2(race_mixed_2, r[0] = R(both.atomic, RLX),                 both.plain = 1)
/* Initialising an atomic object by plain stores before publishing it is what everyone does. */
BODY2(init_plain,   both.plain = 7; W(x, 1, REL),               if (R(x, ACQ)) r[0] = R(both.atomic, RLX))

static union { uint64_t whole; uint32_t half[2]; } sizes;
BODY2(race_sizes,   sizes.whole = 1,                            r[0] = (int)sizes.half[1])
BODY2(no_race_sizes, sizes.half[0] = 1,                         r[0] = (int)sizes.half[1])

static union { _Atomic uint64_t whole; _Atomic uint32_t half; } torn;
BODY2(mixed_atomics, W(torn.whole, 1, RLX),                     r[0] = (int)R(torn.half, RLX))

#define U UNSET
const struct litmus litmus[] = {
    {"SB relaxed", 2, sb_rlx, ALLOWED, {0, 0, U, U}, 0, 0, 0},
    {"SB release/acquire", 2, sb_ra, ALLOWED, {0, 0, U, U}, 0, 0, 0},
    {"SB seq_cst", 2, sb_sc, FORBIDDEN, {0, 0, U, U}, 0, 0, 0},
    {"SB seq_cst fences", 2, sb_fences, FORBIDDEN, {0, 0, U, U}, 0, 0, 0},
    {"SB one seq_cst fence", 2, sb_one_fence, ALLOWED, {0, 0, U, U}, 0, 0, 0},
    {"SB acq_rel fences", 2, sb_ar_fences, ALLOWED, {0, 0, U, U}, 0, 0, 0},
    {"SB seq_cst stores, acquire loads", 2, sb_sc_store, ALLOWED, {0, 0, U, U}, 0, 0, 0},
    {"SB seq_cst accesses against a fence", 2, sb_sc_mixed, FORBIDDEN, {0, 0, U, U}, 0, 0, 0},
    {"SB read by acq_rel RMWs, without inserts", 2, sb_rmw, FORBIDDEN, {0, 0, U, U}, 0, 0, 0},
    {"SB read by acq_rel RMWs, inserted", 2, sb_rmw, ALLOWED, {0, 0, U, U}, 0, 1, 0},
    {"SB written by seq_cst RMWs", 2, sb_rmw_both, FORBIDDEN, {0, 0, U, U}, 0, 0, 0},
    {"SB written by relaxed RMWs", 2, sb_rmw_rlx, ALLOWED, {0, 0, U, U}, 0, 0, 0},
    {"Dekker through RMWs of a third word", 2, dekker_rmw, FORBIDDEN, {0, 0, U, U}, 0, 1, 0},
    {"MP relaxed", 2, mp_rlx, ALLOWED, {1, 0, U, U}, 0, 0, 0},
    {"MP release/acquire", 2, mp_ra, FORBIDDEN, {1, 0, U, U}, 0, 0, 0},
    {"MP release/relaxed", 2, mp_rel_rlx, ALLOWED, {1, 0, U, U}, 0, 0, 0},
    {"MP fences", 2, mp_fences, FORBIDDEN, {1, 0, U, U}, 0, 0, 0},
    {"MP release fence alone", 2, mp_rel_fence, ALLOWED, {1, 0, U, U}, 0, 0, 0},
    {"MP release fence too late", 2, mp_late_fence, ALLOWED, {1, 0, U, U}, 0, 0, 0},
    {"MP seq_cst fences", 2, mp_sc_fences, FORBIDDEN, {1, 0, U, U}, 0, 0, 0},
    {"release sequence through an RMW", 3, rs_rmw, FORBIDDEN, {2, 0, U, U}, 0, 1, 0},
    {"release sequence ended by another's store", 3, rs_store, ALLOWED, {2, 0, U, U}, 0, 0, 0},
    {"release sequence ended by one's own store", 2, rs_own, ALLOWED, {2, 0, U, U}, 0, 0, 0},
    {"release sequence headed by a fence", 3, rs_fence, FORBIDDEN, {2, 0, U, U}, 0, 1, 0},
    {"LB relaxed (the model excludes it)", 2, lb_rlx, FORBIDDEN, {1, 1, U, U}, 0, 1, 0},
    {"LB release/acquire", 2, lb_ra, FORBIDDEN, {1, 1, U, U}, 0, 1, 0},
    {"IRIW relaxed", 4, iriw_rlx, ALLOWED, {1, 0, 1, 0}, 0, 0, 0},
    {"IRIW release/acquire", 4, iriw_ra, ALLOWED, {1, 0, 1, 0}, 0, 0, 0},
    {"IRIW seq_cst", 4, iriw_sc, FORBIDDEN, {1, 0, 1, 0}, 0, 0, 0},
    {"IRIW seq_cst, first reads acquire (C11; RC11 allows it)", 4, iriw_sc_acq, FORBIDDEN, {1, 0, 1, 0}, 0, 0, 0},
    {"IRIW seq_cst fences", 4, iriw_fences, FORBIDDEN, {1, 0, 1, 0}, 0, 0, 0},
    {"WRC release/acquire", 3, wrc_ra, FORBIDDEN, {1, 0, U, U}, 0, 0, 0},
    {"WRC relaxed", 3, wrc_rlx, ALLOWED, {1, 0, U, U}, 0, 0, 0},
    {"ISA2 release/acquire", 3, isa2_ra, FORBIDDEN, {1, 0, U, U}, 0, 0, 0},
    {"ISA2 broken chain", 3, isa2_rlx, ALLOWED, {1, 0, U, U}, 0, 0, 0},
    {"RWC seq_cst fences", 3, rwc_fences, FORBIDDEN, {1, 0, 0, U}, 0, 0, 0},
    {"RWC release/acquire", 3, rwc_ra, ALLOWED, {1, 0, 0, U}, 0, 0, 0},
    {"CoRR", 2, corr, FORBIDDEN, {1, 0, U, U}, 0, 1, 0},
    {"CoWW", 2, coww, FORBIDDEN, {2, 1, U, U}, 0, 1, 0},
    {"CoWR", 2, cowr, FORBIDDEN, {2, 1, U, U}, 0, 2, 0},
    {"CoRW", 2, corw, FORBIDDEN, {2, 0, 2, U}, 0, 1, 0},
    {"CoRW, the future", 2, corw, FORBIDDEN, {1, 0, 1, U}, 0, 1, 0},
    {"CoRR, two observers agree", 3, corr_both, FORBIDDEN, {1, 2, 2, 1}, 0, 1, 0},
    {"2+2W relaxed", 2, w22_rlx, ALLOWED, {1, 1, U, U}, 0, 1, 0},
    {"2+2W relaxed without inserts", 2, w22_rlx, FORBIDDEN, {1, 1, U, U}, 0, 0, 0},
    {"2+2W seq_cst", 2, w22_sc, FORBIDDEN, {1, 1, U, U}, 0, 2, 0},
    {"2+2W seq_cst fences", 2, w22_fences, FORBIDDEN, {1, 1, U, U}, 0, 2, 0},
    {"R seq_cst fences", 2, r_fences, FORBIDDEN, {1, 2, 0, U}, 0, 2, 0},
    {"R release/acquire", 2, r_ra, ALLOWED, {1, 2, 0, U}, 0, 1, 0},
    {"S release/acquire", 2, s_ra, FORBIDDEN, {2, 1, 1, U}, 0, 2, 0},
    {"S relaxed", 2, s_rlx, ALLOWED, {2, 1, 1, U}, 0, 1, 0},
    {"RMWs do not lose each other", 3, rmw_atomic, FORBIDDEN, {2, 0, U, U}, 0, 2, 0},
    {"RMW before a store that executed", 2, rmw_store, ALLOWED, {4, 0, 0, U}, 0, 1, 0},
    {"RMW, nothing between it and its read", 2, rmw_store, FORBIDDEN, {1, 0, 0, U}, 0, 1, 0},
    {"CAS failure relaxed does not acquire", 2, cas_fail_rlx, ALLOWED, {1, 0, U, U}, 0, 0, 0},
    {"CAS failure acquire does", 2, cas_fail_acq, FORBIDDEN, {1, 0, U, U}, 0, 0, 0},
    {"CAS may fail on a stale value", 2, cas_fail_stale, ALLOWED, {1, 0, U, U}, 0, 0, 0},
    {"CAS failure seq_cst is half of a Dekker pair", 2, cas_fail_sc, FORBIDDEN, {0, 0, U, U}, 0, 0, 0},
    {"CAS success order does not apply to failure", 2, cas_fail_not_sc, ALLOWED, {0, 0, U, U}, 0, 0, 0},
#ifndef __clang__ /* which does not tell the lab that a CAS is weak */
    {"weak CAS fails spuriously", 1, weak_cas, ALLOWED, {0, U, U, U}, 0, 0, 1},
#endif
    {"weak CAS without budget", 1, weak_cas, FORBIDDEN, {0, U, U, U}, 0, 0, 0},
    {"plain race", 2, race_plain, VERDICT, {0}, LAB_DATA_RACE, 0, 0},
    {"relaxed flag", 2, race_atomic, VERDICT, {0}, LAB_DATA_RACE, 0, 0},
    {"publication", 2, no_race, VERDICT, {0}, LAB_OK, 1, 0},
    {"publication through RMWs", 2, no_race_rmw, VERDICT, {0}, LAB_OK, 1, 0},
    {"seq_cst fences alone do not order plain data", 2, fence_no_hb, VERDICT, {0}, LAB_DATA_RACE, 0, 0},
    {"fences around relaxed accesses do", 2, fence_hb, VERDICT, {0}, LAB_OK, 1, 0},
    {"plain store against atomic load", 2, race_mixed, VERDICT, {0}, LAB_DATA_RACE, 0, 0},
    {"atomic load against plain store", 2, race_mixed_2, VERDICT, {0}, LAB_DATA_RACE, 0, 0},
    {"plain initialisation of an atomic", 2, init_plain, VERDICT, {0}, LAB_OK, 0, 0},
    {"plain initialisation is what is read", 2, init_plain, FORBIDDEN, {0, U, U, U}, 0, 0, 0},
    {"race between a word and its half", 2, race_sizes, VERDICT, {0}, LAB_DATA_RACE, 0, 0},
    {"halves do not race", 2, no_race_sizes, VERDICT, {0}, LAB_OK, 0, 0},
    {"atomics of two sizes", 2, mixed_atomics, VERDICT, {0}, LAB_UNSUPPORTED, 0, 0},
};
/* clang-format on */
const int litmus_count = sizeof litmus / sizeof *litmus;

/* Runs in finish. Where an outcome is about the final values, they take r[0] and r[1]. */
void litmus_final(void)
{
    if (r[0] == UNSET && r[1] == UNSET) {
        r[0] = x;
        r[1] = y;
    }
}
