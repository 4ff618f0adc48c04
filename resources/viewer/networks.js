// Networks f(x) = sum_j alpha_j phi(<u_j, x~>), their margins and their nodes, as core/network and
// core/observables have them.

import { FileError, entry } from "./text.js";
import { product } from "./run_file.js";
import { fitsTargets, logSum, smoothedMargin, softplus } from "./losses.js";

const LN2 = Math.log(2);
const sigmoid = (z) => (z >= 0 ? 1 / (1 + Math.exp(-z)) : Math.exp(z) / (1 + Math.exp(z)));
const leaky = (slope) => (z) => {
  const positive = z > 0 ? z : 0;
  return positive + slope * (z - positive);
};
const smooth = (slope) => (z) => slope * z + (1 - slope) * (softplus(z) - LN2);
const relu = (z) => (z > 0 ? z : 0);
const square = (z) => z * z;
// Activations of recorded networks; the normal law's function is not among a browser's.
const PHI = {
  relu: () => relu,
  linear: () => (z) => z,
  quadratic: () => square,
  leaky_relu: (slope) => (z) => (z > 0 ? z : slope * z),
  smooth_leaky_relu: smooth,
  tanh: () => Math.tanh,
  sigmoid: () => sigmoid,
  softplus: () => softplus,
  silu: () => (z) => z * sigmoid(z),
  elu: () => (z) => (z > 0 ? z : Math.expm1(z)),
  hardtanh: () => (z) => Math.min(Math.max(z, -1), 1),
  gelu_tanh: () => (z) => 0.5 * z * (1 + Math.tanh(Math.sqrt(2 / Math.PI) * (z + 0.044715 * z ** 3))),
  unknown: () => () => NaN,
};
const DEGREES = { relu: 1, linear: 1, leaky_relu: 1, quadratic: 2 };
// Names of the trained arrays, in their order; those of a recorded network are its own.
const LAYOUTS = {
  standard: ["a", "V"], linear: ["a", "V"], tanh: ["a", "V"], fixed_outer: ["V"], scalar: ["a", "b"], bias: ["a", "V", "b"],
  multiclass: ["A", "V"], quadratic: ["A", "V"], normalised: ["a", "b", "V"], batch_norm: ["a", "c", "V"],
};
const SLOPES = { fixed_outer: 0.1, recorded: 0.01 };

// <u, x> of two rows; four sums at a time, which a processor adds side by side.
function dot(U, at, x, row, size) {
  let a = 0;
  let b = 0;
  let c = 0;
  let d = 0;
  let k = 0;
  for (; k + 4 <= size; k += 4) {
    a += U[at + k] * x[row + k];
    b += U[at + k + 1] * x[row + k + 1];
    c += U[at + k + 2] * x[row + k + 2];
    d += U[at + k + 3] * x[row + k + 3];
  }
  for (; k < size; k += 1) a += U[at + k] * x[row + k];
  return a + b + (c + d);
}

function lengthOf(V, at, size) {
  let sum = 0;
  for (let k = 0; k < size; k += 1) sum += V[at + k] * V[at + k];
  return Math.sqrt(sum);
}

