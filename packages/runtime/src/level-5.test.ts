/**
 * The other functions of feature level 5 and those of level 8: padding, preferred layouts, attributes of extensions, levels.
 */
import type { Device, Hints, PreparedModel, Request } from "@nnhal/types";
import { beforeAll, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { Execution } from "./execution.ts";
import { addCompilationAttribute, addExecutionAttribute } from "./extension-attributes.ts";
import { code, withPrepared } from "./fakes.test-helper.ts";
import { getRuntimeFeatureLevel } from "./feature-level.ts";
import { Memory } from "./memory.ts";
import { addModel, compile, float32, openReference } from "./models.test-helper.ts";
import {
  getPreferredMemoryAlignmentForInput,
  getPreferredMemoryAlignmentForOutput,
  getPreferredMemoryPaddingForInput,
  getPreferredMemoryPaddingForOutput,
} from "./preferred-layout.ts";

let device: Device;
beforeAll(async () => {
  device = await openReference();
});

/** The reference, and the requests that it receives. */
function watchRequests() {
  const requests: Request[] = [];
  const watched = withPrepared(
    device,
    (own): Partial<PreparedModel> => ({
      execute(request, options) {
        requests.push(request);
        return own.execute(request, options);
      },
    }),
  );
  return { watched, requests };
}

describe("enableInputAndOutputPadding", () => {
  it("makes the rest of a longer place padding", async () => {
    const { watched, requests } = watchRequests();
    const execution = new Execution(await compile(addModel(), [watched]));
    execution.enableInputAndOutputPadding(true);
    const memory = Memory.allocate(64);
    const output = new Float32Array(4).fill(7);
    const left = new Float32Array(memory.map().buffer, 0, 2);
    left.set([1, 2]);
    execution.setInputFromMemory(0, memory, { offset: 0, length: 64 });
    execution.setInput(1, Float32Array.of(10, 20));
    execution.setOutput(0, output);
    await execution.compute();
    expect([...output]).toEqual([11, 22, 7, 7]);
    const [first, second] = requests[0]?.inputs.map(({ location }) => location) ?? [];
    expect(first).toEqual({ poolIndex: 0, offset: 0, length: 8, padding: 56 });
    expect(second).toEqual({ poolIndex: 1, offset: 0, length: 8 });
    expect(requests[0]?.outputs[0]?.location).toEqual({ poolIndex: 2, offset: 0, length: 8, padding: 8 });
  });

  it.each([
    [false, 7, "BAD_DATA"],
    [false, 8, undefined],
    [false, 9, "BAD_DATA"],
    [true, 7, "BAD_DATA"],
    [true, 8, undefined],
    [true, 9, undefined],
  ] as const)("%s: a place of %d bytes for 8 is %s", async (enable, length, expected) => {
    const execution = new Execution(await compile(addModel(), [device]));
    execution.enableInputAndOutputPadding(enable);
    const memory = Memory.allocate(16);
    for (const set of [
      () => execution.setInput(0, new Uint8Array(length)),
      () => execution.setInputFromMemory(1, memory, { offset: 0, length }),
      () => execution.setOutput(0, new Uint8Array(length)),
    ]) {
      if (expected === undefined) expect(set).not.toThrow();
      else expect(set).toThrow(code(expected));
    }
  });

  it("leaves all of a place to an output of unknown size", async () => {
    const { watched, requests } = watchRequests();
    const execution = new Execution(await compile(addModel(float32(0)), [watched]));
    execution.enableInputAndOutputPadding(true);
    execution.setInput(0, Float32Array.of(1, 2), [2]);
    execution.setInput(1, Float32Array.of(10, 20), [2]);
    execution.setOutput(0, new Float32Array(16));
    await execution.compute();
    expect(requests[0]?.outputs[0]?.location).toEqual({ poolIndex: 2, offset: 0, length: 64 });
  });

  it("is BAD_STATE once an argument is set, also one that is refused afterwards, and once the execution has started", async () => {
    const compilation = await compile(addModel(), [device]);
    const execution = new Execution(compilation);
    expect(() => execution.setInput(0, new Float32Array(3))).toThrow(code("BAD_DATA"));
    execution.enableInputAndOutputPadding(true);
    execution.setInput(0, new Float32Array(3));
    expect(() => execution.enableInputAndOutputPadding(false)).toThrow(code("BAD_STATE"));
    execution.setInput(1, new Float32Array(2));
    execution.setOutput(0, new Float32Array(2));
    await execution.compute();
    expect(() => execution.enableInputAndOutputPadding(false)).toThrow(code("BAD_STATE"));
  });
});

describe("the preferred layout", () => {
  const queries = [
    getPreferredMemoryAlignmentForInput,
    getPreferredMemoryPaddingForInput,
    getPreferredMemoryAlignmentForOutput,
    getPreferredMemoryPaddingForOutput,
  ];

  it.each([
    ["1.3", [64, 1, 64, 1]],
    ["aidl1", [64, 64, 64, 64]],
    ["aidl4", [64, 64, 64, 64]],
  ] as const)("of a device of HAL %s is %j", async (halVersion, expected) => {
    const compilation = await compile(addModel(), [{ ...device, halVersion }]);
    expect(queries.map((query) => query(compilation, 0))).toEqual(expected);
  });

  it("is BAD_STATE before the end of finish, BAD_DATA for an index that does not exist, UNEXPECTED_NULL without a compilation", async () => {
    const compilation = new Compilation(addModel(), [device]);
    for (const query of queries) expect(() => query(compilation, 0)).toThrow(code("BAD_STATE"));
    await compilation.finish();
    for (const index of [-1, 0.5, 2]) {
      for (const query of queries) expect(() => query(compilation, index)).toThrow(code("BAD_DATA"));
    }
    expect(getPreferredMemoryAlignmentForInput(compilation, 1)).toBe(64);
    expect(() => getPreferredMemoryAlignmentForOutput(compilation, 1)).toThrow(code("BAD_DATA"));
    // A caller without types.
    const nothing = null as unknown as Compilation;
    for (const query of queries) expect(() => query(nothing, 0)).toThrow(code("UNEXPECTED_NULL"));
  });
});

describe("attributes of extensions", () => {
  const described = { operandTypes: [] };
  const data = Uint8Array.of(1, 2);

  /** The reference with two extensions, and the hints that it receives. */
  function takeHints() {
    const hints: { prepared?: Hints | undefined; executed: (Hints | undefined)[] } = { executed: [] };
    const { prepareModel } = withPrepared(
      device,
      (own) => ({
        execute(request, options) {
          hints.executed.push(options?.hints);
          return own.execute(request, options);
        },
      }),
      "createReusableExecution",
    );
    const hinted: Device = {
      ...device,
      getSupportedExtensions: () => ({
        status: 0,
        extensions: [
          { name: "com.example.one", ...described },
          { name: "com.example.two", ...described },
        ],
      }),
      prepareModel(model, options) {
        hints.prepared = options?.hints;
        return prepareModel(model, options);
      },
    };
    return { hints, hinted };
  }

  it("reach the device as hints, copied, with a prefix for each extension", async () => {
    const { hints, hinted } = takeHints();
    const compilation = new Compilation(addModel(), [hinted]);
    const value = Uint8Array.of(1, 2);
    addCompilationAttribute(compilation, { extensionName: "com.example.two", code: 0, data: value });
    addCompilationAttribute(compilation, { extensionName: "com.example.one", code: 0, data: value });
    addCompilationAttribute(compilation, { extensionName: "com.example.two", code: 65535, data: new Uint8Array(0) });
    value.fill(9);
    await compilation.finish();
    expect(hints.prepared).toEqual({
      pairs: [
        { token: 0x10000, value: Uint8Array.of(1, 2) },
        { token: 0x20000, value: Uint8Array.of(1, 2) },
        { token: 0x1ffff, value: new Uint8Array(0) },
      ],
      extensionNameToPrefix: [
        { name: "com.example.two", prefix: 1 },
        { name: "com.example.one", prefix: 2 },
      ],
    });
    const execution = new Execution(compilation);
    execution.setInput(0, Float32Array.of(1, 2));
    execution.setInput(1, Float32Array.of(10, 20));
    execution.setOutput(0, new Float32Array(2));
    execution.setReusable(true);
    addExecutionAttribute(execution, { extensionName: "com.example.one", code: 3, data });
    await execution.compute();
    await execution.compute();
    const expected = {
      pairs: [{ token: 0x10003, value: data }],
      extensionNameToPrefix: [{ name: "com.example.one", prefix: 1 }],
    };
    expect(hints.executed).toEqual([expected, expected]);
  });

  it("are refused as the NDK refuses them, of a compilation", async () => {
    const { hinted } = takeHints();
    const good = { extensionName: "com.example.one", code: 1, data };
    const two = new Compilation(addModel(), [hinted, { ...device, name: "another" }]);
    expect(() => addCompilationAttribute(two, good)).toThrow(code("BAD_DATA"));
    const withCpu = new Compilation(addModel(), [hinted], { cpu: hinted });
    expect(() => addCompilationAttribute(withCpu, good)).toThrow(code("BAD_DATA"));
    const compilation = new Compilation(addModel(), [hinted]);
    for (const flaw of [
      { code: -1 },
      { code: 65536 },
      { code: 0.5 },
      { data: [1] as unknown as Uint8Array },
      { extensionName: "com.example.three" },
      { extensionName: 5 as unknown as string },
    ]) {
      expect(() => addCompilationAttribute(compilation, { ...good, ...flaw })).toThrow(code("BAD_DATA"));
    }
    for (const missing of [{ extensionName: null }, { data: null }]) {
      // A caller without types.
      const attribute = { ...good, ...missing } as unknown as typeof good;
      expect(() => addCompilationAttribute(compilation, attribute)).toThrow(code("UNEXPECTED_NULL"));
    }
    addCompilationAttribute(compilation, good);
    expect(() => addCompilationAttribute(compilation, good)).toThrow(code("BAD_DATA"));
    addCompilationAttribute(compilation, { ...good, code: 2 });
    addCompilationAttribute(compilation, { ...good, extensionName: "com.example.two" });
    await compilation.finish();
    expect(() => addCompilationAttribute(compilation, { ...good, code: 4 })).toThrow(code("BAD_STATE"));
  });

  it("are refused as the NDK refuses them, of an execution", async () => {
    const { hinted } = takeHints();
    const good = { extensionName: "com.example.one", code: 1, data };
    const compilation = await compile(addModel(), [hinted]);
    const execution = new Execution(compilation);
    addExecutionAttribute(execution, good);
    expect(() => addExecutionAttribute(execution, good)).toThrow(code("BAD_DATA"));
    expect(() => addExecutionAttribute(execution, { ...good, extensionName: "x.y" })).toThrow(code("BAD_DATA"));
    execution.close();
    expect(() => addExecutionAttribute(execution, { ...good, code: 2 })).toThrow(code("BAD_STATE"));
    const withCpu = new Compilation(addModel(), [hinted], { cpu: hinted });
    await withCpu.finish();
    const fallible = new Execution(withCpu);
    fallible.close();
    // The test of the devices comes before that of the state.
    expect(() => addExecutionAttribute(fallible, good)).toThrow(code("BAD_DATA"));
  });
});

describe("getRuntimeFeatureLevel", () => {
  it("is that of AIDL 4", () => {
    expect(getRuntimeFeatureLevel()).toBe(1_000_008);
  });
});
