// The viewer: takes a run file, has a worker read it, and gives what it answers to a figure.

import { Book } from "./book.js";
import { made } from "./text.js";

const MOST_BYTES = 500_000_000; // of a file: SQLite holds it in memory beside the figure
const PATIENCE = 20_000; // milliseconds without a word of the worker, until it is ended
const LATE = "reading takes longer than for any run file";
const FRESH = "get a fresh copy of the file or record the run again";
const OLD =
  "This browser cannot read run files here: it lacks WebAssembly, DecompressionStream or workers; " +
  "a current version of any browser has them.";
const ADVICE = "drop a run file (.msrun) here, or choose one";

class Viewer {
  constructor(module, script, rules) {
    Object.assign(this, { module, script, rules, book: null, worker: null, timer: 0, number: 0 });
    this.main = document.querySelector("main");
    this.bar = document.querySelector("#open");
    this.words = document.querySelector("#words");
    this.facts = document.querySelector("#facts");
    this.input = document.querySelector("#file");
    this.choose = document.querySelector("#choose");
    this.next = this.prepare();
    this.listen();
    this.say(`To begin, ${ADVICE}. Nothing leaves this computer.`);
    this.openLink();
  }

  listen() {
    this.choose.addEventListener("click", () => this.input.click());
    this.input.addEventListener("change", () => {
      const [file] = this.input.files;
      if (file) this.openFile(file);
      this.input.value = ""; // the same file again is a change too
    });
    const over = (event) => {
      event.preventDefault();
      document.body.classList.toggle("dropping", event.type === "dragover");
    };
    for (const name of ["dragover", "dragleave"]) document.addEventListener(name, over);
    document.addEventListener("drop", (event) => {
      over(event);
      const files = [...event.dataTransfer.files];
      const file = files.find((one) => one.name.endsWith(".msrun")) ?? files[0];
      if (file) this.openFile(file);
      else this.refuse("What was dropped is not a file; drop a run file (.msrun).");
    });
    globalThis.addEventListener("hashchange", () => this.openLink());
  }

  say(text, isError = false) {
    this.words.textContent = text;
    this.bar.classList.toggle("wrong", isError);
  }

  // A sentence in place of any figure.
  refuse(sentence) {
    this.end();
    this.close();
    this.say(sentence, true);
    document.body.dataset.state = "refused";
  }

  close() {
    this.book?.close();
    this.book = null;
    this.facts.replaceChildren();
    this.facts.hidden = true;
    document.body.classList.remove("shown");
  }

  end() {
    clearTimeout(this.timer);
    this.worker?.terminate();
    this.worker = null;
    this.next ??= this.prepare();
  }

  async openFile(file) {
    const own = this.begin(file.name);
    if (file.size > MOST_BYTES) {
      this.refuse(`${file.name} has ${Math.round(file.size / 1e6)} MB, more than the ` +
        `${MOST_BYTES / 1e6} MB that this page opens; open it in Marginscope.`);
      return;
    }
    let bytes;
    try {
      bytes = await file.arrayBuffer();
    } catch {
      if (own === this.number) this.refuse(`${file.name} cannot be read; is it a folder, or open in another program?`);
      return;
    }
    if (own === this.number) this.read(bytes, file.name);
  }

  begin(name) {
    this.end();
    this.number += 1;
    document.body.dataset.state = "reading";
    this.say(`Reading ${name} ...`);
    return this.number;
  }

  // #run=ADDRESS, of a file on the server that this page comes from.
  async openLink() {
    const asked = new URLSearchParams(location.hash.slice(1)).get("run");
    if (!asked) return;
    let address = null;
    try {
      address = new URL(asked, location.href);
    } catch {
      // refused below
    }
    if (location.protocol === "file:") {
      this.refuse(`A page opened from a disk may not read other files by a link; ${ADVICE}.`);
      return;
    }
    const near = address !== null && /^https?:$/.test(address.protocol) &&
      address.origin === location.origin && !address.username && !address.password;
    if (!near) {
      this.refuse("The link names a run on another server, or no address; this page opens only " +
        `files of its own server: ${ADVICE}.`);
      return;
    }
    const name = decodeURIComponent(address.pathname.split("/").at(-1)) || "the run";
    const own = this.begin(name);
    const bytes = await this.download(address, name, own);
    if (bytes !== null && own === this.number) this.read(bytes, name);
  }

