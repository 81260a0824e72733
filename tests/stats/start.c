/* start.c - what the environment asks for, and when the report is written
 *
 * Constructor and destructor are called by hand, so their source is part of this program.
 */
#include "tables.h"

#include "../../preload/stats/start.c"

#include <stdarg.h>

__thread thread self __attribute__((tls_model("initial-exec")));
bool stats_on;
stats_table *stats_tables;

/* ---- what it calls, and how often */

static const char *book;
static int begun, prepared, counted, renewed, reports, registered;
static bool all, refuses;
static uint32_t depth = 1;
static struct {
    char path[PATH_MAX];
    bool table_to_stderr, error_output, main;
} report;
static void (*at_end)(void);

bool stats_table_begin(const char *path, bool all_holds)
{
    static stats_table *tables;
    tables = tables != NULL ? tables : new_tables();
    begun++;
    book = path;
    all = all_holds;
    if (refuses)
        return false;
    stats_tables = tables;
    tables->depth = depth;
    errno = ENOENT;
    return true;
}

void stats_stack_prepare(void)
{
    prepared++;
}

void count_in_fast_paths(void)
{
    counted++;
}

uint32_t epoch_now(void)
{
    renewed++;
    CHECK(stats_tables->ended_ns == 0, "the parent's tables end");
    return 1;
}

void stats_report(const char *path, bool table_to_stderr, bool error_output, bool main)
{
    reports++;
    snprintf(report.path, sizeof report.path, "%s", path);
    report.table_to_stderr = table_to_stderr;
    report.error_output = error_output;
    report.main = main;
    errno = ENOENT;
}

int __wrap_at_quick_exit(void (*function)(void));

int __wrap_at_quick_exit(void (*function)(void))
{
    registered++;
    at_end = function;
    return 0;
}

/* ---- the environment of the parent, as /proc has it, and the folder, if they can be read */

static const char *of_parent = "";
static size_t size_of_parent;
static bool asked, no_parent, no_folder;
static int opened = -1;

int __real_open64(const char *path, int flags, ...);
int __wrap_open64(const char *path, int flags, ...);
char *__real_getcwd(char *text, size_t size);
char *__wrap_getcwd(char *text, size_t size);

int __wrap_open64(const char *path, int flags, ...)
{
    char wanted[64];
    if (!asked) /* the library's own, at the start */
        return __real_open64(path, flags);
    snprintf(wanted, sizeof wanted, "/proc/%d/environ", (int)getppid());
    check_text("file", path, wanted);
    check_number("flags", (uint64_t)flags, O_RDONLY | O_CLOEXEC);
    if (no_parent)
        return -1;
    opened = scratch_file();
    CHECK(write(opened, of_parent, size_of_parent) == (ssize_t)size_of_parent, "write");
    lseek(opened, 0, SEEK_SET);
    return opened;
}

char *__wrap_getcwd(char *text, size_t size)
{
    return no_folder ? NULL : __real_getcwd(text, size);
}

#define PARENT(text) (of_parent = "" text, size_of_parent = sizeof text)

static void begin_with(const char *stats, const char *profile, const char *table)
{
    const char *const names[] = {"PAWL_STATS", "PAWL_PROFILE", "PAWL_STATS_TABLE"};
    const char *const values[] = {stats, profile, table};
    for (int i = 0; i < 3; i++)
        if (values[i] != NULL)
            setenv(names[i], values[i], 1);
        else
            unsetenv(names[i]);
    stats_on = false;
    errno = ETIME;
    asked = true;
    start();
    check_number("errno", (uint64_t)errno, ETIME);
}

static void check_off(const char *why)
{
    CHECK(!stats_on && begun == 0 && counted == 0 && registered == 0, "%s: collects", why);
}

static void check_report(const char *path, bool main)
{
    errno = ETIME;
    finish();
    check_number("errno", (uint64_t)errno, ETIME);
    check_number("reports", (uint64_t)reports, 1);
    check_text("path", report.path, path);
    check_number("main", report.main, main);
    CHECK(stats_tables->ended_ns != 0, "no end");
    check_number("epoch", (uint64_t)renewed, 1);
}

