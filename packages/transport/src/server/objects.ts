/** The objects of one client on its server, by number. Calls name them, and all are freed when the client ends. */
import {
  ErrorStatus,
  type ExecutionResult,
  type FencedResult,
  type IBuffer,
  type IBurstContext,
  type IFencedExecutionCallback,
  type PreparedModel,
  type SyncFence,
} from "@nnhal/types";
import { Refused } from "../protocol/refused.ts";
import type { WiredRequest } from "../protocol/values.ts";

/** A reusable execution, and where its outputs are. */
export interface ServedExecution {
  readonly request: WiredRequest;
  execute(times: { readonly deadline: bigint | undefined }): Promise<ExecutionResult>;
  executeFenced(
    waitFor: readonly (SyncFence | null)[],
    times: { readonly deadline: bigint | undefined; readonly duration: bigint | undefined },
  ): Promise<FencedResult>;
  close?(): void;
}

/** The kinds of objects. */
interface Kinds {
  readonly preparedModel: PreparedModel;
  readonly buffer: IBuffer;
  readonly burst: IBurstContext;
  readonly fencedCallback: IFencedExecutionCallback;
  readonly reusable: ServedExecution;
}

type Entry = { readonly [Kind in keyof Kinds]: { readonly kind: Kind; readonly value: Kinds[Kind] } }[keyof Kinds];

/** See the file's head. */
export interface ClientObjects {
  /** Returns the number of a new object. After `close`, the object is freed immediately. */
  add(entry: Entry): number;
  /** An object of a kind. Throws Refused if the number is that of another, or of none. */
  get<Kind extends keyof Kinds>(kind: Kind, id: number): Kinds[Kind];
  /** Throws Refused if no further object may be made. */
  checkCount(): void;
  release(id: number): void;
  readonly size: number;
  close(): void;
}

export function createObjects(mostObjects: number): ClientObjects {
  const entries = new Map<number, Entry>();
  let lastId = 0;
  let isClosed = false;
  return {
    add(entry) {
      lastId++;
      if (isClosed) free(entry);
      else entries.set(lastId, entry);
      return lastId;
    },
    get(kind, id) {
      const entry = entries.get(id);
      if (entry?.kind !== kind) throw new Refused(ErrorStatus.INVALID_ARGUMENT, `object ${id} is not a ${kind}`);
      // The kind determines the type of the value; TypeScript does not follow that for a kind that is a parameter.
      return entry.value as Kinds[typeof kind];
    },
    checkCount() {
      if (entries.size < mostObjects) return;
      const why = `the client has ${entries.size} objects, which is the limit`;
      throw new Refused(ErrorStatus.RESOURCE_EXHAUSTED_TRANSIENT, why);
    },
    release(id) {
      const entry = entries.get(id);
      entries.delete(id);
      if (entry !== undefined) free(entry);
    },
    get size() {
      return entries.size;
    },
    close() {
      isClosed = true;
      for (const entry of entries.values()) free(entry);
      entries.clear();
    },
  };
}

/** A faulty device must not keep others from being freed. */
function free({ kind, value }: Entry): void {
  try {
    if (kind !== "fencedCallback") value.close?.();
  } catch {
    // The client has released the object, so the error is dropped.
  }
}
