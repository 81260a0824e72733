/* trace.c - see trace.h */
#include "trace.h"
#include "heap.h"
#include "site.h"
#include <stdarg.h>

struct lab_event {
    int thread;
    unsigned step;
    const char *what; /* the operation, or a note */
    bool note, reads, writes, stale, inserted;
    uintptr_t address;
    unsigned size;
    int order; /* -1 = none */
    uint64_t value, old;
    /* the store that was read */
    int from; /* LAB_SLOTS = the initial value */
    unsigned from_step;
    const void *from_pc;
    const void *pc;
};

static struct lab_event *events;
static size_t count, capacity;

void lab_trace_reset(void)
{
    count = 0;
}

const struct lab_event *lab_trace(size_t *length)
{
    *length = count;
    return events;
}

static struct lab_event *add(const char *what, const void *pc)
{
    if (count == capacity) {
        capacity = capacity ? 2 * capacity : 256;
        events = lab_reallocate(events, capacity * sizeof *events);
    }
    struct lab_event *e = &events[count++];
    *e = (struct lab_event){.thread = lab_current->id, .step = lab_run.steps, .what = what, .order = -1, .pc = pc};
    return e;
}

static void set_location(struct lab_event *e, const struct lab_location *l, int order)
{
    e->address = l->address;
    e->size = l->size;
    e->order = order;
}

static void set_source(struct lab_event *e, const struct lab_message *m)
{
    e->reads = true;
    e->old = m->value;
    e->from = m->thread;
    e->from_step = m->step;
    e->from_pc = m->pc;
}

void lab_trace_add_read(enum lab_op op, const struct lab_location *l, int order, const struct lab_message *m,
                        bool stale, const void *pc)
{
    struct lab_event *e = add(op == LAB_CAS ? "CAS failed" : "load", pc);
    set_location(e, l, order);
    set_source(e, m);
    e->value = m->value;
    e->stale = stale;
}

void lab_trace_add_write(enum lab_op op, const struct lab_location *l, int order, const struct lab_message *m,
                         const struct lab_message *read, bool inserted, const void *pc)
{
    struct lab_event *e = add(op == LAB_CAS ? "CAS" : op == LAB_RMW ? "RMW" : "store", pc);
    set_location(e, l, order);
    e->writes = true;
    e->value = m->value;
    e->inserted = inserted;
    if (read)
        set_source(e, read);
}

void lab_trace_add_note(const char *text, uintptr_t address, uint64_t value, const void *pc)
{
    struct lab_event *e = add(text, pc);
    e->note = true;
    e->address = address;
    e->value = value;
}

void lab_trace_add_fence(int order, const void *pc)
{
    add("fence", pc)->order = order;
}

/* ---- text ----------------------------------------------------------------------------------------------------- */

static const char *const order_names[] = {"relaxed", "consume", "acquire", "release", "acq_rel", "seq_cst"};

struct text {
    char *at;
    size_t left;
    int length;
};

__attribute__((format(printf, 2, 3))) static void put(struct text *t, const char *format, ...)
{
    va_list arguments;
    va_start(arguments, format);
    int n = vsnprintf(t->at, t->left, format, arguments);
    va_end(arguments);
    t->length += n;
    size_t step = (size_t)n < t->left ? (size_t)n : t->left ? t->left - 1 : 0;
    t->at += step;
    t->left -= step;
}

static void put_value(struct text *t, uint64_t value)
{
    char name[96];
    if (value < 4096 || value > UINT64_MAX - 4096)
        put(t, "%jd", (intmax_t)value);
    else
        put(t, "%s", lab_address_text(value, name, sizeof name)); /* most large values are pointers */
}

static void put_access(struct text *t, const struct lab_event *e)
{
    char name[96];
    put(t, "%s", lab_address_text(e->address, name, sizeof name));
    if (e->writes && e->reads) {
        put(t, ": ");
        put_value(t, e->old);
        put(t, " -> ");
    } else {
        put(t, e->writes ? " = " : ": ");
    }
    put_value(t, e->value);
}

static void put_source(struct text *t, const struct lab_event *e)
{
    char line[128];
    if (e->from == LAB_SLOTS)
        put(t, ", the initial value");
    else if (!e->from_pc)
        put(t, ", a plain store of T%d", e->from);
    else
        put(t, ", the store of T%d at step %u (%s)", e->from, e->from_step,
            lab_source(e->from_pc, line, sizeof line));
}

int lab_event_text(const struct lab_result *r, size_t index, char *buffer, size_t size)
{
    const struct lab_event *e = &r->trace[index];
    struct text t = {buffer, size, 0};
    char line[256], name[96];
    put(&t, "%4u  T%d  %-10s ", e->step, e->thread, e->what);
    if (e->note) {
        if (e->address)
            put(&t, "%s", lab_address_text(e->address, name, sizeof name));
        if (e->value)
            put(&t, " (%jd)", (intmax_t)e->value);
    } else if (e->address) {
        put_access(&t, e);
    }
    if (e->order >= 0)
        put(&t, " %s", order_names[e->order]);
    if (e->reads)
        put_source(&t, e);
    if (e->stale)
        put(&t, "  STALE");
    if (e->inserted)
        put(&t, "  BEFORE A STORE THAT ALREADY EXECUTED");
    if (e->pc)
        put(&t, "  [%s]", lab_source(e->pc, line, sizeof line));
    return t.length;
}

void lab_print_trace(FILE *out, const struct lab_result *r)
{
    char line[1024];
    for (size_t i = 0; i < r->trace_length; i++) {
        lab_event_text(r, i, line, sizeof line);
        fprintf(out, "%s\n", line);
    }
    fprintf(out, "%s: %s\n", lab_verdict_name(r->verdict), r->message);
    if (r->replay)
        fprintf(out, "replay: %s\n", r->replay);
}
