/**
 * Conversion of values and pictures to the elements of an input.
 */
import { joinBytes } from "./bytes.ts";
import { elementFacts } from "./elements.ts";
import { check, NetworkError } from "./error.ts";
import { isPictureLike, type PictureLike, rgbOf } from "./picture/like.ts";
import type { Picture } from "./picture/picture.ts";
import { type Normalisation, pictureLayoutOf, pictureToTensor, whyNoPicture } from "./picture/to-tensor.ts";
import type { Value } from "./session.ts";
import { infoText, isNumeric, type TensorInfo } from "./tensor-info.ts";
import { encodeValue, type PlainValue } from "./values.ts";

/** A value, a picture, or a list of pictures for the extents of a batch. */
export type InputValue = PlainValue | PictureLike | readonly PictureLike[];

/** True if an object is a value rather than inputs by name. */
export function isValue(value: unknown): boolean {
  return isPictureLike(value) || (typeof value === "object" && value !== null && "data" in value);
}

/** The bytes of an input. Rejects with a NetworkError. */
export async function encodeInput(value: InputValue, info: TensorInfo, what: string): Promise<Value> {
  if (info.type !== "string" && isPictureLike(value))
    return { bytes: pictureBytes(value, info, info.shape, what), shape: pictureShape(info) };
  if (info.type === "string" || !isPictures(value)) return encodePlain(value, info, what);
  const [batch = 0, ...rest] = info.shape;
  check(
    info.shape.length === 4 && (batch === 0 || batch === value.length),
    "WRONG_SIZE",
    () =>
      `${what} ${infoText(info)} takes ${batch === 0 ? "any number of" : batch} pictures; ${value.length} were given`,
  );
  const parts = value.map((picture) => pictureBytes(picture, info, [1, ...rest], what));
  return { bytes: joinBytes(parts), shape: [value.length, ...rest] };
}

/** The bytes of a value that is not a picture. Rejects with a NetworkError. */
export async function encodePlain(value: InputValue, info: TensorInfo, what: string): Promise<Value> {
  if (!isNumeric(info)) return (await import("./strings.ts")).encodeStringValue(value, info, what);
  // A picture is refused as any other object.
  return encodeValue(value as PlainValue, info, what);
}

function isPictures(value: InputValue): value is readonly PictureLike[] {
  return Array.isArray(value) && value.length > 0 && value.every(isPictureLike);
}

/** A batch of open extent has one picture then. */
function pictureShape({ shape }: TensorInfo): readonly number[] {
  return shape.length === 4 && shape[0] === 0 ? [1, ...shape.slice(1)] : shape;
}

function pictureBytes(like: PictureLike, info: TensorInfo, shape: readonly number[], what: string): Uint8Array {
  const picture = rgbOf(like);
  const type = isNumeric(info) ? elementFacts[info.type].hal : undefined;
  const held = pictureShape({ ...info, shape });
  const problem =
    type === undefined
      ? "a picture needs float32, float16 or integers up to 32 bits"
      : whyNoPicture({ type, shape: held });
  if (type === undefined || problem !== undefined) {
    throw new NetworkError("WRONG_TYPE", `${what} ${infoText(info)} cannot take a picture: ${problem}`);
  }
  const { scale = 0, zeroPoint = 0 } = info.quantization ?? {};
  const { channels } = pictureLayoutOf(held) ?? { channels: 3 };
  return pictureToTensor(picture, { type, shape: held, scale, zeroPoint }, normalisationFor(picture, info, channels));
}

/** Normalisation of the picture, else of the model for floating point, else the default. */
function normalisationFor({ use = {} }: Picture, info: TensorInfo, channels: number): Normalisation | undefined {
  const listOf = (given: number | readonly number[]) => (typeof given === "number" ? [given] : given);
  const { mean, std } = use;
  if (mean !== undefined || std !== undefined) {
    const given = { mean: listOf(mean ?? 0), std: listOf(std ?? 1) };
    for (const [name, list] of Object.entries(given)) {
      const isFit = list.length === 1 || list.length === channels;
      check(
        isFit,
        "BAD_OPTION",
        () => `picture: ${name} has ${list.length} numbers for ${channels} channels of ${infoText(info)}`,
      );
    }
    check(!given.std.includes(0), "BAD_OPTION", () => "picture: std is 0, which nothing can be divided by");
    return given;
  }
  // Quantised inputs hold pixels as they are: their quantisation was chosen for that.
  return info.type.startsWith("float") ? info.normalization : undefined;
}
