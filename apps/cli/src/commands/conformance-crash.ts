/** The suite crash of `nnhal conformance`: its processes are children of this one, with the same device. */
import { runStress, type StressJob, serveStressJob, stressSize } from "@nnhal/conformance";
import type { SuiteReport } from "../conformance-report.ts";
import type { CommandContext } from "../context.ts";
import { runWithProgress } from "../suite-run.ts";

/** The options of the command that matter here. */
interface CrashOptions {
  readonly device: string;
  readonly network?: string;
  readonly minutes?: number;
  readonly seed?: number;
  readonly filter?: string;
}

/** Runs the suite. Rejects if there are no processes to run it in. */
export async function runCrashSuite(options: CrashOptions, context: CommandContext): Promise<SuiteReport> {
  const { device, network, minutes, seed, filter } = options;
  const { startSelf } = context;
  if (startSelf === undefined) throw new Error("the suite crash needs processes of its own");
  const cases: NonNullable<SuiteReport["cases"]>[number][] = [];
  const summary = await runWithProgress(
    [{ size: stressSize({ filter }) }],
    async function* (onProgress) {
      const start = (job: StressJob) =>
        startSelf(["conformance", "--device", device, "--crash-job", JSON.stringify(job)]);
      const duration = minutes === undefined ? undefined : minutes * 60_000;
      // Without a device here: a driver that crashes would end the command.
      for await (const result of runStress({ start, duration, network, seed, filter, onProgress })) {
        cases.push(result);
        yield result;
      }
    },
    context,
    "crash: ",
  );
  return { suite: "crash", by: "target", summary, cases };
}

/** Work of a child of the suite. */
export async function serveCrashJob(
  text: string,
  { device }: CrashOptions,
  { openDevice }: CommandContext,
): Promise<void> {
  // The parent has written it.
  const job = JSON.parse(text) as StressJob;
  await serveStressJob(() => openDevice(device), job);
}
