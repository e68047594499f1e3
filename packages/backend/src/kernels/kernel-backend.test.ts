import { elementAt, operationByCode } from "@nnhal/operations";
import { DeviceType, ErrorStatus, OperandLifeTime, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { OpenOptions } from "../contract.ts";
import { viewSubgraph } from "../graph.ts";
import { add, type Handle, listOf, tensorOf } from "./fake-engine.test-helper.ts";
import type { Kernel, KernelTable } from "./kernel.ts";
import { kernelBackend } from "./kernel-backend.ts";
import { chain, compile, context, modelOf, none, openOver, operand, plus, runOn } from "./kernel-models.test-helper.ts";

const life = OperandLifeTime;

describe("kernelBackend", () => {
  it("runs a chain, reads back only its output and releases everything", async () => {
    const { session, record } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    expect(record.alive.size).toBe(1);
    const { uploads, downloads } = record;
    const bytes = new Uint8Array(8);
    const run = () =>
      executable.run(
        [{ bytes: new Uint8Array(Float32Array.of(1, 2).buffer), dimensions: [2] }],
        [{ bytes, dimensions: [2] }],
        context,
      );
    await Promise.all([run(), run(), run()]);
    expect([...new Float32Array(bytes.buffer)]).toEqual([22, 44]);
    expect({ uploads: record.uploads - uploads, downloads: record.downloads - downloads }).toEqual({
      uploads: 3,
      downloads: 3,
    });
    expect(record.alive.size).toBe(1);
    executable.close();
    expect(record.alive.size).toBe(0);
    await session.close();
    expect(record.closed).toBe(1);
  });

  it("opens the engine with its options, and has its choices", async () => {
    const choices = [{ subject: "sums", chosen: "exact" }];
    const outcomes = { read: async () => undefined, write: async () => {} };
    const seen: unknown[] = [];
    const open = async (options?: OpenOptions) => {
      seen.push(options);
      return { unavailable: "no adapter" };
    };
    await kernelBackend({ name: "choosy", deviceType: DeviceType.CPU, open }).open({ outcomes });
    expect(seen).toEqual([{ outcomes }]);
    expect((await openOver({}, { choices })).session).toMatchObject({ choices });
  });

  it("keeps a state between runs without reading it back", async () => {
    const { session, record } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    const facts = { type: "TENSOR_FLOAT32", dimensions: [2], scale: 0, zeroPoint: 0 } as const;
    const states = [session.allocate?.(facts), session.allocate?.(facts)];
    const [first, second] = states;
    if (first === undefined || second === undefined) throw new Error("no places");
    const none = new Uint8Array(0);
    const run = (from: typeof first, to: typeof first) =>
      executable.run(
        [{ bytes: none, dimensions: [2], buffer: from }],
        [{ bytes: none, dimensions: [2], buffer: to }],
        context,
      );

    expect(await run(first, second)).toMatchObject({ status: ErrorStatus.GENERAL_FAILURE });
    first.write(new Uint8Array(Float32Array.of(1, 2).buffer), [2]);
    const { uploads, downloads } = record;
    for (const [from, to] of [
      [first, second],
      [second, first],
      [first, first],
    ] as const) {
      expect(await run(from, to)).toMatchObject({
        status: ErrorStatus.NONE,
        outputShapes: [{ dimensions: [2], isSufficient: true }],
      });
    }
    expect({ uploads: record.uploads, downloads: record.downloads }).toEqual({ uploads, downloads });
    // The weights, and a value in each buffer.
    expect(record.alive.size).toBe(3);

    // x becomes 2x + 2 * [10, 20].
    const bytes = new Uint8Array(8);
    await first.read(bytes);
    expect([...new Float32Array(bytes.buffer)]).toEqual([148, 296]);
    await second.read(bytes);
    expect([...new Float32Array(bytes.buffer)]).toEqual([22, 44]);
    expect(record.downloads).toBe(downloads + 2);
    first.close();
    second.close();
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  it("releases temporaries as soon as nothing reads them", async () => {
    const sizes: number[] = [];
    const { session, record } = await openOver({
      ADD: {
        prepare: (args, outputs, setup) => {
          const run = add.prepare(args, outputs, setup);
          return (read, more) => {
            sizes.push(record.alive.size);
            return run(read, more);
          };
        },
      },
    });
    await runOn(session, chain, [1, 2]);
    // The weights and the input; then one temporary; then the next one, without the input.
    expect(sizes.slice(-3)).toEqual([2, 3, 2]);
  });

  it("waits for asynchronous kernels", async () => {
    const slow: Kernel<Handle> = {
      prepare: (args, outputs, setup) => {
        const run = add.prepare(args, outputs, setup);
        return async (read, more) => {
          const results = listOf(run(read, more));
          await new Promise((resolve) => setTimeout(resolve, 1));
          return results;
        };
      },
    };
    const { session, record } = await openOver({ ADD: slow });
    expect((await runOn(session, chain, [1, 2])).values).toEqual([22, 44]);
    expect(record.alive.size).toBe(0);
  });

  it("keeps handles that a kernel derives from constants, and releases the constants", async () => {
    const doubled: Kernel<Handle> = {
      prepare({ left, right }, _, { constant, keep }) {
        const raw = constant(tensorOf(right));
        const kept = raw && keep({ values: raw.values.map((value) => 2 * value) });
        return (read) => {
          const { values } = kept ?? read(tensorOf(right));
          return [{ values: read(tensorOf(left)).values.map((value, index) => value + elementAt(values, index)) }];
        };
      },
    };
    const { session, record } = await openOver({ ADD: doubled });
    const executable = await compile(session, chain);
    // Two operations derived a handle from the same weights, which are no longer needed.
    expect([...record.alive].map(({ values }) => values)).toEqual([
      [20, 40],
      [20, 40],
    ]);
    executable.close();
    expect(record.alive.size).toBe(0);
  });

  it("names the operation in which an execution failed, and releases everything", async () => {
    const { session, record } = await openOver({
      ADD: {
        prepare: ({ left }) => {
          if (tensorOf(left).index === 4) return () => Promise.reject(new Error("out of order"));
          return () => [{ values: [0, 0] }];
        },
      },
    });
    expect(await runOn(session, chain, [1, 2])).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      message: "operation 3 (ADD): out of order",
    });
    expect(record.alive.size).toBe(0);
  });

  it("fails if a kernel returns too few outputs, and counts no memory for them", async () => {
    const { session } = await openOver({ ADD: { prepare: () => () => [] } });
    const few = {
      status: ErrorStatus.GENERAL_FAILURE,
      message: "operation 1 (ADD): the kernel returned 0 of 1 outputs",
    };
    const executable = await compile(session, chain);
    const inputs = [{ bytes: new Uint8Array(8), dimensions: [2] }];
    const outputs = [{ bytes: new Uint8Array(8), dimensions: [2] }];
    // The limit is what one run needs: missing outputs that stayed in use would leave no room for the next.
    for (let run = 0; run < 3; run++) {
      expect(await executable.run(inputs, outputs, { ...context, temporaryLimit: 16 })).toMatchObject(few);
    }
    executable.close();
  });

  it("keeps deadlines", async () => {
    const { session, record } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    const held = record.alive.size;
    let time = 0n;
    const late = { ...context, now: () => ++time, deadline: 3n };
    const inputs = [{ bytes: new Uint8Array(8), dimensions: [2] }];
    const outputs = [{ bytes: new Uint8Array(8), dimensions: [2] }];
    expect(await executable.run(inputs, outputs, late)).toMatchObject({
      status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
    });
    expect(record.alive.size).toBe(held);
    expect(await executable.run(inputs, outputs, { ...late, deadline: 1000n })).toMatchObject({
      status: ErrorStatus.NONE,
    });
  });

  it("writes no output if one does not fit, and reports the sizes", async () => {
    const { session } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    const bytes = new Uint8Array(7);
    const result = await executable.run(
      [{ bytes: new Uint8Array(8), dimensions: [2] }],
      [{ bytes, dimensions: [2] }],
      context,
    );
    expect(result).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      message: "output 0 of shape 2 needs 8 bytes, not 7",
      outputShapes: [{ dimensions: [2], isSufficient: false }],
    });
    expect([...bytes]).toEqual([0, 0, 0, 0, 0, 0, 0]);
  });

  it("finds shapes that only the request knows", async () => {
    const open = (lifetime: number) => operand(lifetime, [0]);
    const unknown = modelOf({
      operands: [open(life.SUBGRAPH_INPUT), open(life.SUBGRAPH_INPUT), none, open(life.SUBGRAPH_OUTPUT)],
      operations: [plus([0, 1, 2], [3])],
      inputIndexes: [0, 1],
      outputIndexes: [3],
    });
    const { session, record } = await openOver({ ADD: add });
    const result = await runOn(session, unknown, [1, 2], [3, 4]);
    expect(result).toMatchObject({ status: ErrorStatus.NONE, values: [4, 6] });
    expect(result.outputShapes).toEqual([{ dimensions: [2], isSufficient: true }]);
    expect(record.alive.size).toBe(0);
  });

  it("refuses a result whose shape contradicts the request", async () => {
    const { session } = await openOver({ ADD: add });
    const executable = await compile(session, chain);
    const inputs = [{ bytes: new Uint8Array(8), dimensions: [2] }];
    const outputs = [{ bytes: new Uint8Array(12), dimensions: [3] }];
    expect(await executable.run(inputs, outputs, context)).toMatchObject({
      status: ErrorStatus.GENERAL_FAILURE,
      message: "operand 5 is declared as 3, but the result has shape 2",
    });
  });

  it("reports why an engine is unavailable", async () => {
    const { kernelBackend } = await import("./kernel-backend.ts");
    const absent = { unavailable: "no engine", remedy: "build one" };
    expect(await kernelBackend({ name: "none", deviceType: 1, open: async () => absent }).open()).toBe(absent);
  });
});

