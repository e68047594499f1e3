import { elementAt, type Operation, operations } from "@nnhal/operations";
import { describe, expect, it } from "vitest";
import { signaturesOf } from "./signature.ts";

const named = (name: string): Operation => {
  const found = operations.find((operation) => operation.name === name);
  if (found === undefined) throw new Error(`there is no ${name}`);
  return found;
};
const shapes = (name: string) => [
  ...new Set(signaturesOf(named(name)).map(({ inputs, outputs }) => `${inputs.length}→${outputs.length}`)),
];

describe("signaturesOf", () => {
  it("has every form, row and legal number of operands", () => {
    expect(shapes("CONV_2D")).toEqual(["10→1", "11→1", "13→1", "7→1", "8→1"]);
    expect(signaturesOf(named("CONV_2D"))).toHaveLength(6 * 6);
    expect(shapes("UNIDIRECTIONAL_SEQUENCE_LSTM")).toEqual(["28→1", "28→3"]);
    expect(shapes("RESIZE_BILINEAR")).toEqual(["3→1", "4→1", "5→1", "6→1"]);
  });

  it("repeats variadic parameters a few times", () => {
    expect(shapes("CONCATENATION")).toEqual(["2→1", "3→1", "4→1", "5→1"]);
    expect(shapes("SPLIT")).toEqual(["3→1", "3→2", "3→3", "3→4"]);
  });

  it("knows the type of every parameter", () => {
    const signature = elementAt(signaturesOf(named("SOFTMAX")), 0);
    const types = [...signature.inputs, ...signature.outputs].map((param) => signature.types.get(param));
    expect(types).toEqual(["TENSOR_FLOAT32", "FLOAT32", "TENSOR_FLOAT32"]);
  });
});
