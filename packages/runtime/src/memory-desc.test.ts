import { collectUntil } from "@nnhal/test-kit/garbage";
import {
  type AllocateResult,
  type BufferDesc,
  type BufferRole,
  type Device,
  ErrorStatus,
  type PreparedModel,
} from "@nnhal/types";
import { beforeAll, beforeEach, describe, expect, it } from "vitest";
import { Compilation } from "./compilation.ts";
import { addFrom, addInto, read, state } from "./described-memory.test-helper.ts";
import { Execution } from "./execution.ts";
import { code } from "./fakes.test-helper.ts";
import { Memory } from "./memory.ts";
import { MemoryDesc } from "./memory-desc.ts";
import { addModel, compile, float32, openReference, operationModel } from "./models.test-helper.ts";

const missing = JSON.parse("null");
let reference: Device;
let compilation: Compilation;
beforeAll(async () => {
  reference = await openReference();
});
beforeEach(async () => {
  compilation = await compile(addModel(), [reference]);
});

/** A device that records its allocations, and can answer otherwise. */
function makeAllocating(asked: unknown[][], answer?: AllocateResult, made: (PreparedModel | null)[] = []): Device {
  return {
    ...reference,
    name: "allocating",
    async prepareModel(...request) {
      const result = await reference.prepareModel(...request);
      made.push(result.preparedModel);
      return result;
    },
    async allocate(...request) {
      asked.push(request);
      return answer ?? (await reference.allocate?.(...request)) ?? Promise.reject(new Error("no allocate"));
    },
  };
}

