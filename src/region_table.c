/* region_table.c - the regions that this process has attached */
#include "region.h"

#ifdef PAWL_HAS_REGIONS

#include <errno.h>
#include <sys/mman.h>

static pawl_region regions[PAWL_REGIONS];
static pthread_mutex_t table = PTHREAD_MUTEX_INITIALIZER;
static uint32_t attachments;

pawl_region *pawl_region_numbered(unsigned index)
{
    return &regions[index];
}

void pawl_region_lock_table(void)
{
    pthread_mutex_lock(&table);
}

void pawl_region_unlock_table(void)
{
    pthread_mutex_unlock(&table);
}

void *pawl_region_memory(const pawl_region *r)
{
    return r->memory;
}

size_t pawl_region_size(const pawl_region *r)
{
    return r->size;
}

/* With the table. */
static unsigned first_free(void)
{
    unsigned i = 0;
    while (i < PAWL_REGIONS && regions[i].seats != NULL)
        i++;
    return i;
}

bool pawl_region_table_is_full(void)
{
    pthread_mutex_lock(&table);
    bool full = first_free() == PAWL_REGIONS;
    pthread_mutex_unlock(&table);
    return full;
}

int pawl_region_enter(pawl_region **region, void *base, size_t size)
{
    pthread_mutex_lock(&table);
    unsigned i = first_free();
    if (i == PAWL_REGIONS) {
        pthread_mutex_unlock(&table);
        return EMFILE;
    }
    pawl_region *r = &regions[i];
    if (++attachments == 0)
        attachments = 1;
    r->seats = (pawl_seat *)(void *)((char *)base + PAWL_SEATS_AT);
    r->seat_count = PAWL_SEATS;
    r->index = i;
    r->serial = attachments;
    r->memory = (char *)base + PAWL_MEMORY_AT;
    r->size = size;
    r->mapped = PAWL_MEMORY_AT + size;
    pthread_mutex_unlock(&table);
    *region = r;
    return 0;
}

int pawl_region_detach(pawl_region *r)
{
    int error = 0;
    pthread_mutex_lock(&table);
    if (!pawl_seat_leave(r) || atomic_load_explicit(&r->seated, memory_order_acquire) != 0) {
        error = EBUSY;
    } else {
        munmap((char *)r->seats - PAWL_SEATS_AT, r->mapped);
        r->seats = NULL;
    }
    pthread_mutex_unlock(&table);
    return error;
}

int pawl_region_leave(pawl_region *r)
{
    return pawl_seat_leave(r) ? 0 : EBUSY;
}

#endif
