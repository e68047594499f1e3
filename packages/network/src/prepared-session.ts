/**
 * An imported model, prepared for devices that are open: it runs on bytes, and keeps what the model carries from one run to the next. What
 * `load` opens stands on it, and so do programs that import models and find devices themselves, such as the command line.
 */
import { elementAt } from "@nnhal/operations";
import { Compilation, type CompilationOptions, FinishedModel, NeuralNetworksError, ResultCode } from "@nnhal/runtime";
import { createStates, type ImportedModel, type States } from "@nnhal/tflite";
import type { ExecutionPreference } from "@nnhal/types";
import { inSection, noTracer } from "@nnhal/utils";
import { createMutex } from "@nnhal/utils/time";
import type { Selection } from "./devices.ts";
import type { EmptyRuns, Prepared } from "./empty-runs.ts";
import { check, NetworkError } from "./error.ts";
import { type ExecuteOptions, execute, type InputBytes, type RunTiming } from "./execute.ts";
import type { Asked, Computed } from "./session.ts";
import { oneLine } from "./text.ts";

/** Options for preparing a model. */
export interface PrepareOptions extends Omit<CompilationOptions, "cpu"> {
  /** Default: that of the runtime, FAST_SINGLE_ANSWER. */
  readonly preference?: ExecutionPreference | undefined;
  /** The folder that keeps what devices prepare, under a token of the model: see `modelToken`. Default: nothing is kept. */
  readonly cache?: { readonly folder: string; readonly token: Uint8Array } | undefined;
}

/** Parts of a session. */
export interface PreparedSessionOptions {
  readonly imported: ImportedModel;
  readonly selection: Pick<Selection, "devices" | "cpu">;
  /** Imports the model with inputs without elements as constants: a run with such an input computes on that. */
  importEmpty(shapes: ReadonlyMap<number, readonly number[]>): Promise<ImportedModel>;
  /** Opens devices with the extension for .tflite, which such runs need. Absent: the devices have it. */
  readonly extend?: (() => Promise<Selection>) | undefined;
  readonly preparing?: PrepareOptions;
  /** States that runs begin with and change. Default: the initial values. */
  readonly states?: States | undefined;
}

/** A model that is ready to run. Its methods reject with a NetworkError. */
export interface PreparedSession extends Prepared {
  readonly states: States;
  /** The inputs of an execution: `values` of the model's inputs without states, in order, then the states. */
  inputsOf(values: readonly InputBytes[]): readonly InputBytes[];
  /** Runs once. `into`: memory for some outputs, which is used if an output fits it exactly. Values are those of outputs without states. */
  compute(values: readonly InputBytes[], into?: readonly (Uint8Array | undefined)[], asked?: Asked): Promise<Computed>;
  /** Does work between the runs of a model with state. `close` waits for it. */
  inTurn<Result>(work: () => Promise<Result>): Promise<Result>;
  /** Prepares the model once more, in the same way. The caller closes it. */
  prepareAgain(observing: Pick<CompilationOptions, "onStep" | "separateOperations">): Promise<Compilation>;
  /** Runs a compilation of the model from the states as they are, which stay as they are. */
  runOn(prepared: Prepared, values: readonly InputBytes[]): Promise<unknown>;
  /** Runs with values of which some have no elements: the model is prepared for these. */
  emptyRuns(): Promise<EmptyRuns>;
  /** Waits for runs that have started. The devices stay open. */
  close(): Promise<void>;
}

