/** Shared parts of the tests of recurrent float operations: operands, sequences and signatures. */
import type { OperandTypeName } from "@nnhal/types";
import { expect, it } from "vitest";
import type { Operation } from "../define.ts";
import { elementCount } from "../tensor.ts";
import { type CellShape, shapeOfOperand } from "./_lstm.test-helper.ts";
import {
  declareOutput,
  f32,
  type Given,
  giveOmitted,
  mismatchOf,
  type Named,
  tensorOf,
  valuesOf,
} from "./_run.test-helper.ts";
import { expectTypes, type Versions } from "./_signature.test-helper.ts";

export const none = giveOmitted("TENSOR_FLOAT32");
const float = declareOutput("TENSOR_FLOAT32");
export const floats = (count: number) => ({ outputs: new Array(count).fill(float) });
const of = (type: OperandTypeName, count: number) => new Array(count).fill(declareOutput(type));
export const firstVersions: Versions = { TENSOR_FLOAT32: "1.0", TENSOR_FLOAT16: "1.2" };
export const laterVersions: Versions = { TENSOR_FLOAT32: "1.2", TENSOR_FLOAT16: "1.2" };

/** Small numbers in no order, others for every seed. */
export function some(shape: readonly number[], seed: number): Given {
  return f32(
    shape,
    Array.from({ length: elementCount(shape) }, (_, index) => Math.sin((index + 1) * 12.9898 + seed * 78.233)),
  );
}

/** The same operands of another type; FLOAT32 scalars become FLOAT16 where tensors do. */
function retype(inputs: readonly Given[], type: OperandTypeName): Given[] {
  return inputs.map((input) => {
    if (input.type === "TENSOR_FLOAT32") return input.omitted ? giveOmitted(type) : tensorOf(type, input.dimensions);
    return input.type === "FLOAT32" && type === "TENSOR_FLOAT16" ? tensorOf("FLOAT16", [], [1]) : input;
  });
}

export function operandsOf(names: readonly string[], cell: CellShape, seed: number, prefix = ""): Named {
  return Object.fromEntries(
    names.map((name, index) => {
      const shape = shapeOfOperand(name, cell);
      const key = prefix === "" ? name : prefix + name[0].toUpperCase() + name.slice(1);
      return [key, shape === undefined ? none : some(shape, seed + index)];
    }),
  );
}

/** Row `index` of a tensor read as rows of its last extent. */
export function row(tensor: Given, index: number): number[] {
  const length = tensor.dimensions[tensor.dimensions.length - 1];
  return valuesOf(tensor).slice(index * length, (index + 1) * length);
}

/** Vectors [time][batch] of a tensor, whichever of the two stands first. */
export function timeline(tensor: Given, timeMajor: boolean): number[][][] {
  const [times, batches] = timeMajor ? tensor.dimensions : [tensor.dimensions[1], tensor.dimensions[0]];
  return Array.from({ length: times }, (_, time) =>
    Array.from({ length: batches }, (_, batch) =>
      row(tensor, timeMajor ? time * batches + batch : batch * times + time),
    ),
  );
}

/** The tensor's data of vectors [time][batch]. */
export function untimeline(vectors: readonly (readonly (readonly number[])[])[], timeMajor: boolean): number[] {
  if (timeMajor) return vectors.flat(2);
  return vectors[0].flatMap((_, batch) => vectors.flatMap((ofTime) => ofTime[batch]));
}

/** Extents of the sequences. */
const times = 3;
export const batches = 2;
/** The shape of a sequence of vectors of a size. */
export const sequenceShape = (size: number, timeMajor: boolean) =>
  timeMajor ? [times, batches, size] : [batches, times, size];

/** Runs a step along time, from vectors [time][batch] to the same. The state is whatever the step makes of it. */
export function along<State>(
  inputs: readonly (readonly number[][])[],
  initial: (batch: number) => State,
  backwards: boolean,
  step: (x: number[], state: State, time: number, batch: number) => readonly [output: number[], state: State],
): { readonly outputs: number[][][]; readonly states: State[] } {
  const outputs = inputs.map((): number[][] => []);
  const states = inputs[0].map((_, batch) => {
    let state = initial(batch);
    for (let count = 0; count < inputs.length; count++) {
      const time = backwards ? inputs.length - 1 - count : count;
      [outputs[time][batch], state] = step(inputs[time][batch], state, time, batch);
    }
    return state;
  });
  return { outputs, states };
}

/** Vectors of two directions side by side. */
export function mergeDirections(fw: number[][][], bw: number[][][]): number[][][] {
  return fw.map((ofTime, time) => ofTime.map((vector, batch) => [...vector, ...bw[time][batch]]));
}

/** An operation with a list of inputs, its number of outputs and its versions. */
type Signature = readonly [string, Operation, readonly Given[], number, Versions];

/** Tests that operations take floats, and nothing else. */
export function testSignatures(all: readonly Signature[]): void {
  it.each(all)("%s takes floats only", (_, operation, inputs, outputs, versions) => {
    expectTypes(
      operation,
      versions,
      (type) => retype(inputs, type),
      (type) => of(type, outputs),
    );
  });

  it.each(all)("%s refuses one operand of another type, and other counts", (_, operation, inputs, outputs) => {
    inputs.forEach((input, index) => {
      const other = input.type === "TENSOR_INT32" ? "TENSOR_FLOAT32" : "TENSOR_INT32";
      const changed = inputs.map((given, at) => (at === index ? tensorOf(other, [1]) : given));
      expect(mismatchOf(operation, changed, floats(outputs)), `input ${index}`).toContain(`input ${index} (`);
    });
    for (let index = 0; index < outputs; index++) {
      const changed = floats(outputs).outputs.map((given, at) =>
        at === index ? declareOutput("TENSOR_INT32") : given,
      );
      expect(mismatchOf(operation, inputs, { outputs: changed }), `output ${index}`).toContain(`output ${index} (`);
    }
    const tooMany = [...inputs, ...new Array<Given>(5).fill(none)];
    expect(mismatchOf(operation, inputs.slice(0, 5), floats(outputs))).toContain("got 5 inputs");
    expect(mismatchOf(operation, tooMany, floats(outputs))).toContain(`got ${tooMany.length} inputs`);
    expect(mismatchOf(operation, inputs, floats(7))).toContain("7 outputs");
  });
}
