/**
 * Hostile input: validation reports issues, never throws, and ends in bounded time.
 */
import {
  clamp,
  elementAt,
  elementCount,
  halTypeName,
  operations,
  type Param,
  type RankRule,
  typesOfRow,
} from "@nnhal/operations";
import {
  changed,
  constant,
  controlModel,
  floorModel,
  input,
  loopModel,
  modelOf,
  omitted,
  operand,
  operation,
  output,
  reference,
  subgraphOf,
} from "@nnhal/test-kit/models";
import { type Model, type Operand, OperandType, type OperandTypeName, operandTypes } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AllocationRequest,
  analyseModel,
  capabilitiesIssues,
  extensionIssues,
  type Issue,
  memoryDescIssues,
  minimumVersion,
  modelIssues,
  poolIssues,
  requestIssues,
  rules,
} from "./index.ts";

/** Values that code written in good faith trips over. */
const garbage = fc.oneof(
  fc.anything({
    withBigInt: true,
    withDate: true,
    withMap: true,
    withSparseArray: true,
    withTypedArray: true,
    withNullPrototype: true,
  }),
  fc.constantFrom<unknown>(
    undefined,
    null,
    Number.NaN,
    -0,
    -1,
    0.5,
    2 ** 31,
    2 ** 32 - 1,
    2 ** 32,
    2 ** 53,
    1e308,
    Number.POSITIVE_INFINITY,
    "length",
    "__proto__",
    Symbol("s"),
    Symbol.iterator,
    10n ** 40n,
    () => 0,
    [],
    new Array(2 ** 32 - 1),
    Array(1000).fill(0),
    new Uint32Array(4),
    Object.freeze({}),
    Object.create(null),
  ),
  fc.integer({ min: -2, max: 20 }),
);

/** Every path of a value that a change can go to. */
function pathsOf(value: unknown, at = "", depth = 0): string[] {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value) || depth > 6) return [];
  return Object.entries(value).flatMap(([key, below]) => {
    const path = Array.isArray(value) ? `${at}[${key}]` : `${at}${at === "" ? "" : "."}${key}`;
    return [path, ...pathsOf(below, path, depth + 1)];
  });
}

/** A value with a few places replaced by garbage, later changes also within earlier garbage's neighbours. */
function mangled<T extends object>(whole: T): fc.Arbitrary<T> {
  const change = fc.tuple(fc.constantFrom(...pathsOf(whole)), garbage);
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    let result = whole;
    for (const [path, value] of changes) {
      try {
        result = changed(result, path, value);
      } catch {
        // An earlier change took the place away.
      }
    }
    return result;
  });
}

function isSound({ code, path, message }: Issue): boolean {
  return Object.hasOwn(rules, code) && typeof path === "string" && message.length > 0 && message.length < 1000;
}

/** Asserts only what is wrong: vitest needs more time for an assertion than validation for a small model. */
function expectIssues(issues: readonly Issue[]): void {
  if (issues.length > 32) expect.fail(`${issues.length} issues`);
  const unsound = issues.find((issue) => !isSound(issue));
  if (unsound !== undefined) expect.fail(JSON.stringify(unsound));
}

const mangledModels = fc.oneof(...[controlModel, loopModel, floorModel()].map((model: Model) => mangled(model)));

