/**
 * Values of inputs as the page gives them: files, pixels, samples, texts and numbers.
 */
import { type InputValue, picture, resample, sound, type TensorInfo } from "@nnhal/network";
import { isNpy, readNpy, textInputs } from "@nnhal/network/tensors";
import { messageOf } from "../text.ts";
import { isNumberText } from "./number-text.ts";
import { SOUND_RATE } from "./sound-rate.ts";

/** The value of an input. */
export type GivenInput =
  /** A picture, sound or array, by its bytes; a text of numbers, or of strings for such an input. */
  | { readonly kind: "file"; readonly bytes: Uint8Array }
  | { readonly kind: "pixels"; readonly width: number; readonly height: number; readonly data: Uint8ClampedArray }
  /** Samples of sound from -1 to 1, `SOUND_RATE` of them a second. */
  | { readonly kind: "samples"; readonly samples: Float32Array }
  | { readonly kind: "text"; readonly text: string }
  /** A text that the tokeniser of the network cuts, for all of its inputs. */
  | { readonly kind: "sentence"; readonly text: string }
  | { readonly kind: "noise"; readonly seed: number }
  | { readonly kind: "zeros" };

/** Values of inputs by name. */
export type GivenInputs = Readonly<Record<string, GivenInput>>;

/** The values of all inputs by name. Rejects with the name of one that cannot be read. */
export async function readInputs(
  infos: readonly TensorInfo[],
  given: GivenInputs,
): Promise<Record<string, InputValue>> {
  const values = await Promise.all(
    infos.map(async (info) => {
      const input = given[info.name] ?? { kind: "zeros" };
      try {
        return [info.name, await readInput(info, input, infos)] as const;
      } catch (error) {
        throw new Error(`the input "${info.name}": ${messageOf(error)}`, { cause: error });
      }
    }),
  );
  return Object.fromEntries(values);
}

async function readInput(info: TensorInfo, given: GivenInput, all: readonly TensorInfo[]): Promise<InputValue> {
  const count = info.shape.reduce((product, extent) => product * Math.max(1, extent), 1);
  const shape = info.shape.map((extent) => Math.max(1, extent));
  switch (given.kind) {
    case "pixels":
      return picture({ width: given.width, height: given.height, data: given.data });
    case "text":
      return textValue(info, given.text);
    case "sentence":
      return sentenceValue(info, given.text, all);
    case "samples":
      return pad(given.samples, count);
    case "file":
      return fileValue(info, given.bytes, count, all);
    case "zeros":
      return info.type === "string"
        ? { data: new Array<string>(count).fill(""), shape }
        : { data: new Float64Array(count), shape };
    case "noise": {
      const next = randomNumbers(given.seed);
      const [least, greatest] = info.quantization === undefined && info.type === "float32" ? [-1, 1] : rangeOf(info);
      return { data: Float64Array.from({ length: count }, () => least + (greatest - least) * next()), shape };
    }
  }
}

/** Real numbers that an input can hold. */
function rangeOf({
  type,
  quantization: { scale, zeroPoint } = { scale: 1, zeroPoint: 0 },
}: TensorInfo): readonly [number, number] {
  const [low, high] = { uint8: [0, 255], int8: [-128, 127], int16: [-32768, 32767], bool: [0, 1] }[type as string] ?? [
    0, 1,
  ];
  return [((low ?? 0) - zeroPoint) * scale, ((high ?? 1) - zeroPoint) * scale];
}

/** Numbers from 0 to 1 (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}

/** The value of an input for a text that fills all of them. */
function sentenceValue({ name }: TensorInfo, text: string, all: readonly TensorInfo[]): InputValue {
  const value = textInputs("the text", all, text)[name];
  if (value === undefined) throw new Error("expected a part of the text, got none");
  return value;
}

function textValue(info: TensorInfo, text: string): InputValue {
  if (info.type === "string") return text;
  const numbers = text
    .split(/[\s,;[\]]+/)
    .filter((word) => word !== "")
    .map((word) => ({ word, value: Number(word) }));
  const wrong = numbers.find(({ word, value }) => Number.isNaN(value) && !/^nan$/i.test(word));
  if (wrong !== undefined) throw new Error(`expected numbers, got ${JSON.stringify(wrong.word.slice(0, 40))}`);
  return numbers.map(({ value }) => value);
}

/** So many samples: the first, and silence after them. */
function pad(samples: ArrayLike<number>, count: number): Float32Array {
  return Float32Array.from({ length: count }, (_, index) => samples[index] ?? 0);
}

async function fileValue(
  info: TensorInfo,
  bytes: Uint8Array,
  count: number,
  all: readonly TensorInfo[],
): Promise<InputValue> {
  if (isNpy(bytes)) {
    const array = readNpy(bytes);
    return { data: array.values().map(Number), shape: array.shape };
  }
  const start = String.fromCharCode(...bytes.subarray(0, 4));
  if (start === "RIFF") {
    const heard = await sound(bytes);
    return pad(resample(heard, SOUND_RATE).samples, count);
  }
  if (info.type === "string" || isNumberText(bytes)) return textValue(info, new TextDecoder().decode(bytes));
  return info.tokenizer === undefined ? picture(bytes) : sentenceValue(info, new TextDecoder().decode(bytes), all);
}
