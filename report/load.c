/* load.c - JSON from a file, or one line that says why not */
#include "load.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

void refuse(const char *path, const char *format, ...)
{
    char why[512];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(why, sizeof why, format, arguments);
    va_end(arguments);
    fail("%s: %s", path, why);
}

/* Reads the whole file, to tell an empty one from a broken one. */
static char *read_file(const char *path, size_t *size)
{
    FILE *file = fopen(path, "re");
    if (file == NULL)
        fail("%s: %s", path, strerror(errno));
    size_t room = 0;
    char *text = NULL;
    ssize_t length = getdelim(&text, &room, '\0', file); /* JSON has no 0 */
    if (length < 0 && ferror(file) != 0)
        fail("%s: %s", path, strerror(errno));
    bool more = fgetc(file) != EOF;
    fclose(file);
    if (length <= 0)
        fail("%s: is empty", path);
    if (more)
        fail("%s: is no JSON: has a byte 0", path);
    *size = (size_t)length;
    return text;
}

json_t *load_json(const char *path)
{
    size_t size;
    char *text = read_file(path, &size);
    json_error_t error;
    json_t *root = json_loadb(text, size, JSON_REJECT_DUPLICATES, &error);
    free(text);
    if (root == NULL)
        refuse(path, "is no JSON, or cut off: line %d: %s", error.line, error.text);
    return root;
}
