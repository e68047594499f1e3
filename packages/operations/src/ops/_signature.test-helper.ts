/**
 * Tests an operation's types against all there are: those listed need the version listed, all others fit no signature.
 */
import { type HalVersion, type OperandTypeName, operandTypes } from "@nnhal/types";
import { expect } from "vitest";
import type { Operation } from "../define.ts";
import { isTensorType, type TensorInfo } from "../tensor.ts";
import { type Given, mismatchOf, versionOf } from "./_run.test-helper.ts";

const allTypes = Object.keys(operandTypes).filter((name): name is OperandTypeName => name in operandTypes);

/** Tensor types and the HAL version from which an operation takes them. */
export type Versions = Partial<Record<OperandTypeName, HalVersion>>;

/** Types and versions of the operations that move elements; `since`: the version of the operation itself. */
export function floatAndQuant8Versions(since: HalVersion): Versions {
  return {
    TENSOR_FLOAT32: since,
    TENSOR_FLOAT16: "1.2",
    TENSOR_QUANT8_ASYMM: since,
    TENSOR_QUANT8_ASYMM_SIGNED: "1.3",
  };
}

/** The same with TENSOR_INT32, of the operations of HAL 1.2. */
export const floatIntegerAndQuant8Versions: Versions = { ...floatAndQuant8Versions("1.2"), TENSOR_INT32: "1.2" };

/** Checks every tensor type; `inputs` and `outputs` say what an operand list of that type looks like. */
export function expectTypes(
  operation: Operation,
  versions: Versions,
  inputs: (type: OperandTypeName) => readonly Given[],
  outputs: (type: OperandTypeName) => readonly TensorInfo[],
): void {
  for (const type of allTypes.filter(isTensorType)) {
    const options = { outputs: outputs(type) };
    const since = versions[type];
    if (since === undefined) expect(mismatchOf(operation, inputs(type), options), type).toContain(`is ${type} where`);
    else expect(versionOf(operation, inputs(type), options), type).toBe(since);
  }
}
