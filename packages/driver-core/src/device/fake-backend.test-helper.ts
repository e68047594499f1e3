/**
 * A backend whose every answer a test chooses, and a small valid model with a request for it.
 */

import type { Backend, BackendSession, Executable } from "@nnhal/backend";
import {
  type Capabilities,
  DeviceType,
  ErrorStatus,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  OperationType,
  type Request,
} from "@nnhal/types";
import { silentLogger } from "@nnhal/utils";
import { steadyClock, systemTimer } from "@nnhal/utils/time";
import { type GuardedSessionOptions, openGuarded } from "../engine/guarded-session.ts";
import { allocateMemory, mapMemory } from "../memory/memory.ts";
import { type DeviceOptions, type OpenedDevice, openDevice } from "./device.ts";

const one = { execTime: 1, powerUsage: 1 };
export const capabilities: Capabilities = {
  relaxedFloat32toFloat16PerformanceScalar: one,
  relaxedFloat32toFloat16PerformanceTensor: one,
  operandPerformance: [],
  ifPerformance: one,
  whilePerformance: one,
};

/** An executable that succeeds at once. */
export const succeeding: Executable = {
  run: (_inputs, outputs) => ({
    status: ErrorStatus.NONE,
    outputShapes: outputs.map(({ dimensions }) => ({ dimensions, isSufficient: true })),
  }),
  close() {},
};

/** A backend that supports everything and whose executables succeed, with changes. */
export function fakeBackend(change: Partial<BackendSession> = {}): Backend {
  const session: BackendSession = {
    version: "fake-1",
    capabilities,
    supports: () => ({ supported: true }),
    compile: async () => succeeding,
    close: async () => {},
    ...change,
  };
  return { name: "fake", deviceType: DeviceType.ACCELERATOR, open: async () => session };
}

/** A device over a fake backend. */
export async function fakeDevice(
  change: Partial<BackendSession> = {},
  options: Partial<DeviceOptions> = {},
): Promise<OpenedDevice> {
  const device = await openDevice({ backend: fakeBackend(change), log: silentLogger, ...options });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

const nowhere = { poolIndex: 0, offset: 0, length: 0 };
const operand = (lifetime: number): Operand => ({
  type: OperandType.TENSOR_FLOAT32,
  dimensions: [2],
  numberOfConsumers: lifetime === OperandLifeTime.SUBGRAPH_INPUT ? 1 : 0,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: nowhere,
  extraParams: { kind: "none" },
});

/** |x| for two numbers. */
export const absModel: Model = {
  main: {
    operands: [operand(OperandLifeTime.SUBGRAPH_INPUT), operand(OperandLifeTime.SUBGRAPH_OUTPUT)],
    operations: [{ type: OperationType.ABS, inputs: [0], outputs: [1] }],
    inputIndexes: [0],
    outputIndexes: [1],
  },
  referenced: [],
  operandValues: new Uint8Array(0),
  pools: [],
  relaxComputationFloat32toFloat16: false,
  extensionNameToPrefix: [],
};

/** A request whose input and output lie in one pool, the output behind the input. */
export function absRequest(input: readonly number[] = [-1, 2]): { request: Request; output: () => number[] } {
  const memory = allocateMemory(16);
  const bytes = mapMemory(memory);
  if ("unmappable" in bytes) throw new Error(bytes.unmappable);
  const values = new Float32Array(bytes.buffer);
  values.set(input);
  const argument = (offset: number) => ({
    hasNoValue: false,
    location: { poolIndex: 0, offset, length: 8 },
    dimensions: [],
  });
  return {
    request: { inputs: [argument(0)], outputs: [argument(8)], pools: [{ kind: "memory", memory }] },
    output: () => [...values.subarray(2)],
  };
}

/** A fake session as a device has it: guarded. */
export async function fakeSession(change: Partial<BackendSession> = {}, options: Partial<GuardedSessionOptions> = {}) {
  const guarding = { log: silentLogger, name: "fake", now: steadyClock, timer: systemTimer };
  const times = { openTimeout: 10n ** 12n, closeTimeout: 10n ** 12n };
  const session = await openGuarded(fakeBackend(change), { ...guarding, ...times, ...options });
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}