// What each kind is: its degree, phi, the parameters of the norm, and (alpha, U) of its arrays.
function definition(run) {
  const { network } = run.meta.experiment;
  const { m, k } = run.meta.sizes;
  const { kind } = network;
  const slope = entry(network, "slope") ?? SLOPES[kind] ?? 0;
  const plain = { degree: 2, inner: 1, phi: relu, tex: "W", biases: false, effective: (p) => [p.a, p.V] };
  switch (kind) {
    case "standard":
      return { ...plain, phi: slope > 0 ? leaky(slope) : relu };
    case "linear":
      return { ...plain, phi: leaky(1) };
    case "tanh":
      return { ...plain, phi: Math.tanh };
    case "fixed_outer":
      return { ...plain, degree: 1, tex: "V", phi: (network.smooth ? smooth : leaky)(slope) };
    case "scalar":
      return { ...plain, tex: "(a,b)", effective: (p) => [p.a, scaledRows(p.V, p.b)] };
    case "bias":
      return { ...plain, biases: true };
    case "multiclass":
      return { ...plain, biases: network.biases === true, effective: (p) => [p.A, p.V] };
    case "quadratic":
      return { ...plain, degree: 3, inner: 2, phi: square, nodePower: true, effective: (p) => [p.A, p.V] };
    case "normalised":
      return {
        ...plain, tex: "(a,b)", scaled: 2 * m,
        effective: (p) => [p.a.map((value, j) => value * p.b[j]), dividedRows(p.V, m)],
      };
    case "batch_norm":
      return {
        ...plain, centred: true, scaled: 2 * m, product: ["a", "c"],
        effective: (p, inputs) => [p.a, network.normalise === false
          ? scaledRows(p.V, p.c)
          : deviatedRows(p.V, p.c, inputs, entry(network, "eps") ?? 0)],
      };
    case "recorded": {
      const name = entry(network, "activation") ?? "relu";
      if (!Object.hasOwn(PHI, name)) throw undrawn(run, `with the activation ${String(name).slice(0, 30)}`);
      const degree = DEGREES[name] ?? 0;
      const outer = network.outer !== false;
      const inner = Math.max(1, degree);
      const names = run.meta.layout.map(([one]) => one).filter((one) => one !== "c");
      const whole = outer && network.offset !== true;
      return {
        ...plain, inner, degree: inner + (outer ? 1 : 0), phi: PHI[name](slope), biases: network.biases === true,
        offset: network.offset === true, unknown: name === "unknown",
        tex: names.length === 1 ? names[0] : whole ? "W" : `(${names.join(",")})`,
        scaled: network.offset === true ? run.size - k : undefined,
        effective: (p) => [k > 1 ? p.A : p.a, p.V],
      };
    }
    default:
      throw undrawn(run, `of the kind ${String(kind).slice(0, 50)}`);
  }
}

function undrawn(run, what) {
  return new FileError(
    `${run.name} holds a network ${what}, which this page does not draw; open it in Marginscope, ` +
      "or write its page with `marginscope-core page`.",
  );
}

function scaledRows(V, b) {
  const d = V.length / b.length;
  return V.map((value, place) => b[Math.floor(place / d)] * value);
}

function dividedRows(V, m) {
  const d = V.length / m;
  const result = new Float64Array(V.length);
  for (let j = 0; j < m; j += 1) {
    const length = lengthOf(V, j * d, d);
    for (let k = 0; k < d; k += 1) result[j * d + k] = V[j * d + k] / length;
  }
  return result;
}

// c_j v_j / N(v_j), N(v)^2 = v' Sigma v + eps with the covariance of the centred inputs.
function deviatedRows(V, c, inputs, eps) {
  const m = c.length;
  const d = V.length / m;
  const n = inputs.length / d;
  const result = new Float64Array(V.length);
  for (let j = 0; j < m; j += 1) {
    let variance = 0;
    for (let i = 0; i < n; i += 1) {
      let z = 0;
      for (let k = 0; k < d; k += 1) z += V[j * d + k] * inputs[i * d + k];
      variance += (z * z) / n;
    }
    const deviation = Math.sqrt(variance + eps);
    for (let k = 0; k < d; k += 1) result[j * d + k] = (c[j] * V[j * d + k]) / deviation;
  }
  return result;
}

// Minus the mean of the rows.
function centredRows(x, n) {
  const d = x.length / n;
  const mean = new Float64Array(d);
  for (let place = 0; place < x.length; place += 1) mean[place % d] += x[place] / n;
  return x.map((value, place) => value - mean[place % d]);
}

export class Network {
  constructor(run) {
    this.run = run;
    this.rules = definition(run);
    const { m, k, d, n } = run.meta.sizes;
    Object.assign(this, { m, n, k, d, width: run.reduction ? run.reduction.rank + 1 : d });
    this.checkLayout();
    this.inputs = this.readInputs();
    this.scaled = this.rules.scaled ?? run.size;
    this.start = this.nodes(run.origin);
  }

  checkLayout() {
    const { m, k, width } = this;
    const shapes = { a: [m], b: [m], c: this.rules.product ? [m] : [k], A: [m, k], V: [m, width] };
    const { layout } = this.run.meta;
    const wanted = LAYOUTS[this.run.meta.experiment.network.kind];
    const names = layout.map(([name]) => name);
    const own = names.every((name) => Object.hasOwn(shapes, name)) && new Set(names).size === names.length;
    const same = own && layout.every(([name, shape]) => String(shape) === String(shapes[name]));
    if (!same || (wanted && String(names) !== String([...wanted, ...(this.rules.biases && this.k > 1 ? ["b"] : [])]))) {
      throw this.run.fault("its layout is not that of its network");
    }
    this.fixed = {};
    for (const [name, array] of this.run.arrays) {
      if (!name.startsWith("fixed_")) continue;
      const own = name.slice("fixed_".length);
      if (!Object.hasOwn(shapes, own) || names.includes(own)) {
        throw this.run.fault("it holds an array of an unknown name");
      }
      this.fixed[own] = this.run.shaped(name, shapes[own]);
    }
    const parts = new Set([...names, ...Object.keys(this.fixed)]);
    const needed = ["V", ...(this.rules.biases ? ["b"] : []), ...(this.rules.offset ? ["c"] : [])];
    needed.push(...(this.k > 1 ? ["A"] : ["a"]));
    if (!needed.every((name) => parts.has(name))) {
      throw this.run.fault("its layout is not that of its network");
    }
  }

