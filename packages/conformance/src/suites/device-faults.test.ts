/**
 * What is wrong with what a device says, and with the models it takes, is found: one fault at a time.
 */
import { DeviceStatus, ErrorStatus, OperandType, type PreparedModel, type PrepareResult } from "@nnhal/types";
import { describe } from "vitest";
import { type FaultRow, itFinds, ok } from "./faulty-device.test-helper.ts";

const { NONE } = ErrorStatus;

const info = { execTime: 1, powerUsage: 1 };

const faults: readonly FaultRow[] = [
  [
    "is offline",
    { device: () => ({ getStatus: () => DeviceStatus.OFFLINE }) },
    "device/facts",
    /AVAILABLE, actual OFFLINE/,
  ],
  [
    "has a performance of 0",
    {
      device: ({ getCapabilities }) => ({
        getCapabilities: () =>
          ok({ capabilities: { ...getCapabilities().capabilities, ifPerformance: { ...info, execTime: 0 } } }),
      }),
    },
    "device/facts",
    /ifPerformance: execTime 0/,
  ],
  [
    "has performances that are not sorted, and one of SUBGRAPH",
    {
      device: ({ getCapabilities }) => ({
        getCapabilities: () => {
          const operandPerformance = [
            { type: OperandType.SUBGRAPH, info },
            { type: OperandType.FLOAT32, info },
          ];
          return ok({ capabilities: { ...getCapabilities().capabilities, operandPerformance } });
        },
      }),
    },
    "device/facts",
    /the list has to be sorted/,
  ],
  [
    "has an empty version",
    { device: () => ({ getVersionString: () => ok({ version: "" }) }) },
    "device/facts",
    /the version is empty/,
  ],
  ["has a name without a hyphen", { device: () => ({ name: "reference" }) }, "device/facts", /the name "reference"/],
  [
    "wants 33 files",
    { device: () => ({ getNumberOfCacheFilesNeeded: () => ok({ numModelCache: 33, numDataCache: 0 }) }) },
    "device/facts",
    /numModelCache is 33/,
  ],
  [
    "has an extension of a wrong name",
    { device: () => ({ getSupportedExtensions: () => ok({ extensions: [{ name: "Nothing", operandTypes: [] }] }) }) },
    "device/facts",
    /"Nothing"/,
  ],
  [
    "supports every model",
    {
      device: () => ({
        getSupportedOperations: ({ main }) =>
          ok({ supported: main.operations.map(() => true), reasons: main.operations.map(() => undefined) }),
      }),
    },
    "device/validation",
    /getSupportedOperations: expected INVALID_ARGUMENT, actual NONE/,
  ],
  [
    "answers about one operation only",
    {
      device: () => ({ getSupportedOperations: () => ok({ supported: [true], reasons: [undefined] }) }),
    },
    "device/support",
    /1 answers about 2 operations/,
  ],
  [
    "prepares what is wrong",
    {
      device: ({ prepareModel }) => ({
        prepareModel: async (model, options): Promise<PrepareResult> => {
          const result = await prepareModel(model, options);
          const preparedModel: PreparedModel = { execute: () => Promise.reject(new Error("empty")), close() {} };
          return result.status === NONE ? result : { status: NONE, preparedModel };
        },
      }),
    },
    "device/prepare",
    /expected INVALID_ARGUMENT, actual NONE/,
  ],
];

describe("a device that", () => itFinds(faults));
