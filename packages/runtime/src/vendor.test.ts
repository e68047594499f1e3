/**
 * A model with a vendor's operation: on the vendor's device alone, together with another device, and never on the CPU.
 */
import { mapMemory } from "@nnhal/driver-core/memory";
import { elementAt } from "@nnhal/operations";
import {
  type Device,
  ErrorStatus,
  type Extension,
  type PreparedModel,
  type RequestArgument,
  TIMING_NOT_MEASURED,
} from "@nnhal/types";
import { isExtensionOperationType } from "@nnhal/utils";
import { beforeAll, describe, expect, it } from "vitest";
import { allowEveryApplication } from "./allow-list.ts";
import { registerDevices } from "./devices.ts";
import { Execution } from "./execution.ts";
import { code } from "./fakes.test-helper.ts";
import { Model } from "./model.ts";
import { compile, float32, openReference } from "./models.test-helper.ts";

const doubling: Extension = {
  name: "com.example.doubling",
  operandTypes: [{ type: 7, isTensor: true, byteSize: 4 }],
};
const timing = { timeOnDevice: TIMING_NOT_MEASURED, timeInDriver: TIMING_NOT_MEASURED };
let reference: Device;
beforeAll(async () => {
  reference = await openReference();
});

/** A device that supports one operation: DOUBLE, of float32 numbers. `status`: how its executions end. */
function vendor(status: ErrorStatus = ErrorStatus.NONE): Device {
  const preparedModel: PreparedModel = {
    async execute({ inputs, outputs, pools }) {
      const floatsAt = ({ location: { poolIndex, offset, length } }: RequestArgument) => {
        const pool = pools[poolIndex];
        const bytes = pool?.kind === "memory" ? mapMemory(pool.memory) : { unmappable: "a token" };
        if ("unmappable" in bytes) throw new Error(bytes.unmappable);
        return new Float32Array(bytes.buffer, bytes.byteOffset + offset, length / 4);
      };
      if (status !== ErrorStatus.NONE) return { status, message: "worn out", outputShapes: [], timing };
      const from = floatsAt(elementAt(inputs, 0));
      floatsAt(elementAt(outputs, 0)).set(from.map((x) => 2 * x));
      return { status, outputShapes: [{ dimensions: [from.length], isSufficient: true }], timing };
    },
    close() {},
  };
  return {
    ...reference,
    name: "vendor",
    getSupportedExtensions: () => ({ status: ErrorStatus.NONE, extensions: [doubling] }),
    getSupportedOperations({ main, extensionNameToPrefix }) {
      const isKnown = extensionNameToPrefix.some(({ name }) => name === doubling.name);
      const supported = main.operations.map(({ type }) => isKnown && isExtensionOperationType(type));
      const reasons = supported.map((yes) => (yes ? undefined : "only DOUBLE"));
      return { status: ErrorStatus.NONE, supported, reasons };
    },
    prepareModel: async () => ({ status: ErrorStatus.NONE, preparedModel }),
  };
}

/** x → NEG → DOUBLE → FLOOR, or DOUBLE alone. */
function model(isSurrounded: boolean): Model {
  const result = new Model({
    extensions: registerDevices([vendor(), reference], { allowList: allowEveryApplication }).extensions,
  });
  const DOUBLE = result.getExtensionOperationType(doubling.name, 0);
  const input = result.addOperand(float32(2));
  let last = input;
  for (const operation of isSurrounded ? (["NEG", DOUBLE, "FLOOR"] as const) : [DOUBLE]) {
    const next = result.addOperand(float32(2));
    result.addOperation(operation, [last], [next]);
    last = next;
  }
  result.identifyInputsAndOutputs([input], [last]);
  result.finish();
  return result;
}

describe("a vendor's operation", () => {
  it.each([
    [false, [2.5, -2.5]],
    [true, [-3, 2]],
  ] as const)("is computed by the vendor's device (surrounded: %s)", async (isSurrounded, expected) => {
    const compilation = await compile(model(isSurrounded), isSurrounded ? [vendor(), reference] : [vendor()]);
    expect(compilation.deviceNames).toContain("vendor");
    const execution = new Execution(compilation);
    const output = new Float32Array(2);
    execution.setInput(0, Float32Array.of(1.25, -1.25));
    execution.setOutput(0, output);
    await execution.compute();
    expect([...output]).toEqual(expected);
  });

  it("is supported by no other device", async () => {
    expect(await model(true).getSupportedOperationsForDevices([vendor()])).toEqual([false, true, false]);
    expect(await model(true).getSupportedOperationsForDevices([reference])).toEqual([true, false, true]);
    expect(await model(true).getSupportedOperationsForDevices([vendor(), reference])).toEqual([true, true, true]);
  });

  it("cannot be compiled without the vendor's device, nor fall back to the CPU", async () => {
    await expect(compile(model(true), [reference])).rejects.toThrow(code("BAD_DATA"));
    const told: string[] = [];
    const registry = registerDevices([vendor(ErrorStatus.GENERAL_FAILURE)], {
      cpu: reference,
      allowList: allowEveryApplication,
    });
    const compilation = registry.createCompilation(model(true), { onFallback: (message) => told.push(message) });
    await compilation.finish();
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setOutput(0, new Float32Array(2));
    await expect(execution.compute()).rejects.toThrow("worn out");
    expect(told).toEqual([]);
  });
});
