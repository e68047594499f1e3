/**
 * A model from outside, checked: it is valid, its own, and its pools are mapped. What follows may rely on all of it.
 */
import type { GraphSource } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import type { Memory, Model } from "@nnhal/types";
import type { Unmappable } from "../memory/mapping.ts";
import { mapMemory, mapPool } from "../memory/memory.ts";
import { takeModel } from "./arguments.ts";
import type { DeviceContext } from "./context.ts";
import { failure, messageOf, type Refusal } from "./refusal.ts";

/**
 * Takes and validates a model, and maps its pools. The HAL has drivers refuse a WHILE whose operands have unknown sizes (mode
 * "driver"), since Android's own cannot run them; this driver leaves it to the backend, which says so in `supports`.
 */
export function checkModel(model: Model, { operationByCode }: DeviceContext): GraphSource | Refusal {
  const taken = takeModel(model, { mode: "runtime", operations: operationByCode });
  if ("status" in taken) return taken;
  const pools = mapPools(taken.memories, taken.model.pools);
  return "status" in pools ? pools : { model: taken.model, pools, operationByCode };
}

/** The bytes of every pool as they are now, or which one cannot be had. `taken`: what validation has seen of them. */
function mapPools(memories: readonly Memory[], taken: readonly Memory[]): Uint8Array[] | Refusal {
  const mapped: Uint8Array[] = [];
  for (const [index, memory] of memories.entries()) {
    const bytes = mapConstants(memory);
    if ("unmappable" in bytes) return failure(`main pool ${index}: ${bytes.unmappable}`);
    const { size } = elementAt(taken, index);
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
