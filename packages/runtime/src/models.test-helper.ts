/**
 * Small models and a device for this package's tests.
 */
import { referenceBackend } from "@nnhal/backend-reference";
import { openDevice } from "@nnhal/driver-core/device";
import { mapMemory } from "@nnhal/driver-core/memory";
import type { Device, Request } from "@nnhal/types";
import { Compilation } from "./compilation.ts";
import type { OperandDescription } from "./draft-operand.ts";
import { Execution } from "./execution.ts";
import { Model } from "./model.ts";

/** The reference device. */
export async function openReference(): Promise<Device> {
  const device = await openDevice({ backend: referenceBackend });
  if ("unavailable" in device) throw new Error(device.unavailable);
  return device;
}

export const float32 = (...dimensions: number[]): OperandDescription => ({ type: "TENSOR_FLOAT32", dimensions });

/** Adds operands to a model and returns their indexes. */
export function addOperands<Descriptions extends readonly OperandDescription[]>(
  model: Model,
  ...descriptions: Descriptions
): { readonly [Place in keyof Descriptions]: number } {
  // A mapped list is as long as the list, but its type does not say so.
  return descriptions.map((description) => model.addOperand(description)) as {
    readonly [Place in keyof Descriptions]: number;
  };
}

/** The bytes of a request's pool, as float32 numbers. */
export function numbersAt({ pools }: Request, poolIndex: number, length: number): Float32Array {
  const pool = pools[poolIndex];
  const bytes = pool?.kind === "memory" ? mapMemory(pool.memory) : undefined;
  if (bytes === undefined || "unmappable" in bytes) throw new Error(`pool ${poolIndex} cannot be read`);
  return new Float32Array(bytes.buffer, bytes.byteOffset, length);
}

/** sum = left + right, elementwise. */
export function addModel(left = float32(2), right = left, sum = left): Model {
  const model = new Model();
  const [first, second, activation, output] = addOperands(model, left, right, { type: "INT32" }, sum);
  model.setOperandValue(activation, 0);
  model.addOperation("ADD", [first, second, activation], [output]);
  model.identifyInputsAndOutputs([first, second], [output]);
  model.finish();
  return model;
}

/** A model that computes one operation of its inputs, followed by constants. */
export function operationModel(
  name: Parameters<Model["addOperation"]>[0],
  inputs: readonly OperandDescription[],
  constants: readonly (readonly [OperandDescription, Parameters<Model["setOperandValue"]>[1]])[],
  outputs: readonly OperandDescription[],
): Model {
  const model = new Model();
  const inputIndexes = inputs.map((operand) => model.addOperand(operand));
  const constantIndexes = constants.map(([operand, value]) => {
    const index = model.addOperand(operand);
    model.setOperandValue(index, value);
    return index;
  });
  const outputIndexes = outputs.map((operand) => model.addOperand(operand));
  model.addOperation(name, [...inputIndexes, ...constantIndexes], outputIndexes);
  model.identifyInputsAndOutputs(inputIndexes, outputIndexes);
  model.finish();
  return model;
}

/** A finished compilation. */
export async function compile(model: Model, devices: readonly Device[]): Promise<Compilation> {
  const compilation = new Compilation(model, devices);
  await compilation.finish();
  return compilation;
}

/** Runs a model on float32 inputs, with one float32 output of a length. */
export async function run(model: Model, device: Device, inputs: readonly (readonly number[])[], length: number) {
  const execution = new Execution(await compile(model, [device]));
  inputs.forEach((values, index) => {
    execution.setInput(index, Float32Array.from(values));
  });
  const output = new Float32Array(length);
  execution.setOutput(0, output);
  await execution.compute();
  return { values: [...output], dimensions: execution.getOutputOperandDimensions(0) };
}
