/**
 * The inputs, outputs and states of a model as applications see them.
 */
import type { ElementArray, ElementType, NumberArray, NumericType, Quantization } from "./elements.ts";
import { check } from "./error.ts";
import { openShapeText } from "./text.ts";
import type { TokenizerInfo } from "./tokenizer.ts";

/** Facts of an input, output or state that are known before the model runs. */
export interface TensorInfo {
  /** Its name in the file's signature, else its tensor's name; `input0` or `output0` by its place if it has none or shares it. */
  readonly name: string;
  /** Other names by which it can be called: its tensor's, and the one in the model's metadata. */
  readonly otherNames: readonly string[];
  readonly type: ElementType;
  /** Extents; 0 is one that each run determines, and [] a rank that each run determines. */
  readonly shape: readonly number[];
  /** Present if the elements stand for other numbers: real = (element - zeroPoint) * scale. */
  readonly quantization?: Quantization;
  /** Names of the classes, if they are packed with the model. */
  readonly labels?: readonly string[];
  /** Normalisation of pixels by the model's maker: (pixel - mean) / std, for each channel or for all. */
  readonly normalization?: { readonly mean: readonly number[]; readonly std: readonly number[] };
  /** Tokeniser that makes its elements from a text, if the model's metadata name one: see `classifyText` and `embed`. */
  readonly tokenizer?: TokenizerInfo;
  /** Description by the maker. */
  readonly description?: string;
}

/** Facts of a tensor of numbers. */
export type NumericInfo = TensorInfo & { readonly type: NumericType };

/** True if a tensor has numbers, not strings. */
export function isNumeric(info: TensorInfo): info is NumericInfo {
  return info.type !== "string";
}

/** A value of a tensor. */
export interface Tensor<Data extends ElementArray = NumberArray> {
  readonly name: string;
  readonly type: ElementType;
  /** The extents of this value. */
  readonly shape: readonly number[];
  /**
   * Row by row. Real numbers, unless `raw` asked for the elements: then numbers as the model has them, the bits of float16, and
   * BigInt64Array for int64. Real numbers of int64 and uint64 are exact up to 2^53. Of strings: the bytes of their rows, see `strings`.
   */
  readonly data: Data;
  /** Row by row, if the type is `string`. */
  readonly strings?: readonly string[];
  /** Names of the classes, if they are packed with the model. */
  readonly labels?: readonly string[];
}

/** `"scores" (float32 [1, 10])`, for messages. */
export function infoText({ name, type, shape }: Pick<TensorInfo, "name" | "type" | "shape">): string {
  return `"${name}" (${type} ${openShapeText(shape)})`;
}

/** The tensor of a name; undefined if there is none, or several by a name that is not their own. */
export function findByName<Info extends Pick<TensorInfo, "name" | "otherNames">>(
  infos: readonly Info[],
  name: string,
): Info | undefined {
  const own = infos.find((info) => info.name === name);
  if (own !== undefined) return own;
  const others = infos.filter((info) => info.otherNames.includes(name));
  return others.length === 1 ? others[0] : undefined;
}

/** Returns the index of a tensor by name. `what`: what it is of the model, for messages. Throws WRONG_NAME if there is none. */
export function indexOfName(infos: readonly TensorInfo[], name: string, what: string): number {
  const info = findByName(infos, name);
  check(info !== undefined, "WRONG_NAME", () => `there is no ${what} "${name}"; there are: ${listNames(infos)}`);
  return infos.indexOf(info);
}

export function listNames(infos: readonly TensorInfo[]): string {
  return infos.length === 0 ? "none" : infos.map(infoText).join(", ");
}
