/**
 * How long an executable lives: until its prepared model is closed or nobody has it any more, its client goes, and
 * executions under way have ended. While it lives and nobody executes it, it gives up its scratch memory.
 */
import { createUsage, inSection, type TracePhase, type Usage } from "@nnhal/utils";
import { watchIdle } from "../schedule/idle.ts";
import type { DeviceContext } from "./context.ts";
import type { ModelRecord } from "./record.ts";

/** A prepared model's hold on its executable. */
export type HeldExecutable = Pick<Usage, "isClosed" | "begin" | "end" | "close">;

const lost = new FinalizationRegistry<Usage>((usage) => usage.close());

/** Holds an executable for a prepared model. It must not be lost before the last method that uses it. */
export function holdExecutable({ executable }: ModelRecord, context: DeviceContext): HeldExecutable {
  const { name, trace, client, timer, idleAfter, log } = context;
  const traced = (what: string, phase: TracePhase, work: () => void) =>
    inSection(trace, "LD", phase, `${name}: ${what}`, work);
  const usage: Usage = createUsage(() => {
    watch?.stop();
    forget();
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
    close: () => usage.close(),
  };
  // What is told then must not lead to it, nor may what the client holds: it would never be lost.
  lost.register(held, usage);
  return held;
}
