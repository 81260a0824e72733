/* report.c - the report at the end, of tables that are filled by hand
 *
 * The dynamic linker's answers are ours, so that every character of the report is known.
 */
#include "tables.h"

#include "preload/stats/name.h"
#include "preload/stats/report.h"

#include <dlfcn.h>
#include <link.h>
#include <sys/stat.h>

stats_table *stats_tables;

/* ---- what the report asks others */

static bool gave_up;

bool __wrap_pawl_gave_up_membarrier(void);

bool __wrap_pawl_gave_up_membarrier(void)
{
    return gave_up;
}

/* A program with one variable and one function that have names. From NAMELESS on there are addresses of nobody's file. */
enum { PROGRAM = 0x500000, LOCK = 0x500100, WORKER = 0x500200, NAMELESS = 0x600000, HEAP = 0x700000 };

static const char *library = "/usr/lib/pawl/libpawl-mcs.so"; /* that the report is of */

int __wrap_dladdr1(const void *place, Dl_info *info, void **extra, int flags);
int __wrap_dladdr(const void *place, Dl_info *info);

int __wrap_dladdr1(const void *place, Dl_info *info, void **extra, int flags)
{
    static struct link_map map = {.l_addr = PROGRAM};
    uintptr_t address = (uintptr_t)place;
    CHECK(flags == RTLD_DL_LINKMAP, "flags %d", flags);
    memset(info, 0, sizeof *info);
    *extra = &map;
    if (address < PROGRAM || address >= HEAP) {
        info->dli_fname = "of an earlier question"; /* which is no answer */
        return 0;
    }
    info->dli_fname = address < NAMELESS ? "/opt/app/program" : NULL;
    info->dli_sname = address < LOCK ? NULL : address < WORKER ? "lock" : "worker";
    info->dli_saddr = (void *)(uintptr_t)(address < WORKER ? LOCK : WORKER);
    return 1;
}

int __wrap_dladdr(const void *place, Dl_info *info)
{
    (void)place;
    info->dli_fname = library != NULL && library[0] != '!' ? library : NULL;
    return library != NULL;
}

/* ---- tables */

static stats_table *tables(void)
{
    static char program[] = "/opt/app/program";
    program_invocation_name = program;
    program_invocation_short_name = strrchr(program, '/') + 1;
    return stats_tables = new_tables();
}

/* Stack `place`: this call, and one before it that is the same for all. */
static void add_stack(uint32_t place, uintptr_t call)
{
    stats_tables->stacks[place] = (stats_stack){.first = 2 * place, .depth = 2};
    stats_tables->frames[2 * place] = call;
    stats_tables->frames[2 * place + 1] = WORKER + 0x99;
}

static void add_meet(uint32_t place, uint32_t row, uint32_t waiter, uint64_t count, uint64_t ns)
{
    stats_tables->meets[place] =
        (stats_meet){.row = row, .waiter = waiter, .holder = 1, .count = count, .total_ns = ns};
}

/* Two locks that were waited for, one that nobody waited for, one that is too many, a condition variable, and a row that
 * was never used. */
static void fill(void)
{
    stats_table *t = tables();
    stats_row *row = add_row(1, LOCK + 8, 1000);
    stats_detail *d = add_detail(row, 1);
    add_times(&d->wait, 9, 1024);
    add_times(&d->wait, 1, 1 << 20);
    add_times(&d->hold, 1000, 256);
    add_row(2, HEAP, 0)->kind = STATS_MUTEX; /* a detail, and nothing else: not used */
    add_detail(&t->locks[2], 2);
    row = add_row(3, HEAP + 64, 500);
    row->kind = STATS_SPIN;
    d = add_detail(row, 3);
    add_times(&d->wait, 1, UINT64_C(1) << 31);
    d->vain = 3;
    d->vain_ns = 3 * 500000;
    add_times(&d->hold, 500, 4);
    add_row(4, HEAP + 128, 7);
    row = add_row(5, HEAP + 192, 11);
    row->kind = STATS_COND;
    add_times(&add_detail(row, 4)->wait, 11, UINT64_C(1) << 33);
    add_stack(1, WORKER + 0x10);
    add_stack(2, WORKER);
    add_stack(3, HEAP + 1);
    add_meet(10, 1, 1, 4, 4000);
    add_meet(11, 1, 2, 5, 5000);
    add_meet(STATS_MEETS - 1, 1, 1 | STATS_IN_VAIN, 2, 1500); /* with the first, the most */
    add_meet(13, 1, 0, 1000, 900000);                         /* how long it was held */
    add_meet(14, 3, 3, 1, UINT64_C(1) << 31);
    t->any_refused = 1;
    t->refused[4] = 5;
    t->refused[0] = 1;
    t->beyond = 2;
    add_times(&t->beyond_wait, 1, 2048);
    add_times(&t->shards[0].hold, 3, 64);
    add_times(&t->shards[STATS_SHARDS - 1].hold, 4, 64);
}

