/* look.js - colours, marks and numbers
 *
 * Seven colours that people with the usual kinds of colour blindness can tell apart (after Okabe and Ito), a dash
 * for each round through them, and marks that go around at another pace: no two locks look the same.
 */
"use strict";

const colours = {
  light: ["#0072b2", "#d55e00", "#009e73", "#cc79a7", "#e69f00", "#4a9fd8", "#882255"],
  dark: ["#4aa3df", "#ff8142", "#2cc79b", "#e79ac4", "#f2b632", "#9ad7ff", "#d06aa6"],
};
const dashes = [[], [7, 3], [2, 3], [9, 3, 2, 3], [14, 4]];
const marks = ["circle", "rect", "triangle", "rectRot", "crossRot", "star", "cross", "rectRounded"];

const darkQuery = matchMedia("(prefers-color-scheme: dark)");
let printing = matchMedia("print").matches;

function isDark() {
  return darkQuery.matches && !printing;
}

function cssColour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}

/* The reference is drawn in ink: it is what the eye looks for. */
function lookOf(index, isReference) {
  if (isReference) return { colour: isDark() ? "#ffffff" : "#000000", dash: [], mark: "circle", width: 2.6 };
  const palette = colours[isDark() ? "dark" : "light"];
  const round = Math.floor(index / palette.length);
  return {
    colour: palette[index % palette.length],
    dash: dashes[round % dashes.length],
    mark: marks[(index + 2 * round) % marks.length],
    width: 1.8,
  };
}

function swatchOf(lock) {
  return make("canvas", { class: "swatch", "aria-hidden": "true", "data-lock": lock.index });
}

function repaintSwatches(within) {
  for (const canvas of within.querySelectorAll(".swatch")) {
    const lock = locks[canvas.dataset.lock];
    paintSwatch(canvas, lookOf(lock.index, lock.reference));
  }
}

/* A line with its mark, as it is in the charts. */
function paintSwatch(canvas, look) {
  const scale = Math.max(2, window.devicePixelRatio || 1);
  canvas.width = 34 * scale;
  canvas.height = 14 * scale;
  const context = canvas.getContext("2d");
  context.scale(scale, scale);
  context.strokeStyle = context.fillStyle = look.colour;
  context.lineWidth = look.width;
  context.setLineDash(look.dash);
  context.beginPath();
  context.moveTo(0, 7);
  context.lineTo(34, 7);
  context.stroke();
  context.setLineDash([]);
  context.lineWidth = 1.5;
  Chart.helpers.drawPoint(context, { pointStyle: look.mark, radius: 4, rotation: 0, borderWidth: 1.5 }, 17, 7);
}

/* Elements are made of text, never of markup: what the files hold is text. */
function make(tag, options = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(options))
    if (name === "class") element.className = value;
    else element.setAttribute(name, value);
  element.append(...children);
  return element;
}

/* Three significant digits, and no exponent where people read numbers. */
function digits(value) {
  if (value === null || value === undefined) return "–";
  if (value === 0) return "0";
  const size = Math.abs(value);
  if (size >= 1e7 || size < 1e-4) return value.toExponential(2);
  return value.toLocaleString("en", size >= 1000 ? { maximumFractionDigits: 0 } : { minimumSignificantDigits: 3, maximumSignificantDigits: 3 });
}

function duration(ns) {
  if (ns === null || ns === undefined) return "–";
  const [size, unit] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]].find(([s]) => ns >= s) || [1, "ns"];
  const value = ns / size;
  return `${value.toFixed(size === 1 || value >= 100 ? 0 : value >= 10 ? 1 : 2)} ${unit}`;
}

function plural(count, word) {
  return `${count} ${word}${count === 1 ? "" : "s"}`;
}
