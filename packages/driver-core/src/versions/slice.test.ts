import { elementAt } from "@nnhal/operations";
import {
  constant,
  controlModel,
  floorModel,
  input,
  modelOf,
  operand,
  operation,
  output,
  subgraphOf,
} from "@nnhal/test-kit/models";
import {
  type HidlVersion,
  hidlVersions,
  type Model,
  type Operand,
  OperandLifeTime,
  OperandType,
  type Operation,
  OperationType,
} from "@nnhal/types";
import { minimumVersion, modelIssues } from "@nnhal/validation";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { type ModelSlice, sliceModel } from "./slice.ts";

type OldVersion = Exclude<HidlVersion, "1.3">;
const oldVersions = hidlVersions.filter((version): version is OldVersion => version !== "1.3");

/** Returns a slice and asserts that it is a valid model of the version. */
function sliceOf(model: Model, version: OldVersion): ModelSlice {
  expect(modelIssues(model)).toEqual([]);
  const slice = sliceModel(model, version);
  if ("unsliceable" in slice) throw new Error(slice.unsliceable);
  expect(modelIssues(slice.model, { version })).toEqual([]);
  return slice;
}

function typesOf({ model }: ModelSlice): number[] {
  return model.main.operations.map(({ type }) => type);
}

describe("sliceModel", () => {
  it("keeps a model that the version can express", () => {
    const slice = sliceOf(floorModel(), "1.0");
    expect(slice.operationIndexes).toEqual([0, 1]);
    expect(slice.model).toEqual(floorModel());
  });

  it("makes inputs of what dropped operations compute, and outputs of what only they read", () => {
    const model = modelOf(
      subgraphOf(
        [operand(input), operand(), operand(), operand(output)],
        [operation("FLOOR", [0], [1]), operation("ABS", [1], [2]), operation("FLOOR", [2], [3])],
      ),
    );
    const slice = sliceOf(model, "1.1");
    expect(slice.operationIndexes).toEqual([0, 2]);
    // The two FLOOR operations read operands with the same signature, so both read the same input.
    expect(slice.model.main).toEqual(
      subgraphOf(
        [operand(input), operand(output), operand(output)],
        [operation("FLOOR", [0], [1]), operation("FLOOR", [0], [2])],
      ),
    );
    expect(elementAt(slice.model.main.operands, 0).numberOfConsumers).toBe(2);
  });

  it.each<[string, Partial<Operand>]>([
    ["dimensions", { dimensions: [3] }],
    ["type", { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 1 }],
  ])("does not share an input among operands that differ in %s", (_what, facts) => {
    const model = modelOf(
      subgraphOf(
        [operand(input), operand({ ...facts, ...input }), operand(output), operand({ ...facts, ...output })],
        [operation("RELU", [0], [2]), operation("RELU", [1], [3])],
      ),
    );
    expect(sliceOf(model, "1.0").model.main.inputIndexes).toHaveLength(2);
  });

  it("does not share an input among operands that differ in scale or zero point", () => {
    const quantised = { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 1, zeroPoint: 5 };
    for (const facts of [{ scale: 2 }, { zeroPoint: 6 }]) {
      const other = { ...quantised, ...facts };
      const model = modelOf(
        subgraphOf(
          [
            operand({ ...quantised, ...input }),
            operand({ ...other, ...input }),
            operand({ ...quantised, ...output }),
            operand({ ...other, ...output }),
          ],
          [operation("RELU", [0], [2]), operation("RELU", [1], [3])],
        ),
      );
      expect(sliceOf(model, "1.0").model.main.inputIndexes).toHaveLength(2);
    }
  });

  it("keeps an output an output though kept operations read it, and makes it an input where a dropped one writes it", () => {
    const model = modelOf(
      subgraphOf(
        [operand(input), operand({ ...output, numberOfConsumers: 1 }), operand(output)],
        [operation("FLOOR", [0], [1]), operation("FLOOR", [1], [2])],
      ),
    );
    expect(sliceOf(model, "1.0").model.main.outputIndexes).toEqual([1, 2]);
    const newer = modelOf(
      subgraphOf(
        [operand(input), operand({ ...output, numberOfConsumers: 1 }), operand(output)],
        [operation("ABS", [0], [1]), operation("FLOOR", [1], [2])],
      ),
    );
    const slice = sliceOf(newer, "1.0");
    expect(typesOf(slice)).toEqual([OperationType.FLOOR]);
    expect(slice.model.main.operands.map(({ lifetime }) => lifetime)).toEqual([
      OperandLifeTime.SUBGRAPH_INPUT,
      OperandLifeTime.SUBGRAPH_OUTPUT,
    ]);
  });

  it("keeps constants where they are, and only the pools that it needs", () => {
    const pool = (name: string) =>
      ({ name, size: 8, handle: { kind: "buffer", buffer: new ArrayBuffer(8), byteOffset: 0 } }) as const;
    const pools = [pool("hardware_buffer_blob"), pool("ashmem"), pool("ashmem")];
    const inPool = (poolIndex: number) =>
      operand({ lifetime: OperandLifeTime.CONSTANT_REFERENCE, location: { poolIndex, offset: 0, length: 8 } });
    const none = constant("INT32", 0, 4);
    const main = subgraphOf(
      [inPool(0), inPool(1), inPool(2), none, operand(output), operand(output)],
      [operation("ADD", [0, 1, 3], [4]), operation("ADD", [2, 2, 3], [5])],
    );
    const slice = sliceOf(modelOf(main, { pools, operandValues: new Uint8Array(4) }), "1.0");
    expect(slice.operationIndexes).toEqual([1]);
    expect(slice.model.pools).toEqual([pools[2]]);
    expect(slice.model.main.operands.map(({ location }) => location.poolIndex)).toEqual([0, 0, 0]);
    expect(slice.model.operandValues).toHaveLength(4);
  });

  it("passes on permission to relax and the names of extensions to versions that know them", () => {
    const model: Model = {
      ...floorModel(),
      relaxComputationFloat32toFloat16: true,
      extensionNameToPrefix: [{ name: "com.example", prefix: 1 }],
    };
    const facts = oldVersions.map((version) => {
      const { relaxComputationFloat32toFloat16: relaxed, extensionNameToPrefix } = sliceOf(model, version).model;
      return [version, relaxed, extensionNameToPrefix.length];
    });
    expect(facts).toEqual([
      ["1.0", false, 0],
      ["1.1", true, 0],
      ["1.2", true, 1],
    ]);
  });

  it("leaves out control flow and the subgraphs", () => {
    const slice = sliceOf(controlModel, "1.2");
    expect(typesOf(slice)).toEqual([OperationType.CONV_2D]);
    expect(slice.model.referenced).toEqual([]);
  });

  it("is not there where the version can express no operation", () => {
    expect(sliceModel(floorModel({ type: OperandType.TENSOR_FLOAT16 }), "1.1")).toEqual({
      unsliceable: "HAL 1.1 can express none of the operations",
    });
  });

  it("is not there where no result of what is left is used", () => {
    const model = modelOf(
      subgraphOf(
        [operand(input), operand(), operand(output)],
        [operation("FLOOR", [0], [1]), operation("ABS", [0], [2])],
      ),
    );
    expect(sliceModel(model, "1.0")).toEqual({
      unsliceable: "none of the operations that HAL 1.0 can express has a result that is used",
    });
  });

  /** Chains and trees of operations on float32 tensors, of all versions; each reads values before it. */
  const graph = fc
    .array(
      fc.record({
        type: fc.constantFrom("FLOOR", "ABS", "NEG", "RELU", "ELU", "SIN", "HARD_SWISH", "LOGISTIC", "EXP"),
        reads: fc.nat(),
        isOutput: fc.boolean(),
      }),
      { minLength: 1, maxLength: 12 },
    )
    .map((steps): Model => {
      const operations: Operation[] = [];
      const operands = [operand(input)];
      for (const [index, { type, reads, isOutput }] of steps.entries()) {
        operations.push({ type: OperationType[type], inputs: [reads % operands.length], outputs: [index + 1] });
        operands.push(operand(isOutput || index === steps.length - 1 ? output : {}));
      }
      return modelOf(subgraphOf(operands, operations));
    });

  it("is a valid model of exactly the operations that the version can express", () => {
    fc.assert(
      fc.property(graph, fc.constantFrom(...oldVersions), (model, version) => {
        const fitting = model.main.operations.flatMap(({ type }, index) => {
          const alone = modelOf(subgraphOf([operand(input), operand(output)], [{ type, inputs: [0], outputs: [1] }]));
          return (minimumVersion(alone) ?? "none") <= version ? [index] : [];
        });
        const slice = sliceModel(model, version);
        if ("unsliceable" in slice) return;
        expect(slice.operationIndexes).toEqual(fitting);
        expect(modelIssues(slice.model, { version })).toEqual([]);
      }),
    );
  });
});