static char *written(void (*write)(stats_file *f, const stats_summary *s))
{
    static stats_file f;
    static stats_summary s = {.locks = 99, .vain = 99}; /* of another time */
    int fd = scratch_file();
    stats_sum_up(&s);
    stats_file_open_fd(&f, fd);
    write(&f, &s);
    check_number("error", (uint64_t)stats_file_close(&f), 0);
    char *text = contents(fd);
    close(fd);
    return text;
}

/* ---- the whole of it */

static void text_for_people(const lock_info *lock)
{
    (void)lock;
    char wanted[4096];
    fill();
    snprintf(wanted, sizeof wanted,
             "pawl: program (%d) under mcs: 1509 acquisitions of 3 locks, 0.80%% contended\n"
             "2 acquisitions were of more locks than the table holds: only their waits are known\n"
             "3 more waits, 1.5 ms in all, gave up at their deadline\n"
             "6 calls of trylock found their lock taken\n"
             "\n"
             "              times     in all       mean     median       99 %%      worst\n"
             "waited           12      2.1 s     179 ms     2.0 us      2.1 s      2.1 s\n"
             "held           1507     258 us     171 ns     256 ns     256 ns     256 ns\n"
             "\n"
             "   less than       waited         held\n"
             "        8 ns            0          500\n"
             "       16 ns            0            0\n"
             "       32 ns            0            0\n"
             "       64 ns            0            0\n"
             "      128 ns            0            7\n"
             "      256 ns            0            0\n"
             "      512 ns            0         1000\n"
             "      1.0 us            0            0\n"
             "      2.0 us            9            0\n"
             "      4.1 us            1            0\n"
             "      8.2 us            0            0\n"
             "     16.4 us            0            0\n"
             "     32.8 us            0            0\n"
             "     65.5 us            0            0\n"
             "      131 us            0            0\n"
             "      262 us            0            0\n"
             "      524 us            0            0\n"
             "      1.0 ms            0            0\n"
             "      2.1 ms            1            0\n"
             "      4.2 ms            0            0\n"
             "      8.4 ms            0            0\n"
             "     16.8 ms            0            0\n"
             "     33.6 ms            0            0\n"
             "     67.1 ms            0            0\n"
             "      134 ms            0            0\n"
             "      268 ms            0            0\n"
             "      537 ms            0            0\n"
             "       1.1 s            0            0\n"
             "       2.1 s            0            0\n"
             "       4.3 s            1            0\n"
             "\n"
             "acquisitions  contended     waited      worst  held 99 %%  lock\n"
             "         500       0.2%%      2.1 s      2.1 s       4 ns  0x700040\n"
             "%57s waited most in 0x700001\n"
             "        1000       1.0%%     1.1 ms     1.0 ms     256 ns  lock+0x8 (program+0x108)\n"
             "%57s waited most in worker+0xf (program+0x20f)\n",
             (int)getpid(), "", "");
    check_text("text", written(stats_write_text), wanted);
}

