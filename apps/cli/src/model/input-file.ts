/**
 * From the bytes of a user's file to the bytes of an input tensor. The format follows from the first bytes: a picture, a .npy array, a
 * WAV file or numbers as text. Any file is the text of an input of strings; one whose name ends in .json has a list of them. A file whose name ends in .bin is the tensor itself.
 */
import { encodeStrings } from "@nnhal/extension-tflite";
import { NetworkError, resample, type Sound, sound } from "@nnhal/network";
import {
  byteSize,
  decodePicture,
  elementFacts,
  elementsOf,
  elementsOfReal,
  elementTypeOf,
  isNpy,
  type Normalisation,
  nameFile,
  type Picture,
  partStarts,
  pictureLayoutOf,
  pictureToTensor,
  readNpy,
  tensorText,
  whyNoPicture,
} from "@nnhal/network/tensors";
import type { TensorDescription } from "@nnhal/tflite";
import { messageOf, usageError } from "../failure.ts";
import { oneLine, shapeText } from "../text.ts";
import { bytesOfOpenExtent, isString } from "./values.ts";

/** An input of a run. */
export interface PreparedInput {
  readonly info: TensorDescription;
  readonly bytes: Uint8Array;
  /** Where it came from, for the report. */
  readonly source: string;
  /** Present if it is a picture. */
  readonly picture?: Picture;
  /** The further parts of a sound that is longer than the input. */
  readonly furtherParts?: readonly Uint8Array[];
}

/** Name of the standard input on the command line. */
export const standardInput = "-";

/** The endings of files that a folder of inputs is searched for: not of texts, since few of those are inputs. */
export const inputEndings = /\.(png|jpe?g|bmp|gif|webp|npy|wav|bin)$/i;

/** The most characters of a number. */
const MOST_DIGITS = 400;
/** The most bytes of a text of numbers: for each element, in which a float64 and what is beside it have room, and besides. */
const [MOST_BYTES_EACH, MOST_BYTES_BESIDES] = [40, 2 ** 16];

/** Options of converting files to elements. */
export interface Conversion {
  readonly normalisation?: Normalisation | undefined;
  /** Samples in a second that the model takes. Default: 16000. */
  readonly rate?: number | undefined;
}

/** Converts a file. Rejects with a usage error that names the file and the input. */
export async function convertInput(
  file: string,
  bytes: Uint8Array,
  info: TensorDescription,
  { normalisation, rate = 16_000 }: Conversion = {},
): Promise<PreparedInput> {
  if (/\.bin$/i.test(file)) return rawInput(file, bytes, info);
  if (isString(info)) return stringInput(file, bytes, info);
  if (isNpy(bytes)) return arrayInput(file, bytes, info);
  if (isWav(bytes)) return soundInput(file, bytes, info, rate);
  const count = elementsOf(info.shape);
  const most = MOST_BYTES_BESIDES + MOST_BYTES_EACH * count;
  const numbers = numbersIn(bytes, most);
  if (numbers !== undefined && bytes.length > most)
    throw usageError(
      `the input ${tensorText(info)} has ${count} elements, but ${file} has numbers in ${bytes.length} bytes; ${most} are the most`,
    );
  if (numbers !== undefined) return numberInput(file, numbers, info);
  if (file === standardInput && bytes.length === byteSize(info) && !looksLikePicture(bytes))
    return rawInput(file, bytes, info);
  return pictureInput(file, bytes, info, normalisation);
}

function rawInput(file: string, bytes: Uint8Array, info: TensorDescription): PreparedInput {
  const size = byteSize(info);
  const part = bytesOfOpenExtent(info);
  if (part !== undefined && bytes.length > 0) {
    if (bytes.length % part === 0) return { info, bytes, source: nameOf(file) };
    throw usageError(
      `the input ${file} has ${bytes.length} bytes, but the input ${tensorText(info)} takes a multiple of ${part}`,
    );
  }
  if (bytes.length !== size) {
    throw usageError(`the input ${file} has ${bytes.length} bytes, but the input ${tensorText(info)} takes ${size}`);
  }
  return { info, bytes, source: nameOf(file) };
}

/** The list of a JSON file; else a text for an input of one string, and a string for each line for one of several. */
function stringInput(file: string, bytes: Uint8Array, info: TensorDescription): PreparedInput {
  const text = textOf(bytes);
  const shape = info.shape.slice(0, -1);
  const count = elementsOf(shape);
  const isList = /\.json$/i.test(file);
  const strings = isList ? stringsOfJson(file, text, info) : linesOf(text, count);
  if (strings.length !== count) {
    const given = isList ? "strings" : "lines";
    throw usageError(`the input ${tensorText(info)} has ${count} strings, but ${file} has ${strings.length} ${given}`);
  }
  const plural = count === 1 ? "a string" : `${count} strings`;
  return { info, bytes: encodeStrings(strings, shape).bytes, source: `${nameOf(file)}, ${plural}` };
}

