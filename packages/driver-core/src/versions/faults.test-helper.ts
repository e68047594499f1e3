/**
 * Faults of drivers and devices, and a device with all methods to put them into.
 */
import { type Device, ErrorStatus, type PreparedModel, type V1_3 } from "@nnhal/types";
import { makePreparing } from "./launches.test-helper.ts";
import { measured, requestOf } from "./versions.test-helper.ts";

const { NONE, GENERAL_FAILURE } = ErrorStatus;
export const request = requestOf();
export const shape = { dimensions: [2], isSufficient: true };
export const success = { status: NONE, outputShapes: [shape], timing: measured };
export const cache = { modelCache: [{ fds: [3] }], dataCache: [], token: new Uint8Array(32) };
export const desc = { dimensions: [2] };
export const memory = { name: "ashmem", size: 0, handle: null } as const;
export const queues = [
  { datum: "FmqRequestDatum", memory, capacity: 16 },
  { datum: "FmqResultDatum", memory, capacity: 16 },
] as const;
export const client = { getMemories: () => ({ status: NONE, buffers: [] }) };

/** A value of any type, as a peer can send it. */
export function parseAnything<Type>(json: string | undefined): Type {
  return json === undefined ? (undefined as Type) : JSON.parse(json);
}

const byName: Readonly<Record<string, () => unknown>> = {
  throws: () => {
    throw new Error("on fire");
  },
  rejects: () => Promise.reject(new Error("on fire")),
  "answers undefined": () => undefined,
  "answers null": () => null,
  "answers a number": () => 5,
  "answers nothing of what it should": () => ({}),
  "answers a status that does not exist": () => ({ status: 99, supported: [], reasons: [] }),
  "answers NONE and nothing else": () => ({ status: NONE }),
};
export const faults = Object.entries(byName);

/** An object of some kind, all methods of which do the same. */
export function faulty<Kind extends object>(like: Kind, fault: () => unknown): Kind {
  return Object.assign({ ...like }, Object.fromEntries(Object.keys(like).map((key) => [key, fault])));
}

export const wholeModel: PreparedModel = {
  execute: async () => success,
  executeFenced: async () => ({ status: GENERAL_FAILURE, syncFence: null, callback: null }),
  configureExecutionBurst: async () => ({ status: GENERAL_FAILURE, context: null }),
  close: () => {},
};
export const wholeDevice: Device = {
  ...makePreparing(async () => ({ status: NONE, preparedModel: wholeModel })),
  prepareModelFromCache: async () => ({ status: NONE, preparedModel: wholeModel }),
  allocate: async () => ({ status: GENERAL_FAILURE, buffer: null, token: 0 }),
};

/** The methods of a prepared model of HAL 1.3. */
export function asV1_3PreparedModel(): V1_3.IPreparedModel {
  const doNothing = () => ({ status: NONE }) as const;
  const later = () => Promise.reject(new Error("not called"));
  return {
    execute: doNothing,
    execute_1_2: doNothing,
    execute_1_3: doNothing,
    executeSynchronously: later,
    executeSynchronously_1_3: later,
    executeFenced: later,
    configureExecutionBurst: later,
    close: () => {},
  };
}