describe("modelIssues", () => {
  it("does not throw on models with garbage in them", () => {
    fc.assert(
      fc.property(mangledModels, fc.constantFrom("1.0", "1.1", "1.2", "1.3"), (model, version) => {
        const issues = modelIssues(model, { version });
        expectIssues(issues);
        const least = minimumVersion(model);
        if ((issues.length === 0) !== (least !== undefined && least <= version)) {
          expect.fail(`HAL ${version} has ${issues.length} issues, and the minimum is ${least}`);
        }
      }),
      { numRuns: 2000 },
    );
  });

  it("refuses garbage", () => {
    fc.assert(
      fc.property(garbage, (anything) => {
        const { model } = changed({ model: controlModel }, "model", anything);
        const issues = modelIssues(model);
        expectIssues(issues);
        expect(issues.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  it("converts no garbage to text: an array of greatest length would take minutes", () => {
    let conversions = 0;
    const converted = () => {
      conversions++;
      return "0";
    };
    const value = { toString: converted, [Symbol.toPrimitive]: converted };
    const request = { inputs: [], outputs: [], pools: [] };
    for (const base of [controlModel, loopModel]) {
      for (const path of pathsOf(base)) {
        const model = changed(base, path, value);
        expectIssues(modelIssues(model));
        minimumVersion(model);
        requestIssues(request, model);
        expect(conversions, path).toBe(0);
      }
    }
  });

  it("survives objects that throw when they are read", () => {
    const thrower = () => {
      throw new Error("no");
    };
    const proxies = [
      new Proxy({}, { get: thrower }),
      new Proxy([], { get: thrower, getPrototypeOf: thrower, has: thrower, ownKeys: thrower }),
      new Proxy(() => 0, { apply: thrower }),
      Object.defineProperty({}, "kind", { get: thrower }),
      { toString: thrower, valueOf: thrower, [Symbol.toPrimitive]: thrower },
      {
        get length() {
          return thrower();
        },
      },
    ];
    const revocable = Proxy.revocable({}, {});
    revocable.revoke();
    for (const base of [controlModel, loopModel]) {
      for (const path of pathsOf(base)) {
        for (const value of [...proxies, revocable.proxy]) {
          const issues = modelIssues(changed(base, path, value));
          expectIssues(issues);
          expect(issues.length).toBeGreaterThan(0);
        }
      }
    }
  });

  it("survives thrown values that are hostile themselves", () => {
    const worst = new Proxy(
      {},
      {
        getPrototypeOf: () => {
          throw worst;
        },
      },
    );
    const model = Object.defineProperty({ ...controlModel }, "main", {
      get: () => {
        throw worst;
      },
    });
    expect(modelIssues(model).map(({ code }) => code)).toEqual(["structure"]);
  });

  it("survives cycles", () => {
    const model: { referenced: unknown[]; main: unknown } = { ...controlModel, referenced: [] };
    model.referenced.push(model, model.main, model.referenced);
    expectIssues(modelIssues(changed(controlModel, "referenced", model.referenced)));
    expectIssues(modelIssues(changed(controlModel, "main", model)));
  });

  it("gives up on lists of endless holes", () => {
    const endless = new Array(2 ** 32 - 1);
    for (const path of [
      "main.operands",
      "main.operations",
      "main.inputIndexes",
      "main.outputIndexes",
      "main.operations[0].inputs",
      "main.operations[0].outputs",
      "main.operands[0].dimensions",
      "main.operands[2].extraParams.channelQuant.scales",
      "referenced",
      "referenced[0].operands",
      "pools",
      "extensionNameToPrefix",
    ]) {
      const issues = modelIssues(changed(controlModel, path, endless));
      expectIssues(issues);
      expect(issues.length).toBeGreaterThan(0);
    }
  });
});

describe("size", () => {
  it("of a model may be large: 20,000 operations in a row", () => {
    const count = 20_000;
    const operands = [operand(input), ...Array.from({ length: count - 1 }, () => operand()), operand(output)];
    const counted = operands.map((one, index) => ({ ...one, numberOfConsumers: index < count ? 1 : 0 }));
    const operations = Array.from({ length: count }, (_, index) => operation("FLOOR", [index], [index + 1]));
    const model = modelOf({ operands: counted, operations, inputIndexes: [0], outputIndexes: [count] });
    expect(modelIssues(model)).toEqual([]);
    const last = `main.operands[${count}].numberOfConsumers`;
    expect(modelIssues(changed(model, last, 1)).map(({ path }) => path)).toEqual([last]);
  });

  /** Subgraph `index` runs `next` either way. */
  const nested = (next: number) =>
    subgraphOf(
      [
        operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...input }),
        operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...output }),
        reference(next, 0),
      ],
      [operation("IF", [0, 2, 2, 0], [1])],
    );
  const leaf = subgraphOf(
    [
      operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...input }),
      operand({ type: OperandType.TENSOR_BOOL8, dimensions: [1], ...output }),
    ],
    [operation("LOGICAL_NOT", [0], [1])],
  );

  it("of nesting may be large: 10,000 subgraphs deep, each named twice", () => {
    const depth = 10_000;
    const referenced = Array.from({ length: depth }, (_, index) => (index + 1 < depth ? nested(index + 1) : leaf));
    const model = modelOf(nested(0), { referenced });
    expect(modelIssues(model)).toEqual([]);
    const cyclic = changed(model, `referenced[${depth - 1}]`, nested(0));
    expect(modelIssues(cyclic).map(({ code }) => code)).toEqual(["subgraph-cycle"]);
  });

  it("of one operation may be large", () => {
    const count = 50_000;
    const part = operand({ ...input });
    const inputs = Array.from({ length: count }, () => ({ ...part, numberOfConsumers: 1 }));
    const axis = operand({ type: OperandType.INT32, dimensions: [], ...input, numberOfConsumers: 1 });
    const indexes = Array.from({ length: count + 1 }, (_, index) => index);
    const whole = operand({ dimensions: [2 * count], ...output });
    const main = {
      operands: [...inputs, axis, whole],
      operations: [operation("CONCATENATION", indexes, [count + 1])],
      inputIndexes: indexes,
      outputIndexes: [count + 1],
    };
    expect(modelIssues(modelOf(main))).toEqual([]);
    const wrong = modelIssues(changed(modelOf(main), `main.operands[${count}].type`, OperandType.FLOAT32));
    expect(wrong.map(({ code }) => code)).toEqual(["operation-signature"]);
    expectIssues(wrong);
  });
});

