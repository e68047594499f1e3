/**
 * Preparing a model: the backend compiles it or restores it from a cache; a compiled model is saved in a cache, if
 * there is one.
 */
import { type CacheBlobs, type CompileOptions, type GraphSource, viewModel } from "@nnhal/backend";
import { factsIn, vocabularyOf } from "@nnhal/operations";
import { type CompilationCache, ErrorStatus, type PrepareResult } from "@nnhal/types";
import { inSection, loadOnce } from "@nnhal/utils";
import type { GuardedExecutable } from "../engine/guarded-executable.ts";
import type { ModelRecord } from "../engine/record.ts";
import type { Patience } from "../engine/settle-within.ts";
import { failedPreparation } from "../guard/failed.ts";
import { failure, messageOf } from "../guard/refusal.ts";
import { withoutUnreached } from "../subgraph-order.ts";
import type { DeviceContext } from "./context.ts";
import { mandatoryInputs } from "./omission.ts";
import { preparedModel } from "./prepared-model.ts";
import { noPlaceToWait } from "./run.ts";

const caches = loadOnce(() => import("../cache/cache.ts"));

/** The arguments of a preparation. */
export interface Preparation {
  /** Checked. */
  readonly source: GraphSource;
  readonly options: CompileOptions;
  readonly deadline: bigint | undefined;
  /** The model's data in a cache. */
  readonly blobs?: CacheBlobs | undefined;
  /** The cache to save it in. */
  readonly cache?: CompilationCache | undefined;
}

/** Prepares a checked model. Never rejects. */
export function prepareChecked(preparation: Preparation, context: DeviceContext): Promise<PrepareResult> {
  return context.client.waitOnClose(prepare(preparation, context));
}

async function prepare(preparation: Preparation, context: DeviceContext): Promise<PrepareResult> {
  const { source, options, deadline, blobs } = preparation;
  const { trace, now, timer, client, session, scheduler } = context;
  // A preparation that does not end keeps its place, so that the number of hanging preparations is limited.
  const giveBack = scheduler.hold(client);
  if (giveBack === undefined) return failedPreparation(noPlaceToWait("preparation"));
  const missed = "the deadline passed while the model was prepared";
  const patience: Patience = { now, timer, deadline, client, missed };
  try {
    const graph = viewModel({ ...source, model: withoutUnreached(source.model) });
    const limited = deadline === undefined ? options : { ...options, now, deadline };
    const executable = await inSection(trace, "LC", "PC", "compile", () =>
      session.make(graph, limited, blobs, patience),
    );
    if ("status" in executable) return failedPreparation(executable);
    await keep(executable, preparation, patience, context);
    if (client.gone !== undefined) {
      executable.close();
      return failedPreparation(client.gone);
    }
    const { model } = source;
    const factsOf = factsIn(vocabularyOf(model.extensionNameToPrefix, session));
    const record: ModelRecord = {
      ...{ model, graph, factsOf, mandatory: mandatoryInputs(graph), executable, knownRequest: undefined },
      ...options,
    };
    return { status: ErrorStatus.NONE, preparedModel: preparedModel(record, context) };
  } catch (error) {
    return failedPreparation(failure(`preparing the model: ${messageOf(error)}`));
  } finally {
    giveBack();
  }
}

/** Saves a compiled model in a cache, or logs why that failed. Never rejects. */
async function keep(
  executable: GuardedExecutable,
  { source, options, cache }: Preparation,
  patience: Patience,
  { name, session, caching, log, trace }: DeviceContext,
): Promise<void> {
  if (cache === undefined || caching === undefined) return;
  const { saveToCache } = await caches();
  const serialize = async () => (session.restores ? await executable.serialize(patience) : undefined);
  const section = trace.begin("LD", "PC", "save to cache");
  const problem = await saveToCache(cache, source, options, serialize, caching);
  section.end();
  log.VLOG("DRIVER", () => (problem === undefined ? `${name}: cached` : `${name}: nothing is cached: ${problem}`));
}
