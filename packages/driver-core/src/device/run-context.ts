/**
 * The facts of a run that an engine receives. Most runs have no options: they share one context, which is made with the device.
 */
import type { RunContext } from "@nnhal/backend";
import { LoopTimeoutDurationNs, MeasureTiming } from "@nnhal/types";
import type { Section } from "@nnhal/utils";
import type { RunOptions } from "./arguments.ts";
import type { DeviceContext, RunningContext } from "./context.ts";

/** The context of runs without options, log and trace. */
export function plainRun({
  now,
  random,
  temporaryLimit,
}: Pick<RunningContext, "now" | "random" | "temporaryLimit">): RunContext {
  return Object.freeze({
    now,
    random,
    loopTimeoutDuration: LoopTimeoutDurationNs.DEFAULT,
    ...(temporaryLimit !== undefined && { temporaryLimit }),
    measure: false,
  });
}

/** The context of a run. */
export function runContextOf(
  { deadline, measure, loopTimeoutDuration, signal, hints }: RunOptions,
  section: Section,
  { name, plainRun, log, trace }: DeviceContext,
): RunContext {
  const isMeasured = measure === MeasureTiming.YES;
  const isLogged = log.VLOG_IS_ON("CPUEXE");
  const isTimed = deadline !== undefined || loopTimeoutDuration !== undefined;
  const isPlain = !isTimed && signal === undefined && hints === undefined && !isMeasured;
  if (isPlain && !isLogged && !trace.isOn) return plainRun;
  const { MAXIMUM } = LoopTimeoutDurationNs;
  return {
    ...plainRun,
    ...(deadline !== undefined && { deadline }),
    ...(loopTimeoutDuration !== undefined && {
      loopTimeoutDuration: loopTimeoutDuration < MAXIMUM ? loopTimeoutDuration : MAXIMUM,
    }),
    ...(signal !== undefined && { signal }),
    ...(hints !== undefined && { hints }),
    measure: isMeasured,
    ...(trace.isOn && { section }),
    ...(isLogged && { log: (message: string) => log.VLOG("CPUEXE", `${name}: ${message}`) }),
  };
}
