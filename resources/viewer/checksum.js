// CRC-32 as zlib has it, eight bytes at a time.

const TABLES = (() => {
  const tables = Array.from({ length: 8 }, () => new Uint32Array(256));
  for (let byte = 0; byte < 256; byte += 1) {
    let value = byte;
    for (let bit = 0; bit < 8; bit += 1) value = value & 1 ? (value >>> 1) ^ 0xedb88320 : value >>> 1;
    tables[0][byte] = value;
  }
  for (let byte = 0; byte < 256; byte += 1) {
    for (let k = 1; k < 8; k += 1) {
      const before = tables[k - 1][byte];
      tables[k][byte] = (before >>> 8) ^ tables[0][before & 255];
    }
  }
  return tables;
})();

// The checksum of some bytes after those of a checksum `before`.
export function crc32(bytes, before = 0) {
  const [a, b, c, d, e, f, g, h] = TABLES;
  let crc = ~before;
  let k = 0;
  for (; k + 8 <= bytes.length; k += 8) {
    crc ^= bytes[k] | (bytes[k + 1] << 8) | (bytes[k + 2] << 16) | (bytes[k + 3] << 24);
    crc =
      h[crc & 255] ^ g[(crc >>> 8) & 255] ^ f[(crc >>> 16) & 255] ^ e[crc >>> 24] ^
      d[bytes[k + 4]] ^ c[bytes[k + 5]] ^ b[bytes[k + 6]] ^ a[bytes[k + 7]];
  }
  for (; k < bytes.length; k += 1) crc = (crc >>> 8) ^ a[(crc ^ bytes[k]) & 255];
  return ~crc >>> 0;
}
