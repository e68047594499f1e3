/**
 * What a device knows of one of its prepared models: the same object for the same prepared model, wherever it is used.
 */
import type { Executable, GraphView } from "@nnhal/backend";
import type { ExecutionPreference, Priority } from "@nnhal/types";
import type { PreparedModelRecord } from "@nnhal/validation";

export interface ModelRecord extends PreparedModelRecord {
  readonly graph: GraphView;
  readonly executable: Executable;
  readonly preference: ExecutionPreference;
  readonly priority: Priority;
}
