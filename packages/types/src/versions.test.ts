import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type Capabilities,
  type EnumTable,
  type ErrorStatus,
  type Model,
  type Operand,
  operandLifeTimes,
  operandTypes,
  operationTypes,
  type Request,
  V1_0,
  V1_1,
  V1_2,
  V1_3,
} from "./index.ts";
import { tableAt } from "./table.ts";

const versions = { "1.0": V1_0, "1.1": V1_1, "1.2": V1_2, "1.3": V1_3 } as const;

function namesSince(table: EnumTable, version: string): string[] {
  return Object.entries(table).flatMap(([name, { since }]) => (since <= version ? [name] : []));
}

describe("enums of each HAL version", () => {
  it.each(Object.entries(versions))("%s have the members of that version, under the same codes", (version, face) => {
    expect(Object.keys(face.OperandType)).toEqual(namesSince(operandTypes, version));
    expect(Object.keys(face.OperationType)).toEqual(namesSince(operationTypes, version));
    expect(V1_3.OperandType).toMatchObject(face.OperandType);
    expect(V1_3.OperationType).toMatchObject(face.OperationType);
  });

  it("count 29, 38, 95 and 102 operations beside OEM_OPERATION", () => {
    expect(Object.values(versions).map(({ OperationType }) => Object.keys(OperationType).length - 1)).toEqual([
      29, 38, 95, 102,
    ]);
  });

  it("say MODEL_INPUT and MODEL_OUTPUT before 1.3, and know no SUBGRAPH", () => {
    for (const { OperandLifeTime } of [V1_0, V1_1, V1_2]) {
      expect(OperandLifeTime).toEqual({
        TEMPORARY_VARIABLE: 0,
        MODEL_INPUT: 1,
        MODEL_OUTPUT: 2,
        CONSTANT_COPY: 3,
        CONSTANT_REFERENCE: 4,
        NO_VALUE: 5,
      });
    }
    expect(Object.keys(V1_3.OperandLifeTime)).toEqual(Object.keys(operandLifeTimes));
  });

  it("know deadlines and resources since 1.3", () => {
    for (const { ErrorStatus: statuses } of [V1_0, V1_1, V1_2]) {
      expect(statuses).toEqual({
        NONE: 0,
        DEVICE_UNAVAILABLE: 1,
        GENERAL_FAILURE: 2,
        OUTPUT_INSUFFICIENT_SIZE: 3,
        INVALID_ARGUMENT: 4,
      });
    }
    expect(Object.keys(V1_3.ErrorStatus)).toHaveLength(9);
  });

  it("have ranges since 1.2", () => {
    expect([V1_2.OperandTypeRange.FUNDAMENTAL_MAX, V1_3.OperandTypeRange.FUNDAMENTAL_MAX]).toEqual([13, 15]);
    expect([V1_2.OperationTypeRange.FUNDAMENTAL_MAX, V1_3.OperationTypeRange.FUNDAMENTAL_MAX]).toEqual([94, 101]);
    expect(V1_2.OperandTypeRange).toMatchObject({ BASE_MIN: 0, OEM_MIN: 10000, OEM_MAX: 10001, BASE_MAX: 0xffff });
    expect(V1_2.Constant).toEqual({ BYTE_SIZE_OF_CACHE_TOKEN: 32, MAX_NUMBER_OF_CACHE_FILES: 32 });
    expect("OperandTypeRange" in V1_1).toBe(false);
  });

  it("are there since the version that introduced them", () => {
    const findIntroduced = (older: object, newer: object) => Object.keys(newer).filter((name) => !(name in older));
    expect(findIntroduced(V1_0, V1_1)).toEqual(["ExecutionPreference"]);
    expect(findIntroduced(V1_1, V1_2).sort()).toEqual([
      "Constant",
      "DeviceType",
      "ExtensionTypeEncoding",
      "MeasureTiming",
      "OperandTypeRange",
      "OperationTypeRange",
    ]);
    expect(findIntroduced(V1_2, V1_3).sort()).toEqual(["LoopTimeoutDurationNs", "Priority"]);
  });
});

describe("tableAt", () => {
  it("keeps the rows that a version knows", () => {
    const table = { A: { code: 0, since: "1.0" }, B: { code: 1, since: "1.2" }, C: { code: 2, since: "1.3" } } as const;
    expect(tableAt(table, "1.1")).toEqual({ A: table.A });
    expect(tableAt(table, "1.2")).toEqual({ A: table.A, B: table.B });
    expectTypeOf(tableAt(table, "1.2")).toEqualTypeOf<{ readonly A: typeof table.A; readonly B: typeof table.B }>();
  });
});

