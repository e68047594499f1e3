/** The time limit of a WHILE. */
import { ErrorStatus, LoopTimeoutDurationNs } from "@nnhal/types";
import { type Bench, prepare, type Way, wayNames, wayOf } from "../bench.ts";
import { countingModel } from "../control-flow-models.ts";
import { expectBy, expectValues } from "../execution.ts";
import { casesOf, group, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, memoryWith, requestFor } from "../values.ts";

const { NONE, MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;
const missed = [MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT] as const;
const millisecond = 1_000_000n;

async function countLoop(bench: Bench, limit: number, way: Way) {
  const preparedModel = await prepare(bench, await countingModel(bench, limit), {}, way.device);
  const output = emptyMemory(4);
  return { preparedModel, output, request: requestFor([memoryWith("TENSOR_FLOAT32", [0])], [output]) };
}

async function ends(bench: Bench, loopTimeoutDuration?: bigint): Promise<void> {
  const way = await wayOf(bench, "execute");
  const { preparedModel, request, output } = await countLoop(bench, 7, way);
  const options = loopTimeoutDuration === undefined ? {} : { loopTimeoutDuration };
  await expectBy(way, preparedModel, request, options, NONE);
  expectValues("a loop of 7 turns", "TENSOR_FLOAT32", output, [7]);
}

export const loopCases: readonly SuiteCase[] = [
  ...group("loops", "1.3", {
    "a loop that ends in time": (bench) => ends(bench),
    "a loop that ends in time, of the longest that there may be": (bench) => ends(bench, LoopTimeoutDurationNs.MAXIMUM),
    "more than the longest is not an error": (bench) => ends(bench, (1n << 63n) - 1n),
    async "a deadline ends a loop that has more time"(bench) {
      const way = await wayOf(bench, "execute");
      const { preparedModel, request } = await countLoop(bench, Number.POSITIVE_INFINITY, way);
      await expectBy(way, preparedModel, request, { deadline: bench.now() + 20n * millisecond }, ...missed);
    },
    async "after a loop that took too long, the next one is right"(bench) {
      const way = await wayOf(bench, "execute");
      const endless = await countLoop(bench, Number.POSITIVE_INFINITY, way);
      await expectBy(way, endless.preparedModel, endless.request, { loopTimeoutDuration: millisecond }, ...missed);
      await ends(bench);
    },
  }),
  ...casesOf(
    "loops",
    "1.3",
    wayNames,
    (name) => `a loop without end ends after its time (${name})`,
    async (bench, name) => {
      const way = await wayOf(bench, name);
      const { preparedModel, request } = await countLoop(bench, Number.POSITIVE_INFINITY, way);
      await expectBy(way, preparedModel, request, { loopTimeoutDuration: millisecond }, ...missed);
    },
  ),
];
