/* charts.js - a chart of the book as a Chart.js chart */

/* From the least to the most of the runs, behind the lines. */
const whiskers = {
  id: "whiskers",
  beforeDatasetsDraw(chart) {
    const { ctx: context, scales: { y } } = chart;
    context.save();
    context.globalAlpha = 0.45;
    context.lineWidth = 1;
    chart.data.datasets.forEach((dataset, i) => {
      if (!chart.isDatasetVisible(i)) return;
      context.strokeStyle = dataset.borderColor;
      chart.getDatasetMeta(i).data.forEach((element, k) => {
        const [low, high] = [dataset.data[k].low, dataset.data[k].high].map((v) => y.getPixelForValue(v));
        if (Math.abs(high - low) < 2) return;
        context.beginPath();
        context.moveTo(element.x, low);
        context.lineTo(element.x, high);
        for (const end of [low, high]) {
          context.moveTo(element.x - 3, end);
          context.lineTo(element.x + 3, end);
        }
        context.stroke();
      });
    });
    context.restore();
  },
};

/* The coarsest of these steps within each decade that gives an axis four ticks or more. */
const decadeSteps = [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 5, 7], [1, 1.2, 1.4, 1.6, 1.8, 2, 2.5, 3, 3.5, 4, 4.5, 5, 6, 7, 8, 9]];

function decadeTicks(min, max) {
  for (const steps of decadeSteps) {
    const ticks = [];
    for (let power = Math.floor(Math.log10(min)); power <= Math.ceil(Math.log10(max)); power++)
      for (const step of steps) ticks.push({ value: Number((step * 10 ** power).toPrecision(3)) });
    const within = ticks.filter(({ value }) => value >= min && value <= max);
    if (within.length >= 4) return within;
  }
  /* If the top is less than 1.5 times the bottom: even steps, as on a linear axis. */
  const size = 10 ** Math.floor(Math.log10((max - min) / 4));
  const step = size * ([1, 2, 5].findLast((times) => times * size * 4 <= max - min) ?? 1);
  const ticks = [];
  for (let k = Math.ceil(min / step); k * step <= max; k++) ticks.push({ value: Number((k * step).toPrecision(6)) });
  return ticks;
}

function tickText(value) {
  if (value >= 1e6) return `${value / 1e6} M`;
  if (value >= 1e4) return `${value / 1e3} k`;
  return String(Number(value.toPrecision(4)));
}

/* The limits of what is shown, with the runs' extremes, and a little room. */
function visibleLimits(chart, axis, extremes) {
  const values = chart.data.datasets.filter((d, i) => chart.isDatasetVisible(i)).flatMap((d) => d.data.flatMap(extremes));
  const room = axis === "x" ? 1.12 : 1.15;
  return values.length ? [Math.min(...values) / room, Math.max(...values) * room] : [1, 10];
}

function axisBase(title) {
  return {
    title: { display: title !== null, text: title ?? "", color: cssColour("--soft") },
    ticks: { color: cssColour("--soft"), autoSkip: false, maxRotation: 0 },
    grid: { color: cssColour("--line"), drawTicks: true },
    border: { color: cssColour("--soft") },
  };
}

function logAxis(title, axis, extremes, ticksOf) {
  const base = axisBase(title);
  return {
    ...base,
    type: "logarithmic",
    ticks: { ...base.ticks, callback: tickText },
    afterDataLimits: (scale) => { [scale.min, scale.max] = visibleLimits(scale.chart, axis, extremes); },
    afterBuildTicks: (scale) => { scale.ticks = ticksOf(scale); },
  };
}

/* One tick per number of threads, as long as they do not run into each other. */
function threadTicks(scale) {
  const threads = new Set(scale.chart.data.datasets.flatMap((d) => d.data.map((p) => p.x)));
  let last = 0;
  return [...threads].sort((a, b) => a - b).filter((t) => (t >= last * 1.25 ? (last = t, true) : false)).map((value) => ({ value }));
}

/* From 0 to 1, with room for a mark at 1. */
function shareAxis(title) {
  const base = axisBase(title);
  return {
    ...base, min: 0, max: 1.03,
    ticks: { ...base.ticks, callback: (value) => value.toFixed(1) },
    afterBuildTicks: (scale) => { scale.ticks = [0, 0.2, 0.4, 0.6, 0.8, 1].map((value) => ({ value })); },
  };
}

function axesOf(chart) {
  const x = chart.x.labels
    ? { ...axisBase(chart.x.title), type: "category", labels: chart.x.labels, offset: true }
    : chart.x.even ? evenAxis(chart) : logAxis(chart.x.title, "x", (p) => [p.x], threadTicks);
  const y = chart.y.threads ? bandsAxis(chart) : chart.y.log
    ? logAxis(chart.y.title, "y", (p) => [p.low, p.high], (scale) => decadeTicks(scale.min, scale.max))
    : shareAxis(chart.y.title);
  return { x, y };
}

