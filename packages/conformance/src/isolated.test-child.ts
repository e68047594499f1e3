/**
 * A process for the tests of isolation: it runs the cases that its arguments name; each name describes the case's behaviour.
 */
import { type OnProgress, type OnStart, serveResults } from "./isolated.ts";
import type { CaseResult } from "./result.ts";

const [, , skip, singly, batch, ...cases] = process.argv;

const behaviours: Readonly<Record<string, () => void>> = {
  exit: () => process.exit(3),
  crash: () => void process.kill(process.pid, "SIGKILL"),
  // Without the processor's time, which a loop would use.
  hang: () => void Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0),
};

async function* run(onStart: OnStart, onProgress: OnProgress): AsyncGenerator<CaseResult> {
  if (cases[0] === "broken") throw new Error("there is no device");
  if (cases[0] === "stillborn") process.exit(4);
  for (const [index, name] of cases.entries()) {
    if (index < Number(skip)) continue;
    await onStart({ name, subject: "TEST" });
    const act = name.slice(name.indexOf("/") + 1);
    behaviours[act]?.();
    onProgress(index + 1, name);
    const result: CaseResult =
      act === "late"
        ? { name, subject: "TEST", verdict: "failed", reason: "no answer", isLost: true }
        : { name, subject: "TEST", verdict: "passed" };
    yield result;
    if (name === "later") process.exit(5);
  }
}

await serveResults(run, { singly: Number(singly), batch: Number(batch) });
