import { elementAt } from "@nnhal/operations";
import { OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import fc from "fast-check";
import { afterEach, describe, expect, it, vi } from "vitest";
import { createLogger } from "../log/logger.ts";
import type { LogEntry } from "../log/sink.ts";
import { type GraphDumpOptions, graphDump, logStream } from "./graph-dump.ts";
import {
  branchingModel,
  constantAt,
  convolutionModel,
  extensionModel,
  modelOf,
  operand,
  subgraphOf,
} from "./models.test-helper.ts";

function dump(model: Parameters<typeof graphDump>[1], options?: GraphDumpOptions, name = "test"): string[] {
  const written: string[] = [];
  graphDump(name, model, { write: (line) => written.push(line) }, options);
  // Every line is written alone and whole.
  for (const line of written) expect(line).toMatch(/^[^\n]*\n$/);
  return written.map((line) => line.slice(0, -1));
}

/** The lines of a dump that name one node. */
const about = (node: string, lines: readonly string[]) =>
  lines.map((line) => line.trim()).filter((line) => line.startsWith(`${node} [`));

afterEach(() => vi.restoreAllMocks());

describe("graphDump", () => {
  it("draws a model as Android does", () => {
    expect(dump(convolutionModel())).toEqual([
      "// test",
      "digraph {",
      '    d0 [style=filled fillcolor=black fontcolor=white label="0 = input[0]\\nTQ8A(1x8x8x3)"]',
      '    d1 [label="1: REF\\nTQ8A(4x3x3x3)"]',
      '    d2 [label="2: REF\\nTI32(4)"]',
      '    d3 [label="3: COPY\\nI32 = 1"]',
      '    d4 [label="4: COPY\\nI32 = 2"]',
      '    d5 [label="5: COPY\\nI32 = 3"]',
      '    d6 [style=filled fillcolor=black fontcolor=white label="6 = output[0]\\nTQ8A(1x4x4x4)"]',
      '    n0 [shape=box ordering=in label="0: CONV_2D"]',
      "    d0 -> n0 [label=0]",
      "    d1 -> n0 [label=1]",
      "    d2 -> n0 [label=2]",
      "    d3 -> n0 [label=3]",
      "    d4 -> n0 [label=4]",
      "    d4 -> n0 [label=5]",
      "    d5 -> n0 [label=6]",
      "    n0 -> d6",
      "}",
    ]);
  });

  it("can draw constants inside the operations that read them", () => {
    expect(dump(convolutionModel(), { constants: "inside" })).toEqual([
      "// test",
      "digraph {",
      '    d0 [style=filled fillcolor=black fontcolor=white label="0 = input[0]\\nTQ8A(1x8x8x3)\\nscale 0.5, zero point 128"]',
      '    d6 [style=filled fillcolor=black fontcolor=white label="6 = output[0]\\nTQ8A(1x4x4x4)\\nscale 1"]',
      '    n0 [shape=box style=filled fillcolor="#cfe2f7" label="0: CONV_2D\\lfilter (1: REF) TQ8A(4x3x3x3) scale 0.25\\lbias (2: REF) TI32(4)\\lpaddingScheme (3: COPY) I32 = 1 SAME\\lstrideWidth (4: COPY) I32 = 2\\lstrideHeight (4: COPY) I32 = 2\\lactivation (5: COPY) I32 = 3 RELU6\\l"]',
      "    d0 -> n0",
      "    n0 -> d6",
      "}",
    ]);
  });

  it.each([
    [OperationType.CONV_2D, "#cfe2f7"],
    [OperationType.MAX_POOL_2D, "#d5ecd0"],
    [OperationType.DEPTH_TO_SPACE, "#eeeeee"],
    [OperationType.WHILE, "#f7d6d6"],
    [OperationType.ADD, "#fbe8c8"],
    [0x7fff_0001, "#ffffff"],
    [4711, "#ffffff"],
  ])("gives operation %i the color of its kind: %s", (type, color) => {
    const model = modelOf({ operations: [{ type, inputs: [], outputs: [] }] });
    expect(about("n0", dump(model, { constants: "inside" }))[0]).toContain(`style=filled fillcolor="${color}"`);
    expect(about("n0", dump(model))[0]).not.toContain("fillcolor");
  });

  it("shows the names of operands that it is given", () => {
    const lines = dump(convolutionModel(), { constants: "inside", operandNames: ['the "image"'] });
    expect(about("d0", lines)[0]).toContain('label="the \\"image\\"\\n0 = input[0]');
  });

  it("shows those of referenced subgraphs", () => {
    const inner = { ...convolutionModel().main };
    const referencedNames = [[], ["inner image"]];
    const lines = dump({ ...convolutionModel(), referenced: [inner, inner] }, { constants: "inside", referencedNames });
    expect(about("s1d0", lines)[0]).toContain('label="inner image\\n0 = input[0]');
    expect(about("s0d0", lines)[0]).toContain('label="0 = input[0]');
    expect(about("d0", lines)[0]).toContain('label="0 = input[0]');
  });

  it("keeps constants as nodes that no operation reads, or that are outputs", () => {
    const constant = operand(OperandType.INT32, OperandLifeTime.CONSTANT_COPY);
    const lines = dump(modelOf({ operands: [constant, constant], outputIndexes: [1] }), { constants: "inside" });
    expect(about("d0", lines)).toEqual(['d0 [label="0: COPY\\nI32"]']);
    expect(about("d1", lines)).toEqual(['d1 [style=filled fillcolor=black fontcolor=white label="1: COPY\\nI32"]']);
  });

  it("shows every lifetime", () => {
    const operands = Object.values(OperandLifeTime).map((lifetime) => operand(OperandType.TENSOR_FLOAT32, lifetime));
    const lines = dump(modelOf({ operands: [...operands, operand(3, 9)], inputIndexes: [1], outputIndexes: [2] }));
    const label = (index: number) => /label="(.*)"/.exec(elementAt(about(`d${index}`, lines), 0))?.[1];
    expect([0, 1, 2, 3, 4, 5, 6, 7].map(label)).toEqual([
      "0\\nTF32",
      "1 = input[0]\\nTF32",
      "2 = output[0]\\nTF32",
      "3: COPY\\nTF32",
      "4: REF\\nTF32",
      "5: NO\\nTF32",
      "6: SUBGRAPH\\nTF32 = 0",
      "7: lifetime 9\\nTF32",
    ]);
  });

  it("has short names for the types that are met most, and the HAL's for the others", () => {
    const types = Object.values(OperandType);
    const lines = dump(modelOf({ operands: types.map((type) => operand(type, 0)) }));
    const names = types.map((_, index) => /\\n(.*)"/.exec(elementAt(about(`d${index}`, lines), 0))?.[1]);
    expect(names.slice(0, 6)).toEqual(["F32", "I32", "U32", "TF32", "TI32", "TQ8A"]);
    expect(names.slice(-2)).toEqual(["OEM", "TOEMB"]);
    expect(names.slice(6, -2)).toEqual(Object.keys(OperandType).slice(6, -2));
    expect(about("d0", dump(modelOf({ operands: [operand(77, 0)] })))).toEqual(['d0 [label="0\\noperand type 77"]']);
  });

  it.each([
    ["FLOAT32", Float32Array.of(0.1), [], "F32 = 0.1"],
    ["FLOAT32", Float32Array.of(-1 / 3), [], "F32 = -0.333333"],
    ["FLOAT32", Float32Array.of(Number.NaN), [], "F32 = NaN"],
    ["INT32", Int32Array.of(-7), [], "I32 = -7"],
    ["UINT32", Uint32Array.of(0xffff_ffff), [], "U32 = 4294967295"],
    ["FLOAT16", Uint16Array.of(0x3c00), [], "FLOAT16 = 1"],
    ["BOOL", Uint8Array.of(1), [], "BOOL = true"],
    ["TENSOR_INT32", Int32Array.of(1, -2), [2], "TI32 = [1, -2](2)"],
    ["TENSOR_BOOL8", Uint8Array.of(0, 1), [2], "TENSOR_BOOL8 = [false, true](2)"],
    ["TENSOR_INT32", new Int32Array(9), [9], "TI32(9)"],
    ["TENSOR_QUANT8_ASYMM", Uint8Array.of(1), [1], "TQ8A(1)"],
    ["INT32", Int16Array.of(1), [], "I32"],
    ["TENSOR_INT32", Int32Array.of(1), [0], "TI32(0)"],
  ] as const)("shows the value of a short constant: %s %s", (type, value, dimensions, text) => {
    const bytes = new Uint8Array(value.buffer);
    const constant = operand(OperandType[type], 3, { dimensions, ...constantAt(0, bytes.length) });
    const lines = dump(modelOf({ operands: [constant] }, { operandValues: bytes }));
    expect(about("d0", lines)).toEqual([`d0 [label="0: COPY\\n${text}"]`]);
  });

  it("shows values in pools that are mapped, wherever they begin", () => {
    const { buffer } = Int32Array.of(5, 6, 7);
    const pool = (size: number) => ({
      name: "ashmem",
      size,
      handle: { kind: "buffer", buffer, byteOffset: 4 } as const,
    });
    const constant = operand(OperandType.INT32, 4, constantAt(4, 4, OperandLifeTime.CONSTANT_REFERENCE));
    const label = (size: number) => about("d0", dump(modelOf({ operands: [constant] }, { pools: [pool(size)] })));
    expect(label(8)).toEqual(['d0 [label="0: REF\\nI32 = 7"]']);
    expect(label(7)).toEqual(['d0 [label="0: REF\\nI32"]']);
    expect(label(9)).toEqual(['d0 [label="0: REF\\nI32"]']);
  });

  it("orders and numbers edges only where there are several", () => {
    const operation = (inputs: number[], outputs: number[]) =>
      dump(modelOf({ operations: [{ type: OperationType.SPLIT, inputs, outputs }] })).slice(2, -1);
    expect(operation([0], [1])).toEqual(['    n0 [shape=box label="0: SPLIT"]', "    d0 -> n0", "    n0 -> d1"]);
    expect(operation([0], [1, 2])).toEqual([
      '    n0 [shape=box ordering=out label="0: SPLIT"]',
      "    d0 -> n0",
      "    n0 -> d1 [label=0]",
      "    n0 -> d2 [label=1]",
    ]);
    expect(operation([0, 1], [2, 3])[0]).toBe('    n0 [shape=box ordering=in label="0: SPLIT"]');
  });

  it("draws subgraphs as clusters inside the one that names them first, and joins them", () => {
    const lines = dump(branchingModel());
    expect(lines.filter((line) => /cluster|^ *}|compound|label=.subgraph/.test(line))).toEqual([
      "    compound=true",
      "    subgraph cluster_0 {",
      '        label="subgraph 0"',
      "        subgraph cluster_2 {",
      '            label="subgraph 2"',
      "        }",
      "    }",
      "    subgraph cluster_1 {",
      '        label="subgraph 1"',
      "    }",
      "    d1 -> s0d0 [style=dashed lhead=cluster_0]",
      "    d2 -> s1d0 [style=dashed lhead=cluster_1]",
      "    s0d1 -> s1d0 [style=dashed lhead=cluster_1]",
      "    s0d2 -> s2d0 [style=dashed lhead=cluster_2]",
      "}",
    ]);
    expect(about("s2n0", lines)).toEqual(['s2n0 [shape=box label="0: ABS"]']);
    expect(about("s0d4", lines)).toEqual([
      's0d4 [style=filled fillcolor=black fontcolor=white label="4 = output[0]\\nTF32(2)"]',
    ]);
  });

  it("joins operations with subgraphs where references are drawn inside them", () => {
    const lines = dump(branchingModel(), { constants: "inside" });
    expect(about("n0", lines)).toEqual([
      'n0 [shape=box style=filled fillcolor="#f7d6d6" ordering=in label="0: IF\\lthen (1: SUBGRAPH) SUBGRAPH = 0\\lelse (2: SUBGRAPH) SUBGRAPH = 1\\l"]',
    ]);
    expect(lines).toContain('    d0 -> n0 [label="condition"]');
    expect(lines).toContain("    n0 -> s0d0 [style=dashed lhead=cluster_0]");
    expect(lines).toContain("    s0n0 -> s2d0 [style=dashed lhead=cluster_2]");
  });

  it("draws subgraphs that nothing names, and those that name each other in a circle", () => {
    const naming = (...indexes: number[]) =>
      subgraphOf({
        operands: indexes.map((offset) =>
          operand(OperandType.SUBGRAPH, OperandLifeTime.SUBGRAPH, { location: { poolIndex: 0, offset, length: 0 } }),
        ),
        operations: [{ type: OperationType.WHILE, inputs: [0], outputs: [] }],
      });
    const lines = dump(modelOf(naming(3, 99), { referenced: [naming(1), naming(0), naming(2), subgraphOf({})] }));
    expect(lines.filter((line) => /cluster|^ *}/.test(line))).toEqual([
      "    subgraph cluster_3 {",
      "    }",
      "    subgraph cluster_0 {",
      "        subgraph cluster_1 {",
      "        }",
      "    }",
      "    subgraph cluster_2 {",
      "    }",
      "    s0d0 -> s1n0 [style=dashed lhead=cluster_1]",
      "    s1d0 -> s0n0 [style=dashed lhead=cluster_0]",
      "    s2d0 -> s2n0 [style=dashed lhead=cluster_2]",
      "}",
    ]);
  });

  it("names extensions, and escapes what Graphviz would read as more than text", () => {
    const lines = dump(extensionModel("com.example.test"), {}, "a\nname");
    expect(lines[0]).toBe("// a name");
    expect(about("d0", lines)[0]).toContain('label="0 = input[0]\\ncom.example.test type 1(2x0)"');
    expect(about("d1", lines)[0]).toContain('label="1: NO\\noperand type 1 of extension prefix 8"');
    expect(about("n0", lines)[0]).toContain('label="0: com.example.test operation 2"');
    const odd = dump(extensionModel('a"b\\N&lt;\u0000\n<c>'));
    expect(about("n0", odd)[0]).toContain('label="0: a\\"b\\\\N&amp;lt; <c> operation 2"');
  });

  it("draws what is wrong in a model", () => {
    const lines = dump(
      modelOf({
        operands: [operand(3, OperandLifeTime.SUBGRAPH_INPUT)],
        operations: [{ type: 4711, inputs: [7, -1], outputs: [0.5] }],
      }),
    );
    expect(lines.slice(2, -1)).toEqual([
      '    d0 [label="0 = input[?]\\nTF32"]',
      '    n0 [shape=box ordering=in label="0: operation type 4711"]',
      "    d7 -> n0 [label=0]",
      '    "d-1" -> n0 [label=1]',
      '    n0 -> "d0.5"',
    ]);
  });

  it("grows with the model and no faster, however deep subgraphs name each other", () => {
    const chain = (count: number) =>
      modelOf(subgraphOf({ operands: [reference(0)] }), {
        referenced: Array.from({ length: count }, (_, index) => subgraphOf({ operands: [reference(index + 1)] })),
      });
    const reference = (offset: number) =>
      operand(OperandType.SUBGRAPH, OperandLifeTime.SUBGRAPH, { location: { poolIndex: 0, offset, length: 0 } });
    const length = (count: number) => dump(chain(count)).join("\n").length;
    expect(length(10_000)).toBeLessThan(12 * length(1000));
  });

  it("never throws, and writes balanced braces, whatever the numbers in a model are", () => {
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
    fc.assert(
      fc.property(subgraph, fc.array(subgraph, { maxLength: 3 }), fc.boolean(), (main, referenced, isInside) => {
        const model = modelOf(main, { referenced, operandValues: new Uint8Array(16) });
        const text = dump(model, { constants: isInside ? "inside" : "nodes" });
        const count = (pattern: RegExp) => text.filter((line) => pattern.test(line)).length;
        expect(count(/\{$/)).toBe(1 + referenced.length);
        expect(count(/^ *\}$/)).toBe(1 + referenced.length);
      }),
    );
  });
});

describe("logStream", () => {
  it("makes each line a message", () => {
    const entries: LogEntry[] = [];
    const log = createLogger({ sink: (entry) => entries.push(entry), properties: () => "" });
    graphDump("empty", modelOf({}), logStream(log, "MODEL"));
    expect(entries).toEqual(
      ["// empty", "digraph {", "}"].map((message) => ({ severity: "info", tag: "MODEL", message })),
    );
  });

  it("is where a dump goes that is given no stream", () => {
    const written = vi.spyOn(console, "error").mockImplementation(() => {});
    graphDump("empty", modelOf({}));
    expect(written.mock.calls).toEqual([["nnhal info: // empty"], ["nnhal info: digraph {"], ["nnhal info: }"]]);
  });
});
