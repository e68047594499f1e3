/**
 * Files that were tampered with: a model cache can hold code, so a changed one must not be used at all; a data cache may at
 * worst give wrong results.
 */

import { copyFileSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { elementAt } from "@nnhal/operations";
import { ErrorStatus } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import type { Bench } from "../bench.ts";
import { expectThat } from "../check.ts";
import { constantModel } from "../constant-models.ts";
import { trialOf } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import {
  type CacheFiles,
  change,
  constants,
  expectComputes,
  expectNotLoaded,
  keepModel,
  load,
  makeCacheFiles,
  save,
} from "./files.ts";

const { GENERAL_FAILURE, NONE } = ErrorStatus;

/** A way to change the bytes of a file. `draw`: a number in [0, 1), another one at each call. */
interface Tampering {
  readonly what: string;
  tamper(bytes: Uint8Array, draw: () => number): Uint8Array;
}

const tamperings: readonly Tampering[] = [
  {
    what: "with one bit flipped",
    tamper(bytes, draw) {
      const changed = bytes.slice();
      const place = Math.floor(draw() * changed.length);
      changed[place] = elementAt(changed, place) ^ (1 << Math.floor(draw() * 8));
      return changed;
    },
  },
  {
    what: "with bytes after its end",
    tamper(bytes, draw) {
      const changed = new Uint8Array(bytes.length + 1 + Math.floor(draw() * 256));
      changed.set(bytes);
      return changed;
    },
  },
  { what: "that is truncated", tamper: (bytes, draw) => bytes.slice(0, Math.floor(draw() * bytes.length)) },
  { what: "that is empty", tamper: () => new Uint8Array(0) },
  { what: "of zeros", tamper: (bytes) => new Uint8Array(bytes.length) },
  { what: "that is repeated", tamper: (bytes) => Uint8Array.from([...bytes, ...bytes]) },
];

/** Number of times that each tampering is tried, elsewhere in the file each time. */
const attempts = 10;

function drawFrom(seed: number): () => number {
  let state = seed + 1;
  return () => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
}

/** Tampers with a file of a cache again and again. `judge` checks each outcome. */
async function tamperWith(
  bench: Bench,
  list: "modelCache" | "dataCache",
  { tamper }: Tampering,
  judge: (files: Awaited<ReturnType<typeof keepModel>>, attempt: number) => Promise<void>,
): Promise<void> {
  const held = await keepModel(bench);
  if (held.files[list].length === 0) endAsUnsupported(list === "modelCache" ? "model cache files" : "data cache files");
  for (let attempt = 0; attempt < attempts; attempt++) {
    const draw = drawFrom(attempt * 977);
    const file = elementAt(held.files[list], attempt % held.files[list].length);
    let original = new Uint8Array(0);
    change(file, (bytes) => {
      original = Uint8Array.from(bytes);
      return tamper(bytes, draw);
    });
    await judge(held, attempt);
    change(file, () => original);
  }
}

/** Loads from the cache; a loaded model must be the one that was kept. */
async function expectSoundIfLoaded(
  bench: Bench,
  { files, model }: Awaited<ReturnType<typeof keepModel>>,
): Promise<void> {
  const { preparedModel } = await load(bench, files.open());
  if (preparedModel !== null) await expectComputes(preparedModel, model.type, model.compute);
}

/** Puts the model cache of one in the place of another's. */
function overwrite({ modelCache }: CacheFiles, by: CacheFiles): void {
  for (const [index, { path }] of by.modelCache.entries()) copyFileSync(path, elementAt(modelCache, index).path);
}

/** The same in another thread, a little later each time: sometime while the driver is at the files. */
async function overwriteSlowly({ modelCache }: CacheFiles, by: CacheFiles, race: number): Promise<void> {
  for (let turn = 0; turn < race % 4; turn++) await Promise.resolve();
  await Promise.all(by.modelCache.map(({ path }, index) => copyFile(path, elementAt(modelCache, index).path)));
}

/** Files of another model, kept for another token. */
async function keepForAnother(bench: Bench): Promise<CacheFiles> {
  const files = makeCacheFiles(bench, { seed: 1 });
  await save(bench, await constantModel(bench, constants.toReversed()), files.open());
  return files;
}

/** Number of times that files are replaced at a random moment. */
const races = 30;

export const securityCases: readonly SuiteCase[] = [
  ...casesOf(
    "security",
    "1.2",
    tamperings,
    ({ what }) => `a model cache ${what} is GENERAL_FAILURE`,
    (bench, tampering) =>
      tamperWith(bench, "modelCache", tampering, ({ files }, attempt) =>
        expectNotLoaded(bench, `of a model cache ${tampering.what}, ${attempt}`, files.open(), GENERAL_FAILURE),
      ),
  ),
  ...casesOf(
    "security",
    "1.2",
    tamperings,
    ({ what }) => `a data cache ${what} is refused, or gives a model that executes`,
    (bench, tampering) =>
      tamperWith(bench, "dataCache", tampering, async ({ files, model }) => {
        const { preparedModel } = await load(bench, files.open());
        if (preparedModel === null) return;
        const { request } = trialOf(model.type, [sampleValues(model.type, 6)], [constants]);
        const { status } = await preparedModel.execute(request);
        expectThat(status === NONE, () => `execute of a model with a data cache ${tampering.what}: status ${status}`);
      }),
  ),
  ...group("security", "1.2", {
    async "another token is GENERAL_FAILURE, each bit of it"(bench) {
      const { files } = await keepModel(bench);
      for (let bit = 0; bit < 256; bit += 15) {
        const token = files.token.slice();
        token[bit >> 3] = elementAt(token, bit >> 3) ^ (1 << (bit & 7));
        await expectNotLoaded(
          bench,
          `with bit ${bit} of the token changed`,
          { ...files.open(), token },
          GENERAL_FAILURE,
        );
      }
    },
    async "the model cache of another model and token is GENERAL_FAILURE"(bench) {
      const { files } = await keepModel(bench);
      overwrite(files, await keepForAnother(bench));
      await expectNotLoaded(bench, "with the model cache of another model", files.open(), GENERAL_FAILURE);
    },
    async "model and data cache in each other's places are refused"(bench) {
      const { files } = await keepModel(bench);
      const { modelCache, dataCache, token } = files.open();
      if (dataCache.length === 0) endAsUnsupported("data cache files");
      await expectNotLoaded(bench, "with the lists exchanged", { modelCache: dataCache, dataCache: modelCache, token });
    },
    async "the files of nothing are GENERAL_FAILURE"(bench) {
      await expectNotLoaded(bench, "of empty files", makeCacheFiles(bench).open(), GENERAL_FAILURE);
    },
    async "files that are replaced while a model is kept hold that model, or none"(bench) {
      const attacker = await keepForAnother(bench);
      const model = await constantModel(bench, constants);
      const files = makeCacheFiles(bench);
      for (let race = 0; race < races; race++) {
        await Promise.all([save(bench, model, files.open()), overwriteSlowly(files, attacker, race)]);
        await expectSoundIfLoaded(bench, { files, model });
      }
    },
    async "files that are replaced while a model is loaded hold that model, or none"(bench) {
      const attacker = await keepForAnother(bench);
      const held = await keepModel(bench);
      for (let race = 0; race < races; race++) {
        await Promise.all([expectSoundIfLoaded(bench, held), overwriteSlowly(held.files, attacker, race)]);
        await save(bench, held.model, held.files.open());
      }
    },
  }),
];
