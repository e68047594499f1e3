/**
 * Lateness of executions: a long one gets deadlines within its time. It may end with NONE before its deadline, or report soon
 * after it that it was missed.
 */
import { ErrorStatus, type ExecuteOptions, type Model } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import {
  type Bench,
  executeBy,
  type LongWork,
  prepare,
  smallModel,
  supportOf,
  type Way,
  wayNames,
  wayOf,
} from "../bench.ts";
import { expectStatus, expectThat, statusName } from "../check.ts";
import { modelOfGraphs, operandOf } from "../small-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, requestFor } from "../values.ts";

const { NONE, MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;

/** Operations one after the other. */
const depth = 24;
/** Elements of a row. Tensors have whole rows. */
const width = 1024;
/** Numbers of rows: the first that is tried, and the most. */
const fewestRows = 16;
const mostRows = 4096;
/** The deadlines, as parts of the time that the execution takes. */
export const parts = [1 / 5, 1 / 3];
/**
 * Minimum milliseconds of an execution, and the target that keeps it from falling short again. The time after the last deadline
 * must be more than the default of `allowances.lateSuccess`: an execution that ends with NONE all the same is found.
 */
export const long = 250;
const aim = 320;
/** A try has at most this many times the rows of the one before: one short execution says little about a long one. */
const growth = 16;
/** A deadline is tried again if an execution is late: other work of the machine is not the device's fault. */
const tries = 3;

/** A chain of the first small operation that the device supports. */
async function longModel(bench: Bench, rows: number): Promise<Model> {
  const { operation } = await smallModel(bench, { type: "TENSOR_FLOAT32" });
  const dimensions = [rows, width];
  const lifetimes = Array.from({ length: depth + 1 }, (_, index) =>
    index === 0 ? "SUBGRAPH_INPUT" : index === depth ? "SUBGRAPH_OUTPUT" : "TEMPORARY_VARIABLE",
  );
  const operands = lifetimes.map((lifetime) => operandOf("TENSOR_FLOAT32", dimensions, lifetime));
  const operations = Array.from({ length: depth }, (_, index) => ({
    type: operation.name,
    inputs: operation.inputs(dimensions).map((input) => (input === "x" ? index : operands.push(input) - 1)),
    outputs: [index + 1],
  }));
  const model = modelOfGraphs({ operands, operations, inputIndexes: [], outputIndexes: [] });
  const reason = await supportOf(bench.device, model);
  return reason === undefined ? model : endAsUnsupported("long executions", reason);
}

/** A long model that is prepared, as a function that executes it and measures the milliseconds. */
async function executionOf(bench: Bench, way: Way, rows: number) {
  const preparedModel = await prepare(bench, await longModel(bench, rows), {}, way.device);
  const bytes = 4 * rows * width;
  const request = requestFor([emptyMemory(bytes)], [emptyMemory(bytes)]);
  const execute = async (options: ExecuteOptions = {}) => {
    const start = performance.now();
    const result = await executeBy(way, preparedModel, request, options);
    return { ...result, milliseconds: performance.now() - start };
  };
  return { execute, close: () => preparedModel.close() };
}

/** Finds a number of rows that takes long, and its milliseconds. */
async function findLongWork(bench: Bench, way: Way): Promise<LongWork> {
  for (let rows = fewestRows; ; ) {
    const { execute, close } = await executionOf(bench, way, rows);
    // The first one may prepare what later ones find.
    expectStatus(way.name, await execute(), NONE);
    const { milliseconds, ...outcome } = await execute();
    expectStatus(way.name, outcome, NONE);
    close();
    if (milliseconds >= long || rows === mostRows) return { rows, milliseconds };
    rows = moreRows(rows, milliseconds);
  }
}

/** Returns the next number of rows to try after an execution that did not take long enough. */
export function moreRows(rows: number, milliseconds: number): number {
  return Math.min(mostRows, Math.ceil(rows * Math.min(growth, Math.max(aim / milliseconds, 1.25))));
}

async function lateness(bench: Bench, name: Way["name"]): Promise<void> {
  const { allowances, now, own } = bench;
  const way = await wayOf(bench, name);
  own.longWork ??= await findLongWork(bench, way);
  const { rows, milliseconds } = own.longWork;
  const { execute } = await executionOf(bench, way, rows);
  const told: string[] = [];
  for (const part of parts) {
    const share = BigInt(Math.max(1, Math.round(milliseconds * part)));
    let measured = "";
    for (let turn = 1; ; turn++) {
      const deadline = now() + share * 1_000_000n;
      const { status, ...rest } = await execute({ deadline });
      const late = Number(now() - deadline) / 1e6;
      expectStatus(name, { ...rest, status }, NONE, MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT);
      const most = status === NONE ? allowances.lateSuccess : allowances.lateness;
      const when = late < 0 ? `${(-late).toFixed(1)} ms before` : `${late.toFixed(1)} ms after`;
      measured = `${statusName(status)} ${when} a deadline of ${share} ms`;
      if (late <= most) break;
      expectThat(turn < tries, () => {
        return `${name} of ${milliseconds.toFixed(0)} ms: ${measured} in the last of ${tries} tries, at most ${most} ms allowed`;
      });
    }
    told.push(measured);
  }
  bench.tell(`executions of ${milliseconds.toFixed(0)} ms: ${told.join(", ")}`);
}

export const latenessCases: readonly SuiteCase[] = casesOf(
  "lateness",
  "1.3",
  wayNames,
  (name) => `a long execution says NONE before its deadline only, and ends soon after it (${name})`,
  lateness,
);
