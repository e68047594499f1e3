/** A part of a model that is ready to run on a device, on bytes. */
import { byteSize, elementAt, type FactsByCode, isUnspecified } from "@nnhal/operations";
import { type Burst, Compilation, computeOutputs, Execution, FinishedModel } from "@nnhal/runtime";
import { BYTE_SIZE_OF_CACHE_TOKEN, type Device, type Extension, type Model as HalModel } from "@nnhal/types";

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
  /** Default: the usual way. */
  readonly way?: Way | undefined;
}

/** The way in which parts are prepared and run. Devices have to give the same results in all of them. */
export interface Way {
  /** True if float32 may be computed as float16, whatever the model says. Default: what the model says. */
  readonly isRelaxed?: boolean | undefined;
  /** Makes the burst that runs a part: `Burst.create`. Default: each run is by itself. */
  readonly burstOf?: ((compilation: Compilation) => Promise<Burst>) | undefined;
  /** An empty folder: parts are kept there by the device, and run as it loads them. Default: they run as they were prepared. */
  readonly cache?: string | undefined;
}

/**
 * Prepares a model. Rejects with a NeuralNetworksError. `extensions`: those that the model uses. `factsOf`: the facts of its types, from
 * which sizes follow.
 */
export async function preparePart(
  model: HalModel,
  { devices, cpu, way = {} }: Engine,
  extensions: readonly Extension[],
  factsOf: FactsByCode,
): Promise<PreparedPart> {
  const isRelaxed = way.isRelaxed ?? model.relaxComputationFloat32toFloat16;
  const source = FinishedModel.from({ ...model, relaxComputationFloat32toFloat16: isRelaxed }, { extensions });
  const compile = async (cache?: { readonly folder: string; readonly token: Uint8Array }) => {
    const compilation = new Compilation(source, devices, { ...(cpu && { cpu }), partition: 2 });
    if (cache !== undefined) compilation.setCaching(cache.folder, cache.token);
    await compilation.finish();
    return compilation;
  };
  const compilation = await (way.cache === undefined ? compile() : compileTwice(way.cache, compile));
  const burst = await way.burstOf?.(compilation);
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
    run: async (inputs) => (await computeOutputs(() => prepare(inputs), { sizes, sizeOf: outputSize, burst })).outputs,
    close() {
      burst?.close();
      compilation.close();
    },
  };
}

/** Has devices keep what they prepare, and returns what they load from there. */
async function compileTwice(
  folder: string,
  compile: (cache: { readonly folder: string; readonly token: Uint8Array }) => Promise<Compilation>,
): Promise<Compilation> {
  // No other part has this token.
  const cache = { folder, token: crypto.getRandomValues(new Uint8Array(BYTE_SIZE_OF_CACHE_TOKEN)) };
  (await compile(cache)).close();
  return compile(cache);
}

/** The message of an error, in one line. */
export function messageOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text.replaceAll(/\s+/g, " ");
}
