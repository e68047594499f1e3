/**
 * Lists what this engine refuses: of the .tflite networks in the folders of models and of the corpus, and of the public vectors. Reasons come with the
 * number of networks or examples that have them, the most frequent first.
 *
 * Run from the top of the repository: `npx tsx --conditions=@nnhal/source packages/backend-wasm/bench/coverage.ts [vectors|forms|networks] [OPERATION]`.
 */
import { readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { type GraphView, viewModel } from "@nnhal/backend";
import { findVectorFiles, matchesText, readVectorFiles, runVectors, summarise } from "@nnhal/conformance";
import { openDevice } from "@nnhal/driver-core/device";
import { tfliteExtension } from "@nnhal/extension-tflite";
import { corpusFolder, modelsFolder, vectorsFolder } from "@nnhal/test-kit/folders";
import { importTflite } from "@nnhal/tflite";
import type { Model } from "@nnhal/types";
import { refusalOf } from "../src/plan/plan-graph.ts";
import { withTflite } from "../src/tflite/lowerings.ts";
import { backend } from "../src/wasm-backend.ts";

const [what = "networks", only = ""] = process.argv.slice(2);

/** Reasons with the subjects that have them. */
type Reasons = Map<string, Set<string>>;

function note(reasons: Reasons, reason: string, subject: string): void {
  reasons.set(reason, (reasons.get(reason) ?? new Set()).add(subject));
}

function print(reasons: Reasons): void {
  const sorted = [...reasons].sort(([, a], [, b]) => b.size - a.size);
  for (const [reason, subjects] of sorted)
    console.log(`${String(subjects.size).padStart(4)}  ${reason}  (${[...subjects].slice(0, 3).join(", ")})`);
}

function bytesOfPool({ handle, size }: Model["pools"][number]): Uint8Array {
  if (handle === null || !("buffer" in handle)) throw new Error("the pools of a model are buffers here");
  return new Uint8Array(handle.buffer, handle.byteOffset, size);
}

function viewOf(model: Model): GraphView {
  return viewModel({ model, pools: model.pools.map(bytesOfPool), extensions: [tfliteExtension] });
}

function refusalsOf(graph: GraphView): string[] {
  return [graph, ...graph.referenced].flatMap(({ operations }) =>
    operations.flatMap((view) => {
      const reason = refusalOf(view, withTflite, graph.referenced);
      return reason === undefined
        ? []
        : [
            `${view.definition.extension ?? ""} ${reason} [${view.inputs.map(({ type }) => (typeof type === "string" ? type.replace("TENSOR_", "") : type.name)).join(" ")}]`,
          ];
    }),
  );
}

function networks(): void {
  const reasons: Reasons = new Map();
  let [whole, all] = [0, 0];
  for (const folder of [modelsFolder, corpusFolder]) {
    for (const name of readdirSync(folder).filter((each) => each.endsWith(".tflite"))) {
      all++;
      try {
        const { model } = importTflite(new Uint8Array(readFileSync(join(folder, name))));
        const refusals = refusalsOf(viewOf(model));
        if (refusals.length === 0) whole++;
        for (const refusal of refusals) note(reasons, refusal, name);
      } catch (error) {
        note(reasons, `not imported: ${error instanceof Error ? error.message : String(error)}`, name);
      }
    }
  }
  print(reasons);
  console.log(`${whole} of ${all} networks are taken whole`);
}

async function vectors(): Promise<void> {
  const device = await openDevice({ backend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  const reasons: Reasons = new Map();
  const filter = (each: {
    readonly example: Parameters<typeof matchesText>[0]["example"];
    readonly name: string;
    readonly unspecifiedOutputs: boolean;
  }) => only === "" || matchesText(each, only);
  const examples = readVectorFiles(await findVectorFiles(vectorsFolder));
  const { bySubject } = await summarise(
    runVectors(device, examples, { filter, variants: what === "forms" }),
    ({ name, subject, verdict, reason = "" }) => {
      if (verdict !== "passed") note(reasons, `${verdict} ${subject}: ${reason}`, name);
    },
  );
  print(reasons);
  const lines = [...bySubject]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, counts]) => `${name} ${JSON.stringify(counts)}`);
  console.log(lines.join("\n"));
}

if (what === "networks") networks();
else await vectors();
