"""The page of pawl report in headless Chromium"""

import atexit
import functools
import re

from browser import Browser
from harness import check, folder, test
from samples import crowd, every_workload, grid, point, result
from test_report import HOSTILE, report


@functools.cache
def browser():
    b = Browser()
    atexit.register(b.close)
    return b


def opened(f, files, scheme="light"):
    """The browser with the page of the files, and nothing to complain about."""
    b = browser()
    b.media(scheme)
    b.open(report(f, files))
    check(b.run("return document.readyState") == "complete", "it is not complete")
    check(b.run("return typeof pawlReport") == "object", "the script did not run to its end")
    complaints = b.complaints()
    check(not complaints, f"console: {complaints}")
    return b


SHOWN = "return pawlReport.drawn.map(({plot}) => plot.data.datasets.filter((d, i) => plot.isDatasetVisible(i)).map((d) => d.label))"

# For each line of the charts: how many of its marks have a pixel of its colour where they should be.
PAINTED = """
return pawlReport.drawn.flatMap(({plot, chart}) => plot.data.datasets.map((dataset, i) => {
  if (!plot.isDatasetVisible(i)) return [];
  const context = plot.ctx, ratio = plot.currentDevicePixelRatio;
  const [r, g, b] = [1, 3, 5].map((at) => parseInt(dataset.borderColor.slice(at, at + 2), 16));
  const hits = plot.getDatasetMeta(i).data.filter(({x, y}) => {
    const {data} = context.getImageData(Math.round(x * ratio) - 4, Math.round(y * ratio) - 4, 9, 9);
    for (let k = 0; k < data.length; k += 4)
      if (Math.abs(data[k] - r) + Math.abs(data[k + 1] - g) + Math.abs(data[k + 2] - b) < 30 && data[k + 3] > 200) return true;
    return false;
  }).length;
  return [[chart.title, dataset.label, hits, dataset.data.length]];
}).flat());
"""


@test
def page_opens_from_a_file_without_a_word_from_the_console_or_a_request():
    with folder() as f:
        b = opened(f, every_workload())
        check(b.run("return performance.getEntriesByType('resource').length") == 0, "it asked for something")
        check(b.run("return document.querySelectorAll('section').length") == len(every_workload()), "sections")
        check(b.run("return document.documentElement.scrollWidth <= innerWidth"), "it is wider than the window")
        ticks = b.run("return pawlReport.drawn.map(({plot, chart}) => [chart.kind, plot.scales.x.ticks.length, plot.scales.y.ticks.length])")
        for kind, x, y in ticks:
            check(2 <= x <= (9 if kind == "bypass" else 6) and (y == 3 if kind == "order" else 4 <= y <= 12), f"{kind} has {x} and {y} ticks")


@test
def page_draws_every_mark_of_every_series():
    with folder() as f:
        b = opened(f, every_workload())
        names = b.run("return pawlReport.locks.filter((l) => l.box).map((l) => l.name)")
        drawn = []
        for i in range(len(names)):  # alone, so that no line hides another
            b.run("document.getElementById('show-none').click(); pawlReport.locks.filter((l) => l.box)[arguments[0]].box.click()", i)
            drawn += b.run(PAINTED)
        series = sum(len(c["series"]) for s in b.run("return pawlReport.book.sections") for c in s["charts"])
        check(len(drawn) == series > 100, f"{len(drawn)} of {series} series were drawn")
        for title, lock, hits, marks in drawn:
            check(hits == marks > 0, f"{title}: {lock}: {hits} of {marks} marks are there")


@test
def page_has_the_axes_of_the_papers():
    with folder() as f:
        b = opened(f, every_workload())
        axes = b.run("return pawlReport.drawn.map(({plot, chart}) => [chart.kind, plot.scales.x.type, plot.scales.y.type])")
    for kind, x, y in axes:
        even = "linear" if kind in ["order", "gaps", "longest-gaps"] else "logarithmic"
        check(x == ("category" if kind in ["waits", "bypass"] else even), f"{kind}: {x} x axis")
        check(y == ("linear" if kind in ["fairness", "jain", "repeats", "palindromes", "bypass", "order"] else "logarithmic"), f"{kind}: {y} y axis")