static void nobody_asks(const lock_info *lock)
{
    (void)lock;
    begin_with(NULL, NULL, NULL);
    check_off("nothing is set");
    begin_with("", "", "-");
    check_off("empty");
    begin_with("", NULL, "-");
    check_off("empty");
    environ = NULL; /* clearenv() */
    start();
    check_off("no environment");
    finish();
    check_number("reports", (uint64_t)reports, 0);
}

static void for_a_report(const lock_info *lock)
{
    (void)lock;
    begin_with("/tmp/s", NULL, NULL);
    CHECK(stats_on && begun == 1 && book == NULL && all, "not begun");
    check_number("fast paths", (uint64_t)counted, 1);
    check_number("stacks", (uint64_t)prepared, 0);
    CHECK(registered == 1 && at_end == write_report, "not registered");
    check_number("open", (uint64_t)fcntl(opened, F_GETFD), (uint64_t)-1);
    check_report("/tmp/s", true);
    CHECK(!report.table_to_stderr && report.error_output, "where the table goes");
    finish(); /* of quick_exit(), and of a destructor */
    check_number("reports", (uint64_t)reports, 1);
}

static void for_a_profile(const lock_info *lock)
{
    (void)lock;
    depth = 2;
    begin_with(NULL, "/tmp/book", NULL);
    CHECK(stats_on && begun == 1 && !all, "not begun");
    check_text("book", book, "/tmp/book");
    check_number("stacks", (uint64_t)prepared, 1);
    finish();
    check_number("reports", (uint64_t)reports, 0);
    CHECK(stats_tables->ended_ns != 0 && renewed == 1, "no end");
}

static void for_both(const lock_info *lock)
{
    (void)lock;
    begin_with("/tmp/s", "/tmp/book", "-");
    CHECK(stats_on && all, "not begun");
    check_text("book", book, "/tmp/book");
    check_report("/tmp/s", true);
    CHECK(report.table_to_stderr, "where the table goes");
}

static void a_table_goes_to_standard_error_only_if_it_is_said_so(const lock_info *lock)
{
    (void)lock;
    begin_with("/tmp/s", NULL, "/tmp/table");
    finish();
    CHECK(!report.table_to_stderr, "where the table goes");
}

static void without_tables_nothing_is_collected(const lock_info *lock)
{
    (void)lock;
    refuses = true;
    begin_with("/tmp/s", NULL, NULL);
    CHECK(!stats_on && counted == 0 && registered == 0 && prepared == 0, "collects");
    finish();
    check_number("reports", (uint64_t)reports, 0);
}

static void variables_have_exactly_their_names(const lock_info *lock)
{
    (void)lock;
    static char *all_of_it[] = {"PAWL_STATS_TABLE=-", "PAWL_STATSX=1", "PAWL_STAT=2", "XPAWL_STATS=3",
                                "PAWL_STATS=/tmp/=4", "PAWL_STATS=5",  NULL};
    environ = all_of_it;
    check_text("value", stats_variable("PAWL_STATS"), "/tmp/=4");
    check_text("value", stats_variable("PAWL_STATS_TABLE"), "-");
    CHECK(stats_variable("PAWL_PROFILE") == NULL, "set");
    CHECK(stats_variable("PAWL_STA") == NULL, "set");
}

/* ---- paths */

static void a_relative_path_is_of_the_folder_at_the_start(const lock_info *lock)
{
    (void)lock;
    CHECK(chdir("/usr/lib") == 0, "chdir");
    begin_with("x/s", NULL, NULL);
    CHECK(chdir("/") == 0, "chdir");
    check_report("/usr/lib/x/s", true);
}

static void without_a_folder_there_is_no_report(const lock_info *lock)
{
    (void)lock;
    no_folder = true;
    begin_with("s", NULL, NULL);
    check_off("nowhere");
    begin_with("s", "/tmp/book", NULL);
    CHECK(stats_on && !all, "no profile");
    finish();
    check_number("reports", (uint64_t)reports, 0);
    CHECK(opened == -1, "the parent was looked at");
}