static void json_for_programs(const lock_info *lock)
{
    (void)lock;
    char wanted[4096];
    fill();
    snprintf(
        wanted, sizeof wanted,
        "{\n"
        "  \"format\": 1,\n"
        "  \"lock\": \"mcs\",\n"
        "  \"process\": %d,\n"
        "  \"program\": \"/opt/app/program\",\n"
        "  \"locks\": 3,\n"
        "  \"acquisitions_beyond_the_table\": 2,\n"
        "  \"waits_in_vain\": 3,\n"
        "  \"waited_in_vain_ns\": 1500000,\n"
        "  \"refused\": 6,\n"
        "  \"membarriers_given_up\": false,\n"
        "  \"acquisitions\": 1509,\n"
        "  \"contended\": 12,\n"
        "  \"contended_share\": 0.007952,\n"
        "  \"wait\": {\"count\": 12, \"total_ns\": 2148543488, \"worst_ns\": 2147483648, \"histogram\": ["
        "{\"from_ns\": 1024, \"below_ns\": 2048, \"count\": 9}, {\"from_ns\": 2048, \"below_ns\": 4096, "
        "\"count\": 1}, "
        "{\"from_ns\": 1048576, \"below_ns\": 2097152, \"count\": 1}, "
        "{\"from_ns\": 2147483648, \"below_ns\": 4294967296, \"count\": 1}]},\n"
        "  \"hold\": {\"count\": 1507, \"total_ns\": 258448, \"worst_ns\": 256, \"histogram\": ["
        "{\"from_ns\": 4, \"below_ns\": 8, \"count\": 500}, {\"from_ns\": 64, \"below_ns\": 128, \"count\": "
        "7}, "
        "{\"from_ns\": 256, \"below_ns\": 512, \"count\": 1000}]},\n"
        "  \"most_contended\": [\n"
        "    {\n"
        "      \"lock\": {\"address\": \"0x700040\"},\n"
        "      \"acquisitions\": 500,\n"
        "      \"contended\": 1,\n"
        "      \"contended_share\": 0.002000,\n"
        "      \"wait\": {\"count\": 1, \"total_ns\": 2147483648, \"worst_ns\": 2147483648, \"histogram\": ["
        "{\"from_ns\": 2147483648, \"below_ns\": 4294967296, \"count\": 1}]},\n"
        "      \"hold\": {\"count\": 500, \"total_ns\": 2000, \"worst_ns\": 4, \"histogram\": ["
        "{\"from_ns\": 4, \"below_ns\": 8, \"count\": 500}]},\n"
        "      \"call_site\": {\"address\": \"0x700001\"},\n"
        "      \"call_site_waits\": 1,\n"
        "      \"call_site_waited_ns\": 2147483648\n"
        "    },\n"
        "    {\n"
        "      \"lock\": {\"address\": \"0x500108\", \"module\": \"/opt/app/program\", \"offset\": "
        "\"0x108\", \"symbol\": \"lock\"},\n"
        "      \"acquisitions\": 1000,\n"
        "      \"contended\": 10,\n"
        "      \"contended_share\": 0.010000,\n"
        "      \"wait\": {\"count\": 10, \"total_ns\": 1057792, \"worst_ns\": 1048576, \"histogram\": ["
        "{\"from_ns\": 1024, \"below_ns\": 2048, \"count\": 9}, {\"from_ns\": 1048576, \"below_ns\": "
        "2097152, \"count\": 1}]},\n"
        "      \"hold\": {\"count\": 1000, \"total_ns\": 256000, \"worst_ns\": 256, \"histogram\": ["
        "{\"from_ns\": 256, \"below_ns\": 512, \"count\": 1000}]},\n"
        "      \"call_site\": {\"address\": \"0x500210\", \"module\": \"/opt/app/program\", \"offset\": "
        "\"0x20f\", \"symbol\": \"worker\"},\n"
        "      \"call_site_waits\": 6,\n"
        "      \"call_site_waited_ns\": 5500\n"
        "    }\n"
        "  ]\n"
        "}\n",
        (int)getpid());
    check_text("JSON", written(stats_write_json), wanted);
}