describe("shape inference", () => {
  const extents = fc.oneof(
    { weight: 40, arbitrary: fc.integer({ min: 1, max: 4 }) },
    fc.constantFrom(0, 255, 2 ** 16, 2 ** 31, 2 ** 32 - 1),
  );
  const words = fc.oneof(
    fc.integer({ min: -2, max: 5 }),
    fc.constantFrom(2 ** 31 - 1, -(2 ** 31), 0x3f80_0000, 0x7fc0_0000, 0x7f80_0000),
  );
  /** The contents of all constants: each begins somewhere in them. */
  const contents = fc.array(words, { minLength: 24, maxLength: 24 });

  /** What one parameter's operand is made from. */
  const drawn = fc.record({
    shape: fc.oneof(
      { weight: 40, arbitrary: fc.array(extents, { minLength: 1, maxLength: 4 }) },
      fc.array(extents, { maxLength: 6 }),
    ),
    /** Where a constant begins. */
    offset: fc.integer({ min: 0, max: 12 }).map((word) => 4 * word),
    /** Of ten optional operands one has a value. */
    isPresent: fc.integer({ min: 0, max: 9 }).map((number) => number === 0),
  });

  function operandOf(
    param: Param,
    type: OperandTypeName,
    rank: RankRule | undefined,
    { shape, offset, isPresent }: typeof drawn extends fc.Arbitrary<infer Drawn> ? Drawn : never,
  ): Operand {
    const { code, kind, elementSize, quantisation } = operandTypes[type];
    const [least, greatest] = typeof rank === "number" ? [rank, rank] : (rank ?? [0, 6]);
    const dimensions = kind === "tensor" ? [...shape, 1, 1, 1, 1].slice(0, clamp(shape.length, least, greatest)) : [];
    const length = elementCount(dimensions) * elementSize;
    const fits = (kind !== "tensor" || dimensions.length > 0) && length > 0 && offset + length <= 4 * 24;
    const isConstant = fits && (kind !== "tensor" || param.read || param.omittable);
    const { lifetime, location } = constant("INT32", offset, length);
    const channelQuant = { channelDim: 0, scales: new Array<number>(Math.min(dimensions[0] ?? 0, 8)).fill(1) };
    return operand({
      type: code,
      dimensions,
      scale: quantisation === "none" || quantisation === "perChannel" ? 0 : 1,
      extraParams: quantisation === "perChannel" ? { kind: "channelQuant", channelQuant } : { kind: "none" },
      ...(isConstant ? { lifetime, location } : input),
      ...(param.omittable && !isPresent && { ...omitted, location: operand().location }),
    });
  }

  it.each(
    operations.filter(({ controlFlow }) => !controlFlow).map((definition) => [definition.name, definition] as const),
  )("of %s ends in issues, whatever the shapes and constants are", (_, { code, forms, ranks }) => {
    let reached = 0;
    for (const form of forms) {
      const types = typesOfRow(form, elementAt(form.types, 0));
      const count = form.params.length + form.outputs.length;
      const operands = fc.array(drawn, { minLength: count, maxLength: count });
      fc.assert(
        fc.property(operands, contents, (draws, words) => {
          const inputs = form.params.map((param, at) =>
            operandOf(
              param,
              halTypeName(types.get(param) ?? "TENSOR_FLOAT32"),
              ranks[param.name],
              elementAt(draws, at),
            ),
          );
          const outputs = form.outputs.map((param, at) => ({
            ...operandOf(
              { name: "", kind: "tensor" },
              halTypeName(types.get(param) ?? "TENSOR_FLOAT32"),
              undefined,
              elementAt(draws, form.params.length + at),
            ),
            location: operand().location,
            ...output,
          }));
          const indexes = [...inputs.keys(), ...outputs.map((_, at) => inputs.length + at)];
          const one = { type: code, inputs: indexes.slice(0, inputs.length), outputs: indexes.slice(inputs.length) };
          const operandValues = new Uint8Array(Int32Array.from(words).buffer);
          const { issues } = analyseModel(modelOf(subgraphOf([...inputs, ...outputs], [one]), { operandValues }));
          expectIssues(issues);
          const unclear = issues.find(({ message }) => message.includes("cannot be"));
          if (unclear !== undefined) expect.fail(unclear.message);
          // Beyond the signature: the model is valid, or its shapes or a rule of the operation are at fault.
          const isReached = issues.length === 0 || issues.some(({ code }) => /-shape$|^operation-rule$/.test(code));
          if (isReached) reached++;
        }),
        // The seed makes sure that some of the models get so far, for every operation.
        { numRuns: 200, seed: 11 },
      );
    }
    expect(reached).toBeGreaterThan(0);
  });

  it("survives outputs without end: SPLIT into 200,000", () => {
    const count = 200_000;
    const part = operand({ dimensions: [1], ...output });
    const outputs = Array.from({ length: count }, () => part);
    const operandValues = new Uint8Array(Int32Array.of(0, count).buffer);
    const operands = [operand({ dimensions: [count], ...input }), constant("INT32", 0, 4), constant("INT32", 4, 4)];
    const indexes = outputs.map((_, index) => index + 3);
    const split = modelOf(subgraphOf([...operands, ...outputs], [operation("SPLIT", [0, 1, 2], indexes)]), {
      operandValues,
    });
    expect(modelIssues(split)).toEqual([]);
  });

  it("writes short messages of shapes with many axes", () => {
    const long = new Array<number>(100_000).fill(1);
    const model = changed(floorModel({ dimensions: [2] }), "main.operands[1].dimensions", long);
    const issues = modelIssues(model);
    expectIssues(issues);
    expect(issues[0]?.code).toBe("output-shape");
  });
});

