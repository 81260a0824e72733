/* janitor.h - a folder that goes away with this process, however that ends */
#pragma once

/* Makes it; fails if it cannot. The path is absolute and stays. */
const char *janitor_folder(void);

/* Removes it now. Without this it is removed when the process has ended. */
void janitor_done(void);
