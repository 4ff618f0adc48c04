// A story: the page stops at its moments, with a sentence each, and time passes between them.

import { button } from "./player.js";
import { fill, made } from "./text.js";

const GLIDE = 1200; // milliseconds from one moment to the next
const SWIPE = 40; // pixels of a swipe

export class Teller {
  // `show` is called with the views of a moment before the page goes there.
  constructor(moments, player, show) {
    Object.assign(this, { moments, player, show, place: 0, gliding: 0 });
    this.still = matchMedia("(prefers-reduced-motion: reduce)");
    this.build();
  }

  build() {
    this.element = made("div", "story");
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "story");
    this.back = button("back", "moment before (left arrow)", () => this.step(-1));
    this.next = button("forward", "next moment (space)", () => this.step(1));
    this.sentence = made("p", "sentence");
    this.sentence.setAttribute("role", "status");
    this.count = made("span", "count");
    // All sentences lie in one place, so that it is as high as the highest and nothing shifts.
    this.room = made("div", "sentences");
    this.sizes = this.moments.map((moment) => {
      const size = made("p", "size", moment.text);
      size.setAttribute("aria-hidden", "true");
      return size;
    });
    this.room.append(this.sentence, ...this.sizes);
    const turn = made("div", "turn");
    turn.append(this.count, this.next);
    this.element.append(this.back, this.room, turn);
    let from = null;
    this.element.addEventListener("pointerdown", (event) => { from = event.clientX; });
    this.element.addEventListener("pointerup", (event) => {
      const by = from === null ? 0 : event.clientX - from;
      from = null;
      if (Math.abs(by) > SWIPE) this.step(by < 0 ? 1 : -1);
    });
  }

  step(by) {
    this.go(this.place + by);
  }

  // To a moment of the story; time passes on the way unless the reader prefers less motion.
  go(place, still = false) {
    if (place < 0 || place >= this.moments.length) return;
    const { text, at, kinds } = this.moments[place];
    this.place = place;
    fill(this.sentence, text);
    this.count.textContent = `${place + 1} / ${this.moments.length}`;
    this.count.setAttribute("aria-label", `moment ${place + 1} of ${this.moments.length}`);
    this.back.disabled = place === 0;
    this.next.disabled = place + 1 === this.moments.length;
    cancelAnimationFrame(this.gliding);
    this.player.stop();
    this.show(kinds);
    if (still || this.still.matches) this.player.seek(at);
    else this.glide(this.player.moment, at);
  }

  glide(from, to) {
    let begun = null;
    let seen = from;
    const tick = (now) => {
      // The reader has moved the slider, or plays.
      if (this.player.playing || this.player.moment !== seen) return;
      begun ??= now;
      const share = Math.min((now - begun) / GLIDE, 1);
      const eased = share * share * (3 - 2 * share);
      seen = share === 1 ? to : Math.round(from + eased * (to - from));
      if (seen !== this.player.moment) this.player.to(seen);
      if (share < 1) this.gliding = requestAnimationFrame(tick);
    };
    this.gliding = requestAnimationFrame(tick);
  }

  // Whether a key was one of the story's.
  key(event) {
    const acts = {
      " ": () => this.step(event.shiftKey ? -1 : 1),
      ArrowRight: () => this.step(1),
      ArrowLeft: () => this.step(-1),
      Home: () => this.go(0),
      End: () => this.go(this.moments.length - 1),
      p: () => this.player.toggle(),
    };
    if (!acts[event.key]) return false;
    acts[event.key]();
    return true;
  }
}
