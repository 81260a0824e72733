/* location.c - atomic locations and their stores in modification order */
#include "heap.h"
#include "shadow.h"

enum { ARENA = 64 << 20 };

static struct lab_location locations[LAB_MAX_LOCATIONS];
static unsigned location_count;
static char *arena; /* messages live until the end of the execution */
static size_t arena_used;

unsigned lab_locations(void)
{
    return location_count;
}

uintptr_t lab_location_address(unsigned index)
{
    return locations[index].address;
}

void lab_locations_reset(void)
{
    location_count = 0;
    arena_used = 0;
    if (!arena)
        arena = lab_map(ARENA);
}

static void unsupported(const char *text, uintptr_t address)
{
    lab_violation(LAB_UNSUPPORTED, text, address, NULL, NULL);
}

static struct lab_message *new_message(bool releases)
{
    size_t size = sizeof(struct lab_message) + (releases ? location_count : 0) * sizeof(lab_stamp);
    if (arena_used + size > ARENA)
        unsupported("too many stores in one execution", 0);
    struct lab_message *m = (struct lab_message *)(arena + arena_used);
    arena_used += (size + 15) & ~(size_t)15;
    m->releases = releases;
    m->locations = (uint16_t)(releases ? location_count : 0);
    return m;
}

struct lab_message *lab_insert(struct lab_location *l, unsigned at, uint64_t value, bool releases)
{
    struct lab_message *m = new_message(releases);
    if (l->count == l->capacity) {
        l->capacity = l->capacity ? 2 * l->capacity : 16;
        l->stores = lab_reallocate(l->stores, l->capacity * sizeof *l->stores);
    }
    if (at == l->count) {
        m->stamp = l->next_stamp;
        l->next_stamp += LAB_GAP;
    } else {
        m->stamp = l->stores[at - 1]->stamp + (l->stores[at]->stamp - l->stores[at - 1]->stamp) / 2;
        memmove(&l->stores[at + 1], &l->stores[at], (l->count - at) * sizeof *l->stores);
    }
    m->value = value;
    m->rmw = false;
    m->step = 0;
    m->pc = NULL;
    l->stores[at] = m;
    l->count++;
    return m;
}

/* The stores so far all happen before the plain one, or there was a race: nobody may read them any more. Its value
 * is not known yet, because the compiler announces a plain store before making it. */
void lab_plain_write(struct lab_location *l, const struct lab_fiber *by)
{
    const struct lab_thread *t = &lab_threads[by->id];
    l->count = 0;
    l->plain = true;
    l->plain_id = lab_mix(lab_event_id(t, l->address), 1);
    l->plain_thread = (uint8_t)t->id;
}

/* The value in memory becomes the oldest store. It releases nothing: whoever may read it is ordered after it
 * already. */
static void take_plain_value(struct lab_location *l)
{
    uint64_t value = 0;
    memcpy(&value, (const void *)l->address, l->size);
    struct lab_message *m = lab_insert(l, 0, value, false);
    m->id = l->plain_id;
    m->thread = l->plain_thread;
    l->plain = false;
}

static struct lab_location *add(struct lab_cell *c, uintptr_t address, unsigned size)
{
    if (location_count == LAB_MAX_LOCATIONS)
        unsupported("too many atomic locations in one execution", address);
    struct lab_location *l = &locations[location_count];
    l->address = address;
    l->size = size;
    l->index = location_count++;
    l->count = 0;
    l->next_stamp = 0;
    l->plain = true;
    l->retired = false;
    l->plain_id = lab_mix(address, 0);
    l->plain_thread = LAB_SLOTS; /* nobody: the value from before the execution */
    l->next = c->locations;
    c->locations = l;
    lab_run.sc_view[l->index] = 0;
    for (int i = 0; i <= lab_run.threads; i++) {
        lab_threads[i].view[l->index] = 0;
        lab_threads[i].acquirable_view[l->index] = 0;
        lab_threads[i].released_view[l->index] = 0;
    }
    return l;
}

struct lab_location *lab_location(uintptr_t address, unsigned size)
{
    struct lab_cell *c = lab_cell(address);
    if (address < 4096) /* a null pointer and an offset, or a tag taken for a pointer */
        lab_violation(LAB_CRASH, "access to memory that is not there", address, NULL, NULL);
    if (address & (size - 1))
        unsupported("misaligned atomic access", address);
    struct lab_location **link = &c->locations, *l;
    while ((l = *link)) {
        if (l->address == address && l->size == size)
            break;
        bool apart = l->address + l->size <= address || address + size <= l->address;
        if (!apart && !l->retired)
            unsupported("atomic accesses of different sizes to the same bytes", address);
        if (apart)
            link = &l->next;
        else
            *link = l->next;
    }
    if (!l)
        l = add(c, address, size);
    l->retired = false;
    if (l->plain)
        take_plain_value(l);
    return l;
}
