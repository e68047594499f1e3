/** Conditions that every answer of a device must meet. */
import {
  type Device,
  ErrorStatus,
  type ExecutionResult,
  errorStatusNames,
  type Outcome,
  type PreparedModel,
} from "@nnhal/types";
import { must } from "./target.ts";

/** Demands a status of the enum, and a message with every error. */
export function mustBeOutcome(method: string, { status, message }: Outcome): void {
  must(errorStatusNames.has(status), () => `${method} answered with status ${String(status)}`);
  must(
    status === ErrorStatus.NONE || (message ?? "") !== "",
    () => `${method} answered ${errorStatusNames.get(status)} without a message`,
  );
}

/** The answer of an execution. `outputs`: how many outputs the model has. */
export function mustBeExecuted(method: string, result: ExecutionResult, outputs: number): void {
  mustBeOutcome(method, result);
  const { status, outputShapes } = result;
  const hasShapes = status === ErrorStatus.NONE || status === ErrorStatus.OUTPUT_INSUFFICIENT_SIZE;
  must(
    outputShapes.length === (hasShapes ? outputs : 0),
    () => `${method}: ${outputShapes.length} shapes beside ${errorStatusNames.get(status)}`,
  );
}

/** A prepared model if and only if it is prepared. */
export function takePrepared(
  method: string,
  result: Awaited<ReturnType<Device["prepareModel"]>>,
): PreparedModel | undefined {
  mustBeOutcome(method, result);
  const isPrepared = result.status === ErrorStatus.NONE;
  must(
    isPrepared === (result.preparedModel !== null),
    () => `${method}: a prepared model is ${isPrepared ? "missing" : "given"} beside status ${result.status}`,
  );
  return result.preparedModel ?? undefined;
}
