/**
 * What it gains to keep scratch memory: runs of 20 RELUs in a chain, with memory kept from run to run, released before each
 * run, and made anew for each operation. Milliseconds, median; the three take turns.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/backend-reference/bench/scratch.ts [ROUNDS]`.
 */
import { viewModel } from "@nnhal/backend";
import { createData, operationByCode } from "@nnhal/operations";
import { ErrorStatus, type Model, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { drive } from "../src/drive.ts";
import { runMain } from "../src/execute.ts";
import { compileGraph } from "../src/plan.ts";
import { createScratch, type Scratch } from "../src/scratch.ts";

const rounds = Number(process.argv[2] ?? 40);
const length = 20;

function chain(count: number): Model {
  const { SUBGRAPH_INPUT, TEMPORARY_VARIABLE, SUBGRAPH_OUTPUT } = OperandLifeTime;
  const lifetimes = [SUBGRAPH_INPUT, ...Array<number>(length - 1).fill(TEMPORARY_VARIABLE), SUBGRAPH_OUTPUT];
  return {
    main: {
      operands: lifetimes.map((lifetime) => ({
        type: OperandType.TENSOR_FLOAT32,
        dimensions: [count],
        numberOfConsumers: lifetime === SUBGRAPH_OUTPUT ? 0 : 1,
        scale: 0,
        zeroPoint: 0,
        lifetime,
        location: { poolIndex: 0, offset: 0, length: 0 },
        extraParams: { kind: "none" },
      })),
      operations: lifetimes.slice(1).map((_, index) => {
        return { type: OperationType.RELU, inputs: [index], outputs: [index + 1] };
      }),
      inputIndexes: [0],
      outputIndexes: [length],
    },
    referenced: [],
    operandValues: new Uint8Array(0),
    pools: [],
    relaxComputationFloat32toFloat16: false,
    extensionNameToPrefix: [],
  };
}

const kept = createScratch();
const released = createScratch();
const anew: Scratch = { take: createData, giveBack() {}, clear() {} };
const ways = { kept, released, anew };

for (const count of [1 << 20, 1 << 16, 1 << 12]) {
  const plan = compileGraph(viewModel({ model: chain(count), pools: [], operationByCode }));
  const place = () => ({ bytes: new Uint8Array(4 * count), dimensions: [count] });
  const [input, output] = [place(), place()];
  const context = { now: process.hrtime.bigint, loopTimeoutDuration: 0n, measure: false, random: Math.random };
  const missed = { status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, outputShapes: [] };
  const times = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [way, scratch] of Object.entries(ways)) {
      released.clear();
      const start = performance.now();
      const { status } = await drive(runMain(plan, [input], [output], context, scratch), context, missed);
      if (status !== ErrorStatus.NONE) throw new Error(`status ${status}`);
      times.set(way, [...(times.get(way) ?? []), performance.now() - start]);
    }
  }
  const medians = [...times].map(([way, all]) => {
    const sorted = all.slice(rounds >> 2).sort((a, b) => a - b);
    return `${way} ${sorted[sorted.length >> 1].toFixed(2)}`;
  });
  console.log(`${(4 * count) / 1024} KiB an operand: ${medians.join(", ")}`);
}
