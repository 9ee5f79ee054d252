// draw.js: paints the model on the canvas for a view: {start, end} in
// microseconds and top in pixels. What is narrower than a pixel is painted
// once for all that shares it.
'use strict';

const NAMES_WIDTH = 180, LANE_HEIGHT = 20, TRACK_GAP = 8, RULER_HEIGHT = 26;
const MAP_HEIGHT = 26, COUNTER_HEIGHT = 56, GROUP_HEIGHT = 20;
const ARROWS_AT_ONCE = 400;
const GROUP_NAMES = ['The program\u2019s threads', 'Queues',
                     'Threads of the device'];
const HUES = {'command buffer': 215, encoder: 200, compile: 285, commit: 165,
              wait: 35, event: 330};

const canvas = document.getElementById('canvas');
const pen = canvas.getContext('2d');
const dark = matchMedia('(prefers-color-scheme: dark)');

function colour(name) {
  return getComputedStyle(document.documentElement).getPropertyValue(name);
}

// One hue a category; commands and work have one a name.
function hueOf(slice) {
  if (slice.category in HUES) {
    return HUES[slice.category];
  }
  let hash = 2166136261;
  for (let i = 0; i < slice.name.length; ++i) {
    hash = Math.imul(hash ^ slice.name.charCodeAt(i), 16777619);
  }
  return (hash >>> 0) % 360;
}

function fillOf(slice) {
  const isBad = slice.args.error !== undefined;
  const light = dark.matches ? 34 : 78;
  return isBad ? `hsl(0 75% ${light}%)` : `hsl(${hueOf(slice)} 55% ${light}%)`;
}

// Where tracks and counters stand, from the top of all of them.
function arrange(model) {
  const rows = [];
  let y = 0, group = -1;
  for (const counter of model.counters) {
    rows.push({kind: 'counter', counter, y, height: COUNTER_HEIGHT});
    y += COUNTER_HEIGHT + TRACK_GAP;
  }
  for (const track of model.tracks) {
    if (track.group !== group) {
      group = track.group;
      rows.push({kind: 'group', name: GROUP_NAMES[group], y,
                 height: GROUP_HEIGHT});
      y += GROUP_HEIGHT;
    }
    track.y = y;
    const height = track.lanes.length * LANE_HEIGHT;
    rows.push({kind: 'track', track, y, height});
    y += height + TRACK_GAP;
  }
  return {rows, height: y};
}

class Painter {
  constructor(model) {
    this.model = model;
    this.rows = arrange(model);
  }

  // --- Places -----------------------------------------------------------------

  resize() {
    const scale = devicePixelRatio || 1;
    this.width = canvas.clientWidth;
    this.height = canvas.clientHeight;
    canvas.width = Math.round(this.width * scale);
    canvas.height = Math.round(this.height * scale);
    pen.setTransform(scale, 0, 0, scale, 0, 0);
  }

  get plotWidth() {
    return Math.max(1, this.width - NAMES_WIDTH);
  }

  get top() {
    return MAP_HEIGHT + RULER_HEIGHT;
  }

  x(view, time) {
    return NAMES_WIDTH +
      (time - view.start) / (view.end - view.start) * this.plotWidth;
  }

  time(view, x) {
    return view.start +
      (x - NAMES_WIDTH) / this.plotWidth * (view.end - view.start);
  }

  y(view, y) {
    return this.top + y - view.top;
  }

  place(view, slice) {
    return {
      x: this.x(view, slice.start),
      y: this.y(view, slice.track.y + slice.depth * LANE_HEIGHT),
      width: (slice.end - slice.start) / (view.end - view.start) *
        this.plotWidth,
      height: LANE_HEIGHT - 2,
    };
  }

