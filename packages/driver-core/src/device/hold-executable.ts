/**
 * An executable is freed when its prepared model is closed or collected, or its client closes, and running executions
 * have ended. An idle executable releases its scratch memory.
 */

import { createUsage, inSection, type TracePhase, type Usage, whenCollected } from "@nnhal/utils";
import { watchIdle } from "@nnhal/utils/time";
import type { ModelRecord } from "../engine/record.ts";
import type { DeviceContext } from "./context.ts";

/** A prepared model's reference to its executable. */
export type HeldExecutable = Pick<Usage, "isClosed" | "begin" | "end" | "close">;

/** References an executable from a prepared model. All methods that use the executable must reference the hold. */
export function holdExecutable({ executable }: ModelRecord, context: DeviceContext): HeldExecutable {
  const { name, trace, client, timer, idleAfter, log } = context;
  const traced = (what: string, phase: TracePhase, work: () => void) =>
    inSection(trace, "LD", phase, `${name}: ${what}`, work);
  const usage: Usage = createUsage(() => {
    watch?.stop();
    forget();
    cancelFinalizer();
    traced("close", "PT", () => executable.close());
  });
  const forget = client.onClose(() => {
    usage.close();
    return usage.freed;
  });
  const { releaseScratch } = executable;
  const watch =
    releaseScratch &&
    watchIdle({
      after: idleAfter,
      timer,
      isInUse: () => usage.isInUse,
      onIdle() {
        log.VLOG("DRIVER", `${name}: an idle prepared model releases its scratch memory`);
        traced("release scratch memory", "PU", releaseScratch);
      },
    });
  const held: HeldExecutable = {
    get isClosed() {
      return usage.isClosed;
    },
    begin() {
      usage.begin();
      watch?.touch();
    },
    end() {
      watch?.touch();
      usage.end();
    },
    close: usage.close,
  };
  // Neither the finalizer nor the client may reference `held`; otherwise it is never collected.
  const cancelFinalizer = whenCollected(held, undefined, usage.close);
  return held;
}
