import {
  changePart,
  changeParts,
  floorModel,
  input,
  listRules,
  modelOf,
  operand,
  output,
  subgraphOf,
} from "@nnhal/test-kit/models";
import {
  halVersions,
  isAidl,
  type Model,
  type Operand,
  OperandType,
  type Request,
  type RequestArgument,
} from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { type RequestValidationOptions, requestIssues, validateRequest } from "./index.ts";

const buffer = new ArrayBuffer(64);
const pool = {
  kind: "memory",
  memory: { name: "ashmem", size: 64, handle: { kind: "buffer", buffer, byteOffset: 0 } },
} as const;
const token = { kind: "token", token: 1 } as const;

function argument(facts: Partial<RequestArgument> = {}): RequestArgument {
  return { hasNoValue: false, location: { poolIndex: 0, offset: 0, length: 8 }, dimensions: [], ...facts };
}

const nothing = argument({ hasNoValue: true, location: { poolIndex: 0, offset: 0, length: 0 } });

/** A request for `floorModel`, valid at every version. */
const control: Request = {
  inputs: [argument()],
  outputs: [argument({ location: { poolIndex: 0, offset: 56, length: 8 } })],
  pools: [pool],
};

function issuesOf(
  changes: Readonly<Record<string, unknown>>,
  options?: RequestValidationOptions,
  model = floorModel(),
): string[] {
  return listRules(requestIssues(changeParts(control, changes), model, options));
}

/** A model with one input and one output of any kind. */
function modelWith(facts: Partial<Operand>): Model {
  const operands = [operand({ ...facts, ...input }), operand({ ...facts, ...output })];
  return modelOf(subgraphOf(operands, [{ type: 0x1_0000, inputs: [0], outputs: [1] }]));
}

const sides = ["inputs", "outputs"] as const;

describe("the control request", () => {
  it.each(halVersions)("is valid at HAL %s", (version) => {
    for (const allowUnspecifiedOutput of [true, false]) {
      expect(issuesOf({}, { version, allowUnspecifiedOutput })).toEqual([]);
    }
    expect(validateRequest(control, floorModel(), { version })).toBe(true);
  });
});