# The chart of the order of six threads: for each lock that is shown its band, from bottom to top, and the ticks.
BANDS = """
const {plot} = pawlReport.drawn.find(({chart}) => chart.kind === "order" && chart.title.endsWith("6 threads"));
const shown = plot.data.datasets.filter((d, i) => plot.isDatasetVisible(i));
return [shown.map((d) => [d.label, Math.min(...d.data.map((p) => p.y)), Math.max(...d.data.map((p) => p.y))]),
        plot.scales.y.ticks.map((t) => [t.value, t.label])];
"""


@test
def page_has_a_band_for_each_lock_whose_order_is_shown():
    with folder() as f:
        b = opened(f, {"schedule": every_workload()["schedule"]})
        lines, names = b.run(BANDS)
        check(lines == [["mcs", 14, 19], ["reciprocating", 7, 12], ["glibc", 0, 5]], f"bands: {lines}")
        check(names == [[2.5, "glibc"], [9.5, "reciprocating"], [16.5, "mcs"]], f"names: {names}")
        b.run("pawlReport.locks.find((l) => l.name === 'reciprocating').box.click()")
        lines, names = b.run(BANDS)
        check(lines == [["mcs", 7, 12], ["glibc", 0, 5]] and names == [[2.5, "glibc"], [9.5, "mcs"]], f"a lock less: {lines}, {names}")
        b.run("document.querySelectorAll('details.values').forEach((d) => { d.open = true; })")
        b.wait_for("return document.querySelectorAll('details.values table').length === pawlReport.drawn.length")
        texts = b.run("return [...document.querySelectorAll('figure')].filter((f) => f.textContent.startsWith('Order of admissions: 6'))"
                      "[0].querySelectorAll('tr')[1].textContent")
        check(texts.startswith("mcsthread 0thread 1thread 2"), texts[:60])


@test
def page_switches_locks_in_all_charts_at_once():
    with folder() as f:
        b = opened(f, every_workload())
        everything = b.run(SHOWN)
        check(all(everything), "charts are empty at first")
        b.run("pawlReport.locks.find((l) => l.name === 'glibc').box.click()")
        check(b.run(SHOWN) == [[n for n in chart if n != "glibc"] for chart in everything], "glibc is still there")
        b.run("document.getElementById('show-none').click()")
        check(not any(b.run(SHOWN)), "'None' left something")
        check(b.run("return [...document.querySelectorAll('.empty')].every((e) => e.getClientRects().length === 1)"), "empty charts do not say so")
        b.run("document.getElementById('show-all').click()")
        check(b.run(SHOWN) == [[l for l in chart] for chart in everything], "'All' is not all")
        check(b.run("return [...document.querySelectorAll('.empty')].every((e) => e.getClientRects().length === 0)"), "full charts say that they are empty")
        check(b.run("return pawlReport.locks.filter((l) => l.box).every((l) => l.box.checked)"), "boxes")


@test
def page_is_usable_from_the_keyboard():
    with folder() as f:
        b = opened(f, every_workload())
        check(b.run("return pawlReport.locks.find((l) => l.name === 'mcs').box.checked"), "mcs is not shown")
        b.run("pawlReport.locks.find((l) => l.name === 'mcs').box.id = 'mcs'")
        b.type("#mcs", " ")
        check(not any("mcs" in chart for chart in b.run(SHOWN)), "the space bar does not switch mcs off")
        b.type("#show-all", "\n")
        check("mcs" in b.run(SHOWN)[0], "Return does not press 'All'")
        b.type(".values summary", "\n")
        b.wait_for("return document.querySelector('.values table') !== null")
        rows = b.run("return document.querySelector('.values table').rows.length")
        check(rows == 7, f"the table of values has {rows} rows")
        labels = b.run("return [...document.querySelectorAll('canvas[role=img]')].every((c) => c.getAttribute('aria-label'))")
        check(labels, "a chart without a label")


@test
def page_gives_every_lock_a_look_of_its_own():
    with folder() as f:
        b = opened(f, {"crowd": crowd()})
        looks = b.run("""document.getElementById('show-all').click();
            return pawlReport.drawn[0].plot.data.datasets.map((d) => [d.borderColor, d.borderDash, d.pointStyle].join())""")
        check(len(looks) == 52 == len(set(looks)), f"{len(looks)} locks, {len(set(looks))} looks")
        b.run("document.getElementById('show-default').click()")
        shown = b.run(SHOWN)[0]
        check(2 < len(shown) <= 14 and "glibc" in shown, f"default: {shown}")


