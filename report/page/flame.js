/* flame.js - a flame graph of the time waited: where threads waited, or who made them wait */

/* Of a C++ function's name, what comes before its parameters. */
function plainName(name) {
  let at = name.endsWith(" const") ? name.length - 6 : name.length;
  if (name[at - 1] !== ")") return name;
  let depth = 0;
  do {
    at--;
    depth += (name[at] === ")") - (name[at] === "(");
  } while (at > 0 && depth > 0);
  return at > 0 && !name.slice(0, at).endsWith("operator") ? name.slice(0, at) : name;
}

function frameText(index) {
  const f = profile.frames[index];
  const base = (path) => path.split("/").pop();
  if (f.function && f.file) return `${plainName(f.function)} (${base(f.file)}:${f.line})`;
  if (f.function) return f.module ? `${plainName(f.function)} (${base(f.module)}+${f.offset})` : plainName(f.function);
  return f.module ? `${base(f.module)}+${f.offset}` : f.offset;
}

function framesOf(stack) {
  return stack === null || stack === undefined ? [] : profile.stacks[stack].frames;
}

/* The first frame that is not about locking itself. */
function siteOf(stack) {
  return stack === null || stack === undefined ? "?" : frameText(framesOf(stack)[profile.stacks[stack].site]);
}

/* What idle threads wait for. */
function isCond(lock) {
  return ["condition variable", "semaphore", "barrier", "thread's end"].includes(lock.kind);
}

function addPath(root, path, value) {
  let node = root;
  node.value += value;
  for (const name of path) {
    let child = node.children.find((c) => c.name === name);
    if (!child) node.children.push(child = { name, value: 0, children: [] });
    child.value += value;
    node = child;
  }
}

/* Lock, then the stack from its outermost frame. A waiter's flame ends with whoever held the lock. */
function flameTree(view, conds) {
  const root = { name: "time waited", value: 0, children: [] };
  for (const wait of profile.waits) {
    const lock = profile.locks[wait.lock];
    if (isCond(lock) !== conds) continue;
    const stack = framesOf(view === "holder" ? wait.holder : wait.waiter).map(frameText).reverse();
    const end = view === "holder" ? [] : [`${conds || profile.attached ? "woken" : "blocked"} by ${siteOf(wait.holder)}`];
    addPath(root, [lock.name, ...stack, ...end], wait.total_ns);
  }
  return root;
}

function share(value, whole) {
  return whole > 0 ? `${(100 * value / whole).toFixed(1)} %` : "0 %";
}

function drawFlame(place, detail, view, conds) {
  const tree = flameTree(view, conds);
  const describe = (d) => `${d.data.name}: ${duration(d.data.value)}, ${share(d.data.value, tree.value)}`;
  const chart = flamegraph.default().width(Math.max(300, place.clientWidth)).cellHeight(20).minFrameSize(1)
    .inverted(true).transitionDuration(0).setLabelHandler(describe).setColorHue(view === "holder" ? "aqua" : "warm")
    .onHover((d) => { detail.textContent = describe(d); });
  place.replaceChildren();
  d3.select(place).datum(tree).call(chart);
  d3.timerFlush(); /* bars grow from nothing, and a printer does not wait for that */
  d3.timerFlush();
  return { chart, tree };
}

function flameSection() {
  const place = make("div", { id: "flame" }), detail = make("p", { id: "detail", "aria-live": "polite" });
  const option = (value, text) => make("option", { value }, text);
  const view = make("select", { id: "flame-view" }, option("waiter", "where threads waited"), option("holder", profile.attached ? "who woke them" : "who made them wait"));
  const kind = make("select", { id: "flame-kind" }, option("locks", "for locks"), option("conds", profile.attached ? "for condition variables and the like" : "for condition variables"));
  const search = make("input", { type: "search", placeholder: "Search", "aria-label": "Search the flame graph" });
  const section = make("section", { id: "waited" }, make("h2", {}, "Time waited"),
    make("p", { class: "note" }, "A bar is as wide as the time that threads waited in it. Click on one to enlarge it."),
    make("div", { class: "controls" }, view, kind, search), place, detail);
  const redraw = () => {
    state.flame = drawFlame(place, detail, view.value, kind.value === "conds");
    if (search.value) state.flame.chart.search(search.value);
  };
  search.addEventListener("input", () => (search.value ? state.flame.chart.search(search.value) : state.flame.chart.clear()));
  view.addEventListener("change", redraw);
  kind.addEventListener("change", redraw);
  addEventListener("resize", redraw);
  state.redraw = redraw;
  return section;
}
