/**
 * The mutation of a model's pools: each of them, and one more that no operand needs.
 */
import type { Memory, Model } from "@nnhal/types";
import { invalid, type ModelMutation } from "./mutation.ts";

/** Ways in which a memory is wrong. */
export function wrongMemories(memory: Memory): { readonly how: string; readonly memory: Memory }[] {
  const { size, handle } = memory;
  const wrong = [
    { how: "has an unknown name", memory: { ...memory, name: "paper" } },
    { how: "has no name", memory: { ...memory, name: "" } },
    { how: "has no handle", memory: { ...memory, handle: null } },
  ];
  if (handle?.kind !== "buffer") return wrong;
  const tooLong = handle.buffer.byteLength - handle.byteOffset + 1;
  return [
    ...wrong,
    { how: `is said to have ${tooLong} bytes`, memory: { ...memory, size: tooLong } },
    {
      how: "begins beyond its buffer",
      memory: { ...memory, handle: { ...handle, byteOffset: handle.buffer.byteLength - size + 1 } },
    },
  ];
}

/** A memory that is right. */
export function someMemory(): Memory {
  return { name: "ashmem", size: 4, handle: { kind: "buffer", buffer: new SharedArrayBuffer(4), byteOffset: 0 } };
}

export const modelPool: ModelMutation = {
  name: "modelPool",
  says: "A pool is of a kind that the HAL does not know, or has no memory, or less than it says.",
  *mutate(model) {
    const added = model.pools.length;
    for (const [index, pool] of [...model.pools, someMemory()].entries()) {
      for (const { how, memory } of wrongMemories(pool)) {
        const name = index === added ? `one more pool ${how}` : `pool ${index} ${how}`;
        yield invalid(name, withPool(model, index, memory));
      }
    }
  },
};

function withPool(model: Model, index: number, memory: Memory): Model {
  const pools = [...model.pools];
  pools[index] = memory;
  return { ...model, pools };
}
