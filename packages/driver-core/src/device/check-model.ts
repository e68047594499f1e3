/**
 * A model from outside, checked: it is valid, and its pools are mapped. What follows may rely on both.
 */
import type { GraphSource } from "@nnhal/backend";
import type { Memory, Model } from "@nnhal/types";
import { type Issue, modelIssues } from "@nnhal/validation";
import type { Unmappable } from "../memory/mapping.ts";
import { mapMemory, mapPool } from "../memory/memory.ts";
import type { DeviceContext } from "./device.ts";
import { failure, invalid, messageOf, type Refusal } from "./refusal.ts";

/**
 * Validates a model and maps its pools. The HAL has drivers refuse a WHILE whose operands have unknown sizes (mode
 * "driver"), since Android's own cannot run them; this driver leaves it to the backend, which says so in `supports`.
 */
export function checkModel(model: Model, { operationByCode }: DeviceContext): GraphSource | Refusal {
  const issues = modelIssues(model, { mode: "runtime", operations: operationByCode });
  if (issues.length > 0) return invalid(`the model is not valid: ${formatIssues(issues)}`);
  const pools = mapPools(model.pools);
  return "status" in pools ? pools : { model, pools, operationByCode };
}

/** The bytes of every pool as they are now, or which one cannot be had. */
function mapPools(memories: readonly Memory[]): Uint8Array[] | Refusal {
  const mapped: Uint8Array[] = [];
  for (const [index, memory] of memories.entries()) {
    const bytes = mapConstants(memory);
    if ("unmappable" in bytes) return failure(`main pool ${index}: ${bytes.unmappable}`);
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

/** The first few issues in one line. */
export function formatIssues(issues: readonly Issue[]): string {
  const shown = issues.slice(0, 3).map(({ path, message }) => `${path}: ${message}`);
  if (issues.length > shown.length) shown.push(`and ${issues.length - shown.length} more`);
  return shown.join("; ");
}
