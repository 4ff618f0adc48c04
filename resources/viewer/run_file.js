// Content of a run file, checked before use, as core/runs/run_file.py has it.

import { crc32 } from "./checksum.js";
import { Database, MAX_BLOB_BYTES, typed } from "./database.js";
import { entry, isTable, isWhole, parseJson, printable, shorten } from "./text.js";
import { checkMeta } from "./meta.js";

const MAX_META_ROWS = 100;
const MAX_EVENTS = 100_000;
const MAX_TEXT = 8 << 20;
const SIZES = { float64: 8, float32: 4 };
const COUNTED = { frame: "frames", metric: "diagnostics", event: "events" };

export class RunFile {
  constructor(sqlite3, bytes, name, rules) {
    this.rules = rules;
    this.name = name;
    this.database = new Database(sqlite3, bytes, name, rules);
    this.meta = checkMeta(this.metaRows(), (what) => this.fault(what), rules);
    this.arrays = this.readArrays();
    this.size = this.meta.layout.reduce((sum, [, shape]) => sum + product(shape), 0);
    this.readData();
    this.index = this.readIndex();
    this.checkCounts();
    this.checkMetrics();
  }

  fault(what) {
    return this.database.fault(what);
  }

  metaRows() {
    const sql = `SELECT ${typed("key", "text")}, ${typed("value", "text")} FROM meta`;
    const values = new Map();
    for (const [key, text] of this.database.each(`${sql} LIMIT ${MAX_META_ROWS + 1}`)) {
      if (key === null || text === null || values.size === MAX_META_ROWS) {
        throw this.fault("meta holds something other than keys and JSON texts");
      }
      try {
        values.set(key, parseJson(text));
      } catch (error) {
        throw this.fault(`meta: ${printable(key).slice(0, 50)} is not JSON (${error.message})`);
      }
    }
    return values;
  }

  // ------------------------------------------------------------------------------------- arrays

  readArrays() {
    const { arrays, later, fixed, most } = this.rules;
    const sql = `SELECT ${typed("name", "text")} FROM array LIMIT ${most.arrays}`;
    const stored = this.database.rows(sql).map(([name]) => name);
    const unknown = () => this.fault("it holds an array of an unknown name");
    if (stored.includes(null) || stored.length === most.arrays) throw unknown();
    const waits = new RegExp(`^(?:${later})$`, "u");
    const names = stored.filter((name) => !waits.test(name));
    const known = (name) => arrays.includes(name) || name.startsWith(fixed);
    if (names.length > 16 || !names.every(known)) throw unknown();
    return new Map(names.map((name) => [name, this.readArray(name)]));
  }

  readArray(name) {
    const { database } = this;
    const shown = printable(name).slice(0, 60);
    const columns = [["dtype", "text"], ["shape", "text"], ["crc32", "integer"]];
    const list = columns.map(([column, kind]) => typed(column, kind)).join(", ");
    const found = database.rows(`SELECT ${list} FROM array WHERE name = ?`, [name], MAX_BLOB_BYTES);
    if (found.length !== 1 || found[0].includes(null)) {
      throw this.fault(`the description of its array ${shown} cannot be read`);
    }
    const [dtype, text, crc] = found[0];
    const shape = this.shapeOf(shown, text);
    if (!Object.hasOwn(SIZES, dtype)) {
      throw this.fault(`its array ${shown} is not of type float64 or float32`);
    }
    const size = product(shape) * SIZES[dtype];
    const sql = "SELECT CASE WHEN typeof(data) = 'blob' AND length(data) = ? THEN data END FROM array";
    const rows = database.rows(`${sql} WHERE name = ?`, [size, name], MAX_BLOB_BYTES);
    const blob = rows.length === 1 ? rows[0][0] : null;
    if (blob === null) {
      throw this.fault(`its array ${shown} is not as long as its shape ${tupleText(shape)} says`);
    }
    if (BigInt(crc32(blob)) !== crc) {
      throw this.fault(`the checksum of its array ${shown} does not match`);
    }
    return { shape, values: this.valuesOf(blob, dtype, `its array ${shown}`) };
  }

  shapeOf(name, text) {
    let shape = null;
    try {
      shape = text.length <= 100 && !/[.eE]/.test(text) ? parseJson(text) : null; // whole numbers
    } catch {
      // refused below
    }
    const most = 2 * this.rules.most.elements;
    const allowed =
      Array.isArray(shape) && shape.length >= 1 && shape.length <= 4 &&
      shape.every((part) => isWhole(part, 1, most)) && product(shape) <= most;
    if (!allowed) throw this.fault(`its array ${name} has a shape that is not allowed`);
    return shape;
  }

