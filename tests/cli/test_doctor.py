"""pawl doctor"""

import ctypes
import json
import pathlib

from harness import Skipped, check, environment, folder, output, pawl, preload, refused, run, test
import harness

NAMES = ["policy", "futex", "membarrier", "syscalls", "seccomp", "spinning", "line-wait", "futex2", "rseq", "numa", "cpuset", "quota", "hint", "timeslice"]


def doctor(*arguments, **options):
    p = pawl("doctor", "--json", *arguments, **options)
    findings = {f["name"]: f for f in json.loads(p.stdout)["findings"]}
    warned = any(f["warning"] for f in findings.values())
    check(p.returncode == (1 if warned else 0), f"exit {p.returncode}")
    return findings


def tree(at, **files):
    """A root with these files; __ stands for / and ___ for a dot."""
    for name, text in files.items():
        path = pathlib.Path(at) / name.replace("___", ".").replace("__", "/")
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return at


@test
def doctor_tells_all_findings_to_people_and_programs():
    findings = doctor()
    check(list(findings) == NAMES, str(list(findings)))
    text = pawl("doctor").stdout
    for name, f in findings.items():
        check(f["found"] and f["choice"] and type(f["warning"]) is bool, name)
        check(f"\n{name} " in "\n" + text and f"libpawl: {f['choice']}" in text, f"{name} is not in the text")
        check(f["change"] is None or f"to change: {f['change']}" in text, name)


@test
def doctor_sees_the_policy():
    for policy in ["spin", "yield", "park"]:
        f = doctor(env=environment(PAWL_WAIT=policy))["policy"]
        check(f["found"] == f"{policy}, from PAWL_WAIT", f["found"])
    refused(["doctor"], "PAWL_WAIT", env=environment(PAWL_WAIT="sleep"))
    refused(["doctor"], "PAWL_HINT", env=environment(PAWL_HINT="on"))


@test
def doctor_sees_that_membarrier_is_not_wanted():
    f = doctor(env=environment(PAWL_NO_MEMBARRIER="1"))["membarrier"]
    check("PAWL_NO_MEMBARRIER is set" in f["choice"] and f["change"] == "unset PAWL_NO_MEMBARRIER", str(f))


@test
def doctor_sees_whether_threads_have_an_rseq_area():
    f = doctor(env=environment(GLIBC_TUNABLES="glibc.pthread.rseq=0"))["rseq"]
    check("asks getcpu()" in f["choice"] and f["change"] is None, str(f))
    try:
        registers = ctypes.c_uint.in_dll(ctypes.CDLL(None), "__rseq_size").value != 0
    except ValueError:  # an older C library, or another
        registers = False
    f = doctor()["rseq"]
    check((f["change"] or "").startswith("GLIBC_TUNABLES=glibc.pthread.rseq=0 ") == registers, str(f))


@test
def doctor_sees_what_the_kernel_refuses():
    with folder() as at:
        preload(at, "refuse", """
            #define _GNU_SOURCE
            #include <dlfcn.h>
            #include <errno.h>
            #include <stdarg.h>
            #include <stdlib.h>
            long syscall(long n, ...)
            {
                long a[6];
                va_list l;
                va_start(l, n);
                for (int i = 0; i < 6; i++) a[i] = va_arg(l, long);
                va_end(l);
                if (n == atol(getenv("REFUSED"))) { errno = ENOSYS; return -1; }
                long (*real)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
                return real(n, a[0], a[1], a[2], a[3], a[4], a[5]);
            }""")
        numbers = run("cc", "-E", "-P", "-", input="#include <sys/syscall.h>\nSYS_membarrier SYS_futex SYS_rseq\n").stdout.split()[-3:]
        for number, name in [(numbers[0], "membarrier"), (numbers[1], "futex"), ("449", "futex2")]:
            f = doctor(env=environment(LD_PRELOAD=f"{at}/refuse.so", REFUSED=number))[name]
            check(f["offered"] is False, f"{name}: {f}")
            check(f["warning"] == (name != "futex2"), f"{name}: {f}")
            if name == "membarrier":
                check(f["choice"].startswith("every unlock"), f["choice"])


@test
def doctor_survives_a_filter_that_kills():
    with folder() as at:
        preload(at, "filter", """
            #include <linux/filter.h>
            #include <linux/seccomp.h>
            #include <stddef.h>
            #include <stdlib.h>
            #include <sys/prctl.h>
            #include <unistd.h>
            __attribute__((constructor)) static void begin(void)
            {
                struct sock_filter rules[] = {
                    BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
                    BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, atol(getenv("KILLS_FOR")), 0, 1),
                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
                    BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
                };
                struct sock_fprog filter = {sizeof rules / sizeof rules[0], rules};
                if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &filter) != 0)
                    _exit(77);
            }""")
        calls = ["membarrier", "sched_yield", "sched_getaffinity", "get_robust_list", "futex_waitv"]
        numbers = run("cc", "-E", "-P", "-", input="#include <sys/syscall.h>\n" + " ".join(f"SYS_{c}" for c in calls)).stdout.split()
        for call, number in zip(calls, numbers[-len(calls):]):
            where = environment(LD_PRELOAD=f"{at}/filter.so", KILLS_FOR=number)
            if pawl("doctor", env=where).returncode == 77:
                raise Skipped("no seccomp filters here")
            found = doctor(env=where)
            f = found[{"membarrier": "membarrier", "futex_waitv": "futex2"}.get(call, "syscalls")]
            check(f["found"] == f"{call}(): a filter kills for it" and f["offered"] is False, f"{call}: {f}")
            check(f["warning"] == (call != "futex_waitv"), f"{call}: {f}")
            check(found["seccomp"]["offered"] is True, f"{call}: {found['seccomp']}")
            if call == "sched_getaffinity":
                check(found["spinning"]["offered"] is None and found["cpuset"]["offered"] is None, str(found))
            elif call != "membarrier":
                check(found["membarrier"]["change"] == "start the program without the filter", str(found["membarrier"]))


