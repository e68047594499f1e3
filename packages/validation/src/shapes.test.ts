import { elementAt } from "@nnhal/operations";
import { defineOperation, omittableFrom, read, tensor } from "@nnhal/operations/authoring";
import {
  changePart,
  changeParts,
  constant,
  controlModel,
  describeExtension,
  floorModel,
  input,
  listRules,
  loopModel,
  modelOf,
  operand,
  operation,
  output,
  reference,
  subgraphOf,
} from "@nnhal/test-kit/models";
import { type Model, type Operand, OperandLifeTime, OperandType, type Operation } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { analyseModel, modelIssues } from "./index.ts";

/** INT32 0 at 0, INT32 1 at 4, INT32 2 at 8, then [3, 2] and [4, 2]. */
const values = new Uint8Array(Int32Array.of(0, 1, 2, 3, 2, 4, 2).buffer);
const int32 = (value: 0 | 1 | 2, facts: Partial<Operand> = {}) => constant("INT32", 4 * value, 4, facts);

function model(operands: readonly Operand[], operations: readonly Operation[], more: Partial<Model> = {}): Model {
  return modelOf(subgraphOf(operands, operations), { operandValues: values, ...more });
}

/** ADD of two graph inputs. */
function addition(left: readonly number[], right: readonly number[], sum: readonly number[] = []): Model {
  const operands = [
    operand({ dimensions: left, ...input }),
    operand({ dimensions: right, ...input }),
    int32(0),
    operand({ dimensions: sum, ...output }),
  ];
  return model(operands, [operation("ADD", [0, 1, 2], [3])]);
}

describe("the shapes of an operation's inputs", () => {
  it.each([
    [[2], [2]],
    [[2], [1]],
    [
      [4, 1, 2],
      [3, 1],
    ],
  ])("may be %j and %j for ADD", (left, right) => {
    expect(modelIssues(addition(left, right))).toEqual([]);
  });

  it("fit each other", () => {
    expect(modelIssues(addition([2], [3]))).toEqual([
      {
        code: "operation-shape",
        path: "main.operations[0]",
        message: "ADD: shapes 2 and 3 do not broadcast (left: operand 0 [2]; right: operand 1 [3])",
      },
    ]);
    expect(listRules(modelIssues(addition([4, 2], [3, 2])))).toEqual(["operation-shape main.operations[0]"]);
  });

  it.each([
    [[2], [0]],
    [[], [3]],
    [[0], []],
    [
      [2, 0],
      [3, 7],
    ],
  ])("are not refused if one is unknown: %j and %j", (left, right) => {
    expect(modelIssues(addition(left, right))).toEqual([]);
  });

  /** DEPTHWISE_CONV_2D of an image with 3 channels. */
  const depthwise = (channels: number, multiplier: Operand) => {
    const operands = [
      operand({ dimensions: [1, 4, 4, 3], ...input }),
      operand({ dimensions: [1, 2, 2, channels], ...input }),
      operand({ dimensions: [channels], ...input }),
      int32(1),
      multiplier,
      int32(0),
      operand({ dimensions: [1, 4, 4, channels], ...output }),
    ];
    return model(operands, [operation("DEPTHWISE_CONV_2D", [0, 1, 2, 3, 3, 3, 4, 5], [6])]);
  };

  it("fit the constants: DEPTHWISE_CONV_2D's filter has depth multiplier times the input's channels", () => {
    expect(modelIssues(depthwise(3, int32(1)))).toEqual([]);
    expect(modelIssues(depthwise(6, int32(2)))).toEqual([]);
    expect(modelIssues(depthwise(4, int32(1)))).toEqual([
      {
        code: "operation-shape",
        path: "main.operations[0]",
        message:
          "DEPTHWISE_CONV_2D: the filter: expected 3 input channels * depth multiplier 1, got 4 " +
          "(input: operand 0 [1, 4, 4, 3]; filter: operand 1 [1, 2, 2, 4]; bias: operand 2 [4])",
      },
    ]);
  });

  it("are not refused if a scalar is not constant", () => {
    expect(modelIssues(depthwise(4, operand({ type: OperandType.INT32, dimensions: [], ...input })))).toEqual([]);
  });

  it("are named in a message up to four of them", () => {
    const parts = Array.from({ length: 6 }, (_, index) => operand({ dimensions: index < 5 ? [2] : [2, 2], ...input }));
    const operands = [...parts, int32(0), operand({ dimensions: [], ...output })];
    const [issue] = modelIssues(model(operands, [operation("CONCATENATION", [0, 1, 2, 3, 4, 5, 6], [7])]));
    expect(issue?.message).toBe(
      "CONCATENATION: input 5 has shape 2x2, which differs from input 0's 2 in more than axis 0 (inputs: operand 0 [2]; " +
        "inputs: operand 1 [2]; inputs: operand 2 [2]; inputs: operand 3 [2]; and 2 more)",
    );
  });
});

