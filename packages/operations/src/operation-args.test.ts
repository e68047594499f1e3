import type { OperationTypeName } from "@nnhal/types";
import { describe, expect, expectTypeOf, it } from "vitest";
import {
  alternative,
  bool,
  defineOperation,
  int32,
  omittable,
  omittableFrom,
  optional,
  tensor,
  variadic,
} from "./authoring.ts";
import {
  type FormArgs,
  type OperandInfo,
  type OperationArgs,
  type OperationName,
  type OperationOutputs,
  type OperationTypes,
  operations,
  type Tensor,
  type TensorInfo,
} from "./index.ts";

const F32 = "TENSOR_FLOAT32";

// The assertions on types are checked by the compiler, in the type check of the gate.

describe("the map of operations", () => {
  it("has the HAL's own operations, each under its name", () => {
    expectTypeOf<OperationName>().toEqualTypeOf<Exclude<OperationTypeName, "OEM_OPERATION">>();
    expectTypeOf<{ [Name in OperationName]: OperationTypes[Name]["name"] }>().toEqualTypeOf<{
      [Name in OperationName]: Name;
    }>();
    // @ts-expect-error There is no such operation.
    expectTypeOf<OperationArgs<"CONV_2">>();
    expect(operations.map(({ name }) => name)).toContain("CONV_2D");
  });
});

describe("OperationArgs", () => {
  it("has the arguments of the first form by name", () => {
    expectTypeOf<OperationArgs<"ADD">>().toEqualTypeOf<{
      readonly left: TensorInfo;
      readonly right: TensorInfo;
      readonly activation: number;
    }>();
    expectTypeOf<OperationArgs<"CONV_2D", Tensor>>().toEqualTypeOf<
      Readonly<
        Record<"input" | "filter" | "bias", Tensor> &
          Record<`padding${"Left" | "Right" | "Top" | "Bottom"}`, number> &
          Record<`${"stride" | "dilation"}${"Width" | "Height"}` | "activation", number> &
          Record<"nchw", boolean>
      > extends infer All
        ? { readonly [Name in keyof All]: All[Name] }
        : never
    >();
    // @ts-expect-error It is called input.
    expectTypeOf<OperationArgs<"CONV_2D">["imput"]>();
    // @ts-expect-error It is an argument of the other form.
    expectTypeOf<OperationArgs<"CONV_2D">["paddingScheme"]>();
  });

  it("says which may be omitted, are several, or have contents", () => {
    expectTypeOf<OperationArgs<"LSTM">["cellToInputWeights"]>().toEqualTypeOf<TensorInfo | undefined>();
    expectTypeOf<OperationArgs<"LSTM">["input"]>().toEqualTypeOf<TensorInfo>();
    expectTypeOf<OperationArgs<"CONCATENATION">["inputs"]>().toEqualTypeOf<readonly TensorInfo[]>();
    expectTypeOf<OperationArgs<"RESHAPE">["shape"]["data"]>().toEqualTypeOf<Tensor["data"]>();
    // @ts-expect-error The contents of this one are for the kernel alone.
    expectTypeOf<OperationArgs<"RESHAPE">["input"]["data"]>();
  });
});

describe("OperationOutputs", () => {
  it("has the outputs by name, and marks those that may be left out", () => {
    expectTypeOf<OperationOutputs<"TOPK_V2">>().toEqualTypeOf<{
      readonly values: TensorInfo;
      readonly indices: TensorInfo;
    }>();
    expectTypeOf<OperationOutputs<"SPLIT">["outputs"]>().toEqualTypeOf<readonly TensorInfo[]>();
    expectTypeOf<OperationOutputs<"UNIDIRECTIONAL_SEQUENCE_LSTM">["cellStateOut"]>().toEqualTypeOf<
      TensorInfo | undefined
    >();
    // @ts-expect-error There is one output, called output.
    expectTypeOf<OperationOutputs<"ADD">["sum"]>();
  });
});