function linesOf(text: string, count: number): readonly string[] {
  const trimmed = text.replace(/\r?\n$/, "");
  return count === 1 ? [trimmed] : trimmed.split(/\r?\n/);
}

/** The strings of lists in lists, at most 32 deep, in order. */
function stringsOfJson(file: string, text: string, info: TensorDescription): readonly string[] {
  const refuse = (why: string, cause?: unknown) =>
    usageError(`the input ${tensorText(info)} takes a JSON list of strings, but ${file} ${why}`, cause);
  let content: unknown;
  try {
    content = JSON.parse(text);
  } catch (error) {
    throw refuse(`is not JSON: ${oneLine(messageOf(error))}`, error);
  }
  const items: readonly unknown[] = Array.isArray(content) ? content.flat(MOST_LEVELS - 1) : [content];
  return items.map((item) => {
    if (typeof item === "string") return item;
    if (Array.isArray(item)) throw refuse(`has lists more than ${MOST_LEVELS} deep`);
    // An object may be so deep that it cannot be written.
    const shown = typeof item === "object" && item !== null ? "an object" : JSON.stringify(item);
    throw refuse(`has ${shown} in it`);
  });
}

/** More levels of lists than any tensor has. */
const MOST_LEVELS = 32;

async function pictureInput(
  file: string,
  bytes: Uint8Array,
  info: TensorDescription,
  normalisation: Normalisation | undefined,
): Promise<PreparedInput> {
  const picture = await decode(file, bytes);
  const problem = whyNoPicture(info) ?? whyNoNormalisation(info, normalisation);
  if (problem !== undefined) {
    throw usageError(`the input ${tensorText(info)} cannot take the picture ${file}: ${problem}`);
  }
  const source = `${nameOf(file)}, ${picture.width} x ${picture.height}`;
  return { info, bytes: pictureToTensor(picture, info, normalisation), source, picture };
}

async function decode(file: string, bytes: Uint8Array): Promise<Picture> {
  try {
    return await decodePicture(bytes);
  } catch (error) {
    const isUnknown = error instanceof RangeError && error.cause === undefined;
    const kind = isUnknown ? nameFile(bytes) : undefined;
    // A text without numbers is not worth a word.
    const what = kind === undefined || kind === "a text" ? "" : `is ${kind}; it `;
    const hint = isUnknown ? ", a .npy or WAV file, or numbers; raw tensors need a name in .bin" : "";
    throw usageError(`the input ${file} ${what}${messageOf(error)}${hint}`, error);
  }
}

function looksLikePicture(bytes: Uint8Array): boolean {
  const [first, second] = bytes;
  return (
    (first === 0x89 && second === 0x50) || (first === 0xff && second === 0xd8) || (first === 0x42 && second === 0x4d)
  );
}

function whyNoNormalisation({ shape }: TensorDescription, given: Normalisation | undefined): string | undefined {
  const most = Math.max(given?.mean.length ?? 1, given?.std.length ?? 1);
  const channels = pictureLayoutOf(shape)?.channels ?? 1;
  return most > channels ? `--mean and --std have ${most} numbers for ${channels} channel` : undefined;
}

/** Elements of the tensor's own type are taken as they are, others are real values. */
function arrayInput(file: string, bytes: Uint8Array, info: TensorDescription): PreparedInput {
  const array = nameFileInErrors(file, () => readNpy(bytes));
  const extents = (shape: readonly number[]) => shape.filter((extent) => extent !== 1).join();
  if (extents(array.shape) !== extents(info.shape)) {
    throw usageError(
      `the input ${tensorText(info)} cannot take the array ${file} of the shape ${shapeText(array.shape)}`,
    );
  }
  const isOwn = array.type === elementTypeOf(info.type);
  const source = `${nameOf(file)}, ${array.type} ${shapeText(array.shape)}`;
  return { info, bytes: encodeValues(file, array.values(), info, isOwn), source };
}

function numberInput(file: string, numbers: readonly (number | bigint)[], info: TensorDescription): PreparedInput {
  const count = elementsOf(info.shape);
  if (numbers.length !== count) {
    throw usageError(`the input ${tensorText(info)} has ${count} elements, but ${file} has ${numbers.length} numbers`);
  }
  return { info, bytes: encodeValues(file, numbers, info, false), source: `${nameOf(file)}, numbers` };
}