static void nothing_happened(const lock_info *lock)
{
    (void)lock;
    char wanted[1024];
    tables();
    snprintf(wanted, sizeof wanted,
             "pawl: program (%d) under mcs: 0 acquisitions of 0 locks, 0.00%% contended\n"
             "\n"
             "              times     in all       mean     median       99 %%      worst\n",
             (int)getpid());
    check_text("text", written(stats_write_text), wanted);
    snprintf(wanted, sizeof wanted,
             "  \"acquisitions\": 0,\n"
             "  \"contended\": 0,\n"
             "  \"contended_share\": 0.000000,\n"
             "  \"wait\": {\"count\": 0, \"total_ns\": 0, \"worst_ns\": 0, \"histogram\": []},\n"
             "  \"hold\": {\"count\": 0, \"total_ns\": 0, \"worst_ns\": 0, \"histogram\": []},\n"
             "  \"most_contended\": []\n"
             "}\n");
    const char *json = written(stats_write_json), *end = strstr(json, "  \"acquisitions\":");
    check_text("JSON", end != NULL ? end : json, wanted);
}

static void says(const char *what, const char *line)
{
    const char *text = written(stats_write_text);
    CHECK(strstr(text, line) != NULL, "%s: '%s' is not in\n%s", what, line, text);
}

static void one_lock_without_waits(const lock_info *lock)
{
    (void)lock;
    stats_table *t = tables();
    add_row(1, LOCK, 4);
    add_times(&t->shards[5].hold, 4, 1);
    says("first line", ": 4 acquisitions of 1 lock, 0.00% contended\n\n");
    says("end", "\nheld              4       4 ns       1 ns       1 ns       1 ns       1 ns\n\n"
                "   less than       waited         held\n        2 ns            0            4\n");
    const char *text = written(stats_write_text);
    CHECK(strstr(text, "\nwaited") == NULL && text[strlen(text) - 2] == '4', "and more: %s", text);
}

/* ---- parts */

static void durations_have_two_or_three_digits(const lock_info *lock)
{
    (void)lock;
    static const struct {
        uint64_t ns;
        const char *words;
    } known[] = {
        {0, "0 ns"},         {1, "1 ns"},           {999, "999 ns"},       {1000, "1.0 us"},
        {1500, "1.5 us"},    {99000, "99.0 us"},    {100000, "100 us"},    {999000, "999 us"},
        {1000000, "1.0 ms"}, {250000000, "250 ms"}, {1000000000, "1.0 s"}, {100000000000, "100 s"},
    };
    stats_table *t = tables();
    add_row(1, LOCK, 1);
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        char line[128];
        t->shards[0].hold = (stats_times){.count = 1, .total_ns = known[i].ns};
        snprintf(line, sizeof line, "\nheld              1 %10s %10s       0 ns       0 ns       0 ns\n",
                 known[i].words, known[i].words);
        says(known[i].words, line);
    }
}

static void the_longest_times_have_no_end(const lock_info *lock)
{
    (void)lock;
    stats_table *t = tables();
    add_row(1, LOCK, 1);
    add_times(&t->shards[0].hold, 1, UINT64_C(1) << (STATS_BUCKETS - 1));
    says("histogram", "   less than       waited         held\n        more            0            1\n");
    const char *json = written(stats_write_json);
    CHECK(strstr(json, "[{\"from_ns\": 549755813888, \"count\": 1}]") != NULL, "%s", json);
    t->shards[0].hold = (stats_times){0};
    add_times(&t->shards[0].hold, 1, UINT64_C(1) << (STATS_BUCKETS - 2));
    says("the longest but one", "       550 s            0            1\n");
    t->shards[0].hold = (stats_times){0};
    add_times(&t->shards[0].hold, 1, 1);
    json = written(stats_write_json);
    CHECK(strstr(json, "[{\"from_ns\": 0, \"below_ns\": 2, \"count\": 1}]") != NULL, "%s", json);
}

static void membarriers_given_up_are_reported(const lock_info *lock)
{
    (void)lock;
    tables();
    gave_up = true;
    says("text",
         "contended\nmembarriers took a quarter of a CPU and were given up: unlocks fence instead\n\n");
    CHECK(strstr(written(stats_write_json), "\"membarriers_given_up\": true,") != NULL, "JSON");
}

