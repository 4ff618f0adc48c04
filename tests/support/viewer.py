"""The viewer of run files in a browser, and the numbers that its reader computes."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

import numpy as np

from core.figures import viewer
from core.figures.page import script_json
from tests.support.browser import Browser

READY = "document.body?.dataset.ready"
STATE = "document.body.dataset.state"
WORDS = "document.querySelector('#words').textContent"
# Arrays go back as the base64 of float64, so that no digit is lost.
PROBE = """
const encoded = (values) => {
  const bytes = new Uint8Array(Float64Array.from(values).buffer);
  let text = "";
  for (const byte of bytes) text += String.fromCharCode(byte);
  return { float64: btoa(text) };
};
const packed = (value) => {
  if (ArrayBuffer.isView(value)) return encoded(value);
  if (typeof value === "number") return encoded([value]);
  if (Array.isArray(value)) return value.map(packed);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(Object.entries(value).map(([key, one]) => [key, packed(one)]));
};
const fromText = (text) => Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
const rules = JSON.parse(document.getElementById("rules").textContent);
const inflate = async (id) => {
  const packed = fromText(document.getElementById(id).textContent);
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Response(stream).arrayBuffer();
};
let sqlite = null;
globalThis.numbersOf = async (text) => {
  sqlite ??= loadSqlite(await WebAssembly.compile(await inflate("sqlite")));
  const run = new RunFile(await sqlite, fromText(text), "probe.msrun", rules);
  const network = new Network(run);
  const frames = [];
  for (let index = 0; index < run.frames; index += 1) {
    const nodes = network.nodes(run.parameters(index));
    const rho = run.index.rho[index];
    frames.push({
      flat: run.parameters(index), f: network.outputs(nodes),
      measures: network.measures(nodes, rho),
      norms: network.relativeNorms(nodes), rotations: network.rotations(nodes),
      places: network.places(nodes, rho), kinds: network.kinds(nodes),
    });
  }
  const content = new Content(run, network, rules).content();
  const facts = factsOf(run, quantitiesOf(run, network.rules, rules.curves).missing);
  return JSON.stringify(packed({ frames, index: run.index, content, facts }));
};
document.body.dataset.ready = "true";
"""


def write_probe(path: Path) -> Path:
    """Write a page that computes the numbers of run files as the viewer does, in itself."""
    parts = [
        "<!doctype html><body>",
        f'<script type="text/plain" id="sqlite">{viewer.pack_sqlite()}</script>',
        f'<script type="application/json" id="rules">{script_json(viewer.rules())}</script>',
        f"<script>{viewer.reader_script()}\n{PROBE}</script>",
    ]
    path.write_text("".join(parts), encoding="utf-8")
    return path


def numbers_of(page: Browser, run_file: Path) -> dict[str, Any]:
    """Return what the reader computes of a run file, arrays as float64."""
    text = base64.b64encode(run_file.read_bytes()).decode()
    found: dict[str, Any] = _unpacked(json.loads(page.value(f"numbersOf('{text}')")))
    return found


def _unpacked(value: Any) -> Any:
    if isinstance(value, list):
        return [_unpacked(one) for one in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {"float64"}:
        return np.frombuffer(base64.b64decode(value["float64"]), dtype="<f8")
    return {key: _unpacked(one) for key, one in value.items()}


def choose_file(page: Browser, path: Path) -> str:
    """Give the viewer a file as its button does; return the state that it ends in."""
    page.value(f"{STATE} = ''; 0")
    found = page.call("Runtime.evaluate", expression="document.querySelector('#file')")
    page.call("DOM.setFileInputFiles", files=[str(path)], objectId=found["result"]["objectId"])
    page.wait(f"['shown', 'refused'].includes({STATE})")
    state: str = page.value(STATE)
    return state
