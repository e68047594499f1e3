/**
 * Times the steps of a model's plan, and each operation in a step of its own.
 */
import type { Plan, Step } from "@nnhal/driver-core/partition";
import type { StepTime } from "@nnhal/runtime";
import type { DeviceSelection } from "../devices.ts";
import { CommandError } from "../failure.ts";
import { type PrepareRunOptions, prepareRun, runOnce } from "../model/execute.ts";
import { prepareInputs } from "../model/inputs.ts";
import type { LoadedModel } from "../model/load.ts";
import { median } from "../model/measure.ts";
import type { Measured } from "./explanation.ts";

/**
 * Executions that warm up, and those that count. The engine of JavaScript compiles what runs often: the first executions of a
 * small model take several times as long as those that follow.
 */
const warming: Runs = { least: 1, most: 100, milliseconds: 300 };
const counting: Runs = { least: 5, most: 51, milliseconds: 500 };
const SEED = 1;

/** How often to run: at least and at most so often, and no longer than some time once that is enough. */
interface Runs {
  readonly least: number;
  readonly most: number;
  readonly milliseconds: number;
}

/** A plan and how long its parts take; the plan is the one that ran, which may be the CPU's after a device failed. */
export interface MeasuredPlan {
  readonly plan: Plan;
  readonly measured: Measured;
  /** Why operations were not timed. */
  readonly untimed?: string;
}

/** What is run while times are taken, and what becomes of the times of all its runs. */
interface Load {
  warm(run: Run): Promise<void>;
  count(run: Run): Promise<void>;
  combine(times: readonly number[]): number;
}

type Run = (inputs: readonly Uint8Array[]) => Promise<void>;

/** Prepares a model and runs it on its inputs, by default on noise; times are medians. Rejects with a failure if it cannot run. */
export async function measurePlan(
  model: LoadedModel,
  selection: DeviceSelection,
  options: PrepareRunOptions,
  now: () => number,
  given?: readonly Uint8Array[],
): Promise<MeasuredPlan> {
  const noise = async () =>
    (await prepareInputs(model, { files: [], seed: SEED }, { cwd: "" })).map(({ bytes }) => bytes);
  const inputs = given ?? (await noise());
  return measure(model, selection, options, now, {
    warm: (run) => repeat(warming, now, () => run(inputs)),
    count: (run) => repeat(counting, now, () => run(inputs)),
    combine: median,
  });
}

/** The same for a batch of inputs, of which each runs once; times are sums over the batch. */
export async function measureBatch(
  model: LoadedModel,
  selection: DeviceSelection,
  options: PrepareRunOptions,
  now: () => number,
  batch: () => AsyncIterable<readonly Uint8Array[]>,
): Promise<MeasuredPlan> {
  return measure(model, selection, options, now, {
    async warm(run) {
      for await (const inputs of batch()) return repeat(warming, now, () => run(inputs));
    },
    async count(run) {
      for await (const inputs of batch()) await run(inputs);
    },
    combine: (times) => times.reduce((sum, time) => sum + time, 0),
  });
}

async function measure(
  model: LoadedModel,
  selection: DeviceSelection,
  options: PrepareRunOptions,
  now: () => number,
  load: Load,
): Promise<MeasuredPlan> {
  const whole = await timed(model, selection, load, options, now);
  const measured = { total: whole.total, steps: whole.times, operations: [] };
  try {
    const { plan, times } = await timed(model, selection, load, { ...options, separateOperations: true }, now);
    const operations = plan.choices.map((_, index) => {
      const step = plan.steps.find((one) =>
        (one.kind === "execution" ? one.operations : [one.operation]).includes(index),
      );
      return step && times.get(step);
    });
    return { plan: whole.plan, measured: { ...measured, operations } };
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    return { plan: whole.plan, measured, untimed: error.message };
  }
}

async function timed(
  model: LoadedModel,
  selection: DeviceSelection,
  { warm, count, combine }: Load,
  options: PrepareRunOptions,
  now: () => number,
): Promise<{ readonly plan: Plan; readonly total: number; readonly times: ReadonlyMap<Step, number> }> {
  let inRun = new Map<Step, number>();
  const onStep = ({ step, nanoseconds }: StepTime) => {
    inRun.set(step, (inRun.get(step) ?? 0) + Number(nanoseconds) / 1e6);
  };
  const prepared = await prepareRun(model, selection, { ...options, onStep });
  try {
    await warm(async (inputs) => void (await runOnce(prepared, inputs)));
    const totals: number[] = [];
    const runs: ReadonlyMap<Step, number>[] = [];
    await count(async (inputs) => {
      inRun = new Map();
      const start = now();
      await runOnce(prepared, inputs);
      totals.push(now() - start);
      runs.push(inRun);
    });
    const steps = new Set(runs.flatMap((run) => [...run.keys()]));
    const times = new Map([...steps].map((step) => [step, combine(runs.map((run) => run.get(step) ?? 0))] as const));
    return { plan: prepared.compilation.plan, total: combine(totals), times };
  } finally {
    prepared.compilation.close();
  }
}

async function repeat(
  { least, most, milliseconds }: Runs,
  now: () => number,
  run: () => Promise<unknown>,
): Promise<void> {
  const start = now();
  for (let done = 0; done < least || (done < most && now() - start < milliseconds); done++) await run();
}
