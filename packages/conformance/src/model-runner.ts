/** A whole model on some devices, as an application runs it. */
import { byteSize, elementAt } from "@nnhal/operations";
import { Compilation, Execution, Model } from "@nnhal/runtime";
import { type Device, type Model as HalModel, operandTypeNames, operandTypes } from "@nnhal/types";

/** Runs a compiled model: bytes of its inputs to those of its outputs. Rejects with the runtime's NeuralNetworksError. */
export type ModelRunner = (inputs: readonly Uint8Array[]) => Promise<Uint8Array[]>;

/**
 * Compiles a model for some devices, and returns a function that runs it, for tests of backends. All dimensions must be
 * known, and all types must be those of the HAL. Inputs that are left out are zeros.
 */
export async function modelRunner(model: HalModel, devices: readonly Device[]): Promise<ModelRunner> {
  const compilation = new Compilation(Model.from(model), devices);
  await compilation.finish();
  const { operands, inputIndexes, outputIndexes } = model.main;
  const empty = (index: number) => {
    const { type, dimensions } = elementAt(operands, index);
    return new Uint8Array(byteSize(operandTypes[operandTypeNames.get(type) ?? "OEM"], dimensions));
  };
  return async (inputs) => {
    const execution = new Execution(compilation);
    for (const [place, index] of inputIndexes.entries()) execution.setInput(place, inputs[place] ?? empty(index));
    const outputs = outputIndexes.map(empty);
    for (const [place, output] of outputs.entries()) execution.setOutput(place, output);
    await execution.compute();
    return outputs;
  };
}
