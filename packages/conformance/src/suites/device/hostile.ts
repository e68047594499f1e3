/**
 * Arguments of a device's methods that are nothing of the kind: each gets a status, and the device goes on.
 */
import { ErrorStatus, type PrepareOptions } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectThat } from "../check.ts";
import { runTrial, trialFor } from "../execution.ts";
import { asArgument, expectRefusal, type Hostile, hostileLists, hostileValues } from "../hostile.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, directly, type SuiteCase } from "../suite-case.ts";

/** The device prepares and executes as before. */
async function goesOn(bench: Bench): Promise<void> {
  const small = await smallModel(bench);
  await runTrial(await prepare(bench, small.model), trialFor(small, [sampleValues(small.type, 6)]));
}

async function refusesModel(bench: Bench, what: string, model: Parameters<typeof prepare>[1]): Promise<void> {
  const { device } = bench;
  const support = await device.getSupportedOperations(model);
  expectRefusal(`getSupportedOperations of ${what}`, support);
  const { preparedModel, ...outcome } = await device.prepareModel(model);
  bench.after(() => preparedModel?.close());
  expectRefusal(`prepareModel of ${what}`, outcome);
  await goesOn(bench);
}

/** Options that cannot be read: the answer may be any status, as long as it is one. */
async function answersOptions(bench: Bench, hostile: Hostile): Promise<void> {
  const { model } = await smallModel(bench);
  const options = asArgument<PrepareOptions>(hostile);
  const { preparedModel, ...outcome } = await bench.device.prepareModel(model, options);
  bench.after(() => preparedModel?.close());
  if (outcome.status !== ErrorStatus.NONE) expectRefusal(`prepareModel with options that are ${hostile.what}`, outcome);
  await goesOn(bench);
}

/** Parts of a model that are replaced by other values. */
const parts = ["operands", "operations", "inputIndexes", "outputIndexes"] as const;

export const hostileCases: readonly SuiteCase[] = directly([
  ...casesOf(
    "hostile",
    "1.0",
    hostileValues,
    ({ what }) => `a model that is ${what} is refused`,
    (bench, hostile) => refusesModel(bench, `a model that is ${hostile.what}`, asArgument(hostile)),
  ),
  ...parts.flatMap((part) =>
    casesOf(
      "hostile",
      "1.0",
      hostileLists,
      ({ what }) => `a model whose ${part} are ${what} is refused`,
      async (bench, hostile) => {
        const { model } = await smallModel(bench);
        const main = { ...model.main, [part]: asArgument(hostile) };
        return refusesModel(bench, `a model whose ${part} are ${hostile.what}`, { ...model, main });
      },
    ),
  ),
  ...casesOf(
    "hostile",
    "1.0",
    hostileValues,
    ({ what }) => `options of prepareModel that are ${what} get a status`,
    answersOptions,
  ),
  ...casesOf(
    "hostile",
    "1.2",
    hostileValues,
    ({ what }) => `a cache that is ${what}: the model is prepared, and nothing comes back`,
    async (bench, hostile) => {
      const { device } = bench;
      const { model } = await smallModel(bench);
      const cache = asArgument<NonNullable<PrepareOptions["cache"]>>(hostile);
      const kept = await device.prepareModel(model, { cache });
      bench.after(() => kept.preparedModel?.close());
      expectThat(kept.status === ErrorStatus.NONE, () => {
        return `prepareModel with a cache that is ${hostile.what}: status ${kept.status}: ${kept.message}`;
      });
      const { prepareModelFromCache } = device;
      if (prepareModelFromCache === undefined) endAsUnsupported("kept models");
      const { preparedModel, ...outcome } = await prepareModelFromCache(cache);
      bench.after(() => preparedModel?.close());
      expectRefusal(`prepareModelFromCache of a cache that is ${hostile.what}`, outcome);
      await goesOn(bench);
    },
  ),
]);
