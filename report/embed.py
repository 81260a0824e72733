"""Puts the page's parts into one file and that into a C source: embed.py PAGE.html NAME_html.c PART...

A line {{NAME}} of the page stands for the part of that name, and {{data}} for what is known only at run time. The
page's security policy lets a browser run exactly the scripts and styles that are put in here, by their hashes: what a
result file holds cannot become a script, whatever it is called.
"""

import base64
import hashlib
import pathlib
import re
import sys


def text_of(part):
    text = part.read_text(encoding="utf-8")
    return re.sub(r"^//# sourceMappingURL=.*$", "", text, flags=re.MULTILINE).strip()


def element(names, parts):
    """A script or style element of the parts, and the hash that permits it."""
    texts = [text_of(parts[name]) for name in names]
    comment = [f"/*\n{t.replace('*/', '* /')}\n*/" if n.endswith(".md") else t for n, t in zip(names, texts)]
    text = "\n" + "\n\n".join(comment) + "\n"
    tag = "style" if names[-1].endswith(".css") else "script"
    if f"</{tag}" in text:
        sys.exit(f"embed: a part of {names} would end its element")
    hash = base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
    return tag, f"<{tag}>{text}</{tag}>", f"'sha256-{hash}'"


def assemble(page, parts):
    hashes = {"script": [], "style": []}

    def put(match):
        tag, html, hash = element(match[1].split(), parts)
        hashes[tag].append(hash)
        return html

    page = re.sub(r"^\{\{([\w.-]+(?: [\w.-]+)*)\}\}$", lambda m: m[0] if m[1] == "data" else put(m), page, flags=re.MULTILINE)
    policy = f"default-src 'none'; script-src {' '.join(hashes['script'])}; style-src {' '.join(hashes['style'])}"
    return page.replace("{{policy}}", policy)


def c_array(name, data):
    lines = [",".join(map(str, data[i:i + 32])) for i in range(0, len(data), 32)]
    body = ",\n".join(lines)
    return f"const unsigned char {name}[] = {{\n{body}}};\nconst size_t {name}_size = sizeof {name};\n"


def main():
    page, output, *parts = map(pathlib.Path, sys.argv[1:])
    text = assemble(page.read_text(encoding="utf-8"), {p.name: p for p in parts})
    head, tail = text.split("{{data}}")
    name = output.stem.removesuffix("_html")
    output.write_text('/* Made by report/embed.py. */\n#include "report/page.h"\n\n'
                      + c_array(f"{name}_head", head.encode()) + c_array(f"{name}_tail", tail.encode()))


main()
