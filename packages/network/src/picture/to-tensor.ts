/**
 * From a picture to the bytes of an input tensor.
 */
import { encodeTensorData } from "@nnhal/backend";
import { clamp, createData, elementAt, elementFactsOf, roundHalfAway, typeText } from "@nnhal/operations";
import { byteSize, elementsOf, type TensorShape } from "../tensor.ts";
import type { Picture } from "./picture.ts";
import { fitPicture, toGrey } from "./resize.ts";

/** real value = (pixel - mean) / std. One number each, or one for each of red, green and blue. */
export interface Normalisation {
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

const defaultNormalisation: Normalisation = { mean: [128], std: [128] };

/** Layout of a picture in a tensor. */
export interface PictureLayout {
  readonly height: number;
  readonly width: number;
  readonly channels: number;
  /** True if all of one channel come before all of the next. */
  readonly isPlanar: boolean;
}

/** [1, height, width, channels], [1, channels, height, width] or [1, height, width]; undefined for any other shape. */
export function pictureLayoutOf(shape: readonly number[]): PictureLayout | undefined {
  if (elementsOf(shape) === 0) return undefined;
  const [first = 0, second = 0, third = 0, fourth = 0] = shape;
  const isColour = (extent: number) => extent === 1 || extent === 3;
  if (shape.length === 4 && first === 1) {
    if (isColour(fourth)) return { height: second, width: third, channels: fourth, isPlanar: false };
    if (isColour(second)) return { height: third, width: fourth, channels: second, isPlanar: true };
  }
  if (shape.length === 3 && first === 1) return { height: second, width: third, channels: 1, isPlanar: false };
  return undefined;
}

/** Why a tensor cannot hold a picture; undefined if it can. */
export function whyNoPicture({ type, shape }: Pick<TensorShape, "type" | "shape">): string | undefined {
  if (pictureLayoutOf(shape) === undefined) {
    return "a picture needs the shape [1, height, width, 3], [1, 3, height, width], or either with 1 channel or none";
  }
  return type === "TENSOR_BOOL8" ? "a picture is not made of true and false" : undefined;
}

/**
 * The picture at the tensor's size, as its elements. Without a normalisation, 8-bit and 32-bit integers hold the pixel
 * (signed bytes: the pixel - 128), and other types (pixel - 128) / 128. With one, quantised types hold that real value
 * by their scale and zero point. The tensor is one that `whyNoPicture` has nothing against.
 */
export function pictureToTensor(picture: Picture, tensor: TensorShape, given?: Normalisation): Uint8Array {
  const layout = pictureLayoutOf(tensor.shape);
  if (layout === undefined) throw new RangeError(`a picture does not fit the shape [${tensor.shape.join(", ")}]`);
  const { height, width, channels, isPlanar } = layout;
  const resized = fitPicture(picture, width, height);
  const pixels = channels === 1 ? toGrey(resized) : resized.data;
  const elementOf = elementFunction(tensor, given);
  const data = createData(tensor.type, pixels.length);
  const count = width * height;
  for (let place = 0; place < pixels.length; place++) {
    const channel = place % channels;
    const to = isPlanar ? channel * count + Math.floor(place / channels) : place;
    data[to] = elementOf(elementAt(pixels, place), channel);
  }
  const bytes = new Uint8Array(byteSize(tensor));
  encodeTensorData(tensor.type, data, bytes);
  return bytes;
}

function elementFunction(
  { type, scale, zeroPoint }: TensorShape,
  given: Normalisation | undefined,
): (pixel: number, channel: number) => number {
  if (given === undefined) {
    if (type === "TENSOR_QUANT8_ASYMM" || type === "TENSOR_INT32") return (pixel) => pixel;
    if (type === "TENSOR_QUANT8_ASYMM_SIGNED" || type === "TENSOR_QUANT8_SYMM") return (pixel) => pixel - 128;
  }
  const { mean, std } = given ?? defaultNormalisation;
  const realOf = (pixel: number, channel: number) => (pixel - pick(mean, channel)) / pick(std, channel);
  if (type === "TENSOR_FLOAT32" || type === "TENSOR_FLOAT16") return realOf;
  const step = scale > 0 ? scale : 1;
  const [least, greatest] = rangeOf(type);
  return (pixel, channel) => clamp(roundHalfAway(realOf(pixel, channel) / step) + zeroPoint, least, greatest);
}

function pick(numbers: readonly number[], channel: number): number {
  return elementAt(numbers, numbers.length === 1 ? 0 : channel);
}

const unsigned = new Set(["TENSOR_QUANT8_ASYMM", "TENSOR_QUANT16_ASYMM"]);

function rangeOf(type: TensorShape["type"]): readonly [number, number] {
  const values = 2 ** (8 * elementFactsOf(type).elementSize);
  return unsigned.has(typeText(type)) ? [0, values - 1] : [-values / 2, values / 2 - 1];
}
