import { operationByCode } from "@nnhal/operations";
import {
  type DataLocation,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { viewModel, viewSubgraph } from "./graph.ts";

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

const source = (given: Model) => ({ model: given, pools: [pool], operationByCode });

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

  it("has no view for operands of extension types", () => {
    expect(viewModel(source(model())).operands[4]).toBeUndefined();
  });

  it("matches each operation once, for support and compilation together", () => {
    let looked = 0;
    const given = {
      ...source(model()),
      operationByCode(code: number) {
        looked++;
        return operationByCode(code);
      },
    };
    const { operations, operands } = viewSubgraph(given.model.main, given);
    const graph = viewModel(given);
    expect(looked).toBe(1);
    expect(graph.operations[0]).toBe(operations[0]);
    expect(graph.operands).toBe(operands);
    viewModel({ ...given });
    expect(looked).toBe(2);
  });

  it("says why an operation has no view", () => {
    const reason = (operation: Operation) => {
      const given = source(model([operation]));
      return viewSubgraph(given.model.main, given).operations[0];
    };
    expect(reason({ type: OperationType.ADD, inputs: [0, 1], outputs: [3] })).toEqual({
      index: 0,
      unknown: "ADD: it has 2 inputs and 1 outputs where 3 inputs and 1 outputs are needed",
    });
    expect(reason({ type: OperationType.ADD, inputs: [0, 4, 2], outputs: [3] })).toEqual({
      index: 0,
      unknown: "ADD: input 1 (right) is of an extension type where TENSOR_FLOAT32 is needed",
    });
    expect(reason({ type: 0x1_0001, inputs: [0], outputs: [3] })).toEqual({
      index: 0,
      unknown: "operation type 65537: no definition of this operation is known",
    });
  });

  it("refuses to compile an operation without a view", () => {
    const odd = model([{ type: OperationType.OEM_OPERATION, inputs: [0], outputs: [3] }]);
    expect(() => viewModel(source(odd))).toThrow("operation 0 cannot be compiled: OEM_OPERATION: no definition");
  });
});
