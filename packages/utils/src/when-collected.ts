/**
 * Frees what an object holds when it was never closed, once it is garbage-collected.
 */

/** The registry's entry of an owner. It has no release once it is cancelled. */
interface Registration {
  release: (() => void) | undefined;
}

const registry = new FinalizationRegistry<Registration>(({ release }) => release?.());

/**
 * Calls `release(held)` when `owner` is garbage-collected. Returns a cancel function. Neither `held` nor `release` may reference the
 * owner; a function that is created where the owner is in scope can do so implicitly.
 */
export function whenCollected<Held>(owner: object, held: Held, release: (held: Held) => void): () => void {
  // A function that is created here would reference the owner.
  const registration: Registration = { release: release.bind(null, held) };
  registry.register(owner, registration, registration);
  return () => {
    registry.unregister(registration);
    // V8 keeps a registration that has been removed until a major garbage collection: it must not keep what was held.
    registration.release = undefined;
  };
}
