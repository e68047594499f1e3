/**
 * The common parts of the resizing operations: the types that they take, and the size as a tensor, which may be computed.
 */

import { alternative, type Form, type Operation } from "../define.ts";
import { ensure } from "../fail.ts";
import type { AnyOperandType } from "../operand-type.ts";
import { bool, optional, read, tensor } from "../params.ts";
import { formatShape } from "../shape.ts";
import { type Wider, wider } from "./_wider.tflite.ts";
import type { resizeBilinear } from "./resize-bilinear.ts";
import type { resizeNearestNeighbor } from "./resize-nearest-neighbor.ts";

/** The types of both operations. */
export const resizedTypes = [
  "TENSOR_FLOAT32",
  "TENSOR_QUANT8_ASYMM",
  "TENSOR_QUANT8_ASYMM_SIGNED",
  "TENSOR_QUANT16_SYMM",
] as const satisfies readonly AnyOperandType[];

/** The operand list with [height, width] as a tensor in place of the two scalars. */
const sizeParams = alternative({
  params: [
    tensor("input"),
    read(tensor("size", "TENSOR_INT32")),
    bool("nchw"),
    optional("1.2", bool("alignCorners"), false),
    optional("1.2", bool("halfPixelCenters"), false),
  ],
  normalise({ size }) {
    const { dimensions, data } = size;
    ensure(
      dimensions.length === 1 && data.length === 2,
      () => `the size: expected 2 elements (height and width), got ${formatShape(dimensions)}`,
    );
    const [height, width] = data;
    return { height, width };
  },
});

/** Defines a resizing operation. `reference`: the kernel in place of the HAL's. */
export function defineResize<Base extends typeof resizeBilinear | typeof resizeNearestNeighbor>(
  base: Base,
  types: readonly AnyOperandType[],
  reference?: Operation["reference"],
): Base {
  const sizeForm: Form = {
    ...sizeParams,
    outputs: [tensor("output")],
    types: types.map((type) => ["1.2", type, type]),
  };
  // The kernel is one of both operations, whose arguments are alike.
  const change = { from: "TENSOR_FLOAT32", types, forms: [sizeForm], ...(reference && { reference }) } as Wider<Base>;
  return wider(base, change);
}
