// control.js: mouse, keys, search and buttons change the view; a frame is
// painted when something has changed. window.timeline is for scripts.
'use strict';

class Control {
  constructor(model) {
    this.model = model;
    this.painter = new Painter(model);
    this.view = {start: 0, end: model.end, top: 0};
    this.state = {selected: null, found: new Set(), arrows: true, range: null};
    this.matches = [];
    this.match = -1;
    this.select = this.select.bind(this);
    new ResizeObserver(() => this.resize()).observe(canvas);
    dark.addEventListener('change', () => this.change());
    this.listenToMouse();
    this.listenToKeys();
    this.listenToButtons();
    showTotals(model, this.select);
    this.showWhole();
  }

  resize() {
    this.painter.resize();
    this.change();
  }

  change() {
    this.frame = this.frame || requestAnimationFrame(() => {
      this.frame = 0;
      this.painter.paint(this.view, this.state);
    });
  }

  // --- The view ---------------------------------------------------------------

  show(start, end) {
    const least = 0.01, whole = this.model.end;
    const margin = whole * 0.02;
    const length = Math.min(Math.max(end - start, least), whole + 2 * margin);
    start = Math.min(Math.max(start, -margin), whole + margin - length);
    Object.assign(this.view, {start, end: start + length});
    hideTip();
    this.change();
  }

  showWhole() {
    const margin = this.model.end * 0.02;
    this.show(-margin, this.model.end + margin);
  }

  zoom(factor, x = NAMES_WIDTH + this.painter.plotWidth / 2) {
    const {view} = this;
    const at = this.painter.time(view, Math.max(x, NAMES_WIDTH));
    this.show(at - (at - view.start) * factor, at + (view.end - at) * factor);
  }

  move(pixels) {
    const {view} = this;
    const time = pixels * (view.end - view.start) / this.painter.plotWidth;
    this.show(view.start + time, view.end + time);
  }

  scroll(pixels) {
    const most = this.painter.rows.height -
      (this.painter.height - this.painter.top);
    this.view.top = Math.max(0, Math.min(this.view.top + pixels, most));
    hideTip();
    this.change();
  }

  // Brings a slice into view; closer, if it would be too narrow to see.
  reveal(slice) {
    const {view} = this, length = view.end - view.start;
    const least = length * 4 / this.painter.plotWidth;
    if (slice.length < least && !slice.isInstant) {
      const wanted = Math.max(slice.length, 0.001) * 20;
      this.show(slice.start - wanted / 2, slice.end + wanted / 2);
    } else if (slice.end < view.start || slice.start > view.end) {
      this.show(slice.start - length / 2, slice.start + length / 2);
    }
    const place = this.painter.place(this.view, slice);
    if (place.y < this.painter.top || place.y + LANE_HEIGHT >
        this.painter.height) {
      this.scroll(place.y - this.painter.height / 2);
    }
  }

  focusOn(slice) {
    const margin = Math.max(slice.length, 0.01) * 0.1;
    this.show(slice.start - margin, slice.end + margin);
  }

  select(slice, isInView = false) {
    this.state.selected = slice || null;
    this.state.range = null;
    if (slice) {
      showSlice(this.model, slice, this.select);
      if (!isInView) {
        this.reveal(slice);
      }
    } else {
      showTotals(this.model, this.select);
    }
    this.change();
  }

  // --- The mouse --------------------------------------------------------------

  listenToMouse() {
    canvas.addEventListener('wheel', (event) => this.wheel(event),
                            {passive: false});
    canvas.addEventListener('pointerdown', (event) => this.press(event));
    canvas.addEventListener('pointermove', (event) => this.drag(event));
    canvas.addEventListener('pointerup', (event) => this.let(event));
    canvas.addEventListener('pointercancel', () => { this.held = null; });
    canvas.addEventListener('pointerleave', hideTip);
    canvas.addEventListener('dblclick', () => {
      if (this.state.selected) {
        this.focusOn(this.state.selected);
      }
    });
  }

  wheel(event) {
    event.preventDefault();
    const pixels = event.deltaMode === 1 ? 16 : event.deltaMode === 2 ? 400 : 1;
    const x = event.deltaX * pixels, y = event.deltaY * pixels;
    if (event.shiftKey || Math.abs(x) > Math.abs(y)) {
      this.move(x || y);
    } else if (event.ctrlKey || event.offsetX < NAMES_WIDTH) {
      this.scroll(y);
    } else {
      this.zoom(1.002 ** Math.max(-600, Math.min(y, 600)), event.offsetX);
    }
  }

  press(event) {
    if (event.button !== 0) {
      return;
    }
    canvas.focus();
    canvas.setPointerCapture(event.pointerId);
    canvas.classList.add('is-held');
    const time = this.painter.time(this.view, event.offsetX);
    this.held = {
      x: event.offsetX, y: event.offsetY, moved: false,
      kind: event.offsetY < MAP_HEIGHT ? 'map' : event.shiftKey ? 'range'
        : 'plot',
    };
    if (this.held.kind === 'range') {
      this.state.range = {from: time, to: time};
    } else if (this.held.kind === 'map') {
      this.goTo(event.offsetX);
    }
  }

