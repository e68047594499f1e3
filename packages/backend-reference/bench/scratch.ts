/**
 * Measures the benefit of keeping scratch memory: runs of 20 RELUs in a chain, with memory kept from run to run, and
 * released before each run. Milliseconds, median; the two take turns.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/backend-reference/bench/scratch.ts [ROUNDS]`.
 */
import { viewModel } from "@nnhal/backend";
import { ErrorStatus, type Model, OperandLifeTime, OperandType, OperationType } from "@nnhal/types";
import { referenceBackend } from "../src/index.ts";

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

async function openSession() {
  const session = await referenceBackend.open();
  if ("unavailable" in session) throw new Error(session.unavailable);
  return session;
}

for (const count of [1 << 20, 1 << 16, 1 << 12]) {
  const graph = viewModel({ model: chain(count), pools: [] });
  // A session for each variant, since a session has one scratch memory.
  const compile = async () => (await openSession()).compile(graph, { preference: 1, priority: 1 });
  const ways = { kept: await compile(), released: await compile() };
  const place = () => ({ bytes: new Uint8Array(4 * count), dimensions: [count] });
  const [input, output] = [place(), place()];
  const context = { now: process.hrtime.bigint, loopTimeoutDuration: 0n, measure: false, random: Math.random };
  const times = new Map<string, number[]>();
  for (let round = 0; round < rounds; round++) {
    for (const [way, executable] of Object.entries(ways)) {
      ways.released.releaseScratch?.();
      const start = performance.now();
      const { status } = await executable.run([input], [output], context);
      if (status !== ErrorStatus.NONE) throw new Error(`status ${status}`);
      times.set(way, [...(times.get(way) ?? []), performance.now() - start]);
    }
  }
  const medians = [...times].map(([way, all]) => {
    const sorted = all.slice(rounds >> 2).sort((a, b) => a - b);
    return `${way} ${sorted[sorted.length >> 1]?.toFixed(2)}`;
  });
  console.log(`${(4 * count) / 1024} KiB an operand: ${medians.join(", ")}`);
}
