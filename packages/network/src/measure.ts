/**
 * Times of a model: of whole runs, of the steps of its plan, and of each operation in a step of its own. It is loaded when it is needed, and
 * imports nothing: what it imported would be in a bundle for a browser as a part of its own.
 */
import type { Plan, Step } from "@nnhal/driver-core/partition";
import type { ExtensionDefinition } from "@nnhal/operations";
import type { StepTime } from "@nnhal/runtime";
import type { ImportedModel } from "@nnhal/tflite";
import type { Prepared } from "./empty-runs.ts";
import type { NetworkError } from "./error.ts";
import type { InputBytes } from "./execute.ts";
import type { PreparedSession } from "./prepared-session.ts";
import type { NamedOperation, Profile, Value } from "./session.ts";

type Run = (inputs: readonly InputBytes[]) => Promise<void>;

/** The load of a measurement: runs that warm up, runs that count, and the summary of their times. */
export interface Load {
  /** Runs that do not count: engines and the engine of JavaScript compile what runs often. */
  warm(run: Run): Promise<void>;
  /** Runs that count. */
  count(run: Run): Promise<void>;
  /** Such as their median, or their sum. */
  combine(times: readonly number[]): number;
  /** Milliseconds of a clock that never goes back. Default: `performance.now`. */
  now?(): number;
}

/** Times in milliseconds, as the load combines them. */
export interface MeasuredModel {
  /** The plan that ran, which may be the CPU's after a device failed. */
  readonly plan: Plan;
  readonly total: number;
  /** Empty if steps are not timed. */
  readonly steps: ReadonlyMap<Step, number>;
  /** By operation of the main subgraph; undefined for one that could not be separated from others. */
  readonly operations: readonly (number | undefined)[];
  /** The plan in which operations were separated; undefined if that was not possible. */
  readonly apart: Plan | undefined;
  /** Why operations were not timed. */
  readonly untimed?: NetworkError;
}

/** The measured model. */
type Measured = Pick<PreparedSession, "imported" | "compilation" | "inTurn" | "prepareAgain" | "runOn">;

/** Collects the times of steps of one run after the other. */
export interface StepTimer {
  /** For the options of a compilation. */
  readonly onStep: (time: StepTime) => void;
  /** The times in milliseconds since this was called before. */
  take(): ReadonlyMap<Step, number>;
}

/** A timer without times. */
export function createStepTimer(): StepTimer {
  let times = new Map<Step, number>();
  return {
    onStep: ({ step, nanoseconds }) => {
      times.set(step, (times.get(step) ?? 0) + Number(nanoseconds) / 1e6);
    },
    take() {
      const taken = times;
      times = new Map();
      return taken;
    },
  };
}

/**
 * Measures a model from the states as they are, which stay as they are. `steps`: the timer with which the session was prepared; by default
 * steps are not timed. Rejects if the model cannot run.
 */
export function measureModel(session: Measured, load: Load, steps = createStepTimer()): Promise<MeasuredModel> {
  return session.inTurn(async () => {
    const whole = await timeRuns(session, session, load, steps);
    const measured = { ...whole, plan: session.compilation.plan };
    try {
      const timer = createStepTimer();
      const compilation = await session.prepareAgain({ onStep: timer.onStep, separateOperations: true });
      try {
        const times = (await timeRuns(session, { ...session, compilation }, load, timer)).steps;
        const { plan } = compilation;
        const operations = plan.choices.map((_, index) => {
          const step = plan.steps.find((one) => operationsOf(one).includes(index));
          return step && operationsOf(step).length === 1 ? times.get(step) : undefined;
        });
        return { ...measured, operations, apart: plan };
      } finally {
        compilation.close();
      }
    } catch (error) {
      if (!isNetworkError(error)) throw error;
      return { ...measured, operations: [], apart: undefined, untimed: error };
    }
  });
}

async function timeRuns(
  { runOn }: Measured,
  prepared: Prepared,
  { warm, count, combine, now = () => performance.now() }: Load,
  timer: StepTimer,
) {
  await warm(async (inputs) => void (await runOn(prepared, inputs)));
  const totals: number[] = [];
  const runs: ReadonlyMap<Step, number>[] = [];
  await count(async (inputs) => {
    timer.take();
    const start = now();
    await runOn(prepared, inputs);
    totals.push(now() - start);
    runs.push(timer.take());
  });
  const all = new Set(runs.flatMap((run) => [...run.keys()]));
  const steps = new Map([...all].map((step) => [step, combine(runs.map((run) => run.get(step) ?? 0))] as const));
  return { total: combine(totals), steps };
}

/** Tells the error by its name, without the class. */
function isNetworkError(error: unknown): error is NetworkError {
  return error instanceof Error && error.name === "NetworkError";
}

/** Prepares a model for values of which some have no elements, and lets it go after the work. `rest`: the values that have elements. */
export async function withEmpty<Result>(
  session: PreparedSession,
  values: readonly InputBytes[],
  work: (session: Measured, rest: readonly InputBytes[]) => Promise<Result>,
): Promise<Result> {
  const runs = await session.emptyRuns();
  return runs.run(values, (prepared, rest, prepareAgain) => work({ ...session, ...prepared, prepareAgain }, rest));
}

/** Returns true if a value has no elements, so that a model is prepared for it. */
export function hasEmpty(values: readonly InputBytes[]): boolean {
  return values.some(({ shape }) => shape?.includes(0));
}

/**
 * The times of a model's operations on some inputs: medians of some runs. Rejects if operations cannot be separated. With an input without
 * elements the model is prepared for that once, and `nameOf` names the operations of what it becomes; operations that cannot be separated, since
 * their results have no elements either, have no time.
 */
export async function profile(
  session: PreparedSession,
  nameOf: (imported: ImportedModel, ...more: readonly ExtensionDefinition[]) => readonly NamedOperation[],
  values: readonly Value[],
  runs: number,
): Promise<Profile> {
  if (!hasEmpty(values)) return profileWhole(session, nameOf(session.imported), values, runs);
  // The model that it becomes has operations of this extension.
  const { tfliteExtension } = await import("@nnhal/extension-tflite");
  return withEmpty(session, values, (model, rest) =>
    profileWhole(model, nameOf(model.imported, tfliteExtension), rest, runs, true),
  );
}

async function profileWhole(
  session: Measured,
  named: readonly NamedOperation[],
  values: readonly InputBytes[],
  runs: number,
  isEmpty = false,
): Promise<Profile> {
  const { total, operations, plan, apart, untimed } = await measureModel(session, {
    warm: (run) => run(values),
    async count(run) {
      for (let count = 0; count < runs; count++) await run(values);
    },
    combine: median,
  });
  if (apart === undefined && !isEmpty) throw untimed;
  const { choices, devices } = apart ?? plan;
  return {
    time: total,
    operations: named.map((operation, index) => {
      const device = choices[index]?.device;
      return {
        ...operation,
        device: device === undefined ? undefined : devices[device],
        time: operations[index],
      };
    }),
  };
}

function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[sorted.length >> 1] ?? 0;
}

/** The operations of a step. */
function operationsOf(step: Step): readonly number[] {
  return step.kind === "execution" ? step.operations : [step.operation];
}
