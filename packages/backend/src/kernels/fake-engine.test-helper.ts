/** An engine whose handles are objects with numbers, and that counts its live handles. */
import { createData, elementAt, elementCount } from "@nnhal/operations";
import { type Capabilities, DeviceType } from "@nnhal/types";
import type { Backend } from "../contract.ts";
import {
  type Kernel,
  type KernelEngine,
  type KernelOutcome,
  type KernelTable,
  type KernelTensor,
  kernelsByName,
} from "./kernel.ts";
import { kernelBackend } from "./kernel-backend.ts";
import type { Steps } from "./steps.ts";

export interface Handle {
  readonly values: readonly number[];
}

const info = { execTime: 1, powerUsage: 1 };
const capabilities: Capabilities = {
  relaxedFloat32toFloat16PerformanceScalar: info,
  relaxedFloat32toFloat16PerformanceTensor: info,
  operandPerformance: [],
  ifPerformance: info,
  whilePerformance: info,
};

/** left + right, without broadcasting. */
export const add: Kernel<Handle> = {
  prepare:
    ({ left, right }) =>
    (read) => {
      const { values } = read(tensorOf(right));
      return [{ values: read(tensorOf(left)).values.map((value, index) => value + elementAt(values, index)) }];
    },
};

/** An argument of a kernel that is a tensor. */
export function tensorOf(argument: unknown): KernelTensor {
  if (!isTensor(argument)) throw new TypeError("not a tensor argument");
  return argument;
}

function isTensor(argument: unknown): argument is KernelTensor {
  return typeof argument === "object" && argument !== null && "dimensions" in argument;
}

/** The results of a kernel that neither pauses nor is asynchronous. */
export function listOf(results: KernelOutcome<Handle>): readonly Handle[] {
  if (!isList(results)) throw new TypeError("not a list of handles");
  return results;
}

function isList(results: KernelOutcome<Handle>): results is readonly Handle[] {
  return Array.isArray(results);
}

function* inSteps(steps: Steps<readonly Handle[]>, born: (handle: Handle) => Handle) {
  const results = yield* steps;
  return results.map(born);
}

/** Events and live handles of an engine. */
export interface Record {
  /** Handles uploaded or computed, and not released. */
  readonly alive: Set<Handle>;
  uploads: number;
  downloads: number;
  closed: number;
}

/** A backend over a table of kernels, and its record. */
export function fakeBackend(
  kernels: KernelTable<Handle>,
  more: Partial<KernelEngine<Handle>> = {},
): { readonly backend: Backend; readonly record: Record } {
  const record: Record = { alive: new Set(), uploads: 0, downloads: 0, closed: 0 };
  const counted: { [name: string]: Kernel<Handle> | undefined } = {};
  const born = (handle: Handle) => {
    record.alive.add(handle);
    return handle;
  };
  for (const [name, kernel] of Object.entries(kernelsByName(kernels))) {
    if (kernel === undefined) continue;
    counted[name] = {
      ...kernel,
      prepare(args, outputs, setup) {
        const run = kernel.prepare(args, outputs, { ...setup, keep: (handle) => setup.keep(born(handle)) });
        return (read, context) => {
          const results = run((tensor) => {
            const handle = read(tensor);
            if (!record.alive.has(handle)) throw new Error(`operand ${tensor.index} was released before`);
            return handle;
          }, context);
          if (isList(results)) return results.map(born);
          return results instanceof Promise ? results.then((all) => all.map(born)) : inSteps(results, born);
        };
      },
    };
  }
  const backend = kernelBackend<Handle>({
    name: "fake",
    deviceType: DeviceType.OTHER,
    open: async () => ({
      version: "fake-1",
      capabilities,
      kernels: counted,
      upload(_, data) {
        record.uploads++;
        return born({ values: Array.from(data) });
      },
      download(handle, { type, dimensions }) {
        record.downloads++;
        const data = createData(type, elementCount(dimensions));
        data.set(handle.values);
        return data;
      },
      release(handle) {
        if (!record.alive.delete(handle)) throw new Error("released twice");
      },
      close() {
        record.closed++;
      },
      ...more,
    }),
  });
  return { backend, record };
}
