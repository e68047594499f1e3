import { elementAt, type Operation, operations } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { kernelOperations } from "../random/examples.ts";
import { arithmeticExamples, edgeExamples } from "./examples.ts";
import { inputFeatures, outputFeatures } from "./features.ts";

function operationOf(name: string): Operation {
  const found = operations.find((known) => known.name === name);
  if (found === undefined) throw new Error(`no operation ${name}`);
  return found;
}

/** The features of an operation's edge cases, with the type of the first operand before each. */
function featuresOf(name: string): Set<string> {
  const features = new Set<string>();
  for (const { drawn } of edgeExamples(operationOf(name))) {
    const type = elementAt(drawn.inputs, 0)?.type;
    for (const feature of inputFeatures(drawn)) features.add(`${type} ${feature}`);
  }
  return features;
}

describe("the edge cases", () => {
  it("are the same each time, with names of their own", () => {
    const all = () => [...edgeExamples(operationOf("MUL"))].map(({ example }) => example);
    const examples = all();
    expect(all()).toEqual(examples);
    expect(new Set(examples.map(({ name }) => name)).size).toBe(examples.length);
  });

  it("are there for every operation with a kernel", () => {
    const without = kernelOperations().filter((operation) => edgeExamples(operation).next().done);
    expect(without.map(({ name }) => name)).toEqual([]);
  });

  it("of a convolution have both layouts, dilations, every padding, activation and stride", () => {
    const features = featuresOf("CONV_2D");
    for (const type of ["TENSOR_FLOAT32", "TENSOR_FLOAT16", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM_SIGNED"]) {
      for (const feature of [
        ...["nchw 0", "nchw 1", "dilationWidth 1", "dilationWidth 2", "dilationHeight 3", "strideWidth 3"],
        ...["paddingScheme 1", "paddingScheme 2", "more paddingLeft", "more paddingRight", "more paddingTop"],
        ...["activation 0", "activation 1", "activation 2", "activation 3"],
      ]) {
        expect(features, type).toContain(`${type} ${feature}`);
      }
    }
  });

  it("have operands that broadcast both ways, negative axes, omitted operands, and uneven lists", () => {
    const sums = featuresOf("ADD");
    for (const feature of [
      "left is shorter",
      "right is shorter",
      "left repeats along axis -1",
      "right repeats along axis -2",
    ]) {
      expect(sums).toContain(`TENSOR_INT32 ${feature}`);
    }
    expect(featuresOf("CONCATENATION")).toContain("TENSOR_FLOAT32 axis 2");
    expect(featuresOf("SPLIT")).toContain("TENSOR_FLOAT32 axis below 0");
    expect(featuresOf("TRANSPOSE")).toContain("TENSOR_FLOAT32 permutation omitted");
    expect(featuresOf("PAD")).toContain("TENSOR_FLOAT32 paddings is uneven");
    expect(featuresOf("RESHAPE")).toContain("TENSOR_FLOAT32 shape has -1");
  });

  it("have results at both ends of their range, and NaN, infinities and -0", () => {
    const results = (name: string, type: string) => {
      const found = new Set<string>();
      for (const { example } of edgeExamples(operationOf(name))) {
        const { operands, outputIndexes } = example.main;
        const { type: own, data } = elementAt(operands, elementAt(outputIndexes, 0));
        if (own !== type || data === null) continue;
        const aligned = data.slice();
        const elements = type === "TENSOR_FLOAT32" ? new Float32Array(aligned.buffer) : aligned;
        for (const feature of outputFeatures([{ type, dimensions: [], scale: 1, zeroPoint: 0, data: elements }]))
          found.add(feature);
      }
      return found;
    };
    const quantised = results("MUL", "TENSOR_QUANT8_ASYMM");
    for (const where of ["at the least value", "at the greatest value", "within its range"])
      expect(quantised).toContain(`output 0 ${where}`);
    const floats = new Set(["NEG", "SUB", "MUL"].flatMap((name) => [...results(name, "TENSOR_FLOAT32")]));
    for (const what of ["NaN", "an infinity", "-0"]) expect(floats).toContain(`output 0 has ${what}`);
  });
});

describe("the random examples", () => {
  const names = (seed: number, count: number) =>
    [...arithmeticExamples({ seed, count, operations: [operationOf("ABS")] })]
      .map(({ example }) => example)
      .filter(({ name }) => name.includes("random"));

  it("follow from the seed, whatever their number", () => {
    const few = names(3, 4);
    expect(names(3, 10).slice(0, few.length)).toEqual(few);
    expect(names(3, 4)).not.toEqual(names(4, 4));
    expect(elementAt(names(3, 4), 0).name).toBe("arithmetic/ABS/random/3.0");
  });
});