@test
def page_shows_values_on_hover():
    with folder() as f:
        b = opened(f, {"max": every_workload()["max"]})
        at = b.run("""const {plot} = pawlReport.drawn[0]; plot.canvas.scrollIntoView({block: 'center'});
            const i = plot.data.datasets.findIndex((d) => d.label === 'reciprocating');
            const box = plot.canvas.getBoundingClientRect(), mark = plot.getDatasetMeta(i).data[1];
            return [box.left + mark.x, box.top + mark.y]""")
        b.command("Input.dispatchMouseEvent", type="mouseMoved", x=at[0], y=at[1])
        b.wait_for("return pawlReport.drawn[0].plot.tooltip?.opacity > 0")
        text = b.run("return pawlReport.drawn[0].plot.tooltip.body.map((l) => l.lines.join()).join()")
        check(text.startswith("reciprocating, 2 threads: 6.") and "million acquisitions/s" in text and "in 7 runs" in text, f"'{text}'")


@test
def page_ranking_follows_the_chosen_load():
    with folder() as f:
        b = opened(f, {"max": every_workload()["max"]})
        rows = "return [...document.querySelectorAll('.ranking tbody tr')].map((r) => [...r.cells].map((c) => c.innerText.trim()))"
        first = b.run(rows)
        check([r[1] for r in first] == ["ticket", "mcs", "reciprocating", "pawl_mutex", "glibc", "ck_mcs"], str(first))
        check([first[i][-1] for i in [0, 4]] == ["41.5 / 0.250 / 40.0", "–"], f"calls of the kernel: {first[0]} {first[4]}")
        heads = b.run("return [...document.querySelectorAll('.ranking th')].map((h) => h.textContent)")
        check("membarriers per 1000" not in heads, f"a column of zeros: {heads}")
        check(first[4][4] == "1" and abs(float(first[0][4]) - 5) < 0.2, f"ratios: {first[0]} {first[4]}")
        note = "return document.querySelector('.table-head .note').textContent"
        check(b.run(note).startswith("2 threads, free"), "it does not start with as many threads as CPUs")
        b.run("const s = document.querySelector('.ranking select'); s.value = 4; s.dispatchEvent(new Event('change'))")
        check(b.run(note).startswith("16 threads") and [r[1] for r in b.run(rows)] == ["mcs ?"], str(b.run(rows)))
        check(re.fullmatch(r"4\.[\d]+ to 5\.[\d]+", first[0][5]), f"interval: {first[0]}")
        b = opened(f, {"few": result("mutexbench", [point("mcs", 2, [2.0, 2.1, 2.2]), point("glibc", 2, [1.0, 1.1, 1.2])])})
        check(b.run(rows)[0][5].endswith(" (75 %)"), f"three runs are as good as seven: {b.run(rows)[0]}")


@test
def page_is_dark_or_light_as_the_reader_likes_and_changes_at_once():
    state = """const {plot} = pawlReport.drawn[0];
        return [getComputedStyle(document.body).backgroundColor, plot.data.datasets[0].borderColor,
                plot.getDatasetMeta(0).data[0].options.backgroundColor, plot.scales.y.options.ticks.color,
                [...document.querySelector('.swatch').getContext('2d').getImageData(30, 14, 1, 1).data].join()]"""
    with folder() as f:
        b = opened(f, every_workload(), "dark")
        dark = b.run(state)
        check(dark[0] == "rgb(21, 24, 28)", dark[0])
        b.media("light")
        b.wait_for("return getComputedStyle(document.body).backgroundColor === 'rgb(255, 255, 255)'")
        b.wait_for("return pawlReport.drawn[0].plot.data.datasets[0].borderColor !== arguments[0]", dark[1])
        light = b.run(state)
        check(all(d != l for d, l in zip(dark, light)), f"something kept its colour: {dark} {light}")
        check(not b.complaints(), "console")