  // What lies at a point: {slice}, {counter, value} or {}.
  at(view, x, y) {
    if (x < NAMES_WIDTH || y < this.top) {
      return {};
    }
    const inside = y - this.top + view.top;
    const row = this.rows.rows.find((r) => inside >= r.y &&
                                    inside < r.y + r.height);
    if (!row || row.kind === 'group') {
      return {};
    }
    const time = this.time(view, x);
    if (row.kind === 'counter') {
      const point = row.counter.points.findLast((p) => p.time <= time);
      return {counter: row.counter, value: point ? point.value : 0};
    }
    const lane = row.track.lanes[Math.floor((inside - row.y) / LANE_HEIGHT)];
    // Two pixels beside it still are it: slices may be narrower.
    const near = 2 * (view.end - view.start) / this.plotWidth;
    const i = firstAfter(lane, time - near);
    const found = lane.slice(i, i + 64).filter((s) => s.start <= time + near);
    found.sort((a, b) => distance(a, time) - distance(b, time));
    return {slice: found[0]};
  }

  // --- Painting ---------------------------------------------------------------

  paint(view, state) {
    this.colours = {};
    for (const name of ['ground', 'panel', 'line', 'text', 'dim', 'accent',
                        'lane']) {
      this.colours[name] = colour(`--${name}`);
    }
    pen.fillStyle = this.colours.ground;
    pen.fillRect(0, 0, this.width, this.height);
    pen.font = '11px system-ui, "DejaVu Sans", sans-serif';
    pen.textBaseline = 'middle';
    pen.save();
    pen.beginPath();
    pen.rect(0, this.top, this.width, this.height - this.top);
    pen.clip();
    this.paintGrid(view);
    for (const row of this.rows.rows) {
      const y = this.y(view, row.y);
      if (y + row.height >= this.top && y <= this.height) {
        this.paintRow(view, row, y, state);
      }
    }
    this.clipToPlot();
    this.paintArrows(view, state);
    pen.restore();
    this.paintNames(view);
    this.paintRuler(view);
    this.paintMap(view);
    this.paintRange(view, state.range);
  }

  clipToPlot() {
    pen.beginPath();
    pen.rect(NAMES_WIDTH, this.top, this.plotWidth, this.height - this.top);
    pen.clip();
  }

  paintRow(view, row, y, state) {
    pen.save();
    this.clipToPlot();
    if (row.kind === 'counter') {
      this.paintCounter(view, row.counter, y);
    } else if (row.kind === 'track') {
      pen.fillStyle = this.colours.lane;
      pen.fillRect(NAMES_WIDTH, y, this.plotWidth, row.height);
      row.track.lanes.forEach((lane, depth) =>
        this.paintLane(view, lane, y + depth * LANE_HEIGHT, state));
    }
    pen.restore();
  }

  paintLane(view, lane, y, state) {
    const pixel = (view.end - view.start) / this.plotWidth;
    let i = firstAfter(lane, view.start);
    while (i < lane.length && lane[i].start < view.end) {
      const slice = lane[i];
      this.paintSlice(view, slice, y, state);
      // The rest of this pixel is painted already.
      i = slice.length < pixel
        ? Math.max(i + 1, firstAfter(lane, slice.start + pixel, i)) : i + 1;
    }
    if (state.found.size || state.selected) {
      this.paintMarks(view, lane, y, state);
    }
  }

  paintSlice(view, slice, y, state) {
    const left = Math.max(NAMES_WIDTH - 2, this.x(view, slice.start));
    const right = Math.min(this.width + 2, this.x(view, slice.end));
    const width = Math.max(slice.isInstant ? 2 : 1, right - left - 0.5);
    pen.globalAlpha = state.found.size && !state.found.has(slice) ? 0.3 : 1;
    pen.fillStyle = fillOf(slice);
    pen.fillRect(left, y + 1, width, LANE_HEIGHT - 2);
    if (width > 24) {
      pen.fillStyle = this.colours.text;
      pen.save();
      pen.beginPath();
      pen.rect(left, y, width - 3, LANE_HEIGHT);
      pen.clip();
      const from = Math.max(left, NAMES_WIDTH) + 4;
      const label = slice.args.label || slice.args.kernel;
      pen.fillText(label ? `${slice.name} \u2018${label}\u2019` : slice.name,
                   from, y + LANE_HEIGHT / 2);
      pen.restore();
    }
    pen.globalAlpha = 1;
  }

