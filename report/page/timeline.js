/* timeline.js - the ten longest waits for locks: who waited, and who held the lock */

const WORST = 10, ROW = 44, LEFT = 10, WIDTH = 1100, TOP = 24;

function svg(tag, attributes, ...children) {
  const element = document.createElementNS("http://www.w3.org/2000/svg", tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}

function endOf(wait) {
  return wait.start_ns + wait.waited_ns;
}

/* When its holder had it: from when it was timed, or from when the waiter found it. */
function heldFrom(wait) {
  return wait.held_since_ns >= 0 ? Math.min(wait.held_since_ns, wait.start_ns) : wait.start_ns;
}

function bar(className, from, to, y, x, title) {
  return svg("rect", { class: className, x: x(from), y, width: Math.max(2, x(to) - x(from)), height: 9 }, svg("title", {}, title));
}

function rowOf(wait, i, x) {
  const y = TOP + i * ROW, lock = profile.locks[wait.lock].name;
  const others = profile.worst.filter((o) => o !== wait && o.lock === wait.lock && o.start_ns < endOf(wait) && endOf(o) > wait.start_ns).length;
  return svg("g", { class: "wait" },
    svg("text", { x: LEFT, y: y + 11 }, `${siteOf(wait.waiter)} waited ${duration(wait.waited_ns)}`
      + (wait.unfinished && profile.attached ? "" : `${profile.attached ? ", woken by" : " for"} ${siteOf(wait.holder)}`)
      + (wait.unfinished ? ", has not ended" : "")
      + `: ${lock}`
      + (others ? ` (${others} more waited)` : "")),
    ...(wait.holder_tid && !profile.attached ? [bar("holder", heldFrom(wait), endOf(wait), y + 16, x, `thread ${wait.holder_tid} held it: ${siteOf(wait.holder)}`)] : []),
    bar("waiter", wait.start_ns, endOf(wait), y + 26, x, `thread ${wait.waiter_tid} ${wait.thread} waited ${duration(wait.waited_ns)}`),
    svg("line", { class: "axis", x1: LEFT, x2: WIDTH - LEFT, y1: y + ROW - 6, y2: y + ROW - 6 }));
}

function timelineSection() {
  const waits = profile.worst.filter((w) => !isCond(profile.locks[w.lock])).slice(0, WORST);
  const section = make("section", { id: "timeline" }, make("h2", {}, "The longest waits"));
  if (!waits.length) {
    section.append(make("p", {}, "Nobody waited for a lock."));
    return section;
  }
  const from = Math.min(...waits.map(heldFrom)), to = Math.max(...waits.map(endOf));
  const x = d3.scaleLinear([from, to], [LEFT, WIDTH - LEFT]);
  const ticks = x.ticks(8).map((t) => svg("text", { class: "soft", x: x(t), y: 12, "text-anchor": "middle" }, duration(t)));
  section.append(make("p", { class: "note" }, make("span", { class: "key waiter" }), "waits   ",
    ...(profile.attached ? [] : [make("span", { class: "key holder" }), "holds"]), "; time since the start of the profile"),
  svg("svg", { viewBox: `0 0 ${WIDTH} ${TOP + waits.length * ROW}`, role: "img" }, ...ticks, ...waits.map((w, i) => rowOf(w, i, x))));
  return section;
}
