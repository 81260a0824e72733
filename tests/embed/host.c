/* host.c - loads libraries, uses each in threads of its own, unloads them, and lets the threads end
 *
 *   host [-n TIMES] [-o] [-g] [-m] FILE...
 *
 * -n repeats it all; -o has one library loaded at a time; -g makes their symbols global; -m loads each into a namespace
 * of its own. HOST_PAWL: the program has libpawl linked in, and uses it, too.
 */
#include <dlfcn.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#ifdef HOST_PAWL
#include <pawl.h>
#endif

enum { THREADS = 2, MOST = 128 };

typedef struct library {
    void *handle;
    pthread_t thread[THREADS];
    pthread_barrier_t used, unloaded;
} library;

static bool namespaces;

_Noreturn static void die(const char *what, const char *why)
{
    fprintf(stderr, "host: %s: %s\n", what, why != NULL ? why : "");
    exit(EXIT_FAILURE);
}

static void use(void *handle)
{
    void (*plugin)(void) = __extension__(void (*)(void)) dlsym(handle, "plugin_use");
    if (plugin != NULL) {
        plugin();
        return;
    }
    /* libpawl.so itself */
    static long long mutex[8];
    void (*enter)(void) = __extension__(void (*)(void)) dlsym(handle, "pawl_thread_enter");
    void (*lock)(void *) = __extension__(void (*)(void *)) dlsym(handle, "pawl_mutex_lock_call");
    void (*unlock)(void *) = __extension__(void (*)(void *)) dlsym(handle, "pawl_mutex_unlock_call");
    if (enter == NULL || lock == NULL || unlock == NULL)
        die("dlsym", dlerror());
    enter();
    for (int i = 0; i < 1000; i++) {
        lock(mutex);
        unlock(mutex);
    }
}

static void *run(void *arg)
{
    library *l = arg;
    use(l->handle);
    pthread_barrier_wait(&l->used);
    pthread_barrier_wait(&l->unloaded);
    return NULL;
}

static void load(library *l, const char *file, int how)
{
    l->handle = namespaces ? dlmopen(LM_ID_NEWLM, file, how) : dlopen(file, how);
    if (l->handle == NULL)
        die("dlopen", dlerror());
    pthread_barrier_init(&l->used, NULL, THREADS + 1);
    pthread_barrier_init(&l->unloaded, NULL, THREADS + 1);
    for (int i = 0; i < THREADS; i++)
        if (pthread_create(&l->thread[i], NULL, run, l) != 0)
            die("no thread", NULL);
    pthread_barrier_wait(&l->used);
}

static void unload(library *l)
{
    if (dlclose(l->handle) != 0)
        die("dlclose", dlerror());
    pthread_barrier_wait(&l->unloaded);
    for (int i = 0; i < THREADS; i++)
        pthread_join(l->thread[i], NULL);
}

int main(int argc, char **argv)
{
    static library libraries[MOST];
    int times = 1, how = RTLD_NOW, option, files;
    bool one_by_one = false;
    while ((option = getopt(argc, argv, "n:ogm")) != -1)
        if (option == 'n')
            times = atoi(optarg);
        else if (option == 'o')
            one_by_one = true;
        else if (option == 'g')
            how |= RTLD_GLOBAL;
        else if (option == 'm')
            namespaces = true;
    files = argc - optind < MOST ? argc - optind : MOST;
    int at_once = one_by_one ? 1 : files;
    while (times-- > 0)
        for (int first = 0; first < files; first += at_once) {
            for (int i = first; i < first + at_once; i++)
                load(&libraries[i], argv[optind + i], how);
            for (int i = first + at_once - 1; i >= first; i--)
                unload(&libraries[i]);
        }
#ifdef HOST_PAWL
    pawl_mcs l = {0};
    pawl_mcs_ctx c;
    pawl_mcs_lock(&l, &c);
    pawl_mcs_unlock(&l, &c);
#endif
    return 0;
}
