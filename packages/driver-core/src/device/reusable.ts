/**
 * Executions that are set up once and repeated (AIDL 4 IPreparedModel.createReusableExecution): the request is checked and bound when they
 * are made. A bundle for a browser loads this when an application uses them.
 */
import type { RunResult } from "@nnhal/backend";
import {
  ErrorStatus,
  type ExecuteOptions,
  type ExecutionResult,
  type FencedResult,
  type Request,
  type ReusableResult,
  type SyncFence,
} from "@nnhal/types";
import type { Section } from "@nnhal/utils";
import type { ModelRecord } from "../engine/record.ts";
import { failedExecution, failedFenced } from "../guard/failed.ts";
import { failure, invalid, messageOf, type Refusal } from "../guard/refusal.ts";
import { executeArguments, type FencedRunOptions, fencedArguments, type RunOptions } from "./arguments.ts";
import { bindInputs, bindOutputs } from "./bind.ts";
import { type CheckedRequest, checkRequest, isDeviceBuffer } from "./checked-request.ts";
import type { DeviceContext } from "./context.ts";
import { run, unrun } from "./run.ts";

/** Starts the run of an execution: see prepared-model.ts. */
export type Launch = (options: RunOptions, section: Section, start: bigint) => RunResult | Promise<RunResult>;

/** The parts of a prepared model that its reusable executions need. */
export interface Reused {
  readonly record: ModelRecord;
  readonly context: DeviceContext;
  /** Why everything is refused after a close. */
  closed(): Refusal | undefined;
  /** Runs `launch` between the beginning and the end of an execution, and answers `request`. Never rejects. */
  execute(request: Request, options: ExecuteOptions | undefined, launch: Launch): Promise<ExecutionResult>;
  /** Launches an execution behind fences with the options and the request that it is given. Never rejects. */
  launchFenced(
    waitFor: readonly (SyncFence | null)[],
    take: () => FencedRunOptions | Refusal,
    check: () => CheckedRequest | Refusal,
  ): Promise<FencedResult>;
}

const busy = failure("the execution is running: it runs once at a time");

/** Makes a reusable execution of a request. The request and the options can be any values. */
export function createReusable(
  { record, context, closed, execute, launchFenced }: Reused,
  given: Request,
  options?: ExecuteOptions,
): ReusableResult {
  const refusal = closed();
  if (refusal !== undefined) return { ...refusal, execution: null };
  const taken = executeArguments(options, context.session.takeHints);
  if ("status" in taken) return { ...taken, execution: null };
  const { deadline: _, signal: __, hints, ...fixed } = taken;
  const first = checkRequest(record, given, true, context);
  if ("status" in first) return { ...first, execution: null };
  const { request } = first;
  const kept = keep(record, first, context);
  let isRunning = false;
  const end = () => {
    isRunning = false;
  };
  const launch: Launch = (runOptions, section, start) => {
    if (isRunning) return unrun(busy);
    const checked = kept?.isIntact() ? kept.checked : checkRequest(record, request, true, context);
    if ("status" in checked) return unrun(checked);
    isRunning = true;
    const withHints = hints === undefined ? runOptions : { ...runOptions, hints };
    const running = run(record, checked, withHints, section, context, start);
    if (!(running instanceof Promise)) end();
    else void running.then(end);
    return running;
  };
  const fenced = { ...fixed, ...(hints !== undefined && { hints }) };
  // Behind fences the extents of all outputs must be known.
  let isSpecified = false;
  const checkFenced = (): CheckedRequest | Refusal => {
    if (isSpecified && kept?.isIntact()) return kept.checked;
    const checked = checkRequest(record, request, false, context);
    isSpecified = !("status" in checked);
    return checked;
  };
  // Options that are absent need no check in each run.
  const usual = Object.keys(fixed).length === 0 ? undefined : fixed;
  const optionsOf = (times: Pick<ExecuteOptions, "deadline"> | undefined): ExecuteOptions | undefined => {
    const deadline = times?.deadline;
    return deadline === undefined ? usual : { ...fixed, deadline };
  };
  return {
    status: ErrorStatus.NONE,
    execution: {
      execute(times) {
        try {
          return execute(given, optionsOf(times), launch);
        } catch (error) {
          return Promise.resolve(failedExecution(invalid(`the options cannot be read: ${messageOf(error)}`)));
        }
      },
      async executeFenced(waitFor, times) {
        if (isRunning) return failedFenced(busy);
        isRunning = true;
        const take = () => {
          const accepted = fencedArguments(times, undefined);
          return "status" in accepted ? accepted : fencedOptions(fenced, accepted);
        };
        const launched = await launchFenced(waitFor, take, checkFenced);
        endWith(launched, end);
        return launched;
      },
    },
  };
}

function fencedOptions(fixed: RunOptions, { deadline, duration }: FencedRunOptions): FencedRunOptions {
  return {
    ...fixed,
    ...(deadline !== undefined && { deadline }),
    ...(duration !== undefined && { duration }),
  };
}

/** Calls back when a fenced execution has ended. */
function endWith({ syncFence }: FencedResult, end: () => void): void {
  if (syncFence === null) end();
  else void syncFence.wait().then(end);
}

/** A request that each run can use as it is, unless one of its memories has changed. */
interface Kept {
  readonly checked: CheckedRequest;
  /** False if a buffer has been transferred to another thread: the checks tell what is wrong. */
  isIntact(): boolean;
}

/** The checked and bound request; undefined if a run has to look at its pools anew: device buffers, files and hardware buffers. */
function keep(record: ModelRecord, first: CheckedRequest, context: DeviceContext): Kept | undefined {
  if (!first.isPlain) return undefined;
  // The second check finds that it repeats the first.
  const checked: CheckedRequest | Refusal = checkRequest(record, first.request, true, context);
  if ("status" in checked || !checked.isPlain) return undefined;
  const bound = { inputs: bindInputs(record, checked), outputs: bindOutputs(record, checked) };
  const mappings = checked.pools.flatMap((pool) => (isDeviceBuffer(pool) ? [] : [pool]));
  const sizes = mappings.map(({ bytes }) => bytes.length);
  return {
    checked: { ...checked, bound },
    isIntact() {
      for (let index = 0; index < sizes.length; index++) {
        if (mappings[index]?.bytes.length !== sizes[index]) return false;
      }
      return true;
    },
  };
}
