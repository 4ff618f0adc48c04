// What a run file says of its run, as rows of a name and a text.

import { isTable, printable, shorten } from "./text.js";

const MOST_EVENTS = 50;
const LONGEST = 300;

function valueText(value) {
  if (Array.isArray(value)) return `(${value.map(valueText).join(", ")})`;
  if (isTable(value)) return Object.entries(value).map(([name, one]) => `${name} ${valueText(one)}`).join(", ");
  if (typeof value === "boolean") return value ? "yes" : "no";
  return value === null ? "none" : String(value);
}

// The settings that a section states, without those that have no value.
function sectionText(values) {
  return Object.entries(values)
    .filter(([name, value]) => value !== null && name !== "content")
    .map(([name, value]) => `${name} = ${valueText(value)}`)
    .join(", ");
}

// `missing` are titles of what is not drawn, each with the reason.
export function factsOf(run, missing) {
  const { meta } = run;
  const { n, d, m, k } = meta.sizes;
  const ended = meta.status === "finished" ? (meta.reason ?? "finished") : "the recording was not finished";
  const rows = [
    ["title", meta.title],
    ["source", meta.source],
    ["sizes", `n = ${n}, d = ${d}, m = ${m}${k > 1 ? `, k = ${k}` : ""}`],
    ...Object.entries(meta.experiment).map(([name, values]) => [name, sectionText(values)]),
    ["optimizer", sectionText(meta.optimizer)],
    ["frames", `${run.frames}, ${meta.dtype}, with matching checksums where they are drawn`],
    ["end", ended.replaceAll("_", " ")],
    ["engine", meta.engine],
    ["recorded", `${meta.created} by ${meta.recorded ? "another program, through " : ""}Marginscope ${meta.program}`],
  ];
  const { continues } = meta.start;
  if (continues) rows.push(["continues", valueText(continues)]);
  const events = run.events();
  for (const [frame, kind, payload] of events.slice(0, MOST_EVENTS)) {
    rows.push([`event at frame ${frame}`, `${kind.replaceAll("_", " ")}: ${valueText(payload)}`]);
  }
  if (events.length > MOST_EVENTS) rows.push(["events", `${events.length} in all`]);
  const reasons = missing.map(([title, reason]) => `${title.map(([text]) => text).join("")}: ${reason}`);
  rows.push(["not drawn", reasons.join("; ")]);
  if (run.database.journal) {
    rows.push(["journal", "the file was not closed: later frames may be in the -wal beside it"]);
  }
  return rows
    .filter(([, text]) => text)
    .map(([name, text]) => [printable(name), shorten(text, name === "title" ? 1000 : 4 * LONGEST)]);
}
