/* hardware.c - what is asked of an x86-64 processor, one instruction at a time
 *
 * Few processors know all of these instructions, so none is executed: each is recognised beforehand and skipped. CPUID
 * gives the answers that a test prepared.
 */
#include "step.h"
#include "team.h"

#include "../src/hardware_x86_64.c"

typedef enum code { UMONITOR, UMWAIT_, MONITORX, MWAITX_, CPUID, CODES } code;

static const struct {
    const char *bytes;
    int length;
} codes[CODES] = {
    [UMONITOR] = {"\xf3\x0f\xae\xf7", 4},
    [UMWAIT_] = {"\xf2\x0f\xae\xf1", 4},
    [MONITORX] = {"\x0f\x01\xfa", 3},
    [MWAITX_] = {"\x0f\x01\xfb", 3},
    [CPUID] = {"\x0f\xa2", 2},
};

static struct {
    code code;
    uint64_t a, b, c, d, di;
} seen[8];
static int count;

static uint32_t highest[2], features_7, features_80000001; /* that CPUID tells of */

static void answer(greg_t *r)
{
    uint32_t leaf = (uint32_t)r[REG_RAX];
    CHECK(leaf != 7 || (uint32_t)r[REG_RCX] == 0, "another part of leaf 7");
    r[REG_RCX] = leaf == 7 ? features_7 : leaf == 0x80000001 ? features_80000001 : 0;
    r[REG_RAX] = highest[leaf >> 31];
    r[REG_RBX] = r[REG_RDX] = 0;
}

static bool look(int instruction)
{
    (void)instruction;
    greg_t *r = step_registers->uc_mcontext.gregs;
    for (int k = 0; k < CODES; k++) {
        if (memcmp((const void *)r[REG_RIP], codes[k].bytes, (size_t)codes[k].length) != 0)
            continue;
        r[REG_RIP] += codes[k].length;
        if (k == CPUID) {
            answer(r);
        } else {
            CHECK(count < 8, "no end of them");
            seen[count].code = (code)k;
            seen[count].a = (uint64_t)r[REG_RAX], seen[count].b = (uint64_t)r[REG_RBX];
            seen[count].c = (uint64_t)r[REG_RCX], seen[count].d = (uint64_t)r[REG_RDX];
            seen[count++].di = (uint64_t)r[REG_RDI];
        }
        break;
    }
    return true;
}

static pawl_word word = 5;
static unsigned room;

static void wait_for(void *value)
{
    room = pawl_hardware_wait(&word, *(uint64_t *)value);
}

/* Both kinds watch the line of the word first, and wait only if it still holds what was seen. */
static void expect_wait(int offers, code monitor, code wait)
{
    for (uint64_t value = 5; value < 7; value++) {
        count = 0;
        atomic_store(&kind, offers);
        step_through(wait_for, &value, look);
        CHECK(room == WAITS, "%u waits in a phase", room);
        CHECK(count > 0 && seen[0].code == monitor, "watches nothing");
        CHECK(count == (value == 5 ? 2 : 1) && (count == 1 || seen[1].code == wait), "%d of them", count);
    }
}

static void umwait_watches_the_word(const lock_info *unused)
{
    (void)unused;
    uint64_t begin = __builtin_ia32_rdtsc();
    expect_wait(UMWAIT, UMONITOR, UMWAIT_);
    CHECK(seen[0].di == (uint64_t)&word, "watches something else");
    uint64_t until = seen[1].d << 32 | (uint32_t)seen[1].a;
    CHECK((uint32_t)seen[1].c == 1 && until >= begin + CYCLES, "for no time");
    CHECK(until <= __builtin_ia32_rdtsc() + CYCLES, "for another time");
}

static void mwaitx_watches_the_word(const lock_info *unused)
{
    (void)unused;
    expect_wait(MWAITX, MONITORX, MWAITX_);
    CHECK(seen[0].a == (uint64_t)&word && (uint32_t)seen[0].c == 0, "watches something else");
    CHECK((uint32_t)seen[1].c == 2 && (uint32_t)seen[1].b == CYCLES, "for another time");
}

static void a_pause_is_no_wait(const lock_info *unused)
{
    (void)unused;
    uint64_t value = 5;
    atomic_store(&kind, PAUSE);
    step_through(wait_for, &value, look);
    CHECK(count == 0 && room == 0, "%d instructions, %u waits", count, room);
}

static void ask(void *answer)
{
    *(int *)answer = offered();
}

static void expect_offer(uint32_t leaf, uint32_t umwait, uint32_t mwaitx, int expected)
{
    int answer;
    highest[0] = leaf;
    highest[1] = 0x80000000 + leaf;
    features_7 = umwait;
    features_80000001 = mwaitx;
    atomic_store(&kind, UNKNOWN);
    step_through(ask, &answer, look);
    CHECK(answer == expected && atomic_load(&kind) == expected, "%d, not %d", answer, expected);
    CHECK(strcmp(pawl_hardware_name(), expected == UMWAIT   ? "UMWAIT"
                                       : expected == MWAITX ? "MWAITX"
                                                            : "pause") == 0,
          "it is called %s", pawl_hardware_name());
    features_7 = ~umwait;
    step_through(ask, &answer, look);
    CHECK(answer == expected, "asked again");
}

static void cpuid_says_what_there_is(const lock_info *unused)
{
    (void)unused;
    expect_offer(7, 1u << 5, 0, UMWAIT);
    expect_offer(7, 1u << 5, 1u << 29, UMWAIT);
    expect_offer(7, 0, 1u << 29, MWAITX);
    expect_offer(7, ~(1u << 5), ~(1u << 29), PAUSE);
    expect_offer(0, 1u << 5, 1u << 29, PAUSE); /* it knows neither leaf */
}

#define HARDWARE(check_)                                                                                     \
    {                                                                                                        \
        .name = #check_, .check = check_, .subject = "hardware"                                              \
    }

static const promise promises[] = {
    HARDWARE(umwait_watches_the_word),
    HARDWARE(mwaitx_watches_the_word),
    HARDWARE(a_pause_is_no_wait),
    HARDWARE(cpuid_says_what_there_is),
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
