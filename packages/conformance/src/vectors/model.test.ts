import { elementAt } from "@nnhal/operations";
import { addExample, bytesOf, constant, operand, withOperands } from "@nnhal/test-kit/examples";
import { OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { changeExample } from "./examples.test-helper.ts";
import { modelOf } from "./model.ts";
import { casesOf } from "./variant.ts";

function model(example = addExample()) {
  return modelOf({ name: example.name, example, unspecifiedOutputs: false });
}

describe("modelOf", () => {
  it("gives the graph its codes and places copied constants one after the other", () => {
    const { main, operandValues, pools, relaxComputationFloat32toFloat16 } = model();
    expect(main.operations).toEqual([{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }]);
    expect(main.inputIndexes).toEqual([0]);
    expect(main.outputIndexes).toEqual([3]);
    expect(main.operands[1]).toEqual({
      type: OperandType.TENSOR_FLOAT32,
      dimensions: [1, 3],
      numberOfConsumers: 1,
      scale: 0,
      zeroPoint: 0,
      lifetime: OperandLifeTime.CONSTANT_COPY,
      location: { poolIndex: 0, offset: 0, length: 12 },
      extraParams: { kind: "none" },
    });
    expect(elementAt(main.operands, 2).location).toEqual({ poolIndex: 0, offset: 12, length: 4 });
    expect(operandValues).toEqual(Uint8Array.of(...bytesOf(Float32Array.of(10, 20, 30)), 0, 0, 0, 0));
    expect(pools).toEqual([]);
    expect(relaxComputationFloat32toFloat16).toBe(false);
    // Inputs and expected outputs are the request's, not the model's.
    expect(elementAt(main.operands, 0).location).toEqual({ poolIndex: 0, offset: 0, length: 0 });
    expect(elementAt(main.operands, 3).location).toEqual({ poolIndex: 0, offset: 0, length: 0 });
  });

  it("puts referenced constants of all subgraphs into one shared pool, aligned", () => {
    const bytes = (...values: number[]) =>
      ({ lifetime: "CONSTANT_REFERENCE", data: Uint8Array.of(...values) }) as const;
    const inner = addExample().main;
    const { main, referenced, pools } = model({
      ...withOperands(addExample(), { 1: bytes(1, 2, 3, 4, 5), 2: bytes(6) }),
      referenced: [
        { ...inner, operands: inner.operands.map((old, index) => (index === 1 ? { ...old, ...bytes(7) } : old)) },
      ],
      isRelaxed: true,
    });
    expect(elementAt(main.operands, 1).location).toEqual({ poolIndex: 0, offset: 0, length: 5 });
    expect(elementAt(main.operands, 2).location).toEqual({ poolIndex: 0, offset: 8, length: 1 });
    expect(elementAt(elementAt(referenced, 0).operands, 1).location).toEqual({ poolIndex: 0, offset: 12, length: 1 });
    const { name, size, handle } = elementAt(pools, 0);
    expect({ name, size }).toEqual({ name: "ashmem", size: 16 });
    if (handle?.kind !== "buffer") throw new Error("no buffer");
    expect(handle.buffer).toBeInstanceOf(SharedArrayBuffer);
    expect([...new Uint8Array(handle.buffer, handle.byteOffset, size)]).toEqual([
      ...[1, 2, 3, 4, 5, 0, 0, 0],
      ...[6, 0, 0, 0],
      ...[7, 0, 0, 0],
    ]);
  });

  it("carries the relaxed flag, channel scales and the index of a subgraph", () => {
    const example = withOperands(addExample({ isRelaxed: true }), {
      1: { channelQuant: { scales: [0.5], channelDim: 3 } },
      2: operand("SUBGRAPH", [], { ...constant, lifetime: "SUBGRAPH", data: bytesOf(Int32Array.of(2)) }),
    });
    const { main, relaxComputationFloat32toFloat16 } = model(example);
    expect(relaxComputationFloat32toFloat16).toBe(true);
    expect(elementAt(main.operands, 1).extraParams).toEqual({
      kind: "channelQuant",
      channelQuant: { scales: [0.5], channelDim: 3 },
    });
    expect(main.operands[2]).toMatchObject({
      lifetime: OperandLifeTime.SUBGRAPH,
      location: { poolIndex: 0, offset: 2, length: 0 },
    });
  });

  it("says nothing of the extents of an operand whose extents are not stated", () => {
    const { main } = model(changeExample(addExample(), { 0: { isUnspecified: true } }));
    expect(elementAt(main.operands, 0).dimensions).toEqual([0, 0]);
    expect(elementAt(main.operands, 3).dimensions).toEqual([1, 3]);
  });

  it("says nothing of the outputs' extents in the form without them", () => {
    const unspecified = elementAt(casesOf(addExample(), true), 1);
    const { main } = modelOf(unspecified);
    expect(elementAt(main.operands, 3).dimensions).toEqual([0, 0]);
    expect(elementAt(main.operands, 0).dimensions).toEqual([1, 3]);
  });
});