describe("MemoryDesc", () => {
  it("lets a device hold the value of its roles", async () => {
    const asked: unknown[][] = [];
    const made: (PreparedModel | null)[] = [];
    const own = await compile(addModel(), [makeAllocating(asked, undefined, made)]);
    const memory = await Memory.createFromDesc(state(own));
    const input: BufferRole = { modelIndex: 0, ioIndex: 0, frequency: 1 };
    expect(asked).toEqual([[{ dimensions: [2] } satisfies BufferDesc, [made[0]], [input], [input]]]);
    await addInto(memory, [1, 2], own);
    expect(await addFrom(memory, own)).toEqual([1, 2]);
    expect(() => memory.map()).toThrow(code("UNMAPPABLE"));
    expect(memory.size).toBe(0);
    memory.close();
  });

  it("has roles of several compilations, each with its frequency, and dimensions of its own", async () => {
    const asked: unknown[][] = [];
    const made: (PreparedModel | null)[] = [];
    const device = makeAllocating(asked, undefined, made);
    const first = await compile(addModel(float32(0), float32(0), float32(0)), [device]);
    const second = await compile(addModel(float32(0), float32(0), float32(0)), [device]);
    const desc = new MemoryDesc();
    desc.addOutputRole(first, 0, 0.5);
    desc.addInputRole(second, 1, 0.25);
    desc.setDimensions([2]);
    desc.finish();
    const memory = await Memory.createFromDesc(desc);
    expect(asked).toEqual([
      [
        { dimensions: [2] },
        made,
        [{ modelIndex: 1, ioIndex: 1, frequency: 0.25 }],
        [{ modelIndex: 0, ioIndex: 0, frequency: 0.5 }],
      ],
    ]);
    const execution = new Execution(second);
    expect(() => execution.setInputFromMemory(1, memory, { dimensions: [3] })).toThrow(code("BAD_DATA"));
    execution.setInputFromMemory(1, memory, { dimensions: [2] });
  });

  it("makes as many memories as are asked for", async () => {
    const desc = state(compilation);
    const [a, b] = [await Memory.createFromDesc(desc), await Memory.createFromDesc(desc)];
    await addInto(a, [1, 2], compilation);
    await addInto(b, [3, 4], compilation);
    expect([await read(a), await read(b)]).toEqual([
      [1, 2],
      [3, 4],
    ]);
  });

  it("frees the device's buffer when the memory is closed or collected", async () => {
    let closed = 0;
    const device: Device = {
      ...reference,
      async allocate(...request) {
        const result = await (reference.allocate?.(...request) ?? Promise.reject(new Error("no allocate")));
        const { buffer } = result;
        return buffer === null ? result : { ...result, buffer: { ...buffer, close: () => closed++ } };
      },
    };
    const own = await compile(addModel(), [device]);
    (await Memory.createFromDesc(state(own))).close();
    expect(closed).toBe(1);
    await (async () => Memory.createFromDesc(state(own)))();
    await collectUntil(() => closed === 2);
    expect(closed).toBe(2);
  });

  describe("refuses", () => {
    it("anything after finish, and to finish without a role", () => {
      const desc = state(compilation);
      expect(() => desc.addInputRole(compilation, 1)).toThrow(code("BAD_STATE"));
      expect(() => desc.addOutputRole(compilation, 0)).toThrow(code("BAD_STATE"));
      expect(() => desc.setDimensions([2])).toThrow(code("BAD_STATE"));
      expect(() => desc.finish()).toThrow(code("BAD_STATE"));
      const empty = new MemoryDesc();
      expect(() => empty.finish()).toThrow(code("BAD_DATA"));
      empty.addInputRole(compilation, 0);
      expect(() => empty.finish()).not.toThrow();
    });

    it("compilations that are missing, not finished, failed or closed", async () => {
      const desc = new MemoryDesc();
      const open = new Compilation(addModel(), [reference]);
      const failed = new Compilation(addModel(), [
        { ...reference, prepareModel: async () => ({ status: ErrorStatus.GENERAL_FAILURE, preparedModel: null }) },
      ]);
      await expect(failed.finish()).rejects.toThrow(code("OP_FAILED"));
      for (const one of [open, failed]) {
        expect(() => desc.addInputRole(one, 0)).toThrow(code("BAD_DATA"));
        expect(() => desc.addOutputRole(one, 0)).toThrow(code("BAD_DATA"));
      }
      compilation.close();
      expect(() => desc.addInputRole(compilation, 0)).toThrow(code("BAD_DATA"));
      expect(() => desc.addInputRole(missing, 0)).toThrow(code("UNEXPECTED_NULL"));
      expect(() => desc.addOutputRole(missing, 0)).toThrow(code("UNEXPECTED_NULL"));
    });

    it("indexes that do not exist, and roles twice", () => {
      const desc = new MemoryDesc();
      for (const index of [-1, 2, 0.5]) expect(() => desc.addInputRole(compilation, index)).toThrow(code("BAD_DATA"));
      expect(() => desc.addOutputRole(compilation, 1)).toThrow(code("BAD_DATA"));
      desc.addInputRole(compilation, 0);
      expect(() => desc.addInputRole(compilation, 0)).toThrow("input 0 of this compilation is a role already");
      desc.addInputRole(compilation, 1);
      desc.addOutputRole(compilation, 0);
      expect(() => desc.addOutputRole(compilation, 0)).toThrow(code("BAD_DATA"));
    });

    it.each([0, -0.5, 1.01, Number.NaN])("a frequency of %s", (frequency) => {
      const desc = new MemoryDesc();
      expect(() => desc.addInputRole(compilation, 0, frequency)).toThrow(code("BAD_DATA"));
      desc.addInputRole(compilation, 0, 1);
      desc.addInputRole(compilation, 1, 0.01);
    });

    it("roles of other types, quantisation or dimensions than those before", async () => {
      const quantise = (scale: number, zeroPoint: number) => {
        const operand = { type: "TENSOR_QUANT8_ASYMM", dimensions: [2], scale, zeroPoint } as const;
        return compile(addModel(operand), [reference]);
      };
      const desc = new MemoryDesc();
      desc.addInputRole(await quantise(0.5, 1), 0);
      expect(() => desc.addInputRole(compilation, 0)).toThrow(code("BAD_DATA"));
      const [scale, zeroPoint] = [await quantise(0.25, 1), await quantise(0.5, 2)];
      expect(() => desc.addInputRole(scale, 0)).toThrow(code("BAD_DATA"));
      expect(() => desc.addInputRole(zeroPoint, 0)).toThrow(code("BAD_DATA"));
      const longer = await compile(addModel(float32(3)), [reference]);
      const floats = new MemoryDesc();
      floats.addInputRole(compilation, 0);
      expect(() => floats.addInputRole(longer, 0)).toThrow("the dimensions [3] contradict those known so far, [2]");
      // The refused call has changed nothing.
      floats.finish();
      await Memory.createFromDesc(floats);
    });

    it("dimensions that contradict the roles, and any for a scalar", async () => {
      const desc = new MemoryDesc();
      desc.setDimensions([0]);
      desc.addInputRole(compilation, 0);
      for (const dimensions of [[3], [1, 2]]) expect(() => desc.setDimensions(dimensions)).toThrow(code("BAD_DATA"));
      for (const dimensions of [[-1], [0.5], [2 ** 32]]) {
        expect(() => desc.setDimensions(dimensions)).toThrow(code("BAD_DATA"));
      }
      expect(() => desc.setDimensions(missing)).toThrow(code("UNEXPECTED_NULL"));
      desc.setDimensions([2]);
      desc.setDimensions([]);
      const scalars = await compile(
        operationModel("FILL", [{ type: "TENSOR_INT32", dimensions: [1] }, { type: "FLOAT32" }], [], [float32(0)]),
        [reference],
      );
      const scalar = new MemoryDesc();
      scalar.addInputRole(scalars, 1);
      expect(() => scalar.setDimensions([1])).toThrow("none, for a scalar");
      scalar.setDimensions([]);
      const sized = new MemoryDesc();
      sized.setDimensions([1]);
      expect(() => sized.addInputRole(scalars, 1)).toThrow(code("BAD_DATA"));
    });
  });
});