describe.each(sides)("%s", (side) => {
  const path = `${side}[0]`;

  it("are as many as the model's (rule 42)", () => {
    for (const list of [[], [argument(), argument()]]) {
      expect(issuesOf({ [side]: list })).toEqual([`argument-count ${side}`]);
    }
  });

  it("that are omitted say nothing else (rule 43)", () => {
    expect(issuesOf({ [path]: nothing })).toEqual([]);
    for (const field of ["poolIndex", "offset", "length"]) {
      expect(issuesOf({ [path]: changePart(nothing, `location.${field}`, 1) })).toEqual([`argument-no-value ${path}`]);
    }
    expect(issuesOf({ [path]: { ...nothing, dimensions: [2] } })).toEqual([`argument-no-value ${path}`]);
  });

  it("lie in the pool with their padding (rule 44)", () => {
    const at = (offset: number, padding: unknown) => ({
      [`${path}.location`]: { poolIndex: 0, offset, length: 8, padding },
    });
    for (const [offset, padding] of [
      [0, 56],
      [56, 0],
      [48, 8],
      [0, undefined],
    ] as const)
      expect(issuesOf(at(offset, padding))).toEqual([]);
    for (const [offset, padding] of [
      [0, 57],
      [56, 1],
      [0, 0xffff_ffff],
    ] as const)
      expect(issuesOf(at(offset, padding))).toEqual([`argument-location ${path}.location`]);
    for (const padding of [-1, 0.5, "1", null]) expect(issuesOf(at(0, padding))).toEqual([`structure ${path}`]);
  });

  it("have no padding if they are omitted, or a token's or a hardware buffer's", () => {
    const padded = { poolIndex: 0, offset: 0, length: 0, padding: 1 };
    expect(issuesOf({ [path]: { ...nothing, location: padded } })).toEqual([`argument-no-value ${path}`]);
    expect(issuesOf({ [`${path}.location`]: { ...padded, poolIndex: 1 }, pools: [pool, token] })).toEqual([
      `argument-location ${path}.location`,
    ]);
  });

  it.each(halVersions.filter(isAidl))("are of exact length in %s (rule 75)", (version) => {
    const [shorter, longer] = [{ [`${path}.location.length`]: 7 }, { [`${path}.location.length`]: 9 }];
    const exact = [`argument-exact-length ${path}.location.length`];
    // The pool ends after the output.
    const room = { "outputs[0].location.offset": 32 };
    expect(issuesOf({ ...room, ...longer }, { version })).toEqual(exact);
    expect(issuesOf({ ...room, ...longer }, { version: "1.3" })).toEqual([]);
    expect(issuesOf({ ...room, ...longer })).toEqual([]);
    const short = side === "inputs" ? [`argument-length ${path}.location.length`] : exact;
    expect(issuesOf(shorter, { version })).toEqual(short);
  });

  it("have some bytes in AIDL, whatever their type and dimensions", () => {
    const open = modelWith({ type: OperandType.TENSOR_FLOAT32, dimensions: [] });
    const given = { [`${path}.location.length`]: 0, "inputs[0].dimensions": [2] };
    if (side === "outputs") {
      expect(issuesOf(given, { version: "aidl1" }, open)).toEqual([`argument-exact-length ${path}.location.length`]);
      expect(issuesOf(given, { version: "1.3" }, open)).toEqual([]);
      expect(issuesOf({ ...given, [`${path}.location.length`]: 5 }, { version: "aidl1" }, open)).toEqual([]);
    }
    const foreign = modelWith({ type: 0x1_0000, dimensions: [2] });
    const ofZero = { [`${path}.location.length`]: 0 };
    expect(issuesOf(ofZero, { version: "aidl1" }, foreign)).toEqual([`argument-exact-length ${path}.location.length`]);
    expect(issuesOf({ [`${path}.location.length`]: 3 }, { version: "aidl1" }, foreign)).toEqual([]);
  });

  it("lie in a pool of the request (rule 44)", () => {
    expect(issuesOf({ [`${path}.location.poolIndex`]: 1 })).toEqual([`argument-location ${path}.location.poolIndex`]);
  });

  it("end within their pool, which is 64 bytes here (rule 44)", () => {
    expect(issuesOf({ [`${path}.location.offset`]: 56 })).toEqual([]);
    for (const offset of [57, 64, 0xffff_ffff]) {
      expect(issuesOf({ [`${path}.location.offset`]: offset })).toEqual([`argument-location ${path}.location`]);
    }
    const wrapping = { poolIndex: 0, offset: 0xffff_fff8, length: 8 };
    expect(issuesOf({ [`${path}.location`]: wrapping })).toEqual([`argument-location ${path}.location`]);
  });

  it("take all of a token's pool (rule 44)", () => {
    const at = (offset: number, length: number) => ({
      "pools[1]": token,
      [`${path}.location`]: { poolIndex: 1, offset, length },
    });
    expect(issuesOf(at(0, 0))).toEqual([]);
    for (const [offset, length] of [
      [1, 0],
      [0, 1],
      [0, 8],
    ] as const) {
      expect(issuesOf(at(offset, length))).toEqual([`argument-location ${path}.location`]);
    }
  });

  it("take all of a hardware_buffer (rule 60)", () => {
    const at = (offset: number, length: number) => ({
      "pools[1]": changePart(pool, "memory.name", "hardware_buffer"),
      [`${path}.location`]: { poolIndex: 1, offset, length },
    });
    expect(issuesOf(at(0, 0))).toEqual([]);
    expect(issuesOf(at(0, 8))).toEqual([`opaque-pool ${path}.location`]);
    expect(issuesOf(at(8, 0))).toEqual([`opaque-pool ${path}.location`]);
  });

  it("have the rank of the model, if that is known (rule 46)", () => {
    const given = { [`${path}.dimensions`]: [2, 1] };
    expect(issuesOf(given)).toEqual([`argument-rank ${path}.dimensions`]);
    expect(issuesOf(given, {}, floorModel({ dimensions: [2, 1] }))).toEqual([]);
  });

  it("of scalars have no dimensions (rule 46)", () => {
    const scalar = modelWith({ type: OperandType.INT32, dimensions: [] });
    expect(issuesOf({}, { allowUnspecifiedOutput: false }, scalar)).toEqual([]);
    for (const dimensions of [[1], [0]]) {
      expect(issuesOf({ [`${path}.dimensions`]: dimensions }, {}, scalar)).toEqual([
        `argument-rank ${path}.dimensions`,
      ]);
    }
  });

  it("have the extents of the model, if those are known (rule 47)", () => {
    expect(issuesOf({ [`${path}.dimensions`]: [2] })).toEqual([]);
    for (const dimensions of [[1], [3], [0]]) {
      expect(issuesOf({ [`${path}.dimensions`]: dimensions })).toEqual([`argument-extent ${path}.dimensions[0]`]);
    }
  });

  it("fit in 2^32 bytes (rule 59)", () => {
    const model = modelWith({ dimensions: [] });
    const other = side === "inputs" ? "outputs" : "inputs";
    const give = (extent: number) => ({ [`${path}.dimensions`]: [extent], [`${other}[0].dimensions`]: [2] });
    // No pool is that long.
    const tooLong = side === "inputs" ? ["argument-length inputs[0].location.length"] : [];
    expect(issuesOf(give(0x3fff_ffff), {}, model)).toEqual(tooLong);
    expect(issuesOf(give(0x4000_0000), {}, model)).toEqual([`operand-size ${path}.dimensions`]);
  });

  it.each([
    ["", null],
    [".hasNoValue", 0],
    [".location", undefined],
    [".location.poolIndex", -1],
    [".location.offset", Number.NaN],
    [".location.length", "8"],
    [".dimensions", undefined],
    [".dimensions", [-1]],
    [".dimensions", [2 ** 32]],
  ])("are as declared (rule 56): %s is not %s", (field, value) => {
    expect(issuesOf({ [`${path}${field}`]: value })).toEqual([`structure ${path}`]);
  });
});

