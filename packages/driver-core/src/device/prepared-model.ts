/** A prepared model: its methods check requests, run them and return answers. */
import type { RunResult } from "@nnhal/backend";
import { ErrorStatus, ExecutionPreference, MeasureTiming, type PreparedModel, type Request } from "@nnhal/types";
import type { Section } from "@nnhal/utils";
import { loadOnce } from "@nnhal/utils";
import { nextTurn } from "@nnhal/utils/time";
import type { ModelRecord } from "../engine/record.ts";
import { failedBurst, failedExecution, failedFenced } from "../guard/failed.ts";
import { failure, invalid, messageOf, type Refusal } from "../guard/refusal.ts";
import { answer } from "./answer.ts";
import { executeArguments, fencedArguments, type RunOptions } from "./arguments.ts";
import { checkRequest } from "./checked-request.ts";
import type { DeviceContext } from "./context.ts";
import { executeFenced } from "./fenced.ts";
import { holdExecutable } from "./hold-executable.ts";
import { outcomeText, requestText, timingText } from "./log-text.ts";
import type { Reused } from "./reusable.ts";
import { run, unrun } from "./run.ts";

const bursts = loadOnce(() => import("../burst/server.ts"));
const reusables = loadOnce(() => import("./reusable.ts"));

/** The prepared model of a compiled executable. */
export function preparedModel(record: ModelRecord, context: DeviceContext): PreparedModel {
  const { name, log, trace, domain, client, turnLimit } = context;
  const executeDetail = `${name}: execute`;
  // All methods reference it, so that it lives as long as any of them.
  const held = holdExecutable(record, context);
  const begin = () => {
    held.begin();
    return trace.begin("LD", "PE", executeDetail);
  };
  const end = (section: Section) => {
    section.end();
    held.end();
  };
  /** Why executions are refused after a close. */
  const closed = (): Refusal | undefined =>
    client.gone ?? (held.isClosed ? invalid("the prepared model is closed") : undefined);
  const executeWith: Reused["execute"] = async (request, options, launch) => {
    const refusal = closed();
    if (refusal !== undefined) {
      if (turnLimit.isSpent(context.now())) await nextTurn();
      return failedExecution(refusal);
    }
    const section = begin();
    try {
      const start = context.now();
      const taken = executeArguments(options, context.session.takeHints);
      const started = "status" in taken ? unrun(taken) : launch(taken, section, start);
      const ended = started instanceof Promise ? await started : started;
      const isMeasured = !("status" in taken) && taken.measure === MeasureTiming.YES;
      const result = answer(request, ended, isMeasured ? context.now() - start : undefined);
      // Refusals need no engine: a caller that asks again at once would keep all others from running.
      if (result.status !== ErrorStatus.NONE && turnLimit.isSpent(context.now())) await nextTurn();
      if (log.VLOG_IS_ON("DRIVER")) {
        log.VLOG("DRIVER", `${name}: execute returns ${outcomeText(result)}${timingText(result.timing)}`);
      }
      return result;
    } catch (error) {
      return failedExecution(failure(`executing: ${messageOf(error)}`));
    } finally {
      end(section);
    }
  };
  const launchFenced: Reused["launchFenced"] = async (waitFor, take, check) => {
    const refusal = closed();
    if (refusal !== undefined) return failedFenced(refusal);
    const section = begin();
    let launched: ReturnType<typeof executeFenced>;
    try {
      const taken = take();
      launched = "status" in taken ? taken : executeFenced(record, check, waitFor, taken, section, context);
    } catch (error) {
      launched = failure(`executing: ${messageOf(error)}`);
    }
    if ("status" in launched) {
      end(section);
      log.VLOG("DRIVER", () => `${name}: executeFenced returns ${outcomeText(launched)}`);
      return failedFenced(launched);
    }
    const ended = launched.ended.finally(() => end(section));
    // Work that can finish in this turn of the event loop has finished after it.
    await Promise.race([ended, nextTurn()]);
    const { syncFence } = launched.answer;
    // An execution that has succeeded already needs no fence.
    return syncFence?.state === "SIGNALED" ? { ...launched.answer, syncFence: null } : launched.answer;
  };
  const result: PreparedModel = {
    execute: (request, options) =>
      executeWith(request, options, (taken, section, start) =>
        execute(record, request, taken, section, context, start),
      ),
    executeFenced: (request, waitFor, options) =>
      launchFenced(
        waitFor,
        () => fencedArguments(options, context.session.takeHints),
        () => checkRequest(record, request, false, context),
      ),
    createReusableExecution: async (...setUp) =>
      (await reusables()).createReusable({ record, context, closed, execute: executeWith, launchFenced }, ...setUp),
    async configureExecutionBurst(callback, requestChannel, resultChannel) {
      log.VLOG("DRIVER", () => `${name}: configureExecutionBurst`);
      const refusal = closed();
      if (refusal !== undefined) return failedBurst(refusal);
      // Few clients use bursts: a bundle for a browser loads them when one does.
      const { configureExecutionBurst } = await bursts();
      const saving = record.preference === ExecutionPreference.LOW_POWER;
      const burst = configureExecutionBurst(result, callback, requestChannel, resultChannel, {
        now: context.now,
        timer: context.timer,
        log: (message) => log.VLOG("DRIVER", `${name}: burst: ${message}`),
        ...(saving && { pollingWindow: 0 }),
      });
      if (burst.context !== null) void burst.context.ended.then(context.client.onClose(burst.context.close));
      return burst;
    },
    close() {
      // A closed model has no roles: allocations for it are refused.
      domain.records.delete(result);
      held.close();
    },
  };
  domain.records.set(result, record);
  return result;
}

/** Checks and runs a request. The result itself if the engine answers at once. `start`: now. */
function execute(
  record: ModelRecord,
  request: Request,
  options: RunOptions,
  section: Section,
  context: DeviceContext,
  start: bigint,
): RunResult | Promise<RunResult> {
  const { name, log } = context;
  const placing = section.begin("LD", "PIO", "map pools");
  const checked = checkRequest(record, request, true, context);
  placing.end();
  if ("status" in checked) return unrun(checked);
  if (log.VLOG_IS_ON("DRIVER")) log.VLOG("DRIVER", `${name}: execute ${requestText(checked.request)}`);
  return run(record, checked, options, section, context, start);
}
