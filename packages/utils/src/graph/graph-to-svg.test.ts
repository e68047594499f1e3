import { ADD_LONG, wideCode, wideExtension, wideName } from "@nnhal/test-kit/wide-extension";
import { OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { escapeXml } from "./draw-graphs.ts";
import { graphToSvg } from "./graph-to-svg.ts";
import {
  branchingModel,
  convolutionModel,
  extensionModel,
  modelOf,
  operand,
  subgraphOf,
} from "./models.test-helper.ts";

const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, TEMPORARY_VARIABLE } = OperandLifeTime;
const tensor = { dimensions: [2] };

/** The texts that are shown, in the order of the file. */
function textsOf(svg: string): string[] {
  return [...svg.matchAll(/<text [^>]*>([^<]*)<\/text>/g)].map(([, text]) => text ?? "");
}

describe("graphToSvg", () => {
  it("shows operations with the names of codes, values of parameters, and tensors by their names", () => {
    const svg = graphToSvg("conv", convolutionModel(), { operandNames: ["image", "weights", undefined, undefined] });
    const texts = textsOf(svg);
    expect(texts).toContain("0 CONV_2D");
    expect(texts).toContain("0: image");
    expect(texts.some((text) => text.startsWith("filter: "))).toBe(true);
    expect(svg).toContain("filter: 1: weights");
    expect(texts).toContain("layers with weights");
  });

  it("shows the first of the names that a converter has joined, if they are too long together", () => {
    const joined = "net/Conv2d_0/Relu6;net/Conv2d_0/add_fold;net/Conv2d_1_depthwise/depthwise_Fold";
    const texts = textsOf(
      graphToSvg("conv", convolutionModel(), { operandNames: [...Array(6).fill(undefined), joined] }),
    );
    expect(texts).toContain("6: net/Conv2d_0/Relu6");
  });

  it("draws constants as nodes of their own if it is asked to", () => {
    const texts = textsOf(graphToSvg("conv", convolutionModel(), { constants: "nodes" }));
    expect(texts.filter((text) => text.startsWith("CONSTANT_")).length).toBeGreaterThan(0);
    expect(texts.some((text) => /^filter: \D/.test(text))).toBe(false);
  });

  it("draws each subgraph once, under a heading", () => {
    const texts = textsOf(graphToSvg("branches", branchingModel()));
    for (const index of [0, 1, 2]) expect(texts.filter((text) => text === `subgraph ${index}`)).toHaveLength(1);
    expect(texts).toContain("then: subgraph 0");
  });

  it("tells operations that it does not know from those of an extension", () => {
    const svg = graphToSvg("unknown", extensionModel("com.example.test"));
    expect(textsOf(svg)).toContain("unknown operations");
    expect(textsOf(svg)).not.toContain("operations of extensions");
    const known = modelOf(
      { operations: [{ type: wideCode(ADD_LONG, 2), inputs: [], outputs: [] }] },
      { extensionNameToPrefix: [{ name: wideName, prefix: 2 }] },
    );
    expect(textsOf(graphToSvg("known", known, { extensions: [wideExtension] }))).toContain("operations of extensions");
    expect(svg).toMatch(
      /fill="#ffffff" stroke="#333333" stroke-dasharray="4 3"\/><text [^>]*>0 com\.example\.test operation 2</,
    );
  });

  it("names operands that nothing has written, and indexes that are not there", () => {
    const model = modelOf({
      operands: [
        operand(OperandType.TENSOR_FLOAT32, TEMPORARY_VARIABLE, tensor),
        operand(OperandType.TENSOR_FLOAT32, SUBGRAPH_OUTPUT, tensor),
      ],
      operations: [{ type: OperationType.ADD, inputs: [0, 7], outputs: [1] }],
    });
    const texts = textsOf(graphToSvg("wrong", model));
    expect(texts).toContain("0: FLOAT32 2 (0, which nothing has written)");
    expect(texts).toContain("1: 7, which is not there");
  });

  it("numbers the results of an operation that has several, where their edges begin", () => {
    const float = OperandType.TENSOR_FLOAT32;
    const model = modelOf({
      operands: [
        operand(float, SUBGRAPH_INPUT, tensor),
        operand(float, SUBGRAPH_OUTPUT, tensor),
        operand(float, SUBGRAPH_OUTPUT, tensor),
      ],
      operations: [{ type: OperationType.SPLIT, inputs: [0], outputs: [1, 2] }],
      inputIndexes: [0],
      outputIndexes: [1, 2],
    });
    const texts = textsOf(graphToSvg("split", model));
    for (const text of ["0 1: FLOAT32 2", "1 2: FLOAT32 2", "0", "1"]) expect(texts).toContain(text);
  });

  it("draws one of many equal branches, and each of many that differ", () => {
    const float = OperandType.TENSOR_FLOAT32;
    const parallel = (count: number, extentOf: (branch: number) => number) => {
      const results = Array.from({ length: count }, (_, branch) =>
        operand(float, SUBGRAPH_OUTPUT, { dimensions: [extentOf(branch)] }),
      );
      return modelOf({
        operands: [operand(float, SUBGRAPH_INPUT, tensor), ...results],
        operations: results.map((_, branch) => ({ type: OperationType.RELU, inputs: [0], outputs: [branch + 1] })),
        inputIndexes: [0],
        outputIndexes: results.map((_, branch) => branch + 1),
      });
    };
    const widthOf = (svg: string) => Number(/width="([\d.]+)"/.exec(svg)?.[1]);
    const equal = graphToSvg(
      "equal",
      parallel(500, () => 2),
    );
    expect(textsOf(equal).filter((text) => text === "500 × equal, the first:")).toHaveLength(2);
    expect(textsOf(equal)).toContain("0 RELU");
    expect(textsOf(equal)).not.toContain("1 RELU");
    expect(widthOf(equal)).toBeLessThan(400);
    const different = graphToSvg(
      "different",
      parallel(500, (branch) => branch + 1),
    );
    expect(textsOf(different)).toContain("499 RELU");
    expect(widthOf(different)).toBeLessThan(20_000);
  });

  it("shows the quantisation", () => {
    const texts = textsOf(graphToSvg("convolution", convolutionModel()));
    expect(texts).toContain("scale 0.5, zero point 128");
  });

  it("never throws, and lets nothing of a model be markup, whatever is in it", () => {
    const number = fc.oneof(fc.nat(4), fc.integer(), fc.double(), fc.constant(0xffff_ffff));
    const indexes = fc.array(number, { maxLength: 4 });
    const location = fc.record({ poolIndex: number, offset: number, length: number });
    const operands = fc.array(
      fc
        .record({ type: number, lifetime: number, dimensions: indexes, location })
        .map(({ type, lifetime, ...more }) => operand(type, lifetime, more)),
      { maxLength: 4 },
    );
    const operations = fc.array(fc.record({ type: number, inputs: indexes, outputs: indexes }), { maxLength: 3 });
    const subgraph = fc.record({ operands, operations, inputIndexes: indexes, outputIndexes: indexes });
    const names = fc.array(fc.string({ unit: "binary" }), { maxLength: 4 });
    fc.assert(
      fc.property(subgraph, names, fc.boolean(), (main, operandNames, isInside) => {
        const svg = graphToSvg("a<b>&", modelOf(main, { referenced: [subgraphOf({})] }), {
          constants: isInside ? "inside" : "nodes",
          operandNames,
        });
        const opened = svg.match(/<(svg|g|title|path|text)[\s>]/g)?.length;
        expect(svg.match(/<\/(svg|g|title|path|text)>/g)?.length).toBe(opened);
        const places = [...svg.matchAll(/(?: [xy]| width| height| d)="([^"]*)"/g)].map(([, place]) => place).join("");
        expect(places).toMatch(/^[-\d.MLCVH %]*$/);
        expect(svg).not.toMatch(/\p{Cs}/u);
      }),
    );
  });
});

describe("escapeXml", () => {
  it.each([
    ['a < b > c & d "e"', "a &lt; b &gt; c &amp; d &quot;e&quot;"],
    ["two\nlines", "two\nlines"],
    ["a\u0000\u001b\ufffeb", "a b"],
    ["half \ud800 of a pair", "half   of a pair"],
    ["日本 😀", "日本 😀"],
  ])("%j is %j", (text, escaped) => {
    expect(escapeXml(text)).toBe(escaped);
  });
});