  // What is selected, and what was found, however narrow.
  paintMarks(view, lane, y, state) {
    const {selected, found} = state;
    let last = -Infinity;
    for (let i = firstAfter(lane, view.start);
         found.size && i < lane.length && lane[i].start < view.end; ++i) {
      const x = this.x(view, lane[i].start);
      if (found.has(lane[i]) && x > last + 1) {
        pen.fillStyle = this.colours.accent;
        pen.fillRect(x, y + LANE_HEIGHT - 2,
                     Math.max(2, this.x(view, lane[i].end) - x), 2);
        last = x;
      }
    }
    if (selected && selected.track.lanes[selected.depth] === lane) {
      const place = this.place(view, selected);
      pen.strokeStyle = this.colours.accent;
      pen.lineWidth = 2;
      pen.strokeRect(place.x, y + 1, Math.max(2, place.width), LANE_HEIGHT - 2);
    }
  }

  paintCounter(view, counter, y) {
    const base = y + COUNTER_HEIGHT, most = counter.most || 1;
    pen.beginPath();
    pen.moveTo(NAMES_WIDTH, base);
    let value = 0;
    for (const point of counter.points) {
      if (point.time > view.end) {
        break;
      }
      const x = Math.max(NAMES_WIDTH, this.x(view, point.time));
      pen.lineTo(x, base - value / most * (COUNTER_HEIGHT - 14));
      value = point.value;
      pen.lineTo(x, base - value / most * (COUNTER_HEIGHT - 14));
    }
    pen.lineTo(this.width, base - value / most * (COUNTER_HEIGHT - 14));
    pen.lineTo(this.width, base);
    pen.fillStyle = this.colours.accent;
    pen.globalAlpha = 0.3;
    pen.fill();
    pen.globalAlpha = 1;
  }

  paintArrows(view, state) {
    const selected = state.selected ? state.selected.flows : [];
    if (state.arrows) {
      const least = (view.end - view.start) / this.plotWidth;
      const isSeen = (slice) => slice.length >= least &&
        slice.end >= view.start && slice.start <= view.end;
      const seen = this.model.flows.filter(
        (f) => isSeen(f.from) || isSeen(f.to));
      if (seen.length <= ARROWS_AT_ONCE) {
        seen.forEach((flow) => this.paintArrow(view, flow, false));
      }
    }
    selected.forEach((flow) => this.paintArrow(view, flow, true));
  }

  paintArrow(view, flow, isStrong) {
    const from = this.place(view, flow.from), to = this.place(view, flow.to);
    const x0 = this.x(view, flow.start), x1 = this.x(view, flow.end);
    const y0 = from.y + from.height / 2, y1 = to.y + to.height / 2;
    const bend = Math.max(12, Math.min(80, Math.abs(x1 - x0) / 2));
    pen.strokeStyle = pen.fillStyle = isStrong ? this.colours.accent
      : this.colours.dim;
    pen.globalAlpha = isStrong ? 1 : 0.45;
    pen.lineWidth = isStrong ? 2 : 1;
    pen.beginPath();
    pen.moveTo(x0, y0);
    pen.bezierCurveTo(x0 + bend, y0, x1 - bend, y1, x1, y1);
    pen.stroke();
    pen.beginPath();
    pen.moveTo(x1, y1);
    pen.lineTo(x1 - 6, y1 - 3);
    pen.lineTo(x1 - 6, y1 + 3);
    pen.fill();
    pen.globalAlpha = 1;
  }

  // --- The frame --------------------------------------------------------------

  paintNames(view) {
    pen.save();
    pen.beginPath();
    pen.rect(0, this.top, this.width, this.height - this.top);
    pen.clip();
    pen.fillStyle = this.colours.panel;
    pen.fillRect(0, this.top, NAMES_WIDTH, this.height);
    for (const row of this.rows.rows) {
      this.paintName(view, row);
    }
    pen.fillStyle = this.colours.line;
    pen.fillRect(NAMES_WIDTH - 1, this.top, 1, this.height);
    pen.restore();
  }

