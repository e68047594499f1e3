/** Rules that hold for every definition. */

import { OperationType, type OperationTypeName, operandTypes, operationTypes } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { Form } from "./define.ts";
import { layOut } from "./match.ts";
import { type AnyOperandType, halTypeName } from "./operand-type.ts";
import { operations } from "./registry.gen.ts";

const names = Object.keys(operationTypes).filter((name) => name !== "OEM_OPERATION");
const isOperationName = (name: string): name is OperationTypeName => name in operationTypes;

describe("the registry", () => {
  it("has every operation of the HAL once, with its code", () => {
    expect(operations.map(({ name }) => name).sort()).toEqual([...names].sort());
    for (const { name, code } of operations) expect(isOperationName(name) && OperationType[name]).toBe(code);
  });
});

describe("facts that few operations have", () => {
  it("are the outputs that kernels need not write completely", () => {
    const marked = operations.flatMap(({ name, forms: [{ outputs }] }) =>
      outputs.flatMap((output) => (output.mayStayZero ? [`${name} ${output.name}`] : [])),
    );
    expect(marked.sort()).toEqual([
      "DETECTION_POSTPROCESSING chosenBoxes",
      "DETECTION_POSTPROCESSING chosenClasses",
      "DETECTION_POSTPROCESSING chosenScores",
      "HASHTABLE_LOOKUP output",
      "LSTM scratch",
    ]);
  });

  it("are random results", () => {
    expect(operations.flatMap(({ name, random }) => (random ? [name] : []))).toEqual(["RANDOM_MULTINOMIAL"]);
  });

  const broadcasting = operations.flatMap(({ broadcasts, ...operation }) =>
    broadcasts === undefined ? [] : [{ ...operation, broadcasts }],
  );

  it("are inputs that broadcast: of 16 operations", () => {
    expect(broadcasting).toHaveLength(16);
  });

  it.each(broadcasting)("are inputs that broadcast: $broadcasts of $name", ({ broadcasts, infer, forms: [form] }) => {
    const type = form.types[0][1];
    const info = (dimensions: readonly number[]) => ({ type, dimensions, scale: 0, zeroPoint: 0 });
    const [left, right] = broadcasts;
    const args = { activation: 0, [left]: info([2, 1]), [right]: info([3]) };
    expect(infer?.(args, { output: info([]) })).toEqual({ output: { dimensions: [2, 3] } });
  });
});

describe.each(operations.map((operation) => [operation.name, operation] as const))("%s", (name, operation) => {
  const introduced = isOperationName(name) ? operationTypes[name].since : "1.0";
  const forms: readonly Form[] = operation.forms;

  it("has rows with one type for each parameter that has no fixed one", () => {
    for (const { params, outputs, types } of forms) {
      const varying = [...params, ...outputs].filter(({ type, any }) => type === undefined && any !== true);
      expect(types.length).toBeGreaterThan(0);
      for (const row of types) {
        expect(row).toHaveLength(1 + varying.length);
        row.slice(1).forEach((type, index) => {
          const name = halTypeName(type as AnyOperandType);
          const { kind } = operandTypes[name];
          expect(kind).toBe(
            varying[index].kind === "tensor" ? (name.startsWith("TENSOR_") ? "tensor" : "scalar") : "scalar",
          );
        });
      }
    }
  });

  it("does not exist before the HAL introduced it, and does exist then", () => {
    const versions = forms.flatMap(({ types }) => types.map(([since]) => since)).sort();
    expect(versions[0]).toBe(introduced);
    for (const { params, outputs } of forms) {
      for (const { since = introduced } of [...params, ...outputs]) expect(since >= introduced).toBe(true);
    }
  });

  it("names every parameter once and optional ones last", () => {
    for (const { params, outputs } of forms) {
      for (const list of [params, outputs]) {
        expect(new Set(list.map((param) => param.name)).size).toBe(list.length);
        const firstOptional = list.findIndex(({ since }) => since !== undefined);
        if (firstOptional >= 0) {
          for (const { since } of list.slice(firstOptional)) expect(since).toBeDefined();
        }
      }
    }
  });

  it("lists legal counts that its parameters can fill", () => {
    for (const { params, outputs, counts = [], outputCounts = [] } of forms) {
      for (const count of counts) expect(layOut(params, undefined, count)).toHaveLength(count);
      for (const count of outputCounts) expect(layOut(outputs, undefined, count)).toHaveLength(count);
    }
  });

  it("bounds ranks of tensors that it has", () => {
    const tensors = new Set(forms[0].params.filter(({ kind }) => kind === "tensor").map((param) => param.name));
    for (const [param, rule] of Object.entries(operation.ranks)) {
      expect(tensors).toContain(param);
      const [least, greatest] = typeof rule === "number" ? [rule, rule] : rule;
      expect(least).toBeLessThanOrEqual(greatest);
    }
  });

  it("is computed by a kernel with shape inference, or by the executor", () => {
    expect(operation.controlFlow).toBe(operation.reference === undefined);
    expect(operation.controlFlow).toBe(operation.infer === undefined);
    expect(operation.summary).toMatch(/\.$/);
  });

  it("turns other forms into the first", () => {
    for (const form of forms.slice(1)) expect(form.normalise).toBeTypeOf("function");
  });
});