describe("FormArgs", () => {
  it("has the arguments of all forms, and unknown ones are undefined", () => {
    expectTypeOf<FormArgs<"CONV_2D">["paddingScheme"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<FormArgs<"CONV_2D">["paddingLeft"]>().toEqualTypeOf<number | undefined>();
    expectTypeOf<FormArgs<"CONV_2D">["nchw"]>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<FormArgs<"CONV_2D">["filter"]>().toEqualTypeOf<OperandInfo>();
    expectTypeOf<FormArgs<"RESHAPE">["shape"]>().toEqualTypeOf<OperandInfo>();
    expectTypeOf<FormArgs<"SQUEEZE">["axes"]>().toEqualTypeOf<OperandInfo | undefined>();
    expectTypeOf<FormArgs<"CONCATENATION">["inputs"]>().toEqualTypeOf<readonly OperandInfo[]>();
    expectTypeOf<keyof FormArgs<"ADD">>().toEqualTypeOf<"left" | "right" | "activation">();
    // @ts-expect-error No form has it.
    expectTypeOf<FormArgs<"CONV_2D">["scheme"]>();
  });
});

describe("type rows", () => {
  const facts = { name: "ROWS", code: 1, summary: "For this test." } as const;

  it("have a column for each input and output whose type varies", () => {
    const params = [tensor("a"), int32("b"), omittable(tensor("c")), optional("1.2", bool("d"), false)] as const;
    const outputs = [tensor("e", "TENSOR_INT32"), omittableFrom("1.3", tensor("f"))] as const;
    const withRows = (types: Parameters<typeof defineOperation<"ROWS", typeof params, typeof outputs>>[0]["types"]) =>
      defineOperation({ ...facts, params, outputs, types });
    expect(withRows([["1.0", F32, F32, F32]]).forms[0].types).toHaveLength(1);
    // @ts-expect-error A column is missing.
    withRows([["1.0", F32, F32]]);
    // @ts-expect-error There is one too many.
    withRows([["1.0", F32, F32, F32, F32]]);
    // @ts-expect-error The version comes first.
    withRows([[F32, F32, F32]]);
    // @ts-expect-error There is no such type.
    withRows([["1.0", F32, F32, "TENSOR_FLOAT"]]);
  });

  it("have one column for all operands of a variadic parameter", () => {
    const params = [variadic(tensor("inputs")), int32("axis")] as const;
    const outputs = [tensor("output")] as const;
    expect(defineOperation({ ...facts, params, outputs, types: [["1.0", F32, F32]] }).name).toBe("ROWS");
    // @ts-expect-error There is one too many.
    defineOperation({ ...facts, params, outputs, types: [["1.0", F32, F32, F32]] });
  });

  it("of another form are counted by its own parameters, and the outputs of the first form unless it has some", () => {
    const first = { ...facts, params: [tensor("a")], outputs: [tensor("b")], types: [["1.0", F32, F32]] } as const;
    const params = [tensor("a"), tensor("c")] as const;
    const normalise = () => ({});
    const one = defineOperation({
      ...first,
      alternatives: [alternative({ params, types: [["1.0", F32, F32, F32]], normalise })],
    });
    expect(one.forms).toHaveLength(2);
    defineOperation({
      ...first,
      // @ts-expect-error The column of the output is missing.
      alternatives: [alternative({ params, types: [["1.0", F32, F32]], normalise })],
    });
    const outputs = [tensor("b"), tensor("d")] as const;
    defineOperation({
      ...first,
      alternatives: [alternative({ params, outputs, types: [["1.0", F32, F32, F32, F32]], normalise })],
    });
    defineOperation({
      ...first,
      // @ts-expect-error Its own outputs are two.
      alternatives: [alternative({ params, outputs, types: [["1.0", F32, F32, F32]], normalise })],
    });
  });
});

describe("a definition", () => {
  const facts = { name: "TYPED", code: 1, summary: "For this test.", types: [["1.0", F32, F32]] } as const;
  const [params, outputs] = [[tensor("input"), int32("size")] as const, [tensor("output")] as const];

  it("knows its name, parameters and outputs", () => {
    const typed = defineOperation({ ...facts, params, outputs });
    expectTypeOf(typed.name).toEqualTypeOf<"TYPED">();
    expectTypeOf(typed.forms[0].params).toEqualTypeOf(params);
    expect(typed.forms[0].outputs).toBe(outputs);
  });

  it("infers and computes with these alone", () => {
    defineOperation({
      ...facts,
      params,
      outputs,
      // @ts-expect-error There is no argument imput.
      infer: ({ imput }) => ({ output: imput }),
    });
    defineOperation({
      ...facts,
      params,
      outputs,
      // @ts-expect-error The output is called output.
      infer: ({ input }) => ({ outputs: input }),
    });
  });

  it("has every argument of the first form in each form", () => {
    const other = [tensor("input")] as const;
    const complete = defineOperation({
      ...facts,
      params,
      outputs,
      alternatives: [
        alternative({ params: other, normalise: () => ({ size: 1 }) }),
        alternative({ params: [tensor("input"), tensor("size")], normalise: ({ size }) => ({ size: size.data[0] }) }),
      ],
    });
    expect(complete.forms).toHaveLength(3);
    defineOperation({
      ...facts,
      params,
      outputs,
      // @ts-expect-error The first form's size is missing.
      alternatives: [alternative({ params: other, normalise: () => ({}) })],
    });
    defineOperation({
      ...facts,
      params,
      outputs,
      // @ts-expect-error It is a number.
      alternatives: [alternative({ params: other, normalise: () => ({ size: true }) })],
    });
  });
});
