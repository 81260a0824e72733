#include "reports.h"
void profile_page(output *o, const json_t *document)
{
    (void)o;
    (void)document;
}
