/**
 * The order of requests that wait for one model: requests of about one size have a share, and all sizes have equal shares, by
 * bytes. A small request does not wait until all large ones are done, and large requests wait for no more bytes of smaller ones
 * than they have.
 */

/** A request with its number of bytes. */
export interface Sized {
  readonly bytes: number;
}

/** The shares of the sizes. */
export interface Shares {
  /** Announces a request that is about to join `waiting`. */
  join(request: Sized, waiting: readonly Sized[]): void;
  /** Returns the request whose turn it is: the first of its size. */
  next<Request extends Sized>(waiting: readonly Request[]): Request | undefined;
  /** Announces that requests compute now, the first of which was next. */
  take(requests: readonly Sized[]): void;
}

/** Minimum bytes that a request counts for, since it has other costs. */
const leastBytes = 2 ** 16;

export function createShares(): Shares {
  /** Bytes that requests of each size have received. */
  const had = new Map<number, number>();
  /** Bytes of the size whose turn was last. A size that comes back has no claim to its unused share. */
  let level = 0;
  const hadBy = (request: Sized) => had.get(sizeOf(request)) ?? 0;
  return {
    join(request, waiting) {
      const size = sizeOf(request);
      if (!waiting.some((other) => sizeOf(other) === size)) had.set(size, Math.max(hadBy(request), level));
    },
    next(waiting) {
      const [first, ...others] = waiting;
      return first && others.reduce((best, one) => (hadBy(one) < hadBy(best) ? one : best), first);
    },
    take(requests) {
      const [first] = requests;
      if (first !== undefined) level = hadBy(first);
      for (const one of requests) had.set(sizeOf(one), hadBy(one) + Math.max(one.bytes, leastBytes));
    },
  };
}

/** Returns the class of a size: sizes within a factor of 2 are one. */
function sizeOf({ bytes }: Sized): number {
  return Math.ceil(Math.log2(Math.max(bytes, leastBytes)));
}
