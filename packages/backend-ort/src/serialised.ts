/**
 * Subgraphs in a cache: the optimised model, and the peak of its memory, which only the operations tell. All else follows from the model
 * and the operands, so nothing is lowered when a subgraph is restored.
 */
import type { CacheBlobs, GraphView } from "@nnhal/backend";
import { elementAt, type TensorInfo, tensorInfo } from "@nnhal/operations";
import type * as ort from "onnxruntime-node";
import { type Machine, optimisedModel, optimisedOptions } from "./engine.ts";
import { resultOf } from "./graph/scope.ts";
import { type Interface, type Wire, type WrittenGraph, wireType } from "./lower.ts";

/** The blobs of a subgraph. */
export async function serialise(machine: Machine, { model, peak }: WrittenGraph): Promise<CacheBlobs> {
  const size = new Uint8Array(Float64Array.of(peak).buffer);
  return { model: [await optimisedModel(machine, model), size], data: [] };
}

/** Opens a session over blobs. Rejects if they do not fit the subgraph. `bytes` must live as long as the session. */
export async function restoreSession(
  machine: Machine,
  { model: [bytes, size] }: CacheBlobs,
  graph: GraphView,
  extents: readonly (readonly number[])[],
): Promise<{ readonly session: ort.InferenceSession; readonly parts: Interface; readonly bytes: Uint8Array }> {
  if (bytes === undefined) throw new Error("the cache has no optimised model");
  if (size?.length !== Float64Array.BYTES_PER_ELEMENT) throw new Error("the cache has no size of the model's memory");
  const session = await machine.ort.InferenceSession.create(bytes, optimisedOptions(machine.threads));
  const [peak = 0] = new Float64Array(size.slice().buffer);
  const inputs = wiresOf(session.inputMetadata, graph, graph.inputs, extents);
  const outputs = wiresOf(session.outputMetadata, graph, graph.outputs);
  if (inputs === undefined || outputs === undefined) {
    await session.release();
    throw new Error("the optimised model in the cache has other inputs or outputs than the subgraph");
  }
  return { session, parts: { inputs, outputs, peak }, bytes };
}

/** The wires of operands; undefined if they are not those of the model. Without `extents` they are those of the model. */
function wiresOf(
  values: readonly ort.InferenceSession.ValueMetadata[],
  { operands }: GraphView,
  indexes: readonly number[],
  extents?: readonly (readonly number[])[],
): readonly Wire[] | undefined {
  if (values.length !== indexes.length) return undefined;
  const wires: Wire[] = [];
  for (const [place, index] of indexes.entries()) {
    const value = elementAt(values, place);
    const operand = operands[index];
    if (operand === undefined || !value.isTensor || value.type !== wireType(operand.type)) return undefined;
    const dims = value.shape.filter((extent) => typeof extent === "number");
    // The axis of the two parts of a complex number is none of the tensor's.
    const dimensions = dims.slice(0, dims.length - resultOf(operand.type, []).dims.length);
    const expected = extents?.[place] ?? findKnownExtents(operand, dimensions);
    if (expected.length !== dimensions.length || expected.some((extent, axis) => extent !== dimensions[axis])) {
      return undefined;
    }
    wires.push({ name: value.name, type: wireType(operand.type), dims, info: tensorInfo(operand, dimensions) });
  }
  return wires;
}

/** The extents of an operand as far as the model determines them; the others are those of its value. */
function findKnownExtents({ dimensions }: TensorInfo, actual: readonly number[]): readonly number[] {
  return dimensions.length === 0 ? actual : dimensions.map((extent, axis) => extent || (actual[axis] ?? 0));
}
