/**
 * Results that are far larger than the place for them, or than is sensible: they are refused soon, and cost no memory.
 */
import { ErrorStatus, type Model } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare, smallModel, supportOf, type Way, wayOf } from "../bench.ts";
import { expectThat, statusName } from "../check.ts";
import { expectBy } from "../execution.ts";
import { constant, modelOfGraphs, operandOf } from "../small-models.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, memoryWith, requestFor } from "../values.ts";

const {
  NONE,
  OUTPUT_INSUFFICIENT_SIZE,
  RESOURCE_EXHAUSTED_TRANSIENT,
  RESOURCE_EXHAUSTED_PERSISTENT,
  MISSED_DEADLINE_TRANSIENT,
  MISSED_DEADLINE_PERSISTENT,
} = ErrorStatus;
const exhausted = [RESOURCE_EXHAUSTED_TRANSIENT, RESOURCE_EXHAUSTED_PERSISTENT] as const;
const missed = [MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT] as const;

/** A FILL whose extents only the request knows. */
async function fillModel({ device }: Bench): Promise<Model> {
  const model = modelOfGraphs({
    operands: [
      operandOf("TENSOR_INT32", [2], "SUBGRAPH_INPUT"),
      constant("FLOAT32", [], [1]),
      operandOf("TENSOR_FLOAT32", [0, 0], "SUBGRAPH_OUTPUT"),
    ],
    operations: [{ type: "FILL", inputs: [0, 1], outputs: [2] }],
    inputIndexes: [],
    outputIndexes: [],
  });
  const reason = await supportOf(device, model);
  return reason === undefined ? model : endAsUnsupported("FILL", reason);
}

/** A small operation, and a TILE of constants whose result has some elements. */
async function tileModel(bench: Bench, multiple: number): Promise<Model> {
  const { operation } = await smallModel(bench, { type: "TENSOR_FLOAT32" });
  const dimensions = [2, 3];
  const operands = [
    operandOf("TENSOR_FLOAT32", dimensions, "SUBGRAPH_INPUT"),
    operandOf("TENSOR_FLOAT32", dimensions, "SUBGRAPH_OUTPUT"),
    constant("TENSOR_FLOAT32", [8], [1, 2, 3, 4, 5, 6, 7, 8]),
    constant("TENSOR_INT32", [1], [multiple]),
    operandOf("TENSOR_FLOAT32", [8 * multiple], "SUBGRAPH_OUTPUT"),
  ];
  const inputs = operation.inputs(dimensions).map((input) => (input === "x" ? 0 : operands.push(input) - 1));
  return modelOfGraphs({
    operands,
    operations: [
      { type: operation.name, inputs, outputs: [1] },
      { type: "TILE", inputs: [2, 3], outputs: [4] },
    ],
    inputIndexes: [],
    outputIndexes: [],
  });
}

/** Executes a FILL to 20000 x 20000, which takes 1.6 GB, with room for 8 bytes. Reports the duration. */
async function fillTooMuch(bench: Bench, name: Way["name"], deadlineMs?: number): Promise<void> {
  const { allowances, now } = bench;
  const way = await wayOf(bench, name);
  const preparedModel = await prepare(bench, await fillModel(bench), {}, way.device);
  const request = requestFor([memoryWith("TENSOR_INT32", [20_000, 20_000])], [emptyMemory(8)]);
  const deadline = deadlineMs === undefined ? undefined : now() + BigInt(deadlineMs) * 1_000_000n;
  const before = process.resourceUsage().maxRSS;
  const start = performance.now();
  const allowed = [OUTPUT_INSUFFICIENT_SIZE, ...exhausted, ...(deadline === undefined ? [] : missed)];
  const { status } = await expectBy(
    way,
    preparedModel,
    request,
    deadline === undefined ? {} : { deadline },
    ...allowed,
  );
  const milliseconds = performance.now() - start;
  const grown = (process.resourceUsage().maxRSS - before) * 1024;
  const most = deadlineMs === undefined ? allowances.refusal : deadlineMs + allowances.lateness;
  const measured = `${statusName(status)} after ${milliseconds.toFixed(0)} ms, the process grew by ${mebibytes(grown)}`;
  bench.tell(measured);
  expectThat(milliseconds <= most, () => `${name} of a result without room: ${measured}, at most ${most} ms allowed`);
  expectThat(grown <= allowances.memory, () => {
    return `${name} of a result without room: ${measured}, at most ${mebibytes(allowances.memory)} allowed`;
  });
}

function mebibytes(bytes: number): string {
  return `${Math.round(bytes / 2 ** 20)} MiB`;
}

/** Milliseconds that a preparation has. */
const preparing = 100;

export const sizeCases: readonly SuiteCase[] = [
  ...casesOf(
    "sizes",
    "1.3",
    ["execute", "launch"] as const,
    (name) => `a result of 1.6 GB for a place of 8 bytes is refused soon, and takes no memory (${name})`,
    (bench, name) => fillTooMuch(bench, name),
  ),
  ...casesOf(
    "sizes",
    "1.3",
    ["execute", "launch"] as const,
    (name) => `a result of 1.6 GB for a place of 8 bytes ends by a deadline of 50 ms (${name})`,
    (bench, name) => fillTooMuch(bench, name, 50),
  ),
  ...group("sizes", "1.3", {
    async "constants that become 67 million elements are prepared by a deadline of 100 ms, or not at all"(bench) {
      const { device, allowances, now } = bench;
      const small = await supportOf(device, await tileModel(bench, 2));
      if (small !== undefined) endAsUnsupported("TILE", small);
      const model = await tileModel(bench, 2 ** 23);
      const refusal = await supportOf(device, model);
      if (refusal !== undefined) {
        bench.tell(`not supported: ${refusal}`);
        return;
      }
      const deadline = now() + BigInt(preparing) * 1_000_000n;
      const { preparedModel, ...outcome } = await device.prepareModel(model, { deadline });
      const late = Number(now() - deadline) / 1e6;
      bench.after(() => preparedModel?.close());
      const measured = `${statusName(outcome.status)} ${late.toFixed(0)} ms after the deadline`;
      bench.tell(measured);
      const isAllowed = [NONE, ...missed, ...exhausted].some((status) => status === outcome.status);
      expectThat(isAllowed, () => `prepareModel with a deadline of ${preparing} ms: ${measured}: ${outcome.message}`);
      const most = outcome.status === NONE ? allowances.lateSuccess : allowances.lateness;
      expectThat(late <= most, () => {
        return `prepareModel with a deadline of ${preparing} ms: ${measured}, at most ${most} ms allowed`;
      });
    },
  }),
];
