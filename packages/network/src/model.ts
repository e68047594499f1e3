/**
 * A loaded model as applications use it.
 */

import type { DiffReport } from "@nnhal/diff";
import type { OptionNames } from "@nnhal/operations";
import type { Device } from "@nnhal/types";
import { systemTimer, within } from "@nnhal/utils/time";
import type { ElementArray } from "./elements.ts";
import { check, NetworkError } from "./error.ts";
import type { RunTiming } from "./execute.ts";
import { nanoseconds } from "./execute.ts";
import { encodePlain } from "./inputs.ts";
import { createState, type ModelState } from "./model-state.ts";
import { checkOptions, wrapErrors } from "./options.ts";
import { type OutputBuffers, type Outputs, outputsOf, placeBuffers, tensorsOf } from "./results.ts";
import { encodeInputs, type Inputs } from "./run-inputs.ts";
import type { Explanation, Profile, Session, Value } from "./session.ts";
import { infoText, isNumeric, type TensorInfo } from "./tensor-info.ts";
import { kindOf } from "./values.ts";

/** Options of a run. */
export interface RunOptions {
  /** True if outputs are the elements as the model has them, rather than real numbers. Default: no. */
  readonly raw?: boolean | undefined;
  /** Memory for outputs by name: an array of the type and length that the result has. Default: new memory. */
  readonly outputs?: OutputBuffers | undefined;
  /**
   * Milliseconds that the run may take: then it rejects with TIMED_OUT, and the computation ends as for `signal`. Default: no limit.
   */
  readonly timeout?: number | undefined;
  /** Has the device measure the run, and gets the times. Called if the model runs on one device that was named, and the device measures. */
  readonly onTiming?: ((timing: RunTiming) => void) | undefined;
  /**
   * True if memory of inputs that are elements moves to the worker, with all that it holds, instead of being copied: the arrays are empty
   * then. Default: no.
   */
  readonly transfer?: boolean | undefined;
  /**
   * When it aborts, the run rejects with its reason, and the computation ends at the next pause of the device, in a worker too: after some
   * milliseconds on the reference, tfjs and gpujs, after the graph that it computes on ort and on a device of another process.
   */
  readonly signal?: AbortSignal | undefined;
  /**
   * Called once when nothing of the run computes any more. A run that `signal` or `timeout` ends has rejected before, at the next pause of the
   * device at the earliest.
   */
  readonly onEnd?: (() => void) | undefined;
}

/** A loaded model. All methods reject with a NetworkError; CLOSED after `close`. */
export interface Model extends AsyncDisposable {
  readonly inputs: readonly TensorInfo[];
  readonly outputs: readonly TensorInfo[];
  /** The devices that compute. */
  readonly devices: readonly string[];
  /** The keys of the file's signatures: see `LoadOptions.signature`. */
  readonly signatures: readonly string[];
  /** Texts of the maker about the model; empty if there are none. */
  readonly about: { readonly name: string; readonly description: string; readonly license: string };
  readonly state: ModelState;
  /** Runs the model. Several runs may go on at a time. */
  run(inputs: Inputs, options: RunOptions & { readonly raw: true }): Promise<Outputs<ElementArray>>;
  run(inputs: Inputs, options?: RunOptions): Promise<Outputs>;
  /** Which device computes each operation, and why. */
  explain(): Promise<Explanation>;
  /** Runs several times and tells how long each operation takes. `inputs` default to zeros, `runs` to 5. */
  profile(options?: ProfileOptions): Promise<Profile>;
  /**
   * Holds each operation against a judge, alone and as the network runs, and says which is the first that is wrong. The report's `verdict` is
   * the outcome in a sentence.
   */
  diff(options?: DiffOptions): Promise<DiffReport>;
  /** Waits for runs that have started, and frees the model. */
  close(): Promise<void>;
}

const runOptions: OptionNames<RunOptions> = {
  raw: true,
  outputs: true,
  timeout: true,
  onTiming: true,
  transfer: true,
  signal: true,
  onEnd: true,
};