describe("unknown dimensions", () => {
  const unknown = [
    ["rank", []],
    ["extents", [0, 2]],
  ] as const;

  it.each(unknown)("of inputs are required: %s (rule 45)", (_, dimensions) => {
    const model = floorModel({ dimensions });
    expect(issuesOf({ "outputs[0].dimensions": [1, 2] }, {}, model)).toEqual([
      "argument-shape-unknown inputs[0].dimensions",
    ]);
    expect(issuesOf({ "outputs[0].dimensions": [1, 2], "inputs[0].dimensions": [1, 2] }, {}, model)).toEqual([]);
  });

  it("of inputs must not be 0 (rule 48)", () => {
    const model = floorModel({ dimensions: [0, 0] });
    expect(issuesOf({ "inputs[0].dimensions": [1, 0] }, {}, model)).toEqual([
      "argument-extent-zero inputs[0].dimensions[1]",
    ]);
    expect(issuesOf({ "inputs[0].dimensions": [1, 1] }, {}, model)).toEqual([]);
  });

  it.each(unknown)("of outputs are found by the execution, if it can: %s (rule 49)", (_, dimensions) => {
    const model = floorModel({ dimensions });
    const given = { "inputs[0].dimensions": [1, 2] };
    for (const outputDimensions of [[], ...(dimensions.length === 0 ? [[0, 2]] : [[0, 2]])]) {
      const changes = { ...given, "outputs[0].dimensions": outputDimensions };
      for (const version of ["1.2", "1.3"] as const) {
        expect(issuesOf(changes, { version }, model)).toEqual([]);
        expect(issuesOf(changes, { version, allowUnspecifiedOutput: false }, model)).toHaveLength(1);
      }
      for (const version of ["1.0", "1.1"] as const) {
        const [issue] = issuesOf(changes, { version }, model);
        expect(issue).toMatch(/^output-shape-unknown outputs\[0\]\.dimensions/);
      }
    }
    expect(issuesOf({ ...given, "outputs[0].dimensions": [1, 2] }, { allowUnspecifiedOutput: false }, model)).toEqual(
      [],
    );
  });

  it("of an extension's operand cannot be told from a scalar's", () => {
    const model = modelWith({ type: 0x1_0000, dimensions: [] });
    expect(issuesOf({}, { allowUnspecifiedOutput: false }, model)).toEqual([]);
    expect(issuesOf({ "inputs[0].dimensions": [3] }, {}, model)).toEqual([]);
  });
});

