/** A client with an endless loop, and other clients: the loop takes its client's time, not theirs. */
import { ErrorStatus, type ExecuteOptions, Priority } from "@nnhal/types";
import { anotherClient, type Bench, prepare, smallModel } from "../bench.ts";
import { expectExecution, expectThat } from "../check.ts";
import { countingModel } from "../control-flow-models.ts";
import { runTrial, trialFor } from "../execution.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, type SuiteCase } from "../suite-case.ts";
import { emptyMemory, memoryWith, requestFor } from "../values.ts";

const { MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT } = ErrorStatus;

/** Milliseconds that the loop has. */
const allotted = 200;

interface Ending {
  readonly what: string;
  options(now: bigint): ExecuteOptions;
}

const endings: readonly Ending[] = [
  { what: "a deadline", options: (now) => ({ deadline: now + BigInt(allotted) * 1_000_000n }) },
  { what: "a loop timeout", options: () => ({ loopTimeoutDuration: BigInt(allotted) * 1_000_000n }) },
];

/** Looks how long the thread does not turn to timers. `stop` says the longest time in milliseconds. */
function watchThread(): { stop(): number } {
  let last = performance.now();
  let longest = 0;
  const look = () => {
    const now = performance.now();
    longest = Math.max(longest, now - last);
    last = now;
  };
  const timer = setInterval(look, 1);
  return {
    stop() {
      clearInterval(timer);
      look();
      return longest;
    },
  };
}

async function goesOnBeside(bench: Bench, { what, options }: Ending): Promise<void> {
  const { allowances } = bench;
  const other = anotherClient(bench);
  const hostile = await prepare(other, await countingModel(bench, Number.POSITIVE_INFINITY), {
    priority: Priority.HIGH,
  });
  const small = await smallModel(bench);
  const preparedModel = await prepare(bench, small.model, { priority: Priority.LOW });
  const request = requestFor([memoryWith("TENSOR_FLOAT32", [0])], [emptyMemory(4)]);
  const thread = watchThread();
  let isOver = false;
  let longest = 0;
  let count = 0;
  const start = performance.now();
  const loop = hostile.execute(request, options(bench.now())).finally(() => {
    isOver = true;
  });
  // If the case ends early, it has failed for another reason.
  loop.catch(() => {});
  bench.after(() => thread.stop());
  do {
    const before = performance.now();
    await runTrial(preparedModel, trialFor(small, [sampleValues(small.type, 6, count)]));
    longest = Math.max(longest, performance.now() - before);
    count++;
    // Answers in microtasks alone would keep the loop itself waiting.
    await new Promise((resolve) => setImmediate(resolve));
  } while (!isOver);
  const result = await loop;
  const took = performance.now() - start;
  const blocked = thread.stop();
  const measured = `${count} executions beside a loop of ${took.toFixed(0)} ms, the longest ${longest.toFixed(0)} ms; the thread was blocked for ${blocked.toFixed(0)} ms at most`;
  bench.tell(measured);
  expectExecution("execute of an endless loop", result, MISSED_DEADLINE_TRANSIENT, MISSED_DEADLINE_PERSISTENT);
  const most = allotted + allowances.waiting;
  expectThat(took <= most, () => `execute of an endless loop with ${what} of ${allotted} ms: ${measured}`);
  expectThat(longest <= most, () => `execute beside another client's loop: ${measured}, at most ${most} ms allowed`);
  expectThat(blocked <= allowances.blocking, () => {
    return `execute of an endless loop: ${measured}, at most ${allowances.blocking} ms allowed`;
  });
}

export const starvationCases: readonly SuiteCase[] = casesOf(
  "starvation",
  "1.3",
  endings,
  ({ what }) => `executions of one client go on beside an endless loop of another with ${what}`,
  goesOnBeside,
);
