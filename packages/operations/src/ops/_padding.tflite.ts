/** Shared parts of PAD and PAD_V2. */
import type { AnyTensorData } from "../operand-type.ts";
import type { KernelResult } from "../phases.ts";
import type { OutputTensor, Tensor } from "../tensor.ts";
import { indexTypes, movable, narrowElements } from "./_integers.tflite.ts";
import { pad, padsOf } from "./_pads.ts";

/** Types of the paddings. INT8 and INT16 ones are not quantised. */
export const paddingTypes = [...indexTypes, "TENSOR_QUANT8_ASYMM_SIGNED", "TENSOR_QUANT16_SYMM"] as const;

/** The input with the value around it. A value of 64 bits is a bigint, which the compiler does not know. */
export function padWith(
  { data, ...input }: Tensor<AnyTensorData>,
  paddings: Tensor<AnyTensorData>,
  value: number,
  output: OutputTensor<AnyTensorData>,
): KernelResult {
  const pads = padsOf(narrowElements(paddings), input.dimensions.length);
  const isClear = value === 0;
  return pad({ ...input, data: movable(data) }, pads, isClear ? undefined : value, movable(output.data));
}
