/**
 * Times the steps of a model's plan, and each operation in a step of its own.
 */
import type { Plan } from "@nnhal/driver-core/partition";
import {
  createStepTimer,
  hasEmpty,
  type InputBytes,
  type Load,
  measureModel,
  type PreparedSession,
  type StepTimer,
  withEmpty,
} from "@nnhal/network/session";
import type { DeviceSelection } from "../devices.ts";
import { usageError } from "../failure.ts";
import { explainFailure, failureOf, type PrepareRunOptions, prepareRun, valuesOf } from "../model/execute.ts";
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

/** Number of runs: at least and at most so many, and no longer than some time once that is enough. */
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
  const values = valuesOf(model, given ?? (await noise()));
  const load = (used: readonly InputBytes[]): Load => ({
    now,
    warm: (run) => repeat(warming, now, () => run(used)),
    count: (run) => repeat(counting, now, () => run(used)),
    combine: median,
  });
  if (!hasEmpty(values)) return measure(model, selection, options, load(values));
  return withSession(model, selection, options, (session) =>
    withEmpty(session, values, (empty, rest) => measureTimes(model, empty, load(rest))),
  );
}

/** The same for a batch of inputs, of which each runs once; times are sums over the batch. */
export async function measureBatch(
  model: LoadedModel,
  selection: DeviceSelection,
  options: PrepareRunOptions,
  now: () => number,
  batch: () => AsyncIterable<readonly Uint8Array[]>,
): Promise<MeasuredPlan> {
  const valuesIn = (inputs: readonly Uint8Array[]) => {
    const values = valuesOf(model, inputs);
    if (hasEmpty(values))
      throw usageError("--profile of several inputs: expected inputs with elements, got one without; profile it alone");
    return values;
  };
  return measure(model, selection, options, {
    now,
    async warm(run) {
      for await (const inputs of batch()) return repeat(warming, now, () => run(valuesIn(inputs)));
    },
    async count(run) {
      for await (const inputs of batch()) await run(valuesIn(inputs));
    },
    combine: (times) => times.reduce((sum, time) => sum + time, 0),
  });
}

function measure(
  model: LoadedModel,
  selection: DeviceSelection,
  options: PrepareRunOptions,
  load: Load,
): Promise<MeasuredPlan> {
  const steps = createStepTimer();
  return withSession(model, selection, { ...options, onStep: steps.onStep }, (session) =>
    measureTimes(model, session, load, steps),
  );
}

async function withSession<Result>(
  model: LoadedModel,
  selection: DeviceSelection,
  options: PrepareRunOptions,
  work: (session: PreparedSession) => Promise<Result>,
): Promise<Result> {
  const { session } = await prepareRun(model, selection, options);
  try {
    return await explainFailure(model, () => work(session));
  } finally {
    await session.close();
  }
}

async function measureTimes(
  model: LoadedModel,
  session: Parameters<typeof measureModel>[0],
  load: Load,
  steps?: StepTimer,
): Promise<MeasuredPlan> {
  const { plan, untimed, ...times } = await measureModel(session, load, steps);
  return { plan, measured: times, ...(untimed && { untimed: (await failureOf(model, untimed)).message }) };
}

async function repeat(
  { least, most, milliseconds }: Runs,
  now: () => number,
  run: () => Promise<unknown>,
): Promise<void> {
  const start = now();
  for (let done = 0; done < least || (done < most && now() - start < milliseconds); done++) await run();
}
