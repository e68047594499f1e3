/** Products whose rows lie in the image as they are, and those whose rows do not, though it looks so. */
import { viewModel } from "@nnhal/backend";
import { referenceBackend } from "@nnhal/backend-reference";
import { modelOf, operand, subgraphOf } from "@nnhal/test-kit/models";
import { ErrorStatus, ExecutionPreference, OperandLifeTime, OperandType, OperationType, Priority } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import type { Plan, ProductStep } from "./plan/plan.ts";
import { planGraph } from "./plan/plan-graph.ts";
import { groupsFor } from "./plan/tiles.ts";
import { compiledPlan, findComputeSteps } from "./program.ts";
import { backend } from "./wasm-backend.ts";
import { webAssembly } from "./web-assembly.ts";

const { TENSOR_FLOAT32, INT32 } = OperandType;
const { SUBGRAPH_INPUT, SUBGRAPH_OUTPUT, CONSTANT_COPY } = OperandLifeTime;
const options = { preference: ExecutionPreference.SUSTAINED_SPEED, priority: Priority.MEDIUM };
const context = { now: () => 0n, loopTimeoutDuration: 1n, measure: false, random: () => 0 };

/** The results of a convolution 1x1 from 2 to 3 channels on both engines. Filter and bias are inputs. */
async function convolve(shape: number[], result: number[], stride: number): Promise<number[][]> {
  const of = (dimensions: number[], lifetime: number) => operand({ type: TENSOR_FLOAT32, dimensions, lifetime });
  // Padding VALID, the strides and no activation.
  const settings = [2, stride, stride, 0];
  const scalars = settings.map((_, place) =>
    operand({
      type: INT32,
      dimensions: [],
      lifetime: CONSTANT_COPY,
      location: { poolIndex: 0, offset: 4 * place, length: 4 },
    }),
  );
  const inputs = [of(shape, SUBGRAPH_INPUT), of([3, 1, 1, 2], SUBGRAPH_INPUT), of([3], SUBGRAPH_INPUT)];
  const operands = [...inputs, ...scalars, of(result, SUBGRAPH_OUTPUT)];
  const operation = { type: OperationType.CONV_2D, inputs: [0, 1, 2, 3, 4, 5, 6], outputs: [7] };
  const operandValues = new Uint8Array(Int32Array.from(settings).buffer);
  const graph = viewModel({ model: modelOf(subgraphOf(operands, [operation]), { operandValues }), pools: [] });
  const given = inputs.map(({ dimensions }) => {
    const count = dimensions.reduce((product, extent) => product * extent, 1);
    const values = Float32Array.from({ length: count }, (_, index) => index + 1);
    return { bytes: new Uint8Array(values.buffer), dimensions };
  });
  return Promise.all(
    [backend, referenceBackend].map(async (each) => {
      const session = await each.open();
      if ("unavailable" in session) throw new Error(session.unavailable);
      const values = new Float32Array(result.reduce((product, extent) => product * extent, 1));
      const executable = await session.compile(graph, options);
      const output = { bytes: new Uint8Array(values.buffer), dimensions: result };
      expect((await executable.run(given, [output], context)).status).toBe(ErrorStatus.NONE);
      executable.close();
      return [...values];
    }),
  );
}

describe("rows of a product of several images", () => {
  it.each([
    ["all pixels", [2, 2, 3, 2], [2, 2, 3, 3], 1],
    // One row of each image: its pixels lie side by side, but the next image begins two rows later.
    ["the first row of two", [2, 2, 1, 2], [2, 1, 1, 3], 2],
    ["the first row of three", [2, 3, 1, 2], [2, 1, 1, 3], 3],
    ["every second pixel", [2, 1, 5, 2], [2, 1, 3, 3], 2],
    ["one pixel, as its stride leads far beyond the image", [1, 2, 3, 2], [1, 1, 1, 3], 2 ** 30],
  ])("are %s", async (_, shape, result, stride) => {
    const [wasm, reference] = await convolve(shape, result, stride);
    expect(wasm).toEqual(reference);
  });
});

describe("columns of a product in parts", () => {
  const type = TENSOR_FLOAT32;

  /** The results of FULLY_CONNECTED of 5 rows, with its columns in so many parts. */
  async function connect(columns: number, groups: number): Promise<number[]> {
    const of = (dimensions: number[], lifetime: number) => operand({ type, dimensions, lifetime });
    const none = operand({
      type: INT32,
      dimensions: [],
      lifetime: CONSTANT_COPY,
      location: { poolIndex: 0, offset: 0, length: 4 },
    });
    const inputs = [of([5, 3], SUBGRAPH_INPUT), of([columns, 3], SUBGRAPH_INPUT), of([columns], SUBGRAPH_INPUT)];
    const operation = { type: OperationType.FULLY_CONNECTED, inputs: [0, 1, 2, 3], outputs: [4] };
    const subgraph = subgraphOf([...inputs, none, of([5, columns], SUBGRAPH_OUTPUT)], [operation]);
    const graph = viewModel({ model: modelOf(subgraph, { operandValues: new Uint8Array(4) }), pools: [] });
    const plan = planGraph(
      graph,
      inputs.map(({ dimensions }) => dimensions),
    );
    const part = (step: ProductStep): ProductStep => ({ ...step, groups, units: step.units * groups });
    const divided: Plan = { ...plan, steps: plan.steps.map((step) => (step.kind === "product" ? part(step) : step)) };
    const api = webAssembly();
    if (api === undefined) throw new Error("there is no WebAssembly");
    const { memory, steps } = await compiledPlan({ api }, divided);
    const numbers = new Float32Array(memory.buffer);
    for (const port of plan.inputs) {
      const { address = 0 } = plan.regions[port?.region ?? 0] ?? {};
      for (let place = 0; 4 * place < (port?.bytes ?? 0); place++)
        numbers[address / 4 + place] = (place % 11) - place / 7;
    }
    // The last unit first: parts can be computed in any order.
    for (const { units, compute } of findComputeSteps(steps))
      for (let unit = units - 1; unit >= 0; unit--) compute(unit, unit + 1);
    const [output] = plan.outputs;
    const { address = 0 } = plan.regions[output?.region ?? 0] ?? {};
    return [...numbers.subarray(address / 4, address / 4 + 5 * columns)];
  }

  it.each([
    [45, 3],
    [45, 5],
    [40, 2],
    [16, 2],
  ])("of %i columns in %i parts are the same", async (columns, groups) => {
    expect(await connect(columns, groups)).toEqual(await connect(columns, 1));
  });

  it("are as many as the work needs, of whole panels", () => {
    expect(groupsFor(2 ** 24, 4096, 2)).toBe(1);
    expect(groupsFor(2 ** 25, 4096, 2)).toBe(8);
    expect(groupsFor(2 ** 30, 40, 2)).toBe(5);
    expect(groupsFor(2 ** 30, 3, 2)).toBe(1);
  });
});
