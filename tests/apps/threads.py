"""What Python programs do with threads and processes; prints what must not depend on the lock underneath."""

import concurrent.futures
import hashlib
import multiprocessing
import queue
import subprocess
import sys
import threading
import zlib

ROUNDS = int(sys.argv[1])
THREADS = 4


def team(work, *arguments):
    threads = [threading.Thread(target=work, args=(i, *arguments)) for i in range(THREADS)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()


def counter():
    locks = [threading.Lock(), threading.RLock(), threading.Semaphore(1), threading.BoundedSemaphore(1)]
    counts = [0] * len(locks)

    def work(_):
        for i in range(ROUNDS):
            k = i % len(locks)
            with locks[k]:
                counts[k] += 1

    team(work)
    return counts


def conditions():
    condition, turn, order = threading.Condition(), 0, []

    def work(me):
        nonlocal turn
        for _ in range(ROUNDS // 20):
            with condition:
                condition.wait_for(lambda: turn % THREADS == me)
                order.append(me)
                turn += 1
                condition.notify_all()

    team(work)
    return order[:THREADS] * (len(order) // THREADS) == order


def queues():
    q, sums = queue.Queue(maxsize=8), [0] * THREADS

    def work(me):
        for i in range(ROUNDS // 4):
            if me % 2 == 0:
                q.put(i)
            else:
                sums[me] += q.get()

    team(work)
    return sum(sums)


def late():
    lock = threading.Lock()
    lock.acquire()
    event = threading.Event()
    return [lock.acquire(timeout=0.002), lock.acquire(blocking=False), event.wait(0.002)]


def barriers():
    barrier, phases = threading.Barrier(THREADS), []

    def work(me):
        for phase in range(10):
            if me == 0:
                phases.append(phase)
            barrier.wait()

    team(work)
    return phases


def without_the_interpreter_lock():
    data = bytes(range(256)) * 4096

    def work(i):
        return hashlib.sha256(data * (1 + i % 2)).hexdigest(), zlib.crc32(zlib.compress(data, 1))

    with concurrent.futures.ThreadPoolExecutor(THREADS) as pool:
        return hashlib.sha256(repr(list(pool.map(work, range(8)))).encode()).hexdigest()


def square(n):
    return n * n


def processes():
    with multiprocessing.get_context("fork").Pool(2) as pool:
        total = sum(pool.map(square, range(200)))
    with concurrent.futures.ProcessPoolExecutor(2) as pool:  # has threads of its own when it forks
        total += sum(pool.map(square, range(20)))
    shared = multiprocessing.Value("i", 0)

    def add():
        for _ in range(200):
            with shared.get_lock():
                shared.value += 1

    children = [multiprocessing.get_context("fork").Process(target=add) for _ in range(2)]
    for c in children:
        c.start()
    for c in children:
        c.join()
    return total, shared.value


def forks_among_threads():
    """Processes are started while other threads lock."""
    stop = threading.Event()
    lock = threading.Lock()

    def disturb(_):
        while not stop.is_set():
            with lock:
                pass

    disturbers = [threading.Thread(target=disturb, args=(i,)) for i in range(2)]
    for t in disturbers:
        t.start()
    said = [subprocess.run(["echo", str(i)], capture_output=True, text=True).stdout for i in range(5)]
    stop.set()
    for t in disturbers:
        t.join()
    return said


if __name__ == "__main__":
    for part in (counter, conditions, queues, late, barriers, without_the_interpreter_lock, processes,
                 forks_among_threads):
        print(part.__name__, part())
