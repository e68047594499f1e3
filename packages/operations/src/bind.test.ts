import { describe, expect, it } from "vitest";
import { bindArguments, bindInputs, bindOutputs, inferOutputs, isInferable, requiredVersion } from "./bind.ts";
import { alternative, defineOperation, type OperandInfo } from "./define.ts";
import { OperationError } from "./fail.ts";
import { type Match, matchOperation } from "./match.ts";
import { bool, int32, omittable, omittableFrom, optional, read, scalar, tensor, variadic } from "./params.ts";

const F32 = "TENSOR_FLOAT32";

function info(dimensions: readonly number[], data?: OperandInfo["data"], type: OperandInfo["type"] = F32): OperandInfo {
  const bare = { type, dimensions, scale: 0, zeroPoint: 0 };
  return data === undefined ? bare : { ...bare, data };
}

const number = (value: number) => info([], Int32Array.of(value), "INT32");
const boolean = (value: number) => info([], Uint8Array.of(value), "BOOL");

const resizing = defineOperation({
  name: "RESIZING",
  code: 1,
  summary: "Has one of each kind of parameter.",
  params: [
    tensor("input"),
    read(tensor("shape", "TENSOR_INT32")),
    omittable(tensor("bias")),
    scalar("factor"),
    optional("1.2", bool("nchw"), false),
    optional("1.2", int32("axis"), -1),
  ],
  outputs: [tensor("output"), omittableFrom("1.3", tensor("state"))],
  types: [["1.0", F32, F32, "FLOAT32", F32, F32]],
  ranks: { input: [1, 2], bias: 1 },
  since: ({ factor }, { output }) => (factor === 2 || output.scale > 0 ? "1.3" : undefined),
  infer: ({ input }) => ({ output: { dimensions: input.dimensions }, state: { dimensions: [1] } }),
  alternatives: [
    alternative({
      params: [tensor("input"), int32("width"), int32("height")],
      types: [["1.1", F32, F32, F32]],
      normalise: ({ width, height }) => ({
        shape: { ...info([2], undefined, "TENSOR_INT32"), data: Int32Array.of(width, height) },
        bias: undefined,
        factor: 1,
        nchw: false,
        axis: -1,
      }),
      since: ({ width }) => (width === 7 ? "1.2" : undefined),
    }),
  ],
});
const [listed, sized] = resizing.forms;
const input = info([2, 3], new Float32Array(6));
const shape = info([2], Int32Array.of(4, 5), "TENSOR_INT32");
const factor = info([], Float32Array.of(1.5), "FLOAT32");

function matchArgs(operation: typeof resizing, inputs: readonly OperandInfo[], outputs: readonly OperandInfo[]): Match {
  const match = matchOperation(
    operation,
    inputs.map(({ type }) => type),
    outputs.map(({ type }) => type),
  );
  if ("mismatch" in match) throw new Error(match.mismatch);
  return match;
}

describe("bindInputs", () => {
  it("binds tensors unchanged, scalars as numbers, booleans as booleans", () => {
    const bias = info([2]);
    const args = bindInputs(listed, [input, shape, bias, factor, boolean(1), number(3)]);
    expect(args).toEqual({ input, shape, bias, factor: 1.5, nchw: true, axis: 3 });
  });

  it("binds trailing parameters to defaults, and omitted ones to undefined", () => {
    expect(bindInputs(listed, [input, shape, undefined, factor])).toEqual({
      input,
      shape,
      bias: undefined,
      factor: 1.5,
      nchw: false,
      axis: -1,
    });
    expect(bindInputs(listed, [input, shape, undefined, factor, boolean(1)])).toMatchObject({ nchw: true, axis: -1 });
  });

  it("takes any non-zero byte for true", () => {
    expect(bindInputs(listed, [input, shape, undefined, factor, boolean(200)])).toMatchObject({ nchw: true });
    expect(bindInputs(listed, [input, shape, undefined, factor, boolean(0)])).toMatchObject({ nchw: false });
  });

  it("binds a scalar that is not known yet to undefined", () => {
    const runtime = [info([], undefined, "FLOAT32"), info([], undefined, "BOOL")];
    const args = bindInputs(listed, [input, shape, undefined, ...runtime]);
    expect(args).toMatchObject({ factor: undefined, nchw: undefined, axis: -1 });
  });
});

