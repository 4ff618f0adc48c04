// One figure on the page: its panels, what moves them, and what is read of them.

import { layOut } from "./layout.js";
import { NoteList } from "./notes.js";
import { pieced } from "./numbers.js";
import { PanelView } from "./panel.js";
import { Player, button } from "./player.js";
import { Teller } from "./story.js";
import { fill, made, plainText } from "./text.js";
import { reading } from "./traces.js";

export class Book {
  constructor(data) {
    Object.assign(this, data);
    this.pointed = null; // the view that the pointer is in, and where
    this.main = document.querySelector("main");
    this.marked = this.rows.map((row) => new Set(row.pins));
    this.hovered = null;
    this.system = matchMedia("(prefers-color-scheme: dark)");
    this.chosen = this.start === "system" ? null : this.start;
    this.closing = new AbortController();
    this.player = new Player(this.moments.length, () => this.draw(), !this.story);
    this.visible = this.kinds;
    this.build();
    if (this.story) this.tellStory();
    if (this.notes) this.listNotes();
    this.setTheme();
    this.listen();
    this.resize();
    this.teller?.go(0, true);
  }

  // The story's sentences above the controls; each moment has views of its own.
  tellStory() {
    this.teller = new Teller(this.story, this.player, (kinds) => this.showViews(kinds));
    this.player.element.prepend(this.teller.element);
  }

  // The notes of the runs below the controls.
  listNotes() {
    const names = this.rows.map((row) => row.name);
    this.noteList = new NoteList(this.notes, names, this.player);
    this.player.element.append(this.noteList.element);
  }

  showViews(kinds) {
    if (kinds.join() === this.visible.join()) return;
    this.visible = kinds;
    for (const view of this.panels) view.element.hidden = !kinds.includes(view.kind);
    this.resize();
  }

  build() {
    this.header = made("header");
    this.header.append(made("h1", "", this.title), button("theme", "light or dark (D)", () => this.turn()));
    const runs = made("div", "runs");
    this.panels = [];
    this.heads = [];
    for (const row of this.rows) {
      const section = runs.appendChild(made("section"));
      section.setAttribute("aria-label", row.name);
      const head = section.appendChild(made("h2"));
      head.append(made("span", "", row.heading));
      this.heads.push(head.appendChild(made("span", "values")));
      const grid = section.appendChild(made("div", "grid"));
      for (const kind of this.kinds) {
        const view = new PanelView(row.panels[kind], kind, row);
        view.number = this.rows.indexOf(row);
        this.panels.push(view);
        grid.append(view.element);
      }
    }
    this.footer = made("footer");
    this.note = made("div", "note");
    this.note.hidden = true;
    this.live = made("p", "live");
    this.live.setAttribute("role", "status");
    this.main.append(this.header, runs, this.player.element, this.footer, this.note, this.live);
  }

  get dark() {
    return (this.chosen ?? (this.system.matches ? "dark" : "light")) === "dark" ? 1 : 0;
  }

  // The panels that are not hidden.
  get shown() {
    return this.panels.filter((view) => !view.element.hidden);
  }

  turn() {
    this.chosen = this.dark ? "light" : "dark";
    this.setTheme();
    this.draw();
  }

  setTheme() {
    const root = document.documentElement;
    for (const [name, colour] of Object.entries(this.themes[this.dark])) {
      root.style.setProperty(`--${name}`, colour);
    }
    root.style.colorScheme = this.dark ? "dark" : "light";
    this.footer.replaceChildren(...this.caption[this.dark].map((text) => made("p", "", text)));
    for (const view of this.panels) {
      view.dark = this.dark;
      view.drawKey(this.dark);
      view.based = "";
    }
  }

  resize() {
    const { main, rows, visible: kinds, shown: panels, heads, footer, header, player } = this;
    const parts = { caption: footer, title: header, controls: player.element };
    this.ratio = window.devicePixelRatio;
    layOut({ main, rows, kinds, panels, heads, ...parts });
    this.draw();
  }

  draw() {
    if (this.ratio !== window.devicePixelRatio) {
      this.resize();
      return;
    }
    const { moment } = this.player;
    for (const view of this.shown) this.drawView(view);
    const text = plainText(this.moments[moment]);
    fill(this.player.clock, this.moments[moment]);
    this.player.tell(text);
    this.noteList?.tell(moment);
    const values = this.rows.map((row, k) => this.tellMargins(row, k, moment));
    // What is read aloud waits until the figure rests.
    if (!this.player.playing) this.live.textContent = [text, ...values].join("; ");
    if (this.pointed) this.showNote();
    if (moment !== this.reported) this.tellHolder?.();
    this.reported = moment;
  }

  drawView(view) {
    const { number } = view;
    const stop = this.rows[number].at[this.player.moment];
    view.draw(stop, this.themes[this.dark], this.dark, this.rings(number));
  }

  rings(number) {
    const here = this.hovered?.number === number ? [this.hovered.node] : [];
    return [...new Set([...this.marked[number], ...here])];
  }

  // The margins of a run at a moment, beside its heading.
  tellMargins(row, k, moment) {
    const panel = row.panels.margins;
    if (!panel) return row.name;
    const point = panel.counts[row.at[moment]] - 1;
    const curves = panel.curves.filter((curve) => !curve.ends);
    curves.sort((a, b) => (b.dash === "solid") - (a.dash === "solid")); // the hard margin first
    const values = curves.flatMap((curve, place) => [
      ...(place ? [[", ", ""]] : []),
      ...curve.name,
      ...pieced(` ${reading(curve, point)}`),
    ]);
    fill(this.heads[k], values);
    return `${row.name}: ${plainText(values)}`;
  }

