/** A guard around a place in a backend's memory. */
import type { BackendBuffer } from "@nnhal/backend";
import type { Refusal } from "../guard/refusal.ts";
import type { Halting } from "./client.ts";

/** A place in an engine's memory. */
export interface GuardedPlace {
  /** The backend's own object, for its runs. */
  readonly place: BackendBuffer;
  /** Resolves with undefined on success. Never rejects. */
  read(bytes: Uint8Array, client: Halting): Promise<Refusal | undefined>;
  write(bytes: Uint8Array, dimensions: readonly number[], client: Halting): Promise<Refusal | undefined>;
  close(): void;
}
