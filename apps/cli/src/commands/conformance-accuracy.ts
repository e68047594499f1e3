/** The suite accuracy of `nnhal conformance`. */
import { runAccuracy } from "@nnhal/conformance";
import type { SuiteReport } from "../conformance-report.ts";
import type { CommandContext } from "../context.ts";
import { judgeDevice } from "../devices.ts";
import { runWithProgress } from "../suite-run.ts";

/** The options of the command that matter here. */
interface AccuracyOptions {
  readonly device: string;
  readonly network?: string;
  readonly data?: string;
}

/** Runs the suite. Rejects if the network or the data are not named, or cannot be read. */
export async function runAccuracySuite(
  { device, network, data }: AccuracyOptions,
  context: CommandContext,
): Promise<SuiteReport> {
  if (network === undefined || data === undefined) {
    throw new Error(
      "the suite accuracy needs a network, --network FILE, and a folder of inputs with answers, --data DIR",
    );
  }
  const [own, reference] = [await context.openDevice(device), await context.openDevice(judgeDevice)];
  const cases: NonNullable<SuiteReport["cases"]>[number][] = [];
  const summary = await runWithProgress(
    [{ size: 1 }],
    async function* (onProgress) {
      for await (const result of runAccuracy(own, { network, data, reference, onProgress })) {
        cases.push(result);
        yield result;
      }
    },
    context,
    "accuracy: ",
  );
  return { suite: "accuracy", by: "task", summary, cases };
}