describe("pools (rule 50)", () => {
  it("have a name of the version", () => {
    const named = (name: string) => ({ "pools[0].memory.name": name });
    expect(issuesOf(named("cardboard"))).toEqual(["request-pool pools[0].memory.name"]);
    expect(issuesOf(named("hardware_buffer_blob"), { version: "1.1" })).toEqual(["request-pool pools[0]"]);
    expect(issuesOf(named("hardware_buffer_blob"), { version: "1.2" })).toEqual([]);
  });

  it("have a handle that is as long as they are", () => {
    expect(issuesOf({ "pools[0].memory.handle": null })).toEqual(["request-pool pools[0].memory.handle"]);
    expect(issuesOf({ "pools[0].memory.size": 65 })).toEqual(["request-pool pools[0].memory.handle"]);
  });

  it("have tokens above 0, since HAL 1.3", () => {
    expect(issuesOf({ "pools[1]": token })).toEqual([]);
    expect(issuesOf({ "pools[1]": token }, { version: "1.2" })).toEqual(["request-pool pools[1]"]);
    for (const wrong of [0, -1, 0.5, undefined]) {
      expect(issuesOf({ "pools[1]": { kind: "token", token: wrong } })).toEqual(["request-pool pools[1].token"]);
    }
  });

  it("that are not pools are reported once", () => {
    expect(issuesOf({ "pools[0]": null })).toEqual(["request-pool pools[0]"]);
    expect(issuesOf({ "pools[0]": { kind: "memory" } })).toEqual(["request-pool pools[0].memory"]);
    expect(issuesOf({ "pools[0]": { kind: "other" } })).toEqual(["request-pool pools[0].kind"]);
  });
});

describe("garbage", () => {
  it.each([undefined, null, 7, "request", []])("in place of a request is an issue: %s", (garbage) => {
    const { request } = changePart({ request: control }, "request", garbage);
    expect(requestIssues(request, floorModel())[0]?.code).toBe("structure");
    expect(validateRequest(request, floorModel())).toBe(false);
  });

  it.each(["inputs", "outputs", "pools"])("in place of %s is an issue", (list) => {
    for (const garbage of [undefined, null, {}, "list"])
      expect(issuesOf({ [list]: garbage })).toEqual([`structure ${list}`]);
  });

  it.each([
    "main",
    "main.operands",
    "main.inputIndexes",
    "main.outputIndexes",
    "main.operands[0]",
    "main.operands[0].dimensions",
  ])("in place of the model's %s is an issue", (path) => {
    expect(requestIssues(control, changePart(floorModel(), path, null))[0]?.code).toBe("structure");
  });

  it("is reported up to the limit", () => {
    const inputs = Array.from({ length: 100 }, () => null);
    const request = changePart(control, "inputs", inputs);
    const model = changePart(
      floorModel(),
      "main.inputIndexes",
      inputs.map(() => 0),
    );
    expect(requestIssues(request, model)).toHaveLength(32);
    expect(requestIssues(request, model, { limit: 5 })).toHaveLength(5);
  });
});

describe("the length of an argument (rule 66)", () => {
  const issue = ["argument-length inputs[0].location.length"];
  const tooShort = { "inputs[0].location.length": 7 };

  it("is at least the size of an input of known dimensions: both sides of the bound", () => {
    for (const [length, expected] of [
      [0, issue],
      [7, issue],
      [8, []],
      [9, []],
    ] as const) {
      expect(issuesOf({ "inputs[0].location.length": length })).toEqual(expected);
    }
  });

  it("counts by the dimensions of the request before those of the model", () => {
    const model = modelWith({ dimensions: [0] });
    const given = (extent: number) => ({ "inputs[0].dimensions": [extent], "outputs[0].dimensions": [1] });
    expect(issuesOf(given(2), {}, model)).toEqual([]);
    expect(issuesOf(given(3), {}, model)).toEqual(issue);
  });

  it("counts for scalars", () => {
    const model = modelWith({ type: OperandType.INT32, dimensions: [] });
    expect(issuesOf({ "inputs[0].location.length": 4 }, {}, model)).toEqual([]);
    expect(issuesOf({ "inputs[0].location.length": 3 }, {}, model)).toEqual(issue);
  });

  it("names the argument, its bytes and the tensor's", () => {
    const [issue] = requestIssues(changeParts(control, tooShort), floorModel());
    expect(issue?.message).toBe("the argument has 7 bytes where a TENSOR_FLOAT32 [2] takes 8");
  });

  it.each<[string, Readonly<Record<string, unknown>>]>([
    ["an output: that is for the execution to say", { "outputs[0].location.length": 7 }],
    [
      "an input that is a device buffer",
      { "inputs[0].location.length": 0, "inputs[0].location.poolIndex": 1, pools: [pool, token] },
    ],
    ["an omitted input", { "inputs[0]": nothing }],
  ])("does not count for %s", (_what, changes) => {
    expect(issuesOf(changes)).toEqual([]);
  });

  it("does not count for types of extensions, whose size is not known", () => {
    expect(issuesOf({ "inputs[0].location.length": 0 }, {}, modelWith({ type: 0x1_0001 }))).toEqual([]);
  });
});