  async download(address, name, own) {
    const fail = (what) => {
      if (own === this.number) this.refuse(`${name} ${what}; check the link, or ${ADVICE}.`);
      return null;
    };
    try {
      const answer = await fetch(address, { credentials: "same-origin", redirect: "error" });
      if (!answer.ok) return fail(`cannot be loaded: the server answers ${answer.status}`);
      const parts = [];
      let size = 0;
      for (const reader = answer.body.getReader(); ;) {
        const { done, value } = await reader.read();
        if (done) break;
        size += value.length;
        if (size > MOST_BYTES) {
          reader.cancel();
          return fail(`has more than the ${MOST_BYTES / 1e6} MB that this page opens`);
        }
        parts.push(value);
      }
      return await new Blob(parts).arrayBuffer();
    } catch {
      return fail("cannot be loaded");
    }
  }

  read(bytes, shown) {
    const name = shown.replace(/[\p{C}\p{Z}]/gu, " ").slice(0, 120);
    if (bytes.byteLength === 0) {
      this.refuse(`${name} is empty: its recording ended before the first frame; record the run again.`);
      return;
    }
    const worker = this.next ?? this.prepare();
    this.next = null;
    this.worker = worker;
    this.wait(name);
    worker.addEventListener("message", ({ data }) => {
      if (worker !== this.worker) return;
      if (data.progress !== undefined) {
        this.wait(name);
        this.say(`Reading ${name}: ${Math.round(100 * data.progress)} %`);
        return;
      }
      if (data.sketch) {
        this.wait(name);
        this.show(data, `${name}, some frames; the others follow`, "sketch");
        return;
      }
      this.end();
      if (data.error) this.refuse(data.error);
      else this.show(data, name, "shown");
    });
    worker.addEventListener("error", () => {
      this.refuse(`${name} cannot be shown: the reader of run files failed; open the file in Marginscope.`);
    });
    worker.postMessage({ bytes, name, rules: this.rules }, [bytes]);
  }

  // A reader that loads SQLite before there is a file; each reads one file and is ended.
  prepare() {
    const worker = new Worker(this.script);
    worker.postMessage({ module: this.module });
    return worker;
  }

  wait(name) {
    clearTimeout(this.timer);
    this.timer = setTimeout(
      () => this.refuse(`${name} is damaged or not a run file: ${LATE}; ${FRESH}.`), PATIENCE,
    );
  }

  show({ content, facts }, words, state) {
    const before = document.body.dataset.state === "sketch" ? this.frame() : null;
    this.close();
    document.body.classList.add("shown");
    this.say(words);
    this.book = new Book(content);
    this.showFacts(facts);
    this.book.resize();
    document.title = `${content.title.map(([text]) => text).join("")} - Marginscope`;
    const asked = /(?:^|&)frame=(\d+)/.exec(location.hash.slice(1));
    const stops = [...this.book.rows[0].stops];
    if (before !== null) this.book.player.go(stops.findLastIndex((stop) => stop <= before));
    else if (asked) this.book.player.go(Number(asked[1]) - 1);
    document.body.dataset.state = state;
  }

  // The frame of the run that is drawn now.
  frame() {
    return this.book.rows[0].stops[this.book.player.moment];
  }

  showFacts(facts) {
    const table = made("table");
    for (const [name, text] of facts) {
      const row = table.appendChild(made("tr"));
      const head = row.appendChild(made("th", "", name));
      head.scope = "row";
      row.append(made("td", "", text));
    }
    const note = made("p", "", "Reference margins and verdicts of theorems are no part of a run " +
      "file: marginscope-core page writes a page with the margins, and marginscope-core theorems " +
      "judges the statements.");
    this.facts.replaceChildren(made("h2", "", "What the file says"), table, note);
    this.facts.hidden = false;
  }
}

async function inflated(id) {
  const packed = Uint8Array.from(atob(document.getElementById(id).textContent), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
}

async function startViewer() {
  const missing = [globalThis.WebAssembly, globalThis.DecompressionStream, globalThis.Worker];
  if (missing.includes(undefined)) {
    document.querySelector("#words").textContent = OLD;
    return;
  }
  const [script, module] = await Promise.all([
    inflated("reader"), inflated("sqlite").then((bytes) => WebAssembly.compile(bytes)),
  ]);
  const address = URL.createObjectURL(new Blob([script], { type: "text/javascript" }));
  new Viewer(module, address, JSON.parse(document.getElementById("rules").textContent));
  document.body.dataset.ready = "true";
}

startViewer();