/** Prepares a model. Rejects with CANNOT_RUN, which says which operation no device takes, and why. */
export async function prepareSession({
  imported,
  selection,
  importEmpty,
  extend,
  preparing = {},
  states = createStates(imported),
}: PreparedSessionOptions): Promise<PreparedSession> {
  const compilation = await prepare(imported, selection, preparing);
  // The kept states belong to this model.
  const others: PrepareOptions = { ...preparing, cache: undefined };
  let empties: Promise<EmptyRuns> | undefined;
  const openEmpty = async () =>
    (await import("./empty-runs.ts")).openEmptyRuns({
      imported,
      selection,
      extend,
      importWith: importEmpty,
      prepare: (other, devices, observing) => prepare(other, devices, { ...others, ...observing }),
    });
  const emptyRuns = () => {
    empties ??= openEmpty();
    return empties;
  };
  const running = new Set<Promise<unknown>>();
  const track = <Result>(work: Promise<Result>): Promise<Result> => {
    const done: Promise<unknown> = work.catch(() => {}).finally(() => running.delete(done));
    running.add(done);
    return work;
  };
  // A run of a model with state begins when the one before it has ended.
  const mutex = createMutex();
  const inTurn = <Result>(work: () => Promise<Result>): Promise<Result> => track(mutex(work));
  const inputsOf = (values: readonly InputBytes[], model = imported): InputBytes[] => {
    const { inputs } = model;
    const argument = ({ bytes, shape }: InputBytes, place: number): InputBytes => {
      const isOpen = elementAt(inputs, place).shape.length === 0 || elementAt(inputs, place).shape.includes(0);
      return isOpen ? { bytes, shape } : { bytes };
    };
    const all = values.slice(0, inputs.length - model.states.length).map(argument);
    for (const { index, bytes, dimensions } of states.inputs(model))
      all[index] = argument({ bytes, shape: dimensions }, index);
    return all;
  };
  // The NNAPI tells deadlines and asks for times of one device that was chosen, and of no others.
  const isForOne = selection.devices.length === 1 && selection.cpu === undefined;
  const runPrepared = async (
    { imported: model, compilation }: Prepared,
    values: readonly InputBytes[],
    into: readonly (Uint8Array | undefined)[] = [],
    { timeout, signal, measure = false }: Asked = {},
  ) => {
    // A run of a model with state may have waited for others.
    check(signal?.aborted !== true, "FAILED", () => "the run failed: it was stopped before it began");
    let timing: RunTiming | undefined;
    const onTiming = (measured: RunTiming) => {
      timing = measured;
    };
    const options: ExecuteOptions = { signal, ...(isForOne && { timeout }), ...(isForOne && measure && { onTiming }) };
    const inputs = inputsOf(values, model);
    const results = await wrapErrors("FAILED", "the run failed", () =>
      inSection(compilation.trace, "LA", "PE", "run", () => execute(compilation, inputs, model.outputs, into, options)),
    );
    return { model, results, timing };
  };
  type Arguments = [values: readonly InputBytes[], into?: readonly (Uint8Array | undefined)[], asked?: Asked];
  const runOn = async (prepared: Prepared, ...[values, into, asked]: Arguments) => {
    if (!values.some(({ shape }) => shape?.includes(0))) return runPrepared(prepared, values, into, asked);
    // The HAL has no requests with such values.
    return (await emptyRuns()).run(values, (other, rest) => runPrepared(other, rest, into, asked));
  };
  const own: Prepared = { imported, compilation };
  const once = async (...given: Arguments): Promise<Computed> => {
    const { model, results, timing } = await runOn(own, ...given);
    states.update(model, (output) => {
      const { bytes, info } = elementAt(results, output);
      return { bytes, dimensions: info.shape };
    });
    const stateOutputs = new Set(model.states.map(({ output }) => output));
    const values = results.filter((_, place) => !stateOutputs.has(place));
    return { values: values.map(({ info, bytes }) => ({ bytes, shape: info.shape })), timing };
  };
  return {
    ...own,
    states,
    inputsOf,
    inTurn,
    compute: (...given) => (imported.states.length === 0 ? track(once(...given)) : inTurn(() => once(...given))),
    prepareAgain: (observing) => prepare(imported, selection, { ...others, ...observing }),
    runOn,
    emptyRuns,
    async close() {
      await Promise.all(running);
      compilation.close();
      await (await empties?.catch(() => undefined))?.close();
    },
  };
}

function prepare(
  { model }: ImportedModel,
  { devices, cpu }: Pick<Selection, "devices" | "cpu">,
  { preference, cache, ...options }: PrepareOptions,
): Promise<Compilation> {
  const { trace = noTracer, log } = options;
  return wrapErrors("CANNOT_RUN", "the model cannot run", async () => {
    const built = inSection(trace, "LA", "PP", "build model", () => FinishedModel.from(model, { trace, log }));
    const compilation = new Compilation(built, devices, { ...options, ...(cpu && { cpu }) });
    if (preference !== undefined) compilation.setPreference(preference);
    if (cache !== undefined) compilation.setCaching(cache.folder, cache.token);
    await inSection(trace, "LA", "PC", "compile", () => compilation.finish());
    return compilation;
  });
}

/** Does work whose problems in the runtime become a NetworkError. `what`: begins its message. */
async function wrapErrors<Result>(
  code: "CANNOT_RUN" | "FAILED",
  what: string,
  work: () => Promise<Result>,
): Promise<Result> {
  try {
    return await work();
  } catch (error) {
    if (!(error instanceof NeuralNetworksError)) throw error;
    const isLate =
      error.code === ResultCode.MISSED_DEADLINE_TRANSIENT || error.code === ResultCode.MISSED_DEADLINE_PERSISTENT;
    const message = oneLine(error.message);
    throw new NetworkError(isLate ? "TIMED_OUT" : code, `${what}: ${message}`, {
      cause: error,
      problems: code === "FAILED" ? [] : [message],
    });
  }
}
