/* utf8.c - names are of any bytes, JSON and terminals want whole characters */
#include "utf8.h"

#include "cli/cli.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

static bool continues(char byte)
{
    return ((unsigned char)byte & 0xc0) == 0x80;
}

/* Bytes of the character at the beginning of the text; 0 if it is none: cut off, longer than need be, a surrogate, too large. */
static size_t character(const char *text)
{
    static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
    unsigned char first = (unsigned char)text[0];
    size_t length = first < 0x80   ? 1
                    : first < 0xc0 ? 0
                    : first < 0xe0 ? 2
                    : first < 0xf0 ? 3
                    : first < 0xf8 ? 4
                                   : 0;
    uint32_t code = first & (0x7fu >> length);
    for (size_t i = 1; i < length; i++) {
        if (!continues(text[i]))
            return 0;
        code = code << 6 | ((unsigned char)text[i] & 0x3f);
    }
    if (length > 1 && (code < least[length] || code > 0x10ffff || (code >= 0xd800 && code < 0xe000)))
        return 0;
    return length;
}

size_t utf8_cut(const char *text, size_t most)
{
    size_t length = strnlen(text, most);
    for (size_t back = 1; length == most && back <= 4 && back <= most; back++)
        if (!continues(text[most - back])) /* the last character begins here */
            return character(text + most - back) > back ? most - back : most;
    return length;
}

json_t *utf8_json(const char *text)
{
    static const char unknown[] = "\xef\xbf\xbd";
    char *clean = allocate(strlen(text) * (sizeof unknown - 1) + 1, 1), *to = clean;
    while (*text != '\0') {
        size_t length = character(text);
        const char *from = length > 0 ? text : unknown;
        memcpy(to, from, length > 0 ? length : sizeof unknown - 1);
        to += length > 0 ? length : sizeof unknown - 1;
        text += length > 0 ? length : 1;
    }
    json_t *value = json_string(clean);
    free(clean);
    if (value == NULL)
        fail("out of memory");
    return value;
}
