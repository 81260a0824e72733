/* profile.js - puts a profile onto the page */

const profile = JSON.parse(document.getElementById("data").textContent);
const state = {}; /* what was drawn, for the console and for tests */

function doubtsOfProfile() {
  const lost = [...(profile.attached ? [] : [["still_waiting", "waits for a lock had not ended when it did"]]),
    ["gave_up", "of the waits ended at their deadline, without the lock"], ["refused", "calls of trylock found their lock taken"], ["unlisted_waits", "more had not ended, and are not shown: more threads waited than the table holds"],
    ["beyond_the_table", "acquisitions were of more locks than the table holds"],
    ["lost_pairs", "waits or holds were of more pairs of stacks than the table holds"],
    ["lost_waits", "waits were of more threads or pairs of stacks than the tables hold"], ["lost_stacks", "stacks did not fit"], ["cut_stacks", "stacks were cut to the call, to save time"]];
  const lines = (profile.notes ?? []).concat(profile.processes.flatMap((p) => lost.filter(([key]) => p[key] > 0)
    .map(([key, text]) => `process ${p.pid}: ${p[key].toLocaleString("en")} ${text}`)));
  return lines.length ? [make("div", { class: "doubts" }, make("ul", {}, ...lines.map((l) => make("li", {}, l))))] : [];
}

function buildProfile() {
  const sum = (key) => profile.processes.reduce((total, p) => total + p[key], 0);
  document.getElementById("summary").textContent = [profile.command, profile.end, `${profile.processes.length} process${profile.processes.length === 1 ? "" : "es"}`,
    profile.attached ? plural(sum("contended").toLocaleString("en"), "wait") : plural(sum("acquisitions").toLocaleString("en"), "acquisition"), `${duration(sum("waited_ns"))} waited`].filter((part) => part).join(" · ");
  const sections = [flameSection(), blameSection(), timelineSection(), locksSection(), ...holdsSections()];
  document.getElementById("sections").append(...doubtsOfProfile(), ...sections);
  document.getElementById("contents").append(...sections.map((s) => make("a", { href: `#${s.id}` }, s.querySelector("h2").textContent)));
  document.getElementById("footer").textContent = `Made by pawl profile ${profile.pawl ?? ""}. Flame graph by d3-flame-graph.`;
  state.redraw();
  window.pawlProfile = { profile, state };
}

buildProfile();
