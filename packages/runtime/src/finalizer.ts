/**
 * Frees objects that were never closed, once they are garbage-collected.
 */

const registry = new FinalizationRegistry<() => void>((release) => release());

/**
 * Calls `release(held)` when `owner` is garbage-collected. Returns a cancel function. Neither `held` nor `release` may reference the
 * owner; a function that is created where the owner is in scope can do so implicitly.
 */
export function whenCollected<Held>(owner: object, held: Held, release: (held: Held) => void): () => void {
  const ticket = {};
  registry.register(owner, releaser(held, release), ticket);
  return () => registry.unregister(ticket);
}

function releaser<Held>(held: Held, release: (held: Held) => void): () => void {
  return () => release(held);
}

/** Closes an object. */
export function close(held: { close?(): unknown } | undefined): void {
  void held?.close?.();
}
