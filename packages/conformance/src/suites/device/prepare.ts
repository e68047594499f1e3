/**
 * Preparing models: with every preference, from constants in every kind of memory, several at once.
 */
import { allocateBlob, allocateMemory, mmapFdMemory, Protection } from "@nnhal/driver-core/memory";
import { ErrorStatus, executionPreferences, type Memory } from "@nnhal/types";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { expectStatus, expectThat } from "../check.ts";
import { constantInPool, constantModel } from "../constant-models.ts";
import { runOnce } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { group, type SuiteCase } from "../suite-case.ts";
import { temporaryFile } from "../temporary-files.ts";
import { bytesIn, bytesOf } from "../values.ts";
import { cyclicModel } from "./support.ts";

const { INVALID_ARGUMENT, GENERAL_FAILURE } = ErrorStatus;

const constants = [1, 2, 3, 4, 5, 6];

async function computesWithPool(bench: Bench, pool: Memory): Promise<void> {
  const { model, compute } = await constantModel(bench, constants);
  const preparedModel = await prepare(bench, constantInPool(model, pool));
  const input = sampleValues("TENSOR_FLOAT32", 6);
  await runOnce(preparedModel, "TENSOR_FLOAT32", [input], [compute(input)]);
}

/** A memory of the constants. */
function fillWithConstants(memory: Memory): Memory {
  bytesIn(memory).set(bytesOf("TENSOR_FLOAT32", constants));
  return memory;
}

function inFile(bench: Bench, before: number): Memory {
  const file = temporaryFile(
    bench,
    new Uint8Array([...new Uint8Array(before), ...bytesOf("TENSOR_FLOAT32", constants)]),
  );
  return mmapFdMemory(24, file.open("r"), [Protection.READ, before, 0]);
}

export const prepareCases: readonly SuiteCase[] = [
  ...group("prepare", "1.0", {
    async "a model is prepared, and executes"(bench) {
      const small = await smallModel(bench);
      const preparedModel = await prepare(bench, small.model);
      const input = sampleValues(small.type, 6);
      await runOnce(preparedModel, small.type, [input], small.compute([input]));
    },
    async "the model stays as it is"(bench) {
      const { model } = await smallModel(bench, { layout: "chain" });
      const before = JSON.stringify(model);
      await prepare(bench, model);
      expectThat(JSON.stringify(model) === before, () => "prepareModel: the model has changed");
    },
    async "one model is prepared several times at once"(bench) {
      const small = await smallModel(bench);
      const models = await Promise.all([1, 2, 3, 4].map(() => prepare(bench, small.model)));
      expectThat(new Set(models).size === 4, () => "prepareModel: two calls answer the same prepared model");
      for (const [salt, preparedModel] of models.entries()) {
        const input = sampleValues(small.type, 6, salt);
        await runOnce(preparedModel, small.type, [input], small.compute([input]));
      }
    },
    async "a model with a cycle is refused"(bench) {
      const { preparedModel, ...outcome } = await bench.device.prepareModel(await cyclicModel(bench));
      bench.after(() => preparedModel?.close());
      expectStatus("prepareModel of a model with a cycle", outcome, INVALID_ARGUMENT);
      expectThat(preparedModel === null, () => "prepareModel: a prepared model beside the error");
    },
    async "constants lie in a pool of kind ashmem"(bench) {
      await computesWithPool(bench, fillWithConstants(allocateMemory(24)));
    },
    async "constants lie in a pool of kind mmap_fd, at an offset of the file"(bench) {
      await computesWithPool(bench, inFile(bench, 4096));
    },
    async "constants in a file that is too short are a failure, not a crash"(bench) {
      const { model } = await constantModel(bench, constants);
      const short = mmapFdMemory(24, temporaryFile(bench, new Uint8Array(8)).open("r"), [Protection.READ, 0, 0]);
      const { preparedModel, ...outcome } = await bench.device.prepareModel(constantInPool(model, short));
      bench.after(() => preparedModel?.close());
      expectStatus(
        "prepareModel of constants beyond the end of their file",
        outcome,
        GENERAL_FAILURE,
        INVALID_ARGUMENT,
      );
    },
  }),
  ...Object.entries(executionPreferences).flatMap(([name, { code, since }]) =>
    group("prepare", since, {
      async [`preference ${name} changes no result`](bench) {
        const small = await smallModel(bench);
        const preparedModel = await prepare(bench, small.model, { preference: code });
        const input = sampleValues(small.type, 6);
        await runOnce(preparedModel, small.type, [input], small.compute([input]));
      },
    }),
  ),
  ...group("prepare", "1.3", {
    async "constants lie in a pool of kind hardware_buffer_blob"(bench) {
      await computesWithPool(bench, fillWithConstants(allocateBlob(24)));
    },
  }),
];
