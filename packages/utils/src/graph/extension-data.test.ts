import { ensure, extensionTypes } from "@nnhal/operations/authoring";
import { input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
import {
  ADD_LONG,
  LONG,
  longParams,
  TENSOR_LONG,
  wideCode,
  wideExtension,
  wideName,
} from "@nnhal/test-kit/wide-extension";
import type { Model, Operand } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { extensionDataText } from "./extension-data.ts";
import { graphDump } from "./graph-dump.ts";
import { graphToJson } from "./json.ts";

const long = { type: wideCode(TENSOR_LONG, 2), dimensions: [2], extraParams: longParams(0.5) };

/** sum = left + right */
const model: Model = modelOf(
  subgraphOf(
    [
      operand({ ...long, ...input }),
      operand({ type: wideCode(LONG, 2), dimensions: [], ...input }),
      operand({ ...long, ...output }),
    ],
    [{ type: wideCode(ADD_LONG, 2), inputs: [0, 1], outputs: [2] }],
  ),
  { extensionNameToPrefix: [{ name: wideName, prefix: 2 }] },
);

const dump = (definitions = {}) => {
  const lines: string[] = [];
  graphDump("test", model, { write: (line) => lines.push(line) }, definitions);
  return lines.join("");
};

describe("a view of a model with an extension", () => {
  it("has names and data by the definitions", () => {
    const { main } = graphToJson("test", model, { extensions: [wideExtension] });
    expect(main.operands[0]).toMatchObject({ type: `${wideName} TENSOR_LONG`, extensionData: "{factor: 0.5}" });
    expect(main.operands[1]).toMatchObject({ type: `${wideName} LONG` });
    expect(main.operands[1]).not.toHaveProperty("extensionData");
    expect(main.operations[0]).toMatchObject({ type: `${wideName} ADD_LONG`, inputNames: ["left", "right"] });
    expect(dump({ extensions: [wideExtension] })).toContain(`${wideName} TENSOR_LONG(2) {factor: 0.5}`);
    expect(dump({ extensions: [wideExtension] })).toContain(`0: ${wideName} ADD_LONG`);
  });

  it("has codes and bytes without definitions", () => {
    const { main } = graphToJson("test", model);
    expect(main.operands[0]).toMatchObject({ type: `${wideName} type 5`, extensionData: "0x000000000000e03f" });
    expect(main.operations[0]).toMatchObject({ type: `${wideName} operation 7`, inputNames: [] });
    expect(dump()).toContain(`${wideName} type 5(2) 0x000000000000e03f`);
  });
});

describe("extensionDataText", () => {
  const { T } = extensionTypes("com.example.test", {
    T: {
      code: 0,
      kind: "tensor",
      array: Int8Array,
      params: {
        decode([kind]): unknown {
          ensure(kind !== 0, () => "0 is not valid");
          if (kind === 1)
            return { zeroPoint: -7n, name: 'a "b"', nested: [{ on: true }, null], list: Uint8Array.of(1, 2) };
          if (kind === 2) return "x".repeat(1000);
          const circle: { self?: unknown } = {};
          circle.self = circle;
          return circle;
        },
        encode: () => new Uint8Array(0),
      },
    },
  });
  const textOf = (bytes: readonly number[], type: typeof T | null = T) => {
    const given: Operand = operand({ extraParams: { kind: "extension", extension: Uint8Array.from(bytes) } });
    return extensionDataText(given, { operandTypeByCode: () => type ?? undefined });
  };

  it("writes what a codec returns, with its depth and length limited", () => {
    expect(textOf([1])).toBe('{zeroPoint: -7, name: "a \\"b\\"", nested: [{on: true}, null], list: [1, 2]}');
    expect(textOf([2])).toBe(`"${"x".repeat(199)}…`);
    expect(textOf([3])).toBe("{self: {self: {self: {self: …}}}}");
  });

  it("writes bytes that the codec refuses, or that no codec knows, in hex", () => {
    expect(textOf([0, 255])).toBe("0x00ff");
    expect(textOf([1, 2], null)).toBe("0x0102");
    expect(textOf([], null)).toBe("0x");
    expect(textOf(new Array<number>(32).fill(1), null)).toBe(`0x${"01".repeat(32)}`);
    expect(textOf(new Array<number>(33).fill(1), null)).toBe(`0x${"01".repeat(32)}… (33 bytes)`);
  });

  it("is undefined for operands without extension data", () => {
    expect(extensionDataText(operand(), { operandTypeByCode: () => T })).toBeUndefined();
  });
});
