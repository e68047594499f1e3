import { describe, expect, expectTypeOf, it } from "vitest";
import {
  type ArgsOf,
  any,
  bool,
  float32,
  int32,
  type OutputsOf,
  omittable,
  omittableFrom,
  optional,
  read,
  scalar,
  subgraph,
  tensor,
  variadic,
} from "./params.ts";
import type { Tensor, TensorInfo } from "./tensor.ts";

describe("parameter builders", () => {
  it("say name, kind and the fixed type", () => {
    expect(tensor("input")).toEqual({ name: "input", kind: "tensor" });
    expect(tensor("mask", "TENSOR_BOOL8")).toEqual({ name: "mask", kind: "tensor", type: "TENSOR_BOOL8" });
    expect(scalar("beta")).toEqual({ name: "beta", kind: "number" });
    expect(int32("axis")).toEqual({ name: "axis", kind: "number", type: "INT32" });
    expect(float32("clip")).toEqual({ name: "clip", kind: "number", type: "FLOAT32" });
    expect(bool("nchw")).toEqual({ name: "nchw", kind: "boolean", type: "BOOL" });
    expect(subgraph("body")).toEqual({ name: "body", kind: "subgraph", type: "SUBGRAPH" });
    expect(any("inputs")).toEqual({ name: "inputs", kind: "tensor", any: true });
  });

  it("mark without changing the rest", () => {
    const plain = tensor("input");
    expect(omittable(plain)).toEqual({ ...plain, omittable: true });
    expect(variadic(plain)).toEqual({ ...plain, variadic: true });
    expect(read(plain)).toEqual({ ...plain, read: true });
    expect(omittableFrom("1.2", plain)).toEqual({ ...plain, since: "1.2", omittable: true });
    expect(optional("1.3", int32("axis"), -1)).toEqual({ ...int32("axis"), since: "1.3", default: -1 });
    expect(plain).toEqual({ name: "input", kind: "tensor" });
  });
});

describe("the argument record", () => {
  const params = [
    tensor("input"),
    read(tensor("shape")),
    omittable(tensor("bias")),
    variadic(tensor("parts")),
    int32("axis"),
    optional("1.2", bool("nchw"), false),
    subgraph("body"),
    omittableFrom("1.2", tensor("state")),
  ] as const;

  it("has the type of each parameter", () => {
    expectTypeOf<ArgsOf<typeof params, TensorInfo>>().toEqualTypeOf<{
      readonly input: TensorInfo;
      readonly shape: TensorInfo & Tensor;
      readonly bias: TensorInfo | undefined;
      readonly parts: readonly TensorInfo[];
      readonly axis: number;
      readonly nchw: boolean;
      readonly body: number;
      readonly state: TensorInfo | undefined;
    }>();
  });

  it("of outputs has arrays for variadic and undefined for trailing ones", () => {
    const outputs = [tensor("output"), variadic(tensor("parts")), omittableFrom("1.3", tensor("state"))] as const;
    expectTypeOf<OutputsOf<typeof outputs, Tensor>>().toEqualTypeOf<{
      readonly output: Tensor;
      readonly parts: readonly Tensor[];
      readonly state: Tensor | undefined;
    }>();
    expect(outputs.map(({ name }) => name)).toEqual(["output", "parts", "state"]);
  });
});