  paintName(view, row) {
    const y = this.y(view, row.y);
    pen.fillStyle = row.kind === 'group' ? this.colours.accent
      : this.colours.text;
    const name = row.kind === 'group' ? row.name
      : row.kind === 'counter' ? row.counter.name : row.track.name;
    pen.save();
    pen.beginPath();
    pen.rect(0, y, NAMES_WIDTH - 6, Math.max(row.height, LANE_HEIGHT));
    pen.clip();
    pen.fillText(name, 8, y + LANE_HEIGHT / 2);
    if (row.kind === 'counter') {
      pen.fillStyle = this.colours.dim;
      pen.fillText(`at most ${bytesText(row.counter.most)}`, 8, y + 30);
    }
    pen.restore();
  }

  // The step between marks: 1, 2 or 5 of a power of ten.
  step(view) {
    const wanted = (view.end - view.start) / Math.max(2, this.plotWidth / 110);
    const power = 10 ** Math.floor(Math.log10(wanted));
    return power * ([1, 2, 5].find((n) => n * power >= wanted) || 10);
  }

  marks(view) {
    const step = this.step(view), marks = [];
    const first = Math.max(0, Math.ceil(view.start / step));
    for (let i = first; i * step <= view.end; ++i) {
      marks.push(i * step);
    }
    return marks;
  }

  paintGrid(view) {
    pen.fillStyle = this.colours.line;
    for (const time of this.marks(view)) {
      pen.fillRect(Math.round(this.x(view, time)), this.top, 1, this.height);
    }
  }

  paintRuler(view) {
    pen.fillStyle = this.colours.panel;
    pen.fillRect(0, MAP_HEIGHT, this.width, RULER_HEIGHT);
    pen.fillStyle = this.colours.dim;
    pen.fillText(`${timeText(view.end - view.start)} in view`, 8,
                 MAP_HEIGHT + RULER_HEIGHT / 2);
    for (const time of this.marks(view)) {
      const x = Math.round(this.x(view, time));
      pen.fillRect(x, MAP_HEIGHT + RULER_HEIGHT - 6, 1, 6);
      pen.fillText(timeText(time, 6), x + 4, MAP_HEIGHT + RULER_HEIGHT / 2);
    }
    pen.fillStyle = this.colours.line;
    pen.fillRect(0, this.top - 1, this.width, 1);
  }

  // The whole timeline: how busy the queues are, and what is in view.
  paintMap(view) {
    this.busy = this.busyWidth === this.plotWidth ? this.busy : this.bins();
    this.busyWidth = this.plotWidth;
    pen.fillStyle = this.colours.panel;
    pen.fillRect(0, 0, this.width, MAP_HEIGHT);
    pen.fillStyle = this.colours.dim;
    pen.fillText('Commands over all', 8, MAP_HEIGHT / 2);
    this.busy.forEach((part, i) => pen.fillRect(
      NAMES_WIDTH + i, MAP_HEIGHT - 2 - part * (MAP_HEIGHT - 6), 1,
      part * (MAP_HEIGHT - 6)));
    const place = (time) => NAMES_WIDTH + this.plotWidth *
      Math.max(0, Math.min(1, time / this.model.end));
    const left = place(view.start), right = place(view.end);
    pen.strokeStyle = this.colours.accent;
    pen.lineWidth = 2;
    pen.strokeRect(left + 1, 2, Math.max(3, right - left - 2), MAP_HEIGHT - 4);
  }

  // The share of each pixel of the map in which a command runs.
  bins() {
    const bins = new Float64Array(Math.ceil(this.plotWidth));
    const scale = this.plotWidth / this.model.end;
    for (const slice of this.model.slices) {
      if (slice.category !== 'command') {
        continue;
      }
      const start = slice.start * scale, end = slice.end * scale;
      for (let i = Math.floor(start); i < end && i < bins.length; ++i) {
        bins[i] += Math.min(end, i + 1) - Math.max(start, i);
      }
    }
    return bins.map((part) => Math.min(1, part));
  }

  paintRange(view, range) {
    if (range) {
      const left = this.x(view, Math.min(range.from, range.to));
      const right = this.x(view, Math.max(range.from, range.to));
      pen.fillStyle = this.colours.accent;
      pen.globalAlpha = 0.18;
      pen.fillRect(left, MAP_HEIGHT, right - left, this.height);
      pen.globalAlpha = 1;
    }
  }
}

function distance(slice, time) {
  return Math.max(slice.start - time, time - slice.end, 0);
}
