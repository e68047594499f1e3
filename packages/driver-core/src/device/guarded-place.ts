/**
 * A place in a backend's memory, behind the guard.
 */
import type { BackendBuffer } from "@nnhal/backend";
import type { Halting } from "./client.ts";
import type { Refusal } from "./refusal.ts";

/** A place in an engine's memory. */
export interface GuardedPlace {
  /** The backend's own, for its runs. */
  readonly place: BackendBuffer;
  /** Undefined: done. Never rejects. */
  read(bytes: Uint8Array, client: Halting): Promise<Refusal | undefined>;
  write(bytes: Uint8Array, dimensions: readonly number[], client: Halting): Promise<Refusal | undefined>;
  close(): void;
}
