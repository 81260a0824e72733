/* check.c - whether a process can be watched, and which right is missing */
#include "attach.h"

#include "cli/cli.h"

#include <dirent.h>
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/capability.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { PERFMON = 38, BPF = 39 }; /* capabilities that old headers lack */

/* A file of /proc/PID; false, with errno, if it can't be read. */
static bool read_file(uint32_t pid, const char *name, char *text, size_t size)
{
    char path[320];
    snprintf(path, sizeof path, "/proc/%u/%s", (unsigned)pid, name);
    int fd = open(path, O_RDONLY | O_CLOEXEC);
    ssize_t length = fd >= 0 ? read(fd, text, size - 1) : -1;
    int error = errno;
    if (fd >= 0)
        close(fd);
    text[length > 0 ? length : 0] = '\0';
    errno = error;
    return length >= 0;
}

static uint64_t field(const char *status, const char *name, int base)
{
    const char *at = strstr(status, name);
    return at != NULL ? strtoull(at + strlen(name), NULL, base) : 0;
}

static bool has_ended(uint32_t pid, const char *thread)
{
    char name[300], text[4096];
    snprintf(name, sizeof name, "task/%s/status", thread);
    return !read_file(pid, name, text, sizeof text) || strstr(text, "\nState:\tZ") != NULL ||
           strstr(text, "\nState:\tX") != NULL;
}

uint32_t attach_alive(uint32_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/task", (unsigned)pid);
    DIR *threads = opendir(path);
    struct dirent *entry;
    uint32_t found = 0;
    while (threads != NULL && found == 0 && (entry = readdir(threads)) != NULL)
        if (entry->d_name[0] != '.' && !has_ended(pid, entry->d_name))
            found = (uint32_t)strtoul(entry->d_name, NULL, 10);
    if (threads != NULL)
        closedir(threads);
    return found;
}

static void check_kind(uint32_t pid)
{
    enum { KERNEL_THREAD = 0x00200000, FLAGS = 6 }; /* the sixth number after the state */
    char text[4096];
    if (!read_file(pid, "status", text, sizeof text))
        fail("-p %u: %s", (unsigned)pid, strerror(errno == ENOENT ? ESRCH : errno));
    uint64_t leader = field(text, "\nTgid:", 10);
    if (leader != pid)
        fail("-p %u: is a thread of process %" PRIu64, (unsigned)pid, leader);
    if (!read_file(pid, "stat", text, sizeof text))
        fail("-p %u: %s", (unsigned)pid, strerror(ESRCH));
    char *at = strrchr(text, ')'); /* the name may contain anything */
    at = at != NULL ? at + 3 : text;
    for (int i = 1; i < FLAGS; i++)
        strtoll(at, &at, 10);
    if ((strtoull(at, NULL, 10) & KERNEL_THREAD) != 0)
        fail("-p %u: is a thread of the kernel, which has no user's stack", (unsigned)pid);
    if (attach_alive(pid) == 0)
        fail("-p %u: has ended already", (unsigned)pid);
}

static int open_program(uint32_t pid)
{
    char path[64];
    snprintf(path, sizeof path, "/proc/%u/exe", (unsigned)attach_alive(pid));
    return open(path, O_RDONLY | O_CLOEXEC);
}

static void check_program(uint32_t pid)
{
    Elf64_Ehdr head;
    int fd = open_program(pid);
    bool known = fd >= 0 && read(fd, &head, sizeof head) == (ssize_t)sizeof head;
    if (fd >= 0)
        close(fd);
    if (known && (head.e_ident[EI_CLASS] != ELFCLASS64 || head.e_machine != EM_X86_64))
        fail("-p %u: is not a program for x86-64", (unsigned)pid);
}

/* Not even a process of our own is, if it has rights that we lack. The maps would do, but newer kernels show them more freely. */
static bool is_readable(uint32_t pid)
{
    int fd = open_program(pid);
    if (fd >= 0)
        close(fd);
    return fd >= 0;
}

/* The kernel only says EPERM. */
static void check_rights(uint32_t pid)
{
    char text[4096], missing[128] = "";
    read_file((uint32_t)getpid(), "status", text, sizeof text);
    uint64_t have = field(text, "\nCapEff:", 16);
    bool admin = (have >> CAP_SYS_ADMIN & 1) != 0; /* stands for the first two */
    const struct {
        const char *name;
        bool there;
    } wanted[] = {{"CAP_BPF", admin || (have >> BPF & 1) != 0},
                  {"CAP_PERFMON", admin || (have >> PERFMON & 1) != 0},
                  {"CAP_SYS_PTRACE", is_readable(pid)}};
    for (size_t i = 0; i < sizeof wanted / sizeof wanted[0]; i++)
        if (!wanted[i].there) {
            strcat(missing, *missing != '\0' ? ", " : "");
            strcat(missing, wanted[i].name);
        }
    if (*missing != '\0')
        fail("-p %u: watching a process from the kernel takes root; missing: %s", (unsigned)pid, missing);
    if (access("/sys/kernel/btf/vmlinux", R_OK) != 0)
        fail("-p %u: the kernel does not describe its types (/sys/kernel/btf/vmlinux; CONFIG_DEBUG_INFO_BTF)",
             (unsigned)pid);
}

int attach_check(uint32_t pid)
{
    int process = (int)syscall(SYS_pidfd_open, pid, 0), error = errno;
    check_kind(pid);
    check_rights(pid);
    check_program(pid);
    if (process < 0)
        fail("-p %u: %s", (unsigned)pid, strerror(error));
    return process;
}
