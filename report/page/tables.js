/* tables.js - rankings, parameters, doubts */

/* Where a ratio is on a logarithmic bar from 1/reach to reach. */
function barPosition(ratio, reach) {
  const share = (Math.log(ratio) / Math.log(reach) + 1) / 2;
  return `${100 * Math.min(1, Math.max(0, share))}%`;
}

function rangeBar(row, reach) {
  const bar = make("div", { class: "range" });
  const part = (name, left, right) => {
    const piece = make("i", { class: name });
    piece.style.left = left;
    if (right) piece.style.right = `calc(100% - ${right})`;
    bar.append(piece);
  };
  part("one", "50%");
  part("span", barPosition(row.low, reach), barPosition(row.high, reach));
  part("estimate", barPosition(row.ratio, reach));
  return bar;
}

/* Of one run against one, there is none. */
function hasInterval(row) {
  return row.ratio !== null && row.confidence > 0;
}

function intervalText(row) {
  if (!hasInterval(row)) return "–";
  return `${digits(row.low)} to ${digits(row.high)}${row.confidence < 0.95 ? ` (${Math.floor(100 * row.confidence)} %)` : ""}`;
}

function scaleOf(section, rows) {
  const most = Math.max(...rows.map((r) => r.max ?? 0));
  if (!section.higher_is_better) return [1, section.unit];
  return most >= 1e6 ? [1e6, `M ${section.unit}`] : most >= 1e4 ? [1e3, `k ${section.unit}`] : [1, section.unit];
}

/* name, text of a cell, and whether a file has it: a column of dashes says nothing. */
function columnsOf(section, rows) {
  const [by, unit] = scaleOf(section, rows);
  const has = (key) => rows.some((r) => r[key] !== null);
  const called = (key) => rows.some((r) => r[key] > 0); /* nor do zeros */
  const all = [
    ["median, " + unit, (r) => digits(r.median / by), true],
    ["worst to best run", (r) => (r.runs > 1 ? `${digits((section.higher_is_better ? r.min : r.max) / by)} to ${digits((section.higher_is_better ? r.max : r.min) / by)}` : "–"), true],
    [`× ${section.reference}`, (r) => (r.reference ? "1" : digits(r.ratio)), has("ratio")],
    ["95 % interval", (r) => intervalText(r), has("ratio")],
    ["slower | faster", (r, reach) => (hasInterval(r) ? rangeBar(r, reach) : ""), has("ratio")],
    ["fairness", (r) => r.fairness?.toFixed(2) ?? "–", has("fairness")],
    ["Jain", (r) => r.jain?.toFixed(2) ?? "–", has("jain")],
    ["p50", (r) => duration(r.p50_ns), has("p50_ns")],
    ["p99", (r) => duration(r.p99_ns), has("p99_ns")],
    ["slowest thread's p99", (r) => duration(r.thread_p99_ns), has("thread_p99_ns")],
    ["p99.99", (r) => duration(r.p9999_ns), has("p9999_ns")],
    ["worst wait", (r) => duration(r.worst_wait_ns), has("worst_wait_ns")],
    ["longest starvation", (r) => duration(r.starvation_ns), has("starvation_ns")],
    ["CPU s", (r) => digits(r.cpu_s), has("cpu_s")],
    ["switches, own/forced", (r) => `${digits(r.voluntary)} / ${digits(r.involuntary)}`, has("voluntary")],
    ["CPU per acquisition", (r) => duration(r.cpu_ns_each), has("cpu_ns_each")],
    ["switches per 1000", (r) => digits(r.switches_each), has("switches_each")],
    ["migrations per 1000", (r) => digits(r.migrations_each), has("migrations_each")],
    ["membarriers per 1000", (r) => digits(r.membarriers), called("membarriers")],
    ["futex waits/void/wakes per 1000", (r) => (r.futex_waits === null ? "–" : `${digits(r.futex_waits)} / ${digits(r.futex_waits_void)} / ${digits(r.futex_wakes)}`), called("futex_waits")],
  ];
  return all.filter(([, , present]) => present);
}

function lockCell(lock, row) {
  const cell = make("td", { class: "text" }, make("span", { class: "lock-name" }, swatchOf(lock), lock.name));
  if (row.doubts.length) cell.append(" ", make("span", { class: "mark", title: row.doubts.join("\n"), role: "note", "aria-label": row.doubts.join("; ") }, "?"));
  return cell;
}

function cellOf(content) {
  return make("td", content instanceof Element ? { class: "interval" } : {}, content);
}

function rankingTable(section, ranking) {
  const columns = columnsOf(section, ranking.rows);
  const ratios = ranking.rows.flatMap((r) => (r.ratio === null ? [] : [r.low, r.high])).filter((v) => v > 0);
  const reach = Math.min(8, Math.max(1.1, ...ratios.map((v) => Math.max(v, 1 / v)))); /* beyond, bars end at the edge */
  const head = make("tr", {}, make("th", { scope: "col" }, "#"), make("th", { class: "text", scope: "col" }, "lock"),
    ...columns.map(([name]) => make("th", { scope: "col" }, name)));
  const rows = ranking.rows.map((row, i) => {
    return make("tr", { class: row.reference ? "reference" : "" }, make("td", {}, String(i + 1)), lockCell(locks[row.lock], row),
      ...columns.map(([, content]) => cellOf(content(row, reach))));
  });
  return make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows));
}

