/**
 * Executions and constants in each kind of memory.
 */
import { closeSync, mkdtempSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Support } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import {
  ErrorStatus,
  type HardwareBufferDescription,
  type Memory,
  type Model,
  OperandLifeTime,
  OperationType,
} from "@nnhal/types";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import {
  addModel,
  floats,
  floatsIn,
  prepareOn,
  referenceDevice,
  reluModel,
  requestFor,
} from "../domains/relu-model.test-helper.ts";
import { copyFile } from "../memory/file-copy.ts";
import { allocateBlob, allocateHardwareBuffer, HardwareBufferUsage } from "../memory/hardware-buffer.ts";
import { allocateMemory } from "../memory/memory.ts";
import { mmapFdMemory, Protection } from "../memory/protection.ts";
import { fakeDevice } from "./fake-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
const values = [1, -2, 3, -4, 5, -6];
const rectified = [1, 0, 3, 0, 5, 0];

describe("memory in files", () => {
  let folder = "";
  const open: number[] = [];
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), "nnhal-kinds-"));
  });
  afterEach(() => {
    for (const fd of open.splice(0)) closeSync(fd);
    rmSync(folder, { recursive: true });
  });
  const file = (name: string, content: readonly number[], protection: number): { memory: Memory; path: string } => {
    const path = join(folder, name);
    writeFileSync(path, Float32Array.from(content));
    const fd = openSync(path, "r+");
    open.push(fd);
    return { memory: mmapFdMemory(4 * content.length, fd, [protection, 0, 0]), path };
  };
  const floatsOf = (path: string) => [...new Float32Array(new Uint8Array(readFileSync(path)).buffer)];

  it("is read anew at each execution, and has the results afterwards", async () => {
    const model = await prepareOn(await referenceDevice(), reluModel());
    const input = file("input", values, Protection.READ);
    const output = file("output", [9, 9, 9, 9, 9, 9], Protection.READ | Protection.WRITE);
    const request = requestFor([input.memory], [output.memory]);
    expect((await model.execute(request)).status).toBe(NONE);
    expect(floatsOf(output.path)).toEqual(rectified);
    writeFileSync(input.path, Float32Array.of(7, 7, 7, 7, 7, 7), { flag: "r+" });
    expect((await model.execute(request)).status).toBe(NONE);
    expect(floatsOf(output.path)).toEqual([7, 7, 7, 7, 7, 7]);
  });

  it("cannot be an output without PROT_WRITE", async () => {
    const model = await prepareOn(await referenceDevice(), reluModel());
    const output = file("output", [9, 9, 9, 9, 9, 9], Protection.READ);
    const result = await model.execute(requestFor([floats(...values)], [output.memory]));
    expect(result).toMatchObject({ status: INVALID_ARGUMENT, outputShapes: [] });
    expect(result.message).toContain("output 0 lies in memory that is not writable");
    expect(floatsOf(output.path)).toEqual([9, 9, 9, 9, 9, 9]);
  });

  it("holds constants", async () => {
    const constants = file("constants", [10, 20, 30, 40, 50, 60], Protection.READ);
    const model = await prepareOn(await referenceDevice(), withConstant(constants.memory));
    const result = allocateMemory(24);
    expect((await model.execute(requestFor([floats(...values), activationNone()], [result]))).status).toBe(NONE);
    expect([...floatsIn(result)]).toEqual([11, 18, 33, 36, 55, 54]);
  });

  it("keeps results apart that go to one copied file at the same time", () => {
    const { memory, path } = file("shared", [0, 0, 0, 0], Protection.READ | Protection.WRITE);
    if (memory.handle?.kind !== "fileDescriptor") throw new Error("it is not a file");
    const copy = copyFile(memory.handle, memory.size);
    if ("unmappable" in copy) throw new Error(copy.unmappable);
    const inside = new Float32Array(copy.bytes.buffer);
    // One execution has written its part, another begins and reads its own before the first is stored.
    inside[0] = 1;
    copy.load?.(8, 8);
    inside[3] = 4;
    copy.store?.(12, 4);
    copy.store?.(0, 4);
    expect(floatsOf(path)).toEqual([1, 0, 0, 4]);
  });

  it("is a failure with a reason if it cannot be mapped", async () => {
    const model = await prepareOn(await referenceDevice(), reluModel());
    const tooLong = { ...file("short", [1], Protection.READ).memory, size: 24 };
    const result = await model.execute(requestFor([tooLong], [allocateMemory(24)]));
    expect(result).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [] });
    expect(result.message).toContain("request pool 0: memory mmap_fd of 24 bytes");
  });
});

