import type { ExtensionDefinition } from "@nnhal/operations";
import { defineExtension, defineOperation, tensor as tensorParam } from "@nnhal/operations/authoring";
import { type Memory, type Model, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { sealModel } from "./sealed-model.ts";

const tensor = {
  type: OperandType.TENSOR_FLOAT32,
  dimensions: [2],
  numberOfConsumers: 1,
  scale: 0,
  zeroPoint: 0,
  lifetime: OperandLifeTime.SUBGRAPH_INPUT,
  location: { poolIndex: 0, offset: 0, length: 0 },
  extraParams: { kind: "none" },
} as const;

/** `output = input + constant`, without an activation function; the constant lies in a pool. */
function addModel() {
  const memory: Memory = {
    name: "ashmem",
    size: 8,
    handle: { kind: "buffer", buffer: new ArrayBuffer(8), byteOffset: 0 },
  };
  const { CONSTANT_REFERENCE, CONSTANT_COPY, SUBGRAPH_OUTPUT } = OperandLifeTime;
  const operands = [
    { ...tensor, dimensions: [2] },
    { ...tensor, lifetime: CONSTANT_REFERENCE, location: { poolIndex: 0, offset: 0, length: 8 } },
    {
      ...tensor,
      type: OperandType.INT32,
      dimensions: [],
      lifetime: CONSTANT_COPY,
      location: { ...tensor.location, length: 4 },
    },
    { ...tensor, lifetime: SUBGRAPH_OUTPUT, numberOfConsumers: 0 },
  ];
  const operations = [{ type: OperationType.ADD, inputs: [0, 1, 2], outputs: [3] }];
  return {
    main: { operands, operations, inputIndexes: [0], outputIndexes: [3] },
    referenced: [],
    operandValues: new Uint8Array(4),
    pools: [memory],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

function seal(model: Model, extensions?: readonly ExtensionDefinition[]) {
  const result = sealModel(model, { extensions });
  if ("issues" in result) throw new Error(result.issues.map(({ message }) => message).join("; "));
  return result;
}

function issuesOf(model: unknown) {
  // A model may be anything.
  const result = sealModel(model as Model);
  return "issues" in result ? result.issues : [];
}

/** An extension whose operation counts how often a model with it is validated. */
function countingExtension() {
  const counter = { count: 0 };
  const twice = defineOperation({
    name: "TWICE",
    code: 3,
    summary: "Doubles.",
    params: [tensorParam("input")],
    outputs: [tensorParam("output")],
    types: [["1.2", "TENSOR_FLOAT32", "TENSOR_FLOAT32"]],
    check() {
      counter.count++;
      return undefined;
    },
  });
  return { counter, extensions: [defineExtension({ name: "com.example.twice", operations: [twice] })] };
}

/** A model that computes TWICE. */
function twiceModel(): Model {
  const { main, ...rest } = addModel();
  const operations = [{ type: 0x5_0003, inputs: [0], outputs: [3] }];
  const operands = main.operands.map((operand, index) => ({ ...operand, numberOfConsumers: index === 0 ? 1 : 0 }));
  return {
    ...rest,
    main: { ...main, operands, operations },
    extensionNameToPrefix: [{ name: "com.example.twice", prefix: 5 }],
  };
}

function expectFrozen(value: unknown): void {
  if (typeof value !== "object" || value === null || ArrayBuffer.isView(value)) return;
  expect(Object.isFrozen(value)).toBe(true);
  Object.values(value).forEach(expectFrozen);
}

describe("a sealed model", () => {
  it("is a frozen copy that refers to the same memories and bytes", () => {
    const given = addModel();
    const { model, poolSizes } = seal(given);
    expect(model).toEqual(given);
    expect(model).not.toBe(given);
    const { pools, ...others } = model;
    expect(Object.isFrozen(model) && Object.isFrozen(pools)).toBe(true);
    Object.values(others).forEach(expectFrozen);
    expect(pools[0]).toBe(given.pools[0]);
    expect(model.operandValues).toBe(given.operandValues);
    expect(poolSizes).toEqual([8]);
  });

  it("does not change with the model that it was made from", () => {
    const given = addModel();
    const { model } = seal(given);
    given.main.operands.length = 0;
    given.main.inputIndexes.push(7);
    expect(model).toEqual(addModel());
  });

  it("has the match of each operation", () => {
    const { model, matches } = seal(addModel());
    const [add] = model.main.operations;
    expect(matches.size).toBe(1);
    expect(add && matches.get(add)).toMatchObject({
      row: ["1.0", "TENSOR_FLOAT32", "TENSOR_FLOAT32", "TENSOR_FLOAT32"],
    });
  });

  it("is returned as it is when it is sealed again, and not validated", () => {
    const { counter, extensions } = countingExtension();
    const first = seal(twiceModel(), extensions);
    expect(counter.count).toBe(1);
    expect(seal(first.model, extensions)).toBe(first);
    expect(counter.count).toBe(1);
  });

  it("is validated again with the extensions that it uses, and not copied", () => {
    const { counter, extensions } = countingExtension();
    const first = seal(twiceModel());
    expect([counter.count, first.matches.size]).toEqual([0, 0]);
    const second = seal(first.model, extensions);
    expect([counter.count, second.matches.size]).toEqual([1, 1]);
    expect(second.model).toBe(first.model);
    expect(seal(first.model)).toBe(first);
    const without = seal(first.model, [defineExtension({ name: "com.example.twice" })]);
    expect([without.model === first.model, without.matches.size]).toEqual([true, 0]);
  });

  it("is not validated again with extensions that it does not use", () => {
    const first = seal(addModel());
    expect(seal(first.model, countingExtension().extensions)).toBe(first);
  });

  it("is validated again if its values have been transferred", () => {
    const { model } = seal(addModel());
    structuredClone(model.operandValues, { transfer: [model.operandValues.buffer as ArrayBuffer] });
    expect(issuesOf(model)[0]?.code).toBe("constant-copy-range");
  });
});

describe("nothing but a sealed model passes as one:", () => {
  const { model } = seal(addModel());
  const wrong = { ...model.main, inputIndexes: [1] };
  it.each<[string, object]>([
    ["a copy with a change", { ...model, main: wrong }],
    ["a frozen copy with a change", Object.freeze({ ...model, main: Object.freeze(wrong) })],
    ["an object that inherits from one", Object.create(model, { main: { value: wrong, enumerable: true } })],
    [
      "a proxy of one",
      new Proxy({ ...model }, { get: (target, key) => (key === "main" ? wrong : Reflect.get(target, key)) }),
    ],
  ])("%s is validated", (_what, forged) => {
    expect(issuesOf(forged)[0]?.code).toBe("boundary-lifetime");
  });
});

describe("a model that cannot be sealed", () => {
  const throwing = new Proxy(
    {},
    {
      get: () => {
        throw new Error("planted");
      },
    },
  );
  const endless = new Proxy([], { get: (_, key) => (key === "length" ? 2 ** 31 : tensor) });
  it.each<[string, unknown, string]>([
    ["null", null, "the model is null"],
    ["a text", "model", 'the model is "model"'],
    ["an object that throws", throwing, "planted"],
    ["a model without operations", { ...addModel(), main: { ...addModel().main, operations: [] } }, "no operations"],
    ["a model with a list without end", { ...addModel(), pools: endless }, "pools has 2147483648 elements"],
    ["a model with a memory that throws", { ...addModel(), pools: [throwing] }, "planted"],
  ])("is %s", (_what, model, message) => {
    expect(
      issuesOf(model)
        .map((issue) => issue.message)
        .join("; "),
    ).toContain(message);
  });

  it("is one that is sound only the second time it is read", () => {
    let reads = 0;
    const given = Object.defineProperty(addModel(), "main", { get: () => (reads++ === 0 ? null : addModel().main) });
    expect(issuesOf(given)[0]?.message).toContain("reading it failed");
  });
});
