// Arrays of a page: what core/figures/page_codec.py has packed.

const TYPES = {
  u1: Uint8Array, u2: Uint16Array, u4: Uint32Array, f4: Float32Array, f8: Float64Array,
};
const WHOLE = { 1: Uint8Array, 2: Uint16Array, 4: Uint32Array };

async function inflated(text) {
  const packed = Uint8Array.from(atob(text), (sign) => sign.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function array(item) {
  const Type = TYPES[item.type];
  const size = Type.BYTES_PER_ELEMENT;
  const rows = await inflated(item.data);
  const count = rows.length / size;
  const bytes = new Uint8Array(rows.length);
  for (let byte = 0; byte < size; byte += 1) {
    for (let k = 0; k < count; k += 1) bytes[k * size + byte] = rows[byte * count + k];
  }
  if (item.shape.length > 1 && size in WHOLE) {
    const whole = new WHOLE[size](bytes.buffer);
    const step = count / item.shape[0];
    for (let k = step; k < count; k += 1) whole[k] += whole[k - step];
  }
  return new Type(bytes.buffer);
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
