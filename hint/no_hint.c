/* no_hint.c - where the BPF program could not be built */
#include "service.h"

#include "cli/cli.h"

void hint_serve(const char *path, void (*ready)(void))
{
    (void)path, (void)ready;
    fail("hint: this pawl was built without: " PAWL_NO_HINT);
}
