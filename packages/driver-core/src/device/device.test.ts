import type { Backend, GraphView } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { elementAt } from "@nnhal/operations";
import {
  DeviceStatus,
  DeviceType,
  ErrorStatus,
  ExecutionPreference,
  type Model,
  OperandLifeTime,
  OperandType,
  OperationType,
  Priority,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { openDevice } from "./device.ts";
import { absModel, capabilities, fakeBackend, fakeDevice } from "./fake-backend.test-helper.ts";

const { NONE, INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;
const { MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;

/** The model with another main subgraph. */
const change = (main: Partial<Model["main"]>): Model => ({ ...absModel, main: { ...absModel.main, ...main } });
const invalid = change({ inputIndexes: [] });

describe("openDevice", () => {
  it("refuses an option that does not exist, and names the nearest one", async () => {
    const options = { backend: referenceBackend, ...{ temporarylimits: 5 } };
    await expect(openDevice(options)).rejects.toThrow(
      new RangeError('openDevice: unknown option "temporarylimits": did you mean "temporaryLimit"?'),
    );
  });

  it("describes itself as the backend does", async () => {
    const device = await fakeDevice();
    expect(device.name).toBe("nnhal-fake");
    expect(device.getType()).toEqual({ status: NONE, type: DeviceType.ACCELERATOR });
    expect(device.getVersionString()).toEqual({ status: NONE, version: "fake-1" });
    expect(device.getCapabilities()).toEqual({ status: NONE, capabilities });
    expect(device.getSupportedExtensions()).toEqual({ status: NONE, extensions: [] });
    expect(device.getStatus()).toBe(DeviceStatus.AVAILABLE);
    expect((await fakeDevice({}, { name: "vendor-npu" })).name).toBe("vendor-npu");
  });

  it("opens the backend with the store of outcomes", async () => {
    const outcomes = { read: async () => undefined, write: async () => {} };
    const seen: unknown[] = [];
    const open: Backend["open"] = async (options) => {
      seen.push(options?.outcomes);
      return { unavailable: "no adapter" };
    };
    await openDevice({ backend: { ...fakeBackend(), open }, outcomes });
    expect(seen).toEqual([outcomes]);
  });

  it("passes on why a backend cannot work here", async () => {
    const unavailable = { unavailable: "no adapter", remedy: "install a driver" };
    const backend = { ...fakeBackend(), open: async () => unavailable };
    await expect(openDevice({ backend })).resolves.toEqual(unavailable);
  });
});

/** An IF whose branches are both the subgraph of `absModel`. */
function ifModel(): Model {
  const branch = absModel.main;
  const input = elementAt(branch.operands, 0);
  const output = elementAt(branch.operands, 1);
  const location = { poolIndex: 0, offset: 0, length: 0 };
  const subgraph = {
    ...input,
    type: OperandType.SUBGRAPH,
    lifetime: OperandLifeTime.SUBGRAPH,
    dimensions: [],
    location,
  };
  return {
    ...absModel,
    main: {
      operands: [{ ...input, type: OperandType.TENSOR_BOOL8, dimensions: [1] }, subgraph, subgraph, input, output],
      operations: [{ type: OperationType.IF, inputs: [0, 1, 2, 3], outputs: [4] }],
      inputIndexes: [0, 3],
      outputIndexes: [4],
    },
    referenced: [branch],
  };
}

describe("getSupportedOperations", () => {
  it("returns the backend's reasons beside the booleans", async () => {
    const model = change({
      operands: [
        elementAt(absModel.main.operands, 0),
        { ...elementAt(absModel.main.operands, 1), lifetime: 0, numberOfConsumers: 1 },
        elementAt(absModel.main.operands, 1),
      ],
      operations: [
        { type: OperationType.ABS, inputs: [0], outputs: [1] },
        { type: OperationType.FLOOR, inputs: [1], outputs: [2] },
      ],
      outputIndexes: [2],
    });
    const deviceOf = (dispatches?: number) =>
      fakeDevice({
        supports: ({ definition }) =>
          definition.name === "ABS"
            ? { supported: true, ...(dispatches && { dispatches }) }
            : { supported: false, reason: `${definition.name}: too hard` },
      });
    const answer = { status: NONE, supported: [true, false], reasons: [undefined, "FLOOR: too hard"] };
    expect((await deviceOf()).getSupportedOperations(model)).toEqual(answer);
    expect((await deviceOf(7)).getSupportedOperations(model)).toEqual({ ...answer, dispatches: [7, 1] });
  });

  it("refuses a model that is not valid", async () => {
    const { status, message, supported } = (await fakeDevice()).getSupportedOperations(invalid);
    expect({ status, supported }).toEqual({ status: INVALID_ARGUMENT, supported: [] });
    expect(message).toContain("the model is not valid: main.");
  });

  it("treats an operation of an extension as not supported", async () => {
    const model: Model = {
      ...change({ operations: [{ type: 0x1_0001, inputs: [0], outputs: [1] }] }),
      extensionNameToPrefix: [{ name: "com.example.test", prefix: 1 }],
    };
    const answer = (await fakeDevice()).getSupportedOperations(model);
    expect(answer).toMatchObject({ status: NONE, supported: [false] });
    expect(answer.reasons[0]).toBe("com.example.test operation 1: the engine does not have this operation");
  });

  it("looks into the branches of an IF", async () => {
    const model = ifModel();
    const refusingAbs = await fakeDevice({
      supports: ({ definition }) =>
        definition.name === "ABS" ? { supported: false, reason: "ABS: too hard" } : { supported: true },
    });
    expect((await fakeDevice()).getSupportedOperations(model).supported).toEqual([true]);
    expect(refusingAbs.getSupportedOperations(model).reasons).toEqual(["IF: inside, ABS: too hard"]);
  });
});

describe("prepareModel", () => {
  it("hands the backend the graph and the options", async () => {
    const seen: { graph: GraphView; options: unknown }[] = [];
    const device = await fakeDevice({
      async compile(graph, options) {
        seen.push({ graph, options });
        throw new Error("seen enough");
      },
    });
    await device.prepareModel(absModel);
    const { LOW_POWER } = ExecutionPreference;
    await device.prepareModel(absModel, { preference: LOW_POWER, priority: Priority.HIGH });
    expect(seen.map(({ options }) => options)).toEqual([
      { preference: ExecutionPreference.FAST_SINGLE_ANSWER, priority: Priority.MEDIUM },
      { preference: LOW_POWER, priority: Priority.HIGH },
    ]);
    expect(elementAt(seen, 0).graph.operations.map(({ definition }) => definition.name)).toEqual(["ABS"]);
  });

  it("compiles the subgraphs that the main one reaches; others may have what the backend cannot compute", async () => {
    const referenced: number[][] = [];
    const device = await fakeDevice({
      async compile(graph) {
        referenced.push(graph.referenced.map(({ operations }) => operations.length));
        throw new Error("seen enough");
      },
    });
    await device.prepareModel(ifModel());
    await device.prepareModel({ ...absModel, referenced: [absModel.main] });
    expect(referenced).toEqual([[1], [0]]);
  });

  it.each([
    ["a model that is not valid", invalid, {}, "the model is not valid"],
    [
      "a preference that does not exist",
      absModel,
      { preference: 3 as 0 },
      "the execution preference: expected 0, 1 or 2, got 3",
    ],
    ["a priority that does not exist", absModel, { priority: -1 as 0 }, "the priority: expected 0, 1 or 2, got -1"],
  ])("refuses %s", async (_what, model, options, message) => {
    const result = await (await fakeDevice()).prepareModel(model, options);
    expect(result).toMatchObject({ status: INVALID_ARGUMENT, preparedModel: null });
    expect(result.message).toContain(message);
  });

  it("refuses a model with operations that the backend does not support, and names them", async () => {
    const device = await fakeDevice({ supports: () => ({ supported: false, reason: "ABS: too hard" }) });
    await expect(device.prepareModel(absModel)).resolves.toEqual({
      status: INVALID_ARGUMENT,
      message: "nnhal-fake does not support the model: ABS: too hard",
      preparedModel: null,
    });
  });

  it("keeps the deadline: reached before it starts, reached while it works, not reached", async () => {
    let time = 100n;
    const options = { now: () => time };
    const prepare = async (deadline: bigint, duration: bigint) => {
      time = 100n;
      const compile = async () => {
        time += duration;
        return { run: () => ({ status: NONE, outputShapes: [] }), close() {} };
      };
      return (await (await fakeDevice({ compile }, options)).prepareModel(absModel, { deadline })).status;
    };
    expect(await prepare(100n, 0n)).toBe(MISSED_DEADLINE_PERSISTENT);
    expect(await prepare(101n, 0n)).toBe(NONE);
    expect(await prepare(150n, 50n)).toBe(MISSED_DEADLINE_TRANSIENT);
    expect(await prepare(151n, 50n)).toBe(NONE);
  });

  it("turns what the backend throws into a status and a message", async () => {
    const device = await fakeDevice({ compile: () => Promise.reject(new Error("out of ideas")) });
    await expect(device.prepareModel(absModel)).resolves.toEqual({
      status: GENERAL_FAILURE,
      message: "preparing the model: out of ideas",
      preparedModel: null,
    });
  });

  it("refuses pools that cannot be mapped", async () => {
    const pool = {
      name: "mmap_fd",
      size: 4,
      handle: { kind: "fileDescriptor", fd: 0, protection: 1, offset: 0 },
    } as const;
    const result = await (await fakeDevice()).prepareModel({ ...absModel, pools: [pool] });
    expect(result).toMatchObject({ status: GENERAL_FAILURE, preparedModel: null });
    expect(result.message).toContain("main pool 0: ");
  });

  it("prepares on the reference backend", async () => {
    const device = await openDevice({ backend: referenceBackend });
    if ("unavailable" in device) throw new Error(device.unavailable);
    await expect(device.prepareModel(absModel)).resolves.toMatchObject({ status: NONE });
  });
});
