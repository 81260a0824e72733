"""The order of what pawl bench writes"""

from benches import BRIEF, results
from harness import check, environment, folder, preload, test

# The second time that a process asks, it has switched as often as processes before it have.
NUMBERED = """#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
int getrusage(int who, struct rusage *used)
{
    static int calls;
    FILE *file = calls++ == 1 ? fopen(getenv("NUMBERED"), "a") : NULL;
    *used = (struct rusage){0};
    (void)who;
    if (file == NULL)
        return 0;
    fseek(file, 0, SEEK_END);
    used->ru_nvcsw = ftell(file);
    fputc('.', file);
    return fclose(file);
}
"""


@test
def runs_are_written_in_the_order_of_the_rounds():
    """pawl report and pawl compare relate runs with the same index."""
    with folder() as f:
        preload(f, "numbered", NUMBERED)
        b = results("mutexbench", *BRIEF, "--lock", "tts,ticket,mcs", "--threads", "1,2", "--runs", "4",
                    env=environment(LD_PRELOAD=f"{f}/numbered.so", NUMBERED=f"{f}/count"))
    numbers = [[r["voluntary_switches"] for r in p["runs"]] for p in b["points"]]
    check(len(numbers) == 6 and all([n // 7 for n in of_point] == [0, 1, 2, 3] for of_point in numbers), f"with the loop itself, 7 to a round: {numbers}")
