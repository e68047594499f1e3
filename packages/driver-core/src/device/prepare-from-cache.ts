/** Preparing the model in a cache (HAL 1.2 IDevice.prepareModelFromCache). */
import type { GraphSource } from "@nnhal/backend";
import { type CompilationCache, ErrorStatus, type Model, type PrepareOptions, type PrepareResult } from "@nnhal/types";
import { inSection, loadOnce } from "@nnhal/utils";
import { failedPreparation } from "../guard/failed.ts";
import { failure, type Refusal } from "../guard/refusal.ts";
import { prepareArguments } from "./arguments.ts";
import { checkModel } from "./check-model.ts";
import type { DeviceContext } from "./context.ts";
import { prepareChecked } from "./prepare.ts";
import { whyUnsupported } from "./support.ts";

const caches = loadOnce(() => import("../cache/cache.ts"));

/** Prepares the model in a cache. Never rejects. */
export async function prepareFromCache(
  cache: CompilationCache,
  given: Pick<PrepareOptions, "deadline"> | undefined,
  model: Model | undefined,
  context: DeviceContext,
): Promise<PrepareResult> {
  const { caching, name, now, session, trace } = context;
  const taken = prepareArguments(given, undefined);
  if ("status" in taken) return failedPreparation(taken);
  const { deadline } = taken;
  if (caching === undefined) return failedPreparation(failure(`${name} has no compilation caching`));
  if (deadline !== undefined && now() >= deadline) {
    const message = "the deadline had passed before the cache was read";
    return failedPreparation({ status: ErrorStatus.MISSED_DEADLINE_PERSISTENT, message });
  }
  const { loadFromCache } = await caches();
  const known = model === undefined ? undefined : checkModel(model, context);
  if (known !== undefined && "status" in known) return failedPreparation(known);
  const loaded = inSection(trace, "LD", "PC", "load from cache", () => loadFromCache(cache, caching, known));
  if ("status" in loaded) return failedPreparation(loaded);
  const { options, blobs } = loaded;
  const { extensions, oemOperation } = session;
  const source = caching.isSecret ? { ...loaded.source, extensions, oemOperation } : checkAgain(loaded.source, context);
  return "status" in source ? failedPreparation(source) : prepareChecked({ source, options, deadline, blobs }, context);
}

/** Checks a model from the cache, which can be forged. The caller's own model has been checked, and is not checked again. */
function checkAgain({ model }: Pick<GraphSource, "model">, context: DeviceContext): GraphSource | Refusal {
  const checked = checkModel(model, context);
  if ("status" in checked) return failure(`the cache: ${checked.message}`);
  const reason = whyUnsupported(checked, context);
  return reason === undefined ? checked : failure(`the cache: ${reason}`);
}
