/**
 * The judges of `nnhal diff`: devices, another file of the network, or a folder of tensors that something else has computed.
 */
import { readdir, stat } from "node:fs/promises";
import { join } from "node:path";
import { comparedTypesOf, createNetworkJudge, type Judge, type RecordedValue, type TensorValue } from "@nnhal/diff";
import { elementsOfReal, elementTypeOf, readNpy } from "@nnhal/network/tensors";
import { elementAt } from "@nnhal/operations";
import type { ModelCommandContext } from "../context.ts";
import { judgeDevice } from "../devices.ts";
import { messageOf, usageError } from "../failure.ts";
import { pathFrom, readUserFile } from "../files.ts";
import { convertInput, type PreparedInput } from "../model/input-file.ts";
import { type LoadedModel, loadModel } from "../model/load.ts";
import { filesByOperand, tensorFileName } from "./tensor-files.ts";

/** A judge as the user named it. */
export interface FoundJudge {
  /** Of devices, or of what the user named. */
  readonly names: readonly string[];
  /** True if it is another form of the network, so that differences are expected. */
  readonly isNetwork: boolean;
  /** The inputs that come with its values. */
  readonly inputs?: readonly PreparedInput[] | undefined;
  /** The judge of runs on these inputs. Rejects with a usage error if the other network does not fit this one. */
  judgeOf(inputs: readonly (readonly TensorValue[])[]): Promise<Judge>;
}

/** Finds what `--against` names. Rejects with a CommandError. */
export async function findJudge(name: string, model: LoadedModel, context: ModelCommandContext): Promise<FoundJudge> {
  const { cwd, devices } = context;
  if (/\.(tflite|lite|task|litertlm)$/i.test(name)) return networkJudge(name, model, context);
  const status = await stat(pathFrom(cwd, name)).catch(() => undefined);
  if (status?.isDirectory() && (/[\\/.]/.test(name) || !(await isDevice(name, context))))
    return folderJudge(name, model, context);
  if (status?.isFile() && /[\\/.]/.test(name)) return networkJudge(name, model, context);
  const judge = await devices.select(name);
  return { names: judge.devices.map((device) => device.name), isNetwork: false, judgeOf: async () => judge };
}

async function isDevice(name: string, { devices }: ModelCommandContext): Promise<boolean> {
  return devices.select(name).then(
    () => true,
    () => false,
  );
}

async function networkJudge(
  path: string,
  model: LoadedModel,
  { cwd, devices }: ModelCommandContext,
): Promise<FoundJudge> {
  const { customOperators = [], inputShapes, signature, halVersion } = model.importing;
  const importing = {
    customOperators,
    ...(halVersion && { halVersion }),
    ...(inputShapes && { inputShapes }),
    ...(signature !== undefined && { signature }),
  };
  const other = await loadModel(path, cwd, importing);
  return {
    names: [path],
    isNetwork: true,
    async judgeOf(inputs) {
      const engine = await devices.select(judgeDevice);
      try {
        return await createNetworkJudge({ judged: model, other, engine, inputs, extensions: customOperators });
      } catch (error) {
        if (!(error instanceof RangeError)) throw error;
        throw usageError(`${path} cannot judge ${model.path}: ${messageOf(error)}`, error);
      }
    },
  };
}

/** The most bytes of a file of a tensor. */
const MOST_TENSOR_BYTES = 2 ** 31;

async function folderJudge(folder: string, model: LoadedModel, context: ModelCommandContext): Promise<FoundJudge> {
  const { cwd, devices } = context;
  const names = await readdir(pathFrom(cwd, folder));
  const fileOf = filesByOperand(model, new Set(names.filter((name) => /\.npy$/i.test(name))));
  const read = (file: string) =>
    readUserFile(join(folder, file), {
      what: "tensor",
      cwd,
      most: { bytes: MOST_TENSOR_BYTES, reason: "which is more than a tensor can have" },
    });
  if (fileOf.size === 0)
    throw usageError(
      `expected .npy files of this model's tensors in the folder ${folder}, such as ${exampleName(model)}, got none`,
    );
  const typeOf = comparedTypesOf(model.model, model.importing.customOperators ?? []);
  const inputs: PreparedInput[] = [];
  for (const index of model.givenInputs) {
    const file = fileOf.get(elementAt(model.model.main.inputIndexes, index));
    const info = elementAt(model.inputs, index);
    if (file !== undefined) inputs.push(await convertInput(join(folder, file), await read(file), info));
  }
  const recordedIn = async (operand: number): Promise<RecordedValue | undefined> => {
    const [file, as] = [fileOf.get(operand), typeOf(operand)];
    if (file === undefined || as === undefined) return undefined;
    const path = join(folder, file);
    const { type, values, shape } = readArray(path, await read(file));
    const own = elementTypeOf(as.type);
    if (type === own) {
      const { buffer, byteOffset, byteLength } = elementsOfReal(own, undefined, values());
      return { bytes: new Uint8Array(buffer, byteOffset, byteLength), dimensions: shape };
    }
    if (!type.startsWith("float"))
      throw usageError(
        `the tensor ${path} stands for one of ${own ?? "another type"}: expected elements of that type, or real numbers as floats, got ${type}`,
      );
    const real = Float32Array.from(values(), Number);
    const bytes = new Uint8Array(real.buffer);
    return {
      bytes,
      dimensions: shape,
      as: { type: "TENSOR_FLOAT32", scale: 0, zeroPoint: 0, isRelaxed: as.isRelaxed },
    };
  };
  return {
    names: [folder],
    isNetwork: false,
    ...(inputs.length === model.givenInputs.length && { inputs }),
    async judgeOf(runs) {
      if (runs.length > 1)
        throw usageError(`the folder ${folder} has the tensors of one run, but there are ${runs.length}`);
      return { recordedValue: recordedIn, engine: await devices.select(judgeDevice) };
    },
  };
}

function readArray(path: string, bytes: Uint8Array) {
  try {
    return readNpy(bytes);
  } catch (error) {
    if (!(error instanceof RangeError)) throw error;
    throw usageError(`the tensor ${path} ${error.message}`, error);
  }
}

function exampleName(model: LoadedModel): string {
  const named = model.operandNames.findIndex((name) => name !== undefined && name !== "");
  return tensorFileName(model, named) ?? "0.npy";
}