  // Little-endian values, exactly as stored, as float64.
  valuesOf(blob, dtype, what) {
    const kind = dtype === "float64" ? Float64Array : Float32Array;
    const values = new Float64Array(new kind(blob.buffer, blob.byteOffset, blob.length / SIZES[dtype]));
    for (let k = 0; k < values.length; k += 1) {
      if (!Number.isFinite(values[k])) throw this.fault(`${what} holds a value that is not finite`);
    }
    return values;
  }

  shaped(name, shape) {
    const array = this.arrays.get(name);
    if (!array || tupleText(array.shape) !== tupleText(shape)) {
      throw this.fault(`its array ${name} is missing or does not have shape ${tupleText(shape)}`);
    }
    return array.values;
  }

  readData() {
    const { n, d, m, k } = this.meta.sizes;
    this.x = this.shaped("x", [n, d]);
    this.y = this.shaped("y", [n]);
    const labels = { y: this.y };
    if (this.arrays.has("x_test") || this.arrays.has("y_test")) {
      const tests = this.arrays.get("x_test")?.shape[0] ?? 0;
      this.shaped("x_test", [tests, d]);
      labels.y_test = this.shaped("y_test", [tests]);
    }
    const { data } = this.meta.experiment;
    this.real = this.rules.real.includes(entry(data, "kind")) || entry(data, "targets") === "real";
    this.classes = k === 1 ? 2 : k;
    const allowed = (y) => (k === 1 ? y === 1 || y === -1 : isWhole(y, 0, k - 1));
    for (const [name, values] of this.real ? [] : Object.entries(labels)) {
      if (!values.every(allowed)) {
        const words = k === 1 ? "-1 and +1" : `0 to ${k - 1}`;
        throw this.fault(`its array ${name} has labels other than ${words}`);
      }
    }
    this.readScaling(data, d);
    this.reduction = null;
    if (this.arrays.has("basis")) {
      const rank = this.arrays.get("basis").shape[0];
      if (rank > Math.min(n, d)) throw this.fault("its array basis has more rows than there are examples");
      const basis = this.shaped("basis", [rank, d]);
      this.reduction = { rank, basis, perpendicular: this.shaped("perpendicular", [m, d]) };
    }
    this.origin = this.shaped("origin", [this.size]);
    if (this.arrays.has("start")) this.shaped("start", [this.size]);
  }

  readScaling(data, d) {
    const { scaling, affine } = this.rules;
    if (!affine.includes(entry(data, "scale"))) {
      if (scaling.some((name) => this.arrays.has(name))) {
        throw this.fault("it holds the scaling of data that are not scaled");
      }
      return;
    }
    const [, divisor] = scaling.map((name) => this.shaped(name, [d]));
    if (!divisor.every((value) => value > 0)) {
      throw this.fault("its array scale_divisor has a value that is not positive");
    }
  }

  // ------------------------------------------------------------------------------------- frames

  readIndex() {
    const { most, time: [earliest, latest], rho: [least, largest] } = this.rules;
    const numbers = [["step", "integer"], ["log10_time", "real"], ["rho", "real"]];
    const list = ["idx", ...numbers.map(([column, kind]) => typed(column, kind))].join(", ");
    const lengths = "typeof(parameters), length(parameters), typeof(dual), length(dual)";
    const sql = `SELECT ${list}, ${lengths} FROM frame ORDER BY idx LIMIT ${most.frames + 1}`;
    const size = BigInt(this.size * SIZES[this.meta.dtype]);
    const dual = this.meta.dtype === "float32" ? BigInt(8 * this.meta.sizes.n) : null;
    const index = { steps: [], times: [], rho: [] };
    for (const row of this.database.each(sql, [], MAX_BLOB_BYTES)) {
      const [place, step, time, rho, kind, length, other, otherLength] = row;
      const count = index.steps.length;
      if (place !== BigInt(count) || count >= most.frames) {
        throw this.fault(
          `its frames are not numbered 0, 1, 2, ... up to at most ${most.frames - 1}`,
        );
      }
      const hasDual = other === "blob" && dual !== null && otherLength === dual;
      if (kind !== "blob" || length !== size || !(other === "null" || hasDual)) {
        throw this.fault(`frame ${count} does not have the length of the parameters`);
      }
      if (step === null || step < 0n || rho === null || !(rho >= least && rho <= largest)) {
        throw this.fault(`frame ${count} has a step or rho that is not allowed`);
      }
      const isStart = count === 0 && time === -Infinity;
      if (time === null || !(isStart || (time >= earliest && time <= latest))) {
        throw this.fault(`frame ${count} has a log10 t that is not allowed`);
      }
      if (count && !(time > index.times[count - 1])) {
        throw this.fault(`frame ${count} is not later than the frame before it`);
      }
      index.steps.push(Number(step));
      index.times.push(time);
      index.rho.push(rho);
    }
    return index;
  }