describe("Memory.createFromDesc", () => {
  it("refuses a descriptor that is missing or not finished", async () => {
    const desc = new MemoryDesc();
    desc.addInputRole(compilation, 0);
    await expect(Memory.createFromDesc(desc)).rejects.toThrow(code("BAD_STATE"));
    await expect(Memory.createFromDesc(new MemoryDesc())).rejects.toThrow(code("BAD_STATE"));
    await expect(Memory.createFromDesc(missing)).rejects.toThrow(code("UNEXPECTED_NULL"));
  });

  const failures: readonly [string, AllocateResult][] = [
    ["GENERAL_FAILURE", { status: ErrorStatus.GENERAL_FAILURE, message: "no room", buffer: null, token: 0 }],
    ["no buffer", { status: ErrorStatus.NONE, buffer: null, token: 1 }],
    [
      "token 0",
      {
        status: ErrorStatus.NONE,
        buffer: {
          copyTo: async () => ({ status: ErrorStatus.NONE }),
          copyFrom: async () => ({ status: ErrorStatus.NONE }),
        },
        token: 0,
      },
    ],
  ];

  it.each(failures)("is OP_FAILED for an explicit device that answers %s, plain bytes else", async (_, answer) => {
    const device = makeAllocating([], answer);
    const explicit = await compile(addModel(), [device]);
    await expect(Memory.createFromDesc(state(explicit))).rejects.toThrow(code("OP_FAILED"));
    const free = new Compilation(addModel(), [device], { cpu: reference });
    await free.finish();
    const memory = await Memory.createFromDesc(state(free));
    await addInto(memory, [1, 2], free);
    expect(await addFrom(memory, free)).toEqual([1, 2]);
  });

  it("reports why a device has no room", async () => {
    const { RESOURCE_EXHAUSTED_TRANSIENT: status } = ErrorStatus;
    const own = await compile(addModel(), [makeAllocating([], { status, message: "full", buffer: null, token: 0 })]);
    await expect(Memory.createFromDesc(state(own))).rejects.toThrow(code("RESOURCE_EXHAUSTED_TRANSIENT"));
    await expect(Memory.createFromDesc(state(own))).rejects.toThrow("full; plain bytes cannot be used");
  });

  it("is OP_FAILED if the size is unknown and no device allocates", async () => {
    const open = addModel(float32(0), float32(0), float32(0));
    const { allocate: _, ...without } = reference;
    const free = new Compilation(open, [without], { cpu: without });
    await free.finish();
    await expect(Memory.createFromDesc(state(free))).rejects.toThrow("its size is not known");
  });

  it.each([
    ["1.3", "hardware_buffer_blob"],
    ["1.2", "ashmem"],
  ] as const)("falls back beside a device of HAL %s to %s", async (halVersion, name) => {
    const { allocate: _, ...without } = reference;
    const free = new Compilation(addModel(), [], { cpu: { ...without, halVersion } });
    await free.finish();
    const memory = await Memory.createFromDesc(state(free));
    expect(memory.content("test").plain?.name).toBe(name);
    expect(() => memory.map()).toThrow(code("UNMAPPABLE"));
  });

  it("falls back if two devices have the roles", async () => {
    const compiledFor = async (name: string) => {
      const one = new Compilation(addModel(), [{ ...reference, name }], { cpu: reference, partition: 2 });
      await one.finish();
      return one;
    };
    const [writer, reader] = [await compiledFor("a"), await compiledFor("b")] as const;
    const desc = new MemoryDesc();
    desc.addOutputRole(writer, 0);
    desc.addInputRole(reader, 0);
    desc.finish();
    const memory = await Memory.createFromDesc(desc);
    await addInto(memory, [1, 2], writer);
    expect(await addFrom(memory, reader)).toEqual([1, 2]);
  });
});
