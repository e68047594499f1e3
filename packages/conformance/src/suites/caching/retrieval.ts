/**
 * Keeping prepared models and getting them back.
 */

import { readFileSync, readSync, rmSync } from "node:fs";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { type ElementType, endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare } from "../bench.ts";
import { openBurst } from "../burst/open.ts";
import { expectExecution, expectStatus, expectThat, mismatch } from "../check.ts";
import { constantModel } from "../constant-models.ts";
import { trialOf } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { constants, expectComputes, keepModel, load, loadKept, makeCacheFiles, save } from "./files.ts";

const types = ["TENSOR_FLOAT32", "TENSOR_QUANT8_ASYMM"] as const;

/** A model that was kept, from its files, and an execution of it. */
async function retrieve(bench: Bench) {
  const { files, model } = await keepModel(bench);
  const preparedModel = await loadKept(bench, files.open());
  const input = sampleValues(model.type, 6);
  return { files, model, preparedModel, trial: trialOf(model.type, [input], [model.compute(input)]) };
}

async function overwrites(bench: Bench, type: ElementType): Promise<void> {
  const files = makeCacheFiles(bench, { content: new Uint8Array(100_000).fill(7) });
  const model = await constantModel(bench, constants, type);
  await save(bench, model, files.open());
  await expectComputes(await loadKept(bench, files.open()), type, model.compute);
  for (const { path } of [...files.modelCache, ...files.dataCache]) {
    const { length } = readFileSync(path);
    expectThat(length !== 100_000, () => "prepareModel: a cache file was not truncated before it was written");
  }
}

export const retrievalCases: readonly SuiteCase[] = [
  ...group("retrieval", "1.2", {
    async "without files there is nothing to prepare from"(bench) {
      const { numModelCache, numDataCache } = bench.device.getNumberOfCacheFilesNeeded();
      const outcome = await load(bench, { modelCache: [], dataCache: [], token: new Uint8Array(32) });
      const { GENERAL_FAILURE, INVALID_ARGUMENT } = ErrorStatus;
      const isKeeping = numModelCache + numDataCache > 0;
      expectStatus(
        "prepareModelFromCache without files",
        outcome,
        GENERAL_FAILURE,
        ...(isKeeping ? [INVALID_ARGUMENT] : []),
      );
    },
  }),
  ...casesOf(
    "retrieval",
    "1.2",
    types,
    (type) => `a model of ${type} is kept, and comes back`,
    async (bench, type) => {
      await keepModel(bench, type);
    },
  ),
  ...casesOf(
    "retrieval",
    "1.2",
    types,
    (type) => `descriptors at an offset, on files that hold something (${type})`,
    async (bench, type) => {
      const files = makeCacheFiles(bench, { content: Uint8Array.of(1, 2) });
      const model = await constantModel(bench, constants, type);
      const advance = () => {
        const cache = files.open();
        // Reading moves the descriptor on by a byte.
        for (const { fds } of [...cache.modelCache, ...cache.dataCache])
          readSync(elementAt(fds, 0), new Uint8Array(1), 0, 1, null);
        return cache;
      };
      await save(bench, model, advance());
      await expectComputes(await loadKept(bench, advance()), type, model.compute);
    },
  ),
  ...casesOf("retrieval", "1.2", types, (type) => `longer files are truncated (${type})`, overwrites),
  ...group("retrieval", "1.2", {
    async "the same files serve for another model afterwards"(bench) {
      const { files } = await keepModel(bench);
      const other = await constantModel(bench, constants.toReversed());
      await save(bench, other, files.open());
      await expectComputes(await loadKept(bench, files.open()), other.type, other.compute);
    },
    async "a model comes back several times at once"(bench) {
      const { files, model } = await keepModel(bench);
      const loaded = await Promise.all([1, 2, 3, 4].map(() => loadKept(bench, files.open())));
      await Promise.all(loaded.map((preparedModel) => expectComputes(preparedModel, model.type, model.compute)));
    },
    async "a loaded model does not need its files"(bench) {
      const { files, model, preparedModel } = await retrieve(bench);
      for (const { path } of [...files.modelCache, ...files.dataCache]) rmSync(path);
      await expectComputes(preparedModel, model.type, model.compute);
    },
    async "a loaded model refuses wrong requests"(bench) {
      const { preparedModel, trial } = await retrieve(bench);
      const result = await preparedModel.execute({ ...trial.request, inputs: [] });
      expectExecution("execute without inputs", result, ErrorStatus.INVALID_ARGUMENT);
    },
    async "a loaded model serves bursts"(bench) {
      const { preparedModel, trial } = await retrieve(bench);
      const { burst } = await openBurst(bench, preparedModel);
      expectExecution(
        "a burst",
        (await burst?.compute(trial.request)) ?? mismatch("there is no burst"),
        ErrorStatus.NONE,
      );
      trial.check("a burst");
    },
    async "without files nothing is kept, and nothing fails"(bench) {
      const { model } = await constantModel(bench, constants);
      await prepare(bench, model, { cache: { modelCache: [], dataCache: [], token: new Uint8Array(0) } });
    },
  }),
  ...group("retrieval", "1.3", {
    async "a loaded model executes behind fences"(bench) {
      const { preparedModel, trial } = await retrieve(bench);
      const launched = await preparedModel.executeFenced?.(trial.request, []);
      if (launched === undefined) endAsUnsupported("fenced executions");
      expectStatus("executeFenced", launched, ErrorStatus.NONE);
      await launched.syncFence?.wait();
      trial.check("executeFenced");
    },
    async "a deadline that has passed is missed"(bench) {
      const { files } = await keepModel(bench);
      const { preparedModel, ...outcome } =
        (await bench.device.prepareModelFromCache?.(files.open(), { deadline: bench.now() })) ?? mismatch("it is gone");
      bench.after(() => preparedModel?.close());
      const { MISSED_DEADLINE_PERSISTENT, MISSED_DEADLINE_TRANSIENT } = ErrorStatus;
      expectStatus(
        "prepareModelFromCache with a passed deadline",
        outcome,
        MISSED_DEADLINE_PERSISTENT,
        MISSED_DEADLINE_TRANSIENT,
      );
    },
    async "a deadline in an hour is met"(bench) {
      const { files, model } = await keepModel(bench);
      const deadline = bench.now() + 3_600_000_000_000n;
      const { preparedModel, ...outcome } =
        (await bench.device.prepareModelFromCache?.(files.open(), { deadline })) ?? mismatch("it is gone");
      bench.after(() => preparedModel?.close());
      expectStatus("prepareModelFromCache with a deadline in an hour", outcome, ErrorStatus.NONE);
      await expectComputes(
        preparedModel ?? mismatch("prepareModelFromCache: NONE without a model"),
        model.type,
        model.compute,
      );
    },
  }),
];
