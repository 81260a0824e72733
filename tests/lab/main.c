/* main.c - the lab's own tests: litmus programs with known answers, and locks with known bugs */
#include "test.h"
#include <string.h>

int passed, failed;
bool verbose;

int main(int argc, char **argv)
{
    verbose = argc > 1 && strcmp(argv[1], "-v") == 0;
    litmus_tests();
    fuzz_tests();
    engine_tests();
    printf("%d passed, %d failed\n", passed, failed);
    return failed != 0;
}