@test
def page_prints_on_white_paper_with_legends_and_without_controls():
    with folder() as f:
        b = opened(f, every_workload(), "dark")
        check(b.pdf().startswith(b"%PDF"), "no PDF")
        b.media("dark", "print")
        b.run("dispatchEvent(new Event('beforeprint'))")
        check(b.run("return getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)", "dark paper")
        shown = "return getComputedStyle(document.querySelector(arguments[0])).display"
        check(b.run(shown, "#panel") == "none" and b.run(shown, ".legend") == "flex", "controls or no legend")
        names = b.run("return [...document.querySelector('.legend').children].map((l) => l.textContent)")
        check(len(names) == 6 and "glibc" in names, f"legend: {names}")
        glibc = "return pawlReport.drawn[0].plot.data.datasets.find((d) => d.label === 'glibc').borderColor"
        check(b.run(glibc) == "#000000", "white lines on white paper")
        overlap = b.run("""return [...document.querySelectorAll('figure')].some((f) =>
            f.querySelector('canvas').getBoundingClientRect().bottom > f.querySelector('.legend').getBoundingClientRect().top + 1)""")
        check(not overlap, "a chart covers its legend")
        b.run("dispatchEvent(new Event('afterprint'))")
        b.media("dark")
        check(b.run(glibc) == "#ffffff" and not b.complaints(), "the screen is not what it was")


@test
def page_fits_a_telephone():
    with folder() as f:
        b = opened(f, every_workload())
        b.command("Emulation.setDeviceMetricsOverride", width=390, height=800, deviceScaleFactor=2, mobile=True)
        try:
            width = b.run("return new Promise((done) => setTimeout(() => done(document.documentElement.scrollWidth), 300))")
        finally:
            b.command("Emulation.clearDeviceMetricsOverride")
        check(width <= 390, f"{width} pixels wide")


@test
def page_runs_nothing_that_a_file_says():
    with folder() as f:
        hostile = result("mutexbench", [point(n, t, [1e6] * 3, doubts=[n], variant=n) for n in HOSTILE for t in (1, 2)], preset=HOSTILE[0],
                         unit=HOSTILE[0], cs=1, ncs=0, machine={HOSTILE[1]: HOSTILE[0], "cpu": HOSTILE[1]}, doubts=HOSTILE)
        b = opened(f, {"hostile": hostile})
        b.run("document.getElementById('show-all').click(); document.querySelectorAll('details').forEach((d) => { d.open = true; })")
        check(b.run("return window.hacked === undefined && document.querySelectorAll('img').length === 0"), "it ran")
        check(b.run("return document.querySelectorAll('script').length") == 3, "a name became a script")
        check(HOSTILE[0] in b.run("return document.getElementById('locks').textContent"), "the name is not shown")
        b.run("document.body.insertAdjacentHTML('beforeend', '<img src=x onerror=\"window.hacked=1\">')")
        b.run("return new Promise((done) => setTimeout(done, 300))")
        check(b.run("return window.hacked === undefined"), "the policy lets an injected handler run")
        b.complaints()


@test
def page_says_every_doubt_once_and_where():
    points = [point("mcs", 2, [1.0], doubts=["others used 70 % of 2 CPUs"]), point("clh", 2, [1.0], doubts=["others used 9.5 % of 2 CPUs"]),
              point("tts", 4, [1.0], doubts=["<b>hot</b>"])]
    many = [point(f"a_lock_with_a_long_name_{i}", 2, [1.0], doubts=["crowded"]) for i in range(9)]
    with folder() as f:
        b = opened(f, {"doubtful": result("mutexbench", points + many, doubts=["no frequency"])})
        texts = b.run("return [...document.querySelectorAll('.doubts li')].map((l) => l.textContent)")
    check(texts[:3] == ["no frequency", "others used 9.5 to 70 % of 2 CPUs (2 threads: mcs, clh)", "<b>hot</b> (4 threads: tts)"], str(texts))
    check(texts[3].startswith("crowded9 of 12 points2 threads: a_lock_with_a_long_name_0, ") and "name_8" in texts[3], texts[3])


CELLS = """
return [...document.querySelectorAll("table.map")].map((map) => [...map.rows].map((row) => [...row.cells].map(
  (cell) => [cell.textContent, getComputedStyle(cell).backgroundColor])));
"""


@test
def page_has_a_map_of_a_grid():
    with folder() as f:
        b = opened(f, {"grid": grid()})
        throughput, worst, rare = b.run(CELLS)
        check([cell[0] for cell in throughput[0]] == ["cell", "pawl_mutex", "glibc", "ck_mcs"], str(throughput[0]))
        check([row[0][0] for row in throughput[1:]] == ["16 threads, free, cs 1, ncs 0", "4 threads, free, cs 20us, ncs 0",
              "16 threads, free, occasional: one of them every 1ms, cs 1, ncs 0", "8 threads, free, condvar: 4 producers, 4 consumers, 64 places"], "cells")
        better, worse = throughput[1][1], throughput[2][1]
        check(3.8 < float(better[0]) < 4.2 and re.match(r"rgba\(0, 114, 178, 0\.[56]", better[1]), f"four times: {better}")
        check(0.23 < float(worse[0]) < 0.27 and re.match(r"rgba\(213, 94, 0, 0\.[56]", worse[1]), f"a quarter: {worse}")
        check(throughput[1][2][0] == "1.00" and throughput[4][3][0] == "–", f"{throughput[1][2]}, {throughput[4][3]}")
        check(len(worst) == 4 and worst[1][1][0] == "100 µs", f"worst waits, of all but the queue: {worst}")
        check(len(rare) == 2 and "occasional" in rare[1][0][0], f"waits of the rare one: {rare}")


@test
def page_colours_a_map_by_what_was_measured_in_the_same_round():
    """The medians of both locks are the same; in the same round, ours is four times as fast and waits four times as long."""
    g = grid()
    for p in g["points"]:
        if "occasional" in p["variant"] and p["lock"] != "ck_mcs":
            at = [1, 1, 1, 1, 4, 4, 4] if p["lock"] == "pawl_mutex" else [0.25, 0.25, 0.25, 1, 1, 1, 1]
            for run, by in zip(p["runs"], at):
                run["value"] = 1e6 * by
                run["wait_ns"]["p99"] = 1000 * by
            p["median"] = 1e6
    with folder() as f:
        b = opened(f, {"grid": g})
        throughput, _, rare = b.run(CELLS)
    check(throughput[3][1][0] == "4.00" and re.match(r"rgba\(0, 114, 178, 0\.6", throughput[3][1][1]), f"throughput: {throughput[3]}")
    check(rare[1][1][0] == rare[1][2][0] == "1.00 µs" and re.match(r"rgba\(213, 94, 0, 0\.6", rare[1][1][1]), f"waits: {rare[1]}")


@test
def page_colours_a_map_of_worst_waits_by_how_much_shorter_they_are():
    g = grid()
    for p in g["points"]:
        for run in p["runs"]:
            if run["worst_wait_ns"] is not None:
                run["worst_wait_ns"] = {"pawl_mutex": 2e4, "glibc": 8e4, "ck_mcs": 1e5}[p["lock"]]
    with folder() as f:
        worst = opened(f, {"grid": g}).run(CELLS)[1]
    ours, glibc, longer = worst[1][1:]
    check(ours[0] == "20.0 µs" and re.match(r"rgba\(0, 114, 178, 0\.6", ours[1]), f"a quarter of glibc's: {ours}")
    check(glibc[0] == "80.0 µs" and glibc[1] == "rgba(0, 114, 178, 0)", f"glibc's: {glibc}")
    check(longer[0] == "100 µs" and re.match(r"rgba\(213, 94, 0, 0\.09", longer[1]), f"0.8 times as short: {longer}")


@test
def page_shows_on_a_map_who_did_nothing():
    g = grid()
    for p in g["points"]:
        for i, run in enumerate(p["runs"]):
            if (p["lock"], p["variant"]) == ("pawl_mutex", "cs 1, ncs 0") or (p["lock"], p["variant"]) == ("glibc", "cs 20us, ncs 0") and i == 3:
                run["value"] = 0
    with folder() as f:
        b = opened(f, {"grid": g})
        throughput = b.run(CELLS)[0]
        legend = b.run("return [...document.querySelectorAll('p.note')].map((note) => note.textContent).find((text) => text.startsWith('Blue'))")
    check(throughput[1][1][0] == "0" and re.match(r"rgba\(213, 94, 0, 0\.6", throughput[1][1][1]), f"it did nothing: {throughput[1][1]}")
    check([cell[0] for cell in throughput[2][1:]] == ["–"] * 3, f"multiples of a glibc that did nothing in a round: {throughput[2]}")
    check(throughput[1][2][0] == throughput[3][2][0] == "1.00", f"{throughput}")
    check("– is a lock that was not measured there, or, of multiples, a cell in which the C library's mutex did nothing in one of the rounds" in legend, legend)