  // x~: the inputs, minus their mean for batch norm, or their coordinates in the row space, with a 1
  // appended for biases.
  readInputs() {
    const { run, n, d, width } = this;
    const x = this.rules.centred ? centredRows(run.x, n) : run.x;
    const columns = width + (this.rules.biases ? 1 : 0);
    const result = new Float64Array(n * columns);
    for (let i = 0; i < n; i += 1) {
      for (let c = 0; c < d && !run.reduction; c += 1) result[i * columns + c] = x[i * d + c];
      for (let r = 0; run.reduction && r < run.reduction.rank; r += 1) {
        let sum = 0;
        for (let c = 0; c < d; c += 1) sum += x[i * d + c] * run.reduction.basis[r * d + c];
        result[i * columns + r] = sum;
      }
      if (this.rules.biases) result[i * columns + width] = 1;
    }
    return this.rules.centred && run.reduction ? centredRows(result, n) : result;
  }

  parts(flat) {
    const parts = { ...this.fixed };
    let place = 0;
    for (const [name, shape] of this.run.meta.layout) {
      const size = product(shape);
      parts[name] = flat.subarray(place, place + size);
      place += size;
    }
    return parts;
  }

  // All that the views show of flat parameters: outer and inner weights, sizes and lengths.
  nodes(flat) {
    const { m, k, width } = this;
    const parts = this.parts(flat);
    const [outer, inner] = this.rules.effective(parts, this.inputs);
    const lengths = new Float64Array(m);
    const sizes = new Float64Array(m); // s_j = alpha_j, or |A_j|
    for (let j = 0; j < m; j += 1) {
      let sum = 0;
      for (let c = 0; c < width; c += 1) sum += inner[j * width + c] ** 2;
      if (this.rules.biases) sum += parts.b[j] ** 2;
      lengths[j] = Math.sqrt(sum);
      sizes[j] = k > 1 ? lengthOf(outer, j * k, k) : outer[j];
    }
    return { flat, parts, outer, inner, lengths, sizes };
  }

  // f(x_i), (n,) or (n, k).
  outputs({ parts, outer, inner }) {
    const { n, m, k, width, inputs } = this;
    const { phi, biases, offset } = this.rules;
    const columns = width + (biases ? 1 : 0);
    const f = new Float64Array(n * k);
    for (let i = 0; i < n; i += 1) {
      let sum = 0;
      for (let j = 0; j < m; j += 1) {
        const bias = biases ? parts.b[j] : 0;
        const value = phi(dot(inner, j * width, inputs, i * columns, width) + bias);
        if (k === 1) sum += outer[j] * value;
        else for (let o = 0; o < k; o += 1) f[i * k + o] += outer[j * k + o] * value;
      }
      if (k === 1) f[i] = sum;
      for (let o = 0; offset && o < k; o += 1) f[i * k + o] += parts.c[o];
    }
    return f;
  }

  // Divisor of margins: |W_h|^L, the product of the norms of some arrays, or sum_j |theta_j|^3.
  normPower({ flat, parts, outer, lengths }) {
    const { m, k } = this;
    if (this.rules.product) {
      return this.rules.product.reduce((power, name) => power * lengthOf(parts[name], 0, parts[name].length), 1);
    }
    if (this.rules.nodePower) {
      let sum = 0;
      for (let j = 0; j < m; j += 1) sum += (lengthOf(outer, j * k, k) ** 2 + lengths[j] ** 2) ** 1.5;
      return sum;
    }
    return lengthOf(flat, 0, this.scaled) ** this.rules.degree;
  }

