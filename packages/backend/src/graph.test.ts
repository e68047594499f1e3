import { type ExtensionDefinition, extensionCode } from "@nnhal/operations";
import { defineExtension, defineOperation, extensionTypes, tensor } from "@nnhal/operations/authoring";
import {
  type DataLocation,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
  type Subgraph,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type SubgraphView, viewModel, viewSubgraph } from "./graph.ts";

const operand = (type: number, lifetime: number, dimensions: number[] = [], location?: DataLocation): Operand => ({
  type,
  dimensions,
  numberOfConsumers: 1,
  scale: 0,
  zeroPoint: 0,
  lifetime,
  location: location ?? { poolIndex: 0, offset: 0, length: 0 },
  extraParams: { kind: "none" },
});

const { TENSOR_FLOAT32, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY, CONSTANT_REFERENCE } = OperandLifeTime;
const pool = new Uint8Array(Float32Array.of(9, 1, 2, 9).buffer);

/** input + [1, 2] */
const model = (operations: Operation[] = [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }]): Model => ({
  main: {
    operands: [
      operand(TENSOR_FLOAT32, SUBGRAPH_INPUT, [2]),
      operand(TENSOR_FLOAT32, CONSTANT_REFERENCE, [2], { poolIndex: 0, offset: 4, length: 8 }),
      operand(INT32, CONSTANT_COPY, [], { poolIndex: 0, offset: 0, length: 4 }),
      operand(TENSOR_FLOAT32, SUBGRAPH_OUTPUT, [2]),
      operand(0x1_0003, OperandLifeTime.TEMPORARY_VARIABLE),
    ],
    operations,
    inputIndexes: [0],
    outputIndexes: [3],
  },
  referenced: [],
  operandValues: new Uint8Array(Int32Array.of(3).buffer),
  pools: [],
  relaxComputationFloat32toFloat16: true,
  extensionNameToPrefix: [],
});

const source = (given: Model) => ({ model: given, pools: [pool] });

describe("viewModel", () => {
  it("returns constants as views of their pools", () => {
    const graph = viewModel(source(model()));
    const [, weights, activation] = graph.operands;
    expect(weights?.data).toEqual(Float32Array.of(1, 2));
    expect(weights?.data?.buffer).toBe(pool.buffer);
    expect(activation?.data).toEqual(Int32Array.of(3));
    expect(graph.operands[0]).not.toHaveProperty("data");
  });

  it("matches operations with their definitions", () => {
    const { operations, inputs, outputs, relaxed } = viewModel(source(model()));
    expect(operations.map(({ definition }) => definition.name)).toEqual(["ADD"]);
    expect(operations[0]?.inputs.map(({ index }) => index)).toEqual([0, 1, 2]);
    expect({ inputs, outputs, relaxed }).toEqual({ inputs: [0], outputs: [3], relaxed: true });
  });

  it("has no view for operands of unknown extension types", () => {
    expect(viewModel(source(model())).operands[4]).toBeUndefined();
  });

  it("matches each operation once, for support and compilation together", () => {
    const given = { ...source(model()), views: new Map<Subgraph, SubgraphView>() };
    const { operations, operands } = viewSubgraph(given.model.main, given);
    const graph = viewModel({ ...given });
    expect(graph.operations[0]).toBe(operations[0]);
    expect(graph.operands).toBe(operands);
    expect(viewModel({ ...given, views: undefined }).operations[0]).not.toBe(operations[0]);
  });

  it("says why an operation has no view", () => {
    const reason = (operation: Operation) => {
      const given = source(model([operation]));
      return viewSubgraph(given.model.main, given).operations[0];
    };
    expect(reason({ type: OperationType.ADD, inputs: [0, 1], outputs: [3] })).toEqual({
      index: 0,
      unknown: "ADD: expected 3 inputs and 1 outputs, got 2 inputs and 1 outputs",
    });
    expect(reason({ type: OperationType.ADD, inputs: [0, 4, 2], outputs: [3] })).toEqual({
      index: 0,
      unknown: "ADD: input 1 (right): expected TENSOR_FLOAT32, got an extension type",
    });
    expect(reason({ type: 0x1_0001, inputs: [0], outputs: [3] })).toEqual({
      index: 0,
      unknown: "operation type 1 of extension prefix 1: the engine does not have this operation",
    });
  });

  it("refuses to compile an operation without a view", () => {
    const odd = model([{ type: OperationType.OEM_OPERATION, inputs: [0], outputs: [3] }]);
    expect(() => viewModel(source(odd))).toThrow("operation 1 cannot be compiled: OEM_OPERATION: the engine has no");
  });
});

