/** Operations that AIDL adds: the bits of the reference for random tensors, and what is refused. */
import { type Executable, type GraphView, viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { int32, list, matmulModel, operationModel } from "@nnhal/test-kit/operation-models";
import { ErrorStatus, ExecutionPreference, OperandType, OperationType, Priority } from "@nnhal/types";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { backend } from "./wasm-backend.ts";

const { TENSOR_INT32, TENSOR_QUANT8_ASYMM, TENSOR_QUANT8_ASYMM_SIGNED, TENSOR_FLOAT32 } = OperandType;

const graphOf = (...given: Parameters<typeof operationModel>) =>
  viewModel({ model: operationModel(...given), pools: [] });
const matmul = (...given: Parameters<typeof matmulModel>) => viewModel({ model: matmulModel(...given), pools: [] });

async function open() {
  const [reference, wasm] = await Promise.all([referenceBackend.open(), backend.open()]);
  if ("unavailable" in reference || "unavailable" in wasm) throw new Error("an engine is unavailable");
  return { reference, wasm };
}

async function refusalOf(graph: GraphView): Promise<string | undefined> {
  const { wasm } = await open();
  const [outcome] = graph.operations.map((view) => wasm.supports(view));
  return outcome?.supported === false ? outcome.reason : undefined;
}

function sizeOf({ operands }: GraphView, index: number): number {
  const { type, dimensions } = operands[index] ?? {};
  const elements = (dimensions ?? []).reduce((product, extent) => product * extent, 1);
  return type === "TENSOR_INT32" || type === "TENSOR_FLOAT32" ? 4 * elements : elements;
}

async function resultOf(executable: Executable, graph: GraphView, inputs: readonly Uint8Array[]): Promise<number[]> {
  const [index = -1] = graph.outputs;
  const bytes = new Uint8Array(sizeOf(graph, index));
  const dimensionsOf = (place: number) => graph.operands[place]?.dimensions ?? [];
  const given = graph.inputs.map((place, order) => ({
    bytes: inputs[order] ?? new Uint8Array(),
    dimensions: dimensionsOf(place),
  }));
  const context = { now: () => 0n, loopTimeoutDuration: 1n, measure: false, random: () => 0 };
  const { status, message } = await executable.run(given, [{ bytes, dimensions: dimensionsOf(index) }], context);
  expect(message).toBeUndefined();
  expect(status).toBe(ErrorStatus.NONE);
  executable.close();
  return [...bytes];
}

/** Random bytes, among which the least and the greatest of signed and unsigned ones are frequent. */
function bytesFrom(seed: number, length: number): Uint8Array {
  let state = seed;
  return Uint8Array.from({ length }, () => {
    state = (Math.imul(state, 1664525) + 1013904223) | 0;
    const extremes = [0, 127, 128, 255];
    return (state >>> 28) % 3 === 0 ? (extremes[(state >>> 20) & 3] ?? 0) : (state >>> 16) & 255;
  });
}

async function expectSameBits(graph: GraphView, seed: number): Promise<void> {
  expect(await refusalOf(graph)).toBeUndefined();
  const { reference, wasm } = await open();
  const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };
  const inputs = graph.inputs.map((index) => bytesFrom(seed + index, sizeOf(graph, index)));
  const [right, given] = await Promise.all(
    [reference, wasm].map(async (session) => resultOf(await session.compile(graph, options), graph, inputs)),
  );
  expect(given).toEqual(right);
}

const quantised = { type: TENSOR_QUANT8_ASYMM_SIGNED, scale: 0.5, zeroPoint: 3 };