describe("the other validators", () => {
  const location = { poolIndex: 0, offset: 0, length: 8 };
  const handle = { kind: "buffer", buffer: new ArrayBuffer(8), byteOffset: 0 } as const;
  const memory = { name: "ashmem", size: 8, handle } as const;
  const argument = { hasNoValue: false, location, dimensions: [2] };
  const request = {
    inputs: [argument],
    outputs: [argument],
    pools: [
      { kind: "memory", memory },
      { kind: "token", token: 1 },
    ],
  } as const;
  const performance = { execTime: 1, powerUsage: 1 };
  const capabilities = {
    relaxedFloat32toFloat16PerformanceScalar: performance,
    relaxedFloat32toFloat16PerformanceTensor: performance,
    ifPerformance: performance,
    whilePerformance: performance,
    operandPerformance: [{ type: 0, info: performance }],
  };
  const extensions = [{ name: "com.example", operandTypes: [{ type: 1, isTensor: true, byteSize: 1 }] }];
  const allocation: AllocationRequest = {
    desc: { dimensions: [2] },
    preparedModels: [{ model: floorModel() }],
    inputRoles: [{ modelIndex: 0, ioIndex: 0, frequency: 1 }],
    outputRoles: [{ modelIndex: 0, ioIndex: 0, frequency: 1 }],
  };

  it("accept the values that are then mangled", () => {
    expect(requestIssues(request, floorModel())).toEqual([]);
    expect(capabilitiesIssues(capabilities)).toEqual([]);
    expect(extensionIssues(extensions)).toEqual([]);
    expect(memoryDescIssues(allocation)).toEqual([]);
    expect(poolIssues(memory)).toEqual([]);
  });

  it("do not throw on garbage", () => {
    const model = mangled(floorModel());
    fc.assert(
      fc.property(mangled(request), (value) => expectIssues(requestIssues(value, floorModel()))),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(mangled(request), model, (value, other) => expectIssues(requestIssues(value, other))),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(mangled(capabilities), (value) => expectIssues(capabilitiesIssues(value))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(mangled(extensions), (value) => expectIssues(extensionIssues(value))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(mangled(allocation), (value) => expectIssues(memoryDescIssues(value))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(mangled(memory), (value) => expectIssues(poolIssues(value))),
      { numRuns: 500 },
    );
  });
});
