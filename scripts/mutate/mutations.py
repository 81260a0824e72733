"""Finds what can be broken in a C file: a statement left out, a condition negated, another value returned.

libclang says where statements and conditions begin and end. What a macro expands to is left alone, except the
macro's use as a whole. A file is read once for every set of options that it is compiled with.
"""
import hashlib
import os
from collections import namedtuple

from clang.cindex import CursorKind as K, Index, TypeKind

OPTIONS = {
    "src": [[], ["-DPAWL_IN_PTHREAD_MUTEX"]],
    "preload": [
        ["-DPAWL_IN_PTHREAD_MUTEX", "-DPRELOAD_LOCK=mcs", "-DPRELOAD_FORM=PAWL_FORM_LOCK", "-DPRELOAD_ROOM=PAWL_PLAIN"],
        ["-DPAWL_IN_PTHREAD_MUTEX", "-DPRELOAD_LOCK=mutex", "-DPRELOAD_FORM=PAWL_FORM_REQUEUING_MUTEX", "-DPRELOAD_ROOM=PAWL_HOLED"],
    ],
}
COMMON = ["-std=gnu11", "-D_GNU_SOURCE", "-DPAWL_NO_HOOKS", "-Iinclude", "-I."]

# `text` goes into `source` from `start` to `end`. `name` and `body`, a digest of the function, say which one it is,
# wherever the function stands.
Mutation = namedtuple("Mutation", "name file source line function body start end text")

EXPRESSIONS = {K.CALL_EXPR, K.BINARY_OPERATOR, K.COMPOUND_ASSIGNMENT_OPERATOR, K.UNARY_OPERATOR, K.UNEXPOSED_EXPR, K.StmtExpr}
JUMPS = {K.BREAK_STMT, K.CONTINUE_STMT}
BLOCKS = {K.COMPOUND_STMT, K.IF_STMT, K.WHILE_STMT, K.FOR_STMT, K.DO_STMT, K.CASE_STMT, K.DEFAULT_STMT}


class Finder:
    def __init__(self, path, source):
        self.path, self.source = path, source
        self.found = {}
        self.count = {}

    def text(self, start, end):
        return self.source[start:end].decode()

    def add(self, function, what, start, end, text):
        if (start, end, text) in self.found or start >= end:
            return
        old = " ".join(self.text(start, end).split())
        name = f"{self.path}:{function[0]}: {what} `{old}`"
        self.count[name] = self.count.get(name, 0) + 1
        if self.count[name] > 1:
            name += f" #{self.count[name]}"
        line = self.source.count(b"\n", 0, start) + 1
        self.found[start, end, text] = Mutation(name, self.path, self.source, line, *function, start, end, text)

    def delete(self, function, node):
        start, end = span(node)
        if not self.text(start, end).startswith("(void)"):
            self.add(function, "delete", start, end, "(void)0")

    def negate(self, function, node):
        """Each operand of && and ||, or else the condition as a whole."""
        node = bare(node)
        operands = self.operands(node)
        for operand in operands:
            self.negate(function, operand)
        if not operands:
            start, end = span(node)
            self.add(function, "negate", start, end, f"!({self.text(start, end)})")

    def operands(self, node):
        sides = list(node.get_children())
        if node.kind != K.BINARY_OPERATOR or len(sides) != 2:
            return []
        between = self.text(span(sides[0])[1], span(sides[1])[0]).strip("() \n\t")
        return sides if between in ("&&", "||") else []

    def give_back(self, function, node, result):
        value = next(node.get_children(), None)
        if value is None:
            self.delete(function, node)
        elif result.kind == TypeKind.BOOL:
            self.negate(function, value)
        else:
            start, end = span(value)
            zero = self.text(start, end) in ("0", "NULL")
            if not (zero and result.kind == TypeKind.POINTER):
                self.add(function, "return", start, end, "1" if zero else "0")

    def condition_of(self, node):
        children = list(node.get_children())
        if node.kind in (K.IF_STMT, K.WHILE_STMT, K.CONDITIONAL_OPERATOR):
            return children[0]
        if node.kind == K.DO_STMT:
            return children[-1]
        if node.kind == K.FOR_STMT:
            first, second = self.semicolons(span(node)[0])
            return next((c for c in children if first < span(c)[0] < second), None)
        return children[0] if self.operands(node) else None

    def semicolons(self, at):
        """Where the two of a for are. None of ours has one in a string, or in a macro's arguments."""
        first = self.source.index(b";", at)
        return first, self.source.index(b";", first + 1)

    def walk(self, function, node, result):
        if node.kind in BLOCKS:
            for child in node.get_children():
                if node.kind == K.FOR_STMT and span(child)[1] != span(node)[1]:
                    continue
                if child.kind in JUMPS or child.kind == K.ASM_STMT or (child.kind in EXPRESSIONS and self.is_statement(child)):
                    self.delete(function, child)
        if node.kind == K.RETURN_STMT:
            self.give_back(function, node, result)
        condition = self.condition_of(node)
        if condition is not None:
            operands = self.operands(node)
            if operands:
                self.negate(function, node)
            else:
                self.negate(function, condition)
        for child in node.get_children():
            self.walk(function, child, result)

    def is_statement(self, node):
        """Rather than a condition or a label's value."""
        return self.source[span(node)[1]:].lstrip()[:1] == b";"


def span(node):
    return node.extent.start.offset, node.extent.end.offset


def bare(node):
    while node.kind in (K.PAREN_EXPR, K.UNEXPOSED_EXPR):
        inner = list(node.get_children())
        if len(inner) != 1 or (node.kind == K.UNEXPOSED_EXPR and span(inner[0]) != span(node)):
            break
        node = inner[0]
    return node


def find(path):
    """All mutations of a .c file, or of a header that stands on its own, in the order of their lines."""
    with open(path, "rb") as file:
        source = file.read()
    finder = Finder(path, source)
    for options in OPTIONS[path.split("/")[0]]:
        unit = Index.create().parse(path, args=["-x", "c"] + COMMON + options)
        for node in unit.cursor.get_children():
            here = node.location.file is not None and os.path.samefile(node.location.file.name, path)
            if node.kind == K.FUNCTION_DECL and node.is_definition() and here:
                body = hashlib.sha256(source[slice(*span(node))]).hexdigest()[:12]
                for child in node.get_children():
                    if child.kind == K.COMPOUND_STMT:
                        finder.walk((node.spelling, body), child, node.result_type.get_canonical())
    return sorted(finder.found.values(), key=lambda m: (m.start, m.end))