@test
def doctor_sees_nodes_cpus_and_filters():
    with folder() as at:
        tree(at, sys__devices__system__node__online="0-1,3\n", sys__devices__system__cpu__online="0-4095\n",
             proc__self__status="Name:\tpawl\nSeccomp:\t2\nSeccomp_filters:\t1\n")
        f = doctor("--root", at)
        check(f["numa"]["found"] == "3 nodes" and "numactl" in f["numa"]["change"], str(f["numa"]))
        check(f["cpuset"]["offered"] is True and f["cpuset"]["found"].endswith(" of 4096 CPUs"), str(f["cpuset"]))
        check(f["seccomp"]["offered"] is True and "without membarrier" in f["seccomp"]["choice"], str(f["seccomp"]))
    with folder() as at:
        tree(at, sys__devices__system__node__online="0\n", proc__self__status="Name:\tpawl\nSeccomp:\t0\n", sys__devices__system__cpu__online="junk")
        f = doctor("--root", at)
        check(f["numa"]["offered"] is False and f["seccomp"]["offered"] is False and f["cpuset"]["offered"] is None, str(f))
    with folder() as at:
        f = doctor("--root", at)
        check(all(f[name]["offered"] is None for name in ["numa", "seccomp", "cpuset", "quota"]), str(f))
        check("of how many" in f["cpuset"]["found"] and "does not say" in f["quota"]["found"], str(f))


@test
def doctor_sees_the_smallest_quota():
    with folder() as at:  # version 2, where a group above has less
        tree(at, proc__self__cgroup="0::/a/b\n", sys__fs__cgroup__a__b__cpu___max="400000 100000\n", sys__fs__cgroup__a__cpu___max="50000 100000\n",
             sys__fs__cgroup__cpu___max="max 100000\n")
        f = doctor("--root", at)["quota"]
        check(f["found"] == "0.5 CPUs of time (/sys/fs/cgroup/a/cpu.max)" and f["warning"], str(f))
    with folder() as at:  # version 1
        tree(at, proc__self__cgroup="4:memory:/x\n3:cpu,cpuacct:/x\n", sys__fs__cgroup__cpu__x__cpu___cfs_quota_us="2500\n",
             sys__fs__cgroup__cpu__x__cpu___cfs_period_us="10000\n")
        f = doctor("--root", at)["quota"]
        check(f["found"].startswith("0.25 CPUs") and f["warning"], str(f))
    with folder() as at:  # version 1, by another name, in a container that sees its own group as the root
        tree(at, proc__self__cgroup="3:cpuset:/x\n2:cpuacct,cpu:/docker/x\n", sys__fs__cgroup__cpu__cpu___cfs_quota_us="150000\n",
             sys__fs__cgroup__cpu__cpu___cfs_period_us="100000\n")
        f = doctor("--root", at)["quota"]
        check(f["found"] == "1.5 CPUs of time (/sys/fs/cgroup/cpu/cpu.cfs_quota_us)", str(f))
    with folder() as at:  # version 1, where a group above has less; and both versions
        tree(at, proc__self__cgroup="1:cpu:/x/y\n0::/z\n", sys__fs__cgroup__cpu__x__cpu___cfs_quota_us="10000\n",
             sys__fs__cgroup__cpu__x__cpu___cfs_period_us="100000\n", sys__fs__cgroup__cpu__x__y__cpu___cfs_quota_us="-1\n",
             sys__fs__cgroup__cpu__x__y__cpu___cfs_period_us="100000\n", sys__fs__cgroup__z__cpu___max="20000 100000\n")
        f = doctor("--root", at)["quota"]
        check(f["found"] == "0.1 CPUs of time (/sys/fs/cgroup/cpu/x/cpu.cfs_quota_us)", str(f))
    with folder() as at:  # plenty, and none
        tree(at, proc__self__cgroup="0::/\n", sys__fs__cgroup__cpu___max="90000000 1000\n")
        f = doctor("--root", at)["quota"]
        check(f["offered"] is True and not f["warning"], str(f))
        tree(at, sys__fs__cgroup__cpu___max="max 1000\n")
        check(doctor("--root", at)["quota"]["offered"] is False, "there is none")


@test
def doctor_writes_files_whole_or_not_at_all():
    with folder() as at:
        output("doctor", "-o", f"{at}/out")
        check("membarrier" in pathlib.Path(f"{at}/out").read_text(), "not written")
        refused(["doctor", "-o", f"{at}/no/such"], f"{at}/no/such")
    refused(["doctor", "--root", "/no/such"], "/no/such")
    refused(["doctor", "me"], "'me'")