describe("an extension that the source knows", () => {
  const name = "com.example.scaled";
  const { TENSOR_SCALED } = extensionTypes(name, {
    TENSOR_SCALED: {
      code: 3,
      kind: "tensor",
      array: BigInt64Array,
      params: { decode: (bytes) => bytes.length, encode: (length: number) => new Uint8Array(length) },
    },
  });
  const scale = defineOperation({
    name: "SCALE",
    code: 1,
    summary: "Scales.",
    params: [tensor("input")],
    outputs: [tensor("output", TENSOR_SCALED)],
    types: [["1.2", "TENSOR_FLOAT32"]],
  });
  const extension = defineExtension({ name, operandTypes: { TENSOR_SCALED }, operations: [scale] });
  /** SCALE, in a model with a prefix for the extension. */
  const scaled = (prefix: number): Model => {
    const code = (within: number) => extensionCode(prefix, within);
    const given = model([{ type: code(1), inputs: [0], outputs: [4] }]);
    const operands = given.main.operands.map((each, index) =>
      index === 4
        ? { ...each, type: code(3), extraParams: { kind: "extension", extension: Uint8Array.of(1, 2) } as const }
        : each,
    );
    return { ...given, main: { ...given.main, operands }, extensionNameToPrefix: [{ name, prefix }] };
  };

  it.each([1, 2, 0x7fff])("is found by the prefix %i of the model", (prefix) => {
    const { operands, operations } = viewModel({ ...source(scaled(prefix)), extensions: [extension] });
    expect(operations[0]?.definition).toMatchObject({ name: "SCALE", extension: name });
    expect(operands[4]).toMatchObject({ type: TENSOR_SCALED, params: 2 });
  });

  it("is unknown under another name, or without the definition", () => {
    const reason = (extensions: readonly ExtensionDefinition[]) => {
      const given = { ...source(scaled(1)), extensions };
      return viewSubgraph(given.model.main, given).operations[0];
    };
    const unknown = `${name} operation 1: the engine does not have this operation`;
    expect(reason([])).toEqual({ index: 0, unknown });
    expect(reason([defineExtension({ name: "com.example.other", operations: [scale] })])).toEqual({
      index: 0,
      unknown,
    });
    expect(reason([defineExtension({ name })])).toEqual({ index: 0, unknown });
  });

  it("may be what OEM_OPERATION means", () => {
    const oem = model([{ type: OperationType.OEM_OPERATION, inputs: [0], outputs: [3] }]);
    const oemOperation = defineOperation({
      name: "OEM_OPERATION",
      code: OperationType.OEM_OPERATION,
      summary: "Does what the OEM wants.",
      params: [tensor("input")],
      outputs: [tensor("output")],
      types: [["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
    });
    expect(viewModel({ ...source(oem), oemOperation }).operations[0]?.definition).toBe(oemOperation);
    const wrong = {
      ...source(model([{ type: OperationType.OEM_OPERATION, inputs: [2], outputs: [3] }])),
      oemOperation,
    };
    expect(viewSubgraph(wrong.model.main, wrong).operations[0]).toEqual({
      index: 0,
      unknown: "OEM_OPERATION: input 0 (input): expected TENSOR_FLOAT32, got INT32",
    });
  });
});