/** Options of profiling a model. */
export interface ProfileOptions {
  /** Default: zeros. */
  readonly inputs?: Inputs | undefined;
  /** Default: 5. */
  readonly runs?: number | undefined;
}

/** Options of holding a model against a judge. */
export interface DiffOptions {
  /** The inputs of each run. Default: noise. */
  readonly inputs?: readonly Inputs[] | undefined;
  /** Runs on noise, from the seeds 1 and up: at most 1000. Default: 1. */
  readonly random?: number | undefined;
  /**
   * The judge: devices as of `LoadOptions.devices`, or another form of the network that is loaded in this thread, such as the float model
   * of a quantised one. Then differences are measured, and none is wrong unless `steps` says so. Default: "reference".
   */
  readonly against?: string | readonly (string | Device)[] | Model | undefined;
  /** Steps that integers and quantised elements may be off. Default: 1. */
  readonly steps?: number | undefined;
  /** The part that floats may be off, of the element and the root mean square of its tensor together. Default: as the arithmetic says. */
  readonly relative?: number | undefined;
  /** Called before each operation, and with the count at the end. */
  readonly onProgress?: ((done: number, total: number) => void) | undefined;
  /** When it aborts, the comparison rejects with its reason before the next operation. */
  readonly signal?: AbortSignal | undefined;
}

const profileOptions: OptionNames<ProfileOptions> = { inputs: true, runs: true };

/** The work of `Model.diff`, loaded at its first call. `sessionOf`: the session of a model. */
export interface Differ {
  diffLoaded(
    session: Session,
    options: DiffOptions,
    sessionOf: (model: Model) => Session | undefined,
    tools: DifferTools,
  ): Promise<DiffReport>;
}

const tools = { check, checkOptions, encodeInputs, infoText, kindOf };

/** Functions of this module that the differ is given, since it imports nothing: see `apart.ts`. */
export type DifferTools = typeof tools;

