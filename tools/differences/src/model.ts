/**
 * Models of one operator in several variants, side by side: each has separate inputs and outputs, so that one execution
 * compares all.
 */
import { type OptionValue, type TfliteModel, type TfliteOperator, type TfliteTensor, writeTflite } from "@nnhal/tflite";
import { bytesOf, type ElementType } from "./elements.ts";

/** A tensor of a variant; with `data`, a constant. */
export interface TensorGiven {
  readonly type: ElementType;
  readonly shape: readonly number[];
  readonly data?: readonly number[];
  /** One scale, or one for each channel. Default: not quantised. */
  readonly scale?: number | readonly number[];
  /** Default: 0. */
  readonly zeroPoint?: number;
  /** The axis of the channels. Default: 0. */
  readonly axis?: number;
  /** The range of random elements of an input. Default: that of the type. */
  readonly range?: readonly [least: number, greatest: number];
}

/** An operator with its tensors. */
export interface Variant {
  readonly inputs: readonly TensorGiven[];
  readonly output: TensorGiven;
  readonly options?: Readonly<Record<string, OptionValue>>;
}

function tensorOf({ type, shape, data, scale, zeroPoint = 0, axis = 0 }: TensorGiven, name: string): TfliteTensor {
  const scales = scale === undefined ? [] : typeof scale === "number" ? [scale] : scale;
  return {
    ...{ name, shape, type, isVariable: false },
    ...(data && { data: bytesOf(type, data) }),
    ...(scales.length > 0 && {
      quantization: {
        scale: scales.map(Math.fround),
        zeroPoint: scales.map(() => zeroPoint),
        quantizedDimension: axis,
      },
    }),
  };
}

/** The bytes of a model with these variants of an operator. Its inputs are those without data, in order; its outputs one of each variant. */
export function modelOf(operator: string, version: number, variants: readonly Variant[]): Uint8Array {
  const tensors: TfliteTensor[] = [];
  const [inputs, outputs]: [number[], number[]] = [[], []];
  const operators = variants.map((variant, at): TfliteOperator => {
    const places = variant.inputs.map((given, place) => {
      const index = tensors.push(tensorOf(given, `in${at}_${place}`)) - 1;
      if (given.data === undefined) inputs.push(index);
      return index;
    });
    const output = tensors.push(tensorOf(variant.output, `out${at}`)) - 1;
    outputs.push(output);
    return { name: operator, version, inputs: places, outputs: [output], options: variant.options ?? {} };
  });
  const main = { name: "main", tensors, operators, inputs, outputs };
  const model: TfliteModel = { version: 3, description: "", subgraphs: [main], metadata: [], signatures: [] };
  return writeTflite(model);
}
