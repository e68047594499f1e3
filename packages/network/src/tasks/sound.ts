/**
 * Sounds: WAV files read, and brought to another rate.
 */
import { elementAt, type OptionNames } from "@nnhal/operations";
import { expectAttached } from "../bytes.ts";
import { check, NetworkError } from "../error.ts";
import { checkOptions, wrapErrors } from "../options.ts";
import { nameOf, readSource, type Source } from "../read.ts";
import { kindOf } from "../values.ts";

/** A sound of one channel. */
export interface Sound {
  /** Samples in a second. */
  readonly rate: number;
  /** -1 to 1. */
  readonly samples: Float32Array;
}

/** Options of reading a sound. */
export interface SoundOptions {
  readonly signal?: AbortSignal | undefined;
  /** The most bytes of a file. Default: 2 GiB. */
  readonly maxBytes?: number | undefined;
  /** The most samples: a file that has more is refused. Default: 100 million, 35 minutes at 48 kHz. */
  readonly maxSamples?: number | undefined;
}

const soundOptions: OptionNames<SoundOptions> = { signal: true, maxBytes: true, maxSamples: true };

/** The most samples of a file, and of what a sound becomes at another rate. */
const MOST_SAMPLES = 100_000_000;

/** Samples in a second that a file may have: from less than telephones to more than studios. */
const RATES = { least: 1000, most: 768_000 } as const;

const PCM = 1;
const FLOAT = 3;
const EXTENSIBLE = 0xfffe;

/** Reads a WAV file: integers of 8, 16, 24 or 32 bits, or floats of 32 or 64. Channels are averaged. Rejects with a NetworkError. */
export function sound(source: Source, options: SoundOptions = {}): Promise<Sound> {
  return wrapErrors("sound", options, () => loadSound(source, options));
}

async function loadSound(source: Source, options: SoundOptions): Promise<Sound> {
  checkOptions("sound", options, soundOptions);
  const { maxSamples = MOST_SAMPLES, ...reading } = options;
  check(
    typeof maxSamples === "number" && maxSamples > 0,
    "BAD_OPTION",
    () => `sound: maxSamples is ${maxSamples}, not a number of samples above 0`,
  );
  const bytes = await readSource(source, "sound", reading);
  try {
    return await inPauses(readWav(bytes, maxSamples), options.signal);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw new NetworkError(
      "NOT_A_SOUND",
      `the sound${nameOf(source)} is not a WAV file that can be read: ${error.message}`,
      {
        cause: error,
      },
    );
  }
}

function readWav(bytes: Uint8Array, maxSamples: number): Work<Sound> {
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
      return readSamples(view, at + 8, Math.min(size, bytes.length - at - 8), format, maxSamples);
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
  if (channels === 0) throw new RangeError("it has 0 channels");
  if (rate < RATES.least || rate > RATES.most)
    throw new RangeError(`its rate is ${rate} Hz; ${RATES.least} to ${RATES.most} are supported`);
  return { rate, channels, width: bits / 8, sampleAt };
}

/** Work that pauses now and then. */
type Work<Result> = Generator<undefined, Result, undefined>;

/** Samples between two pauses: some hundredths of a second. */
const PAUSE = 2 ** 20;

function* readSamples(
  view: DataView,
  start: number,
  size: number,
  { rate, channels, width, sampleAt }: Format,
  maxSamples: number,
): Work<Sound> {
  const count = Math.floor(size / (channels * width));
  if (count > maxSamples) throw new RangeError(`it has ${count} samples; ${maxSamples} are the most`);
  const samples = new Float32Array(count);
  const most = Math.max(1, Math.floor(PAUSE / channels));
  for (let first = 0; first < count; first += most) {
    for (let place = first; place < Math.min(count, first + most); place++) {
      let sum = 0;
      for (let channel = 0; channel < channels; channel++)
        sum += sampleAt(view, start + (place * channels + channel) * width);
      samples[place] = sum / channels;
    }
    yield;
  }
  return { rate, samples };
}

