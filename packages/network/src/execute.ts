/**
 * One run of a compiled model on bytes.
 */
import { elementAt } from "@nnhal/operations";
import { type Compilation, computeOutputs, Execution } from "@nnhal/runtime";
import { byteSize, type TensorShape } from "./tensor.ts";

/** The bytes of an input. */
export interface InputBytes {
  readonly bytes: Uint8Array;
  /** The extents, if the model leaves some open. */
  readonly shape?: readonly number[] | undefined;
}

/** An output with the shape that the run determined. */
export interface OutputBytes<Info extends TensorShape> {
  readonly info: Info;
  readonly bytes: Uint8Array;
}

/** Time that a run took, in milliseconds, as the device says; undefined if it does not. */
export interface RunTiming {
  /** In the driver, with what its hardware did. */
  readonly inDriver: number | undefined;
  readonly onHardware: number | undefined;
}

/** Further options of a run. */
export interface ExecuteOptions {
  /**
   * Milliseconds after which the device gives up: MISSED_DEADLINE_TRANSIENT or MISSED_DEADLINE_PERSISTENT. Only for a compilation for one
   * explicit device, as in the NNAPI. Default: no limit.
   */
  readonly timeout?: number | undefined;
  /** When it is aborted, the run ends at the next pause of the device: MISSED_DEADLINE_TRANSIENT. Default: none. */
  readonly signal?: AbortSignal | undefined;
  /** Measures the run. Only for a compilation for one explicit device. */
  readonly onTiming?: ((timing: RunTiming) => void) | undefined;
}

/**
 * Runs once. `into`: memory for some outputs, which is used if its size is right. Rejects with a NeuralNetworksError. Outputs of open
 * shape have no memory at first: the device says how much they need, and the run is repeated.
 */
export async function execute<Info extends TensorShape>(
  compilation: Compilation,
  inputs: readonly InputBytes[],
  outputs: readonly Info[],
  into: readonly (Uint8Array | undefined)[] = [],
  { timeout, signal, onTiming }: ExecuteOptions = {},
): Promise<OutputBytes<Info>[]> {
  const prepare = () => {
    const execution = new Execution(compilation);
    if (timeout !== undefined) execution.setTimeout(nanoseconds(timeout));
    if (signal !== undefined) execution.setSignal(signal);
    if (onTiming !== undefined) execution.setMeasureTiming(true);
    for (const [index, { bytes, shape }] of inputs.entries()) execution.setInput(index, bytes, shape);
    return execution;
  };
  const sizeOf = (index: number, shape: readonly number[]) => byteSize({ ...elementAt(outputs, index), shape });
  const computed = await computeOutputs(prepare, { sizes: outputs.map(byteSize), sizeOf, into });
  const { execution } = computed;
  onTiming?.({ inDriver: millisecondsOf(execution, "inDriver"), onHardware: millisecondsOf(execution, "onHardware") });
  return computed.outputs.map(({ dimensions, bytes }, index) => ({
    info: { ...elementAt(outputs, index), shape: dimensions },
    bytes,
  }));
}

/** At least one: 0 means no limit. */
export function nanoseconds(milliseconds: number): bigint {
  return BigInt(Math.max(1, Math.round(milliseconds * 1e6)));
}

function millisecondsOf(execution: Execution, code: "inDriver" | "onHardware"): number | undefined {
  const duration = execution.getDuration(code);
  return duration === undefined ? undefined : Number(duration) / 1e6;
}
