/** Tests of `defineOperation`: the definition that a spec becomes. */
import { describe, expect, it } from "vitest";
import { alternative, defineOperation } from "./define.ts";
import { int32, optional, tensor, variadic } from "./params.ts";
import { createData, elementCount, type OutputTensor } from "./tensor.ts";

const float = "TENSOR_FLOAT32";
const spec = {
  name: "MADE_UP",
  code: 7,
  summary: "Made up.",
  params: [tensor("input"), int32("size")],
  outputs: [tensor("output")],
  types: [["1.1", float, float]],
} as const;

function outputOf(...dimensions: readonly number[]): OutputTensor {
  const data = createData(float, elementCount(dimensions));
  return { type: float, dimensions, scale: 0, zeroPoint: 0, data };
}

describe("a kernel", () => {
  const makeCounting = (dynamic: boolean) => {
    let calls = 0;
    const { reference } = defineOperation({
      ...spec,
      outputs: [tensor("output"), variadic(tensor("others"))],
      types: [["1.1", float, float, float]],
      dynamic,
      reference: () => void calls++,
    });
    return (output: OutputTensor, others: readonly OutputTensor[] = []) => {
      reference?.({}, { output, others }, { random: () => 0 });
      return calls;
    };
  };

  it("runs if an output has elements", () => {
    expect(makeCounting(false)(outputOf(1))).toBe(1);
    expect(makeCounting(false)(outputOf(0), [outputOf(0), outputOf(2)])).toBe(1);
  });

  it("does not run if no output has elements, however large other extents are", () => {
    expect(makeCounting(false)(outputOf(0))).toBe(0);
    expect(makeCounting(false)(outputOf(2 ** 31 - 1, 0), [outputOf(0, 2 ** 31 - 1)])).toBe(0);
  });

  it("always runs if the kernel determines the number of results", () => {
    expect(makeCounting(true)(outputOf(0))).toBe(1);
  });

  it("may be missing, which the executor has to know", () => {
    expect(defineOperation(spec)).not.toHaveProperty("reference");
    expect(defineOperation({ ...spec, controlFlow: true })).toMatchObject({ controlFlow: true, dynamic: false });
  });
});

describe("another form", () => {
  const check = () => "it is wrong";
  const { forms } = defineOperation({
    ...spec,
    counts: [2],
    outputCounts: [1],
    check,
    alternatives: [
      alternative({ params: [tensor("input")], normalise: () => ({ size: 1 }) }),
      alternative({
        params: [tensor("input"), int32("half"), optional("1.3", int32("more"), 0)],
        outputs: [tensor("output", float)],
        types: [["1.2", float]],
        counts: [3],
        normalise: ({ half }) => ({ size: 2 * half }),
        check: () => undefined,
      }),
    ],
  });

  it("has the outputs, types and rules of the first, but not its numbers of inputs", () => {
    expect(forms[1]).toMatchObject({ outputs: spec.outputs, types: spec.types, outputCounts: [1], check });
    expect(forms[1].counts).toBeUndefined();
  });

  it("may have its own", () => {
    expect(forms[2]).toMatchObject({ types: [["1.2", float]], counts: [3] });
    expect(forms[2].outputCounts).toBeUndefined();
    expect(forms[2].check?.({}, {})).toBeUndefined();
    expect(forms[2].normalise?.({ half: 3 })).toEqual({ size: 6 });
  });
});
