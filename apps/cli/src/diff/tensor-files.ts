/**
 * Folders with the tensors of a run, each in a .npy file: what another engine has computed, and what `--record` writes.
 */
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import type { OnOperation, TensorValue } from "@nnhal/diff";
import { comparedTypesOf } from "@nnhal/diff";
import { elementTypeOf, writeNpy } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import { pathFrom, writeUserFile } from "../files.ts";
import type { LoadedModel } from "../model/load.ts";

/** The file of each operand that is in a folder: by the name of its tensor, or by the tensor's index in the .tflite file. */
export function filesByOperand(model: LoadedModel, files: ReadonlySet<string>): ReadonlyMap<number, string> {
  const indexOf = tensorIndexes(model);
  const found = new Map<number, string>();
  for (const [operand, name] of model.operandNames.entries()) {
    if (name === undefined) continue;
    const index = indexOf.get(name);
    const candidates = [
      ...(name === "" ? [] : [`${fileName(name)}.npy`]),
      ...(index === undefined ? [] : [`${index}.npy`]),
    ];
    const file = candidates.find((candidate) => files.has(candidate));
    if (file !== undefined) found.set(operand, file);
  }
  return found;
}

/** The file of an operand; undefined: the .tflite file does not have it, or has several of its name. */
export function tensorFileName(model: LoadedModel, operand: number): string | undefined {
  const name = model.operandNames[operand];
  const index = name === undefined ? undefined : tensorIndexes(model).get(name);
  if (name === undefined || index === undefined) return undefined;
  return name === "" || fileName(name) !== name ? `${index}.npy` : `${name}.npy`;
}

/** The index of each tensor whose name no other one has. */
function tensorIndexes({ content, importing }: LoadedModel): ReadonlyMap<string, number | undefined> {
  const place = content.signatures.find(({ key }) => key === importing.signature)?.subgraph ?? 0;
  const indexes = new Map<string, number | undefined>();
  for (const [index, { name }] of elementAt(content.subgraphs, place).tensors.entries())
    indexes.set(name, indexes.has(name) ? undefined : index);
  return indexes;
}

/** The name of a tensor with `_` for what file names cannot have. */
function fileName(tensor: string): string {
  return tensor.replaceAll(/[^\w.,=+-]/g, "_").slice(0, MOST_FILE_NAME);
}

/** File systems take 255 bytes. */
const MOST_FILE_NAME = 200;

/** A writer of the tensors of a run. */
export interface TensorRecorder {
  /** Writes the inputs of the run. */
  begin(inputs: readonly TensorValue[]): Promise<void>;
  /** Writes what the device computes, as the network runs. */
  readonly take: OnOperation;
  /** Tensors that were written, inputs included. */
  count(): number;
}

/** Makes a writer of the tensors of the first run into a folder, which is made at the beginning. */
export function createTensorRecorder(folder: string, model: LoadedModel, cwd: string): TensorRecorder {
  const { customOperators = [] } = model.importing;
  const typeOf = comparedTypesOf(model.model, customOperators);
  let written = 0;
  const write = async (operand: number, { bytes, dimensions }: TensorValue) => {
    const [name, as] = [tensorFileName(model, operand), typeOf(operand)];
    const type = as && elementTypeOf(as.type);
    if (name === undefined || type === undefined) return;
    await writeUserFile(join(folder, name), writeNpy(type, dimensions, bytes), cwd);
    written++;
  };
  return {
    async begin(inputs) {
      await mkdir(pathFrom(cwd, folder), { recursive: true });
      for (const [place, value] of inputs.entries())
        await write(elementAt(model.model.main.inputIndexes, place), value);
    },
    async take(operation, { runs: [run] }) {
      if (run === undefined) return;
      for (const [place, { operand }] of operation.outputs.entries())
        await write(operand, elementAt(run.accumulated, place));
    },
    count: () => written,
  };
}
