"""pawl list"""

import json

from harness import check, output, registered, root, test

NUMBERS = ["bytes", "words", "thread_bytes", "thread_words", "held_bytes", "idle_bytes"]
FLAGS = ["bypass_in_time", "constant_time_unlock", "context", "trylock", "deadlines", "prompt_destruction", "thread_oblivious"]


def locks(*arguments):
    return json.loads(output("list", "--json", *arguments))["locks"]


@test
def list_json_has_every_lock_of_the_register():
    check([l["name"] for l in locks()] == registered(), "names differ from the register's")


@test
def list_json_has_every_property():
    for l in locks():
        for key in ["title", "source"]:
            check(isinstance(l[key], str) and l[key], f"{l['name']}: {key}")
        for key in NUMBERS:
            check(type(l[key]) is int and l[key] >= 0, f"{l['name']}: {key}")
        for key in FLAGS:
            check(type(l[key]) is bool, f"{l['name']}: {key}")
        for key in ["bypass_each", "bypass_total"]:
            check(l[key] is None or type(l[key]) is int, f"{l['name']}: {key}")
        check(l["order"] in ["FIFO", "LIFO", "segments", "shuffled", "platoons", "none"], f"{l['name']}: order")
        check(l["waiting"] in ["global", "local", "semi-private"], f"{l['name']}: waiting")
        check(l["words"] == (l["bytes"] + 7) // 8, f"{l['name']}: words")
        check(l["thread_words"] == (l["thread_bytes"] + 7) // 8, f"{l['name']}: thread_words")


@test
def list_tells_what_is_known_of_two_locks():
    ticket, tts = locks("ticket", "tts")
    check(ticket["order"] == "FIFO" and ticket["bypass_total"] == 0 and ticket["bytes"] == 16, str(ticket))
    check(tts["order"] == "none" and tts["bypass_each"] is None and tts["bytes"] == 8, str(tts))


@test
def list_shows_only_the_named_locks_in_their_order():
    check([l["name"] for l in locks("mcs", "tts")] == ["mcs", "tts"], "json")
    rows = output("list", "mcs", "tts").split("\n\n")[0].splitlines()
    check([r.split()[0] for r in rows] == ["lock", "mcs", "tts"], str(rows))


@test
def list_fits_into_120_columns_and_has_every_lock():
    text = output("list")
    check(max(map(len, text.splitlines())) <= 120, "too wide")
    rows = text.split("\n\n")[0].splitlines()[1:]
    check([r.split()[0] for r in rows] == registered(), "names differ from the register's")


@test
def list_begins_with_the_mutexes():
    mutex, fair = locks()[:2]
    check(mutex["name"] == "pawl_mutex" and mutex["bypass_each"] is None and mutex["bypass_in_time"], str(mutex))
    check(fair["name"] == "pawl_fairmutex" and fair["order"] == "FIFO" and not fair["bypass_in_time"], str(fair))
    check([l["name"] for l in locks() if l["deadlines"]] == ["pawl_mutex", "pawl_fairmutex"], "deadlines")
    check(output("list", "pawl_mutex").splitlines()[1].split().count("time") == 1, "the bound is not one of time")


@test
def page_has_the_table_that_list_prints():
    page = root / "docs/locks.md"
    check(output("list", "--markdown").strip() in page.read_text(), "docs/locks.md is old: run scripts/locks_page.sh BUILD_DIR")
