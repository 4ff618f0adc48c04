// The table `meta`, checked as core/runs/meta.py does: types as declared, no number beyond floats.

import { entry, isTable, isWhole, printable } from "./text.js";

const isText = (most) => (value) =>
  typeof value === "string" && (most === undefined || value.length <= most);
const isNumber = (low, high) => (value) =>
  typeof value === "number" && Number.isFinite(value) && value >= low && value <= high;
const isOneOf = (...values) => (value) => values.includes(value);
const isNullOr = (test) => (value) => value === null || test(value);
const isIn = (low, high) => (value) => isWhole(value, low, high);
const OPTIMIZER_KEY = /^(?=.{1,64}$)[^\W\d]\w*$/u;
const SECTIONS = ["data", "network", "loss", "dynamics", "recording", "run"];
const CONTRADICTION = (what) => `its experiment and its ${what} contradict each other`;

function isShape(value) {
  return Array.isArray(value) && value.every((part) => isWhole(part, 1, 1e9));
}

function isLayout(value) {
  return (
    Array.isArray(value) && value.length >= 1 && value.length <= 16 &&
    value.every((one) => Array.isArray(one) && one.length === 2 && isText(100)(one[0]) && isShape(one[1]))
  );
}

function isPlain(value) {
  return typeof value === "boolean" || isNumber(-Infinity, Infinity)(value) || isText(100)(value);
}

function isOptimizer(value) {
  const isList = (one) => Array.isArray(one) && one.length <= 64;
  const isSetting = (one) => one === null || isPlain(one);
  const isValue = (one) =>
    isPlain(one) || (isList(one) && one.every((part) => isSetting(part) || (isList(part) && part.every(isSetting))));
  return (
    isTable(value) && Object.keys(value).length <= 64 &&
    Object.entries(value).every(([key, one]) => OPTIMIZER_KEY.test(key) && isValue(one))
  );
}

// Fields with their tests; a field with a third part may be missing, and has this value then.
function fieldsOf(rules) {
  const { elements, frames, metrics } = rules.most;
  const [low, high] = rules.rho;
  const [early, late] = rules.time;
  return {
    program: [isText(100)],
    created: [isText(40)],
    engine: [isText(200)],
    dtype: [isOneOf("float64", "float32")],
    layout: [isLayout],
    network: [isText(100)],
    sizes: [{
      n: [isIn(1, elements)], d: [isIn(1, elements)], m: [isIn(1, elements)], k: [isIn(1, 10_000), 1],
    }],
    experiment: [(value) => isTable(value) && Object.values(value).every(isTable)],
    title: [isText(), ""],
    source: [isText(), ""],
    planned: [isIn(0, frames)],
    temperature_cap: [isNullOr((value) => isNumber(0, Infinity)(value) && value > 0), null],
    start: [{
      rho: [isNumber(low, high), 0],
      step: [isIn(0, 2 ** 63), 0],
      log10_time: [isNullOr(isNumber(early, late)), null],
      continues: [isNullOr(isTable), null],
    }],
    state: [isIn(0, 2 ** 31), 0],
    status: [isOneOf("recording", "finished")],
    reason: [isOneOf(null, ...rules.reasons), null],
    counts: [{
      frame: [isIn(0, frames)], metric: [isIn(0, metrics * frames)], event: [isIn(0, 100_000)],
    }, null],
    name: [isText(rules.most.name), ""],
    recorded: [(value) => typeof value === "boolean", false],
    optimizer: [isOptimizer, {}],
    wal: [isNullOr(isIn(0, 2 ** 32 - 1)), null],
  };
}

