/** The suite networks of `nnhal conformance`. */
import { listNetworks, runNetworks } from "@nnhal/conformance";
import type { SuiteReport } from "../conformance-report.ts";
import type { CommandContext } from "../context.ts";
import { judgeDevice } from "../devices.ts";
import { runWithProgress } from "../suite-run.ts";

/** The options of the command that matter here. */
interface NetworksOptions {
  readonly device: string;
  readonly models?: string;
  readonly filter?: string;
}

/** Runs the suite. Rejects if the folder is not named, or cannot be read. */
export async function runNetworksSuite(
  { device, models, filter }: NetworksOptions,
  context: CommandContext,
): Promise<SuiteReport> {
  if (models === undefined)
    throw new Error("the suite networks: expected a folder of .tflite files, --models DIR, got none");
  const [own, reference] = [await context.openDevice(device), await context.openDevice(judgeDevice)];
  const cases: NonNullable<SuiteReport["cases"]>[number][] = [];
  const summary = await runWithProgress(
    [{ size: listNetworks(models, filter).length }],
    async function* (onProgress) {
      // The device may be the reference itself, which would not be compared.
      const judge = own === reference ? { ...reference, name: "kit-reference" } : reference;
      for await (const result of runNetworks(own, { folder: models, reference: judge, filter, onProgress })) {
        cases.push(result);
        yield result;
      }
    },
    context,
    "networks: ",
  );
  return { suite: "networks", by: "network", summary, cases };
}
