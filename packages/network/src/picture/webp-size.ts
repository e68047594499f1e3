/**
 * The size of a WebP picture, read before memory is taken for it.
 */

/** Width and height. Throws a RangeError if the file says none. */
export function webpSize(bytes: Uint8Array): readonly [width: number, height: number] {
  if (bytes.length < 30) throw new RangeError(`it ends after ${bytes.length} bytes, in the header`);
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const kind = String.fromCharCode(...bytes.subarray(12, 16));
  const of24Bits = (at: number) => view.getUint16(at, true) | (view.getUint8(at + 2) << 16);
  if (kind === "VP8X") return [of24Bits(24) + 1, of24Bits(27) + 1];
  if (kind === "VP8 ") return [view.getUint16(26, true) & 0x3fff, view.getUint16(28, true) & 0x3fff];
  if (kind === "VP8L") {
    const bits = view.getUint32(21, true);
    return [(bits & 0x3fff) + 1, ((bits >>> 14) & 0x3fff) + 1];
  }
  throw new RangeError(`its first part is ${JSON.stringify(kind)}, which is not known`);
}
