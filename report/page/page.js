/* page.js - puts the book onto the page, and lets its reader choose locks */

const book = JSON.parse(document.getElementById("data").textContent);
const locks = book.locks.map((lock, index) => ({
  ...lock, index, visible: lock.shown, highlighted: false,
}));
const inCharts = new Set(book.sections.flatMap((s) => s.charts.flatMap((c) => c.series.map((line) => line.lock))));
const drawn = [];

function repaintLegend({ chart, legend, empty }) {
  const visible = chart.series.map((s) => locks[s.lock]).filter((lock) => lock.visible);
  empty.hidden = visible.length > 0;
  legend.replaceChildren(...visible.map((lock) => make("span", {}, swatchOf(lock), lock.name)));
}

function repaint() {
  drawn.forEach(restyle);
  drawn.forEach(repaintLegend);
  repaintSwatches(document);
}

function show(wanted) {
  for (const lock of locks) {
    lock.visible = wanted(lock);
    if (lock.box) lock.box.checked = lock.visible;
  }
  repaint();
}

function highlight(lock, on) {
  lock.highlighted = on;
  drawn.filter(({ chart }) => chart.series.some((s) => s.lock === lock.index)).forEach(restyle);
}

function toggleOf(lock) {
  lock.box = make("input", { type: "checkbox" });
  lock.box.checked = lock.visible;
  lock.box.addEventListener("change", () => {
    lock.visible = lock.box.checked;
    repaint();
  });
  const label = make("label", { class: "lock" }, lock.box, swatchOf(lock), make("span", {}, lock.name));
  label.addEventListener("mouseenter", () => highlight(lock, true));
  label.addEventListener("mouseleave", () => highlight(lock, false));
  return label;
}

function buildPanel() {
  const place = document.getElementById("locks");
  for (const [family, title] of [["pawl", "Pawl"], ["peer", "Others"]]) {
    const members = locks.filter((lock) => inCharts.has(lock.index) && (lock.family === "peer") === (family === "peer"));
    if (members.length) place.append(make("div", {}, make("h3", {}, title), ...members.map(toggleOf)));
  }
  document.getElementById("show-default").addEventListener("click", () => show((lock) => lock.shown));
  document.getElementById("show-all").addEventListener("click", () => show(() => true));
  document.getElementById("show-none").addEventListener("click", () => show(() => false));
}

function titleOf(section) {
  return [section.workload, section.preset].filter((part) => part).join(" · ");
}

function factsOf(section) {
  const { machine } = section;
  return [machine.cpu, plural(machine.cpus ?? 0, "CPU"), machine.kernel, machine.compiler, `commit ${machine.commit ?? "unknown"}`,
    section.date.replace("T", " ").replace("Z", " UTC")].filter((part) => part).join(" · ");
}

function buildSection(section, i) {
  const figures = section.charts.map((chart, k) => figureOf(chart, k === 0 || chart.y.threads > 0));
  const conditions = { file: section.file, workload: section.workload, preset: section.preset, unit: section.unit,
    "harness ns": section.harness_ns, pawl: section.pawl, ...section.parameters };
  return make("section", { id: `section-${i}` },
    make("h2", {}, titleOf(section)),
    make("p", { class: "facts" }, factsOf(section)),
    ...doubtsOf(section.doubts, section.rankings.reduce((sum, r) => sum + r.rows.length, 0)),
    ...heatOf(section),
    make("div", { class: "charts" }, ...figures),
    rankingOf(section),
    make("div", { class: "conditions" },
      make("div", {}, make("h3", {}, "What was measured"), listOf(conditions)),
      make("div", {}, make("h3", {}, "Where"), listOf(section.machine, "not known"))));
}

/* Paper is white, whatever the screen is. */
function followSchemes() {
  darkQuery.addEventListener("change", repaint);
  const print = (on) => () => { printing = on; repaint(); };
  addEventListener("beforeprint", print(true));
  addEventListener("afterprint", print(false));
  matchMedia("print").addEventListener("change", (event) => print(event.matches)());
}

function build() {
  document.getElementById("summary").textContent =
    `${plural(book.sections.length, "measurement")} of ${plural(locks.length, "subject")}`
    + (book.pingpong_ns === null ? "" : `; a cache line takes ${duration(book.pingpong_ns)} between the two nearest CPUs (pingpong)`);
  Chart.defaults.font.family = getComputedStyle(document.body).fontFamily;
  Chart.defaults.font.size = 12;
  buildPanel();
  const main = document.getElementById("sections");
  main.append(...doubtsOf(book.doubts.map((text) => ({ text, where: [] })), 0), ...book.sections.map(buildSection));
  document.getElementById("contents").append(...book.sections.map((s, i) => make("a", { href: `#section-${i}` }, titleOf(s))));
  for (const d of drawn) d.plot = draw(d.canvas, d.chart);
  document.getElementById("footer").textContent = `Made by pawl report ${book.pawl}. Charts by Chart.js ${Chart.version}.`;
  repaint();
  followSchemes();
  window.pawlReport = { book, locks, drawn }; /* for the console, and for tests */
}

build();
