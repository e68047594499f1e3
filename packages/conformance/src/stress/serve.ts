/** The side of a process under stress. */
import type { Device } from "@nnhal/types";
import type { StressJob, StressMessage } from "./job.ts";
import { UnsupportedNetwork } from "./subjects.ts";
import { doStressJob } from "./work.ts";

/** Does a job, and tells the process that started this one how it ended. Resolves when that is sent. */
export async function serveStressJob(open: () => Promise<Device> | Device, job: StressJob): Promise<void> {
  // A listener keeps the process alive while a driver does not answer, so that it is a hang; and an orphan ends.
  process.once("disconnect", () => process.exit());
  try {
    const tally = await doStressJob(await open(), job, undefined, () => tell({ kind: "ready" }));
    await tell({ kind: "success", tally });
  } catch (error) {
    const kind = error instanceof UnsupportedNetwork ? "unsupported" : "failure";
    await tell({ kind, reason: error instanceof Error ? error.message : String(error) });
  }
}

function tell(message: StressMessage): Promise<void> {
  return new Promise((resolve, reject) => {
    if (process.send === undefined) return reject(new Error("this process was not started by the suite of stress"));
    process.send(message, (error: Error | null) => (error === null ? resolve() : reject(error)));
  });
}
