/* work.c - checks many locks, several at a time, each in a process of its own */
#include "work.h"
#include "../cli/cli.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- in the child */

static json_t *case_json(const check_outcome *out, const lock_info *lock)
{
    json_t *j =
        json_pack("{s:s, s:s, s:i, s:I, s:I, s:I, s:b, s:i, s:i, s:f}", "scenario", out->which.name,
                  "verdict", lab_verdict_name(out->verdict), "threads",
                  out->which.with.threads != 0 ? out->which.with.threads : out->which.scenario->threads,
                  "executions", (json_int_t)out->executions, "pruned", (json_int_t)out->pruned, "steps",
                  (json_int_t)out->steps, "exhaustive", out->complete, "preemptions", out->preemptions,
                  "stale", out->stale, "seconds", out->seconds);
    if (out->verdict == LAB_OK)
        return j;
    char *trace = NULL;
    size_t length;
    FILE *to = open_memstream(&trace, &length);
    check_outcome again = {0};
    const char *error;
    if (to != NULL && out->replay != NULL && check_replay(lock, out->replay, to, &again, &error))
        check_outcome_free(&again);
    if (to != NULL)
        fclose(to);
    json_object_set_new(j, "message", json_string(out->message));
    json_object_set_new(j, "replay", json_string(out->replay != NULL ? out->replay : ""));
    json_object_set_new(j, "trace", json_string(trace != NULL ? trace : ""));
    free(trace);
    return j;
}

static json_t *check_all_cases(const subject *s, const check_options *o)
{
    check_case cases[CHECK_MOST_CASES];
    int count = check_cases(s->lock, o, cases, CHECK_MOST_CASES);
    json_t *found = json_array();
    for (int i = 0; i < count; i++) {
        check_outcome out;
        check_run(&cases[i], o, &out);
        json_array_append_new(found, case_json(&out, s->lock));
        check_outcome_free(&out);
    }
    return json_pack("{s:s, s:o}", "lock", s->name, "cases", found);
}

static void add_mutation(const lock_info *lock, const mutation *m, void *arg)
{
    (void)lock;
    json_array_append_new(arg, json_pack("{s:s, s:s, s:s, s:s, s:b, s:s, s:s, s:I, s:f}", "site", m->site,
                                         "op", check_op_name(m->op, m->role), "from",
                                         check_order_name(m->from), "to", check_order_name(m->to), "killed",
                                         m->killed, "verdict", lab_verdict_name(m->verdict), "by", m->by,
                                         "executions", (json_int_t)m->executions, "seconds", m->seconds));
}

static json_t *mutate_all(const subject *s, const check_options *o)
{
    json_t *found = json_array();
    check_mutate(s->lock, o, add_mutation, found);
    return json_pack("{s:s, s:o}", "lock", s->name, "mutations", found);
}

static _Noreturn void child(const subject *s, const check_options *o, bool mutate, int to)
{
    json_t *found = mutate ? mutate_all(s, o) : check_all_cases(s, o);
    FILE *out = fdopen(to, "w");
    bool written = out != NULL && json_dumpf(found, out, 0) == 0 && fclose(out) == 0;
    _exit(written ? 0 : 1);
}

/* ---- in the parent */

typedef struct worker {
    const subject *subject; /* NULL: idle */
    pid_t pid;
    int from;
    char *text;
    size_t length;
} worker;

static void start(worker *w, const subject *s, const check_options *o, bool mutate)
{
    int ends[2];
    if (pipe(ends) != 0)
        fail("cannot make a pipe");
    fflush(NULL);
    *w = (worker){.subject = s, .from = ends[0], .pid = fork()};
    if (w->pid < 0)
        fail("cannot start a process");
    if (w->pid == 0) {
        close(ends[0]);
        child(s, o, mutate, ends[1]);
    }
    close(ends[1]);
}

/* True at the end of what the child has to say. */
static bool read_some(worker *w)
{
    char *grown = realloc(w->text, w->length + 65536);
    if (grown == NULL)
        fail("out of memory");
    w->text = grown;
    ssize_t n = read(w->from, w->text + w->length, 65536);
    if (n < 0 && errno == EINTR)
        return false;
    if (n > 0)
        w->length += (size_t)n;
    return n <= 0;
}

static void finish(worker *w, work_sink *sink, void *arg)
{
    int status;
    close(w->from);
    while (waitpid(w->pid, &status, 0) < 0 && errno == EINTR)
        ;
    json_error_t error;
    json_t *found = status == 0 ? json_loadb(w->text, w->length, 0, &error) : NULL;
    if (found == NULL && WIFSIGNALED(status))
        fail("checking %s ended with signal %d", w->subject->name, WTERMSIG(status));
    if (found == NULL)
        fail("checking %s gave no result", w->subject->name);
    free(w->text);
    sink(found, arg);
    json_decref(found);
    w->subject = NULL;
}

static void show_progress(const worker *workers, int jobs, int done, int count)
{
    fprintf(stderr, "\r\033[K%d of %d:", done, count);
    for (int i = 0; i < jobs; i++)
        if (workers[i].subject != NULL)
            fprintf(stderr, " %s", workers[i].subject->name);
}

void work_on(const subject *subjects, int count, const check_options *o, bool mutate, int jobs, bool progress,
             work_sink *sink, void *arg)
{
    worker *workers = allocate((size_t)jobs, sizeof *workers);
    struct pollfd *polls = allocate((size_t)jobs, sizeof *polls);
    for (int next = 0, done = 0; done < count;) {
        for (int i = 0; i < jobs && next < count; i++)
            if (workers[i].subject == NULL)
                start(&workers[i], &subjects[next++], o, mutate);
        if (progress)
            show_progress(workers, jobs, done, count);
        for (int i = 0; i < jobs; i++)
            polls[i] =
                (struct pollfd){.fd = workers[i].subject != NULL ? workers[i].from : -1, .events = POLLIN};
        poll(polls, (nfds_t)jobs, -1);
        for (int i = 0; i < jobs; i++)
            if (polls[i].revents != 0 && read_some(&workers[i])) {
                if (progress)
                    fputs("\r\033[K", stderr);
                finish(&workers[i], sink, arg);
                done++;
            }
    }
    free(workers);
    free(polls);
}
