/* site.c - see site.h */
#include "site.h"
#include "heap.h"
#include "fiber.h"
#include "model.h"
#include <stdlib.h>

enum { NOT_MUTATED = -1 };

struct entry {
    struct lab_site site; /* pc NULL = free */
    int mutated[2];       /* by role */
    uint64_t visitors[LAB_VISITORS / 64];
};

static struct entry *table; /* open addressing, at most half full */
static size_t size, used;
static struct lab_site *sorted;
static bool any_mutation;
static int visitor;

static struct entry *find(const void *pc)
{
    size_t i = lab_mix((uintptr_t)pc, 0) & (size - 1);
    while (table[i].site.pc && table[i].site.pc != pc)
        i = (i + 1) & (size - 1);
    return &table[i];
}

static void grow(void)
{
    struct entry *old = table;
    size_t old_size = size;
    size = old_size ? 2 * old_size : 1024;
    table = lab_allocate(size * sizeof *table);
    for (size_t i = 0; i < old_size; i++)
        if (old[i].site.pc)
            *find(old[i].site.pc) = old[i];
    free(old);
}

static struct entry *entry_at(const void *pc)
{
    if (2 * used >= size)
        grow();
    struct entry *e = find(pc);
    if (!e->site.pc) {
        *e = (struct entry){.site = {.pc = pc, .order = -1}, .mutated = {NOT_MUTATED, NOT_MUTATED}};
        used++;
    }
    return e;
}

static struct entry *note(const void *pc, enum lab_op op, int order, int failure)
{
    struct entry *e = entry_at(pc);
    e->site.op = op;
    e->site.order = order;
    e->site.failure = failure;
    e->visitors[visitor / 64] |= (uint64_t)1 << visitor % 64;
    return e;
}

int lab_site_order(const void *pc, enum lab_op op, int order)
{
    const struct entry *e = note(pc, op, order, 0);
    return e->mutated[LAB_ORDER] == NOT_MUTATED ? order : e->mutated[LAB_ORDER];
}

void lab_site_cas_orders(const void *pc, int *success, int *failure)
{
    const struct entry *e = note(pc, LAB_CAS, *success, *failure);
    if (e->mutated[LAB_ORDER] != NOT_MUTATED)
        *success = e->mutated[LAB_ORDER];
    if (e->mutated[LAB_FAILURE_ORDER] != NOT_MUTATED)
        *failure = e->mutated[LAB_FAILURE_ORDER];
}

void lab_mutate(const void *const *pcs, size_t count, enum lab_role role, int order)
{
    any_mutation = true;
    for (size_t i = 0; i < count; i++)
        entry_at(pcs[i])->mutated[role] = order;
}

void lab_unmutate(void)
{
    if (!any_mutation)
        return;
    any_mutation = false;
    for (size_t i = 0; i < size; i++)
        table[i].mutated[LAB_ORDER] = table[i].mutated[LAB_FAILURE_ORDER] = NOT_MUTATED;
}

void lab_forget_sites(void)
{
    free(table);
    table = NULL;
    size = used = 0;
    any_mutation = false;
}

void lab_visit_as(int id)
{
    visitor = id;
}

bool lab_was_visited(const struct lab_site_group *g, int id)
{
    for (size_t i = 0; i < g->count; i++)
        if (entry_at(g->pcs[i])->visitors[id / 64] >> id % 64 & 1)
            return true;
    return false;
}

static int by_pc(const void *a, const void *b)
{
    uintptr_t x = (uintptr_t)((const struct lab_site *)a)->pc, y = (uintptr_t)((const struct lab_site *)b)->pc;
    return (x > y) - (x < y);
}

size_t lab_sites(const struct lab_site **sites)
{
    size_t n = 0;
    free(sorted);
    sorted = lab_allocate((used + 1) * sizeof *sorted);
    for (size_t i = 0; i < size; i++)
        if (table[i].site.pc && table[i].site.order >= 0) /* an order is known: it has executed */
            sorted[n++] = table[i].site;
    qsort(sorted, n, sizeof *sorted, by_pc);
    *sites = sorted;
    return n;
}

/* ---- groups --------------------------------------------------------------------------------------------------- */

static const char *base_name(const char *path)
{
    const char *slash = strrchr(path, '/');
    return slash ? slash + 1 : path;
}

/* The innermost frame that counts is identified by column, too: one line may hold two operations. */
static void key_of(const void *pc, const char *within, char *key, size_t key_size)
{
    struct lab_frame frames[16];
    int n = lab_frames(pc, frames, 16);
    size_t used_bytes = 0;
    key[0] = '\0';
    for (int i = 0; i < n; i++) {
        if (within && !strstr(frames[i].path, within))
            continue;
        const char *format = used_bytes ? "<%s:%d" : "%s:%d:%d";
        int k = snprintf(key + used_bytes, key_size - used_bytes, format, base_name(frames[i].path), frames[i].line,
                         frames[i].column);
        used_bytes += (size_t)k;
        if (used_bytes >= key_size)
            return;
    }
    if (!used_bytes)
        snprintf(key, key_size, "%p", pc);
}

static struct lab_site_group *group_of(struct lab_site_group *groups, size_t count, const char *key, enum lab_op op)
{
    for (size_t i = 0; i < count; i++)
        if (groups[i].op == op && strcmp(groups[i].key, key) == 0)
            return &groups[i];
    return NULL;
}

size_t lab_group_sites(const char *within, struct lab_site_group **result)
{
    const struct lab_site *sites;
    size_t n = lab_sites(&sites), count = 0;
    struct lab_site_group *groups = lab_allocate((n + 1) * sizeof *groups);
    for (size_t i = 0; i < n; i++) {
        char key[sizeof groups->key];
        key_of(sites[i].pc, within, key, sizeof key);
        if (within && key[0] == '0')
            continue; /* no frame counts: not the code that was asked for */
        struct lab_site_group *g = group_of(groups, count, key, sites[i].op);
        if (!g) {
            g = &groups[count++];
            memcpy(g->key, key, sizeof key);
            g->op = sites[i].op;
            g->order = sites[i].order;
            g->failure = sites[i].failure;
            g->pcs = lab_allocate(n * sizeof *g->pcs);
        }
        g->pcs[g->count++] = sites[i].pc;
    }
    *result = groups;
    return count;
}

void lab_free_groups(struct lab_site_group *groups, size_t count)
{
    for (size_t i = 0; i < count; i++)
        free(groups[i].pcs);
    free(groups);
}

const char *lab_source(const void *pc, char *buffer, size_t size_of_buffer)
{
    struct lab_frame frames[8];
    int n = pc ? lab_frames(pc, frames, 8) : 0;
    size_t at = 0;
    snprintf(buffer, size_of_buffer, pc ? "%p" : "?", pc);
    for (int i = 0; i < n && at < size_of_buffer; i++)
        at += (size_t)snprintf(buffer + at, size_of_buffer - at, "%s%s:%d", i ? "<" : "", base_name(frames[i].path),
                               frames[i].line);
    return buffer;
}
