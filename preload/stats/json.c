/* json.c - the report for programs */
#include "name.h"
#include "report.h"

#include "src/park/fence.h"

#include <errno.h>
#include <unistd.h>

static void json_string(stats_file *f, const char *text)
{
    stats_file_print(f, "\"");
    for (; *text != '\0'; text++) {
        unsigned char c = (unsigned char)*text;
        if (c < 0x20 || c == '"' || c == '\\' || c >= 0x7f) /* of unknown encoding: as Latin-1 */
            stats_file_print(f, "\\u%04x", c);
        else
            stats_file_print(f, "%c", c);
    }
    stats_file_print(f, "\"");
}

static void json_times(stats_file *f, const char *indent, const char *name, const stats_times *t)
{
    stats_file_print(f,
                     ",\n%s\"%s\": {\"count\": %ju, \"total_ns\": %ju, \"worst_ns\": %ju, \"histogram\": [",
                     indent, name, (uintmax_t)stats_get(&t->count), (uintmax_t)stats_get(&t->total_ns),
                     (uintmax_t)stats_get(&t->worst_ns));
    const char *comma = "";
    for (int b = 0; b < STATS_BUCKETS; b++) {
        uint64_t count = stats_get(&t->buckets[b]);
        if (count == 0)
            continue;
        uint64_t from = b > 0 ? UINT64_C(1) << b : 0;
        stats_file_print(f, "%s{\"from_ns\": %ju, ", comma, (uintmax_t)from);
        if (b < STATS_BUCKETS - 1)
            stats_file_print(f, "\"below_ns\": %ju, ", (uintmax_t)(UINT64_C(2) << b));
        stats_file_print(f, "\"count\": %ju}", (uintmax_t)count);
        comma = ", ";
    }
    stats_file_print(f, "]}");
}

static void json_cost(stats_file *f, const char *indent, uint64_t acquisitions, const stats_times *wait,
                      const stats_times *hold)
{
    uint64_t contended = stats_get(&wait->count);
    uintmax_t millionths = (uintmax_t)(stats_share(contended, acquisitions) * 1e6 + 0.5);
    stats_file_print(f, "%s\"acquisitions\": %ju,\n%s\"contended\": %ju,\n%s\"contended_share\": %ju.%06ju",
                     indent, (uintmax_t)acquisitions, indent, (uintmax_t)contended, indent,
                     millionths / 1000000,
                     millionths % 1000000); /* not %f, which obeys the program's locale */
    json_times(f, indent, "wait", wait);
    json_times(f, indent, "hold", hold);
}

static void json_address(stats_file *f, const char *indent, const char *what, uintptr_t address,
                         uintptr_t seek)
{
    stats_name name = stats_name_of(seek);
    stats_file_print(f, "%s\"%s\": {\"address\": \"0x%jx\"", indent, what, (uintmax_t)address);
    if (name.module != NULL) {
        stats_file_print(f, ", \"module\": ");
        json_string(f, name.module);
        stats_file_print(f, ", \"offset\": \"0x%jx\"", (uintmax_t)name.offset);
    }
    if (name.symbol != NULL) {
        stats_file_print(f, ", \"symbol\": ");
        json_string(f, name.symbol);
    }
    stats_file_print(f, "}");
}

static void json_lock(stats_file *f, const stats_row *row)
{
    stats_file_print(f, "    {\n");
    json_address(f, "      ", "lock", row->lock, row->lock);
    stats_file_print(f, ",\n");
    const stats_detail *d = stats_detail_of(row);
    json_cost(f, "      ", stats_get(&row->acquisitions), &d->wait, &d->hold);
    stats_site site = stats_worst_site(row);
    if (site.address != 0) {
        stats_file_print(f, ",\n");
        json_address(f, "      ", "call_site", site.address, site.address - 1);
        stats_file_print(f, ",\n      \"call_site_waits\": %ju,\n      \"call_site_waited_ns\": %ju",
                         (uintmax_t)site.waits, (uintmax_t)site.waited_ns);
    }
    stats_file_print(f, "\n    }");
}

void stats_write_json(stats_file *f, const stats_summary *s)
{
    stats_file_print(f, "{\n  \"format\": 1,\n  \"lock\": ");
    json_string(f, stats_lock_name());
    stats_file_print(f, ",\n  \"process\": %d,\n  \"program\": ", (int)getpid());
    json_string(f, program_invocation_name);
    stats_file_print(f, ",\n  \"locks\": %ju,\n  \"acquisitions_beyond_the_table\": %ju,\n",
                     (uintmax_t)s->locks, (uintmax_t)stats_get(&stats_tables->beyond));
    stats_file_print(f, "  \"waits_in_vain\": %ju,\n  \"waited_in_vain_ns\": %ju,\n  \"refused\": %ju,\n",
                     (uintmax_t)s->vain, (uintmax_t)s->vain_ns, (uintmax_t)s->refused);
    stats_file_print(f, "  \"membarriers_given_up\": %s,\n", pawl_gave_up_membarrier() ? "true" : "false");
    json_cost(f, "  ", s->acquisitions, &s->wait, &s->hold);
    stats_file_print(f, ",\n  \"most_contended\": [");
    for (int i = 0; i < s->listed_count; i++) {
        stats_file_print(f, "%s\n", i > 0 ? "," : "");
        json_lock(f, s->listed[i]);
    }
    stats_file_print(f, "%s]\n}\n", s->listed_count > 0 ? "\n  " : "");
}
