/**
 * The request of an execution path, and its result.
 */
import type { Device, ExecuteOptions, ExecutionResult, Model, PreparedModel, Request } from "@nnhal/types";

/** Arguments of an execution. */
export interface PathRequest {
  readonly device: Device;
  readonly preparedModel: PreparedModel;
  readonly model: Model;
  readonly request: Request;
  readonly options: ExecuteOptions;
}

/** Outcome of an execution, or why the device or the path has no such execution. */
export type PathResult = Omit<ExecutionResult, "timing"> | { readonly unsupported: string };
