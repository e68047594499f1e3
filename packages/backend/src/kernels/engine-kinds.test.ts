/** Kinds of engines: with kernels by definition, with shapes from results, with handles in the memory of the process. */
import { elementAt } from "@nnhal/operations";
import { ErrorStatus, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { add, type Handle, tensorOf } from "./fake-engine.test-helper.ts";
import type { Kernel } from "./kernel.ts";
import { chain, compile, context, modelOf, openOver, operand, runOn } from "./kernel-models.test-helper.ts";

const { TENSOR_FLOAT32, TENSOR_INT32, FLOAT32, INT32 } = OperandType;
const life = OperandLifeTime;

it("an engine may choose kernels by the definitions of operations", async () => {
  const asked: string[] = [];
  const { session } = await openOver(
    {},
    {
      kernels(operation) {
        asked.push(operation.name);
        return operation.name === "ADD" ? add : undefined;
      },
      // The record counts only the handles of kernels in a table.
      release() {},
    },
  );
  expect((await runOn(session, chain, [1, 2])).values).toEqual([22, 44]);
  expect(new Set(asked)).toEqual(new Set(["ADD"]));
});

/** A kernel of ADD, and how often it has run. */
function countingRuns() {
  let count = 0;
  const counting: Kernel<Handle> = {
    prepare: (args, outputs, setup) => {
      const run = add.prepare(args, outputs, setup);
      return (read, more) => {
        count++;
        return run(read, more);
      };
    },
  };
  return { counting, runs: () => count };
}

describe("an engine in the memory of the process", () => {
  it("has no device memory, and may need no warm-up", async () => {
    const { counting, runs } = countingRuns();
    const { session } = await openOver({ ADD: counting }, { isHost: true, warmsUp: false });
    expect(session.allocate).toBeUndefined();
    expect((await runOn(session, chain, [1, 2])).values).toEqual([22, 44]);
    expect(runs()).toBe(3);
    const { session: usual } = await openOver({ ADD: counting });
    expect(usual.allocate).toBeDefined();
    await compile(usual, chain);
    expect(runs()).toBeGreaterThanOrEqual(3 + 3);
    expect(runs()).toBeLessThanOrEqual(3 + 24);
  });

  it("warms a kernel up once, not for each model that has it", async () => {
    const { counting, runs } = countingRuns();
    const { session } = await openOver({ ADD: counting });
    // A warm-up may end early on a busy machine, after one run of the three operations.
    for (let model = 0; model < 8; model++) await compile(session, chain);
    const warm = runs();
    expect(warm).toBeGreaterThanOrEqual(24);
    await compile(session, chain);
    expect(runs() - warm).toBe(3);
  });

  it("frees what it keeps when a model is idle", async () => {
    const events: string[] = [];
    const keeping: Kernel<Handle> = {
      prepare(args, outputs, setup) {
        setup.onIdle(() => events.push(`idle ${tensorOf(args.left).index}`));
        return add.prepare(args, outputs, setup);
      },
    };
    const { session } = await openOver({ ADD: keeping }, { releaseScratch: () => events.push("engine") });
    const executable = await compile(session, chain);
    executable.releaseScratch?.();
    expect(events).toEqual(["idle 0", "idle 3", "idle 4", "engine"]);
  });
});

describe("operations whose shapes depend on the data", () => {
  const scalar = (type: number) =>
    operand(life.CONSTANT_COPY, [], { type, location: { poolIndex: 0, offset: 8, length: 4 } });
  const places = (type: number, dimensions: number[]) => operand(life.SUBGRAPH_OUTPUT, dimensions, { type });
  /** BOX_WITH_NMS_LIMIT of one box of two classes. */
  const model = modelOf({
    operands: [
      operand(life.SUBGRAPH_INPUT, [1, 2]),
      operand(life.SUBGRAPH_INPUT, [1, 8]),
      operand(life.SUBGRAPH_INPUT, [1], { type: TENSOR_INT32 }),
      ...[FLOAT32, INT32, INT32, FLOAT32, FLOAT32, FLOAT32].map(scalar),
      places(TENSOR_FLOAT32, [0]),
      places(TENSOR_FLOAT32, [0, 4]),
      places(TENSOR_INT32, [0]),
      places(TENSOR_INT32, [0]),
    ],
    operations: [
      { type: OperationType.BOX_WITH_NMS_LIMIT, inputs: [0, 1, 2, 3, 4, 5, 6, 7, 8], outputs: [9, 10, 11, 12] },
    ],
    inputIndexes: [0, 1, 2],
    outputIndexes: [9, 10, 11, 12],
  });
  /** Chooses as many boxes as the first score says. */
  const choosing: Kernel<Handle> = {
    prepare:
      ({ scores }) =>
      (read) => {
        const count = elementAt(read(tensorOf(scores)).values, 0);
        return [1, 4, 1, 1].map((columns) => ({ values: new Array<number>(count * columns).fill(columns) }));
      },
  };
  const extentsOf = ({ values }: Handle) => (values[0] === 4 ? [values.length / 4, 4] : [values.length]);
  const run = async (count: number, bytes = [1, 4, 1, 1].map((columns) => 4 * count * columns)) => {
    const { session, record } = await openOver({ BOX_WITH_NMS_LIMIT: choosing }, { extentsOf });
    const executable = await compile(session, model);
    const floats = (...values: number[]) => new Uint8Array(Float32Array.from(values).buffer);
    const result = await executable.run(
      [
        { bytes: floats(count, 0), dimensions: [1, 2] },
        { bytes: floats(0, 0, 1, 1, 0, 0, 1, 1), dimensions: [1, 8] },
        { bytes: new Uint8Array(4), dimensions: [1] },
      ],
      bytes.map((length, index) => ({ bytes: new Uint8Array(length), dimensions: index === 1 ? [0, 4] : [0] })),
      context,
    );
    executable.close();
    expect(record.alive.size).toBe(0);
    return result;
  };

  it("have the shapes of the results", async () => {
    expect(await run(3)).toEqual({
      status: ErrorStatus.NONE,
      outputShapes: [[3], [3, 4], [3], [3]].map((dimensions) => ({ dimensions, isSufficient: true })),
    });
  });

  it("end with the actual shapes if there is too little room", async () => {
    expect(await run(2, [8, 31, 8, 8])).toMatchObject({
      status: ErrorStatus.OUTPUT_INSUFFICIENT_SIZE,
      outputShapes: [[2], [2, 4], [2], [2]].map((dimensions, index) => ({ dimensions, isSufficient: index !== 1 })),
    });
  });
});
