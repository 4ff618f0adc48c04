// How large panels are: so many in a line that they become as large as the window lets them.

const HEAD = 44; // pixels of a panel's title and key
const LEAST = 180; // height of a panel, below which the page is scrolled instead
const LEAST_OF_STRIPS = 230; // the same of curves in strips, whose names need room
const NARROWEST = 165; // width of a panel that can be read
const MOST_WIDENED = 1.5; // of panels in a last line of fewer, which fill it
const COMFORTABLE = 230; // below which the caption is scrolled

// Columns and the height of a panel, for so many runs with so many panels each.
export function arranged(width, height, rows, kinds, heading, least = LEAST) {
  let best = null;
  for (let columns = 1; columns <= kinds; columns += 1) {
    const lines = rows * Math.ceil(kinds / columns);
    const wide = width / columns;
    if (columns > 1 && wide < NARROWEST) break;
    const high = (height - rows * heading) / lines;
    const score = Math.min(wide, 1.15 * high) - 0.01 * lines;
    if (!best || score > best.score) best = { columns, high, wide, score };
  }
  if (best.high >= least) return best;
  // There is not room for all: as wide as can be read, and scrolled.
  const most = Math.max(1, Math.min(kinds, Math.floor(width / NARROWEST)));
  const columns = Math.ceil(kinds / Math.ceil(kinds / most)); // lines of about as many each
  const wide = width / columns;
  return { columns, wide, high: Math.max(least, Math.min(0.95 * wide + HEAD / 2, 420)) };
}

// Tracks of the grid, and how many of them each panel of a run spans: fewer panels in the last line
// are wider where that leaves no gap.
export function spansOf(kinds, columns) {
  const last = kinds % columns;
  if (!last || columns > MOST_WIDENED * last) return { tracks: columns, spans: Array(kinds).fill(1) };
  const spans = Array.from({ length: kinds }, (_, k) => (k < kinds - last ? last : columns));
  return { tracks: last * columns, spans };
}

// The size of letters in panels so wide and high.
export function lettersOf(wide, high) {
  return Math.min(Math.max(Math.min(wide / 21, high / 19), 10.5), 15);
}

// Give every panel its room, and say how large letters are.
export function layOut(book) {
  const { main, rows, kinds, panels, caption, controls, title, heads } = book;
  const style = getComputedStyle(main);
  const sides = parseFloat(style.paddingLeft) + parseFloat(style.paddingRight);
  const ends = parseFloat(style.paddingTop) + parseFloat(style.paddingBottom);
  const width = main.clientWidth - sides;
  const around = main.offsetTop + title.offsetHeight + controls.offsetHeight + ends;
  const heading = Math.max(26, ...heads.map((values) => values.parentElement.offsetHeight + 4));
  const room = window.innerHeight - around;
  const lines = rows.length;
  const least = kinds.includes("curves") ? LEAST_OF_STRIPS : LEAST;
  const grid = [lines, kinds.length, heading, least];
  let found = arranged(width, room - caption.offsetHeight, ...grid);
  if (found.high < COMFORTABLE) found = arranged(width, room, ...grid);
  const size = lettersOf(found.wide, found.high);
  const { tracks, spans } = spansOf(kinds.length, found.columns);
  main.style.setProperty("--columns", tracks);
  panels.forEach((view, k) => {
    const span = spans[k % kinds.length];
    view.element.style.gridColumn = span > 1 ? `span ${span}` : "";
  });
  main.style.setProperty("--letters", `${size}px`);
  for (const view of panels) {
    view.fitKey();
    const head = view.element.firstElementChild.offsetHeight;
    const wide = Math.floor(view.element.clientWidth);
    view.resize(wide, Math.floor(Math.max(Math.min(found.high, 1.15 * found.wide + head) - head, 90)), size);
    view.plot.style.height = `${view.room.height}px`;
  }
}
