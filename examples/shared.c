/* shared.c - two processes count under one lock; one of them is killed with it, and the other goes on */
#include <pawl/shared.h>

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

typedef struct account {
    pawl_mutex_shared mutex; /* all-zero is unlocked */
    long deposited, balance; /* equal, whenever nobody has the mutex */
} account;

static void deposit(pawl_region *r, account *a, int dies)
{
    int error = pawl_mutex_shared_lock(r, &a->mutex);
    if (error == EOWNERDEAD) { /* the last owner died; so the data may be half changed */
        a->balance = a->deposited;
        pawl_mutex_shared_consistent(r, &a->mutex);
    }
    a->deposited++;
    if (dies)
        raise(SIGKILL);
    a->balance++;
    pawl_mutex_shared_unlock(r, &a->mutex);
}

int main(void)
{
    pawl_region *r;
    int file = memfd_create("account", 0), error = pawl_region_create(&r, file, sizeof(account));
    if (error != 0) {
        fprintf(stderr, "shared: %s\n", pawl_region_error(error));
        return error == ENOTSUP ? 77 : 1;
    }
    pid_t child = fork();
    if (child == 0) {
        pawl_region *mine; /* a mapping of its own, at another address */
        if (pawl_region_attach(&mine, file) != 0)
            return 1;
        for (int i = 0; i < 100000; i++)
            deposit(mine, pawl_region_memory(mine), i == 99999);
    }
    account *a = pawl_region_memory(r);
    for (int i = 0; i < 100000; i++)
        deposit(r, a, 0);
    waitpid(child, NULL, 0);
    deposit(r, a, 0);
    return printf("%ld deposited, balance %ld\n", a->deposited, a->balance) < 0 || a->balance != 200001;
}
