/* file.c - files that appear whole or not at all, and change nothing else of the process */
#include "tables.h"

#include "preload/stats/file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

static stats_file f;
static char folder[128], path[160], temporary[192];

/* ---- the kernel: what the next calls of write() give back, 0 for its own answer; below 0, an error */

enum { OTHER = 0 };
static long answers[4];
static int next_answer, close_error;
static size_t most = SIZE_MAX; /* bytes of a write */
static int writes;

ssize_t __real_write(int fd, const void *text, size_t size);
ssize_t __wrap_write(int fd, const void *text, size_t size);
int __real_close(int fd);
int __wrap_close(int fd);

ssize_t __wrap_write(int fd, const void *text, size_t size)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    CHECK(!sigismember(&mask, SIGTERM), "a signal that has to do with nothing is held off");
    writes++;
    long answer = next_answer < 4 ? answers[next_answer++] : OTHER;
    if (answer < 0) {
        errno = (int)-answer;
        return -1;
    }
    return __real_write(fd, text, size > most ? most : size);
}

int __wrap_close(int fd)
{
    int closed = __real_close(fd);
    if (close_error == 0)
        return closed;
    errno = close_error;
    return -1;
}

/* ---- */

static void prepare(void)
{
    const char *above = getenv("TMPDIR");
    snprintf(folder, sizeof folder, "%s/pawl-test-XXXXXX", above != NULL ? above : "/tmp");
    CHECK(mkdtemp(folder) != NULL, "mkdtemp: %s", strerror(errno));
    snprintf(path, sizeof path, "%s/s", folder);
    snprintf(temporary, sizeof temporary, "%s.%d~", path, (int)getpid());
    memset(&f, 0x77, sizeof f); /* used before */
}

static void finish(void)
{
    unlink(path);
    CHECK(rmdir(folder) == 0, "a file is left: %s", strerror(errno));
}

static const char *text_of(const char *name)
{
    int fd = open(name, O_RDONLY | O_CLOEXEC);
    if (fd < 0)
        return "none";
    const char *text = contents(fd);
    __real_close(fd);
    return text;
}

static void check_close(int error)
{
    int found = stats_file_close(&f);
    CHECK(found == error, "error %s instead of %s", strerror(found), strerror(error));
}

static void it_appears_when_it_is_complete(const lock_info *lock)
{
    (void)lock;
    struct stat made;
    umask(0022);
    prepare();
    stats_file_open(&f, path);
    stats_file_print(&f, "%s %d\n", "number", 5);
    check_text("before", text_of(path), "none");
    CHECK(stat(temporary, &made) == 0 && (made.st_mode & 0777) == 0644, "mode %o", (unsigned)made.st_mode);
    check_close(0);
    check_text("after", text_of(path), "number 5\n");
    CHECK(access(temporary, F_OK) != 0, "the temporary one stays");
    CHECK(fcntl(f.fd, F_GETFD) == -1, "it stays open");
    stats_file_open(&f, path);
    stats_file_print(&f, "new\n");
    check_text("before it is replaced", text_of(path), "number 5\n");
    check_close(0);
    check_text("replaced", text_of(path), "new\n");
    finish();
}

static void what_a_killed_process_left_is_no_obstacle(const lock_info *lock)
{
    (void)lock;
    prepare();
    int fd = open(temporary, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);
    CHECK(__real_write(fd, "a longer text of old\n", 21) == 21, "write");
    __real_close(fd);
    stats_file_open(&f, path);
    stats_file_print(&f, "new\n");
    check_close(0);
    check_text("text", text_of(path), "new\n");
    finish();
}

