/* blame.js - the table of locks, and who blocks whom */

const SITES = 12; /* rows and columns of the matrix */

function cell(tag, text, isText) {
  return make(tag, isText ? { class: "text" } : {}, text);
}

function locksSection() {
  const titles = ["Lock", "Kind", "Process", ...(profile.attached ? ["Waits"] : ["Acquired", "Contended"]), "Waited", "Worst wait",
    ...(profile.attached ? [] : ["Held, mean", "Held, worst"])];
  const counts = (l) => (profile.attached ? [l.contended.toLocaleString("en")] : [l.acquisitions.toLocaleString("en"), share(l.contended, l.acquisitions)]);
  const holds = (l) => (profile.attached ? [] : [l.hold_mean_ns, l.hold_worst_ns].map((ns) => (l.holds_timed ? duration(ns) : "–")));
  const rows = profile.locks.map((l) => make("tr", {}, cell("td", l.name, true), cell("td", l.kind, true),
    ...[String(l.process), ...counts(l), duration(l.waited_ns), duration(l.worst_ns), ...holds(l)].map((text) => cell("td", text))));
  return make("section", { id: "locks" }, make("h2", {}, "Locks"), make("div", { class: "scroll" },
    make("table", {}, make("thead", {}, make("tr", {}, ...titles.map((t, i) => cell("th", t, i < 2)))), make("tbody", {}, ...rows))));
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
