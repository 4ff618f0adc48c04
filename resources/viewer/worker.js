// Reads one run file in a thread that the page can end, and answers with what the page draws.

import { Content } from "./content.js";
import { quantitiesOf } from "./curves.js";
import { FileError, printable } from "./text.js";
import { Network } from "./networks.js";
import { RunFile } from "./run_file.js";
import { factsOf } from "./facts.js";

const PAUSE = 200; // milliseconds between two messages of progress
// Of a larger file some frames are drawn at once, and all when they are computed.
const LONG_FILE = 4_000_000;
const SKETCHED = 40;
const NO_MEMORY = "needs more memory than a page in a browser gets; open it in Marginscope";

// SQLite as this page's own module: it looks for no other file.
async function loadSqlite(module) {
  // With shared memory SQLite would start helpers from files, which this page does not have.
  delete globalThis.SharedArrayBuffer;
  globalThis.sqlite3ApiConfig = { warn: () => {}, debug: () => {}, log: () => {}, error: () => {} };
  return sqlite3InitModule({
    print: () => {},
    printErr: () => {},
    instantiateWasm: (imports, done) => {
      WebAssembly.instantiate(module, imports).then((instance) => done(instance, module));
      return {};
    },
  });
}

export async function readRun(sqlite3, { bytes, name, rules }, tell) {
  let before = performance.now();
  const run = new RunFile(sqlite3, new Uint8Array(bytes), name, rules);
  if (run.frames === 0) {
    throw new FileError(`${name} has no frames: its recording ended before the first one; record the run again.`);
  }
  const network = new Network(run);
  const watch = (done, total) => {
    if (performance.now() - before < PAUSE) return;
    before = performance.now();
    tell({ progress: done / total });
  };
  const facts = factsOf(run, quantitiesOf(run, network.rules, rules.curves).missing);
  if (run.frames > 2 * SKETCHED && bytes.byteLength > LONG_FILE) {
    tell({ content: new Content(run, network, rules, watch, SKETCHED).content(), facts, sketch: true });
  }
  return { content: new Content(run, network, rules, watch).content(), facts };
}

export function errorText(error, name) {
  if (error instanceof FileError) return error.message;
  if (error instanceof RangeError) return `${name} ${NO_MEMORY}.`;
  return `${name} cannot be shown: ${printable(String(error?.message ?? error)).slice(0, 200)}; report this file.`;
}

if (typeof WorkerGlobalScope !== "undefined") {
  let loading = null;
  globalThis.addEventListener("message", async ({ data }) => {
    loading ??= loadSqlite(data.module); // before there is a file
    if (!data.bytes) return;
    try {
      globalThis.postMessage(await readRun(await loading, data, (message) => globalThis.postMessage(message)));
    } catch (error) {
      globalThis.postMessage({ error: errorText(error, data.name) });
    }
  });
}