  // Margins of each example over each other class, the smallest one, and how many examples fail.
  scores(f) {
    const { n, k, run } = this;
    const each = Math.max(k - 1, 1);
    const scores = new Float64Array(n * each);
    let [least, wrong] = [Infinity, 0];
    for (let i = 0; i < n; i += 1) {
      if (k === 1) scores[i] = run.y[i] * f[i];
      for (let o = 0, place = i * each; k > 1 && o < k; o += 1) {
        if (o !== run.y[i]) scores[place++] = f[i * k + run.y[i]] - f[i * k + o];
      }
      let isRight = true;
      for (let c = i * each; c < (i + 1) * each; c += 1) {
        if (!(scores[c] > 0)) isRight = false; // a NaN fails too
        if (Number.isNaN(scores[c])) least = NaN;
        else if (!(scores[c] >= least) && !Number.isNaN(least)) least = scores[c];
      }
      if (!isRight) wrong += 1;
    }
    return { scores, least, each, wrong };
  }

  // Margins and other numbers of a frame, by the names of core/observables.
  measures(nodes, rho) {
    const { n, k, run } = this;
    const f = this.outputs(nodes);
    const { scores, least, each, wrong } = this.scores(f);
    const power = this.normPower(nodes);
    const factor = Math.exp(this.rules.degree * rho);
    const divide = (value, norm) => (norm > 0 ? value / norm : NaN);
    const finite = (value) => (Number.isFinite(value) ? value : NaN);
    let lengths = 0;
    for (let j = 0; j < this.m; j += 1) lengths += Math.abs(nodes.sizes[j]) * nodes.lengths[j] ** this.rules.inner;
    const { kind } = run.meta.experiment.loss;
    const isResidual = fitsTargets(kind) && k === 1;
    const sum = logSum(kind, (isResidual ? f.map((value, i) => value - run.y[i]) : scores).map((one) => factor * one), each);
    return {
      hard_margin: divide(least, power),
      smoothed_margin: divide(smoothedMargin(kind, sum), factor * power),
      l1_margin: divide(least, lengths),
      log10_risk: finite((sum - Math.log(n)) / Math.LN10),
      norm_squared: finite(Math.exp(2 * rho) * lengthOf(nodes.flat, 0, this.scaled) ** 2),
      train_error: this.rules.unknown ? NaN : wrong / n,
    };
  }

  // |alpha_j| |u_j| over the largest, NaN if all are 0.
  relativeNorms({ sizes, lengths }) {
    const norms = sizes.map((size, j) => Math.abs(size) * lengths[j]);
    let largest = 0;
    for (const norm of norms) largest = Math.max(largest, norm);
    return norms.map((norm) => (largest > 0 ? norm / largest : NaN));
  }

  // cos of v_j(0) and v_j(t), NaN for a node of length 0.
  rotations({ parts }) {
    const { m, width } = this;
    const [before, now] = [this.start.parts.V, parts.V];
    const result = new Float64Array(m);
    for (let j = 0; j < m; j += 1) {
      const at = j * width;
      const lengths = lengthOf(now, at, width) * lengthOf(before, at, width);
      let inner = 0;
      for (let c = 0; c < width; c += 1) inner += now[at + c] * before[at + c];
      result[j] = lengths > 0 ? Math.min(Math.max(inner / lengths, -1), 1) : NaN;
    }
    return result;
  }

  // |alpha_j| u_j at the physical scale on two coordinates, (m, 2).
  places({ sizes, inner }, rho, columns = [0, 1]) {
    const { m, d, width } = this;
    const { reduction } = this.run;
    const factor = Math.exp(this.rules.degree * rho);
    const result = new Float64Array(2 * m);
    for (let j = 0; j < m; j += 1) {
      columns.forEach((column, axis) => {
        if (column >= d) return;
        let value = reduction ? 0 : inner[j * width + column];
        for (let r = 0; reduction && r < reduction.rank; r += 1) {
          value += inner[j * width + r] * reduction.basis[r * d + column];
        }
        if (reduction) value += inner[j * width + width - 1] * reduction.perpendicular[j * d + column];
        result[2 * j + axis] = factor * (Math.abs(sizes[j]) * value);
      });
    }
    return result;
  }

  // The class for which each node speaks, `classes` for none.
  kinds({ outer }) {
    const { m, k } = this;
    const { classes } = this.run;
    return Uint16Array.from({ length: m }, (_, j) => {
      if (k === 1) return outer[j] > 0 ? 1 : outer[j] < 0 ? 0 : classes;
      let best = 0;
      for (let o = 1; o < k; o += 1) if (Math.abs(outer[j * k + o]) > Math.abs(outer[j * k + best])) best = o;
      return outer[j * k + best] === 0 ? classes : best;
    });
  }
}
