/** Faults of a device's memory and caching are found, one at a time. */
import { ErrorStatus } from "@nnhal/types";
import { type FaultRow, never, ok } from "./faulty-device.test-helper.ts";

const { NONE, GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;

export const memoryFaults: readonly FaultRow[] = [
  [
    "allocates whatever it is asked for",
    {
      device: ({ allocate }) => ({
        allocate: async (desc, models, inputs, outputs) => {
          const result = (await allocate?.(desc, models, inputs, outputs)) ?? never();
          const copy = async () => ok({});
          return result.buffer === null ? { status: NONE, token: 7, buffer: { copyTo: copy, copyFrom: copy } } : result;
        },
      }),
    },
    "memory/conflicts",
    /expected INVALID_ARGUMENT or GENERAL_FAILURE, got NONE/,
  ],
  [
    "has a token beside an error",
    {
      device: ({ allocate }) => ({
        allocate: async (desc, models, inputs, outputs) => {
          const result = (await allocate?.(desc, models, inputs, outputs)) ?? never();
          return result.buffer === null ? { ...result, token: 7 } : result;
        },
      }),
    },
    "memory/allocate",
    /with the error: expected token 0, got 7/,
  ],
  [
    "keeps the value after a copy that fails",
    {
      device: ({ allocate }) => ({
        allocate: async (desc, models, inputs, outputs) => {
          const result = (await allocate?.(desc, models, inputs, outputs)) ?? never();
          const { buffer } = result;
          if (buffer === null) return result;
          const copyFrom: typeof buffer.copyFrom = async (src, dimensions) =>
            src.size === 1 ? { status: INVALID_ARGUMENT } : buffer.copyFrom(src, dimensions);
          return { ...result, buffer: { ...buffer, copyFrom } };
        },
      }),
    },
    "memory/value",
    /copyTo afterwards: expected GENERAL_FAILURE, got NONE/,
  ],
  [
    "takes memory of any size",
    {
      device: ({ allocate }) => ({
        allocate: async (desc, models, inputs, outputs) => {
          const result = (await allocate?.(desc, models, inputs, outputs)) ?? never();
          const { buffer } = result;
          const copyFrom = async () => ok({});
          return buffer === null ? result : { ...result, buffer: { ...buffer, copyFrom } };
        },
      }),
    },
    "memory/copy",
    /copyFrom of 12 bytes: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "takes all clients for one",
    { device: (right) => ({ connect: () => ({ ...right, close: async () => {} }) }) },
    "memory/clients",
    /for another client's model: expected INVALID_ARGUMENT or GENERAL_FAILURE, got NONE/,
  ],
];

export const cacheFaults: readonly FaultRow[] = [
  [
    "fails to prepare because of its cache",
    {
      device: ({ prepareModel }) => ({
        prepareModel: async (model, options = {}) => {
          const wrong = options.cache?.token.length !== 32 && options.cache !== undefined;
          return wrong ? { status: INVALID_ARGUMENT, preparedModel: null } : prepareModel(model, options);
        },
      }),
    },
    "caching/arguments",
    /prepareModel: expected NONE, got INVALID_ARGUMENT/,
  ],
  [
    "believes any file",
    {
      device: ({ prepareModel }) => {
        let latest: Parameters<typeof prepareModel>[0] | undefined;
        return {
          prepareModel(model, options) {
            latest = model;
            return prepareModel(model, options);
          },
          prepareModelFromCache: async () =>
            latest === undefined ? { status: GENERAL_FAILURE, preparedModel: null } : prepareModel(latest),
        };
      },
    },
    "caching/security",
    /expected GENERAL_FAILURE, got NONE/,
  ],
  [
    "believes any token",
    {
      device: ({ prepareModel, prepareModelFromCache }) => ({
        prepareModel: (model, { cache, ...options } = {}) =>
          prepareModel(model, { ...options, ...(cache && { cache: { ...cache, token: new Uint8Array(32) } }) }),
        prepareModelFromCache: async (cache, options) =>
          (await prepareModelFromCache?.({ ...cache, token: new Uint8Array(32) }, options)) ?? never(),
      }),
    },
    "caching/security",
    /with bit 0 of the token changed: expected GENERAL_FAILURE, got NONE/,
  ],
];
