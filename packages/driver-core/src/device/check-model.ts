/** Checks a caller's model: it is valid, it cannot change, and its pools are mapped. Later steps rely on that. */
import type { GraphSource } from "@nnhal/backend";
import { elementAt, type VendorDefinitions } from "@nnhal/operations";
import type { Memory, Model } from "@nnhal/types";
import { type SealedModel, sealModel } from "@nnhal/validation";
import { formatIssues } from "../guard/format-issues.ts";
import { failure, invalid, messageOf, type Refusal } from "../guard/refusal.ts";
import type { Unmappable } from "../memory/mapping.ts";
import { mapMemory, mapPool } from "../memory/memory.ts";

/**
 * Seals a model, and maps its pools. A model that is already sealed, such as one of a runtime in this process, is not
 * validated again. The HAL requires drivers to refuse a WHILE with operands of unknown size (mode "driver"), because
 * Android's drivers cannot run it. This driver leaves the decision to the backend's `supports`.
 */
export function checkModel(
  given: Model,
  { session: { extensions, oemOperation } }: { readonly session: VendorDefinitions },
): GraphSource | Refusal {
  const sealed = sealModel(given, { extensions });
  if ("issues" in sealed) return invalid(`the model is not valid: ${formatIssues(sealed.issues)}`);
  const { model, matches } = sealed;
  const pools = mapPools(sealed);
  return "status" in pools ? pools : { model, pools, matches, extensions, oemOperation, views: new Map() };
}

/** Maps every pool, or reports the first that cannot be mapped. */
function mapPools({ model, poolSizes }: SealedModel): Uint8Array[] | Refusal {
  const mapped: Uint8Array[] = [];
  for (const [index, memory] of model.pools.entries()) {
    const bytes = mapConstants(memory);
    if ("unmappable" in bytes) return failure(`main pool ${index}: ${bytes.unmappable}`);
    const size = elementAt(poolSizes, index);
    if (bytes.length < size) return failure(`main pool ${index}: it has ${bytes.length} bytes and claims ${size}`);
    mapped.push(bytes);
  }
  return mapped;
}

function mapConstants(memory: Memory): Uint8Array | Unmappable {
  const bytes = mapMemory(memory);
  const mapping = mapPool(memory);
  if ("unmappable" in bytes || "unmappable" in mapping) return bytes;
  try {
    mapping.load?.(0, bytes.length);
    return bytes;
  } catch (error) {
    return { unmappable: messageOf(error) };
  }
}
