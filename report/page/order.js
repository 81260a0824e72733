/* order.js - axes of what has a number that is drawn evenly, and bands: one for each lock that is shown */

/* Whole numbers, with room for the marks at both ends. */
function evenAxis(chart) {
  const base = axisBase(chart.x.title);
  const values = chart.series.flatMap((s) => s.marks.map((m) => m[0]));
  return {
    ...base, type: "linear", min: Math.min(...values) - 0.5, max: Math.max(...values) + 0.5,
    afterBuildTicks: (scale) => { scale.ticks = evenTicks(Math.min(...values), Math.max(...values)).map((value) => ({ value })); },
  };
}

/* Five at most, on round numbers, and the first. */
function evenTicks(first, last) {
  const step = [1, 2, 5, 10, 20, 25, 50, 100, 200, 250, 500].find((s) => (last - first) / s < 5) ?? Math.ceil((last - first) / 4);
  const ticks = [first];
  for (let tick = (Math.floor(first / step) + 1) * step; tick <= last; tick += step) ticks.push(tick);
  return ticks;
}

function shownSeries(chart) {
  return chart.series.filter((s) => locks[s.lock].visible);
}

/* Where thread 0 of a lock is: bands are as high as there are threads, with one place between two. */
function bandOf(chart, series) {
  const shown = shownSeries(chart);
  return (shown.length - 1 - Math.max(0, shown.indexOf(series))) * (chart.y.threads + 1);
}

/* The name of a lock in the middle of its band. */
function bandsAxis(chart) {
  const base = axisBase(null);
  const middles = new Map(shownSeries(chart).map((s) => [bandOf(chart, s) + (chart.y.threads - 1) / 2, locks[s.lock].name]));
  return {
    ...base, type: "linear", min: -1, max: Math.max(1, middles.size) * (chart.y.threads + 1) - 1,
    grid: { display: false },
    ticks: { ...base.ticks, callback: (value) => middles.get(value) ?? "" },
    afterBuildTicks: (scale) => { scale.ticks = [...middles.keys()].sort((a, b) => a - b).map((value) => ({ value })); },
  };
}

/* Small marks and no dashes: the band says which lock it is. */
function bandLook(look) {
  return { ...look, borderDash: [], borderWidth: look.borderWidth / 1.8, pointStyle: "circle", pointRadius: 2 };
}
