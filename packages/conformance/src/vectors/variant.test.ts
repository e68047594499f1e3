import { elementAt } from "@nnhal/operations";
import { addExample, bytesOf, constant, input, operand, output, withOperands } from "@nnhal/test-kit/examples";
import { describe, expect, it } from "vitest";
import type { Example } from "./example.ts";
import { casesOf, toSigned } from "./variant.ts";

const quantisation = { scale: 0.5, zeroPoint: 120 };

/** RELU of two unsigned bytes. */
const unsigned: Example = addExample({
  name: "relu/quant8",
  main: {
    inputIndexes: [0],
    outputIndexes: [1],
    operations: [{ type: "RELU", inputs: [0], outputs: [1] }],
    operands: [
      operand("TENSOR_QUANT8_ASYMM", [3], { ...input, ...quantisation, data: Uint8Array.of(0, 128, 255) }),
      operand("TENSOR_QUANT8_ASYMM", [3], { ...output, ...quantisation, data: Uint8Array.of(120, 128, 255) }),
    ],
  },
});

const names = (example: Example, variants = true) => casesOf(example, variants).map(({ name }) => name);

function withOperation(example: Example, type: Example["main"]["operations"][number]["type"]): Example {
  const operation = elementAt(example.main.operations, 0);
  return { ...example, main: { ...example.main, operations: [{ ...operation, type }] } };
}

describe("casesOf", () => {
  it("is the example alone unless variants are asked for", () => {
    expect(casesOf(unsigned, false)).toEqual([{ name: "relu/quant8", example: unsigned, unspecifiedOutputs: false }]);
  });

  it("adds both derived forms", () => {
    expect(names(unsigned)).toEqual(["relu/quant8", "relu/quant8 [unspecified outputs]", "relu/quant8 [signed]"]);
  });

  it("derives nothing from an example that has to fail", () => {
    expect(names({ ...unsigned, expectFailure: true })).toEqual(["relu/quant8"]);
  });

  it.each(["RANK", "IF", "WHILE"] as const)("keeps the output extents of a model with %s", (type) => {
    expect(names(withOperation(unsigned, type))).toEqual(["relu/quant8", "relu/quant8 [signed]"]);
  });

  it.each(["HASHTABLE_LOOKUP", "LSH_PROJECTION", "PAD_V2", "CAST", "QUANTIZED_16BIT_LSTM"] as const)(
    "has no signed form of %s",
    (type) => {
      expect(names(withOperation(unsigned, type))).toEqual(["relu/quant8", "relu/quant8 [unspecified outputs]"]);
    },
  );

  it("has no signed form of a model with two operations, or with no unsigned operand", () => {
    const operation = elementAt(unsigned.main.operations, 0);
    const two = { ...unsigned, main: { ...unsigned.main, operations: [operation, operation] } };
    expect(names(two)).toEqual(["relu/quant8", "relu/quant8 [unspecified outputs]"]);
    expect(names(addExample())).toEqual(["add_made_up/add_made_up", "add_made_up/add_made_up [unspecified outputs]"]);
  });

  it("has a signed form if only a referenced subgraph is unsigned", () => {
    const branching = { ...withOperation(addExample(), "IF"), referenced: [unsigned.main] };
    expect(names(branching)).toEqual(["add_made_up/add_made_up", "add_made_up/add_made_up [signed]"]);
  });
});

describe("toSigned", () => {
  it("takes 128 from every zero point and value of unsigned operands", () => {
    const { operands } = toSigned(unsigned).main;
    const [from, to] = [elementAt(operands, 0), elementAt(operands, 1)];
    expect(from).toMatchObject({ type: "TENSOR_QUANT8_ASYMM_SIGNED", scale: 0.5, zeroPoint: -8 });
    expect(from.data).toEqual(bytesOf(Int8Array.of(-128, 0, 127)));
    expect(to.data).toEqual(bytesOf(Int8Array.of(-8, 0, 127)));
  });

  it("converts constants and referenced subgraphs, and keeps omitted values and other types as they are", () => {
    const changed = withOperands(unsigned, { 0: { ...constant }, 1: { data: null } });
    const { main, referenced } = toSigned({ ...changed, referenced: [unsigned.main, addExample().main] });
    expect(main.operands[0]).toMatchObject({ lifetime: "CONSTANT_COPY", data: bytesOf(Int8Array.of(-128, 0, 127)) });
    expect(main.operands[1]).toMatchObject({ zeroPoint: -8, data: null });
    expect(referenced[0]).toEqual(toSigned(unsigned).main);
    expect(referenced[1]).toEqual(addExample().main);
  });

  it("leaves the example it converts as it was", () => {
    const before = structuredClone(unsigned);
    toSigned(unsigned);
    expect(unsigned).toEqual(before);
  });
});
