/** The work of a process under stress. */
import { setTimeout as sleep } from "node:timers/promises";
import { type Device, ErrorStatus, errorStatusNames, type PreparedModel } from "@nnhal/types";
import { heldBytes, mostCollections } from "../held-bytes.ts";
import { createRandom, type Random } from "../random/random.ts";
import type { StressJob, StressTally } from "./job.ts";
import { openSubjects, problemOf, type StressSubject } from "./subjects.ts";

/** Executions of a prepared model, at once. */
const executionsAtOnce = 4;
/** Milliseconds between executions that only show that the driver is alive. */
const pulse = 20;
/** The part of the time after which a process counts as warm. */
const warm = 0.4;

/** Does a job, and rejects with the first failure. `now`: milliseconds. `onReady`: called when the work begins. */
export async function doStressJob(
  device: Device,
  job: StressJob,
  now: () => number = () => performance.now(),
  onReady: () => Promise<void> | void = () => {},
): Promise<StressTally> {
  const tally = { executions: 0, prepared: 0, time: 0, loops: 0, loopTime: 0 };
  const subjects = await openSubjects(device, job);
  await onReady();
  const start = now();
  const isOver = () => now() - start >= job.milliseconds;
  let warmMemory: number | undefined;
  const lane = async (number: number) => {
    const random = createRandom(job.seed * 1009 + number);
    for await (const subject of subjects(number)) {
      const preparedModel = await prepare(device, subject);
      tally.prepared++;
      try {
        if (job.work !== "load") await execute(subject, preparedModel, random, job.work, tally, now);
      } finally {
        preparedModel.close();
      }
      if (job.work === "alive") await sleep(pulse);
      if (job.work === "grow" && warmMemory === undefined && now() - start > warm * job.milliseconds) {
        warmMemory = await memoryKept();
      }
      if (isOver()) return;
    }
  };
  await Promise.all(Array.from({ length: job.lanes }, (_, number) => lane(number)));
  const { executions, prepared, time, loops, loopTime } = tally;
  const growth = job.work === "grow" ? { growth: (await memoryKept()) - (warmMemory ?? 0) } : {};
  const mean = (sum: number, count: number) => (count === 0 ? 0 : sum / count);
  return { executions, prepared, mean: mean(time, executions), loop: mean(loopTime, loops), ...growth };
}

async function prepare(device: Device, { name, model }: StressSubject): Promise<PreparedModel> {
  const { status, message, preparedModel } = await device.prepareModel(model);
  if (preparedModel !== null) return preparedModel;
  throw new Error(`${name}: prepareModel: ${errorStatusNames.get(status) ?? status}: ${message ?? ""}`);
}

async function execute(
  subject: StressSubject,
  preparedModel: PreparedModel,
  random: Random,
  work: StressJob["work"],
  tally: { executions: number; time: number; loops: number; loopTime: number },
  now: () => number,
): Promise<void> {
  // Executions under way must end, with a result that is right or a status that says why there is none.
  const isClosed = work === "infer" && random.chance(0.25);
  const one = async () => {
    const asked = subject.ask();
    const before = now();
    const result = await preparedModel.execute(asked.request);
    tally.time += now() - before;
    tally.executions++;
    const isRefused = result.status === ErrorStatus.INVALID_ARGUMENT || result.status === ErrorStatus.GENERAL_FAILURE;
    if (isClosed && isRefused) return;
    const problem = problemOf(subject, asked, result);
    if (problem !== undefined) throw new Error(problem);
  };
  const running = Array.from({ length: work === "alive" ? 1 : executionsAtOnce }, one);
  if (isClosed) {
    if (random.chance(0.5)) await sleep(0);
    preparedModel.close();
  }
  await Promise.all(running);
  const before = now();
  countUp();
  tally.loopTime += now() - before;
  tally.loops++;
}

/** A loop of about a millisecond. */
function countUp(): number {
  let sum = 0;
  for (let step = 0; step < 1_000_000; step++) sum = (sum + step * step) | 0;
  return sum;
}

/** The bytes that the process holds when further collections of garbage find nothing more. */
async function memoryKept(): Promise<number> {
  let kept = await heldBytes();
  for (let turn = 1; turn < mostCollections; turn++) {
    const less = await heldBytes();
    if (less >= kept) break;
    kept = less;
  }
  return kept;
}
