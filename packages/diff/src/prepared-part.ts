/** A part of a model that is ready to run on a device, on bytes. */
import { byteSize, elementAt, type FactsByCode, isUnspecified } from "@nnhal/operations";
import { Compilation, computeOutputs, Execution, Model } from "@nnhal/runtime";
import type { Device, Extension, Model as HalModel } from "@nnhal/types";

/** The bytes of a tensor, and its extents. */
export interface TensorValue {
  readonly bytes: Uint8Array;
  readonly dimensions: readonly number[];
}

/** A part that is ready to run. */
export interface PreparedPart {
  readonly compilation: Compilation;
  /** The values of the outputs. Rejects with a NeuralNetworksError. */
  run(inputs: readonly TensorValue[]): Promise<readonly TensorValue[]>;
  close(): void;
}

/** Devices that prepare parts. */
export interface Engine {
  readonly devices: readonly Device[];
  /** The device that computes what the others do not take. Default: none. */
  readonly cpu?: Device | undefined;
}

/**
 * Prepares a model. Rejects with a NeuralNetworksError. `extensions`: those that the model uses. `factsOf`: the facts of its types, from
 * which sizes follow.
 */
export async function preparePart(
  model: HalModel,
  { devices, cpu }: Engine,
  extensions: readonly Extension[],
  factsOf: FactsByCode,
): Promise<PreparedPart> {
  const source = Model.from(model, { extensions });
  const compilation = new Compilation(source, devices, { ...(cpu && { cpu }), partition: 2 });
  await compilation.finish();
  const { operands, inputIndexes, outputIndexes } = model.main;
  const factsOfOperand = (index: number) =>
    factsOf(elementAt(operands, index).type) ?? { kind: "tensor" as const, elementSize: 1 };
  /** Bytes of a value whose extents are known. */
  const sizeOf = (index: number, dimensions: readonly number[]) => byteSize(factsOfOperand(index), dimensions);
  const prepare = (inputs: readonly TensorValue[]) => {
    const execution = new Execution(compilation);
    for (const [place, { bytes, dimensions }] of inputs.entries()) {
      const index = elementAt(inputIndexes, place);
      const isOpen = isUnspecified(factsOfOperand(index), elementAt(operands, index).dimensions);
      execution.setInput(place, bytes, isOpen && dimensions.length > 0 ? dimensions : undefined);
    }
    return execution;
  };
  const outputSize = (place: number, dimensions: readonly number[]) =>
    sizeOf(elementAt(outputIndexes, place), dimensions);
  const sizes = outputIndexes.map((index) => {
    const { dimensions } = elementAt(operands, index);
    return isUnspecified(factsOfOperand(index), dimensions) ? 0 : sizeOf(index, dimensions);
  });
  return {
    compilation,
    run: async (inputs) => (await computeOutputs(() => prepare(inputs), { sizes, sizeOf: outputSize })).outputs,
    close: () => compilation.close(),
  };
}

/** The message of an error, in one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ");
}
