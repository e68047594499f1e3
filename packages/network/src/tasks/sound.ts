/**
 * Sounds: WAV files read, and brought to another rate.
 */
import { elementAt, type OptionNames } from "@nnhal/operations";
import { expectAttached } from "../bytes.ts";
import { check, NetworkError } from "../error.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import { type ReadOptions, readSource, type Source } from "../read.ts";
import { kindOf } from "../values.ts";

/** A sound of one channel. */
export interface Sound {
  /** Samples in a second. */
  readonly rate: number;
  /** -1 to 1. */
  readonly samples: Float32Array;
}

/** How to read a sound. */
export type SoundOptions = Pick<ReadOptions, "signal" | "maxBytes">;

const soundOptions: OptionNames<SoundOptions> = { signal: true, maxBytes: true };

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** Reads a WAV file: integers of 8, 16, 24 or 32 bits, or floats of 32 or 64. Channels are averaged. Rejects with a NetworkError. */
export function sound(source: Source, options: SoundOptions = {}): Promise<Sound> {
  return wrapErrors("sound", options, () => loadSound(source, options));
}

async function loadSound(source: Source, options: SoundOptions): Promise<Sound> {
  checkOptions("sound", options, soundOptions);
  const bytes = await readSource(source, "sound", options);
  try {
    return readWav(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NetworkError("NOT_A_SOUND", `the sound is not a WAV file that can be read: ${error.message}`, {
      cause: error,
    });
  }
}

function readWav(bytes: Uint8Array): Sound {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const word = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  if (word(0) !== "RIFF" || word(8) !== "WAVE") throw new RangeError("it does not begin with RIFF and WAVE");
  let format: Format | undefined;
  for (let at = 12; at + 8 <= bytes.length; ) {
    const size = view.getUint32(at + 4, true);
    if (word(at) === "fmt ") format = readFormat(view, at + 8, size);
    if (word(at) === "data") {
      if (format === undefined) throw new RangeError("its samples come before their format");
      // Programs that write to a pipe do not know the size.
      return readSamples(view, at + 8, Math.min(size, bytes.length - at - 8), format);
    }
    at += 8 + size + (size % 2);
  }
  throw new RangeError("it has no samples");
}

interface Format {
  readonly rate: number;
  readonly channels: number;
  /** Bytes of a sample of one channel. */
  readonly width: number;
  sampleAt(view: DataView, at: number): number;
}

const sampleReaders: Readonly<Record<string, Format["sampleAt"]>> = {
  [`${PCM}-8`]: (view, at) => (view.getUint8(at) - 128) / 2 ** 7,
  [`${PCM}-16`]: (view, at) => view.getInt16(at, true) / 2 ** 15,
  [`${PCM}-24`]: (view, at) => ((view.getInt8(at + 2) << 16) | view.getUint16(at, true)) / 2 ** 23,
  [`${PCM}-32`]: (view, at) => view.getInt32(at, true) / 2 ** 31,
  [`${FLOAT}-32`]: (view, at) => view.getFloat32(at, true),
  [`${FLOAT}-64`]: (view, at) => view.getFloat64(at, true),
};

function readFormat(view: DataView, at: number, size: number): Format {
  if (size < 16 || at + size > view.byteLength) throw new RangeError(`its format has ${size} bytes`);
  const stated = view.getUint16(at, true);
  const kind = stated === EXTENSIBLE && size >= 26 ? view.getUint16(at + 24, true) : stated;
  const [channels, rate, bits] = [
    view.getUint16(at + 2, true),
    view.getUint32(at + 4, true),
    view.getUint16(at + 14, true),
  ];
  const sampleAt = sampleReaders[`${kind}-${bits}`];
  if (sampleAt === undefined) throw new RangeError(`its format ${kind} with ${bits} bits is not supported`);
  if (channels === 0 || rate === 0) throw new RangeError(`it has ${channels} channels at ${rate} Hz`);
  return { rate, channels, width: bits / 8, sampleAt };
}

function readSamples(view: DataView, start: number, size: number, { rate, channels, width, sampleAt }: Format): Sound {
  const samples = new Float32Array(Math.floor(size / (channels * width)));
  for (let place = 0; place < samples.length; place++) {
    let sum = 0;
    for (let channel = 0; channel < channels; channel++)
      sum += sampleAt(view, start + (place * channels + channel) * width);
    samples[place] = sum / channels;
  }
  return { rate, samples };
}

/**
 * A sound at another rate: each new sample is interpolated linearly, and when there are fewer, is the mean of those it stands for, so that
 * high tones do not come back as low ones.
 */
export function resample(given: Sound, toRate: number): Sound {
  check(isSound(given), "WRONG_TYPE", () => `resample: expected a sound { rate, samples }, got ${kindOf(given)}`);
  const { rate, samples } = given;
  expectAttached(samples, "resample");
  check(toRate > 0 && Number.isFinite(toRate), "BAD_OPTION", () => `resample: ${toRate} Hz is not a rate`);
  if (rate === toRate || samples.length === 0) return { rate: toRate, samples };
  const step = rate / toRate;
  const result = new Float32Array(Math.max(1, Math.round(samples.length / step)));
  const last = samples.length - 1;
  for (let place = 0; place < result.length; place++) {
    if (step <= 1) {
      const position = Math.min(place * step, last);
      const before = Math.floor(position);
      const share = position - before;
      result[place] = elementAt(samples, before) * (1 - share) + elementAt(samples, Math.min(before + 1, last)) * share;
    } else {
      const [from, to] = [
        Math.round(place * step),
        Math.min(samples.length, Math.max(Math.round(place * step) + 1, Math.round((place + 1) * step))),
      ];
      let sum = 0;
      for (let at = from; at < to; at++) sum += elementAt(samples, at);
      result[place] = to > from ? sum / (to - from) : 0;
    }
  }
  return { rate: toRate, samples: result };
}

/** Whether a value has the samples of a sound, and their rate. */
export function isSound(value: unknown): value is Sound {
  const isObject = typeof value === "object" && value !== null && "samples" in value && "rate" in value;
  return isObject && value.samples instanceof Float32Array && typeof value.rate === "number" && value.rate > 0;
}