describe("the declared dimensions of an output", () => {
  it.each([[[]], [[0, 0]], [[3, 0]], [[3, 2]]])("may be %j if the shape is [3, 2]", (declared) => {
    expect(modelIssues(addition([3, 2], [2], declared))).toEqual([]);
  });

  it.each([[[3, 3]], [[0, 3]], [[3]], [[3, 2, 1]]])("cannot be %j if the shape is [3, 2]", (declared) => {
    expect(modelIssues(addition([3, 2], [2], declared))).toEqual([
      {
        code: "output-shape",
        path: "main.operations[0].outputs[0]",
        message:
          `ADD: operand 3 is declared as ${declared.join("x")}, but the result has shape 3x2 ` +
          "(left: operand 0 [3, 2]; right: operand 1 [2])",
      },
    ]);
  });

  it("agree for temporaries, too", () => {
    expect(listRules(modelIssues(changePart(floorModel(), "main.operands[1].dimensions", [3])))).toEqual([
      "output-shape main.operations[0].outputs[0]",
      "output-shape main.operations[1].outputs[0]",
    ]);
  });
});

describe("shapes flow", () => {
  /** FLOOR of [2], then ADD with [3]. */
  const flow = (declared: readonly number[]) => [
    operand({ dimensions: [2], ...input }),
    operand({ dimensions: declared }),
    operand({ dimensions: [3], ...input }),
    int32(0),
    operand({ dimensions: [], ...output }),
  ];
  const floor = operation("FLOOR", [0], [1]);
  const add = operation("ADD", [1, 2, 3], [4]);

  it.each([[[]], [[0]]])("through temporaries that are declared as %j", (declared) => {
    const [issue, ...rest] = modelIssues(model(flow(declared), [floor, add]));
    expect(rest).toEqual([]);
    expect(issue).toMatchObject({ code: "operation-shape", path: "main.operations[1]" });
    expect(issue?.message).toBe("ADD: shapes 2 and 3 do not broadcast (left: operand 1 [2]; right: operand 2 [3])");
  });

  it("through outputs of the graph that operations read", () => {
    const operands = changeParts(flow([]), { "[1].lifetime": OperandLifeTime.SUBGRAPH_OUTPUT });
    expect(listRules(modelIssues(model(operands, [floor, add])))).toEqual(["operation-shape main.operations[1]"]);
  });

  it("no further than an operation that has no shapes: an extension's", () => {
    const unknown = { type: 0x1_0001, inputs: [0], outputs: [1] };
    expect(modelIssues(model(flow([]), [unknown, add]))).toEqual([]);
    expect(listRules(modelIssues(model(flow([2]), [unknown, add])))).toEqual(["operation-shape main.operations[1]"]);
  });

  it("in the order of the operations", () => {
    expect(listRules(modelIssues(model(flow([]), [add, floor])))).toEqual([
      "read-before-write main.operations[0].inputs[0]",
    ]);
  });

  it("with the quantisation that an operation sets for a temporary", () => {
    const [fixing, seeing] = [0x1_0003, 0x1_0004];
    const params = [tensor("input")] as const;
    const facts = {
      summary: "For this test.",
      params,
      outputs: [tensor("output")] as const,
      types: [["1.2", "TENSOR_QUANT8_ASYMM", "TENSOR_QUANT8_ASYMM"]] as const,
    };
    const fixes = defineOperation({
      ...facts,
      name: "FIXING",
      code: fixing,
      infer: () => ({ output: { dimensions: [2], scale: 0.25, zeroPoint: 3 } }),
    });
    const seen: (readonly number[])[] = [];
    const sees = defineOperation({
      ...facts,
      name: "SEEING",
      code: seeing,
      infer({ input: { scale, zeroPoint, dimensions } }) {
        seen.push([scale, zeroPoint]);
        return { output: { dimensions } };
      },
    });
    const byte = { type: OperandType.TENSOR_QUANT8_ASYMM, scale: 0.5, zeroPoint: 7 };
    const known = describeExtension(fixes, sees);
    const operands = [
      operand({ ...byte, ...input }),
      operand({ ...byte, dimensions: [] }),
      operand({ ...byte, ...output }),
    ];
    const chain = [
      { type: fixing, inputs: [0], outputs: [1] },
      { type: seeing, inputs: [1], outputs: [2] },
    ];
    expect(modelIssues(model(operands, chain), known)).toEqual([]);
    const asOutput = changeParts(operands, { "[1].lifetime": OperandLifeTime.SUBGRAPH_OUTPUT });
    expect(modelIssues(model(asOutput, chain), known)).toEqual([]);
    expect(seen).toEqual([
      [0.25, 3],
      [0.5, 7],
    ]);
  });
});

