// panel.js: the texts beside the tracks: what is under the mouse, what is
// selected, and tables of totals. Texts of the timeline enter as texts, never
// as markup.
'use strict';

const panel = document.getElementById('panel');
const tip = document.getElementById('tip');
const TABLE_ROWS = 50;

function element(name, text = '', className = '') {
  const made = document.createElement(name);
  made.textContent = text;
  if (className) {
    made.className = className;
  }
  return made;
}

function descriptionOf(slice) {
  const list = element('dl');
  const add = (name, value) => list.append(
    element('dt', name),
    element('dd', value, name === 'error' ? 'is-bad' : ''));
  add('track', slice.track.name);
  add('kind', slice.category);
  add('start', timeText(slice.start, 6));
  add('length', timeText(slice.length, 6));
  for (const [name, value] of argumentTexts(slice.args)) {
    add(name, name.startsWith('bytes') ? `${value} (${bytesText(+value)})`
      : value);
  }
  const bytes = Number(slice.args['bytes bound'] || slice.args.bytes || 0);
  if (bytes && slice.length) {
    add('rate', `${bytesText(bytes / slice.length * 1e6)}/s`);
  }
  return list;
}

function showTip(found, x, y) {
  tip.replaceChildren();
  if (found.slice) {
    tip.append(element('b', found.slice.name), descriptionOf(found.slice));
  } else if (found.counter) {
    tip.append(element('b', found.counter.name),
               element('div', bytesText(found.value)));
  }
  tip.style.display = tip.childNodes.length ? 'block' : 'none';
  const stage = tip.parentElement;
  tip.style.left =
    `${Math.max(0, Math.min(x + 14, stage.clientWidth - tip.offsetWidth))}px`;
  tip.style.top = `${Math.max(0, y + 16 + tip.offsetHeight > stage.clientHeight
    ? y - tip.offsetHeight - 8 : y + 16)}px`;
}

function hideTip() {
  tip.style.display = 'none';
}

function totalsTable(slices, select) {
  const table = element('table'), head = element('tr');
  const all = slices.reduce((sum, slice) => sum + slice.length, 0);
  for (const name of ['sum', '%', 'count', 'mean', 'longest', 'per second',
                      'name']) {
    head.append(element('th', name));
  }
  table.append(head);
  for (const total of totalsOf(slices).slice(0, TABLE_ROWS)) {
    const row = element('tr', '', 'is-link');
    for (const text of [
      timeText(total.time), (100 * total.time / (all || 1)).toFixed(1),
      total.count, timeText(total.time / total.count), timeText(total.most),
      total.bytes && total.time
        ? `${bytesText(total.bytes / total.time * 1e6)}/s` : '', total.name]) {
      row.append(element('td', String(text)));
    }
    row.title = 'Select the longest of them';
    row.addEventListener('click', () => select(total.longest));
    table.append(row);
  }
  return table;
}

function section(title, ...parts) {
  const made = element('section');
  made.append(element('h2', title), ...parts);
  return made;
}

function helpSection() {
  const help = element('section');
  help.id = 'help';
  help.append(element('h2', 'Keys and mouse'));
  for (const [keys, what] of [
    ['wheel, W S, + -', 'zoom'],
    ['drag, arrow keys, Shift+wheel', 'move'],
    ['Ctrl+wheel, wheel over names', 'scroll tracks'],
    ['Shift+drag', 'measure a range'], ['click', 'select'],
    ['F, double click', 'zoom to what is selected'],
    ['/ then Enter', 'search'], ['A', 'arrows'], ['0', 'everything'],
    ['Escape', 'clear'],
  ]) {
    const line = element('div');
    line.append(element('kbd', keys), ` ${what}`);
    help.append(line);
  }
  return help;
}

function showTotals(model, select) {
  const of = (category) => model.slices.filter((s) => s.category === category);
  const commands = of('command');
  panel.replaceChildren(
    commands.length
      ? section('Commands on all queues', totalsTable(commands, select))
      : section('No commands in this timeline'),
    section('Compilation, commits and waits', totalsTable(
      model.slices.filter((s) => ['compile', 'commit', 'wait']
        .includes(s.category)), select)), helpSection());
}

function showRange(model, range, select) {
  const start = Math.min(range.from, range.to);
  const end = Math.max(range.from, range.to);
  const inside = model.slices.filter((s) => s.category === 'command' &&
    s.start < end && s.end > start);
  panel.replaceChildren(section(
    `${timeText(end - start)}, from ${timeText(start, 6)}: ` +
    countText(inside, 'command'), totalsTable(inside, select)));
}

function flowLinks(slice, select) {
  const parts = slice.flows.map((flow) => {
    const other = flow.from === slice ? flow.to : flow.from;
    const line = element('div', flow.from === slice ? '\u2192 ' : '\u2190 ');
    const link = element('button', `${flow.name}: ${other.name}, ` +
      other.track.name, 'link');
    link.addEventListener('click', () => select(other));
    line.append(link);
    return line;
  });
  return parts.length ? [section('Arrows', ...parts)] : [];
}

function showSlice(model, slice, select) {
  const same = model.slices.filter((s) => s.name === slice.name &&
    s.category === slice.category);
  panel.replaceChildren(
    section(slice.name, descriptionOf(slice)), ...flowLinks(slice, select),
    section(`All of this name (${same.length})`, totalsTable(same, select)));
}