describe("hardware buffers", () => {
  const usage = HardwareBufferUsage.CPU_READ_OFTEN | HardwareBufferUsage.CPU_WRITE_OFTEN;
  const picture = () => allocateHardwareBuffer({ width: 3, height: 2, layers: 1, format: 1, usage, stride: 4 });
  const wholePool = (memory: Memory) => ({ ...requestFor([memory], [allocateMemory(24)]) });
  const atNothing = (request: ReturnType<typeof wholePool>) => ({
    ...request,
    inputs: [{ ...elementAt(request.inputs, 0), location: { poolIndex: 0, offset: 0, length: 0 } }],
  });

  it("that are BLOBs hold inputs, outputs and constants", async () => {
    const device = await referenceDevice();
    const [input, output, constants] = [allocateBlob(24), allocateBlob(24), allocateBlob(24)];
    floatsIn(input).set(values);
    floatsIn(constants).set([10, 20, 30, 40, 50, 60]);
    const model = await prepareOn(device, withConstant(constants));
    expect((await model.execute(requestFor([input, activationNone()], [output]))).status).toBe(NONE);
    expect([...floatsIn(output)]).toEqual([11, 18, 33, 36, 55, 54]);
  });

  it("of another format are refused by a backend that does not say it reads them", async () => {
    const model = await prepareOn(await referenceDevice(), reluModel());
    const result = await model.execute(atNothing(wholePool(picture())));
    expect(result).toMatchObject({ status: GENERAL_FAILURE, outputShapes: [] });
    expect(result.message).toContain("input 0 lies in a hardware_buffer of format R8G8B8A8_UNORM");
    expect(result.message).toContain("it supports no hardware buffers except BLOBs");
  });

  it("of another format reach a backend that reads them, with their description", async () => {
    const seen: unknown[] = [];
    const supports = ({ format }: HardwareBufferDescription): Support =>
      format === 1 ? { supported: true } : { supported: false, reason: "only R8G8B8A8_UNORM can be sampled" };
    const device = await fakeDevice({
      supportsHardwareBuffer: supports,
      compile: async () => ({
        run: ([input], outputs) => {
          seen.push(input?.bytes.length, input?.hardwareBuffer);
          return { status: NONE, outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })) };
        },
        close() {},
      }),
    });
    const model = await prepareOn(device, reluModel());
    const memory = picture();
    expect((await model.execute(atNothing(wholePool(memory)))).status).toBe(NONE);
    const description = memory.handle?.kind === "hardwareBuffer" && memory.handle.description;
    expect(seen).toEqual([32, description]);
    const other = allocateHardwareBuffer({ width: 3, height: 2, layers: 1, format: 0x30, usage, stride: 3 });
    const refused = await model.execute(atNothing(wholePool(other)));
    expect(refused.status).toBe(GENERAL_FAILURE);
    expect(refused.message).toContain("D16_UNORM");
    expect(refused.message).toContain("only R8G8B8A8_UNORM can be sampled");
  });

  it("of another format are used as a whole", async () => {
    const model = await prepareOn(await referenceDevice(), reluModel());
    expect((await model.execute(wholePool(picture()))).status).toBe(INVALID_ARGUMENT);
  });

  it("of another format hold no constants", async () => {
    const result = await (await referenceDevice()).prepareModel(withConstant(picture()));
    expect(result.preparedModel).toBeNull();
    expect(result.message).toContain("cannot hold constants");
  });
});

/** x + the constant in a memory, with the activation as the second input. */
function withConstant(memory: Memory): Model {
  const model = addModel();
  const location = { poolIndex: 0, offset: 0, length: 24 };
  return {
    ...model,
    pools: [memory],
    main: {
      operands: model.main.operands.map((operand, index) =>
        index === 1 ? { ...operand, lifetime: OperandLifeTime.CONSTANT_REFERENCE, location } : operand,
      ),
      operations: [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }],
      inputIndexes: [0, 2],
      outputIndexes: [3],
    },
  };
}

function activationNone(): Memory {
  return allocateMemory(4);
}
