import { describe, expect, it } from "vitest";
import { alternative, defineOperation, type Operation } from "./define.ts";
import { latestVersion, layOut, type MaybeType, matchOperation } from "./match.ts";
import { any, bool, int32, omittable, omittableFrom, optional, scalar, subgraph, tensor, variadic } from "./params.ts";

const F32 = "TENSOR_FLOAT32";
const F16 = "TENSOR_FLOAT16";
const I32 = "TENSOR_INT32";

/** The version a list of types needs, or the message of its mismatch. */
function outcome(operation: Operation, inputs: readonly MaybeType[], outputs: readonly MaybeType[] = [F32]): string {
  const match = matchOperation(operation, inputs, outputs);
  return "mismatch" in match ? match.mismatch : match.since;
}

/** Two tensors and two optional scalars that came in different versions. */
const plain = defineOperation({
  name: "PLAIN",
  code: 1,
  summary: "For this test.",
  params: [
    tensor("left"),
    tensor("right", I32),
    optional("1.1", int32("axis"), 0),
    optional("1.3", bool("keep"), false),
  ],
  outputs: [tensor("output")],
  types: [
    ["1.0", F32, F32],
    ["1.2", F16, F16],
  ],
});

describe("matchOperation", () => {
  it("finds the row, and the version of the row", () => {
    const match = matchOperation(plain, [F16, I32], [F16]);
    expect(match).toMatchObject({ row: ["1.2", F16, F16], since: "1.2", form: plain.forms[0] });
    expect(outcome(plain, [F32, I32])).toBe("1.0");
  });

  it("takes the version of an optional input if it is later than the row's", () => {
    expect(outcome(plain, [F32, I32, "INT32"])).toBe("1.1");
    expect(outcome(plain, [F16, I32, "INT32"], [F16])).toBe("1.2");
    expect(outcome(plain, [F16, I32, "INT32", "BOOL"], [F16])).toBe("1.3");
  });

  it.each([
    [[F32], [F32], "expected 2 to 4 inputs and 1 outputs, got 1 inputs and 1 outputs"],
    [[F32, I32, "INT32", "BOOL", "BOOL"], [F32], "expected 2 to 4 inputs and 1 outputs, got 5 inputs and 1 outputs"],
    [[F32, I32], [], "expected 2 to 4 inputs and 1 outputs, got 2 inputs and 0 outputs"],
    [[F32, I32], [F32, F32], "expected 2 to 4 inputs and 1 outputs, got 2 inputs and 2 outputs"],
  ] satisfies [MaybeType[], MaybeType[], string][])("refuses the counts of %j and %j", (inputs, outputs, message) => {
    expect(outcome(plain, inputs, outputs)).toBe(message);
  });

  it("names every wrong operand of the nearest row", () => {
    expect(outcome(plain, [F32, F32])).toBe(`input 1 (right): expected ${I32}, got ${F32}`);
    expect(outcome(plain, [F32, I32], [F16])).toBe(`output 0 (output): expected ${F32}, got ${F16}`);
    expect(outcome(plain, [F32, F32, F32], [F32])).toBe(
      `input 1 (right): expected ${I32}, got ${F32}; input 2 (axis): expected INT32, got ${F32}`,
    );
  });

  it("refuses an extension type", () => {
    expect(outcome(plain, [undefined, I32])).toBe(`input 0 (left): expected ${F32}, got an extension type`);
  });
});

describe("legal counts", () => {
  const grouped = defineOperation({
    name: "GROUPED",
    code: 2,
    summary: "Its last two inputs come together.",
    params: [tensor("input"), optional("1.2", int32("width"), 1), optional("1.2", int32("height"), 1)],
    outputs: [
      tensor("first", F32),
      omittableFrom("1.2", tensor("second", F32)),
      omittableFrom("1.2", tensor("third", F32)),
    ],
    types: [["1.0", F32]],
    counts: [1, 3],
    outputCounts: [1, 3],
  });

  it.each([
    [1, 1],
    [3, 1],
    [1, 3],
    [3, 3],
  ])("%d inputs and %d outputs", (inputs, outputs) => {
    const types: MaybeType[] = [F32, "INT32", "INT32"];
    expect(outcome(grouped, types.slice(0, inputs), new Array(outputs).fill(F32))).toMatch(/^1\.[02]$/);
  });

  it.each([
    [2, 1],
    [4, 1],
    [1, 2],
    [1, 4],
  ])("not %d inputs and %d outputs", (inputs, outputs) => {
    const types: MaybeType[] = [F32, "INT32", "INT32", "INT32"];
    expect(outcome(grouped, types.slice(0, inputs), new Array(outputs).fill(F32))).toBe(
      `expected 1/3 inputs and 1/3 outputs, got ${inputs} inputs and ${outputs} outputs`,
    );
  });
});