describe("structs of each HAL version", () => {
  it("have the fields of that version", () => {
    type Shared = "operands" | "operations" | "inputIndexes" | "outputIndexes" | "operandValues" | "pools";
    expectTypeOf<keyof V1_0.Model>().toEqualTypeOf<Shared>();
    expectTypeOf<keyof V1_1.Model>().toEqualTypeOf<Shared | "relaxComputationFloat32toFloat16">();
    expectTypeOf<Exclude<keyof V1_2.Model, keyof V1_1.Model>>().toEqualTypeOf<"extensionNameToPrefix">();
    expectTypeOf<V1_3.Model>().toEqualTypeOf<Model>();
    expectTypeOf<Exclude<keyof Operand, keyof V1_0.Operand>>().toEqualTypeOf<"extraParams">();
    expectTypeOf<V1_2.Operand>().toEqualTypeOf<Operand>();
    expectTypeOf<keyof V1_1.Capabilities>().toEqualTypeOf<
      "float32Performance" | "quantized8Performance" | "relaxedFloat32toFloat16Performance"
    >();
    expectTypeOf<Exclude<keyof Capabilities, keyof V1_2.Capabilities>>().toEqualTypeOf<
      "ifPerformance" | "whilePerformance"
    >();
    expectTypeOf<V1_2.Request>().toEqualTypeOf<V1_0.Request>();
    expectTypeOf<V1_3.Request>().toEqualTypeOf<Request>();
    expectTypeOf<V1_2.ErrorStatus>().toEqualTypeOf<0 | 1 | 2 | 3 | 4>();
    expectTypeOf<V1_3.ErrorStatus>().toEqualTypeOf<ErrorStatus>();
  });
});

describe("interfaces", () => {
  it("have 38 methods in all", () => {
    type Methods<Of> = Readonly<Record<Exclude<keyof Of, "close">, true>>;
    const device = {
      getCapabilities: true,
      getSupportedOperations: true,
      prepareModel: true,
      getStatus: true,
      getCapabilities_1_1: true,
      getSupportedOperations_1_1: true,
      prepareModel_1_1: true,
      getVersionString: true,
      getType: true,
      getCapabilities_1_2: true,
      getSupportedExtensions: true,
      getSupportedOperations_1_2: true,
      getNumberOfCacheFilesNeeded: true,
      prepareModel_1_2: true,
      prepareModelFromCache: true,
      getCapabilities_1_3: true,
      getSupportedOperations_1_3: true,
      prepareModel_1_3: true,
      prepareModelFromCache_1_3: true,
      allocate: true,
    } satisfies Methods<V1_3.IDevice>;
    const preparedModel = {
      execute: true,
      execute_1_2: true,
      executeSynchronously: true,
      configureExecutionBurst: true,
      execute_1_3: true,
      executeSynchronously_1_3: true,
      executeFenced: true,
    } satisfies Methods<V1_3.IPreparedModel>;
    const notify = { notify: true, notify_1_2: true, notify_1_3: true } as const;
    const preparedModelCallback = notify satisfies Methods<V1_3.IPreparedModelCallback>;
    const executionCallback = notify satisfies Methods<V1_3.IExecutionCallback>;
    const burstCallback = { getMemories: true } satisfies Methods<V1_2.IBurstCallback>;
    const burstContext = { freeMemory: true } satisfies Methods<V1_2.IBurstContext>;
    const buffer = { copyTo: true, copyFrom: true } satisfies Methods<V1_3.IBuffer>;
    const fenced = { getExecutionInfo: true } satisfies Methods<V1_3.IFencedExecutionCallback>;
    const all = [
      device,
      preparedModel,
      preparedModelCallback,
      executionCallback,
      burstCallback,
      burstContext,
      buffer,
      fenced,
    ];
    expect(all.reduce((count, methods) => count + Object.keys(methods).length, 0)).toBe(38);
  });

  it("of newer versions are those of older ones too", () => {
    expectTypeOf<V1_3.IDevice>().toExtend<V1_2.IDevice>();
    expectTypeOf<V1_2.IDevice>().toExtend<V1_1.IDevice>();
    expectTypeOf<V1_1.IDevice>().toExtend<V1_0.IDevice>();
    expectTypeOf<V1_3.IPreparedModel>().toExtend<V1_2.IPreparedModel>();
    expectTypeOf<V1_2.IPreparedModel>().toExtend<V1_1.IPreparedModel>();
    expectTypeOf<V1_1.IPreparedModel>().toEqualTypeOf<V1_0.IPreparedModel>();
  });
});