describe("BATCH_MATMUL", () => {
  const extent = fc.integer({ min: 1, max: 9 });
  const product = fc.tuple(
    fc.constantFrom([], [1], [3], [2, 2]),
    fc.tuple(extent, extent, extent),
    fc.boolean(),
    fc.boolean(),
  );

  it("has the bits of the reference for integers, which wrap", async () => {
    await fc.assert(
      fc.asyncProperty(product, fc.integer(), ([batches, extents, adjX, adjY], seed) =>
        expectSameBits(matmul({ type: TENSOR_INT32 }, batches, extents, adjX, adjY), seed),
      ),
      { numRuns: 20 },
    );
  });

  it("has the bits of the reference for bytes", async () => {
    const results = fc.record({ scale: fc.constantFrom(0.25, 0.3, 1.7, 40), zeroPoint: fc.constantFrom(-128, 0, 127) });
    await fc.assert(
      fc.asyncProperty(product, results, fc.integer(), ([batches, extents, adjX, adjY], result, seed) =>
        expectSameBits(matmul(quantised, batches, extents, adjX, adjY, { ...quantised, ...result }), seed),
      ),
      { numRuns: 20 },
    );
  });

  it("takes depths whose sums fit 32 bits", async () => {
    expect(await refusalOf(matmul(quantised, [], [1, 33025, 1], false, true))).toBeUndefined();
    expect(await refusalOf(matmul(quantised, [], [1, 33026, 1], false, true))).toMatch("more than 32 bits");
    expect(await refusalOf(matmul({ type: TENSOR_INT32 }, [], [1, 33026, 1], true, false))).toBeUndefined();
  });

  it("takes up to 64 matrices", async () => {
    const facts = { type: TENSOR_FLOAT32 };
    expect(await refusalOf(matmul(facts, [8, 8], [1, 1, 1], false, false))).toBeUndefined();
    expect(await refusalOf(matmul(facts, [5, 13], [1, 1, 1], false, false))).toMatch("65 matrices");
    expect(await refusalOf(matmul({ type: TENSOR_INT32 }, [5, 13], [1, 1, 1], false, false))).toBeUndefined();
  });
});

const bytes = { type: TENSOR_QUANT8_ASYMM, scale: 1 };
const shapes = fc.array(fc.integer({ min: 1, max: 4 }), { minLength: 1, maxLength: 5 });

it("MIRROR_PAD has the elements of the reference in both modes", async () => {
  const padded = fc
    .record({ shape: shapes, mode: fc.constantFrom(0, 1), seed: fc.nat() })
    .map(({ shape, mode, seed }) => {
      const pads = shape.flatMap((extent, axis) =>
        [2 * axis, 2 * axis + 1].map((bit) => (seed >> bit) % (extent + mode)),
      );
      return { shape, mode, seed, pads };
    });
  await fc.assert(
    fc.asyncProperty(padded, async ({ shape, mode, seed, pads }) => {
      const result = shape.map((extent, axis) => extent + (pads[2 * axis] ?? 0) + (pads[2 * axis + 1] ?? 0));
      const inputs = [{ ...bytes, dimensions: shape }, list(pads, [shape.length, 2]), int32(mode)];
      await expectSameBits(graphOf(OperationType.MIRROR_PAD, inputs, { ...bytes, dimensions: result }), seed);
    }),
    { numRuns: 30 },
  );
});

it("REVERSE and PACK have the elements of the reference along each axis", async () => {
  await fc.assert(
    fc.asyncProperty(shapes, fc.nat(), async (shape, seed) => {
      const axis = seed % shape.length;
      const facts = { ...bytes, dimensions: shape };
      await expectSameBits(graphOf(OperationType.REVERSE, [facts, list([axis])], facts), seed);
      const dimensions = shape.toSpliced(axis, 0, 3);
      await expectSameBits(
        graphOf(OperationType.PACK, [int32(axis), facts, facts, facts], { ...bytes, dimensions }),
        seed,
      );
    }),
    { numRuns: 20 },
  );
});

it("REVERSE is refused for an axis that there is not, or that is not known", async () => {
  const facts = { ...bytes, dimensions: [2, 3] };
  const along = (axis: number) => graphOf(OperationType.REVERSE, [facts, list([axis])], facts);
  expect(await refusalOf(along(0))).toBeUndefined();
  expect(await refusalOf(along(1))).toBeUndefined();
  expect(await refusalOf(along(2))).toBe("REVERSE: there is no axis 2");
  expect(await refusalOf(along(-1))).toBe("REVERSE: there is no axis -1");
  const open = graphOf(OperationType.REVERSE, [facts, { type: TENSOR_INT32, dimensions: [1] }], facts);
  expect(await refusalOf(open)).toBe("REVERSE: the axis is not constant");
});

it.each([TENSOR_QUANT8_ASYMM, TENSOR_QUANT8_ASYMM_SIGNED])(
  "RSQRT of type %i has the bits of the reference",
  async (type) => {
    const facts = { type, dimensions: [256], scale: 0.05, zeroPoint: 7 };
    const graph = graphOf(OperationType.RSQRT, [facts], { ...facts, scale: 0.02, zeroPoint: 1 });
    await expectSameBits(graph, 1);
  },
);
