/**
 * Constants above 128 bytes are the same memory for every device, part and compilation.
 */
import { closeSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openDevice } from "@nnhal/driver-core/device";
import { mapMemory, mapPool, mmapFdMemory, Protection } from "@nnhal/driver-core/memory";
import { elementAt } from "@nnhal/operations";
import { type Device, type Model as HalModel, OperandLifeTime, type OperationTypeName } from "@nnhal/types";
import { afterAll, describe, expect, it } from "vitest";
import { Model } from "../model.ts";
import { addOperands, float32, openReference } from "../models.test-helper.ts";
import { divideGuarded, makeDoublingLoop } from "./divided.test-helper.ts";
import { changedReference, makeTaking } from "./memory-backend.test-helper.ts";
import { withSharedConstants } from "./shared-constants.ts";

const { CONSTANT_COPY, CONSTANT_REFERENCE } = OperandLifeTime;
const elements = 64;

/** out = −(in + a) · b, with a and b of 256 bytes, both as CONSTANT_COPY. */
function heavy(): HalModel {
  const model = new Model();
  const [input, a, sum, negated, b, output] = addOperands(
    model,
    float32(elements),
    float32(elements),
    float32(elements),
    float32(elements),
    float32(elements),
    float32(elements),
  );
  const activation = model.addOperand({ type: "INT32" });
  model.setOperandValue(activation, 0);
  for (const constant of [a, b]) model.setOperandValue(constant, new Float32Array(elements).fill(constant));
  model.addOperation("ADD", [input, a, activation], [sum]);
  model.addOperation("NEG", [sum], [negated]);
  model.addOperation("MUL", [negated, b, activation], [output]);
  model.identifyInputsAndOutputs([input], [output]);
  model.finish();
  return model.hal;
}

/** The same with every constant in `operandValues`, as a HAL client may have it. */
function copy(model: HalModel): HalModel {
  const values: number[] = [...model.operandValues];
  const operands = model.main.operands.map((operand) => {
    if (operand.lifetime !== CONSTANT_REFERENCE) return operand;
    const { poolIndex, offset, length } = operand.location;
    const mapping = mapPool(elementAt(model.pools, poolIndex));
    if ("unmappable" in mapping) throw new Error(mapping.unmappable);
    const location = { poolIndex: 0, offset: values.length, length };
    values.push(...mapping.bytes.subarray(offset, offset + length));
    return { ...operand, lifetime: CONSTANT_COPY, location };
  });
  return { ...model, main: { ...model.main, operands }, operandValues: Uint8Array.from(values), pools: [] };
}

/** Opens a device that takes some operations, and records the buffers of the large constants of its graphs. */
async function watch(name: string, takes: readonly OperationTypeName[], seen: ArrayBufferLike[]): Promise<Device> {
  const backend = changedReference((session) => ({
    compile(graph, options) {
      for (const operand of graph.operands) {
        const { data, lifetime } = operand ?? {};
        if (lifetime === CONSTANT_REFERENCE && data !== undefined) seen.push(data.buffer);
      }
      return session.compile(graph, options);
    },
  }));
  const device = await openDevice({ name, backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return makeTaking(device, takes);
}

const folder = mkdtempSync(join(tmpdir(), "nnhal-constants-"));
const file = openSync(join(folder, "constants"), "w+");
afterAll(() => {
  closeSync(file);
  rmSync(folder, { recursive: true });
});

/** The same with the large constants in a file. */
function inFile(model: HalModel): HalModel {
  const { pools, ...shared } = withSharedConstants(copy(model));
  const pool = elementAt(pools, 0);
  const bytes = mapMemory(pool);
  if ("unmappable" in bytes) throw new Error(bytes.unmappable);
  writeSync(file, bytes);
  return { ...shared, pools: [mmapFdMemory(pool.size, file, [Protection.READ, 0, 0])] };
}

describe("large constants", () => {
  it.each([
    ["in pools", heavy(), 2],
    ["in operandValues", copy(heavy()), 1],
    ["in a file", inFile(heavy()), 1],
  ])("%s are the same memory in all parts of all compilations", async (_where, model, buffers) => {
    const seen: ArrayBufferLike[] = [];
    const devices = [await watch("a", ["ADD", "MUL"], seen), await watch("b", ["NEG"], seen)];
    const prepared = [];
    for (let compilation = 0; compilation < 5; compilation++) {
      const divided = await divideGuarded(model, devices);
      if (!("plan" in divided)) throw new Error(divided.message);
      expect(divided.plan.steps).toHaveLength(3);
      prepared.push(divided.preparedModel);
    }
    // Two constants, each in one step of each compilation.
    expect(seen).toHaveLength(10);
    expect(new Set(seen).size).toBe(buffers);
    for (const preparedModel of prepared) preparedModel.close();
  });

  it("that were copied go to memory that all threads share, and nothing large stays in operandValues", () => {
    const model = copy(heavy());
    const { main, pools, operandValues } = withSharedConstants(model);
    expect(operandValues).toHaveLength(4);
    expect(pools).toHaveLength(1);
    const { handle } = elementAt(pools, 0);
    expect(handle?.kind === "buffer" && handle.buffer instanceof SharedArrayBuffer).toBe(true);
    expect(main.operations).toBe(model.main.operations);
    expect(withSharedConstants(model)).toBe(withSharedConstants(withSharedConstants(model)));
  });

  it("of subgraphs go to the same pool, each once", () => {
    const model = copy(heavy());
    const nested = withSharedConstants({ ...model, referenced: [model.main] });
    expect(nested.pools).toHaveLength(1);
    expect(nested.referenced[0]?.operands).toEqual(nested.main.operands);
    expect(nested.pools[0]?.size).toBe(withSharedConstants(model).pools[0]?.size);
  });

  it("are those above 128 bytes", async () => {
    const model = makeDoublingLoop(10).hal;
    expect(withSharedConstants(model)).toBe(model);
    for (const [length, count] of [
      [32, 0],
      [33, 1],
    ] as const) {
      const bound = new Model();
      const [input, constant, output] = addOperands(bound, float32(length), float32(length), float32(length));
      const activation = bound.addOperand({ type: "INT32" });
      bound.setOperandValue(activation, 0);
      bound.setOperandValue(constant, new Float32Array(length));
      bound.addOperation("ADD", [input, constant, activation], [output]);
      bound.identifyInputsAndOutputs([input], [output]);
      bound.finish();
      expect(withSharedConstants(copy(bound.hal)).pools).toHaveLength(count);
    }
  });

  it("give the same results", async () => {
    const reference = await openReference();
    const results = [];
    for (const model of [heavy(), copy(heavy())]) {
      const divided = await divideGuarded(model, [reference]);
      if (!("plan" in divided)) throw new Error(divided.message);
      const bytes = new Uint8Array(4 * elements);
      const argument = (poolIndex: number) => ({
        hasNoValue: false,
        location: { poolIndex, offset: 0, length: bytes.length },
        dimensions: [],
      });
      const memoryOf = (buffer: ArrayBuffer) => ({
        kind: "memory" as const,
        memory: { name: "ashmem", size: buffer.byteLength, handle: { kind: "buffer" as const, buffer, byteOffset: 0 } },
      });
      await divided.preparedModel.execute({
        inputs: [argument(0)],
        outputs: [argument(1)],
        pools: [memoryOf(new Float32Array(elements).fill(0.5).buffer), memoryOf(bytes.buffer)],
      });
      results.push([...new Float32Array(bytes.buffer)]);
    }
    expect(results[1]).toEqual(results[0]);
    expect(results[0]?.[0]).toBe(-1.5 * 4);
  });
});