function loadName(ranking) {
  return [plural(ranking.threads, "thread"), ranking.pin, ranking.variant].filter((part) => part).join(", ");
}

/* As many threads as CPUs, if that was measured: there the hand-over matters most, and the scheduler least. */
function firstRanking(section) {
  const fitting = section.rankings.map((r, i) => [r.threads, i]).filter(([threads]) => threads <= section.machine.cpus);
  return fitting.length ? fitting.reduce((best, r) => (r[0] > best[0] ? r : best))[1] : 0;
}

const rankingNote = "Each run of a lock is related to the run of the reference in the same round, so that it does not matter if the machine "
  + "was slower in another: the ratio is Hodges and Lehmann's estimate of these quotients, and the interval is the one that belongs to "
  + "Wilcoxon's signed rank test. It assumes that the logarithms of the quotients lie symmetrically "
  + "about the true one, and is exact for up to 60 rounds. Where so few rounds cannot give 95 %, it says what they can. "
  + "Above 1 is faster than the reference. There is no ratio if the reference did nothing in a round. Locks that differ in their number of "
  + "runs have no rounds in common: every run of one is compared with every run of the other (Mann and Whitney's test). Rounds are those of one "
  + "run of pawl bench: what was measured in several, and merged, is paired by its order.";

function rankingOf(section) {
  const select = make("select", { "aria-label": "Load" }, ...section.rankings.map((r, i) => make("option", { value: i }, loadName(r))));
  const printed = make("span", { class: "note" });
  const place = make("div", { class: "scroll" });
  const show = () => {
    const ranking = section.rankings[select.value];
    printed.textContent = `${loadName(ranking)}; ${section.higher_is_better ? "more" : "less"} is better`;
    place.replaceChildren(rankingTable(section, ranking));
    repaintSwatches(place);
  };
  select.value = firstRanking(section);
  select.addEventListener("change", show);
  const box = make("div", { class: "ranking" }, make("div", { class: "table-head" }, make("h3", {}, "Ranking"), select, printed), place);
  if (section.reference) box.append(make("p", { class: "note" }, rankingNote));
  show();
  return box;
}

function textOf(value) {
  return value === null ? "none" : value === true ? "yes" : value === false ? "no" : String(value);
}

/* What is null of a machine was not found out. */
function listOf(object, none = "none") {
  return make("dl", {}, ...Object.entries(object).flatMap(([name, value]) => [make("dt", {}, name.replaceAll("_", " ")), make("dd", {}, value === null ? none : textOf(value))]));
}

/* [[lock, threads], ...] as "4, 8 threads: tts, ticket": locks that share their numbers of threads are said together. */
function placesText(places) {
  const threadsOf = new Map();
  for (const [lock, threads] of places) threadsOf.set(lock, (threadsOf.get(lock) ?? new Set()).add(threads));
  const locksOf = new Map();
  for (const [lock, set] of threadsOf) {
    const threads = [...set].sort((a, b) => a - b);
    const key = `${threads.join(", ")} thread${threads.length === 1 && threads[0] === 1 ? "" : "s"}`;
    locksOf.set(key, [...(locksOf.get(key) ?? []), lock]);
  }
  return [...locksOf].map(([threads, names]) => `${threads}: ${names.join(", ")}`).join("; ");
}

/* Doubts that differ only in their numbers are said once, with the numbers from the least to the greatest. */
function mergeDoubts(doubts) {
  const merged = new Map();
  const number = /\d+(?:\.\d+)?/g;
  for (const { text, where } of doubts) {
    const pattern = text.replace(number, "#");
    const known = merged.get(pattern) ?? { parts: text.split(number), ranges: [], where: [] };
    merged.set(pattern, known);
    known.where.push(...where);
    (text.match(number) ?? []).forEach((n, i) => {
      const [low, high] = known.ranges[i] ?? [n, n];
      known.ranges[i] = [Number(n) < Number(low) ? n : low, Number(n) > Number(high) ? n : high];
    });
  }
  return [...merged.values()].map(({ parts, ranges, where }) => ({
    text: parts.map((part, i) => part + (i < ranges.length ? [...new Set(ranges[i])].join(" to ") : "")).join(""), where,
  }));
}

/* A doubt and where it holds: beside it, or, where that is long, on demand. */
function doubtItem(doubt, points) {
  const item = make("li", {}, doubt.text);
  const count = doubt.where.length;
  const places = placesText(doubt.where);
  const counted = count === points ? `all ${points} points` : `${count} of ${points} points`;
  if (count > 0 && places.length < 100) item.append(make("span", { class: "where" }, ` (${places})`));
  else if (count > 0) item.append(make("details", {}, make("summary", {}, counted), make("span", { class: "where" }, places)));
  return item;
}

function doubtsOf(doubts, points) {
  if (!doubts.length) return [];
  return [make("div", { class: "doubts" }, make("h3", {}, "Read with care"),
    make("ul", {}, ...mergeDoubts(doubts).map((doubt) => doubtItem(doubt, points))))];
}
