/**
 * A prepared model: what a request goes through from the call to the answer.
 */
import { type CompileOptions, type GraphSource, viewModel } from "@nnhal/backend";
import {
  ErrorStatus,
  type ExecuteOptions,
  ExecutionPreference,
  type ExecutionResult,
  type FencedResult,
  MeasureTiming,
  type PreparedModel,
  type PrepareResult,
  type Request,
} from "@nnhal/types";
import { inSection, type Section } from "@nnhal/utils";
import { configureExecutionBurst } from "../burst/server.ts";
import { answer, refused } from "./answer.ts";
import type { Refusal } from "./check-model.ts";
import type { DeviceContext } from "./device.ts";
import { executeFenced } from "./fenced.ts";
import { invalid, launch } from "./launch.ts";
import { outcomeText, requestText, timingText } from "./log-text.ts";
import type { ModelRecord } from "./record.ts";
import { run } from "./run.ts";

/** Compiles a checked model. */
export async function prepareModel(
  source: GraphSource,
  options: CompileOptions,
  deadline: bigint | undefined,
  context: DeviceContext,
): Promise<PrepareResult> {
  try {
    const graph = viewModel(source);
    const executable = await inSection(context.trace, "LC", "PC", "compile", () =>
      context.session.compile(graph, options),
    );
    if (deadline !== undefined && context.now() >= deadline) {
      executable.close();
      return {
        status: ErrorStatus.MISSED_DEADLINE_TRANSIENT,
        message: "the deadline passed while the model was prepared",
        preparedModel: null,
      };
    }
    const record: ModelRecord = { model: source.model, graph, executable, ...options };
    return { status: ErrorStatus.NONE, preparedModel: preparedModel(record, context) };
  } catch (error) {
    return {
      status: ErrorStatus.GENERAL_FAILURE,
      message: `preparing the model: ${messageOf(error)}`,
      preparedModel: null,
    };
  }
}

function preparedModel(record: ModelRecord, context: DeviceContext): PreparedModel {
  const { name, log, trace, domain } = context;
  const executeDetail = `${name}: execute`;
  let closed = false;
  let underWay = 0;
  const begin = () => {
    underWay++;
    return trace.begin("LD", "PE", executeDetail);
  };
  const end = (section: Section) => {
    section.end();
    underWay--;
    closeWhenIdle();
  };
  const closeWhenIdle = () => {
    if (closed && underWay === 0) inSection(trace, "LD", "PT", `${name}: close`, () => record.executable.close());
  };
  const result: PreparedModel = {
    async execute(request, options = {}) {
      if (closed) return refused(invalid("the prepared model is closed"));
      const section = begin();
      try {
        const result = await execute(record, request, options, section, context);
        log.VLOG("DRIVER", () => `${name}: execute gives ${outcomeText(result)}${timingText(result.timing)}`);
        return result;
      } catch (error) {
        return refused({ status: ErrorStatus.GENERAL_FAILURE, message: `executing: ${messageOf(error)}` });
      } finally {
        end(section);
      }
    },
    async executeFenced(request, waitFor, options = {}) {
      if (closed) return unfenced(invalid("the prepared model is closed"));
      log.VLOG("DRIVER", () => `${name}: executeFenced ${requestText(request)} after ${waitFor.length} fences`);
      const section = begin();
      let launched: ReturnType<typeof executeFenced>;
      try {
        launched = executeFenced(record, request, waitFor, options, section, context);
      } catch (error) {
        launched = { status: ErrorStatus.GENERAL_FAILURE, message: `executing: ${messageOf(error)}` };
      }
      if ("status" in launched) {
        end(section);
        log.VLOG("DRIVER", () => `${name}: executeFenced gives ${outcomeText(launched)}`);
        return unfenced(launched);
      }
      const ended = launched.ended.finally(() => end(section));
      await Promise.race([ended, turnOfTheEventLoop()]);
      const { syncFence } = launched.answer;
      // An execution that has succeeded already needs no fence.
      return syncFence?.state === "SIGNALED" ? { ...launched.answer, syncFence: null } : launched.answer;
    },
    async configureExecutionBurst(callback, requestChannel, resultChannel) {
      log.VLOG("DRIVER", () => `${name}: configureExecutionBurst`);
      if (closed) return { ...invalid("the prepared model is closed"), context: null };
      const saving = record.preference === ExecutionPreference.LOW_POWER;
      return configureExecutionBurst(result, callback, requestChannel, resultChannel, {
        now: context.now,
        log: (message) => log.VLOG("DRIVER", `${name}: burst: ${message}`),
        ...(saving && { pollingWindow: 0 }),
      });
    },
    close() {
      if (closed) return;
      closed = true;
      closeWhenIdle();
    },
  };
  domain.records.set(result, record);
  return result;
}

async function execute(
  record: ModelRecord,
  request: Request,
  options: ExecuteOptions,
  section: Section,
  context: DeviceContext,
): Promise<ExecutionResult> {
  const { name, now, log } = context;
  const start = now();
  log.VLOG("DRIVER", () => `${name}: execute ${requestText(request)}`);
  const placing = section.begin("LD", "PIO", "map pools");
  const launched = launch(record, request, true, context);
  placing.end();
  if ("status" in launched) return refused(launched);
  const result = await run(record, launched, options, section, context);
  return answer(result, options.measure === MeasureTiming.YES ? now() - start : undefined);
}

function unfenced(refusal: Refusal): FencedResult {
  return { ...refusal, syncFence: null, callback: null };
}

/** Resolves after what is under way in this turn of the event loop, and may end in it. */
function turnOfTheEventLoop(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