describe("variadic parameters", () => {
  const join = defineOperation({
    name: "JOIN",
    code: 2,
    summary: "Joins.",
    params: [int32("first"), variadic(tensor("inputs")), int32("last")],
    outputs: [variadic(tensor("outputs"))],
    types: [["1.0", F32, F32]],
    infer: ({ inputs }) => ({ outputs: inputs.map(({ dimensions }) => ({ dimensions })) }),
  });
  const [form] = join.forms;
  const [a, b] = [info([1]), info([2])];

  it("become arrays at any place", () => {
    expect(bindInputs(form, [number(1), a, b, number(2)])).toEqual({ first: 1, inputs: [a, b], last: 2 });
    expect(bindInputs(form, [number(1), a, number(2)])).toEqual({ first: 1, inputs: [a], last: 2 });
    expect(bindOutputs(form, [b, a, b])).toEqual({ outputs: [b, a, b] });
  });

  it("are flattened into the order of the operand list", () => {
    const args = bindArguments(join, form, [number(1), a, b, number(2)]);
    expect(inferOutputs(join, form, args, [a, b])).toEqual([{ dimensions: [1] }, { dimensions: [2] }]);
  });

  it("may be more than a call can have arguments", () => {
    const many = Array.from({ length: 200_000 }, () => a);
    const args = bindArguments(join, form, [number(1), ...many, number(2)]);
    expect(inferOutputs(join, form, args, many)).toHaveLength(many.length);
  });

  it("cannot have fewer results than the model lists", () => {
    const args = bindArguments(join, form, [number(1), a, number(2)]);
    expect(() => inferOutputs(join, form, args, [a, b])).toThrow(
      new OperationError("the operation has 1 outputs, the model lists 2"),
    );
  });
});

describe("bindOutputs", () => {
  it("leaves out a trailing output that the model does not list", () => {
    const [output, state] = [info([2]), info([1])];
    expect(bindOutputs(listed, [output])).toEqual({ output });
    expect(bindOutputs(listed, [output, state])).toEqual({ output, state });
  });
});

describe("inferOutputs", () => {
  it("answers for as many outputs as the model lists", () => {
    const args = bindArguments(resizing, listed, [input, shape, undefined, factor]);
    expect(inferOutputs(resizing, listed, args, [info([])])).toEqual([{ dimensions: [2, 3] }]);
    expect(inferOutputs(resizing, listed, args, [info([]), info([])])).toEqual([
      { dimensions: [2, 3] },
      { dimensions: [1] },
    ]);
  });
});

describe("requiredVersion", () => {
  const output = info([2]);

  it("is the row's, unless the values need a later one", () => {
    const inputs = [input, shape, info([2]), factor];
    const match = matchArgs(resizing, inputs, [output]);
    expect(requiredVersion(match, inputs, [output])).toBe("1.0");
    const two = [input, shape, info([2]), info([], Float32Array.of(2), "FLOAT32")];
    expect(requiredVersion(match, two, [output])).toBe("1.3");
    expect(requiredVersion(match, inputs, [{ ...output, scale: 0.5 }])).toBe("1.3");
  });

  it("calls the form that matched", () => {
    const inputs = [input, number(7), number(1)];
    const match = matchArgs(resizing, inputs, [output]);
    expect(match.form).toBe(sized);
    expect(requiredVersion(match, inputs, [output])).toBe("1.2");
    expect(requiredVersion(match, [input, number(6), number(1)], [output])).toBe("1.1");
  });
});

describe("bindArguments", () => {
  it("turns every form into the first one's arguments", () => {
    const args = bindArguments(resizing, sized, [input, number(4), number(5)]);
    expect(args).toMatchObject({ input, bias: undefined, factor: 1, nchw: false, axis: -1 });
    expect(args.shape).toMatchObject({ data: Int32Array.of(4, 5) });
    // `width` and `height` are not arguments of the first form.
    expect(Object.keys(args)).toEqual(["input", "shape", "bias", "factor", "nchw", "axis"]);
  });

  it.each([
    [[], "input: expected rank 1 to 2, got 0"],
    [[1], undefined],
    [[1, 1], undefined],
    [[1, 1, 1], "input: expected rank 1 to 2, got 3"],
  ] satisfies [number[], string | undefined][])("checks a range of ranks: %j", (dimensions, message) => {
    const bind = () => bindArguments(resizing, listed, [info(dimensions), shape, undefined, factor]);
    if (message === undefined) expect(bind()).toMatchObject({ factor: 1.5 });
    else expect(bind).toThrow(new OperationError(message));
  });

  it("checks a single rank, and not that of an omitted tensor", () => {
    expect(() => bindArguments(resizing, listed, [input, shape, info([1, 1]), factor])).toThrow(
      new OperationError("bias: expected rank 1, got 2"),
    );
    expect(bindArguments(resizing, listed, [input, shape, info([1]), factor]).bias).toEqual(info([1]));
    expect(bindArguments(resizing, listed, [input, shape, undefined, factor]).bias).toBeUndefined();
  });
});

describe("isInferable", () => {
  const known = [input, shape, undefined, factor] as const;

  it("needs extents, scalars and the contents of tensors that inference reads, not those of other tensors", () => {
    expect(isInferable(listed, known)).toBe(true);
    expect(isInferable(listed, [info([2, 3]), shape, undefined, factor])).toBe(true);
  });

  it.each([
    ["an unknown extent", [info([2, 0]), shape, undefined, factor]],
    ["an unknown rank", [info([]), shape, undefined, factor]],
    ["the shape's contents", [input, info([2], undefined, "TENSOR_INT32"), undefined, factor]],
    ["a scalar", [input, shape, undefined, info([], undefined, "FLOAT32")]],
  ])("is false for %s", (_, inputs) => {
    expect(isInferable(listed, inputs)).toBe(false);
  });
});