describe("constants that an operation reads for its shapes", () => {
  const shapeAt = (facts: Partial<Operand>) => [
    operand({ dimensions: [6], ...input }),
    operand({ type: OperandType.TENSOR_INT32, dimensions: [2], ...facts }),
    operand({ dimensions: [], ...output }),
  ];
  const copy = (offset: number) => ({
    lifetime: OperandLifeTime.CONSTANT_COPY,
    location: { poolIndex: 0, offset, length: 8 },
  });
  const reshape = [operation("RESHAPE", [0, 1], [2])];

  it("decide", () => {
    expect(modelIssues(model(shapeAt(copy(12)), reshape))).toEqual([]);
    const [issue] = modelIssues(model(shapeAt(copy(20)), reshape));
    expect(issue).toMatchObject({ code: "operation-shape", path: "main.operations[0]" });
    expect(issue?.message).toContain("shape 4x2 does not hold the 6 elements of shape 6");
  });

  it("do not if they are not constant, or not in this process", () => {
    expect(modelIssues(model(shapeAt(input), reshape))).toEqual([]);
    const away = {
      lifetime: OperandLifeTime.CONSTANT_REFERENCE,
      location: { poolIndex: 0, offset: 0, length: 8 },
    };
    const handle = { kind: "fileDescriptor", fd: 3, protection: 1, offset: 0 } as const;
    const pools = [{ name: "mmap_fd", size: 8, handle }];
    expect(modelIssues(model(shapeAt(away), reshape, { pools }))).toEqual([]);
  });

  /** Asks for a constant of this many elements, and counts how often it is read. */
  function reads(elements: number, rank = 1): number {
    let count = 0;
    const counting = defineOperation({
      name: "COUNTING",
      code: 0x1_0003,
      summary: "For this test.",
      params: [tensor("input", "TENSOR_FLOAT32"), read(tensor("shape", "TENSOR_INT32"))],
      outputs: [tensor("output", "TENSOR_FLOAT32")],
      types: [["1.2"]],
      infer({ shape }) {
        count += shape.data.length === elements ? 1 : 1000;
        return { output: { dimensions: [2] } };
      },
    });
    const dimensions = [elements, ...new Array<number>(rank - 1).fill(1)];
    const shape = constant("TENSOR_INT32", 0, 4 * elements, { dimensions });
    const operands = [operand({ ...input }), shape, operand({ ...output })];
    const counted = model(operands, [{ type: 0x1_0003, inputs: [0, 1], outputs: [2] }], {
      operandValues: new Uint8Array(4 * elements),
    });
    expect(modelIssues(counted, describeExtension(counting))).toEqual([]);
    return count;
  }

  it("are read up to 32 elements and 32 axes", () => {
    expect([reads(1), reads(32), reads(33), reads(1_000_000)]).toEqual([1, 1, 0, 0]);
    expect([reads(2, 32), reads(2, 33)]).toEqual([1, 0]);
  });
});

