/* blame.js - the tables of locks and of holds, and who blocks whom */

const SITES = 12; /* rows and columns of the matrix */
const HOLDS = 50; /* rows of the table of holds */

function cell(tag, text, isText) {
  return make(tag, isText ? { class: "text" } : {}, text);
}

function table(titles, texts, rows) {
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, make("tr", {}, ...titles.map((t, i) => cell("th", t, i < texts)))),
    make("tbody", {}, ...rows.map((row) => make("tr", {}, ...row.map((text, i) => cell("td", text, i < texts)))))));
}

function locksSection() {
  const titles = ["Lock", "Kind", "Process", ...(profile.attached ? ["Waits"] : ["Acquired", "Contended"]), "Waited", "Worst wait",
    ...(profile.attached ? [] : ["Held, mean", "Held, worst"])];
  const counts = (l) => (profile.attached ? [l.contended.toLocaleString("en")] : [l.acquisitions.toLocaleString("en"), share(l.contended, l.acquisitions + (l.gave_up ?? 0))]);
  const holds = (l) => (profile.attached ? [] : [l.hold_mean_ns, l.hold_worst_ns].map((ns) => (l.holds_timed ? duration(ns) : "–")));
  const rows = profile.locks.map((l) => [l.name, l.kind, String(l.process), ...counts(l), duration(l.waited_ns), duration(l.worst_ns), ...holds(l)]);
  return make("section", { id: "locks" }, make("h2", {}, "Locks"), table(titles, 2, rows));
}

/* By lock and site, longest first; none of a process that was attached to. */
function holdsSections() {
  const sites = new Map();
  for (const hold of profile.holds) {
    const key = `${hold.lock} ${siteOf(hold.stack)}`;
    const known = sites.get(key) ?? { site: siteOf(hold.stack), lock: profile.locks[hold.lock].name, count: 0, total: 0, worst: 0 };
    sites.set(key, { ...known, count: known.count + hold.count, total: known.total + hold.total_ns, worst: Math.max(known.worst, hold.worst_ns) });
  }
  const rows = [...sites.values()].sort((a, b) => b.total - a.total).slice(0, HOLDS)
    .map((h) => [h.site, h.lock, h.count.toLocaleString("en"), duration(h.total), duration(h.total / h.count), duration(h.worst)]);
  if (!rows.length) return [];
  return [make("section", { id: "holds" }, make("h2", {}, "Holds"), make("p", { class: "note" }, "By the line that acquired the lock; of those that were timed."),
    table(["Acquired in", "Lock", "Timed", "Held", "Mean", "Worst"], 2, rows))];
}

/* By total, longest first. */
function topSites(key) {
  const totals = new Map();
  for (const wait of lockWaits()) {
    const site = siteOf(wait[key]);
    totals.set(site, (totals.get(site) ?? 0) + wait.total_ns);
  }
  return [...totals].sort((a, b) => b[1] - a[1]).slice(0, SITES).map(([site]) => site);
}

function lockWaits() {
  return profile.waits.filter((wait) => !isCond(profile.locks[wait.lock]));
}

function matrixOf(holders, waiters) {
  const matrix = holders.map(() => waiters.map(() => 0));
  for (const wait of lockWaits()) {
    const h = holders.indexOf(siteOf(wait.holder)), w = waiters.indexOf(siteOf(wait.waiter));
    if (h >= 0 && w >= 0) matrix[h][w] += wait.total_ns;
  }
  return matrix;
}

function heatCell(ns, most) {
  const td = cell("td", ns > 0 ? duration(ns) : "");
  td.className = "heat";
  if (ns > 0) td.style.background = `rgba(213, 94, 0, ${(0.1 + 0.6 * ns / most).toFixed(2)})`;
  return td;
}

function blameSection() {
  const holders = topSites("holder"), waiters = topSites("waiter"), matrix = matrixOf(holders, waiters);
  const most = Math.max(1, ...matrix.flat());
  state.matrix = { holders, waiters, matrix };
  const head = make("tr", {}, cell("th", profile.attached ? "wakes ↓   waits →" : "blocks ↓   waits →", true), ...waiters.map((w) => cell("th", w, true)));
  const rows = holders.map((h, i) => make("tr", {}, cell("th", h, true), ...matrix[i].map((ns) => heatCell(ns, most))));
  return make("section", { id: "blame" }, make("h2", {}, profile.attached ? "Who wakes whom" : "Who blocks whom"),
    make("p", { class: "note" }, profile.attached ? "Rows ended a wait, mostly by releasing the lock; columns waited. ? is a wait that no call ended: a timeout, a signal, or not yet."
      : "Rows acquired a lock; columns waited for it meanwhile. Functions that only lock are passed over."),
    holders.length ? make("div", { class: "scroll" }, make("table", { class: "map" }, make("thead", {}, head), make("tbody", {}, ...rows)))
      : make("p", {}, "Nobody waited for a lock."));
}
