/** Faults of a device's facts, and of the models that it accepts, are found, one at a time. */
import {
  DeviceStatus,
  ErrorStatus,
  type Model,
  OperandType,
  type PreparedModel,
  type PrepareResult,
} from "@nnhal/types";
import { type FaultRow, ok } from "./faulty-device.test-helper.ts";

const { NONE } = ErrorStatus;

const info = { execTime: 1, powerUsage: 1 };

export const deviceFaults: readonly FaultRow[] = [
  [
    "is offline",
    { device: () => ({ getStatus: () => DeviceStatus.OFFLINE }) },
    "device/facts",
    /AVAILABLE, got OFFLINE/,
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
    /ifPerformance: expected execTime and powerUsage above 0, got 0/,
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
    /the list must be sorted/,
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
    /numModelCache: expected 0 to 32, got 33/,
  ],
  [
    "has an extension of a wrong name",
    { device: () => ({ getSupportedExtensions: () => ok({ extensions: [{ name: "Nothing", operandTypes: [] }] }) }) },
    "device/facts",
    /"Nothing"/,
  ],
  [
    "reports an extension with a type twice",
    {
      device: () => ({
        getSupportedExtensions: () => {
          const type = { type: 1, isTensor: true, byteSize: 4 };
          return ok({ extensions: [{ name: "com.example.vendor", operandTypes: [type, type] }] });
        },
      }),
    },
    "device/extensions",
    /type 1 is described before/,
  ],
  [
    "reports other extensions at every second call",
    {
      device: () => {
        let calls = 0;
        return {
          getSupportedExtensions: () =>
            ok({ extensions: calls++ % 2 === 0 ? [] : [{ name: "com.example.vendor", operandTypes: [] }] }),
        };
      },
    },
    "device/extensions",
    /a second call answers something else/,
  ],
  [
    "supports operations of extensions that it does not know",
    {
      device: ({ getSupportedOperations }) => ({
        async getSupportedOperations(model) {
          const { supported, reasons, ...outcome } = await getSupportedOperations(model);
          return { ...outcome, supported: supported.map(() => true), reasons: reasons.map(() => undefined) };
        },
      }),
    },
    "device/extensions",
    /expected \[true,false\], got \[true,true\]/,
  ],
  [
    "does not say why it does not support an operation of an extension",
    {
      device: ({ getSupportedOperations }) => ({
        async getSupportedOperations(model) {
          const answer = await getSupportedOperations(model);
          return { ...answer, reasons: answer.reasons.map(() => undefined) };
        },
      }),
    },
    "device/extensions",
    /operation 1 is not supported, and there is no reason/,
  ],
  [
    "prepares models with operations of unknown extensions",
    {
      device: ({ prepareModel }) => ({
        async prepareModel(model, options): Promise<PrepareResult> {
          const isStrange = model.extensionNameToPrefix.length > 0;
          const preparedModel: PreparedModel = { execute: () => Promise.reject(new Error("empty")), close() {} };
          return isStrange ? { status: NONE, preparedModel } : prepareModel(model, options);
        },
      }),
    },
    "device/extensions",
    /prepareModel of an operation of org.nnhal_conformance.unknown: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "ignores what is wrong with the names and prefixes of extensions",
    {
      device: ({ getSupportedOperations, prepareModel }) => {
        // The same codes, with a mapping that is right.
        const mend = (model: Model): Model => {
          if (model.extensionNameToPrefix.length === 0) return model;
          const prefixes = [...model.main.operands, ...model.main.operations].map(({ type }) => type >>> 16);
          const used = [...new Set(prefixes.filter((prefix) => prefix > 0))];
          return {
            ...model,
            extensionNameToPrefix: used.map((prefix) => ({ name: `com.example.x${prefix}`, prefix })),
          };
        };
        return {
          getSupportedOperations: (model) => getSupportedOperations(mend(model)),
          prepareModel: (model, options) => prepareModel(mend(model), options),
        };
      },
    },
    "device/extensions",
    /a prefix that no extension has: getSupportedOperations: expected INVALID_ARGUMENT, got NONE/,
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
    /getSupportedOperations: expected INVALID_ARGUMENT, got NONE/,
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
    /expected INVALID_ARGUMENT, got NONE/,
  ],
];
