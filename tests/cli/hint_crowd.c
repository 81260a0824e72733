/* hint_crowd.c - PATH THREADS...: processes with so many threads each, all registered with the service of `pawl hint`
 *
 * Prints how many were taken, were refused because there is no room, or had another answer. Ends, and all threads with
 * it without a word, when standard input does.
 */
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "src/park/hint_map.h"

enum { MOST = 1100 };

static atomic_int tids[MOST], started;

static void *wait_for_the_end(void *arg)
{
    atomic_store(&tids[(long)arg], (int)syscall(SYS_gettid));
    atomic_fetch_add(&started, 1);
    for (;;)
        pause();
}

/* The answer's status; UINT32_MAX: none. */
static uint32_t join(const char *path, uint32_t tid)
{
    struct sockaddr_un to = {.sun_family = AF_UNIX};
    struct pawl_hint_request request = {PAWL_HINT_MAGIC, PAWL_HINT_VERSION, PAWL_HINT_JOIN,
                                        (uint32_t)getpid(), tid};
    struct pawl_hint_reply reply = {.status = UINT32_MAX};
    snprintf(to.sun_path, sizeof to.sun_path, "%s", path);
    int s = socket(AF_UNIX, SOCK_SEQPACKET, 0); /* blocks: there is no hurry */
    if (connect(s, (struct sockaddr *)&to, sizeof to) == 0 &&
        send(s, &request, sizeof request, 0) == sizeof request)
        recv(s, &reply, sizeof reply, 0); /* without room for descriptors */
    close(s);
    return reply.status;
}

static void crowd(const char *path, long threads, long counts[3])
{
    pthread_attr_t small;
    pthread_t thread;
    pthread_attr_init(&small);
    pthread_attr_setstacksize(&small, PTHREAD_STACK_MIN);
    for (long i = 0; i < threads; i++)
        if (pthread_create(&thread, &small, wait_for_the_end, (void *)i) != 0)
            exit(3);
    while (atomic_load(&started) < threads)
        usleep(1000);
    for (long i = 0; i < threads; i++) {
        uint32_t status = join(path, (uint32_t)atomic_load(&tids[i]));
        counts[status == PAWL_HINT_DONE ? 0 : status == PAWL_HINT_FULL ? 1 : 2]++;
    }
}

int main(int argc, char **argv)
{
    long sum[3] = {0};
    int ends[2];
    char end;
    if (argc < 3)
        return 2;
    for (int i = 2; i < argc; i++) { /* one after another: so the last ones are those that are refused */
        pid_t parent = getpid();
        long counts[3] = {0};
        pid_t child = pipe(ends) == 0 ? fork() : -1;
        if (child < 0)
            return 3;
        if (child == 0) {
            prctl(PR_SET_PDEATHSIG, SIGKILL);
            if (getppid() != parent)
                return 3;
            crowd(argv[1], atol(argv[i]), counts);
            if (write(ends[1], counts, sizeof counts) != sizeof counts)
                return 3;
            for (;;)
                pause();
        }
        close(ends[1]); /* else a child that ends early is waited for in vain */
        if (read(ends[0], counts, sizeof counts) != sizeof counts)
            return 3;
        close(ends[0]);
        for (int k = 0; k < 3; k++)
            sum[k] += counts[k];
    }
    printf("%ld %ld %ld\n", sum[0], sum[1], sum[2]);
    fflush(stdout);
    while (read(STDIN_FILENO, &end, 1) > 0)
        ;
    return 0;
}