  // The middle of the view to a place of the map.
  goTo(x) {
    const at = (x - NAMES_WIDTH) / this.painter.plotWidth * this.model.end;
    const half = (this.view.end - this.view.start) / 2;
    this.show(at - half, at + half);
  }

  drag(event) {
    const {held} = this, x = event.offsetX, y = event.offsetY;
    if (!held) {
      showTip(this.painter.at(this.view, x, y), x, y);
      return;
    }
    held.moved = held.moved || Math.hypot(x - held.x, y - held.y) > 3;
    if (!held.moved) {
      return;
    }
    if (held.kind === 'map') {
      this.goTo(x);
    } else if (held.kind === 'range') {
      this.state.range.to = this.painter.time(this.view, x);
      this.change();
    } else {
      this.move(held.x - x);
      this.scroll(held.y - y);
      held.x = x;
      held.y = y;
    }
  }

  let(event) {
    const {held} = this;
    this.held = null;
    canvas.classList.remove('is-held');
    if (!held || held.kind === 'map') {
      return;
    }
    if (held.kind === 'range' && held.moved) {
      showRange(this.model, this.state.range, this.select);
    } else if (!held.moved) {
      this.select(this.painter.at(this.view, event.offsetX,
                                  event.offsetY).slice, true);
    }
  }

  // --- Keys and buttons ---------------------------------------------------------

  listenToKeys() {
    const step = 60;
    const keys = {
      ArrowLeft: () => this.move(-step), ArrowRight: () => this.move(step),
      ArrowUp: () => this.scroll(-step), ArrowDown: () => this.scroll(step),
      w: () => this.zoom(0.8), s: () => this.zoom(1.25),
      '+': () => this.zoom(0.8), '=': () => this.zoom(0.8),
      '-': () => this.zoom(1.25), 0: () => this.showWhole(),
      a: () => this.switchArrows(),
      f: () => this.state.selected && this.focusOn(this.state.selected),
      '/': () => this.input.focus(), Escape: () => this.clear(),
      Enter: () => this.next(1),
    };
    document.addEventListener('keydown', (event) => {
      const act = keys[event.key.length === 1 ? event.key.toLowerCase()
        : event.key];
      if (act && !event.ctrlKey && !event.metaKey && !event.altKey &&
          !['INPUT', 'BUTTON'].includes(event.target.tagName)) {
        event.preventDefault();
        act();
      }
    });
  }

  listenToButtons() {
    this.input = document.getElementById('search');
    this.input.addEventListener('input', () => this.search());
    this.input.addEventListener('keydown', (event) => {
      if (event.key === 'Enter') {
        this.next(event.shiftKey ? -1 : 1);
      } else if (event.key === 'Escape') {
        this.clear();
        canvas.focus();
      }
    });
    const buttons = {
      before: () => this.next(-1), after: () => this.next(1),
      closer: () => this.zoom(0.5), farther: () => this.zoom(2),
      whole: () => this.showWhole(), arrows: () => this.switchArrows(),
    };
    for (const [name, act] of Object.entries(buttons)) {
      document.getElementById(name).addEventListener('click', act);
    }
  }

  switchArrows() {
    this.state.arrows = !this.state.arrows;
    document.getElementById('arrows').setAttribute('aria-pressed',
                                                   this.state.arrows);
    this.change();
  }

  clear() {
    this.input.value = '';
    this.search();
    this.select(null);
  }

  search() {
    const words = this.input.value.toLowerCase().split(/\s+/).filter(Boolean);
    this.matches = words.length
      ? this.model.slices.filter((slice) => matches(slice, words)) : [];
    this.state.found = new Set(this.matches);
    this.match = -1;
    this.showFound(words.length > 0);
    this.change();
  }

  showFound(isAsked) {
    document.getElementById('found').textContent = !isAsked ? ''
      : this.match < 0 ? `${this.matches.length} found`
      : `${this.match + 1} of ${this.matches.length}`;
  }

  next(step) {
    const count = this.matches.length;
    if (count) {
      this.match = this.match < 0 ? (step > 0 ? 0 : count - 1)
        : (this.match + step + count) % count;
      this.select(this.matches[this.match]);
      this.showFound(true);
    }
  }
}

function start() {
  let model;
  try {
    model = makeModel(readEvents(document.getElementById('events')
      .textContent));
  } catch (error) {
    const note = element('div', `This is no timeline: ${error.message}`);
    note.id = 'damage';
    document.getElementById('stage').replaceChildren(note);
    return;
  }
  const name = model.program || 'Timeline';
  document.title = `${name}: timeline`;
  document.getElementById('title').textContent = name;
  document.getElementById('facts').textContent =
    [timeText(model.end), countText(model.slices, 'slice'),
     countText(model.tracks, 'track'), countText(model.flows, 'arrow')]
      .join(', ');
  window.timeline = new Control(model);
}

start();
