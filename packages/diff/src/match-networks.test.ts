/** Tensors of two forms of one network. */
import { Model } from "@nnhal/runtime";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { matchNetworks, type NamedModel } from "./match-networks.ts";

type OperandType = Parameters<Model["addOperand"]>[0];

interface Layer {
  readonly kind: "RELU" | "TANH" | "LOGISTIC" | "QUANTIZE" | "DEQUANTIZE";
  readonly name?: string;
}

const shape = [1, 4];
const float: OperandType = { type: "TENSOR_FLOAT32", dimensions: shape };
const quantised: OperandType = { type: "TENSOR_QUANT8_ASYMM", dimensions: shape, scale: 0.1, zeroPoint: 128 };

/** Layers one after the other; operand k + 1 is the result of layer k. */
function network(layers: readonly Layer[], dimensions: readonly number[] = shape, isQuantised = false): NamedModel {
  const model = new Model();
  const names: (string | undefined)[] = ["input"];
  const typeAfter = (kind: Layer["kind"], before: OperandType) =>
    kind === "QUANTIZE" ? quantised : kind === "DEQUANTIZE" ? float : before;
  let type: OperandType = isQuantised ? quantised : float;
  let last = model.addOperand({ ...type, dimensions });
  const input = last;
  for (const { kind, name } of layers) {
    type = typeAfter(kind, type);
    // Results of TANH and LOGISTIC have the only scale that they may have.
    const scaled = type === quantised && kind === "TANH" ? { ...quantised, scale: 1 / 128 } : type;
    const own = scaled === quantised && kind === "LOGISTIC" ? { ...quantised, scale: 1 / 256, zeroPoint: 0 } : scaled;
    const next = model.addOperand({ ...own, dimensions });
    model.addOperation(kind, [last], [next]);
    names.push(name);
    last = next;
  }
  model.identifyInputsAndOutputs([input], [last]);
  model.finish();
  return { model: model.hal, operandNames: names };
}

const pairs = (one: NamedModel, other: NamedModel) => [...matchNetworks(one, other)];

describe("matchNetworks", () => {
  it("pairs operations of one kind in order, and passes over conversions", () => {
    const own = network([{ kind: "QUANTIZE" }, { kind: "RELU" }, { kind: "TANH" }, { kind: "DEQUANTIZE" }]);
    const other = network([{ kind: "RELU" }, { kind: "TANH" }]);
    expect(pairs(own, other)).toEqual([
      [0, 0],
      [2, 1],
      [3, 2],
    ]);
  });

  it("passes over an operation that only one of the two has", () => {
    const own = network([{ kind: "RELU" }, { kind: "LOGISTIC" }, { kind: "TANH" }]);
    const other = network([{ kind: "RELU" }, { kind: "TANH" }]);
    expect(pairs(own, other)).toEqual([
      [0, 0],
      [1, 1],
      [3, 2],
    ]);
  });

  it("goes by names before kinds", () => {
    const own = network([{ kind: "RELU", name: "b" }]);
    const other = network([
      { kind: "RELU", name: "a" },
      { kind: "TANH", name: "b" },
    ]);
    expect(pairs(own, other)).toEqual([
      [0, 0],
      [1, 2],
    ]);
    const nameless = network([{ kind: "RELU" }]);
    expect(pairs(nameless, other)[1]).toEqual([1, 1]);
  });

  it("refuses networks whose inputs are not alike", () => {
    expect(() => pairs(network([{ kind: "RELU" }]), network([{ kind: "RELU" }], [1, 5]))).toThrow(
      "expected two networks whose inputs have the same shapes, got [1,4] and [1,5] for input 0",
    );
  });

  it("pairs a network with itself completely, whatever its names", () => {
    const layer = fc.record({
      kind: fc.constantFrom<Layer["kind"]>("RELU", "TANH", "LOGISTIC"),
      name: fc.constantFrom("a", "b", "", undefined),
    });
    fc.assert(
      fc.property(fc.array(layer, { minLength: 1, maxLength: 12 }), (layers) => {
        const own = network(layers.map(({ kind, name }) => ({ kind, ...(name !== undefined && { name }) })));
        expect(pairs(own, own)).toEqual([...Array(layers.length + 1).keys()].map((index) => [index, index]));
      }),
      { numRuns: 50 },
    );
  });
});