static void a_path_leaves_room_for_what_is_appended(const lock_info *lock)
{
    (void)lock;
    char longest[PATH_MAX + 1];
    size_t most = PATH_MAX - sizeof ".4194304.txt.4194304~" - 1;
    memset(longest, 'x', sizeof longest);
    longest[0] = '/';
    longest[most + 1] = '\0';
    begin_with(longest, NULL, NULL);
    check_off("too long");
    longest[most] = '\0';
    begin_with(longest, NULL, NULL);
    check_report(longest, true);
}

static void a_relative_path_leaves_room_too(const lock_info *lock)
{
    (void)lock;
    char longest[PATH_MAX + 1];
    CHECK(chdir("/usr/lib") == 0, "chdir");
    size_t most = PATH_MAX - sizeof ".4194304.txt.4194304~" - 1 - strlen("/usr/lib/");
    memset(longest, 'x', sizeof longest);
    longest[most + 1] = '\0';
    begin_with(longest, NULL, NULL);
    check_off("too long");
    longest[most] = '\0';
    begin_with(longest, NULL, NULL);
    CHECK(stats_on, "too long?");
}

/* ---- descendants */

static void a_childs_name_has_its_number(const lock_info *lock)
{
    (void)lock;
    char wanted[64];
    begin_with("/tmp/s", NULL, NULL);
    request.started++; /* another process */
    snprintf(wanted, sizeof wanted, "/tmp/s.%d", (int)getpid());
    check_report(wanted, false);
}

static void who_inherits_is(const char *text, size_t size, bool descendant)
{
    char wanted[64] = "/tmp/s";
    of_parent = text;
    size_of_parent = size;
    begin_with("/tmp/s", NULL, NULL);
    check_number("descendant", request.descendant, descendant);
    if (!descendant)
        return;
    snprintf(wanted, sizeof wanted, "/tmp/s.%d", (int)getpid());
    check_report(wanted, false);
}

#define INHERITS(name, text, descendant)                                                                     \
    static void name(const lock_info *lock)                                                                  \
    {                                                                                                        \
        (void)lock;                                                                                          \
        who_inherits_is(text, sizeof text, descendant);                                                      \
    }

INHERITS(the_parent_has_the_same_request, "A=1\0PAWL_STATS=/tmp/s\0B=2", true)
INHERITS(the_parent_has_it_first, "PAWL_STATS=/tmp/s\0B=2", true)
INHERITS(the_parent_has_it_last, "PAWL_STATS_TABLE=-\0PAWL_STATS=/tmp/s", true)
INHERITS(the_parent_has_none, "A=1\0B=2", false)
INHERITS(the_parent_has_another, "PAWL_STATS=/tmp/t\0B=2", false)
INHERITS(the_parent_has_a_longer_one, "PAWL_STATS=/tmp/s2\0B=2", false)
INHERITS(the_parent_has_a_shorter_one, "PAWL_STATS=/tmp/\0s", false)
INHERITS(the_parent_has_it_in_another, "X=PAWL_STATS=/tmp/s\0B=2", false)
INHERITS(the_parent_has_it_in_two_parts, "PAWL_STATS=/\0tmp/s\0B=2", false)

static void the_parent_has_much_else(const lock_info *lock)
{
    (void)lock;
    static char text[8192];
    memset(text, 'x', sizeof text);
    memcpy(text + 1014, "\0PAWL_STATS=/tmp/s", 19); /* over the end of what is read at once */
    who_inherits_is(text, sizeof text, true);
}

static void the_parent_cannot_be_read(const lock_info *lock)
{
    (void)lock;
    no_parent = true;
    PARENT("PAWL_STATS=/tmp/s");
    begin_with("/tmp/s", NULL, NULL);
    check_report("/tmp/s", true);
}

static void a_profile_alone_does_not_look_at_the_parent(const lock_info *lock)
{
    (void)lock;
    begin_with(NULL, "/tmp/book", NULL);
    CHECK(opened == -1, "it was opened");
}

/* ---- standard error */

static void standard_error_is_what_it_was(const lock_info *lock)
{
    (void)lock;
    dup2(scratch_file(), STDERR_FILENO);
    begin_with("/tmp/s", NULL, "-");
    lseek(STDERR_FILENO, 5, SEEK_SET);
    finish();
    CHECK(report.error_output, "taken for another");
}

static int to_errors; /* what the harness hears */