/* Where on the x axis, and what a mark is there, in words. */
function placeText(chart, x) {
  return chart.x.labels ? chart.x.labels[x] : chart.x.even ? `${chart.x.title} ${x}` : plural(x, "thread");
}

function valueText(chart, value) {
  return chart.y.threads ? `thread ${value}` : digits(value);
}

function tooltipLines(chart, item) {
  const { x, value, low, high, runs } = item.raw;
  const unit = chart.y.title ? ` ${chart.y.title}` : "";
  const spread = runs > 1 ? `  (${digits(low)} to ${digits(high)} in ${plural(runs, "run")})` : "";
  return `${item.dataset.label}, ${placeText(chart, x)}: ${valueText(chart, value)}${unit}${spread}`;
}

function datasetsOf(chart) {
  return chart.series.map((series) => {
    const lock = locks[series.lock];
    const up = chart.y.threads ? bandOf(chart, series) : 0;
    const data = series.marks.map(([x, value, low, high, runs]) => ({ x, value, y: up + value, low: up + low, high: up + high, runs }));
    const look = datasetLook(lock);
    return { label: lock.name, hidden: !lock.visible, data, ...(chart.y.threads ? bandLook(look) : look) };
  });
}

function datasetLook(lock) {
  const look = lookOf(lock.index, lock.reference);
  return {
    borderColor: look.colour, backgroundColor: look.colour, pointBorderColor: look.colour, borderDash: look.dash,
    borderWidth: lock.highlighted ? look.width + 2 : look.width, pointStyle: look.mark,
    pointRadius: 4, pointHoverRadius: 7, pointBorderWidth: 1.5, pointHitRadius: 8,
  };
}

function draw(canvas, chart) {
  return new Chart(canvas, {
    type: "line",
    data: { datasets: [] }, /* until restyle() */
    plugins: [whiskers],
    options: {
      animation: false,
      maintainAspectRatio: false,
      devicePixelRatio: Math.max(2, window.devicePixelRatio), /* sharp on paper, too */
      interaction: { mode: "nearest", axis: "xy", intersect: false },
      layout: { padding: { right: 8 } },
      scales: axesOf(chart),
      plugins: {
        legend: { display: false },
        tooltip: { displayColors: true, usePointStyle: true, callbacks: { title: () => "", label: (item) => tooltipLines(chart, item) } },
      },
    },
  });
}

/* Colours and visibility follow the locks and the scheme. On paper, a chart has the size that page.css gives it there,
 * in CSS pixels: the layout of the paper is not known when it is drawn. */
function restyle(drawn) {
  const { plot, chart, size } = drawn;
  plot.data.datasets = datasetsOf(chart); /* new ones: Chart.js remembers the marks' colours of old ones */
  plot.options.scales = axesOf(chart);
  plot.update("none");
  if (printing) plot.resize(...size);
  else plot.resize();
}

/* What a canvas shows, for those who do not see it, and for those who want the numbers. */
function valuesTable(chart) {
  const columns = [...new Set(chart.series.flatMap((s) => s.marks.map((m) => m[0])))].sort((a, b) => a - b);
  const head = make("tr", {}, make("th", { class: "text", scope: "col" }, "lock"),
    ...columns.map((x) => make("th", { scope: "col" }, placeText(chart, x))));
  const rows = chart.series.map((s) => {
    const by = new Map(s.marks.map((m) => [m[0], m[1]]));
    return make("tr", {}, make("th", { class: "text", scope: "row" }, locks[s.lock].name), ...columns.map((x) => make("td", {}, by.has(x) ? valueText(chart, by.get(x)) : "–")));
  });
  return make("div", { class: "scroll" }, make("table", {}, make("thead", {}, head), make("tbody", {}, ...rows)));
}

/* A figure with caption, plot, and values on demand. */
function figureOf(chart, isWide) {
  const canvas = make("canvas", { role: "img", "aria-label": `${chart.title}. The values are in the table below.` });
  const legend = make("div", { class: "legend", "aria-hidden": "true" });
  const empty = make("div", { class: "empty", hidden: "" }, "No lock is chosen.");
  const values = make("details", { class: "values" }, make("summary", {}, "Values"));
  values.addEventListener("toggle", () => values.children.length > 1 || values.append(valuesTable(chart)));
  const caption = make("figcaption", {}, make("strong", {}, chart.title));
  if (chart.note) caption.append(make("span", {}, chart.note));
  const figure = make("figure", { class: isWide ? "wide" : "" }, caption, make("div", { class: "plot" }, canvas, empty), legend, values);
  drawn.push({ chart, canvas, legend, empty, size: isWide ? [700, 287] : [340, 204] });
  return figure;
}
