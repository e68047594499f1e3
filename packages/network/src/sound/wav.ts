/**
 * Reads WAV files: PCM of 8 to 32 bits, and floating point. Every problem of a file is a RangeError with a message that goes on from
 * the file's name.
 */

/** Sound as one channel. */
export interface Sound {
  /** Samples a second. */
  readonly rate: number;
  /** From -1 to 1; channels are averaged. Floating point files may go beyond. */
  readonly samples: Float32Array;
}

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** Whether bytes begin like a WAV file. */
export function isWav(bytes: Uint8Array): boolean {
  return textAt(bytes, 0) === "RIFF" && textAt(bytes, 8) === "WAVE";
}

/** Reads a WAV file. */
export function readWav(bytes: Uint8Array): Sound {
  if (!isWav(bytes)) throw new RangeError("is not a WAV file");
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  let format: ReturnType<typeof readFormat> | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    const start = at + 8;
    const name = textAt(bytes, at);
    if (name === "fmt ") format = readFormat(view, start, size);
    if (name === "data") {
      if (format === undefined) throw new RangeError("is a WAV file whose samples come before their format");
      // Programs that write to a pipe do not know the size, and leave one that is too large.
      return { rate: format.rate, samples: readSamples(view, start, Math.min(size, bytes.length - start), format) };
    }
    // Chunks begin at even places.
    at = start + size + (size & 1);
  }
  throw new RangeError("is a WAV file without samples");
}

function readFormat(view: DataView, at: number, size: number) {
  if (size < 16 || at + size > view.byteLength) throw new RangeError("is a WAV file whose format is cut off");
  const tag = view.getUint16(at, true);
  const kind = tag === EXTENSIBLE && size >= 26 ? view.getUint16(at + 24, true) : tag;
  const channels = view.getUint16(at + 2, true);
  const rate = view.getUint32(at + 4, true);
  const bits = view.getUint16(at + 14, true);
  if (channels === 0 || rate === 0) throw new RangeError(`is a WAV file of ${channels} channels at ${rate} Hz`);
  const isKnown = kind === PCM ? [8, 16, 24, 32].includes(bits) : kind === FLOAT && [32, 64].includes(bits);
  if (!isKnown)
    throw new RangeError(`is a WAV file of the format ${kind} with ${bits} bits, not PCM or floating point`);
  return { kind, channels, rate, bits };
}

function readSamples(
  view: DataView,
  start: number,
  size: number,
  { kind, channels, bits }: ReturnType<typeof readFormat>,
): Float32Array {
  const width = bits / 8;
  const sampleAt = kind === FLOAT ? floatReader(view, bits) : integerReader(view, bits);
  const samples = new Float32Array(Math.floor(size / (width * channels)));
  for (let place = 0; place < samples.length; place++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++) sum += sampleAt(start + (place * channels + channel) * width);
    samples[place] = sum / channels;
  }
  return samples;
}

function floatReader(view: DataView, bits: number): (at: number) => number {
  return bits === 64 ? (at) => view.getFloat64(at, true) : (at) => view.getFloat32(at, true);
}

function integerReader(view: DataView, bits: number): (at: number) => number {
  if (bits === 8) return (at) => (view.getUint8(at) - 128) / 128;
  if (bits === 16) return (at) => view.getInt16(at, true) / 2 ** 15;
  if (bits === 24) return (at) => (view.getUint8(at) + view.getInt16(at + 1, true) * 256) / 2 ** 23;
  return (at) => view.getInt32(at, true) / 2 ** 31;
}

function textAt(bytes: Uint8Array, at: number): string {
  return String.fromCharCode(...bytes.subarray(at, at + 4));
}
