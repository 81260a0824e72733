/* heat.js - a grid as maps: a row for each cell, a column for each lock, and a colour for how it compares with glibc */

/* Blue is better and orange worse, which people with the usual kinds of colour blindness can tell apart; as good is no
 * colour, and four times is all of it. Ink stays readable on both. */
function heatColour(times) {
  const strength = Math.min(1, Math.abs(Math.log2(times)) / 2);
  return `rgba(${times >= 1 ? "0, 114, 178" : "213, 94, 0"}, ${(0.6 * strength).toFixed(3)})`;
}

/* What a map shows: how many times better than the reference a row is, and what is written there. The longest wait of all
 * runs is one of a single round, which the reference's longest need not be of. */
const heatMaps = [
  { title: "Throughput, as a multiple of the C library's", times: (r) => (r.reference ? 1 : r.ratio), text: (r) => (r.reference && r.min > 0 ? "1.00" : digits(r.ratio)) },
  { title: "Worst wait", times: (r, glibc) => (glibc?.worst_wait_ns ?? NaN) / r.worst_wait_ns, text: (r) => duration(r.worst_wait_ns), has: "worst_wait_ns" },
  { title: "99th percentile of the waits of a thread that rarely asks", times: (r) => (r.reference ? 1 : r.p99_ratio), text: (r) => duration(r.p99_ns), has: "p99_ns" },
];

/* Pawl's locks first, each group in the order of the files. */
function heatLocks(section) {
  const found = [...new Set(section.rankings.flatMap((ranking) => ranking.rows.map((row) => row.lock)))];
  return found.sort((a, b) => (locks[a].family === "peer") - (locks[b].family === "peer") || a - b);
}

function heatCell(map, row, glibc) {
  if (!row) return make("td", {}, "–");
  const cell = make("td", { class: "heat" }, map.text(row));
  const times = map.times(row, glibc);
  if (Number.isFinite(times)) cell.style.backgroundColor = heatColour(times);
  if (row.doubts.length) cell.append(" ", make("span", { class: "mark", title: row.doubts.join("\n"), role: "note", "aria-label": row.doubts.join("; ") }, "?"));
  return cell;
}

function heatTable(section, map) {
  const columns = heatLocks(section);
  const rankings = section.rankings.filter(({ rows }) => !map.has || rows.some((row) => row[map.has] !== null));
  const head = make("tr", {}, make("th", { class: "text", scope: "col" }, "cell"), ...columns.map((lock) => make("th", { scope: "col" }, locks[lock].name)));
  const body = rankings.map((ranking) => {
    const glibc = ranking.rows.find((row) => row.reference);
    return make("tr", {}, make("th", { class: "text", scope: "row" }, loadName(ranking)),
      ...columns.map((lock) => heatCell(map, ranking.rows.find((row) => row.lock === lock), glibc)));
  });
  return body.length ? [make("h3", {}, map.title), make("div", { class: "scroll" }, make("table", { class: "map" }, make("thead", {}, head), make("tbody", {}, ...body)))] : [];
}

function heatOf(section) {
  if (section.workload !== "grid") return [];
  return [...heatMaps.flatMap((map) => heatTable(section, map)),
    make("p", { class: "note" }, "Blue is better than the C library's mutex in the same cell, orange is worse; the full colour is four times. "
    + "– is a lock that was not measured there, or, of multiples, a cell in which the C library's mutex did nothing in one of the rounds. "
    + "Throughput and the 99th percentile are compared round by round, the longest wait of all runs with the longest of all.")];
}