function checkFields(get, fields, place, fault) {
  const result = {};
  for (const [name, [test, ...missing]] of Object.entries(fields)) {
    const value = get(name);
    const path = `${place}${name}`;
    if (value === undefined) {
      if (!missing.length) throw fault(`meta: ${path}: field required`);
      [result[name]] = missing;
    } else if (typeof test === "function") {
      if (!test(value)) throw fault(`meta: ${path}: input should be another value`);
      result[name] = value;
    } else if (value === null && missing[0] === null) {
      result[name] = null;
    } else {
      if (!isTable(value)) throw fault(`meta: ${path}: input should be a valid dictionary`);
      result[name] = checkFields((key) => entry(value, key), test, `${path}.`, fault);
    }
  }
  return result;
}

// The checked values of meta. `fault` makes the error of a reason.
export function checkMeta(rows, fault, rules) {
  const meta = checkFields((name) => rows.get(name), fieldsOf(rules), "", fault);
  const { experiment, sizes } = meta;
  const unknown = Object.keys(experiment).filter((name) => !SECTIONS.includes(name)).sort();
  if (unknown.length) {
    throw fault(`its experiment has the section ${printable(unknown[0]).slice(0, 50)}`);
  }
  checkSections(experiment, rules.sections, fault);
  const stated = { n: entry(experiment.data, "n"), d: entry(experiment.data, "d"), m: entry(experiment.network, "m") };
  for (const [name, value] of Object.entries(stated)) {
    if (value !== undefined && value !== null && value !== sizes[name]) throw fault(CONTRADICTION("sizes"));
  }
  const kind = entry(experiment.network, "kind");
  const predicts = entry(experiment.dynamics, "kind") !== undefined &&
    rules.predictors.includes(experiment.dynamics.kind);
  if (kind !== meta.network && !predicts) throw fault(CONTRADICTION("sizes"));
  const precision = entry(experiment.run, "precision") ?? "float64";
  if (precision !== meta.dtype) throw fault(CONTRADICTION("dtype"));
  const paths = [entry(experiment.network, "init_path"), entry(experiment.network, "path")];
  if (paths.some((path) => path !== undefined && path !== null)) {
    throw fault("its experiment names a file; a run holds the content instead");
  }
  for (const [name, size] of [["n * d", sizes.n * sizes.d], ["m * d", sizes.m * sizes.d]]) {
    if (size > rules.most.elements) throw fault(`${name} = ${size}, and at most ${rules.most.elements} is read`);
  }
  return meta;
}

// Each section is of a known kind and has only its keys, with values that each may have.
function checkSections(experiment, sections, fault) {
  for (const [name, values] of Object.entries(experiment)) {
    const kinds = sections[name];
    const kind = entry(values, "kind");
    const keys = entry(kinds, Object.hasOwn(kinds, "") ? "" : String(kind));
    if (keys === undefined) {
      throw fault(`experiment: ${name}.kind = ${printable(String(kind)).slice(0, 50)} does not exist`);
    }
    for (const [key, value] of Object.entries(values)) {
      const place = `${name}.${printable(key).slice(0, 50)}`;
      if (!Object.hasOwn(keys, key)) throw fault(`experiment: ${place} does not exist`);
      if (!isAllowed(value, keys[key])) throw fault(`experiment: ${place} has a value that is not allowed`);
    }
  }
}

const TYPES = {
  null: (value) => value === null,
  boolean: (value) => typeof value === "boolean",
  integer: Number.isInteger,
  number: (value) => typeof value === "number" && Number.isFinite(value),
  string: (value) => typeof value === "string",
  array: Array.isArray,
  object: isTable,
};

// Whether a value is as a part of a JSON schema says.
function isAllowed(value, rule) {
  if (rule.anyOf) return rule.anyOf.some((one) => isAllowed(value, one));
  if (rule.enum && !rule.enum.includes(value)) return false;
  if (rule.const !== undefined && value !== rule.const) return false;
  if (rule.type && !TYPES[rule.type](value)) return false;
  if (typeof value === "number") {
    if (value < rule.minimum || value > rule.maximum) return false;
    if (value <= rule.exclusiveMinimum || value >= rule.exclusiveMaximum) return false;
  }
  return !Array.isArray(value) || !rule.items || value.every((one) => isAllowed(one, rule.items));
}
