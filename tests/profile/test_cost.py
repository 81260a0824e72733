"""What a profile costs the program. Each figure is the least of several runs, and runs are repeated while something may have disturbed them."""

from harness import check, pawl, run, test
import harness

TRIES = 30


def number(p):
    check(p.returncode == 0, f"exit {p.returncode}: {p.stderr}")
    return float(p.stdout)


def costs(is_good, *arguments):
    """The least that was measured, natively and under a profile, after as many pairs of runs as it takes to be good."""
    native = profiled = float("inf")
    for _ in range(TRIES):
        native = min(native, number(run(harness.build / "tests/profile/pair", *arguments)))
        profiled = min(profiled, number(pawl("profile", "-o", "/dev/null", "--", harness.build / "tests/profile/pair", *arguments)))
        if is_good(native, profiled):
            break
    return native, profiled


@test
def an_uncontended_pair_takes_three_times_as_long_at_most():
    native, profiled = costs(lambda n, p: p <= 3 * n and p <= 60)
    check(profiled <= 3 * native and profiled <= 60, f"{profiled} ns, natively {native} ns")


@test
def sixty_four_threads_take_less_than_twice_as_long():
    native, profiled = costs(lambda n, p: p < 2 * n, 64, 64)
    check(profiled < 2 * native, f"{profiled} ns of CPU time each, natively {native} ns")
