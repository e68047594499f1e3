/**
 * Runs before the first execution. Engines compile and allocate in the first run of a model. JavaScript is slow in the first few runs of a
 * kernel, which matters if a run is as short as compiling is; models share kernels, so only those that are new are run more often.
 */
import { byteLength, elementCount, isTensorType } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import type { CompileOptions, InputBuffer, OutputBuffer, RunContext } from "../contract.ts";
import type { GraphView } from "../graph.ts";
import type { KernelPlan, KernelStep } from "./plan.ts";
import { runKernels, type Session } from "./run.ts";
import type { Check } from "./steps.ts";

/**
 * Warm-up runs of each kernel, and the nanoseconds after which no further run begins. The first run of a model includes
 * one-time work of an engine, such as packing weights. The others matter to small networks only: JavaScript gets faster
 * from run to run.
 */
const warmUp = { runs: 24, time: 50_000_000n };

/** Number of warm-up runs of each kernel of a backend, by the name and the type of its step. */
export type WarmRuns = Map<string, number>;

/** Nanoseconds that a WHILE may take in a warm-up. */
const LOOP_TIME = 100_000_000n;

/** The most bytes of temporaries of a warm-up. A larger run takes so long that compiling does not matter. */
const MOST_TEMPORARIES = 2 ** 28;

/** The deadline of a warm-up. */
export interface WarmUpLimits extends Pick<CompileOptions, "now" | "deadline"> {
  readonly check: Check;
}

/**
 * Runs the graph on zeros if its shapes are known, and releases the constants that only the preparation needed. A failed run is ignored:
 * the zeros may be its cause, and if they are not, the execution reports it. Rejects with the error of `check`.
 */
export async function runOnZeros<Handle>(
  plan: KernelPlan<Handle>,
  session: Session<Handle>,
  warmRuns: WarmRuns,
  { now, deadline, check }: WarmUpLimits,
): Promise<void> {
  const plans = [plan, ...plan.referenced];
  for (const { constants } of plans) constants.trim();
  const { graph } = plan;
  const inputs = graph.inputs.map((index) => bufferFor(graph, index));
  if (inputs.some((input) => input === undefined)) return;
  const outputs = graph.outputs.map((index, position): OutputBuffer => {
    const dimensions = graph.operands[index]?.dimensions ?? [];
    return bufferFor(graph, index, plan.outputs[position]?.dimensions) ?? { bytes: new Uint8Array(0), dimensions };
  });
  const context: RunContext = {
    now: now ?? steadyClock,
    ...(deadline !== undefined && { deadline }),
    loopTimeoutDuration: LOOP_TIME,
    temporaryLimit: MOST_TEMPORARIES,
    measure: false,
    random: () => 0.5,
  };
  const kernels = plans.flatMap(({ steps }) => steps.map(kernelKey));
  const isCold = (kernel: string) => (warmRuns.get(kernel) ?? 0) < warmUp.runs;
  const start = steadyClock();
  for (let run = 0; run === 0 || (kernels.some(isCold) && steadyClock() - start < warmUp.time); run++) {
    const { status } = await runKernels(plan, session, inputs, outputs, context);
    check();
    if (status !== ErrorStatus.NONE && status !== ErrorStatus.OUTPUT_INSUFFICIENT_SIZE) return;
    if (run === 0) for (const { constants } of plans) constants.trim();
    for (const kernel of kernels) warmRuns.set(kernel, (warmRuns.get(kernel) ?? 0) + 1);
  }
}

/** Steps with the same key run the same code. */
function kernelKey<Handle>({ name, view }: KernelStep<Handle>): string {
  return `${name} ${view.inputs[0]?.type}`;
}

function steadyClock(): bigint {
  return BigInt(Math.round(performance.now() * 1e6));
}

/** The most bytes of an argument of a warm-up. */
const MOST_BYTES = 2 ** 27;

/** Zeros for an operand; undefined if its extents are unknown, if it is too large, and for an OEM scalar, which may have any size. */
function bufferFor(
  { operands }: GraphView,
  index: number,
  known?: readonly number[],
): (InputBuffer & OutputBuffer) | undefined {
  const operand = operands[index];
  const dimensions = known ?? operand?.dimensions;
  if (operand === undefined || dimensions === undefined || dimensions.includes(0)) return undefined;
  const { type } = operand;
  if (type === "OEM") return undefined;
  if (isTensorType(type) && dimensions.length === 0) return undefined;
  const length = byteLength(type, elementCount(dimensions));
  return length > MOST_BYTES ? undefined : { bytes: new Uint8Array(length), dimensions };
}