  listen() {
    const { signal } = this.closing;
    this.system.addEventListener("change", () => {
      this.setTheme();
      this.draw();
    }, { signal });
    const sizes = new ResizeObserver(() => this.resize());
    sizes.observe(document.documentElement);
    signal.addEventListener("abort", () => sizes.disconnect());
    this.watchRatio();
    document.addEventListener("keydown", (event) => this.onKey(event), { signal });
    for (const view of this.panels) {
      view.ink.addEventListener("pointermove", (event) => this.onMove(view, event));
      view.ink.addEventListener("pointerleave", () => this.leave());
      view.ink.addEventListener("pointerdown", (event) => this.onDown(view, event));
    }
  }

  // On a screen of another resolution the size stays, and canvases need other pixels.
  watchRatio() {
    const { signal } = this.closing;
    const ratio = matchMedia(`(resolution: ${window.devicePixelRatio}dppx)`);
    ratio.addEventListener("change", () => {
      this.draw();
      this.watchRatio();
    }, { once: true, signal });
  }

  // A notebook around the page hears of moments, and asks for one; of nothing else.
  listenToHolder() {
    const holder = window.parent;
    if (holder === window) return;
    this.tellHolder = (more = {}) =>
      holder.postMessage({ marginscope: { moment: this.player.moment, ...more } }, "*");
    window.addEventListener("message", ({ source, data }) => {
      const moment = data?.marginscope?.moment;
      if (source === holder && Number.isInteger(moment)) this.player.go(moment);
    }, { signal: this.closing.signal });
    this.tellHolder({ ready: true });
  }

  // Give the page to another figure.
  close() {
    this.player.stop();
    this.closing.abort();
    this.main.replaceChildren();
  }

  onKey(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const on = event.target;
    // A button is pressed by the space bar, and the slider has keys of its own.
    if (event.key === " " && on instanceof HTMLButtonElement) return;
    if (on === this.player.slider && /^(Arrow|Page|Home|End)/.test(event.key)) return;
    if (event.key.toLowerCase() === "d") this.turn();
    else if (event.key === "Escape") this.unpin();
    else if (!this.teller?.key(event) && !this.player.key(event)) return;
    event.preventDefault();
  }

  unpin() {
    for (const pins of this.marked) pins.clear();
    this.draw();
  }

  onMove(view, event) {
    const { offsetX: x, offsetY: y } = event;
    if (view.traced && event.buttons & 1) {
      this.seek(view, x);
      return;
    }
    const node = view.nodeAt(x, y);
    const before = this.hovered;
    this.hovered = node === null ? null : { number: view.number, node };
    this.pointed = { view, x, y, across: event.clientX, down: event.clientY };
    view.ink.style.cursor = node !== null ? "pointer" : "";
    // No more than what changes: the figure may be playing meanwhile.
    if (view.traced) this.drawView(view);
    else if (before?.node !== node || before === null) this.drawNodes(view.number);
    this.showNote();
  }

  drawNodes(number) {
    for (const view of this.shown) {
      if (view.number === number && !view.traced) this.drawView(view);
    }
  }

  leave() {
    this.hovered = null;
    this.pointed = null;
    this.note.hidden = true;
    this.draw();
  }

  onDown(view, event) {
    const node = view.nodeAt(event.offsetX, event.offsetY);
    if (node !== null) {
      const pins = this.marked[view.number];
      if (!pins.delete(node)) pins.add(node);
      this.draw();
    } else if (view.traced) {
      view.ink.setPointerCapture(event.pointerId);
      this.seek(view, event.offsetX);
    }
  }

  // To the moment at a place of a panel of curves.
  seek(view, x) {
    const { at } = this.rows[view.number];
    const point = view.pointAt(x);
    let moment = 0;
    while (moment + 1 < at.length && view.panel.counts[at[moment + 1]] <= point) moment += 1;
    this.player.seek(moment);
  }

  // What the pointer is at, which changes as the figure plays below it.
  showNote() {
    const { view, x, y, across, down } = this.pointed;
    const row = this.rows[view.number];
    let lines = null;
    if (view.traced) {
      const near = view.traceAt(x, y);
      if (near) view.drawNear(near, this.themes[this.dark]);
      lines = near?.lines ?? null;
    } else if (this.hovered) {
      const { node } = this.hovered;
      const nodes = this.shown.filter((one) => one.number === view.number && !one.traced);
      lines = [[[`neuron ${node}`, ""]], ...nodes.flatMap((one) => one.readNode(node))];
    } else {
      lines = view.readPlace(x, y);
    }
    this.note.hidden = lines === null;
    if (lines === null) return;
    this.note.replaceChildren(made("b", "", row.heading), ...lines.map((line) => made("div", "", line)));
    const { offsetWidth: wide, offsetHeight: high } = this.note;
    const left = across + 14 + wide > window.innerWidth ? across - 14 - wide : across + 14;
    const top = Math.min(down + 14, window.innerHeight - high - 4);
    this.note.style.transform = `translate(${Math.max(left, 4)}px, ${Math.max(top, 4)}px)`;
  }
}