describe("forms", () => {
  const twoForms = defineOperation({
    name: "TWO_FORMS",
    code: 3,
    summary: "The two forms differ in the type of one operand at the same count.",
    params: [tensor("input"), int32("left"), int32("right"), optional("1.1", int32("extra"), 0)],
    outputs: [tensor("output")],
    types: [
      ["1.0", F32, F32],
      ["1.2", F16, F16],
    ],
    counts: [3, 4],
    alternatives: [
      alternative({
        params: [tensor("input"), int32("scheme"), optional("1.3", bool("nchw"), false)],
        normalise: ({ input, scheme }) => ({ input, left: scheme, right: scheme, extra: 0 }),
      }),
      alternative({
        params: [tensor("input"), scalar("size")],
        types: [["1.3", F32, "FLOAT32", F32]],
        normalise: ({ input, size }) => ({ input, left: size, right: size, extra: 0 }),
      }),
    ],
  });

  it("are told apart by types if counts agree", () => {
    const explicit = matchOperation(twoForms, [F32, "INT32", "INT32"], [F32]);
    const implicit = matchOperation(twoForms, [F32, "INT32", "BOOL"], [F32]);
    const sized = matchOperation(twoForms, [F32, "FLOAT32"], [F32]);
    expect(explicit).toMatchObject({ form: twoForms.forms[0], since: "1.0" });
    expect(implicit).toMatchObject({ form: twoForms.forms[1], since: "1.3" });
    expect(sized).toMatchObject({ form: twoForms.forms[2], since: "1.3" });
  });

  it("inherit the rows but not the counts of the first, unless they have rows of their own", () => {
    expect(outcome(twoForms, [F16, "INT32"], [F16])).toBe("1.2");
    expect(outcome(twoForms, [F16, "FLOAT32"], [F16])).toBe(`input 1 (scheme): expected INT32, got FLOAT32`);
  });

  it("are all in the message if no count fits", () => {
    expect(outcome(twoForms, [F32])).toBe(
      "expected 3/4 inputs and 1 outputs, or 2 to 3 inputs and 1 outputs, or 2 inputs and 1 outputs, got 1 inputs and 1 outputs",
    );
  });

  it("have the earliest version if several fit", () => {
    const ambiguous = defineOperation({
      name: "AMBIGUOUS",
      code: 4,
      summary: "Both forms take the same operands.",
      params: [tensor("input")],
      outputs: [tensor("output")],
      types: [
        ["1.3", F32, F32],
        ["1.2", F32, F32],
      ],
      alternatives: [
        alternative({ params: [tensor("input")], types: [["1.1", F32, F32]], normalise: ({ input }) => ({ input }) }),
      ],
    });
    expect(matchOperation(ambiguous, [F32], [F32])).toMatchObject({ since: "1.1", form: ambiguous.forms[1] });
  });
});

describe("variadic operands", () => {
  const join = defineOperation({
    name: "JOIN",
    code: 5,
    summary: "One or more tensors of one type, then a scalar.",
    params: [variadic(tensor("inputs")), int32("axis")],
    outputs: [tensor("output")],
    types: [
      ["1.0", F32, F32],
      ["1.2", F16, F16],
    ],
  });
  const branch = defineOperation({
    name: "BRANCH",
    code: 6,
    summary: "Any number of anything.",
    params: [subgraph("body"), variadic(any("inputs"))],
    outputs: [variadic(any("outputs"))],
    types: [["1.3"]],
    controlFlow: true,
  });

  it("are one or more of the same type", () => {
    expect(outcome(join, [F32, "INT32"])).toBe("1.0");
    expect(outcome(join, [F16, F16, F16, "INT32"], [F16])).toBe("1.2");
    expect(outcome(join, ["INT32"])).toBe("expected at least 2 inputs and 1 outputs, got 1 inputs and 1 outputs");
    expect(outcome(join, [F32, F16, "INT32"])).toBe(`input 1 (inputs): expected ${F32}, got ${F16}`);
  });

  it("are zero or more of any types", () => {
    expect(outcome(branch, ["SUBGRAPH"], [])).toBe("1.3");
    expect(outcome(branch, ["SUBGRAPH", F32, undefined, "INT32"], [undefined, "BOOL"])).toBe("1.3");
    expect(outcome(branch, [F32, F32], [])).toBe(`input 0 (body): expected SUBGRAPH, got ${F32}`);
    expect(outcome(branch, [], [])).toBe(
      "expected at least 1 inputs and at least 0 outputs, got 0 inputs and 0 outputs",
    );
  });
});

