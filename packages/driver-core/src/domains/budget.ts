/**
 * The memory that the buffers of one client may take together, so that there is some for others.
 */

/** There are not so many bytes. */
export class OutOfRoom extends Error {}

/** A share of memory. */
export interface BufferBudget {
  /** Takes so many bytes more. Throws OutOfRoom if there are not so many. */
  take(size: number): void;
  giveBack(size: number): void;
  /** Takes so many bytes more, in place of some, and makes them: zeros. Throws OutOfRoom, having taken none, if that fails. */
  bytes(size: number, inPlaceOf?: number): Uint8Array;
}

/** A share of so many bytes. */
export function createBudget(most: number): BufferBudget {
  let taken = 0;
  const budget: BufferBudget = {
    take(size) {
      if (taken + size > most) {
        throw new OutOfRoom(
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
        throw new OutOfRoom(`${size} bytes: ${error instanceof Error ? error.message : "they cannot be had"}`);
      }
    },
  };
  return budget;
}
