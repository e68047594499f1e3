/** Faults of preparations, models, facts and buffers behind AIDL: each breaks one rule. */
import { type DeviceType, ErrorStatus, OperandType } from "@nnhal/types";
import type { AIDL1, AIDL4 } from "@nnhal/types/aidl";
import { type AidlFault, type AidlFaultRow, failWith } from "./faulty-driver.test-helper.ts";

const { GENERAL_FAILURE, INVALID_ARGUMENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;

const badHash = { getInterfaceHash: () => "0".repeat(40) };
const badVersion = { getInterfaceVersion: () => 3 };

const interfaceFaults: readonly AidlFaultRow[] = [
  [
    "has a device of another hash",
    { device: () => badHash },
    "interfaces",
    /IDevice.getInterfaceHash: expected 53178f8/,
  ],
  [
    "has prepared models of another version",
    { model: () => badVersion },
    "interfaces",
    /IPreparedModel.getInterfaceVersion: 3, and not that of its device/,
  ],
  [
    "has bursts of another version",
    { burst: () => badVersion },
    "interfaces",
    /IBurst.getInterfaceVersion: 3, and not that of its device/,
  ],
  ["has bursts of another hash", { burst: () => badHash }, "interfaces", /IBurst.getInterfaceHash: expected/],
  [
    "has callbacks of another version",
    { info: () => badVersion },
    "interfaces",
    /IFencedExecutionCallback.getInterfaceVersion: 3/,
  ],
  [
    "has reusable executions of version 0",
    { execution: () => ({ getInterfaceVersion: () => 0 }) },
    "interfaces",
    /IExecution.getInterfaceVersion: expected 1 to 4, got 0/,
  ],
  ["has buffers of another hash", { buffer: () => badHash }, "buffers", /IBuffer.getInterfaceHash: expected/],
];

function withCapabilities(change: (right: AIDL1.Capabilities) => AIDL1.Capabilities): AidlFault {
  return { device: (right) => ({ getCapabilities: () => change(right.getCapabilities()) }) };
}

const info = { execTime: 1, powerUsage: 1 };

const factFaults: readonly AidlFaultRow[] = [
  [
    "has a performance of an OEM's type",
    withCapabilities((right) => ({
      ...right,
      operandPerformance: [...right.operandPerformance, { type: OperandType.OEM, info }],
    })),
    "interfaces",
    /type 10000 has none/,
  ],
  [
    "has a performance of a negative type",
    withCapabilities((right) => ({ ...right, operandPerformance: [{ type: -1, info }, ...right.operandPerformance] })),
    "interfaces",
    /type -1 follows -1/,
  ],
  [
    "has performances that are not sorted",
    withCapabilities((right) => ({ ...right, operandPerformance: right.operandPerformance.toReversed() })),
    "interfaces",
    /type \d+ follows \d+/,
  ],
  [
    "has a performance of 0",
    withCapabilities((right) => ({ ...right, whilePerformance: { execTime: 0, powerUsage: 1 } })),
    "interfaces",
    /whilePerformance: expected numbers above 0/,
  ],
  [
    "is of type 0",
    { device: () => ({ getType: () => 0 as DeviceType }) },
    "interfaces",
    /getType: 0 is not a DeviceType/,
  ],
  [
    "has an empty version",
    { device: () => ({ getVersionString: () => "" }) },
    "interfaces",
    /getVersionString: expected a text/,
  ],
  [
    "wants 33 files",
    { device: () => ({ getNumberOfCacheFilesNeeded: () => ({ numModelCache: 33, numDataCache: 0 }) }) },
    "interfaces",
    /expected 0 to 32, got 33/,
  ],
  [
    "wants -1 files",
    { device: () => ({ getNumberOfCacheFilesNeeded: () => ({ numModelCache: 0, numDataCache: -1 }) }) },
    "interfaces",
    /expected 0 to 32, got -1/,
  ],
  [
    "has an extension twice",
    {
      device: () => ({
        getSupportedExtensions: () => [
          { name: "com.example.a", operandTypes: [] },
          { name: "com.example.a", operandTypes: [] },
        ],
      }),
    },
    "interfaces",
    /a name occurs twice/,
  ],
];

function withCallback(
  notify: (right: AIDL1.IPreparedModelCallback) => AIDL1.IPreparedModelCallback["notify"],
): AidlFault {
  return { callback: (right) => ({ notify: notify(right) }) };
}

/** Preparations that throw another status than their callbacks hear. */
function rethrow(change: (error: unknown) => void): AidlFault {
  return {
    device: (right) => ({
      prepareModel(...given) {
        try {
          right.prepareModel(...given);
        } catch (error) {
          change(error);
        }
      },
    }),
  };
}

/** Models that a device mends before it looks at them. */
function mendModels(
  change: (model: AIDL1.Model) => AIDL1.Model,
  ...ways: readonly ("getSupportedOperations" | "prepareModel" | "prepareModelWithConfig")[]
): AidlFault {
  return {
    device: (right) => ({
      ...(ways.includes("getSupportedOperations") && {
        getSupportedOperations: (model) => right.getSupportedOperations(change(model)),
      }),
      ...(ways.includes("prepareModel") && {
        prepareModel: (model, ...more) => right.prepareModel(change(model), ...more),
      }),
      ...(ways.includes("prepareModelWithConfig") && {
        prepareModelWithConfig: (model, ...more) => right.prepareModelWithConfig(change(model), ...more),
      }),
    }),
  };
}

function mendConfigs(change: (config: AIDL4.PrepareModelConfig) => Partial<AIDL4.PrepareModelConfig>): AidlFault {
  return {
    device: (right) => ({
      prepareModelWithConfig: (model, config, callback) =>
        right.prepareModelWithConfig(model, { ...config, ...change(config) }, callback),
    }),
  };
}

const within = (value: number, most: number) => Math.min(Math.max(value, 0), most);

const preparationFaults: readonly AidlFaultRow[] = [
  [
    "calls back twice",
    withCallback((right) => (status, model) => {
      right.notify(status, model);
      right.notify(status, model);
    }),
    "preparations",
    /its callback was called 2 times/,
  ],
  [
    "never calls back",
    withCallback(() => () => {}),
    "preparations",
    /IPreparedModelCallback.notify by IDevice.prepareModel: no answer within/,
  ],
  [
    "tells its callback status 99",
    withCallback((right) => (_, model) => right.notify(99 as ErrorStatus, model)),
    "preparations",
    /its callback heard status 99/,
  ],
  [
    "tells its callback NONE without a model",
    withCallback((right) => (status) => right.notify(status, null)),
    "preparations",
    /its callback heard NONE and got no prepared model/,
  ],
  [
    "has a model beside an error",
    withCallback((right) => (status, model) => right.notify(model === null ? status : GENERAL_FAILURE, model)),
    "preparations",
    /its callback heard GENERAL_FAILURE and a prepared model/,
  ],
  [
    "tells faults to the callback alone",
    rethrow(() => {}),
    "preparations",
    /its callback heard INVALID_ARGUMENT, and the call ends with NONE/,
  ],
  [
    "throws another status than it tells",
    rethrow(() => failWith(GENERAL_FAILURE)),
    "preparations",
    /heard INVALID_ARGUMENT, and the call ends with GENERAL_FAILURE/,
  ],
  [
    "throws an ordinary error from preparations",
    rethrow(() => {
      throw new TypeError("planted");
    }),
    "preparations",
    /got TypeError: planted/,
  ],
  [
    "throws a deadline that has passed",
    {
      device: (right) => ({
        prepareModel(model, preference, priority, deadline, ...more) {
          right.prepareModel(model, preference, priority, deadline, ...more);
          if (deadline === 0n) failWith(MISSED_DEADLINE_PERSISTENT);
        },
      }),
    },
    "preparations",
    /after its deadline: it throws MISSED_DEADLINE_PERSISTENT/,
  ],
  [
    "calls a null callback",
    {
      device: (right) => ({
        prepareModel(model, preference, priority, deadline, models, data, token, callback) {
          if (callback === null) throw new TypeError("callback is null");
          right.prepareModel(model, preference, priority, deadline, models, data, token, callback);
        },
      }),
    },
    "preparations",
    /got TypeError: callback is null/,
  ],
  [
    "takes wrong preferences in configurations",
    mendConfigs(({ preference }) => ({ preference: within(preference, 2) as 0 })),
    "preparations",
    /prepareModelWithConfig, preference -1: its callback: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "takes wrong priorities in configurations",
    mendConfigs(({ priority }) => ({ priority: within(priority, 2) as 0 })),
    "preparations",
    /prepareModelWithConfig, priority -1: its callback/,
  ],
  [
    "takes deadlines below -1 in configurations",
    mendConfigs(({ deadlineNs }) => ({ deadlineNs: deadlineNs < -1n ? -1n : deadlineNs })),
    "preparations",
    /prepareModelWithConfig, a deadline of -2: its callback/,
  ],
  [
    "takes wrong preferences",
    {
      device: (right) => ({
        prepareModel: (model, preference, ...more) => right.prepareModel(model, within(preference, 2) as 0, ...more),
      }),
    },
    "preparations",
    /prepareModel, preference -1: its callback/,
  ],
  [
    "does not look at the hints of preparations",
    mendConfigs(() => ({ compilationHints: [], extensionNameToPrefix: [] })),
    "hints",
    /prepareModelWithConfig, a token twice: its callback: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "refuses preparations with hints that it does not know",
    {
      device: (right) => ({
        prepareModelWithConfig: (model, config, callback) =>
          right.prepareModelWithConfig(
            config.compilationHints.length === 2 ? { ...model, pools: [{ ashmem: { fd: null, size: 1 } }] } : model,
            config,
            callback,
          ),
      }),
    },
    "hints",
    /prepareModelWithConfig with hints of an unknown extension: INVALID_ARGUMENT/,
  ],
  [
    "never prepares with a configuration",
    { device: () => ({ prepareModelWithConfig() {} }) },
    "preparations",
    /notify by IDevice.prepareModelWithConfig: no answer within/,
  ],
  [
    "takes tokens of any length for its cache",
    {
      device: (right) => ({
        prepareModelFromCache: (deadline, models, data, _token, callback) =>
          right.prepareModelFromCache(
            deadline,
            models,
            data,
            new Uint8Array(32),
            models.length === 0 && data.length === 0 ? silence(callback) : callback,
          ),
      }),
    },
    "preparations",
    /notify by IDevice.prepareModelFromCache: no answer within/,
  ],
  [
    "says yes in numbers",
    {
      device: (right) => ({
        getSupportedOperations: async (model) =>
          (await right.getSupportedOperations(model)).map(Number) as unknown as boolean[],
      }),
    },
    "preparations",
    /expected true for each operation/,
  ],
  [
    "answers about no operation",
    {
      device: (right) => ({
        getSupportedOperations: async (model) => {
          await right.getSupportedOperations(model);
          return [];
        },
      }),
    },
    "preparations",
    /expected an answer for each operation/,
  ],
  [
    "fails for models that are not valid with another status",
    {
      device: (right) => ({
        getSupportedOperations: async (model) => {
          try {
            return await right.getSupportedOperations(model);
          } catch {
            return failWith(GENERAL_FAILURE);
          }
        },
      }),
    },
    "models",
    /getSupportedOperations, .*: expected INVALID_ARGUMENT, got/,
  ],
];

/** A callback that hears nothing. */
function silence(callback: AIDL1.IPreparedModelCallback | null): AIDL1.IPreparedModelCallback | null {
  return callback && { notify() {} };
}

const eachOperand =
  (change: (operand: AIDL1.Operand) => Partial<AIDL1.Operand>) =>
  (model: AIDL1.Model): AIDL1.Model => ({
    ...model,
    main: { ...model.main, operands: model.main.operands.map((operand) => ({ ...operand, ...change(operand) })) },
  });

const noPadding = eachOperand(({ location }) => ({ location: { ...location, padding: 0 } }));
const positive = eachOperand(({ dimensions }) => ({ dimensions: dimensions.map(Math.abs) }));
const noMap = (model: AIDL1.Model): AIDL1.Model => ({ ...model, extensionNameToPrefix: [] });
const noPools = (model: AIDL1.Model): AIDL1.Model => ({ ...model, pools: [] });
const knownTypes = eachOperand(({ type }) => ({
  type: type === OperandType.TENSOR_OEM_BYTE ? OperandType.TENSOR_FLOAT32 : type,
}));
const knownLives = eachOperand(({ lifetime }) => ({ lifetime: lifetime === 7 || lifetime === -1 ? 1 : lifetime }));
const located = eachOperand(({ location }) => ({
  location: {
    ...location,
    poolIndex: Math.max(0, location.poolIndex),
    offset: location.offset < 0 || location.offset > 2 ** 31 ? 0 : location.offset,
    length: Math.max(0, location.length),
  },
}));
const indexed = (model: AIDL1.Model): AIDL1.Model => ({
  ...model,
  main: {
    ...model.main,
    inputIndexes: model.main.inputIndexes.map((index) => Math.max(0, index)),
    operations: model.main.operations.map((one) => ({ ...one, inputs: one.inputs.map((index) => Math.max(0, index)) })),
  },
});
const fullSubgraphs = (model: AIDL1.Model): AIDL1.Model => ({
  ...model,
  referenced: model.referenced.map((subgraph, index) =>
    subgraph.operations.length > 0 ? subgraph : (model.referenced[index + 1] ?? subgraph),
  ),
});

const modelFaults: readonly AidlFaultRow[] = [
  [
    "prepares models with padding",
    mendModels(noPadding, "prepareModel"),
    "models",
    /prepareModel, a padding: its callback: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "supports models with padding",
    mendModels(noPadding, "getSupportedOperations"),
    "models",
    /getSupportedOperations, a (negative )?padding: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "prepares models with padding by configurations",
    mendModels(noPadding, "prepareModelWithConfig"),
    "models",
    /prepareModelWithConfig, a padding: its callback/,
  ],
  [
    "takes negative extents of models without their signs",
    mendModels(positive, "prepareModelWithConfig"),
    "models",
    /prepareModelWithConfig, a negative extent: its callback/,
  ],
  [
    "does not look at the names of extensions in models",
    mendModels(noMap, "prepareModel"),
    "models",
    /prepareModel, a prefix of 0: its callback/,
  ],
  [
    "does not look at the prefixes of extensions with configurations",
    mendModels(noMap, "prepareModelWithConfig"),
    "models",
    /prepareModelWithConfig, a prefix of 16 bits: its callback/,
  ],
  [
    "does not look at the pools of models",
    mendModels(noPools, "prepareModel"),
    "models",
    /prepareModel, a pool without a descriptor: its callback/,
  ],
  [
    "supports models with wrong pools",
    mendModels(noPools, "getSupportedOperations"),
    "models",
    /getSupportedOperations, a pool of 0 bytes: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "takes the OEM's types",
    mendModels(knownTypes, "prepareModel"),
    "models",
    /prepareModel, an operand of type OEM: its callback/,
  ],
  [
    "supports unknown lifetimes",
    mendModels(knownLives, "getSupportedOperations"),
    "models",
    /getSupportedOperations, a lifetime of -1: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "takes negative places of operands as 0",
    mendModels(located, "prepareModelWithConfig"),
    "models",
    /prepareModelWithConfig, a negative pool: its callback/,
  ],
  [
    "takes negative operands of operations as the first",
    mendModels(indexed, "getSupportedOperations"),
    "models",
    /getSupportedOperations, a negative input: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "takes referenced subgraphs without operations",
    mendModels(fullSubgraphs, "prepareModel"),
    "models",
    /a referenced subgraph without operations: its callback/,
  ],
];

const bufferFaults: readonly AidlFaultRow[] = [
  [
    "has buffers of token 0",
    { device: (right) => ({ allocate: async (...given) => ({ ...(await right.allocate(...given)), token: 0 }) }) },
    "buffers",
    /expected a token above 0, got 0/,
  ],
  [
    "has one token for all buffers",
    {
      device: (right) => {
        let first: number | undefined;
        return {
          async allocate(...given) {
            const made = await right.allocate(...given);
            first ??= made.token;
            return { ...made, token: first };
          },
        };
      },
    },
    "buffers",
    /two buffers have token/,
  ],
  [
    "copies nothing to buffers",
    { buffer: () => ({ copyFrom: async () => {} }) },
    "buffers",
    /copyTo: expected NONE|copyTo: the buffer holds other values|expected NONE/,
  ],
  [
    "copies nothing from buffers",
    { buffer: () => ({ copyTo: async () => {} }) },
    "buffers",
    /copyTo: the buffer holds other values/,
  ],
  [
    "copies to buffers with negative extents",
    { buffer: (right) => ({ copyFrom: (memory, dimensions) => right.copyFrom(memory, dimensions.map(Math.abs)) }) },
    "buffers",
    /copyFrom with negative extents: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "copies half a value",
    { buffer: (right) => ({ copyTo: (memory) => right.copyTo(memory).catch(() => {}) }) },
    "buffers",
    /copyTo half a value: expected INVALID_ARGUMENT, got NONE/,
  ],
  [
    "allocates for a probability of 0",
    {
      device: (right) => ({
        allocate: (desc, models, inputs, outputs) =>
          right.allocate(
            desc,
            models,
            inputs.map((role) => ({ ...role, probability: 1 })),
            outputs,
          ),
      }),
    },
    "buffers",
    /allocate of .*"probability":0.*: expected INVALID_ARGUMENT or GENERAL_FAILURE, got NONE/,
  ],
  [
    "allocates for a role twice",
    {
      device: (right) => ({
        allocate: (desc, models, inputs, outputs) => right.allocate(desc, models, inputs.slice(0, 1), outputs),
      }),
    },
    "buffers",
    /expected INVALID_ARGUMENT or GENERAL_FAILURE, got NONE/,
  ],
  [
    "allocates with negative extents",
    {
      device: (right) => ({
        allocate: (desc, ...more) => right.allocate({ dimensions: desc.dimensions.map(Math.abs) }, ...more),
      }),
    },
    "buffers",
    /IDevice.allocate: expected INVALID_ARGUMENT or GENERAL_FAILURE, got NONE/,
  ],
  [
    "never allocates",
    { device: () => ({ allocate: () => new Promise(() => {}) }) },
    "buffers",
    /IDevice.allocate: no answer within/,
  ],
  [
    "fails on buffers without a value with another status",
    {
      model: (right) => ({
        executeSynchronously: async (...given) => {
          try {
            return await right.executeSynchronously(...given);
          } catch {
            return failWith(INVALID_ARGUMENT);
          }
        },
      }),
    },
    "buffers",
    /executeSynchronously on a buffer without a value: expected GENERAL_FAILURE, got/,
  ],
  [
    "takes padding on buffers",
    {
      model: (right) => ({
        executeSynchronously: (request, ...more) =>
          right.executeSynchronously(
            {
              ...request,
              inputs: request.inputs.map((argument) => ({
                ...argument,
                location: { ...argument.location, padding: 0 },
              })),
            },
            ...more,
          ),
      }),
    },
    "buffers",
    /on a buffer with padding: expected INVALID_ARGUMENT, got NONE/,
  ],
];

export const aidlObjectFaults: readonly AidlFaultRow[] = [
  ...interfaceFaults,
  ...factFaults,
  ...preparationFaults,
  ...modelFaults,
  ...bufferFaults,
].map(([what, fault, group, reason]): AidlFaultRow => [what, fault, `aidl/${group}`, reason]);
