/**
 * From a picture to the bytes of an input tensor.
 */
import { encodeTensorData } from "@nnhal/backend";
import { clamp, createData, elementAt, elementFactsOf, roundHalfAway, typeText } from "@nnhal/operations";
import { byteSize, elementsOf, type TensorShape } from "../tensor.ts";
import type { Picture } from "./picture.ts";
import { resize, toGrey } from "./resize.ts";

/** real value = (pixel - mean) / std. One number each, or one for each of red, green and blue. */
export interface Normalisation {
  readonly mean: readonly number[];
  readonly std: readonly number[];
}

const defaultNormalisation: Normalisation = { mean: [128], std: [128] };

/** Why a tensor cannot hold a picture; undefined if it can. */
export function whyNoPicture({ type, shape }: TensorShape): string | undefined {
  const [batch, , , channels] = shape;
  if (shape.length !== 4 || batch !== 1 || (channels !== 1 && channels !== 3) || elementsOf(shape) === 0) {
    return "a picture needs the shape [1, height, width, 3] or [1, height, width, 1]";
  }
  return type === "TENSOR_BOOL8" ? "a picture is not made of true and false" : undefined;
}

/**
 * The picture at the tensor's size, as its elements. Without a normalisation, 8-bit and 32-bit integers hold the pixel
 * (signed bytes: the pixel - 128), and other types (pixel - 128) / 128. With one, quantised types hold that real value
 * by their scale and zero point. The tensor is one that `whyNoPicture` has nothing against.
 */
export function pictureToTensor(picture: Picture, tensor: TensorShape, given?: Normalisation): Uint8Array {
  const { type, shape } = tensor;
  const [height, width, channels] = [elementAt(shape, 1), elementAt(shape, 2), elementAt(shape, 3)];
  const resized = resize(picture, width, height);
  const pixels = channels === 1 ? toGrey(resized) : resized.data;
  const elementOf = elementFunction(tensor, given);
  const data = createData(type, pixels.length);
  for (let place = 0; place < pixels.length; place++)
    data[place] = elementOf(elementAt(pixels, place), place % channels);
  const bytes = new Uint8Array(byteSize(tensor));
  encodeTensorData(type, data, bytes);
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
