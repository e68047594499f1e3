import { elementAt } from "@nnhal/operations";
import {
  type ExtensionNameAndPrefix,
  type Operand,
  OperandLifeTime,
  type Operation,
  type Subgraph,
} from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { UnreadableBytes } from "./bytes.ts";
import { decode as decodeValue, encode as encodeValue } from "./codec.ts";
import { type ModelStructure, modelStructure } from "./model.ts";

const uint32 = fc.integer({ min: 0, max: 2 ** 32 - 1 });
const indexes = fc.array(uint32, { maxLength: 4 });
const number = fc.double({ noNaN: true });

const operand: fc.Arbitrary<Operand> = fc.record({
  type: uint32,
  dimensions: indexes,
  numberOfConsumers: uint32,
  scale: number,
  zeroPoint: fc.integer({ min: -(2 ** 31), max: 2 ** 31 - 1 }),
  lifetime: fc.constantFrom(...Object.values(OperandLifeTime)),
  location: fc.record({ poolIndex: uint32, offset: uint32, length: uint32 }),
  extraParams: fc.oneof(
    fc.constant({ kind: "none" } as const),
    fc.record({
      kind: fc.constant("channelQuant" as const),
      channelQuant: fc.record({ scales: fc.array(number, { maxLength: 3 }), channelDim: uint32 }),
    }),
    fc.record({ kind: fc.constant("extension" as const), extension: fc.uint8Array({ maxLength: 8 }) }),
  ),
});
const operation: fc.Arbitrary<Operation> = fc.record({ type: uint32, inputs: indexes, outputs: indexes });
const subgraph: fc.Arbitrary<Subgraph> = fc.record({
  operands: fc.array(operand, { maxLength: 4 }),
  operations: fc.array(operation, { maxLength: 3 }),
  inputIndexes: indexes,
  outputIndexes: indexes,
});
const extension: fc.Arbitrary<ExtensionNameAndPrefix> = fc.record({
  name: fc.string({ unit: "grapheme" }),
  prefix: uint32,
});
const model: fc.Arbitrary<ModelStructure> = fc.record({
  main: subgraph,
  referenced: fc.array(subgraph, { maxLength: 2 }),
  relaxComputationFloat32toFloat16: fc.boolean(),
  extensionNameToPrefix: fc.array(extension, { maxLength: 2 }),
});

const encode = (structure: ModelStructure) => encodeValue(modelStructure, structure);
const decode = (bytes: Uint8Array) => decodeValue(modelStructure, bytes);

const location = { poolIndex: 1, offset: 2, length: 3 };
const facts = { type: 3, dimensions: [2, 0], numberOfConsumers: 1, scale: 0.5, zeroPoint: -1, lifetime: 4, location };

/** A structure with every kind of field. */
const constantModel = (): ModelStructure => ({
  main: {
    operands: [
      { ...facts, extraParams: { kind: "none" } },
      { ...facts, extraParams: { kind: "channelQuant", channelQuant: { scales: [0.25], channelDim: 1 } } },
      { ...facts, extraParams: { kind: "extension", extension: Uint8Array.of(7) } },
    ],
    operations: [{ type: 0, inputs: [0, 1], outputs: [2] }],
    inputIndexes: [0],
    outputIndexes: [2],
  },
  referenced: [{ operands: [], operations: [], inputIndexes: [], outputIndexes: [] }],
  relaxComputationFloat32toFloat16: true,
  extensionNameToPrefix: [{ name: "com.example.a", prefix: 1 }],
});

describe("models as bytes", () => {
  it("are the models that they were", () => {
    fc.assert(
      fc.property(model, (structure) => {
        expect(decode(encode(structure))).toEqual(structure);
      }),
      { numRuns: 200 },
    );
  });

  it("cannot be read if they are cut short at any byte", () => {
    const bytes = encode(constantModel());
    for (let length = 0; length < bytes.length; length++) {
      expect(() => decode(bytes.subarray(0, length)), `${length} bytes`).toThrow(UnreadableBytes);
    }
    expect(() => decode(Uint8Array.of(...bytes, 0))).toThrow("1 bytes are too many");
  });

  it("are another model or not readable if any byte is changed", () => {
    const bytes = encode(constantModel());
    fc.assert(
      fc.property(fc.integer({ min: 0, max: bytes.length - 1 }), fc.integer({ min: 1, max: 255 }), (at, change) => {
        const damaged = new Uint8Array(bytes);
        damaged[at] = elementAt(damaged, at) ^ change;
        let read: ModelStructure;
        try {
          read = decode(damaged);
        } catch (error) {
          expect(error).toBeInstanceOf(UnreadableBytes);
          return;
        }
        expect(encode(read)).toEqual(damaged);
      }),
      { numRuns: 500 },
    );
  });

  it("say at which byte they cannot be read, and what should be there", () => {
    expect(() => decode(Uint8Array.of(1, 0))).toThrow("byte 0: .main.operands: expected 4 bytes, got 2");
    expect(() => decode(Uint8Array.of(2, 0, 0, 0, 1, 1))).toThrow(
      "byte 0: .main.operands: 2 items take more than the 2 bytes that are left",
    );
  });

  it("are refused if a number does not fit its field", () => {
    const { main } = constantModel();
    for (const change of [{ type: 2 ** 32 }, { zeroPoint: 2 ** 31 }, { dimensions: [0.5] }, { lifetime: -1 }]) {
      const operands = main.operands.map((operand, index) => (index === 0 ? { ...operand, ...change } : operand));
      expect(() => encode({ ...constantModel(), main: { ...main, operands } })).toThrow(RangeError);
    }
  });
});