describe("an input that a request may omit", () => {
  const optional = defineOperation({
    name: "OPTIONAL",
    code: 0x1_0003,
    summary: "For this test.",
    params: [tensor("input", "TENSOR_FLOAT32"), omittableFrom("1.2", tensor("other", "TENSOR_FLOAT32"))],
    outputs: [tensor("output", "TENSOR_FLOAT32")],
    types: [["1.2"]],
    infer: ({ input: { dimensions }, other }) => ({ output: { dimensions: other?.dimensions ?? dimensions } }),
  });
  const issuesWith = (other: Partial<Operand>) => {
    const operands = [operand({ ...input }), operand({ dimensions: [3], ...other }), operand({ ...output })];
    const main = subgraphOf(operands, [{ type: 0x1_0003, inputs: [0, 1], outputs: [2] }]);
    return listRules(modelIssues(modelOf(main, { operandValues: new Uint8Array(12) }), describeExtension(optional)));
  };

  it("decides nothing as an input of the graph", () => {
    expect(issuesWith(input)).toEqual([]);
  });

  it("decides as a constant, and is absent as NO_VALUE", () => {
    const location = { poolIndex: 0, offset: 0, length: 12 };
    const asConstant = { lifetime: OperandLifeTime.CONSTANT_COPY, location };
    expect(issuesWith(asConstant)).toEqual(["output-shape main.operations[0].outputs[0]"]);
    expect(issuesWith({ lifetime: OperandLifeTime.NO_VALUE })).toEqual([]);
  });
});

describe("a dynamic operation", () => {
  const choosing = defineOperation({
    name: "CHOOSING",
    code: 0x1_0003,
    summary: "For this test.",
    params: [tensor("input", "TENSOR_FLOAT32")],
    outputs: [tensor("output", "TENSOR_FLOAT32")],
    types: [["1.2"]],
    dynamic: true,
    infer: () => ({ output: { dimensions: [0, 4] } }),
  });
  const chosen = (declared: readonly number[], other: readonly number[]) => {
    const operands = [
      operand({ ...input }),
      operand({ dimensions: declared }),
      operand({ dimensions: other, ...input }),
      int32(0),
      operand({ dimensions: [], ...output }),
    ];
    const choose = { type: 0x1_0003, inputs: [0], outputs: [1] };
    return listRules(
      modelIssues(model(operands, [choose, operation("ADD", [1, 2, 3], [4])]), describeExtension(choosing)),
    );
  };

  it("leaves extents that depend on data unknown", () => {
    for (const declared of [[], [0, 0], [5, 4], [0, 4]]) expect(chosen(declared, [1])).toEqual([]);
    expect(chosen([], [3])).toEqual([]);
  });

  it("knows the rest", () => {
    expect(chosen([5, 3], [1])[0]).toBe("output-shape main.operations[0].outputs[0]");
    expect(chosen([5], [1])).toContain("output-shape main.operations[0].outputs[0]");
    expect(chosen([5, 0], [3])).toEqual(["operation-shape main.operations[1]"]);
  });
});

describe("a definition", () => {
  const issuesOf = (error: unknown) => {
    const failing = defineOperation({
      name: "FAILING",
      code: 0x1_0003,
      summary: "For this test.",
      params: [tensor("input", "TENSOR_FLOAT32")],
      outputs: [tensor("output", "TENSOR_FLOAT32")],
      types: [["1.2"]],
      infer() {
        throw error;
      },
    });
    const operands = [operand({ ...input }), operand({ ...output })];
    return modelIssues(model(operands, [{ type: 0x1_0003, inputs: [0], outputs: [1] }]), describeExtension(failing));
  };

  it("that throws is an issue", () => {
    const message = "FAILING: its shapes cannot be inferred: surprise (input: operand 0 [2])";
    expect(issuesOf(new RangeError("surprise"))).toEqual([
      { code: "operation-shape", path: "main.operations[0]", message },
    ]);
  });
});

