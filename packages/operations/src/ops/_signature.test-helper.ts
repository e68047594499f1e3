/**
 * Tests an operation's types against all there are: those listed need the version listed, all others fit no signature.
 */

import { type HalVersion, type OperandTypeName, operandTypes } from "@nnhal/types";
import { expect } from "vitest";
import type { Operation } from "../define.ts";
import { type AnyOperandType, halTypeName } from "../operand-type.ts";
import { isTensorType, type TensorInfo } from "../tensor.ts";
import { declareOutput, f32, type Given, mismatchOf, tensorOf, versionOf } from "./_run.test-helper.ts";

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
    if (since === undefined) expect(mismatchOf(operation, inputs(type), options), type).toContain(`got ${type}`);
    else expect(versionOf(operation, inputs(type), options), type).toBe(since);
  }
}

/** Checks that no operand can be of another type, and that no other number of operands is taken. */
export function expectOneSignature(
  operation: Operation,
  inputs: readonly Given[],
  outputs: readonly TensorInfo[],
): void {
  expect(mismatchOf(operation, inputs, { outputs })).toBeUndefined();
  inputs.forEach((_, index) => {
    const changed = inputs.map((given, at) => (at === index ? tensorOf("TENSOR_BOOL8", [1]) : given));
    expect(mismatchOf(operation, changed, { outputs })).toContain(`input ${index} (`);
  });
  outputs.forEach((_, index) => {
    const changed = outputs.map((given, at) => (at === index ? declareOutput("TENSOR_BOOL8") : given));
    expect(mismatchOf(operation, inputs, { outputs: changed })).toContain(`output ${index} (`);
  });
  expect(mismatchOf(operation, inputs.slice(1), { outputs })).toContain(`got ${inputs.length - 1} inputs`);
  expect(mismatchOf(operation, [...inputs, f32([1])], { outputs })).toContain(`got ${inputs.length + 1} inputs`);
  expect(mismatchOf(operation, inputs, { outputs: outputs.slice(1) })).toContain(`${outputs.length - 1} outputs`);
}

/** `expectOneSignature` for an operation of HAL 1.2 on float32, which float16 may take the place of. */
export function expectFloatSignature(
  operation: Operation,
  inputs: readonly Given[],
  types: readonly OperandTypeName[],
): void {
  const outputs = types.map((type) => declareOutput(type));
  expect(versionOf(operation, inputs, { outputs })).toBe("1.2");
  expectOneSignature(operation, inputs, outputs);
  const half = (type: AnyOperandType): OperandTypeName =>
    type === "FLOAT32" ? "FLOAT16" : type === "TENSOR_FLOAT32" ? "TENSOR_FLOAT16" : halTypeName(type);
  const halves = inputs.map(({ type, dimensions }) => tensorOf(half(type), dimensions));
  expect(versionOf(operation, halves, { outputs: types.map((type) => declareOutput(half(type))) })).toBe("1.2");
}
