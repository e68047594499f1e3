/** The models of stress: each with requests, and a check of their results. */
import { byteLength, elementAt, elementCount, operations } from "@nnhal/operations";
import { type Device, ErrorStatus, type ExecutionResult, type Model, type Request } from "@nnhal/types";
import { readNetwork } from "../network.ts";
import { randomExamples } from "../random/examples.ts";
import { createRandom } from "../random/random.ts";
import { reasonAgainst } from "../support.ts";
import { findDifference } from "../vectors/compare.ts";
import type { Example } from "../vectors/example.ts";
import { allocateShared } from "../vectors/layout.ts";
import { modelOf } from "../vectors/model.ts";
import { requestOf } from "../vectors/request.ts";
import type { StressJob } from "./job.ts";

/** A model to run. */
export interface StressSubject {
  readonly name: string;
  readonly model: Model;
  /** A request with separate pools, and a check that returns the fault in its results, or undefined. */
  ask(): { readonly request: Request; problem(result: ExecutionResult): string | undefined };
}

/** Operations that most devices have. */
const commonOperations: ReadonlySet<string> = new Set([
  ...["ADD", "MUL", "CONV_2D", "DEPTHWISE_CONV_2D", "FULLY_CONNECTED", "MAX_POOL_2D", "AVERAGE_POOL_2D"],
  ...["SOFTMAX", "RESHAPE", "CONCATENATION", "RELU", "LOGISTIC"],
]);

/**
 * The models of a job that the device supports, without end; a stream for each lane. Rejects if there is none. Random ones are drawn while
 * they are used.
 */
export async function openSubjects(
  device: Device,
  { models, seed }: StressJob,
): Promise<(lane: number) => AsyncGenerator<StressSubject>> {
  if (models === "random") return (lane) => randomSubjects(device, seed + lane);
  const some =
    typeof models === "object" ? [await networkSubject(device, models.file)] : await commonSubjects(device, seed);
  if (some.length === 0) throw new Error(`the device supports none of ${[...commonOperations].join(", ")}`);
  return async function* (lane) {
    for (let index = lane; ; index++) yield elementAt(some, index % some.length);
  };
}

async function commonSubjects(device: Device, seed: number): Promise<StressSubject[]> {
  const common = operations.filter(({ name }) => commonOperations.has(name));
  const some: StressSubject[] = [];
  for (const example of randomExamples({ seed, count: 2, operations: common })) {
    if (!example.expectFailure && (await isSupported(device, example))) some.push(exampleSubject(example, true));
  }
  return some;
}

async function* randomSubjects(device: Device, seed: number): AsyncGenerator<StressSubject> {
  for (let round = seed; ; round++) {
    let isEmpty = true;
    for (const example of randomExamples({ seed: round, count: 1 })) {
      if (example.expectFailure || !(await isSupported(device, example))) continue;
      isEmpty = false;
      yield exampleSubject(example, false);
    }
    if (isEmpty) throw new Error("the device supports none of the random models");
  }
}

async function isSupported(device: Device, example: Example): Promise<boolean> {
  const { supported } = await device.getSupportedOperations(plainModelOf(example));
  return supported.length > 0 && supported.every(Boolean);
}

function plainModelOf(example: Example): Model {
  return modelOf({ name: example.name, example, unspecifiedOutputs: false });
}

function exampleSubject(example: Example, isCompared: boolean): StressSubject {
  return {
    name: example.name,
    model: plainModelOf(example),
    ask() {
      const { request, outputBytes, findDamage } = requestOf(example);
      return {
        request,
        problem: ({ outputShapes }) =>
          findDamage() ?? (isCompared ? findDifference(example, outputShapes, outputBytes) : undefined),
      };
    },
  };
}

/** Why a device cannot run a network. */
export class UnsupportedNetwork extends Error {}

/** A network: its results on the same inputs must be the same each time. Rejects with UnsupportedNetwork if the device does not support it. */
async function networkSubject(device: Device, file: string): Promise<StressSubject> {
  const { model, inputs, outputs } = readNetwork(file);
  const reason = reasonAgainst(model, await device.getSupportedOperations(model));
  if (reason !== undefined) throw new UnsupportedNetwork(reason);
  const random = createRandom(1);
  const sizeOf = ({ type, shape }: (typeof inputs)[number]) => byteLength(type, elementCount(shape));
  const elements = Uint8Array.from({ length: inputs.reduce((sum, one) => sum + align(sizeOf(one)), 0) }, () =>
    random.integer(0, 63),
  );
  let first: Uint8Array | undefined;
  const place = (sizes: readonly number[], poolIndex: number) => {
    let offset = 0;
    return sizes.map((length) => {
      const argument = { hasNoValue: false, location: { poolIndex, offset, length }, dimensions: [] };
      offset += align(length);
      return argument;
    });
  };
  return {
    name: file,
    model,
    ask() {
      const [given, results] = [
        allocateShared(elements.length),
        allocateShared(outputs.reduce((sum, one) => sum + align(sizeOf(one)), 0)),
      ];
      given.bytes.set(elements);
      const pools = [given, results].map(({ memory }) => ({ kind: "memory", memory }) as const);
      return {
        request: { inputs: place(inputs.map(sizeOf), 0), outputs: place(outputs.map(sizeOf), 1), pools },
        problem() {
          const actual = new Uint8Array(results.bytes);
          first ??= actual;
          const at = actual.findIndex((byte, index) => byte !== elementAt(first ?? actual, index));
          return at < 0 ? undefined : `byte ${at} of the results is ${actual[at]}, of the first execution ${first[at]}`;
        },
      };
    },
  };
}

function align(size: number): number {
  return Math.ceil(size / 8) * 8;
}

/** Returns the fault in the answer of an execution that must succeed. */
export function problemOf(
  { name }: StressSubject,
  asked: ReturnType<StressSubject["ask"]>,
  result: ExecutionResult,
): string | undefined {
  if (result.status !== ErrorStatus.NONE) return `${name}: execute: status ${result.status}: ${result.message ?? ""}`;
  const problem = asked.problem(result);
  return problem === undefined ? undefined : `${name}: ${problem}`;
}
