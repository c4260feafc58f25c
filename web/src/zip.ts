// Several files as one: an uncompressed zip archive, which every system can open.

export interface Named {
  name: string;
  bytes: Uint8Array<ArrayBuffer>;
}

/** Names are UTF-8. */
const FLAGS = 0x0800;
/** 1 January 1980, the earliest date in zip: the same files make the same archive. */
const DATE = 0x0021;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, byte) => {
  let rest = byte;
  for (let bit = 0; bit < 8; bit += 1) rest = rest & 1 ? (rest >>> 1) ^ 0xedb88320 : rest >>> 1;
  return rest;
});

function crc32(bytes: Uint8Array): number {
  let crc = 0xffffffff;
  for (const byte of bytes) crc = (crc >>> 8) ^ (CRC_TABLE[(crc ^ byte) & 0xff] as number);
  return ~crc >>> 0;
}

/** Encodes numbers of two or four bytes each, low byte first. */
function fields(...values: [bytes: 2 | 4, value: number][]): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(values.flatMap(([count, value]) => Array.from({ length: count }, (_, at) => (value >>> (8 * at)) & 0xff)));
}

export function zip(files: Named[]): Uint8Array<ArrayBuffer> {
  const contents: Uint8Array<ArrayBuffer>[] = [];
  const directory: Uint8Array<ArrayBuffer>[] = [];
  let offset = 0;
  for (const { name, bytes } of files) {
    const title = new TextEncoder().encode(name);
    // Version 2.0, flags, stored, time, date, checksum, twice the size, the length of the name, no more fields.
    const common = fields([2, 20], [2, FLAGS], [2, 0], [2, 0], [2, DATE], [4, crc32(bytes)], [4, bytes.length], [4, bytes.length], [2, title.length], [2, 0]);
    const head = fields([4, 0x04034b50]);
    contents.push(head, common, title, bytes);
    directory.push(fields([4, 0x02014b50], [2, 20]), common, fields([2, 0], [2, 0], [2, 0], [4, 0], [4, offset]), title);
    offset += head.length + common.length + title.length + bytes.length;
  }
  const size = directory.reduce((sum, part) => sum + part.length, 0);
  const end = fields([4, 0x06054b50], [2, 0], [2, 0], [2, files.length], [2, files.length], [4, size], [4, offset], [2, 0]);
  const parts = [...contents, ...directory, end];
  const all = new Uint8Array(offset + size + end.length);
  let at = 0;
  for (const part of parts) {
    all.set(part, at);
    at += part.length;
  }
  return all;
}
