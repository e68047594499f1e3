/** `npm run differences -- --models N`. */
import type { OracleEngine } from "../oracle.ts";
import { openOracle } from "./oracle-process.ts";
import { lineOf, type OperatorSummary, summarise } from "./report.ts";
import type { RunModel } from "./run-models.ts";
import { type Compared, compareModel, drawers } from "./run-models.ts";

/** Which models to compare. */
export interface ModelsOptions {
  /** About how many, the same number of each operator and type. */
  readonly count: number;
  readonly seed: number;
  readonly operators: readonly string[] | undefined;
  readonly type: string | undefined;
  /** The program that calls `serveOracle`. */
  readonly program: string;
  readonly builds: string;
  readonly onLine: (line: string) => void;
}

/** Compares random models, and tells those that differ. */
export async function compareModels(run: RunModel, options: ModelsOptions): Promise<readonly OperatorSummary[]> {
  const { count, seed, operators, type: only, program, builds, onLine } = options;
  const rows = Object.entries(drawers).flatMap(([operator, { types }]) =>
    types.flatMap((type) =>
      (operators?.includes(operator) ?? true) && (only === undefined || only === type) ? [{ operator, type }] : [],
    ),
  );
  const each = Math.max(1, Math.ceil(count / rows.length));
  const open = (engine: OracleEngine) => openOracle(program, engine, builds);
  const oracles = { litert: open("litert"), tfjs: open("tfjs") };
  const compared: Compared[] = [];
  for (const { operator, type } of rows) {
    for (let at = 0; at < each; at++) {
      const model = await compareModel(operator, type, 1000 * seed + at, run, oracles);
      compared.push(model);
      const kinds = Object.values(model.outcomes).map(({ kind }) => kind);
      if (kinds.includes("differs") || model.refusal !== undefined || kinds.every((kind) => kind === "refused"))
        onLine(lineOf(model));
    }
  }
  for (const oracle of Object.values(oracles)) oracle.close();
  return summarise(compared);
}
