/**
 * Description of a loaded model: names, types and shapes of its tensors, with the texts that its maker packed with it.
 */
import { byNeed, elementAt, typeText } from "@nnhal/operations";
import {
  type ImportedModel,
  type ModelMetadata,
  modelMetadata,
  readPackedFile,
  type TensorDescription,
  TfliteError,
  type TfliteModel,
  type TfliteTensor,
} from "@nnhal/tflite";
import { elementTypeOf, isQuantized } from "./elements.ts";
import { NetworkError } from "./error.ts";
import type { ModelFile } from "./model-file.ts";
import type { Description } from "./session.ts";
import type { TensorInfo } from "./tensor-info.ts";
import { oneLine, plain } from "./text.ts";

const packed = byNeed("what is packed with a model", () => import("./packed.ts"));

/**
 * Describes an imported model. Metadata that are broken are reported to `onWarning`, and left out. Throws a NotLoadedError for a model with
 * metadata if what reads packed files is not loaded: see `whenLoaded`.
 */
export function describeModel(
  { bytes, content: model }: ModelFile,
  imported: ImportedModel,
  devices: readonly string[],
  onWarning: (message: string) => void = () => {},
): Description {
  const { states, signatures } = imported;
  const metadata = metadataOf(model, onWarning);
  // Metadata that are broken have been reported.
  const [main] = model.subgraphs;
  const tensors = firstByName(model.subgraphs.flatMap((subgraph) => subgraph.tensors));
  const namesOf = (indexes: readonly number[] = []) => indexes.map((index) => main?.tensors[index]?.name);
  const read = (name: string, most: number) => readPackedFile(bytes, name, { most });
  const labelsOf =
    metadata && packed().createLabelFinder({ metadata, outputNames: namesOf(main?.outputs), read }, onWarning);
  const tokenizerOf = metadata && packed().findTokenizers(metadata, read, onWarning);
  const stateInputs = new Set(states.map(({ input }) => input));
  const stateOutputs = new Set(states.flatMap(({ output }) => output ?? []));
  const describe = (kind: "input" | "output", excluded: ReadonlySet<number>): TensorInfo[] => {
    const list = kind === "input" ? imported.inputs : imported.outputs;
    // Metadata describe the tensors of the first subgraph, in its order.
    const places = new Map<string | undefined, number>();
    for (const [place, name] of namesOf(main?.[`${kind}s`]).entries()) if (!places.has(name)) places.set(name, place);
    const own = list.filter((_, place) => !excluded.has(place));
    const counts = new Map<string, number>();
    for (const tensor of own) counts.set(nameOf(tensor), (counts.get(nameOf(tensor)) ?? 0) + 1);
    return own.map((tensor, place) => {
      const inMetadata = places.get(tensor.name) ?? -1;
      const about = metadata?.[`${kind}s`][inMetadata];
      const labels = kind === "output" ? labelsOf?.(tensor)?.names : undefined;
      const tokenizer = kind === "input" ? tokenizerOf?.(inMetadata) : undefined;
      const isUnique = nameOf(tensor) !== "" && counts.get(nameOf(tensor)) === 1;
      const name = isUnique ? nameOf(tensor) : `${kind}${place}`;
      const others = [tensor.name, about?.name ?? ""].filter((other) => other !== "" && other !== name);
      const normalization = about?.normalization;
      return {
        ...infoOf(tensor, name, tensors),
        otherNames: [...new Set(others)],
        ...(labels !== undefined && { labels }),
        ...(normalization !== undefined && normalization.mean.length > 0 && { normalization }),
        ...(tokenizer !== undefined && { tokenizer }),
        ...(about !== undefined && about.description !== "" && { description: plain(about.description) }),
      };
    });
  };
  return {
    inputs: describe("input", stateInputs),
    outputs: describe("output", stateOutputs),
    states: states.map(({ name, input }, place) => ({
      ...infoOf(elementAt(imported.inputs, input), name === "" ? `state${place}` : name, tensors),
      otherNames: [],
    })),
    signatures: signatures.map(({ key }) => key),
    devices,
    name: plain(metadata?.name ?? ""),
    description: plain(metadata?.description ?? model.description),
    license: plain(metadata?.license ?? ""),
  };
}

/** The name in the signature, else the tensor's. Tensors may share it. */
function nameOf(tensor: TensorDescription): string {
  return tensor.signatureName ?? tensor.name;
}

function firstByName(tensors: readonly TfliteTensor[]): ReadonlyMap<string, TfliteTensor> {
  const byName = new Map<string, TfliteTensor>();
  for (const tensor of tensors) if (!byName.has(tensor.name)) byName.set(tensor.name, tensor);
  return byName;
}

function infoOf(
  { name: own, type: operandType, tensorType, shape, scale, zeroPoint }: TensorDescription,
  name: string,
  tensors: ReadonlyMap<string, TfliteTensor>,
): Omit<TensorInfo, "otherNames"> {
  // The last extent is the bytes of a row.
  if (tensorType === "STRING") return { name, type: "string", shape: shape.slice(0, -1) };
  const type = elementTypeOf(operandType);
  if (type === undefined) {
    const message = `the model cannot run: the tensor "${own}" has the type ${typeText(operandType)}, which has no array`;
    throw new NetworkError("CANNOT_RUN", message, { problems: [message] });
  }
  // Types of extensions have their quantisation elsewhere, so the file is asked.
  const inFile = scale === 0 ? tensors.get(own)?.quantization : undefined;
  const [fileScale] = inFile?.scale.length === 1 ? inFile.scale : [];
  const quantization =
    fileScale === undefined ? { scale, zeroPoint } : { scale: fileScale, zeroPoint: Number(inFile?.zeroPoint[0] ?? 0) };
  const counts = quantization.scale !== 0 && isQuantized(quantization);
  return { name, type, shape, ...(counts && { quantization }) };
}

function metadataOf(model: TfliteModel, onWarning: (message: string) => void): ModelMetadata | undefined {
  try {
    return modelMetadata(model);
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    onWarning(`the metadata of the model cannot be read: ${oneLine(error.message)}`);
    return undefined;
  }
}
