import { bytesOf, constant, input, operand, output } from "@nnhal/test-kit/examples";
import { validateModel } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { modelMutations } from "./list.ts";
import { choice, exampleOf, examples, frozenModel, omitted, perChannel } from "./models.test-helper.ts";

const F32 = "TENSOR_FLOAT32";
const int32 = (value: number) => operand("INT32", [], { ...constant, data: bytesOf(Int32Array.of(value)) });

const concatenation = exampleOf(
  "concatenation",
  [operand(F32, [2], input), operand(F32, [2], input), int32(0), operand(F32, [0], output)],
  [{ type: "CONCATENATION", inputs: [0, 1, 2], outputs: [3] }],
);
const cast = exampleOf(
  "cast",
  [operand(F32, [2], input), operand("TENSOR_INT32", [2], output)],
  [{ type: "CAST", inputs: [0], outputs: [1] }],
);
const normalisation = exampleOf(
  "normalisation",
  [operand(F32, [1, 2, 2, 2], input), operand(F32, [1, 2, 2, 2], output)],
  [{ type: "L2_NORMALIZATION", inputs: [0], outputs: [1] }],
);
const withLayout = exampleOf(
  "with_layout",
  [
    operand(F32, [1, 2, 2, 1], input),
    int32(2),
    operand("BOOL", [], { ...constant, data: Uint8Array.of(0) }),
    operand(F32, [1, 1, 1, 4], output),
  ],
  [{ type: "SPACE_TO_DEPTH", inputs: [0, 1, 2], outputs: [3] }],
);
const unused = exampleOf(
  "unused",
  [operand(F32, [2], input), operand(F32, [2], output), operand(F32, [2], { ...input, numberOfConsumers: 0 })],
  [{ type: "FLOOR", inputs: [0], outputs: [1] }],
);

const all = [...examples, concatenation, cast, normalisation, withLayout, unused];

function mutantsOf(example: (typeof all)[number]) {
  const model = frozenModel(example);
  return modelMutations.flatMap((mutation) =>
    [...mutation.mutate(model)].map((mutant) => ({ ...mutant, mutation: mutation.name })),
  );
}

/** The names of the mutants that a driver need not refuse, and why. */
function exempt(example: (typeof all)[number], mutation: string): [string, string | undefined][] {
  return mutantsOf(example)
    .filter((mutant) => mutant.mutation === mutation && mutant.exempt !== undefined)
    .map((mutant) => [mutant.name, mutant.exempt]);
}

describe("the exemptions", () => {
  it.each(all)("of $name are all that validation cannot refuse", (example) => {
    const accepted = mutantsOf(example).filter(({ model, options }) => options === undefined && validateModel(model));
    expect(accepted.filter((mutant) => mutant.exempt === undefined).map(({ name }) => name)).toEqual([]);
  });

  it("are none if nothing can be changed or left out", () => {
    expect(mutantsOf(choice).filter((mutant) => mutant.exempt !== undefined)).toEqual([]);
  });

  it("let an operand be of a type that every operation which uses it takes", () => {
    const why = "CAST converts between these types";
    const types = ["TENSOR_INT32", "TENSOR_QUANT8_ASYMM", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM_SIGNED"];
    const found = exempt(cast, "operationOperandType");
    expect(found.filter(([name]) => name.startsWith("main operand 0")).sort()).toEqual(
      types.map((type) => [`main operand 0 is a ${type}`, why]).sort(),
    );
    const between = "main operand 1 is a TENSOR_FLOAT16";
    // DEQUANTIZE would produce it and TRANSPOSE accepts it, but not with a TENSOR_FLOAT32.
    expect(exempt(omitted, "operationOperandType").map(([name]) => name)).not.toContain(between);
    expect(mutantsOf(omitted).some(({ name }) => name === between)).toBe(true);
  });

  it("let a quantised filter have one scale or many", () => {
    expect(exempt(perChannel, "operationOperandType").map(([name]) => name)).toEqual([
      "main operand 1 is a TENSOR_QUANT8_ASYMM",
      "main operand 1 is a TENSOR_QUANT8_ASYMM_SIGNED",
    ]);
  });

  it("let operations do without what is optional", () => {
    const tensors = "CONCATENATION takes any number of tensors";
    expect(exempt(concatenation, "removeOperationInput")).toEqual([
      ["main operation 0 (CONCATENATION) has no input 0", tensors],
      ["main operation 0 (CONCATENATION) has no input 1", tensors],
    ]);
    expect(exempt(withLayout, "removeOperationInput")).toEqual([
      ["main operation 0 (SPACE_TO_DEPTH) has no input 2", "the layout is optional"],
    ]);
    expect(exempt(withLayout, "removeOperand")).toEqual([["main operand 2 is gone", "the layout is optional"]]);
  });

  it("let an operation take one input more if there is an optional one", () => {
    expect(exempt(normalisation, "addOperationInput")).toEqual([
      ["main operation 0 (L2_NORMALIZATION) reads one more INT32", "the axis is optional"],
    ]);
    expect(exempt(concatenation, "addOperationInput")).toEqual([]);
  });

  it("let an unused operand go", () => {
    expect(exempt(unused, "removeOperand")).toEqual([["main operand 2 is gone", "no operation uses the operand"]]);
  });

  it("exempt what they must: validation accepts such a mutant", () => {
    const needed = [concatenation, cast, normalisation, withLayout, unused].flatMap(mutantsOf);
    const reasons = new Set(needed.flatMap(({ exempt: why = [] }) => why));
    for (const reason of reasons) {
      const accepted = needed.filter((mutant) => mutant.exempt === reason && validateModel(mutant.model));
      expect(accepted.length, reason).toBeGreaterThan(0);
    }
  });
});
