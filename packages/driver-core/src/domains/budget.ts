/** A limit for the total memory of one client's buffers, so that some is left for others. */

/** Thrown if the bytes exceed the limit or cannot be allocated. */
export class OutOfMemory extends Error {}

/** One client's share of memory. */
export interface BufferBudget {
  /** Reserves bytes. Throws OutOfMemory if they exceed the share. */
  take(size: number): void;
  giveBack(size: number): void;
  /**
   * Reserves bytes in place of earlier ones and allocates them, zeroed. Throws OutOfMemory and reserves nothing if that
   * fails.
   */
  bytes(size: number, inPlaceOf?: number): Uint8Array;
}

/** A share of `most` bytes. */
export function createBudget(most: number): BufferBudget {
  let taken = 0;
  const budget: BufferBudget = {
    take(size) {
      if (taken + size > most) {
        throw new OutOfMemory(
          `${size} bytes more than the ${taken} of the client's other buffers exceed its share of ${most}`,
        );
      }
      taken += size;
    },
    giveBack(size) {
      taken -= size;
    },
    bytes(size, inPlaceOf = 0) {
      budget.take(size - inPlaceOf);
      try {
        return new Uint8Array(size);
      } catch (error) {
        budget.giveBack(size - inPlaceOf);
        throw new OutOfMemory(`${size} bytes: ${error instanceof Error ? error.message : "they cannot be allocated"}`);
      }
    },
  };
  return budget;
}
