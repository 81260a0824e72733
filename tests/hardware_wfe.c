/* hardware_wfe.c - WFE on AArch64: what a wait executes, and that waiters get there
 *
 * WFE leaves no trace, least of all in an emulator. So the text of this program is changed: SEVL and WFE become
 * breakpoints, whose handler notes them and goes on behind them.
 */
#include "team.h"

#include "../src/hardware_aarch64.c"

#include <pawl/ticket.h>

#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#define SEVL 0xd50320bfu
#define WFE  0xd503205fu
#define RET  0xd65f03c0u
#define BRK  0xd4200000u /* the number is 5 bits further up */

enum { FIRST, SECOND, KINDS };                                                /* WFE, as the text has them */
static unsigned (*volatile wait)(pawl_word *, uint64_t) = pawl_hardware_wait; /* not inlined here */
static atomic_int sevls, wfes[KINDS];
static pawl_word word;
static bool changes; /* the word, as soon as the first WFE has returned */

static void note(int number, siginfo_t *info, void *context)
{
    (void)number, (void)info;
    mcontext_t *at = &((ucontext_t *)context)->uc_mcontext;
    switch (*(const uint32_t *)at->pc >> 5 & 0xffff) {
    case 1:
        atomic_fetch_add(&sevls, 1);
        break;
    case 2:
        if (changes)
            atomic_store(&word, 6);
        atomic_fetch_add(&wfes[FIRST], 1);
        break;
    default:
        atomic_fetch_add(&wfes[SECOND], 1);
    }
    at->pc += 4;
}

/* The order of the instructions is looked at first: SEVL, WFE, LDXR, WFE. */
static void set_breakpoints(void)
{
    static bool done;
    if (done)
        return;
    done = true;
    uint32_t *text = (uint32_t *)(uintptr_t)pawl_hardware_wait, *end = text;
    while (*end != RET)
        end++;
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE), from = (uintptr_t)text & ~(page - 1);
    CHECK(mprotect((void *)from, (uintptr_t)end + 4 - from, PROT_READ | PROT_WRITE | PROT_EXEC) == 0,
          "the text cannot be changed");
    struct sigaction action = {.sa_sigaction = note, .sa_flags = SA_SIGINFO};
    CHECK(sigaction(SIGTRAP, &action, NULL) == 0, "no handler");
    char order[8] = "";
    unsigned count = 0, waits = 0;
    for (uint32_t *i = text; i < end && count < sizeof order - 1; i++) {
        if (*i == SEVL) {
            order[count++] = 's';
            *i = BRK | 1 << 5;
        } else if (*i == WFE) {
            order[count++] = 'w';
            *i = BRK | (2 + waits++) << 5;
        } else if ((*i & 0xfffffc00) == 0xc85f7c00) {
            order[count++] = 'l'; /* LDXR of 64 bits */
        }
    }
    CHECK(strcmp(order, "swlw") == 0, "the text is %s", order);
    __builtin___clear_cache((char *)text, (char *)end);
}

static void expect(uint64_t seen, int second)
{
    atomic_store(&word, 5);
    atomic_store(&sevls, 0);
    atomic_store(&wfes[FIRST], 0);
    atomic_store(&wfes[SECOND], 0);
    CHECK(wait(&word, seen) == 1, "another number of waits");
    CHECK(atomic_load(&sevls) == 1 && atomic_load(&wfes[FIRST]) == 1, "an old event would end the wait");
    CHECK(atomic_load(&wfes[SECOND]) == second, "waits %d times, not %d", atomic_load(&wfes[SECOND]), second);
}

/* As it is: if nothing else does, the kernel ends it. */
static void a_wait_ends(const lock_info *unused)
{
    (void)unused;
    CHECK(strcmp(pawl_hardware_name(), "WFE") == 0, "%s", pawl_hardware_name());
    atomic_store(&word, 5);
    CHECK(wait(&word, 4) == 1 && wait(&word, 5) == 1, "another number of waits");
}

static void it_waits_while_the_word_is_as_seen(const lock_info *unused)
{
    (void)unused;
    set_breakpoints();
    expect(5, 1);
    expect(4, 0);
}

/* The load that arms the monitor is the one that looks. */
static void a_change_before_the_wait_is_seen(const lock_info *unused)
{
    (void)unused;
    set_breakpoints();
    changes = true;
    expect(5, 0);
    changes = false;
}

static pawl_ticket lock;

static void take(int me, void *unused)
{
    (void)me, (void)unused;
    pawl_ticket_ctx c;
    pawl_ticket_lock(&lock, &c);
    pawl_ticket_unlock(&lock, &c);
}

static void waiters_get_there(const lock_info *unused)
{
    (void)unused;
    enum { HANGS = 120 };
    set_breakpoints();
    CHECK(pawl_set_wait(PAWL_WAIT_SPIN), "no such policy");
    atomic_store(&wfes[SECOND], 0);
    pawl_ticket_ctx c;
    team_member waiter[1];
    pawl_ticket_lock(&lock, &c);
    team_start(waiter, 1, take, NULL);
    time_t end = time(NULL) + HANGS;
    while (atomic_load(&wfes[SECOND]) == 0 && time(NULL) < end)
        sched_yield();
    pawl_ticket_unlock(&lock, &c);
    team_join(waiter, 1);
    CHECK(atomic_load(&wfes[SECOND]) > 0, "a waiter has not waited by WFE");
}

#define WAIT(check_)                                                                                         \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "wfe"                                                   \
    }

static const promise promises[] = {
    WAIT(a_wait_ends),
    WAIT(it_waits_while_the_word_is_as_seen),
    WAIT(a_change_before_the_wait_is_seen),
    WAIT(waiters_get_there),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
