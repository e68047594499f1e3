/**
 * Runs one operation of nnhal.tflite by its name, as `_run.test-helper.ts` runs one of the HAL.
 */
import type { SymmPerChannelQuantParams } from "@nnhal/types";
import { byteLength, decodeTensorData, encodeTensorData } from "../codec.ts";
import { OperationError } from "../fail.ts";
import { type AnyOperandType, type AnyTensorData, isExtensionType } from "../operand-type.ts";
import { elementCount, type TensorInfo } from "../tensor.ts";
import { tfliteOperations } from "../tflite-operations.gen.ts";
import { isQuantised } from "./_elements.tflite.ts";
import { type Given, runOperation as runDefinition } from "./_run.test-helper.ts";

/** An input of a test. */
export interface GivenInput {
  readonly type: AnyOperandType;
  readonly dimensions: readonly number[];
  readonly data: AnyTensorData;
  readonly scale?: number;
  readonly zeroPoint?: number;
  readonly channelQuant?: SymmPerChannelQuantParams;
  /** True if it is a constant of the model. Default: an input of the graph, except for scalars. */
  readonly isConstant?: boolean;
  /** True if it is omitted, as an operand of its type. */
  readonly isOmitted?: boolean;
}

/** Output as the model declares it. Default dimensions: unknown. */
export interface DeclaredOutput {
  readonly type: AnyOperandType;
  readonly dimensions?: readonly number[];
  readonly scale?: number;
  readonly zeroPoint?: number;
}

/** A result. */
export interface Result {
  readonly dimensions: readonly number[];
  readonly data: AnyTensorData;
}

/** An INT32 scalar. */
export const int32 = (value: number): GivenInput => ({ type: "INT32", dimensions: [], data: Int32Array.of(value) });
/** A FLOAT32 scalar. */
export const float32 = (value: number): GivenInput => ({
  type: "FLOAT32",
  dimensions: [],
  data: Float32Array.of(value),
});
/** A BOOL scalar. */
export const bool = (value: boolean): GivenInput => ({
  type: "BOOL",
  dimensions: [],
  data: Uint8Array.of(value ? 1 : 0),
});

/** A tensor that is left out. Default type: TENSOR_FLOAT32. */
export const omit = (type: AnyOperandType = "TENSOR_FLOAT32"): GivenInput => ({
  type,
  dimensions: [],
  data: new Uint8Array(),
  ...(isQuantised(type) && { scale: 1 }),
  isOmitted: true,
});

/**
 * The outputs of an operation, by its name, for an operand list; undefined: an omitted operand. Throws an OperationError that
 * begins with the name.
 */
export async function runOperation(
  name: string,
  inputs: readonly (GivenInput | undefined)[],
  outputs: readonly DeclaredOutput[],
): Promise<Result[]> {
  const operation = tfliteOperations.find((each) => each.name === name);
  if (operation === undefined) throw new RangeError(`the extension has no operation ${name}`);
  const { params } = operation.forms[0];
  const given = inputs.map((input, position) => giveOperand(input ?? omit(params[position]?.type)));
  try {
    const results = runDefinition(operation, given, { outputs: outputs.map(infoOf) });
    return results.map(({ dimensions, data }) => ({ dimensions, data }));
  } catch (error) {
    throw error instanceof OperationError ? new OperationError(`${name}: ${error.message}`) : error;
  }
}

function infoOf({ type, dimensions = [], scale = 0, zeroPoint = 0 }: DeclaredOutput): TensorInfo {
  return { type, dimensions, scale, zeroPoint };
}

/** An operand as an executor has it: its elements are read from bytes. */
function giveOperand(input: GivenInput): Given {
  const { type, dimensions, channelQuant, isOmitted } = input;
  const isScalar = !isExtensionType(type) && !type.startsWith("TENSOR_");
  const count = isOmitted ? 0 : elementCount(dimensions);
  const bytes = new Uint8Array(byteLength(type, count));
  if (!isOmitted) encodeTensorData(type, input.data, bytes);
  return {
    ...infoOf(input),
    ...(channelQuant && { channelQuant }),
    data: decodeTensorData(type, bytes, count),
    ...(isOmitted && { omitted: true }),
    isHidden: !(input.isConstant ?? isScalar),
  };
}
