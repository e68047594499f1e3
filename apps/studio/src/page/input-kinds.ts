/**
 * Kinds of inputs by shape and type, and the input that a file is for, by its first bytes.
 */
import type { TensorInfo } from "@nnhal/network";
import { isNumberText } from "../engine/number-text.ts";
import { SOUND_RATE } from "../engine/sound-rate.ts";

/** Names of files that hold models. */
export const modelFiles = ".tflite,.lite,.task,.litertlm";

/** Most samples that a browser keeps: two seconds. */
export const MOST_SAMPLES = 32_768;

/** Extents of a picture if an input can take one. */
export function pictureSize({
  shape,
  type,
}: TensorInfo): { readonly width: number; readonly height: number } | undefined {
  const [, second = 0, third = 0, last = 0] = shape;
  if (shape.length !== 4 || type === "string") return undefined;
  if ([1, 3].includes(last)) return { width: third || 224, height: second || 224 };
  return [1, 3].includes(second) ? { width: last || 224, height: third || 224 } : undefined;
}

/** Samples of a sound if an input can take one: its only extent. */
export function soundLength({ shape, type }: TensorInfo): number | undefined {
  const count = shape.reduce((product, extent) => product * extent, 1);
  const isList = shape.filter((extent) => extent !== 1).length === 1;
  return type === "float32" && isList && count >= LEAST_SAMPLES && count <= MOST_SAMPLES ? count : undefined;
}

/** Shorter inputs are not of sound: a quarter of a second. */
const LEAST_SAMPLES = SOUND_RATE / 4;

/** Starts of files, as letters: pictures. */
const pictures = [/^\x89PNG/, /^\xff\xd8\xff/, /^BM/, /^GIF8/, /^RIFF....WEBP/s];
/** WAV. */
const sounds = /^RIFF....WAVE/s;

/** The input that a file is for: of those that can take a picture or a sound the first, else the first of all; undefined without inputs. */
export function inputFor(bytes: Uint8Array, inputs: readonly TensorInfo[]): TensorInfo | undefined {
  const start = String.fromCharCode(...bytes.subarray(0, 12));
  const fits = (info: TensorInfo) => {
    if (pictures.some((each) => each.test(start))) return pictureSize(info) !== undefined;
    return sounds.test(start) && soundLength(info) !== undefined;
  };
  return inputs.find(fits) ?? inputs[0];
}

/** True if a text becomes the values of all inputs: strings, or the tokens of it. */
export function takesText(infos: readonly TensorInfo[]): boolean {
  return infos.length > 0 && infos.every(({ type, tokenizer }) => type === "string" || tokenizer !== undefined);
}

/** True for a dropped file that names classes, and is not the value of an input: a text with words, unless texts are what the network takes. */
export function isLabelFile(name: string, bytes: Uint8Array, inputs: readonly TensorInfo[]): boolean {
  if (!/\.txt$/i.test(name) || bytes.length === 0) return false;
  return !isNumberText(bytes) && inputs.every(({ type, tokenizer }) => type !== "string" && tokenizer === undefined);
}

/** True for a file that holds a model, by its name or its first bytes. */
export function isModelFile(name: string, bytes: Uint8Array): boolean {
  const isNamed = modelFiles.split(",").some((end) => name.toLowerCase().endsWith(end));
  return isNamed || String.fromCharCode(...bytes.subarray(4, 8)) === "TFL3";
}