static void strings_are_escaped(const lock_info *lock)
{
    (void)lock;
    tables();
    static char program[] = {"a\"b\\c\x1f d~\x7f\xe9"};
    program_invocation_name = program;
    const char *json = written(stats_write_json);
    CHECK(strstr(json, "\"program\": \"a\\u0022b\\u005cc\\u001f d~\\u007f\\u00e9\",") != NULL, "%s", json);
}

static void the_library_names_its_lock(const lock_info *lock)
{
    (void)lock;
    static const struct {
        const char *file, *name;
    } known[] = {
        {"/usr/lib/pawl/libpawl-mcs.so", "mcs"},
        {"libpawl-hapax_vw.so.1", "hapax_vw"},
        {"/a-b/plain.so", "plain"},
        {"/bin/plain", "plain"},
        {"!no file", "?"},
        {NULL, "?"},
    };
    for (size_t i = 0; i < sizeof known / sizeof *known; i++) {
        library = known[i].file;
        check_text("lock", stats_lock_name(), known[i].name);
    }
}

static void places_are_said_as_far_as_they_are_known(const lock_info *lock)
{
    (void)lock;
    check_text("symbol", stats_place(LOCK + 2, LOCK + 1).text, "lock+0x1 (program+0x101)");
    check_text("module", stats_place(PROGRAM + 2, PROGRAM + 1).text, "program+0x1");
    check_text("address", stats_place(HEAP + 2, HEAP + 1).text, "0x700002");
    check_text("no file", stats_place(NAMELESS + 2, NAMELESS + 1).text, "0x600002");
}

/* ---- files */

static char folder[128];

static char *in_folder(const char *name)
{
    static char path[2][160];
    static int last;
    last = !last;
    snprintf(path[last], sizeof path[last], "%s/%s", folder, name);
    return path[last];
}

static const char *read_in_folder(const char *name)
{
    FILE *f = fopen(in_folder(name), "re");
    if (f == NULL)
        return NULL;
    const char *text = contents(fileno(f));
    fclose(f);
    return text;
}

/* In a folder of its own, with standard error in a file. */
static int prepare(void)
{
    int errors = scratch_file();
    const char *above = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/pawl-test-XXXXXX", above != NULL ? above : "/tmp");
    CHECK(mkdtemp(folder) != NULL, "mkdtemp: %s", strerror(errno));
    fill();
    dup2(STDERR_FILENO, 100);
    dup2(errors, STDERR_FILENO);
    return errors;
}

static const char *finish(int errors)
{
    dup2(100, STDERR_FILENO);
    unlink(in_folder("s"));
    unlink(in_folder("s.txt"));
    CHECK(rmdir(folder) == 0, "files are left: %s", strerror(errno));
    return contents(errors);
}

static bool begins(const char *text, const char *with)
{
    return text != NULL && strncmp(text, with, strlen(with)) == 0;
}

static bool ends(const char *text, const char *with)
{
    size_t length = text != NULL ? strlen(text) : 0;
    return length >= strlen(with) && strcmp(text + length - strlen(with), with) == 0;
}

static void both_files_are_written(const lock_info *lock)
{
    (void)lock;
    int errors = prepare();
    stats_report(in_folder("s"), false, true, true);
    bool json = ends(read_in_folder("s"), "  ]\n}\n") && begins(read_in_folder("s"), "{\n  \"format\": 1,");
    bool text = ends(read_in_folder("s.txt"), "(program+0x20f)\n") &&
                begins(read_in_folder("s.txt"), "pawl: program (");
    check_text("errors", finish(errors), "");
    CHECK(json && text, "%s", json ? "text" : "JSON");
}

static void the_table_goes_to_standard_error(const lock_info *lock)
{
    (void)lock;
    int errors = prepare();
    stats_report(in_folder("s"), true, true, true);
    bool json = begins(read_in_folder("s"), "{\n  \"format\": 1,"), text = read_in_folder("s.txt") != NULL;
    const char *said = finish(errors);
    CHECK(json && !text, "files");
    CHECK(begins(said, "pawl: program (") && ends(said, "(program+0x20f)\n"), "%s", said);
}

