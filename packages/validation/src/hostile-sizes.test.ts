/**
 * Hostile sizes, shapes and constants: validation and shape inference report issues, never throw, and end in bounded time.
 */
import {
  clamp,
  elementAt,
  elementCount,
  halTypeName,
  operations,
  type Param,
  type RankRule,
  typesOfRow,
} from "@nnhal/operations";
import {
  changePart,
  constant,
  floorModel,
  input,
  modelOf,
  omitted,
  operand,
  operation,
  output,
  reference,
  subgraphOf,
} from "@nnhal/test-kit/models";
import { type Operand, OperandType, type OperandTypeName, operandTypes } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectIssues } from "./hostile.test-helper.ts";
import { analyseModel, modelIssues } from "./index.ts";

describe("size", () => {
  it("of a model may be large: 20,000 operations in a row", () => {
    const count = 20_000;
    const operands = [operand(input), ...Array.from({ length: count - 1 }, () => operand()), operand(output)];
    const counted = operands.map((one, index) => ({ ...one, numberOfConsumers: index < count ? 1 : 0 }));
    const operations = Array.from({ length: count }, (_, index) => operation("FLOOR", [index], [index + 1]));
    const model = modelOf({ operands: counted, operations, inputIndexes: [0], outputIndexes: [count] });
    expect(modelIssues(model)).toEqual([]);
    const last = `main.operands[${count}].numberOfConsumers`;
    expect(modelIssues(changePart(model, last, 1)).map(({ path }) => path)).toEqual([last]);
  });

  /** Subgraph `index` runs `next` either way. */
  const nest = (next: number) =>
    subgraphOf(
      [
        operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...input }),
        operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...output }),
        reference(next, 0),
      ],
      [operation("IF", [0, 2, 2, 0], [1])],
    );
  const leaf = subgraphOf(
    [
      operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...input }),
      operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...output }),
    ],
    [operation("LOGICAL_NOT", [0], [1])],
  );

  it("of nesting may be large: 10,000 subgraphs deep, each named twice", () => {
    const depth = 10_000;
    const referenced = Array.from({ length: depth }, (_, index) => (index + 1 < depth ? nest(index + 1) : leaf));
    const model = modelOf(nest(0), { referenced });
    expect(modelIssues(model)).toEqual([]);
    const cyclic = changePart(model, `referenced[${depth - 1}]`, nest(0));
    expect(modelIssues(cyclic).map(({ code }) => code)).toEqual(["subgraph-cycle"]);
  });

  it("of one operation may be large", () => {
    const count = 50_000;
    const part = operand({ ...input });
    const inputs = Array.from({ length: count }, () => ({ ...part, numberOfConsumers: 1 }));
    const axis = operand({ type: OperandType.INT32, dimensions: [], ...input, numberOfConsumers: 1 });
    const indexes = Array.from({ length: count + 1 }, (_, index) => index);
    const whole = operand({ dimensions: [2 * count], ...output });
    const main = {
      operands: [...inputs, axis, whole],
      operations: [operation("CONCATENATION", indexes, [count + 1])],
      inputIndexes: indexes,
      outputIndexes: [count + 1],
    };
    expect(modelIssues(modelOf(main))).toEqual([]);
    const wrong = modelIssues(changePart(modelOf(main), `main.operands[${count}].type`, OperandType.FLOAT32));
    expect(wrong.map(({ code }) => code)).toEqual(["operation-signature"]);
    expectIssues(wrong);
  });
});

