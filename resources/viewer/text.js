// Texts and JSON of a file that may come from a stranger.

export const FRESH_COPY = "get a fresh copy of the file or record the run again";
const MOST_DEPTH = 200; // of nested JSON

// A sentence for the reader. All other errors are faults of this page.
export class FileError extends Error {}

// Text without control characters, as core/run_files/meta.py has it.
export function printable(text) {
  return text.replace(/[\p{C}\p{Z}]/gu, (sign) => (sign === " " || sign === "\n" ? sign : " "));
}

// One line of bounded length.
export function shorten(text, most) {
  const line = printable(String(text)).split(/\s+/).filter(Boolean).join(" ");
  return line.length > most ? `${line.slice(0, most)} ...` : line;
}

export function damaged(name, what) {
  return new FileError(`${name} is damaged or not a run file: ${what}; ${FRESH_COPY}.`);
}

// What nests too deeply would exhaust the stack of those who walk through it.
function checkDepth(text) {
  let [depth, within] = [0, false];
  for (let k = 0; k < text.length; k += 1) {
    const sign = text[k];
    if (within) {
      if (sign === "\\") k += 1;
      else if (sign === '"') within = false;
    } else if (sign === '"') within = true;
    else if (sign === "[" || sign === "{") {
      depth += 1;
      if (depth > MOST_DEPTH) throw new Error("it is nested too deeply");
    } else if (sign === "]" || sign === "}") depth -= 1;
  }
}

function checkDigits(text) {
  const outside = text.replace(/"(?:[^"\\]|\\.)*"/g, '""');
  // 64-bit integers have 19 digits and a sign.
  const long = /(?<![\d.eE+-])-?(\d{21,})(?![\d.eE])/.exec(outside);
  if (long) throw new Error(`it holds a number of ${long[1].length} digits`);
}

function checkTexts(value) {
  if (typeof value === "string") {
    if (!value.isWellFormed()) throw new Error("it holds half of a sign");
  } else if (value !== null && typeof value === "object") {
    for (const [key, inner] of Object.entries(value)) {
      checkTexts(key);
      checkTexts(inner);
    }
  }
}

// JSON as the program accepts it. Throws Error with a reason.
export function parseJson(text) {
  checkDepth(text);
  checkDigits(text);
  let value;
  try {
    value = JSON.parse(text);
  } catch {
    throw new Error("it is not JSON");
  }
  checkTexts(value);
  return value;
}

export function isTable(value) {
  return value !== null && typeof value === "object" && !Array.isArray(value);
}

// A key of a table that is its own: a text from a file may be "constructor".
export function entry(table, key) {
  return isTable(table) && Object.hasOwn(table, key) ? table[key] : undefined;
}

export function isWhole(value, low, high) {
  return Number.isInteger(value) && value >= low && value <= high;
}