describe("supported operations", () => {
  const source = { model: chain, pools: [] };
  const view = elementAt(viewSubgraph(chain.main, source).operations, 0);

  it("have a kernel that does not refuse them", async () => {
    if ("unknown" in view) throw new Error(view.unknown);
    const supportOf = async (kernels: KernelTable<Handle>) => (await openOver(kernels)).session.supports(view);
    expect(await supportOf({ ADD: add })).toEqual({ supported: true });
    expect(await supportOf({})).toEqual({ supported: false, reason: "ADD: fake has no kernel for it" });
    const seen: unknown[] = [];
    const picky: Kernel<Handle> = {
      ...add,
      refuse({ activation, left }) {
        seen.push(activation, tensorOf(left).dimensions);
        return "not today";
      },
    };
    expect(await supportOf({ ADD: picky })).toEqual({ supported: false, reason: "ADD: not today" });
    expect(seen).toEqual([0, [2]]);
  });

  it("have the number of computations of their kernel", async () => {
    if ("unknown" in view) throw new Error(view.unknown);
    const many: Kernel<Handle> = { ...add, dispatches: ({ left }) => 3 * elementAt(tensorOf(left).dimensions, 0) };
    const { session } = await openOver({ ADD: many });
    expect(session.supports(view)).toEqual({ supported: true, dispatches: 6 });
  });

  it("do not include those whose shapes depend on the data", async () => {
    const box = operationByCode(OperationType.BOX_WITH_NMS_LIMIT);
    if (box === undefined || "unknown" in view) throw new Error("no definition");
    const { session } = await openOver({ BOX_WITH_NMS_LIMIT: add });
    expect(session.supports({ ...view, definition: box })).toMatchObject({ supported: false });
  });
});