static void a_pipe_is_written_to_and_stays(const lock_info *lock)
{
    (void)lock;
    struct stat there;
    prepare();
    CHECK(mkfifo(path, 0600) == 0, "mkfifo: %s", strerror(errno));
    int reader = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    stats_file_open(&f, path);
    stats_file_print(&f, "text\n");
    check_close(0);
    char text[16] = "";
    CHECK(read(reader, text, sizeof text - 1) == 5, "read");
    check_text("text", text, "text\n");
    CHECK(stat(path, &there) == 0 && S_ISFIFO(there.st_mode), "it was replaced");
    stats_file_open(&f, path);
    stats_file_print(&f, "text\n");
    answers[next_answer = 0] = -EIO;
    check_close(EIO);
    CHECK(stat(path, &there) == 0, "it was removed");
    finish();
}

static void a_descriptor_stays_open(const lock_info *lock)
{
    (void)lock;
    int fd = scratch_file();
    memset(&f, 0x77, sizeof f);
    stats_file_open_fd(&f, fd);
    stats_file_print(&f, "text\n");
    check_close(0);
    CHECK(fcntl(fd, F_GETFD) != -1, "it was closed");
    check_text("text", contents(fd), "text\n");
}

static void errors_are_told_and_leave_nothing(const lock_info *lock)
{
    (void)lock;
    prepare();
    char missing[192];
    snprintf(missing, sizeof missing, "%s/missing/s", folder);
    stats_file_open(&f, missing);
    stats_file_print(&f, "text\n");
    answers[0] = -EIO; /* which is not asked */
    check_close(ENOENT);
    check_number("writes", (uint64_t)next_answer, 0);

    stats_file_open(&f, path);
    stats_file_print(&f, "text\n");
    check_close(EIO);
    check_text("after an error", text_of(path), "none");
    CHECK(access(temporary, F_OK) != 0, "the temporary one stays");

    close_error = EDQUOT; /* of a file system that writes late */
    stats_file_open(&f, path);
    stats_file_print(&f, "text\n");
    check_close(EDQUOT);
    check_text("after an error", text_of(path), "none");
    CHECK(access(temporary, F_OK) != 0, "the temporary one stays");

    answers[next_answer = 0] = -ENOSPC; /* the first counts */
    stats_file_open(&f, path);
    stats_file_print(&f, "text\n");
    check_close(ENOSPC);

    close_error = 0;
    CHECK(mkdir(path, 0700) == 0, "mkdir: %s", strerror(errno));
    stats_file_open(&f, path);
    stats_file_print(&f, "text\n");
    int error = stats_file_close(&f);
    CHECK(rmdir(path) == 0, "rmdir");
    CHECK(error == EISDIR, "a folder: %s", strerror(error));
    finish();
}

static void a_file_that_cannot_be_renamed_is_an_error(const lock_info *lock)
{
    (void)lock;
    prepare();
    stats_file_open(&f, path);
    stats_file_print(&f, "text\n");
    CHECK(mkdir(path, 0700) == 0, "mkdir: %s", strerror(errno)); /* meanwhile */
    int error = stats_file_close(&f);
    CHECK(rmdir(path) == 0, "rmdir");
    CHECK(error == EISDIR, "%s", strerror(error));
    finish();
}

static void texts_of_any_length_are_whole(const lock_info *lock)
{
    (void)lock;
    enum { LINES = 2000 };
    static char line[64], wanted[LINES * sizeof line], longer[4000];
    int fd = scratch_file();
    most = 2000;
    answers[0] = -EINTR;
    leave_ones();
    stats_file_open_fd(&f, fd);
    for (int i = 0; i < LINES; i++) {
        snprintf(line, sizeof line, "line %d\n", i);
        strcat(wanted, line);
        stats_file_print(&f, "line %d\n", i);
    }
    check_close(0);
    check_text("text", contents(fd), wanted);
    most = SIZE_MAX;
    CHECK((size_t)writes < strlen(wanted) / 1000, "%d writes", writes);

    fd = scratch_file();
    memset(longer, 'x', sizeof longer - 1);
    stats_file_open_fd(&f, fd);
    stats_file_print(&f, "%s", longer); /* longer than any of ours: as much of it as there is room for */
    stats_file_print(&f, "%.1023s", longer);
    stats_file_print(&f, ".");
    check_close(0);
    check_number("length", strlen(contents(fd)), 1023 + 1023 + 1);
    CHECK(contents(fd)[2046] == '.', "the end");
}

