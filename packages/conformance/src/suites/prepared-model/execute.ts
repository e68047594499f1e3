/** Executions that succeed, the location of arguments, the reported durations, and memory that cannot be used. */

import { readFileSync } from "node:fs";
import {
  allocateBlob,
  allocateHardwareBuffer,
  HardwareBufferUsage,
  hardwareBufferFormats,
  mmapFdMemory,
  Protection,
} from "@nnhal/driver-core/memory";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, MeasureTiming, type Memory } from "@nnhal/types";
import type { ElementType } from "../../needs.ts";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectOrdered, expectSame, expectThat, expectUnmeasured } from "../check.ts";
import { expectValues, runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { temporaryFile } from "../temporary-files.ts";
import {
  bytesIn,
  bytesOf,
  emptyMemory,
  memoryWith,
  type PlacedArgument,
  requestFor,
  sizeOf,
  untouched,
  valuesIn,
} from "../values.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

/** A prepared small model, six values for it, and their results. */
async function prepareSmallModel(bench: Bench, type?: ElementType) {
  const small = await smallModel(bench, type && { type });
  const preparedModel = await prepare(bench, small.model);
  const input = sampleValues(small.type, 6);
  const output = elementAt(small.compute([input]), 0);
  return { small, preparedModel, type: small.type, input, output, size: sizeOf(small.type, [6]) };
}

async function computes(bench: Bench, type: ElementType): Promise<void> {
  const { small, preparedModel, input } = await prepareSmallModel(bench, type);
  await runTrial(preparedModel, trialFor(small, [input]));
}

/** Executes with input and output somewhere, and looks at the output there. */
async function computesAt(
  bench: Bench,
  place: (
    size: number,
    bytes: Uint8Array,
  ) => { readonly input: Memory | PlacedArgument; readonly output: Memory | PlacedArgument; result(): Memory },
): Promise<void> {
  const { preparedModel, type, input, output, size } = await prepareSmallModel(bench);
  const places = place(size, bytesOf(type, input));
  const result = await preparedModel.execute(requestFor([places.input], [places.output]));
  expectExecution("execute", result, NONE);
  expectValues("execute: output 0", type, places.result(), output);
}

/** Executes with an input or output that cannot be used. */
async function refuses(bench: Bench, side: "input" | "output", memory: (size: number) => Memory): Promise<void> {
  const { preparedModel, type, input, size } = await prepareSmallModel(bench);
  const given = side === "input" ? memory(size) : memoryWith(type, input);
  const result = await preparedModel.execute(
    requestFor([given], [side === "output" ? memory(size) : emptyMemory(size)]),
  );
  expectExecution("execute", result, GENERAL_FAILURE, INVALID_ARGUMENT);
}

/** A hardware buffer of pixels, of at least some bytes. */
function image(size: number): Memory {
  const usage = HardwareBufferUsage.CPU_READ_OFTEN | HardwareBufferUsage.CPU_WRITE_OFTEN;
  const format = hardwareBufferFormats.R8G8B8A8_UNORM.code;
  return allocateHardwareBuffer({ width: size, height: 1, layers: 1, format, usage, stride: size });
}

function part(memory: Memory, offset: number, size: number): Memory {
  const bytes = bytesIn(memory).slice(offset, offset + size);
  const copy = emptyMemory(size);
  bytesIn(copy).set(bytes);
  return copy;
}

export const executeCases: readonly SuiteCase[] = [
  ...casesOf(
    "execute",
    "1.0",
    ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM"] as const,
    (type) => `computes ${type}`,
    computes,
  ),
  ...casesOf("execute", "1.2", ["TENSOR_FLOAT16"] as const, (type) => `computes ${type}`, computes),
  ...casesOf("execute", "1.3", ["TENSOR_QUANT8_ASYMM_SIGNED"] as const, (type) => `computes ${type}`, computes),
  ...group("execute", "1.0", {
    async "again and again, with other values each time"(bench) {
      const { small, preparedModel } = await prepareSmallModel(bench);
      for (let salt = 0; salt < 20; salt++)
        await runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6, salt)]));
    },
    async "the input stays as it is"(bench) {
      const { preparedModel, type, input, size } = await prepareSmallModel(bench);
      const memory = memoryWith(type, input);
      expectExecution("execute", await preparedModel.execute(requestFor([memory], [emptyMemory(size)])), NONE);
      expectSame("execute: the input afterwards", valuesIn(type, memory), input);
    },
    async "an output with more room than it needs leaves the rest as it is"(bench) {
      const { preparedModel, type, input, output, size } = await prepareSmallModel(bench);
      const roomy = emptyMemory(size + 8);
      expectExecution("execute", await preparedModel.execute(requestFor([memoryWith(type, input)], [roomy])), NONE);
      expectValues("execute: output 0", type, roomy, output);
      const rest = [...bytesIn(roomy).subarray(size)];
      expectThat(
        rest.every((byte) => byte === untouched),
        () => `execute: bytes after the output were written: ${rest}`,
      );
    },
    "input and output share a pool, at offsets that are aligned to nothing": (bench) =>
      computesAt(bench, (size, bytes) => {
        const pool = emptyMemory(2 * size + 5);
        bytesIn(pool).set(bytes, 1);
        return {
          input: { at: pool, offset: 1, length: size },
          output: { at: pool, offset: size + 4, length: size },
          result: () => part(pool, size + 4, size),
        };
      }),
    "input and output in mmap_fd memory": (bench) =>
      computesAt(bench, (size, bytes) => {
        const [given, made] = [temporaryFile(bench, bytes), temporaryFile(bench, new Uint8Array(size))];
        return {
          input: mmapFdMemory(size, given.open("r"), [Protection.READ, 0, 0]),
          output: mmapFdMemory(size, made.open("r+"), [Protection.READ | Protection.WRITE, 0, 0]),
          result() {
            const memory = emptyMemory(size);
            bytesIn(memory).set(readFileSync(made.path));
            return memory;
          },
        };
      }),
    "an input in a file that is too short": (bench) =>
      refuses(bench, "input", (size) =>
        mmapFdMemory(size, temporaryFile(bench, new Uint8Array(1)).open("r"), [Protection.READ, 0, 0]),
      ),
    "an input in a file that is not open": (bench) =>
      refuses(bench, "input", (size) => mmapFdMemory(size, 0x7fff_fff0, [Protection.READ, 0, 0])),
    "an output in memory that may not be written": (bench) =>
      refuses(bench, "output", (size) =>
        mmapFdMemory(size, temporaryFile(bench, new Uint8Array(size)).open("r"), [Protection.READ, 0, 0]),
      ),
  }),
  ...group("execute", "1.1", {
    async "a relaxed model computes the same, within the precision of float16"(bench) {
      const small = await smallModel(bench, { type: "TENSOR_FLOAT32" });
      const preparedModel = await prepare(bench, { ...small.model, relaxComputationFloat32toFloat16: true });
      await runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6)]));
    },
  }),
  ...group("execute", "1.2", {
    async "durations are reported if they are asked for, the device's within the driver's"(bench) {
      const { small, preparedModel, input } = await prepareSmallModel(bench);
      const { timing } = await runTrial(preparedModel, trialFor(small, [input]), { measure: MeasureTiming.YES });
      expectOrdered("execute", timing);
    },
    async "durations are unknown if they are not asked for"(bench) {
      const { small, preparedModel, input } = await prepareSmallModel(bench);
      for (const options of [{}, { measure: MeasureTiming.NO }]) {
        expectUnmeasured("execute", (await runTrial(preparedModel, trialFor(small, [input]), options)).timing);
      }
    },
    async "durations are unknown of an execution that fails"(bench) {
      const { preparedModel, small, input } = await prepareSmallModel(bench);
      const { request } = trialFor(small, [input]);
      const result = await preparedModel.execute({ ...request, inputs: [] }, { measure: MeasureTiming.YES });
      expectExecution("execute", result, INVALID_ARGUMENT);
    },
  }),
  ...group("execute", "1.2", {
    async "a hardware_buffer of another format than BLOB is read, or refused"(bench) {
      const { preparedModel, size } = await prepareSmallModel(bench);
      const request = requestFor([{ at: image(size), length: 0 }], [emptyMemory(size)]);
      expectExecution("execute", await preparedModel.execute(request), NONE, GENERAL_FAILURE, INVALID_ARGUMENT);
    },
    async "a part of a hardware_buffer of another format than BLOB is INVALID_ARGUMENT"(bench) {
      const { preparedModel, size } = await prepareSmallModel(bench);
      for (const part of [{ length: size }, { offset: 1, length: 0 }]) {
        const request = requestFor([{ at: image(size), ...part }], [emptyMemory(size)]);
        expectExecution("execute", await preparedModel.execute(request), INVALID_ARGUMENT);
      }
    },
  }),
  ...group("execute", "1.3", {
    "input and output in hardware_buffer_blob memory": (bench) =>
      computesAt(bench, (size, bytes) => {
        const [input, output] = [allocateBlob(size), allocateBlob(size)];
        bytesIn(input).set(bytes);
        return { input, output, result: () => part(output, 0, size) };
      }),
    "an output in a hardware_buffer_blob that no CPU may write": (bench) =>
      refuses(bench, "output", (size) => allocateBlob(size, HardwareBufferUsage.CPU_READ_OFTEN)),
  }),
];
