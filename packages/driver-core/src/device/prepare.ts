/**
 * Preparing a model: the backend compiles it, or restores what a cache has of it; what is new is kept in a cache, where
 * there is one.
 */
import {
  type CacheBlobs,
  type CompileOptions,
  type Executable,
  type GraphSource,
  type GraphView,
  StatusError,
  viewModel,
} from "@nnhal/backend";
import { type CompilationCache, ErrorStatus, type PrepareResult } from "@nnhal/types";
import { inSection } from "@nnhal/utils";
import { saveToCache } from "../cache/cache.ts";
import type { DeviceContext } from "./device.ts";
import { preparedModel } from "./prepared-model.ts";
import { failure, messageOf, type Refusal } from "./refusal.ts";
import { rehearse } from "./rehearse.ts";

/** What to prepare. */
export interface Preparation {
  /** Checked. */
  readonly source: GraphSource;
  readonly options: CompileOptions;
  readonly deadline: bigint | undefined;
  /** What a cache has of the model. */
  readonly blobs?: CacheBlobs | undefined;
  /** Where to keep it. */
  readonly cache?: CompilationCache | undefined;
}

/** The answer to a preparation that came to nothing. */
export function unprepared(refusal: Refusal): PrepareResult {
  return { ...refusal, preparedModel: null };
}

/** Prepares a checked model. Never rejects. */
export function prepareChecked(preparation: Preparation, context: DeviceContext): Promise<PrepareResult> {
  return context.client.during(prepare(preparation, context));
}

async function prepare(preparation: Preparation, context: DeviceContext): Promise<PrepareResult> {
  const { source, options, deadline } = preparation;
  const { trace, now, client } = context;
  try {
    const graph = viewModel(source);
    const executable = await inSection(trace, "LC", "PC", "compile", () => make(graph, preparation, context));
    if (deadline !== undefined && now() >= deadline) {
      executable.close();
      const message = "the deadline passed while the model was prepared";
      return unprepared({ status: ErrorStatus.MISSED_DEADLINE_TRANSIENT, message });
    }
    await keep(executable, preparation, context);
    await rehearse(context);
    if (client.isClosed) {
      executable.close();
      return unprepared(clientGone);
    }
    const record = { model: source.model, graph, executable, ...options };
    return { status: ErrorStatus.NONE, preparedModel: preparedModel(record, context) };
  } catch (error) {
    if (error instanceof StatusError) return unprepared({ status: error.status, message: error.message });
    return unprepared(failure(`preparing the model: ${messageOf(error)}`));
  }
}

/** Why a client that has gone gets nothing. */
export const clientGone: Refusal = { status: ErrorStatus.DEVICE_UNAVAILABLE, message: "the client is closed" };

function make(
  graph: GraphView,
  { options, deadline, blobs }: Preparation,
  { session, now }: DeviceContext,
): Promise<Executable> {
  const limited = deadline === undefined ? options : { ...options, now, deadline };
  if (blobs === undefined || session.restore === undefined) return session.compile(graph, limited);
  return session.restore(blobs, graph, limited);
}

/** Keeps what was compiled in a cache, or says in the log why not. Never rejects. */
async function keep(
  executable: Executable,
  { source, options, cache }: Preparation,
  { name, session, caching, log, trace }: DeviceContext,
): Promise<void> {
  if (cache === undefined || caching === undefined) return;
  const serialize = async () => (session.restore === undefined ? undefined : await executable.serialize?.());
  const section = trace.begin("LD", "PC", "save to cache");
  const problem = await saveToCache(cache, source, options, serialize, caching);
  section.end();
  log.VLOG("DRIVER", () => (problem === undefined ? `${name}: cached` : `${name}: nothing is cached: ${problem}`));
}