/* ---- signals */

static bool is_pending(int number)
{
    sigset_t pending;
    sigpending(&pending);
    return sigismember(&pending, number);
}

static bool is_blocked(int number)
{
    sigset_t mask;
    pthread_sigmask(SIG_BLOCK, NULL, &mask);
    return sigismember(&mask, number);
}

static void block(int number)
{
    sigset_t set;
    sigemptyset(&set);
    sigaddset(&set, number);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
}

/* Of a broken pipe. */
static void write_to_nobody(void)
{
    int pipes[2];
    CHECK(pipe(pipes) == 0, "pipe");
    __real_close(pipes[0]);
    stats_file_open_fd(&f, pipes[1]);
    stats_file_print(&f, "text\n");
    check_close(EPIPE);
}

/* Of a limit on the size of files. */
static void write_too_much(void)
{
    struct rlimit before, none = {0, 0};
    getrlimit(RLIMIT_FSIZE, &before);
    none.rlim_max = before.rlim_max;
    prepare();
    stats_file_open(&f, path);
    setrlimit(RLIMIT_FSIZE, &none);
    stats_file_print(&f, "text\n");
    check_close(EFBIG);
    setrlimit(RLIMIT_FSIZE, &before);
    finish();
}

static void signals_of_a_failure_do_not_reach_the_program(const lock_info *lock)
{
    (void)lock;
    write_to_nobody(); /* either would end us */
    write_too_much();
    CHECK(!is_pending(SIGPIPE) && !is_pending(SIGXFSZ), "still pending");
    CHECK(!is_blocked(SIGPIPE) && !is_blocked(SIGXFSZ), "still blocked");
}

static void signals_of_the_program_stay_as_they_are(const lock_info *lock)
{
    (void)lock;
    block(SIGPIPE);
    block(SIGUSR1);
    raise(SIGPIPE);
    raise(SIGUSR1);
    write_to_nobody();
    write_too_much();
    CHECK(is_pending(SIGPIPE) && is_pending(SIGUSR1) && !is_pending(SIGXFSZ), "pending");
    CHECK(is_blocked(SIGPIPE) && is_blocked(SIGUSR1) && !is_blocked(SIGXFSZ), "blocked");
    answers[next_answer = 0] = -EIO; /* no failure that sends a signal */
    int fd = scratch_file();
    stats_file_open_fd(&f, fd);
    stats_file_print(&f, "text\n");
    check_close(EIO);
    CHECK(is_pending(SIGPIPE) && is_pending(SIGUSR1), "pending");
    CHECK(!is_blocked(SIGXFSZ) && !is_blocked(SIGTERM), "blocked");
}

static const promise promises[] = {
    {"it_appears_when_it_is_complete", it_appears_when_it_is_complete, NULL, "file"},
    {"what_a_killed_process_left_is_no_obstacle", what_a_killed_process_left_is_no_obstacle, NULL, "file"},
    {"a_pipe_is_written_to_and_stays", a_pipe_is_written_to_and_stays, NULL, "file"},
    {"a_descriptor_stays_open", a_descriptor_stays_open, NULL, "file"},
    {"errors_are_told_and_leave_nothing", errors_are_told_and_leave_nothing, NULL, "file"},
    {"a_file_that_cannot_be_renamed_is_an_error", a_file_that_cannot_be_renamed_is_an_error, NULL, "file"},
    {"texts_of_any_length_are_whole", texts_of_any_length_are_whole, NULL, "file"},
    {"signals_of_a_failure_do_not_reach_the_program", signals_of_a_failure_do_not_reach_the_program, NULL,
     "file"},
    {"signals_of_the_program_stay_as_they_are", signals_of_the_program_stay_as_they_are, NULL, "file"},
};

HARNESS_MAIN_WITHOUT_LOCKS(promises)
