/* no_attach.c - where the kernel's side could not be built */
#include "attach.h"

#include "cli/cli.h"

int attach_check(uint32_t pid)
{
    fail("-p %u: this pawl was built without %s", (unsigned)pid, PAWL_NO_ATTACH);
}

void attach_run(const attachment *a, json_t *document)
{
    (void)document;
    attach_check(a->pid);
}