/** Sound is brought to the rate of the model, and cut into parts that fill the tensor; the last is followed by silence. */
async function soundInput(
  file: string,
  bytes: Uint8Array,
  info: TensorDescription,
  rate: number,
): Promise<PreparedInput> {
  if (info.shape.filter((extent) => extent !== 1).length > 1) {
    throw usageError(`the input ${tensorText(info)} cannot take the sound ${file}: a sound needs one extent above 1`);
  }
  const { rate: given, samples } = await readSound(file, bytes, rate);
  const count = elementsOf(info.shape);
  const [first = new Uint8Array(), ...furtherParts] = partStarts(samples.length, count).map((start) => {
    const values = new Float32Array(count);
    values.set(samples.subarray(start, start + count));
    return encodeValues(file, values, info, false);
  });
  const source = [
    `${nameOf(file)}, ${(samples.length / rate).toFixed(2)} s at ${rate} Hz`,
    ...(given === rate ? [] : [`from ${given} Hz`]),
    ...(furtherParts.length === 0 ? [] : [`in ${furtherParts.length + 1} parts`]),
    ...(samples.length % count === 0 ? [] : ["then silence"]),
  ].join(", ");
  return { info, bytes: first, source, ...(furtherParts.length > 0 && { furtherParts }) };
}

/** A sound at a rate; `rate` is its own. */
async function readSound(file: string, bytes: Uint8Array, rate: number): Promise<Sound> {
  try {
    const given = await sound(bytes);
    return { rate: given.rate, samples: resample(given, rate).samples };
  } catch (error) {
    if (!(error instanceof NetworkError)) throw error;
    throw usageError(`the input ${file}: ${error.message}`, error);
  }
}

/** True if bytes begin like a WAV file. */
function isWav(bytes: Uint8Array): boolean {
  const textAt = (at: number) => String.fromCharCode(...bytes.subarray(at, at + 4));
  return textAt(0) === "RIFF" && textAt(8) === "WAVE";
}

function encodeValues(
  file: string,
  values: ArrayLike<number | bigint>,
  { type, scale, zeroPoint, ...info }: TensorDescription,
  areElements: boolean,
): Uint8Array {
  const elementType = elementTypeOf(type);
  const wanted = tensorText({ type, ...info });
  if (elementType === undefined || elementFacts[elementType].parts !== undefined) {
    throw usageError(`the input ${wanted} takes no numbers; raw tensors need a name in .bin`);
  }
  const quantization = areElements || scale === 0 ? undefined : { scale, zeroPoint };
  try {
    const { buffer, byteOffset, byteLength } = elementsOfReal(elementType, quantization, values);
    return new Uint8Array(buffer, byteOffset, byteLength);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usageError(`the input ${wanted} cannot take ${file}: ${error.message}`, error);
  }
}

function nameFileInErrors<Result>(file: string, read: () => Result): Result {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usageError(`the input ${file} ${error.message}`, error);
  }
}

/**
 * The numbers of a text with nothing else but spaces, lines, commas, semicolons and brackets; undefined for any other file. Of a text of more than
 * `most` bytes, the first.
 */
function numbersIn(bytes: Uint8Array, most: number): readonly (number | bigint)[] | undefined {
  if (!/^[\t\n\r -~]+$/.test(textOf(bytes.subarray(0, 64)))) return undefined;
  const isCut = bytes.length > most;
  const parts = textOf(isCut ? bytes.subarray(0, 2 * MOST_DIGITS) : bytes).split(/[\s,;[\]]+/);
  if (isCut) parts.pop();
  const words = parts.filter((word) => word !== "");
  const isNumber = (word: string) =>
    word.length <= MOST_DIGITS && (unusualNumber(word) !== undefined || !Number.isNaN(Number(word)));
  const areNumbers = words.every(isNumber);
  return words.length > 0 && areNumbers ? words.map(numberOf) : undefined;
}

/** The text of a file in UTF-8, or in UTF-16 with a byte order mark, without the mark. */
function textOf(bytes: Uint8Array): string {
  const [first, second] = bytes;
  const isLittle = first === 0xff && second === 0xfe;
  const isBig = first === 0xfe && second === 0xff;
  return new TextDecoder(isLittle ? "utf-16le" : isBig ? "utf-16be" : "utf-8").decode(bytes);
}

/** Value of a word of NumPy, C and JavaScript for numbers without digits; undefined for any other word. */
function unusualNumber(word: string): number | undefined {
  const [, sign, name] = /^([-+]?)(nan|inf|infinity)$/i.exec(word) ?? [];
  if (name === undefined) return undefined;
  if (name.toLowerCase() === "nan") return Number.NaN;
  return sign === "-" ? Number.NEGATIVE_INFINITY : Number.POSITIVE_INFINITY;
}

/** A number; an integer that a number does not hold exactly stays whole. */
function numberOf(word: string): number | bigint {
  const number = unusualNumber(word) ?? Number(word);
  return Number.isSafeInteger(number) || !/^[-+]?\d+$/.test(word) ? number : BigInt(word.replace("+", ""));
}

function nameOf(file: string): string {
  return file === standardInput ? "standard input" : file;
}
