/**
 * Preparation for all processors on the host, since it is fast there: bundles, examples with their right results, and the list
 * of networks.
 */
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { serialize } from "node:v8";
import { referenceBackend } from "@nnhal/backend-reference";
import {
  type Example,
  extremeConvolutions,
  findVectorFiles,
  randomExamples,
  readVectorFiles,
} from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { elementAt } from "@nnhal/operations";
import { type Bundles, bundle } from "./bundle.ts";
import { vectorsFolder } from "./folders.ts";
import { type Pack, withImages } from "./images.ts";
import type { EngineLevel, Level } from "./levels.ts";
import { packExamples } from "./packs.ts";
import type { EnginePlan, Plan } from "./plan.ts";

/** Convolutions that are one model. */
export const packed = 25;

/** Prepared files. */
export interface Prepared {
  readonly program: string;
  readonly plan: Plan;
}

/** Operations with separate arithmetic in native engines, from which examples are taken. */
const operations = new Set([
  "ADD",
  "AVERAGE_POOL_2D",
  "BATCH_MATMUL",
  "CONV_2D",
  "DEPTHWISE_CONV_2D",
  "FULLY_CONNECTED",
  "GROUPED_CONV_2D",
  "L2_NORMALIZATION",
  "LOGISTIC",
  "MEAN",
  "MUL",
  "QUANTIZE",
  "REDUCE_SUM",
  "RESIZE_BILINEAR",
  "SOFTMAX",
  "SUB",
  "TANH",
  "TRANSPOSE_CONV_2D",
]);

/** Writes everything below `folder`. `networks`: the folder of small inputs that have failed once; it may be absent. */
export async function prepare(root: string, folder: string, level: Level, networks: string): Promise<Prepared> {
  const all = Object.values(level.engines);
  const most = (count: (engine: (typeof all)[number]) => number) => Math.max(0, ...all.map(count));
  mkdirSync(folder, { recursive: true });
  const bundles = await bundle(root, join(folder, "bundle"), [...new Set(all.flatMap(({ tests }) => tests))]);
  const convolutions = extremeConvolutions({ count: most((engine) => engine.convolutions) });
  const [packs, examples] = [join(folder, "packs"), join(folder, "examples")];
  writeFileSync(packs, serialize(await packsWithImages(packExamples(convolutions, packed), all)));
  writeFileSync(examples, serialize(await chooseExamples(most(({ vectors }) => vectors))));
  const engines = Object.fromEntries(
    Object.entries(level.engines).map(([name, each]) => [name, planOf(each, bundles)]),
  );
  return {
    program: bundles.program,
    plan: { engines, networks: findNetworks(networks), packs, examples, atomics: level.atomics },
  };
}

/** Packs with as many images as an engine wants of them. */
async function packsWithImages(packs: readonly Example[], engines: readonly EngineLevel[]): Promise<readonly Pack[]> {
  const reference = await openDevice({ backend: referenceBackend });
  if ("unavailable" in reference) throw new Error(reference.unavailable);
  const counts = packs.map((_, place) =>
    Math.max(...engines.map(({ convolutions, images = 1 }) => (place * packed < convolutions ? images : 1))),
  );
  const made: Pack[] = [];
  for (const [place, pack] of packs.entries()) made.push(await withImages(pack, elementAt(counts, place), reference));
  return made;
}

function planOf(
  { convolutions, images = 1, vectors, tests }: Level["engines"]["ort"] & object,
  bundles: Bundles,
): EnginePlan {
  return {
    packs: Math.ceil(convolutions / packed),
    images,
    vectors,
    tests: tests.flatMap((path) => bundles.tests.get(path) ?? []),
  };
}

/** Public vectors and random examples of the operations above, in turn, evenly taken; random ones alone where there are no vectors. */
async function chooseExamples(count: number): Promise<readonly Example[]> {
  if (count === 0) return [];
  const isWanted = ({ main, expectFailure }: Example) =>
    !expectFailure && main.operations.length === 1 && main.operations.every(({ type }) => operations.has(type));
  const found: Example[] = [];
  if (existsSync(vectorsFolder)) {
    for await (const example of readVectorFiles(await findVectorFiles(vectorsFolder))) {
      if (isWanted(example)) found.push(example);
    }
  }
  const published = evenly(found, Math.ceil(count / 2));
  const drawn = [...randomExamples({ count: 40 })].filter(isWanted);
  const random = evenly(drawn, count - published.length);
  return Array.from({ length: count }, (_, place) => (place % 2 === 0 ? published : random)[place >> 1]).flatMap(
    (example) => example ?? [],
  );
}

/** So many of a list, evenly taken. */
export function evenly<T>(list: readonly T[], count: number): readonly T[] {
  if (list.length <= count) return list;
  return Array.from({ length: count }, (_, place) => list[Math.floor((place * list.length) / count)]).flatMap(
    (each) => each ?? [],
  );
}

/** Folders whose networks depend on how an engine computes. */
const folders = ["ort-avx2-saturation", "gpujs-few-rows-residual"];

function findNetworks(parent: string): readonly string[] {
  return folders.flatMap((name) => {
    const folder = join(parent, name);
    if (!existsSync(folder)) return [];
    const files = readdirSync(folder).filter((file) => file.endsWith(".tflite"));
    return files.sort().map((file) => join(folder, file));
  });
}
