import { addExample, bytesOf, constant, operand } from "@nnhal/test-kit/examples";
import { describe, expect, it } from "vitest";
import type { Example, ExampleOperation } from "./example.ts";
import { subjectOf } from "./subject.ts";

const placeholder: ExampleOperation = { type: "ADD", inputs: [0, 1, 2], outputs: [3] };

function example(name: string, operations: readonly ExampleOperation[]): Example {
  const zero = operand("TENSOR_FLOAT32", [1], { ...constant, data: bytesOf(Float32Array.of(0)) });
  const main = addExample().main;
  return addExample({
    name,
    main: { ...main, operations, operands: main.operands.map((old, index) => (index === 1 ? zero : old)) },
  });
}

const tanh: ExampleOperation = { type: "TANH", inputs: [0], outputs: [3] };
const sub: ExampleOperation = { type: "SUB", inputs: [0, 0, 2], outputs: [3] };

describe("subjectOf", () => {
  it("is the only operation, or the last one", () => {
    expect(subjectOf(addExample())).toBe("ADD");
    expect(subjectOf(example("tanh/zero_sized", [sub, tanh]))).toBe("TANH");
  });

  it("is not a placeholder before or after it", () => {
    expect(subjectOf(example("tanh/tanh_all_inputs_as_internal", [placeholder, tanh]))).toBe("TANH");
    expect(subjectOf(example("tanh/tanh_all_outputs_as_internal", [tanh, placeholder]))).toBe("TANH");
    const both = "tanh/tanh_all_inputs_as_internal_all_outputs_as_internal";
    expect(subjectOf(example(both, [placeholder, tanh, placeholder]))).toBe("TANH");
  });

  it("is an ADD that is not a placeholder", () => {
    expect(subjectOf(example("tanh/tanh", [tanh, placeholder]))).toBe("ADD");
    expect(subjectOf(example("add/add_all_inputs_as_internal", [placeholder, placeholder]))).toBe("ADD");
    expect(subjectOf(addExample({ name: "add/add_all_outputs_as_internal" }))).toBe("ADD");
  });

  it("of a model without operations is none", () => {
    expect(subjectOf(example("empty/empty", []))).toBe("none");
  });
});