describe("trailing tensors", () => {
  const stateful = defineOperation({
    name: "STATEFUL",
    code: 7,
    summary: "Optional tensors at the end of inputs and outputs.",
    params: [tensor("input"), omittable(tensor("bias")), omittableFrom("1.2", tensor("norm"))],
    outputs: [tensor("output"), omittableFrom("1.3", tensor("state"))],
    types: [["1.0", F32, F32, F32, F32, F32]],
  });

  it("bring the version that they came in", () => {
    expect(outcome(stateful, [F32, F32])).toBe("1.0");
    expect(outcome(stateful, [F32, F32, F32])).toBe("1.2");
    expect(outcome(stateful, [F32, F32], [F32, F32])).toBe("1.3");
  });

  it("an omitted tensor keeps its place in the list", () => {
    expect(outcome(stateful, [F32])).toContain("expected 2 to 3 inputs and 1 to 2 outputs, got 1 inputs and 1 outputs");
  });
});

describe("layOut", () => {
  const params = [variadic(tensor("inputs")), int32("axis")];

  it("repeats the variadic parameter", () => {
    expect(layOut(params, undefined, 3)?.map(({ name }) => name)).toEqual(["inputs", "inputs", "axis"]);
  });

  it("is undefined if the number is not legal", () => {
    expect(layOut(params, undefined, 1)).toBeUndefined();
    expect(layOut([tensor("a"), optional("1.2", int32("b"), 0)], [2], 1)).toBeUndefined();
    expect(layOut([tensor("a"), optional("1.2", int32("b"), 0)], undefined, 1)).toHaveLength(1);
  });
});

describe("long lists", () => {
  const join = defineOperation({
    name: "JOIN",
    code: 9,
    summary: "Any number of tensors.",
    params: [variadic(tensor("inputs"))],
    outputs: [tensor("output")],
    types: [["1.0", F32, F32]],
  });

  it.each([1, 64, 65, 1000])("of %d inputs match, time and again", (length) => {
    const inputs: MaybeType[] = new Array(length).fill(F32);
    for (let time = 0; time < 2; time++) {
      expect(outcome(join, inputs)).toBe("1.0");
      expect(outcome(join, [...inputs.slice(1), F16])).toBe(
        `input ${length - 1} (inputs): expected ${F32}, got ${F16}`,
      );
    }
  });

  it("have only the first four wrong operands named", () => {
    const message = outcome(join, [...new Array(5).fill(F16), F32, F16]);
    expect(message.split("; ")).toHaveLength(5);
    expect(message).toMatch(/^input 0 \(inputs\): .*; and 2 more$/);
  });
});

describe("a row with too few columns", () => {
  it("is a mistake of the definition", () => {
    const broken = defineOperation({
      name: "BROKEN",
      code: 8,
      summary: "Its row lacks the output.",
      params: [tensor("input")],
      outputs: [tensor("output")],
      // @ts-expect-error The compiler refuses it, too.
      types: [["1.0", F32]],
    });
    expect(() => matchOperation(broken, [F32], [F32])).toThrow(
      "type row 1.0 TENSOR_FLOAT32: expected 2 types, one for each that varies",
    );
  });
});

describe("latestVersion", () => {
  it("is the greatest version; undefined ones do not count", () => {
    expect(latestVersion("1.1", undefined, "1.3", "1.2")).toBe("1.3");
    expect(latestVersion("1.2", "1.0", undefined)).toBe("1.2");
    expect(latestVersion("1.0")).toBe("1.0");
  });
});
