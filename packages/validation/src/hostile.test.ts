/**
 * Hostile input: validation reports issues, never throws, and ends in bounded time.
 */
import { changePart, controlModel, floorModel, listRules, loopModel } from "@nnhal/test-kit/models";
import type { Model } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { expectIssues } from "./hostile.test-helper.ts";
import {
  type AllocationRequest,
  capabilitiesIssues,
  extensionIssues,
  memoryDescIssues,
  minimumVersion,
  modelIssues,
  poolIssues,
  requestIssues,
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
function mangle<T extends object>(whole: T): fc.Arbitrary<T> {
  const change = fc.tuple(fc.constantFrom(...pathsOf(whole)), garbage);
  return fc.array(change, { minLength: 1, maxLength: 4 }).map((changes) => {
    let result = whole;
    for (const [path, value] of changes) {
      try {
        result = changePart(result, path, value);
      } catch {
        // An earlier change took the place away.
      }
    }
    return result;
  });
}

const mangledModels = fc.oneof(...[controlModel, loopModel, floorModel()].map((model: Model) => mangle(model)));

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
        const { model } = changePart({ model: controlModel }, "model", anything);
        const issues = modelIssues(model);
        expectIssues(issues);
        expect(issues.length).toBeGreaterThan(0);
      }),
      { numRuns: 500 },
    );
  });

  it("converts no garbage to text: an array of greatest length would take minutes", () => {
    let conversions = 0;
    const convert = () => {
      conversions++;
      return "0";
    };
    const value = { toString: convert, [Symbol.toPrimitive]: convert };
    const request = { inputs: [], outputs: [], pools: [] };
    for (const base of [controlModel, loopModel]) {
      for (const path of pathsOf(base)) {
        const model = changePart(base, path, value);
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
          const issues = modelIssues(changePart(base, path, value));
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
    expectIssues(modelIssues(changePart(controlModel, "referenced", model.referenced)));
    expectIssues(modelIssues(changePart(controlModel, "main", model)));
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
      const issues = modelIssues(changePart(controlModel, path, endless));
      expectIssues(issues);
      expect(issues.length).toBeGreaterThan(0);
    }
  });

  it("does not read the endless operands of a subgraph that another field has refused", () => {
    const endless = changePart(controlModel, "referenced[1].operands", new Array(2 ** 32 - 1));
    const issues = modelIssues(changePart(endless, "referenced[1].inputIndexes", 10));
    expect(listRules(issues)).toContain("structure referenced[1].inputIndexes");
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
    const model = mangle(floorModel());
    fc.assert(
      fc.property(mangle(request), (value) => expectIssues(requestIssues(value, floorModel()))),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(mangle(request), model, (value, other) => expectIssues(requestIssues(value, other))),
      { numRuns: 1000 },
    );
    fc.assert(
      fc.property(mangle(capabilities), (value) => expectIssues(capabilitiesIssues(value))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(mangle(extensions), (value) => expectIssues(extensionIssues(value))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(mangle(allocation), (value) => expectIssues(memoryDescIssues(value))),
      { numRuns: 500 },
    );
    fc.assert(
      fc.property(mangle(memory), (value) => expectIssues(poolIssues(value))),
      { numRuns: 500 },
    );
  });
});