/** A model over a session. */
export function createModel(session: Session, loadDiffer: () => Promise<Differ>): Model {
  const { inputs, outputs, states, devices, signatures, name, description, license } = session.description;
  let closing: Promise<void> | undefined;
  const expectOpen = (what: string) =>
    check(closing === undefined, "CLOSED", () => `${what}: the model is closed, and cannot be used any more`);
  const calls = new Set<Promise<unknown>>();
  /** Calls a method of the model, which `close` waits for. */
  const call = <Result>(
    what: string,
    options: { readonly signal?: AbortSignal | undefined } | undefined,
    work: () => Promise<Result>,
  ): Promise<Result> => {
    const result = wrapErrors(what, options, async () => {
      expectOpen(what);
      return work();
    });
    const settled: Promise<unknown> = result.catch(() => {}).finally(() => calls.delete(settled));
    calls.add(settled);
    return result;
  };
  const runOnce = async (given: Inputs, options: RunOptions, onStart: (work: Promise<unknown>) => void) => {
    checkOptions("run", options, runOptions);
    const { raw = false, outputs: buffers = {}, timeout, onTiming, transfer, signal, onEnd } = options;
    check(
      timeout === undefined || (typeof timeout === "number" && timeout > 0),
      "BAD_OPTION",
      () => `timeout: expected a number of milliseconds above 0, got ${timeout}`,
    );
    check(
      onEnd === undefined || typeof onEnd === "function",
      "BAD_OPTION",
      () => `onEnd: expected a function, got ${kindOf(onEnd)}`,
    );
    signal?.throwIfAborted();
    const into = placeBuffers(buffers, outputs, raw);
    const values = await encodeInputs(given, inputs);
    signal?.throwIfAborted();
    // Elements that the caller gets as they are can be computed to where they are wanted.
    const places = into.map((array) => array && new Uint8Array(array.buffer, array.byteOffset, array.byteLength));
    const mayOutlive = signal !== undefined || timeout !== undefined;
    // Ends the computation when its result is not wanted any more.
    const stop = mayOutlive ? new AbortController() : undefined;
    const asked = { timeout, signal: stop?.signal, measure: onTiming !== undefined, transfer };
    const results = await until(signal, stop, () => {
      const work = session.compute(values, mayOutlive ? [] : places, asked);
      onStart(work);
      return inTime(work, timeout);
    });
    if (results.timing !== undefined) onTiming?.(results.timing);
    const tensors = await tensorsOf(outputs, results.values, raw, into);
    return outputsOf(outputs, tensors, raw);
  };
  const run = async (given: Inputs, options: RunOptions = {}) => {
    let computing: Promise<unknown> = Promise.resolve();
    const onStart = (work: Promise<unknown>) => {
      computing = work;
    };
    try {
      return await call("run", options, () => runOnce(given, options, onStart));
    } finally {
      // Callers in JavaScript may pass null.
      const onEnd = options?.onEnd;
      if (typeof onEnd === "function")
        computing.then(
          () => onEnd(),
          () => onEnd(),
        );
    }
  };
  const close = () => {
    closing ??= Promise.all(calls).then(() => session.close());
    return closing;
  };
  const model: Model = {
    inputs,
    outputs,
    devices,
    signatures,
    about: { name, description, license },
    state: createState(session, states, call),
    // The overloads differ in what `raw` leads to.
    run: run as Model["run"],
    explain: () => call("explain", undefined, () => session.explain()),
    profile: (options = {}) =>
      call("profile", undefined, async () => {
        checkOptions("profile", options, profileOptions);
        const { inputs: given, runs = 5 } = options;
        check(
          Number.isInteger(runs) && runs > 0,
          "BAD_OPTION",
          () => `runs: expected a whole number above 0, got ${runs}`,
        );
        return session.profile(await (given === undefined ? zeroInputs(inputs) : encodeInputs(given, inputs)), runs);
      }),
    diff: (options = {}) =>
      call("diff", options, async () => {
        const { diffLoaded } = await loadDiffer();
        return diffLoaded(session, options, (other) => sessions.get(other), tools);
      }),
    close,
    [Symbol.asyncDispose]: close,
  };
  sessions.set(model, session);
  return model;
}

/** The session of each model. */
const sessions = new WeakMap<Model, Session>();

async function zeroInputs(inputs: readonly TensorInfo[]): Promise<Value[]> {
  const values = inputs.map((info) => {
    const isKnown = info.shape.length > 0 && !info.shape.includes(0);
    check(isKnown, "WRONG_NAME", () => `profile: the input ${infoText(info)} has open extents: give \`inputs\``);
    const count = info.shape.reduce((product, extent) => product * extent, 1);
    const value = isNumeric(info) ? Array<number>(count).fill(0) : Array<string>(count).fill("");
    return encodePlain(value, info, "the input");
  });
  return Promise.all(values);
}

/** Resolves as the work does, unless it takes longer. Nothing waits for work that is late. */
async function inTime<Result>(work: Promise<Result>, timeout: number | undefined): Promise<Result> {
  if (timeout === undefined) return work;
  // A device that was told may say so itself, a little later and in more detail.
  return within(work, nanoseconds(timeout), systemTimer, () => {
    throw new NetworkError("TIMED_OUT", `the run failed: it was to take ${timeout} ms at most`);
  });
}

/** Resolves as the work does, unless the signal aborts before. Then, and if the work fails, `stop` is aborted. */
async function until<Result>(
  signal: AbortSignal | undefined,
  stop: AbortController | undefined,
  work: () => Promise<Result>,
): Promise<Result> {
  if (stop === undefined) return work();
  let abort = () => {};
  // The signal may abort while the work begins.
  const aborted = new Promise<never>((_, reject) => {
    abort = () => {
      stop.abort();
      reject(signal?.reason);
    };
    signal?.addEventListener("abort", abort, { once: true });
  });
  try {
    return await Promise.race([work(), aborted]);
  } finally {
    stop.abort();
    signal?.removeEventListener("abort", abort);
  }
}