  checkCounts() {
    const { counts } = this.meta;
    for (const [table, words] of counts ? Object.entries(COUNTED) : []) {
      const [[present]] = this.database.rows(`SELECT count(*) FROM ${table}`);
      if (present < BigInt(counts[table])) {
        throw this.fault(`it holds ${present} of its ${counts[table]} ${words}`);
      }
    }
  }

  checkMetrics() {
    const { most } = this.rules;
    const length = "CASE typeof(name) WHEN 'text' THEN length(name) END";
    const sql = `SELECT idx, ${length} FROM metric ORDER BY idx LIMIT ${most.frames * most.metrics + 1}`;
    let [before, count] = [null, 0];
    for (const [index, size] of this.database.each(sql)) {
      count = index === before ? count + 1 : 1;
      before = index;
      if (size === null || size > BigInt(most.name) || count > most.metrics) {
        throw this.fault(`the diagnostics of frame ${index} cannot be read`);
      }
    }
  }

  get frames() {
    return this.index.steps.length;
  }

  // The flat parameters of a frame, float64, with a matching checksum.
  parameters(index) {
    const size = this.size * SIZES[this.meta.dtype];
    const sql =
      "SELECT step, time, log10_time, rho, crc32, " +
      "CASE WHEN typeof(dual) = 'blob' AND length(dual) = ? THEN dual END, " +
      "CASE WHEN typeof(parameters) = 'blob' AND length(parameters) = ? THEN parameters END " +
      "FROM frame WHERE idx = ?";
    const values = [8 * this.meta.sizes.n, size, index];
    const rows = this.database.rows(sql, values, MAX_BLOB_BYTES);
    if (rows.length !== 1 || !(rows[0][6] instanceof Uint8Array)) {
      throw this.fault(`frame ${index} cannot be read`);
    }
    const [step, time, log10Time, rho, crc, dual, parameters] = rows[0];
    const numbers = [log10Time, rho, time ?? 0];
    if (typeof step !== "bigint" || !numbers.every((one) => typeof one === "number")) {
      throw this.fault(`frame ${index} holds something other than numbers`);
    }
    const head = new DataView(new ArrayBuffer(40));
    head.setBigInt64(0, BigInt(index), true);
    head.setBigInt64(8, step, true);
    [time ?? -1, log10Time, rho].forEach((value, k) => head.setFloat64(16 + 8 * k, value, true));
    let sum = crc32(parameters, crc32(new Uint8Array(head.buffer)));
    if (dual !== null) sum = crc32(dual, sum);
    if (BigInt(sum) !== crc) throw this.fault(`the checksum of frame ${index} does not match`);
    if (dual !== null) this.valuesOf(dual, "float64", `frame ${index}`);
    return this.valuesOf(parameters, this.meta.dtype, `frame ${index}`);
  }

  // All events in their order: [frame, kind, payload].
  events() {
    const columns = [["frame", "integer"], ["kind", "text"], ["payload", "text"]];
    const list = columns.map(([column, kind]) => typed(column, kind)).join(", ");
    const sql = `SELECT ${list} FROM event ORDER BY idx LIMIT ${MAX_EVENTS}`;
    const events = [];
    let total = 0;
    for (const [frame, kind, text] of this.database.each(sql)) {
      total += (text ?? "").length;
      if (frame === null || kind === null || text === null || total > MAX_TEXT) {
        throw this.fault("its events cannot be read");
      }
      let payload;
      try {
        payload = parseJson(text);
      } catch (error) {
        throw this.fault(`an event is not JSON (${error.message})`);
      }
      if (!isTable(payload)) throw this.fault("an event is not a JSON object");
      events.push([Number(frame), shorten(kind, 64), payload]);
    }
    return events;
  }
}

export function product(shape) {
  return shape.reduce((size, part) => size * part, 1);
}

// A shape as Python writes it.
function tupleText(shape) {
  return `(${shape.join(", ")}${shape.length === 1 ? "," : ""})`;
}
