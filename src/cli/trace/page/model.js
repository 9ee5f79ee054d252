// model.js: from the file's events to what is drawn: tracks with lanes of
// slices, arrows between slices, and counters. Times are microseconds from the
// first event.
'use strict';

// Groups of tracks from the top: the program, its queues, the device.
const PROGRAM = 0, QUEUE = 1, DEVICE = 2;
const FIRST_ROW = 2 ** 30;  // above every thread's number: rows of queues
const ROUNDING_US = 0.002;

function readEvents(text) {
  const file = JSON.parse(text);
  return Array.isArray(file) ? file : file.traceEvents;
}

function argumentTexts(args) {
  return Object.entries(args || {}).map(([name, value]) => [name,
    Array.isArray(value) ? value.join(' \u00d7 ') : String(value)]);
}

// The lanes of a track: what is inside of something stands in the lane below
// it, and slices of one lane do not overlap.
function layOut(track) {
  track.slices.sort((a, b) => a.start - b.start || b.length - a.length ||
    a.order - b.order);
  track.lanes = [];
  for (const slice of track.slices) {
    let depth = 0;
    while (depth < track.lanes.length &&
           track.lanes[depth].at(-1).end > slice.start + ROUNDING_US) {
      ++depth;
    }
    if (depth === track.lanes.length) {
      track.lanes.push([]);
    }
    slice.depth = depth;
    track.lanes[depth].push(slice);
  }
}

// The first slice of a lane that ends after a time, as its place.
function firstAfter(lane, time, low = 0) {
  let high = lane.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (lane[middle].end > time) {
      high = middle;
    } else {
      low = middle + 1;
    }
  }
  return low;
}

// The slice of a track at a time that an arrow's end belongs to.
function sliceAt(track, time, categories) {
  let outermost = null;
  for (const lane of track ? track.lanes : []) {
    let i = firstAfter(lane, time - ROUNDING_US);
    for (; i < lane.length && lane[i].start <= time + ROUNDING_US; ++i) {
      if (categories.includes(lane[i].category)) {
        return lane[i];
      }
      outermost = outermost || lane[i];
    }
  }
  return outermost;
}

const FLOW_ENDS = {
  commit: [['commit'], ['command buffer']],
  wait: [['command buffer'], ['wait']],
  event: [['event'], ['event']],
};

function addFlows(model, tracks, ends) {
  const starts = new Map();
  for (const end of ends) {
    if (end.kind === 's') {
      starts.set(end.id, end);
    }
  }
  for (const end of ends) {
    const start = end.kind === 'f' && starts.get(end.id);
    if (!start) {
      continue;  // one that began before the timeline, or on the host
    }
    const [from, to] = FLOW_ENDS[end.name] || [[], []];
    const flow = {
      name: end.name, start: start.time, end: end.time,
      from: sliceAt(tracks.get(start.track), start.time, from),
      to: sliceAt(tracks.get(end.track), end.time, to),
    };
    if (flow.from && flow.to) {
      flow.from.flows.push(flow);
      flow.to.flows.push(flow);
      model.flows.push(flow);
    }
  }
  model.flows.sort((a, b) => a.start - b.start);
}

function groupOf(track) {
  if (track.id >= FIRST_ROW) {
    return QUEUE;
  }
  const works = track.slices.filter((s) => s.category === 'work').length;
  return works * 2 > track.slices.length ? DEVICE : PROGRAM;
}

