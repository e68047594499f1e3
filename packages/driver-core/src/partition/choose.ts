/**
 * Choosing the device of each operation.
 *
 * `android`: the device with the best performance; of equals the first, except that the CPU precedes all. `cost`: the
 * devices with the least total time of execution, boundaries and steps, computed from each operation's producers on
 * every device. Both keep operations together that are joined by a temporary of unknown size.
 */
import { elementAt, type FactsByCode } from "@nnhal/operations";
import type { Model } from "@nnhal/types";
import { bytesOf, hasUnknownSize, type Wiring } from "./graph.ts";
import type { Candidate } from "./plan.ts";
import type { CostModel } from "./policy.ts";

/** The input of the choice. */
export interface Choosing {
  readonly model: Model;
  readonly wiring: Wiring;
  /** By operation, by device. */
  readonly candidates: readonly (readonly Candidate[])[];
  /** Index of the CPU among the devices, or -1. */
  readonly cpu: number;
  readonly costs: CostModel;
  /** The facts of the model's operand types. */
  readonly factsOf: FactsByCode;
}

/** The device of each operation by performance alone; undefined if no device supports it. */
export function chooseByPerformance({ candidates, cpu }: Choosing): (number | undefined)[] {
  return candidates.map((ofOperation) => {
    let best: number | undefined;
    ofOperation.forEach((candidate, device) => {
      if (!candidate.supported) return;
      const than = best === undefined ? undefined : ofOperation[best];
      const bestSoFar = than?.supported ? than.performance : undefined;
      if (bestSoFar === undefined || candidate.performance < bestSoFar) best = device;
      else if (candidate.performance === bestSoFar && device === cpu) best = device;
    });
    return best;
  });
}

/** The device of each operation by predicted time. */
export function chooseByCost(choosing: Choosing): (number | undefined)[] {
  const { model, wiring, candidates } = choosing;
  const { operations } = model.main;
  const deviceCount = candidates[0]?.length ?? 0;
  // best[operation][device]: time of the operation there and a share of the times of all that it depends on.
  const best: Float64Array[] = [];
  const from: Int32Array[][] = [];
  operations.forEach((_, index) => {
    if (!elementAt(candidates, index).some(({ supported }) => supported)) {
      // Interpreted, independent of the devices of its neighbours.
      best.push(new Float64Array(deviceCount));
      from.push([]);
      return;
    }
    const times = new Float64Array(deviceCount).fill(Number.POSITIVE_INFINITY);
    const chosenProducers: Int32Array[] = [];
    for (let device = 0; device < deviceCount; device++) {
      const own = executionTime(choosing, index, device);
      const producers = elementAt(wiring.producers, index);
      const sources = new Int32Array(producers.length);
      let time = own;
      producers.forEach((producer, position) => {
        const bestOfProducer = elementAt(best, producer);
        const moved = boundaryTime(choosing, producer, index);
        let least = Number.POSITIVE_INFINITY;
        for (let other = 0; other < deviceCount; other++) {
          const total = elementAt(bestOfProducer, other) + (other === device ? 0 : moved);
          // The same device wins among equals: fewer boundaries.
          if (total < least || (total === least && other === device)) {
            least = total;
            sources[position] = other;
          }
        }
        time += least;
      });
      times[device] = time;
      chosenProducers.push(sources);
    }
    // A result that several operations read is counted in each: share it, so that its cost does not grow with them.
    const readers = Math.max(1, elementAt(wiring.consumers, index).length);
    best.push(times.map((time) => time / readers));
    from.push(chosenProducers);
  });
  return traceBack(choosing, best, from);
}

/** Walks from the last operations back to the first and fixes each one's device. */
function traceBack(
  { wiring, candidates, cpu }: Choosing,
  best: readonly Float64Array[],
  from: readonly (readonly Int32Array[])[],
): (number | undefined)[] {
  const wishes: number[][] = best.map(() => []);
  const devices = new Array<number | undefined>(best.length);
  for (let index = best.length - 1; index >= 0; index--) {
    // Readers can prefer different devices: take the one that most prefer, then the cheaper one.
    const counts = new Map<number, number>();
    for (const wish of elementAt(wishes, index)) counts.set(wish, (counts.get(wish) ?? 0) + 1);
    const times = elementAt(best, index);
    let device: number | undefined;
    elementAt(candidates, index).forEach((candidate, other) => {
      if (!candidate.supported) return;
      if (device === undefined) {
        device = other;
        return;
      }
      const more = (counts.get(other) ?? 0) - (counts.get(device) ?? 0);
      const [time, least] = [elementAt(times, other), elementAt(times, device)];
      if (more > 0 || (more === 0 && (time < least || (time === least && other === cpu)))) device = other;
    });
    devices[index] = device;
    if (device === undefined) continue;
    const sources = elementAt(elementAt(from, index), device);
    for (const [position, producer] of elementAt(wiring.producers, index).entries()) {
      elementAt(wishes, producer).push(elementAt(sources, position));
    }
  }
  return devices;
}

function executionTime({ candidates }: Choosing, index: number, device: number): number {
  const candidate = elementAt(elementAt(candidates, index), device);
  return candidate.supported ? candidate.predictedTime : Number.POSITIVE_INFINITY;
}

/** The cost of two operations on different devices: a step, and the bytes between them. */
function boundaryTime({ model: { main }, costs, factsOf }: Choosing, producer: number, consumer: number): number {
  const read = new Set(elementAt(main.operations, consumer).inputs);
  let bytes = 0;
  for (const output of elementAt(main.operations, producer).outputs) {
    if (!read.has(output)) continue;
    const operand = elementAt(main.operands, output);
    if (hasUnknownSize(operand, factsOf)) return Number.POSITIVE_INFINITY;
    bytes += bytesOf(operand, factsOf);
  }
  return costs.step + bytes * costs.byteMoved;
}

/** The predicted time of a step: of one device, or interpreted if `device` is undefined. */
export type PredictStep = (device: number | undefined, operations: readonly number[]) => number;

/**
 * Predicts steps: a step's start, its operations, and the bytes that it reads from steps on other devices, each operand once.
 * Operands on the step's device are not moved. `devices`: by operation; undefined if it is interpreted.
 */
export function stepPredictor(
  { model, wiring, candidates, costs, factsOf }: Choosing,
  devices: readonly (number | undefined)[],
): PredictStep {
  const { operands, operations: all } = model.main;
  /** By operand, the number of the step that counted it last. */
  const countedBy = new Int32Array(operands.length);
  let step = 0;
  return (device, operations) => {
    step++;
    let time = costs.step;
    for (const operation of operations) {
      for (const input of elementAt(all, operation).inputs) {
        const writer = elementAt(wiring.writer, input);
        if (writer < 0 || countedBy[input] === step) continue;
        countedBy[input] = step;
        if (device !== undefined && devices[writer] === device) continue;
        time += bytesOf(elementAt(operands, input), factsOf) * costs.byteMoved;
      }
      const candidate = device === undefined ? undefined : elementAt(elementAt(candidates, operation), device);
      if (candidate?.supported) time += candidate.predictedTime;
    }
    return time;
  };
}