static void keep_errors(void)
{
    to_errors = dup(STDERR_FILENO);
}

static void check_not_the_same(void)
{
    finish();
    dup2(to_errors, STDERR_FILENO);
    CHECK(reports == 1 && !report.error_output, "taken for standard error");
}

static void standard_error_is_another_file(const lock_info *lock)
{
    (void)lock;
    keep_errors();
    int first = scratch_file(), second = scratch_file(); /* of one file system */
    dup2(first, STDERR_FILENO);
    begin_with("/tmp/s", NULL, "-");
    dup2(second, STDERR_FILENO);
    check_not_the_same();
}

static void standard_error_is_on_another_device(const lock_info *lock)
{
    (void)lock;
    keep_errors();
    begin_with("/tmp/s", NULL, "-");
    request.error_output.st_dev++;
    check_not_the_same();
}

static void standard_error_is_closed(const lock_info *lock)
{
    (void)lock;
    keep_errors();
    begin_with("/tmp/s", NULL, "-");
    close(STDERR_FILENO);
    check_not_the_same();
}

static void standard_error_was_closed(const lock_info *lock)
{
    (void)lock;
    keep_errors();
    fstat(STDERR_FILENO, &request.error_output); /* what happens to be there */
    close(STDERR_FILENO);
    begin_with("/tmp/s", NULL, "-");
    dup2(to_errors, STDERR_FILENO);
    check_not_the_same();
}

static const promise promises[] = {
    {"nobody_asks", nobody_asks, NULL, "start"},
    {"for_a_report", for_a_report, NULL, "start"},
    {"for_a_profile", for_a_profile, NULL, "start"},
    {"for_both", for_both, NULL, "start"},
    {"a_table_goes_to_standard_error_only_if_it_is_said_so",
     a_table_goes_to_standard_error_only_if_it_is_said_so, NULL, "start"},
    {"without_tables_nothing_is_collected", without_tables_nothing_is_collected, NULL, "start"},
    {"variables_have_exactly_their_names", variables_have_exactly_their_names, NULL, "start"},
    {"a_relative_path_is_of_the_folder_at_the_start", a_relative_path_is_of_the_folder_at_the_start, NULL,
     "start"},
    {"without_a_folder_there_is_no_report", without_a_folder_there_is_no_report, NULL, "start"},
    {"a_path_leaves_room_for_what_is_appended", a_path_leaves_room_for_what_is_appended, NULL, "start"},
    {"a_relative_path_leaves_room_too", a_relative_path_leaves_room_too, NULL, "start"},
    {"a_childs_name_has_its_number", a_childs_name_has_its_number, NULL, "start"},
    {"the_parent_has_the_same_request", the_parent_has_the_same_request, NULL, "start"},
    {"the_parent_has_it_first", the_parent_has_it_first, NULL, "start"},
    {"the_parent_has_it_last", the_parent_has_it_last, NULL, "start"},
    {"the_parent_has_none", the_parent_has_none, NULL, "start"},
    {"the_parent_has_another", the_parent_has_another, NULL, "start"},
    {"the_parent_has_a_longer_one", the_parent_has_a_longer_one, NULL, "start"},
    {"the_parent_has_a_shorter_one", the_parent_has_a_shorter_one, NULL, "start"},
    {"the_parent_has_it_in_another", the_parent_has_it_in_another, NULL, "start"},
    {"the_parent_has_it_in_two_parts", the_parent_has_it_in_two_parts, NULL, "start"},
    {"the_parent_has_much_else", the_parent_has_much_else, NULL, "start"},
    {"the_parent_cannot_be_read", the_parent_cannot_be_read, NULL, "start"},
    {"a_profile_alone_does_not_look_at_the_parent", a_profile_alone_does_not_look_at_the_parent, NULL,
     "start"},
    {"standard_error_is_what_it_was", standard_error_is_what_it_was, NULL, "start"},
    {"standard_error_is_another_file", standard_error_is_another_file, NULL, "start"},
    {"standard_error_is_on_another_device", standard_error_is_on_another_device, NULL, "start"},
    {"standard_error_is_closed", standard_error_is_closed, NULL, "start"},
    {"standard_error_was_closed", standard_error_was_closed, NULL, "start"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