// {tracks, counters, flows, slices, end, program}
function makeModel(events) {
  const model = {tracks: [], counters: [], flows: [], program: ''};
  const tracks = new Map(), counters = new Map(), ends = [];
  const trackOf = (event) => {
    const id = Number(event.tid) || 0;
    if (!tracks.has(id)) {
      tracks.set(id, {id, name: `thread ${id}`, slices: [], lanes: [],
                      sort: id});
    }
    return tracks.get(id);
  };
  let zero = Infinity;
  for (const event of events) {
    if (typeof event.ts === 'number') {
      zero = Math.min(zero, event.ts);
    }
  }
  const sinceZero = (time) => Math.round((time - zero) * 1000) / 1000;
  events.forEach((event, order) => {
    if (event.ph === 'M') {
      if (event.name === 'thread_name') {
        trackOf(event).name = String(event.args.name);
      } else if (event.name === 'thread_sort_index') {
        trackOf(event).sort = Number(event.args.sort_index);
      } else if (event.name === 'process_name') {
        model.program = String(event.args.name);
      }
      return;
    }
    const start = sinceZero(event.ts);
    if (event.ph === 'X' || event.ph === 'i') {
      const track = trackOf(event), length = event.dur || 0;
      track.slices.push({
        track, order, start, length, end: start + length,
        name: String(event.name), category: String(event.cat || ''),
        args: event.args || {}, flows: [], depth: 0,
        isInstant: event.ph === 'i',
      });
    } else if (event.ph === 'C') {
      for (const [unit, value] of Object.entries(event.args || {})) {
        const name = `${event.name}: ${unit}`;
        if (!counters.has(name)) {
          counters.set(name, {name, unit, points: [], most: 0});
        }
        const counter = counters.get(name);
        counter.points.push({time: start, value: Number(value)});
        counter.most = Math.max(counter.most, Number(value));
      }
    } else if (event.ph === 's' || event.ph === 'f') {
      ends.push({kind: event.ph, id: String(event.id), time: start,
                 name: String(event.name), track: Number(event.tid) || 0});
    }
  });
  for (const track of tracks.values()) {
    layOut(track);
    track.group = groupOf(track);
  }
  model.tracks = [...tracks.values()].filter((t) => t.slices.length)
    .sort((a, b) => a.group - b.group || a.sort - b.sort);
  for (const counter of counters.values()) {
    counter.points.sort((a, b) => a.time - b.time);
    model.counters.push(counter);
  }
  addFlows(model, tracks, ends);
  model.slices = model.tracks.flatMap((t) => t.slices)
    .sort((a, b) => a.start - b.start || a.depth - b.depth);
  model.end = Math.max(1, ...model.counters.map((c) => c.points.at(-1).time));
  for (const slice of model.slices) {
    model.end = Math.max(model.end, slice.end);
  }
  return model;
}

// Rows of a table: slices of one name, the longest sum first.
function totalsOf(slices) {
  const totals = new Map();
  for (const slice of slices) {
    const key = `${slice.category}\n${slice.name}`;
    const total = totals.get(key) || {
      name: slice.name, category: slice.category, count: 0, time: 0, most: 0,
      bytes: 0, longest: slice,
    };
    ++total.count;
    total.time += slice.length;
    total.bytes += Number(slice.args['bytes bound'] || slice.args.bytes || 0);
    if (slice.length > total.most) {
      total.most = slice.length;
      total.longest = slice;
    }
    totals.set(key, total);
  }
  return [...totals.values()].sort((a, b) => b.time - a.time);
}

function matches(slice, words) {
  const text = [slice.name, slice.category, ...argumentTexts(slice.args)
    .flat()].join(' ').toLowerCase();
  return words.every((word) => text.includes(word));
}

// --- Texts --------------------------------------------------------------------

function timeText(us, digits = 3) {
  const size = Math.abs(us);
  const [scale, unit] = size >= 1e6 ? [1e6, 's'] : size >= 1e3 ? [1e3, 'ms']
    : size >= 1 || us === 0 ? [1, '\u00b5s'] : [1e-3, 'ns'];
  return `${(us / scale).toLocaleString('en', {
    maximumFractionDigits: digits, useGrouping: false})} ${unit}`;
}

function bytesText(bytes) {
  const units = ['B', 'kB', 'MB', 'GB', 'TB'];
  let unit = 0;
  while (bytes >= 1000 && unit < units.length - 1) {
    bytes /= 1000;
    ++unit;
  }
  return `${Number(bytes.toPrecision(3))} ${units[unit]}`;
}

function countText(things, name) {
  return `${things.length} ${name}${things.length === 1 ? '' : 's'}`;
}
