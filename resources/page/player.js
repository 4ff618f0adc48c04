// The controls: play, steps, speed, loop, the slider and the keys that do the same.

import { SVG, made } from "./text.js";

const SECONDS = 10; // of a whole run, as in the window
const SPEEDS = [0.25, 0.5, 1, 2, 3, 4, 5, 6, 7, 8, 9];
const ICONS = {
  play: "M5 3v14l12-7z",
  pause: "M5 3h3.5v14H5zM11.500 3H15v14h-3.500z",
  back: "M12.500 4v12L4.500 10zM13.500 4h2v12h-2z",
  forward: "M7.500 4v12l8-6zM4.500 4h2v12h-2z",
  loop: "M10 3.500V1L14 4.500 10 8V5.500A4.500 4.500 0 1 0 14.500 10h2A6.500 6.500 0 1 1 10 3.500z",
  theme: "M10 2a8 8 0 1 0 0 16zM10 2a8 8 0 0 1 0 16v-1.500a6.500 6.500 0 0 0 0-13z",
};

export function button(icon, label, act) {
  const element = made("button");
  element.type = "button";
  showIcon(element, icon, label);
  element.addEventListener("click", act);
  return element;
}

function showIcon(element, icon, label) {
  const svg = document.createElementNS(SVG, "svg");
  svg.setAttribute("viewBox", "0 0 20 20");
  svg.setAttribute("aria-hidden", "true");
  svg.appendChild(document.createElementNS(SVG, "path")).setAttribute("d", ICONS[icon]);
  element.replaceChildren(svg);
  element.setAttribute("aria-label", label);
  element.title = label;
}

// What the figure is at: a moment, and whether and how fast time goes on.
export class Player {
  // `keyed`: space and arrows are the player's, and not those of a story.
  constructor(count, show, keyed = true) {
    Object.assign(this, { count, show, keyed, moment: count - 1, playing: false, speed: 1, loop: false });
    this.place = this.moment;
    this.tick = this.tick.bind(this);
    this.build();
  }

  build() {
    this.element = made("div", "controls");
    this.element.setAttribute("role", "group");
    this.element.setAttribute("aria-label", "playing");
    const step = (by) => () => this.go(this.moment + by);
    const named = (words, key) => (this.keyed ? `${words} (${key})` : words);
    this.names = { play: named("play", "space"), pause: named("pause", "space") };
    this.play = button("play", this.names.play, () => this.toggle());
    const back = button("back", named("one frame back", "left arrow"), step(-1));
    const forward = button("forward", named("one frame on", "right arrow"), step(1));
    const slower = made("button", "", "\u2212");
    const faster = made("button", "", "+");
    this.rate = made("output", "rate");
    for (const [element, by, words] of [[slower, -1, "slower (-)"], [faster, 1, "faster (+)"]]) {
      element.type = "button";
      element.title = words;
      element.setAttribute("aria-label", words);
      element.addEventListener("click", () => this.faster(by));
    }
    this.looping = button("loop", "begin again at the end (L)", () => this.setLoop(!this.loop));
    this.clock = made("output", "clock");
    this.slider = made("input");
    Object.assign(this.slider, { type: "range", min: 0, max: this.count - 1, step: 1 });
    this.slider.value = this.moment; // after its ends, or it would be cut
    this.slider.setAttribute("aria-label", "time");
    this.slider.addEventListener("input", () => this.seek(Number(this.slider.value)));
    this.number = made("span", "number");
    const speed = made("span", "speed");
    speed.append(slower, this.rate, faster);
    this.element.append(back, this.play, forward, this.slider, this.clock, this.number, speed);
    this.element.append(this.looping);
    this.setSpeed(1);
    this.setLoop(false);
  }

  // The moment and its text.
  tell(text) {
    this.slider.value = this.moment;
    this.slider.setAttribute("aria-valuetext", `${text}, frame ${this.moment + 1} of ${this.count}`);
    this.number.textContent = `${this.moment + 1} / ${this.count}`;
  }

  setSpeed(speed) {
    this.speed = speed;
    this.rate.textContent = `${{ 0.25: "\u00bc", 0.5: "\u00bd" }[speed] ?? speed}\u00d7`;
    this.rate.setAttribute("aria-label", `speed ${speed}`);
  }

  faster(by) {
    const at = SPEEDS.indexOf(this.speed) + by;
    this.setSpeed(SPEEDS[Math.min(Math.max(at, 0), SPEEDS.length - 1)]);
  }

  setLoop(loop) {
    this.loop = loop;
    this.looping.setAttribute("aria-pressed", String(loop));
  }

  // To a moment, and stay there.
  seek(moment) {
    this.stop();
    this.to(moment);
  }

  // To a moment, and go on playing from there.
  go(moment) {
    this.seek(Math.min(Math.max(moment, 0), this.count - 1));
  }

  to(moment) {
    this.moment = moment;
    this.place = moment;
    this.show(moment);
  }

  toggle() {
    if (this.playing) this.stop();
    else this.start();
  }

  start() {
    if (this.count < 2) return;
    if (this.moment === this.count - 1) this.to(0);
    this.playing = true;
    showIcon(this.play, "pause", this.names.pause);
    this.before = null;
    requestAnimationFrame(this.tick);
  }

  stop() {
    if (!this.playing) return;
    this.playing = false;
    showIcon(this.play, "play", this.names.play);
    this.show(this.moment);
  }

  tick(now) {
    if (!this.playing) return;
    // A page that was hidden, or a slow drawing, does not jump.
    const passed = this.before === null ? 0 : Math.min(now - this.before, 100);
    this.before = now;
    this.place += (passed / 1000) * this.speed * (this.count / SECONDS);
    const end = this.count - 1;
    if (this.place >= end && this.moment === end) {
      if (!this.loop) {
        this.stop();
        return;
      }
      this.place = 0;
    }
    const moment = Math.min(Math.floor(this.place), end);
    if (moment !== this.moment) {
      this.moment = moment;
      this.show(moment);
    }
    requestAnimationFrame(this.tick);
  }

  // Whether a key was one of the player's.
  key(event) {
    const acts = {
      " ": () => this.toggle(),
      ArrowLeft: () => this.go(this.moment - 1),
      ArrowRight: () => this.go(this.moment + 1),
      PageDown: () => this.go(this.moment - Math.ceil(this.count / 20)),
      PageUp: () => this.go(this.moment + Math.ceil(this.count / 20)),
      Home: () => this.go(0),
      End: () => this.go(this.count - 1),
      "+": () => this.faster(1),
      "=": () => this.faster(1),
      "-": () => this.faster(-1),
      l: () => this.setLoop(!this.loop),
    };
    if (/^[1-9]$/.test(event.key)) this.setSpeed(Number(event.key));
    else if (acts[event.key]) acts[event.key]();
    else return false;
    return true;
  }
}
