/**
 * What a device knows of one of its prepared models: the same object for the same prepared model, wherever it is used.
 */
import type { GraphView } from "@nnhal/backend";
import type { ExecutionPreference, Priority } from "@nnhal/types";
import type { PreparedModelRecord } from "@nnhal/validation";
import type { GuardedExecutable } from "./guarded-executable.ts";

export interface ModelRecord extends PreparedModelRecord {
  readonly graph: GraphView;
  /** For each input why a request must not omit it; undefined: it may. */
  readonly mandatory: readonly (string | undefined)[];
  readonly executable: GuardedExecutable;
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
}