describe("shapes at the boundary of a subgraph", () => {
  /** FLOOR of [2] into a temporary of unknown shape, which an IF hands to its branches. */
  const makeBranching = (
    branchInput: readonly number[],
    branchOutput: readonly number[],
    result: readonly number[],
  ) => {
    const flag = { type: OperandType.TENSOR_BOOL8, dimensions: [1] };
    const branch = subgraphOf(
      [operand({ dimensions: branchInput, ...input }), operand({ dimensions: branchOutput, ...output })],
      [operation("FLOOR", [0], [1])],
    );
    const operands = [
      operand({ dimensions: [2], ...input }),
      operand({ dimensions: [] }),
      operand({ ...flag, ...input }),
      reference(0, 2),
      operand({ dimensions: result, ...output }),
    ];
    const operations = [operation("FLOOR", [0], [1]), operation("IF", [2, 3, 3, 1], [4])];
    return model(operands, operations, { referenced: [branch] });
  };

  it("fit the operands that are passed", () => {
    expect(modelIssues(makeBranching([2], [2], [2]))).toEqual([]);
    expect(modelIssues(makeBranching([], [], [2]))).toEqual([]);
    const issues = modelIssues(makeBranching([3], [3], []));
    expect(listRules(issues)).toEqual(new Array(2).fill("control-flow-compatibility main.operations[1]"));
    expect(issues[0]?.message).toBe(
      "input 3 and input 0 of the then subgraph are passed on: the dimensions are [2] and [3]",
    );
  });

  it("fit the operands that are returned", () => {
    const issues = modelIssues(makeBranching([2], [], [3]));
    expect(listRules(issues)).toEqual(new Array(2).fill("control-flow-compatibility main.operations[1]"));
    expect(issues[0]?.message).toContain("the dimensions are [3] and [2]");
  });

  it("are all that is known inside", () => {
    expect(modelIssues(makeBranching([], [3], [3]))).toEqual([]);
  });
});

describe("analyseModel", () => {
  const fact = { type: "TENSOR_FLOAT32", dimensions: [2], scale: 0, zeroPoint: 0 };

  it("returns inferred facts beyond the declarations, by operand", () => {
    expect(analyseModel(floorModel())).toEqual({ issues: [], main: [], referenced: [] });
    const unknown = changePart(floorModel(), "main.operands[1].dimensions", []);
    expect(analyseModel(unknown)).toEqual({ issues: [], main: [undefined, fact], referenced: [] });
  });

  it("returns that of referenced subgraphs in their order", () => {
    const open = changePart(loopModel, "referenced[1].operands[4].dimensions", [0]);
    const { issues, main, referenced } = analyseModel(open, { mode: "runtime" });
    expect(issues).toEqual([]);
    expect(main).toEqual([]);
    expect(referenced).toEqual([[], [undefined, undefined, undefined, undefined, fact]]);
    const branch = changePart(elementAt(controlModel.referenced, 0), "operands[2].dimensions", []);
    const twice = analyseModel(changePart(controlModel, "referenced", [branch, branch]));
    expect(twice.issues).toEqual([]);
    expect(twice.referenced[0]?.[2]).toMatchObject({ dimensions: [1, 4, 4, 3] });
    expect(twice.referenced[1]).toBe(twice.referenced[0]);
  });

  it("agrees with modelIssues, and returns no shapes of unreadable subgraphs", () => {
    const wrong = addition([2], [3]);
    expect(analyseModel(wrong)).toMatchObject({ issues: modelIssues(wrong), main: [] });
    expect(analyseModel(changePart(floorModel(), "main", null))).toMatchObject({ main: [], referenced: [] });
  });
});

describe("rule 72 in HAL 1.0", () => {
  it("is the same", () => {
    expect(listRules(modelIssues(addition([2], [3], [3]), { version: "1.0" }))).toEqual([
      "operation-shape main.operations[0]",
    ]);
    expect(modelIssues(addition([2], [1], [2]), { version: "1.0" })).toEqual([]);
  });
});
