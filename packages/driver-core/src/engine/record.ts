/** The record of a device about one of its prepared models; one object for each prepared model. */
import type { GraphView } from "@nnhal/backend";
import type { FactsByCode } from "@nnhal/operations";
import type { ExecutionPreference, Priority } from "@nnhal/types";
import type { PreparedModelRecord } from "@nnhal/validation";
import type { KnownRequest } from "../guard/known-request.ts";
import type { GuardedExecutable } from "./guarded-executable.ts";

export interface ModelRecord extends PreparedModelRecord {
  readonly graph: GraphView;
  /** The facts of the operand types of the model. */
  readonly factsOf: FactsByCode;
  /** For each input, why a request must not omit it; undefined if it may. */
  readonly mandatory: readonly (string | undefined)[];
  readonly executable: GuardedExecutable;
  /** The last valid request of `execute`; undefined at first. */
  knownRequest: KnownRequest | undefined;
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
}