describe("shape inference", () => {
  const extents = fc.oneof(
    { weight: 40, arbitrary: fc.integer({ min: 1, max: 4 }) },
    fc.constantFrom(0, 255, 2 ** 16, 2 ** 31, 2 ** 32 - 1),
  );
  const words = fc.oneof(
    fc.integer({ min: -2, max: 5 }),
    fc.constantFrom(2 ** 31 - 1, -(2 ** 31), 0x3f80_0000, 0x7fc0_0000, 0x7f80_0000),
  );
  /** The contents of all constants: each begins somewhere in them. */
  const contents = fc.array(words, { minLength: 24, maxLength: 24 });

  /** The random choices for one parameter's operand. */
  const drawn = fc.record({
    shape: fc.oneof(
      { weight: 40, arbitrary: fc.array(extents, { minLength: 1, maxLength: 4 }) },
      fc.array(extents, { maxLength: 6 }),
    ),
    /** Where a constant begins. */
    offset: fc.integer({ min: 0, max: 12 }).map((word) => 4 * word),
    /** Of ten optional operands one has a value. */
    isPresent: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  });

  function operandOf(
    param: Param,
    type: OperandTypeName,
    rank: RankRule | undefined,
    { shape, offset, isPresent }: typeof drawn extends fc.Arbitrary<infer Drawn> ? Drawn : never,
  ): Operand {
    const { code, kind, elementSize, quantisation } = operandTypes[type];
    const [least, greatest] = typeof rank === "number" ? [rank, rank] : (rank ?? [0, 6]);
    const dimensions = kind === "tensor" ? [...shape, 1, 1, 1, 1].slice(0, clamp(shape.length, least, greatest)) : [];
    const length = elementCount(dimensions) * elementSize;
    const fits = (kind !== "tensor" || dimensions.length > 0) && length > 0 && offset + length <= 4 * 24;
    const isConstant = fits && (kind !== "tensor" || param.read || param.omittable);
    const { lifetime, location } = constant("INT32", offset, length);
    const channelQuant = { channelDim: 0, scales: new Array<number>(Math.min(dimensions[0] ?? 0, 8)).fill(1) };
    return operand({
      type: code,
      dimensions,
      scale: quantisation === "none" || quantisation === "perChannel" ? 0 : 1,
      extraParams: quantisation === "perChannel" ? { kind: "channelQuant", channelQuant } : { kind: "none" },
      ...(isConstant ? { lifetime, location } : input),
      ...(param.omittable && !isPresent && { ...omitted, location: operand().location }),
    });
  }

  it.each(
    operations.filter(({ controlFlow }) => !controlFlow).map((definition) => [definition.name, definition] as const),
  )("of %s ends in issues, whatever the shapes and constants are", (_, { code, forms, ranks }) => {
    let reached = 0;
    for (const form of forms) {
      const types = typesOfRow(form, elementAt(form.types, 0));
      const count = form.params.length + form.outputs.length;
      const operands = fc.array(drawn, { minLength: count, maxLength: count });
      fc.assert(
        fc.property(operands, contents, (draws, words) => {
          const inputs = form.params.map((param, at) =>
            operandOf(
              param,
              halTypeName(types.get(param) ?? "TENSOR_FLOAT32"),
              ranks[param.name],
              elementAt(draws, at),
            ),
          );
          const outputs = form.outputs.map((param, at) => ({
            ...operandOf(
              { name: "", kind: "tensor" },
              halTypeName(types.get(param) ?? "TENSOR_FLOAT32"),
              undefined,
              elementAt(draws, form.params.length + at),
            ),
            location: operand().location,
            ...output,
          }));
          const indexes = [...inputs.keys(), ...outputs.map((_, at) => inputs.length + at)];
          const one = { type: code, inputs: indexes.slice(0, inputs.length), outputs: indexes.slice(inputs.length) };
          const operandValues = new Uint8Array(Int32Array.from(words).buffer);
          const { issues } = analyseModel(modelOf(subgraphOf([...inputs, ...outputs], [one]), { operandValues }));
          expectIssues(issues);
          const unclear = issues.find(({ message }) => message.includes("cannot be"));
          if (unclear !== undefined) expect.fail(unclear.message);
          // Beyond the signature: the model is valid, or its shapes or a rule of the operation are at fault.
          const isReached = issues.length === 0 || issues.some(({ code }) => /-shape$|^operation-rule$/.test(code));
          if (isReached) reached++;
        }),
        // The seed makes sure that some of the models get so far, for every operation.
        { numRuns: 200, seed: 11 },
      );
    }
    expect(reached).toBeGreaterThan(0);
  });

  it("survives outputs without end: SPLIT into 200,000", () => {
    const count = 200_000;
    const part = operand({ dimensions: [1], ...output });
    const outputs = Array.from({ length: count }, () => part);
    const operandValues = new Uint8Array(Int32Array.of(0, count).buffer);
    const operands = [operand({ dimensions: [count], ...input }), constant("INT32", 0, 4), constant("INT32", 4, 4)];
    const indexes = outputs.map((_, index) => index + 3);
    const split = modelOf(subgraphOf([...operands, ...outputs], [operation("SPLIT", [0, 1, 2], indexes)]), {
      operandValues,
    });
    expect(modelIssues(split)).toEqual([]);
  });

  it("writes short messages of shapes with many axes", () => {
    const long = new Array<number>(100_000).fill(1);
    const model = changePart(floorModel({ dimensions: [2] }), "main.operands[1].dimensions", long);
    const issues = modelIssues(model);
    expectIssues(issues);
    expect(issues[0]?.code).toBe("output-shape");
  });
});
