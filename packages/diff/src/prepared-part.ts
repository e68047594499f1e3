/** A part of a model that is ready to run on a device, on bytes. */
import { byteSize, elementAt, type FactsByCode, isUnspecified } from "@nnhal/operations";
import { Compilation, Execution, Model, NeuralNetworksError, ResultCode } from "@nnhal/runtime";
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
  const attempt = async (
    inputs: readonly TensorValue[],
    sizes: readonly number[],
    mayGrow: boolean,
  ): Promise<readonly TensorValue[]> => {
    const execution = new Execution(compilation);
    for (const [place, { bytes, dimensions }] of inputs.entries()) {
      const index = elementAt(inputIndexes, place);
      const isOpen = isUnspecified(factsOfOperand(index), elementAt(operands, index).dimensions);
      execution.setInput(place, bytes, isOpen && dimensions.length > 0 ? dimensions : undefined);
    }
    const buffers = sizes.map((size) => new Uint8Array(size));
    for (const [place, buffer] of buffers.entries()) execution.setOutput(place, buffer);
    const shapes = () =>
      outputIndexes.map((_, place) =>
        execution.getOutputOperandRank(place) === 0 ? [] : execution.getOutputOperandDimensions(place),
      );
    const sizesOf = () => shapes().map((dimensions, place) => sizeOf(elementAt(outputIndexes, place), dimensions));
    try {
      await execution.compute();
    } catch (error) {
      const isTooSmall = error instanceof NeuralNetworksError && error.code === ResultCode.OUTPUT_INSUFFICIENT_SIZE;
      if (!isTooSmall || !mayGrow) throw error;
      return attempt(inputs, sizesOf(), false);
    }
    const found = sizesOf();
    return shapes().map((dimensions, place) => ({
      dimensions,
      bytes: elementAt(buffers, place).subarray(0, elementAt(found, place)),
    }));
  };
  const declared = outputIndexes.map((index) => {
    const { dimensions } = elementAt(operands, index);
    // Outputs of open shape have no room at first: the answer says how much they need, and the run is repeated.
    return isUnspecified(factsOfOperand(index), dimensions) ? 0 : sizeOf(index, dimensions);
  });
  return {
    compilation,
    run: (inputs) => attempt(inputs, declared, true),
    close: () => compilation.close(),
  };
}

/** The message of an error, in one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ");
}
