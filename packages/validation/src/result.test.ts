import { namedFacts } from "@nnhal/operations";
import { ErrorStatus, errorStatusNames } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { checkResult, type ExpectedOutput } from "./index.ts";

const { NONE, OUTPUT_INSUFFICIENT_SIZE, GENERAL_FAILURE } = ErrorStatus;

/** 2 by an unknown number of floats with available for 6. */
const floats = { facts: namedFacts("TENSOR_FLOAT32"), dimensions: [2, 0], available: 24 } satisfies ExpectedOutput;
const integer = { facts: namedFacts("INT32"), dimensions: [], available: 4 } satisfies ExpectedOutput;
const outputs: readonly ExpectedOutput[] = [floats, integer];
const scalar = { dimensions: [], isSufficient: true };
const answer = (dimensions: unknown, isSufficient: unknown = true, status: number = NONE) => ({
  status,
  outputShapes: [{ dimensions, isSufficient }, scalar],
});

/** The code of the rule that an answer breaks, and where; undefined if it breaks none. */
function codeOf(result: unknown, expected = outputs): string | undefined {
  const checked = checkResult(result, expected);
  return "issue" in checked ? `${checked.issue.code} ${checked.issue.path}` : undefined;
}

describe("checkResult", () => {
  it("returns a copy of a valid result", () => {
    const dimensions = [2, 3];
    const given = { ...answer(dimensions), message: "ignored", more: 1 };
    const checked = checkResult(given, outputs);
    dimensions[1] = 1000;
    expect(checked).toEqual({ status: NONE, outputShapes: [{ dimensions: [2, 3], isSufficient: true }, scalar] });
  });

  it("keeps the message, and drops shapes, of any other status", () => {
    for (const status of errorStatusNames.keys()) {
      if (status === NONE || status === OUTPUT_INSUFFICIENT_SIZE) continue;
      const expected = { status, message: "why", outputShapes: [] };
      expect(checkResult({ ...answer([1], false, status), message: "why" }, outputs)).toEqual(expected);
      expect(checkResult({ status, message: 5 }, outputs)).toEqual({ status, outputShapes: [] });
    }
  });

  it.each([
    ["no result", undefined, "structure result"],
    ["null", null, "structure result"],
    ["a number", 0, "structure result"],
    [
      "a getter that throws",
      Object.defineProperty({}, "status", {
        get: () => {
          throw new Error("no");
        },
      }),
      "structure result",
    ],
  ])("refuses %s", (_what, result, code) => {
    expect(codeOf(result)).toBe(code);
  });

  it.each([-1, 9, 0.5, Number.NaN, "0", undefined])("refuses the status %s (rule 67)", (status) => {
    expect(codeOf({ ...answer([2, 3]), status })).toBe("result-status status");
  });

  it("requires one shape for each output with NONE and OUTPUT_INSUFFICIENT_SIZE (rule 68)", () => {
    for (const status of [NONE, OUTPUT_INSUFFICIENT_SIZE]) {
      for (const outputShapes of [undefined, null, {}, [], [scalar], [scalar, scalar, scalar]]) {
        expect(codeOf({ status, outputShapes })).toBe("result-shape-count outputShapes");
      }
    }
    expect(codeOf({ status: GENERAL_FAILURE })).toBeUndefined();
  });

  it("requires sufficient outputs with NONE, and an insufficient one with OUTPUT_INSUFFICIENT_SIZE (rule 69)", () => {
    expect(codeOf(answer([2, 3], false))).toBe("result-sufficient outputShapes[0]");
    expect(codeOf(answer([2, 7], false, OUTPUT_INSUFFICIENT_SIZE))).toBeUndefined();
    expect(codeOf(answer([2, 3], true, OUTPUT_INSUFFICIENT_SIZE))).toBe("result-sufficient outputShapes");
  });

  it.each([[[3, 3]], [[2]], [[2, 1, 3]], [[]]])(
    "refuses the dimensions %j of what is declared as [2, 0] (rule 70)",
    (dimensions) => {
      expect(codeOf(answer(dimensions))).toBe("result-dimensions outputShapes[0].dimensions");
    },
  );

  it("accepts any shape of a tensor of unknown rank, and none of a scalar (rule 70)", () => {
    expect(codeOf(answer([1, 1, 6]), [{ ...floats, dimensions: [] }, integer])).toBeUndefined();
    const shapes = [
      { dimensions: [2, 3], isSufficient: true },
      { ...scalar, dimensions: [1] },
    ];
    expect(codeOf({ status: NONE, outputShapes: shapes })).toBe("result-dimensions outputShapes[1].dimensions");
  });

  it("refuses a result that is larger than its available: both sides of the bound (rule 71)", () => {
    expect(codeOf(answer([2, 0]))).toBeUndefined();
    expect(codeOf(answer([2, 3]))).toBeUndefined();
    expect(codeOf(answer([2, 4]))).toBe("result-size outputShapes[0].dimensions");
    expect(codeOf(answer([2, 4], false, OUTPUT_INSUFFICIENT_SIZE))).toBeUndefined();
    const { available: _, ...unlimited } = floats;
    const withoutBytes = [unlimited, integer];
    expect(codeOf(answer([2, 0x1fff_ffff]), withoutBytes)).toBeUndefined();
    expect(codeOf(answer([2, 0x2000_0000]), withoutBytes)).toBe("result-size outputShapes[0].dimensions");
  });

  it.each([
    ["dimensions that are not a list", answer("23"), ".dimensions"],
    ["a fractional extent", answer([2, 1.5]), ".dimensions"],
    ["a negative extent", answer([2, -1]), ".dimensions"],
    ["a hole", answer(new Array(2)), ".dimensions"],
    ["more extents than any tensor has", answer(new Array(2 ** 32 - 1)), ".dimensions"],
    ["isSufficient that is not a boolean", answer([2, 3], 1), ".isSufficient"],
    ["a shape that is null", { status: NONE, outputShapes: [null, scalar] }, ""],
  ])("refuses %s (rule 56)", (_what, result, field) => {
    expect(codeOf(result)).toBe(`structure outputShapes[0]${field}`);
  });

  it("accepts 64 extents if the rank is unknown, but not 65", () => {
    const unknown = [{ ...floats, dimensions: [] }, integer];
    expect(codeOf(answer(new Array(64).fill(1)), unknown)).toBeUndefined();
    expect(codeOf(answer(new Array(65).fill(1)), unknown)).toBe("structure outputShapes[0].dimensions");
  });

  it.each(["TENSOR_FLOAT32", undefined] as const)("does not know the shape of %s of unknown rank", (type) => {
    const result = checkResult({ status: NONE }, [{ facts: type && namedFacts(type), dimensions: [] }], {
      mayOmitShapes: true,
    });
    expect(result).toHaveProperty("issue");
  });

  it("checks nothing but the dimensions of an extension's type", () => {
    const extension = [{ facts: undefined, dimensions: [2] }, integer];
    expect(codeOf(answer([2]), extension)).toBeUndefined();
    expect(codeOf(answer([3]), extension)).toBe("result-dimensions outputShapes[0].dimensions");
  });

  it("accepts any shape of an output that the request omits, also one that is not sufficient or is left out", () => {
    const omitted = [{ ...floats, isOmitted: true }, integer];
    expect(codeOf(answer([3, 3, 3], false))).toBe("result-dimensions outputShapes[0].dimensions");
    expect(codeOf(answer([3, 3, 3], false), omitted)).toBeUndefined();
    expect(codeOf(answer([3, -1]), omitted)).toBe("structure outputShapes[0].dimensions");
    expect(checkResult({ status: NONE }, omitted, { mayOmitShapes: true })).not.toHaveProperty("issue");
    expect(checkResult({ status: NONE }, [floats, integer], { mayOmitShapes: true })).toHaveProperty("issue");
  });

  it("names the output and the values", () => {
    expect(checkResult(answer([3, 3]), outputs)).toMatchObject({
      issue: { message: "output 0 has dimensions [3, 3] where a TENSOR_FLOAT32 [2, 0] is declared" },
    });
    expect(checkResult(answer([2, 4]), outputs)).toMatchObject({
      issue: { message: "output 0 [2, 4] takes 32 bytes where 24 are there" },
    });
  });

  it("replaces omitted shapes by the known ones, only if that is allowed and all are known", () => {
    const known: readonly ExpectedOutput[] = [{ facts: namedFacts("TENSOR_FLOAT32"), dimensions: [2, 3] }, integer];
    const check = (result: unknown, expected: readonly ExpectedOutput[], mayOmitShapes = true) =>
      checkResult(result, expected, { mayOmitShapes });
    const shapes = { status: NONE, outputShapes: [{ dimensions: [2, 3], isSufficient: true }, scalar] };
    for (const outputShapes of [[], undefined]) {
      expect(check({ status: NONE, outputShapes }, known)).toEqual(shapes);
      expect(check({ status: NONE, outputShapes }, known, false)).toHaveProperty("issue");
      expect(check({ status: NONE, outputShapes }, outputs)).toHaveProperty("issue");
      expect(check({ status: OUTPUT_INSUFFICIENT_SIZE, outputShapes }, known)).toHaveProperty("issue");
    }
  });
});
