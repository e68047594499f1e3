/**
 * The times of a model's operations, each measured in a step of its own: `nnhal run --profile`.
 */
import type { ExplainedOperation } from "./explain/explanation.ts";
import { columns, milliseconds, openShapeText } from "./text.ts";

/** The times of a model. */
export interface Profile {
  /** Median time of a run in which operations are not separated. */
  readonly wholeMs: number;
  /** Files with node data for Model Explorer. */
  readonly written?: readonly string[];
  /** In the model's order. */
  readonly operations: readonly {
    /** Its index in the model, from 0. */
    readonly index: number;
    readonly type: string;
    /** The shape of its first output. */
    readonly shape: readonly number[];
    /** null if the runtime interprets it. */
    readonly device: string | null;
    /** Median; null if it cannot be in a step of its own. */
    readonly ms: number | null;
  }[];
}

/** The profile of operations that were measured. */
export function profileOf(wholeMs: number, operations: readonly ExplainedOperation[]): Profile {
  return {
    wholeMs,
    operations: operations.map(({ index, type, outputs, device, measuredMs }) => ({
      index,
      type,
      shape: outputs[0]?.shape ?? [],
      device,
      ms: measuredMs ?? null,
    })),
  };
}

/** A table of the operations in the model's order, counted from 1, with the share of each in the sum of all. */
export function formatProfile({ wholeMs, operations, written }: Profile): string[] {
  const sum = operations.reduce((total, { ms }) => total + (ms ?? 0), 0);
  const rows = operations.map(({ index, type, shape, device, ms }) => [
    String(index + 1),
    type,
    openShapeText(shape),
    device ?? "interpreted",
    ms === null ? "-" : milliseconds(ms),
    ms === null || sum === 0 ? "" : `${((100 * ms) / sum).toFixed(1).padStart(4)} %`,
  ]);
  return [
    ...columns([["operation", "type", "output", "device", "time", "share"], ...rows]),
    `each in a step of its own: ${milliseconds(sum)}; the whole model: ${milliseconds(wholeMs)}`,
    ...(written === undefined ? [] : [`for Model Explorer: ${written.join(", ")}`]),
  ];
}