static void the_table_spares_what_is_no_longer_standard_error(const lock_info *lock)
{
    (void)lock;
    int errors = prepare();
    stats_report(in_folder("s"), true, false, true);
    stats_report(in_folder("missing/s"), true, false, true);
    bool json = begins(read_in_folder("s"), "{\n  \"format\": 1,");
    check_text("errors", finish(errors), "");
    CHECK(json, "JSON");
}

static void a_descendant_without_locks_writes_nothing(const lock_info *lock)
{
    (void)lock;
    int errors = prepare();
    stats_report(in_folder("s"), false, true, false);
    bool used = read_in_folder("s") != NULL && read_in_folder("s.txt") != NULL;
    unlink(in_folder("s"));
    unlink(in_folder("s.txt"));
    tables();
    stats_report(in_folder("s"), false, true, false);
    bool unused = read_in_folder("s") != NULL;
    stats_report(in_folder("s"), false, true, true);
    bool itself = read_in_folder("s") != NULL && read_in_folder("s.txt") != NULL;
    check_text("errors", finish(errors), "");
    CHECK(used && !unused && itself, "%d %d %d", used, unused, itself);
}

static void what_cannot_be_written_is_said_once(const lock_info *lock)
{
    (void)lock;
    char wanted[256], path[160];
    int errors = prepare();
    snprintf(path, sizeof path, "%s", in_folder("missing/s"));
    stats_report(path, false, true, true);
    snprintf(wanted, sizeof wanted, "pawl: cannot write the statistics '%s': No such file or directory\n",
             path);
    check_text("errors", finish(errors), wanted);
    errors = prepare();
    CHECK(mkdir(in_folder("s.txt"), 0700) == 0, "mkdir: %s", strerror(errno)); /* only the second file */
    stats_report(in_folder("s"), false, true, true);
    snprintf(wanted, sizeof wanted, "pawl: cannot write the statistics '%s': Is a directory\n",
             in_folder("s"));
    rmdir(in_folder("s.txt"));
    check_text("errors", finish(errors), wanted);
    errors = prepare();
    CHECK(mkdir(in_folder("s"), 0700) == 0, "mkdir: %s", strerror(errno)); /* only the first */
    stats_report(in_folder("s"), false, true, true);
    snprintf(wanted, sizeof wanted, "pawl: cannot write the statistics '%s': Is a directory\n",
             in_folder("s"));
    rmdir(in_folder("s"));
    check_text("errors", finish(errors), wanted);
}

static const promise promises[] = {
    {"text_for_people", text_for_people, NULL, "report"},
    {"json_for_programs", json_for_programs, NULL, "report"},
    {"nothing_happened", nothing_happened, NULL, "report"},
    {"one_lock_without_waits", one_lock_without_waits, NULL, "report"},
    {"durations_have_two_or_three_digits", durations_have_two_or_three_digits, NULL, "report"},
    {"the_longest_times_have_no_end", the_longest_times_have_no_end, NULL, "report"},
    {"membarriers_given_up_are_reported", membarriers_given_up_are_reported, NULL, "report"},
    {"strings_are_escaped", strings_are_escaped, NULL, "report"},
    {"the_library_names_its_lock", the_library_names_its_lock, NULL, "report"},
    {"places_are_said_as_far_as_they_are_known", places_are_said_as_far_as_they_are_known, NULL, "report"},
    {"both_files_are_written", both_files_are_written, NULL, "report"},
    {"the_table_goes_to_standard_error", the_table_goes_to_standard_error, NULL, "report"},
    {"the_table_spares_what_is_no_longer_standard_error", the_table_spares_what_is_no_longer_standard_error,
     NULL, "report"},
    {"a_descendant_without_locks_writes_nothing", a_descendant_without_locks_writes_nothing, NULL, "report"},
    {"what_cannot_be_written_is_said_once", what_cannot_be_written_is_said_once, NULL, "report"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