/**
 * A sound at another rate: each new sample is interpolated linearly, and when there are fewer, is the mean of those it stands for, so that
 * high tones do not come back as low ones. Throws a NetworkError if there would be more than 100 million samples, and more than are given.
 */
export function resample(given: Sound, toRate: number): Sound {
  const work = resampleInSteps(given, toRate);
  for (let step = work.next(); ; step = work.next()) if (step.done) return step.value;
}

/** The same, with pauses in which a signal ends it. */
export function resampleInPauses(given: Sound, toRate: number, signal: AbortSignal | undefined): Promise<Sound> {
  return inPauses(resampleInSteps(given, toRate), signal);
}

function* resampleInSteps(given: Sound, toRate: number): Work<Sound> {
  check(isSound(given), "WRONG_TYPE", () => `resample: expected a sound { rate, samples }, got ${kindOf(given)}`);
  const { rate, samples } = given;
  expectAttached(samples, "resample");
  check(toRate > 0 && Number.isFinite(toRate), "BAD_OPTION", () => `resample: ${toRate} Hz is not a rate`);
  if (rate === toRate || samples.length === 0) return { rate: toRate, samples };
  const step = rate / toRate;
  const count = Math.max(1, Math.round(samples.length / step));
  check(
    count <= Math.max(MOST_SAMPLES, samples.length),
    "WRONG_SIZE",
    () =>
      `resample: ${samples.length} samples at ${rate} Hz would be ${count} at ${toRate} Hz; ${MOST_SAMPLES} are the most`,
  );
  const result = new Float32Array(count);
  const most = Math.max(1, Math.floor(PAUSE / Math.max(1, step)));
  for (let first = 0; first < count; first += most) {
    const last = Math.min(count, first + most);
    if (step <= 1) interpolate(samples, step, result, first, last);
    else average(samples, step, result, first, last);
    yield;
  }
  return { rate: toRate, samples: result };
}

function interpolate(samples: Float32Array, step: number, result: Float32Array, first: number, end: number): void {
  const last = samples.length - 1;
  for (let place = first; place < end; place++) {
    const position = Math.min(place * step, last);
    const before = Math.floor(position);
    const share = position - before;
    result[place] = elementAt(samples, before) * (1 - share) + elementAt(samples, Math.min(before + 1, last)) * share;
  }
}

function average(samples: Float32Array, step: number, result: Float32Array, first: number, end: number): void {
  for (let place = first; place < end; place++) {
    const from = Math.round(place * step);
    const to = Math.min(samples.length, Math.max(from + 1, Math.round((place + 1) * step)));
    let sum = 0;
    for (let at = from; at < to; at++) sum += elementAt(samples, at);
    result[place] = to > from ? sum / (to - from) : 0;
  }
}

/** Does work with turns of the event loop in its pauses. Rejects with the reason of the signal. */
async function inPauses<Result>(work: Work<Result>, signal: AbortSignal | undefined): Promise<Result> {
  for (let step = work.next(); ; step = work.next()) {
    if (step.done) return step.value;
    await new Promise((resolve) => setTimeout(resolve, 0));
    signal?.throwIfAborted();
  }
}

/**
 * Where the parts of a sound begin that are as long as an input: `step` samples apart, until a part has the last sample. The last part may be
 * followed by silence.
 */
export function partStarts(samples: number, length: number, step = length): readonly number[] {
  const starts = [0];
  for (let start = 0; start + length < samples && start + step < samples; start += step) starts.push(start + step);
  return starts;
}

/** True if a value has the samples of a sound, and their rate. */
export function isSound(value: unknown): value is Sound {
  const isObject = typeof value === "object" && value !== null && "samples" in value && "rate" in value;
  return isObject && value.samples instanceof Float32Array && typeof value.rate === "number" && value.rate > 0;
}
