/**
 * A model in the HAL's form, read once, so that what its owner does with it afterwards does not matter.
 */
import type { Model } from "@nnhal/types";
import { isObject, textOf } from "./guard/attempt.ts";
import { NeuralNetworksError, ResultCode } from "./result-code.ts";

/** The deepest that a model's fields lie: a scale is at `main.operands[0].extraParams.channelQuant.scales[0]`. */
const deepest = 8;

/**
 * A copy of a model, which need not be valid. The bytes of constants, and memories, are the model's own. Throws BAD_DATA
 * for one that throws when it is read. `what`: the call.
 */
export function snapshotOf(model: Model, what: string): Model {
  try {
    const { main, referenced, operandValues, pools, relaxComputationFloat32toFloat16, extensionNameToPrefix } = model;
    return {
      main: copyOf(main, deepest),
      referenced: copyOf(referenced, deepest),
      operandValues,
      pools: Array.isArray(pools) ? [...pools] : pools,
      relaxComputationFloat32toFloat16,
      extensionNameToPrefix: copyOf(extensionNameToPrefix, deepest),
    };
  } catch (error) {
    throw new NeuralNetworksError(ResultCode.BAD_DATA, `${what}: reading the model threw: ${textOf(error)}`);
  }
}

/** Arrays and objects copied, all else as it is. */
function copyOf<Value>(value: Value, levels: number): Value;
function copyOf(value: unknown, levels: number): unknown {
  if (levels === 0 || !isObject(value) || ArrayBuffer.isView(value)) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => copyOf(item, levels - 1));
  const copy: Record<string, unknown> = {};
  for (const key in value) copy[key] = copyOf(value[key], levels - 1);
  return copy;
}
