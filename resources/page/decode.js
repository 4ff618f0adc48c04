// Arrays of a page: what core/figures/page_encoding.py has packed.

const TYPES = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array,
};

async function array({ type, data }) {
  const packed = Uint8Array.from(atob(data), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const planes = new Uint8Array(await new Response(stream).arrayBuffer());
  const bytes = new Uint8Array(planes.length);
  const size = TYPES[type].BYTES_PER_ELEMENT;
  const count = planes.length / size;
  for (let byte = 0; byte < size; byte += 1) {
    for (let k = 0; k < count; k += 1) bytes[k * size + byte] = planes[byte * count + k];
  }
  return new TYPES[type](bytes.buffer);
}

// All arrays within some data in their places, whatever it is made of.
export async function unpacked(data) {
  const waiting = [];
  const walk = (holder, key) => {
    const value = holder[key];
    if (value === null || typeof value !== "object") return;
    if (typeof value.data === "string" && value.type in TYPES) {
      waiting.push(array(value).then((found) => { holder[key] = found; }));
    } else {
      for (const inner of Object.keys(value)) walk(value, inner);
    }
  };
  walk({ data }, "data");
  await Promise.all(waiting);
  return data;
}
