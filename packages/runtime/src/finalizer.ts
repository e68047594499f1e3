/**
 * Frees what was never closed, once nobody has it any more.
 */

const registry = new FinalizationRegistry<() => void>((release) => release());

/**
 * Has what an owner holds released when the owner has been collected; gives what cancels it. Neither `held` nor `release`
 * may lead to the owner: a function that is made where the owner is in scope may do so unseen.
 */
export function whenCollected<Held>(owner: object, held: Held, release: (held: Held) => void): () => void {
  const ticket = {};
  registry.register(owner, releaser(held, release), ticket);
  return () => registry.unregister(ticket);
}

function releaser<Held>(held: Held, release: (held: Held) => void): () => void {
  return () => release(held);
}

/** Closes what can be closed. */
export function close(held: { close?(): unknown } | undefined): void {
  void held?.close?.();
}
