/* seqlock.c - the Hapax paper's record: two words that are only stored to, as printed */
#include "mutants.h"

static struct {
    pawl_word write_first, write_last, payload[2];
} record;

static void write_as_printed(uint64_t hapax)
{
    atomic_store_explicit(&record.write_first, hapax, memory_order_seq_cst);
    for (int i = 0; i < 2; i++)
        atomic_store_explicit(&record.payload[i], hapax, memory_order_seq_cst);
    atomic_store_explicit(&record.write_last, hapax, memory_order_seq_cst);
}

static void read_as_printed(void)
{
    uint64_t copy[2], last = atomic_load_explicit(&record.write_last, memory_order_seq_cst);
    for (int i = 0; i < 2; i++)
        copy[i] = atomic_load_explicit(&record.payload[i], memory_order_seq_cst);
    if (atomic_load_explicit(&record.write_first, memory_order_seq_cst) == last)
        lab_assert(copy[0] == copy[1], "a copy belongs to one write");
}

static void run_thread(void *unused, int id)
{
    (void)unused;
    if (id < 2)
        write_as_printed((uint64_t)id + 1);
    else
        read_as_printed();
}

bool seqlock_as_printed_is_caught(void)
{
    struct lab_program program = {.threads = 3, .thread = run_thread};
    struct lab_limits limits = LAB_LIMITS;
    struct lab_result result;
    lab_explore(&program, &limits, &result);
    printf("%-40s %s after %llu executions\n", "seqlock-as-printed", lab_verdict_name(result.verdict),
           (unsigned long long)result.executions);
    return result.verdict == LAB_ASSERTION;
}
