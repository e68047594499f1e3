/**
 * What a loaded model says about itself: names, types and shapes of its tensors, with what its maker packed with it.
 */
import { elementAt, typeText } from "@nnhal/operations";
import {
  type ImportedModel,
  type ModelMetadata,
  modelMetadata,
  readTflite,
  type TensorDescription,
  TfliteError,
  type TfliteTensor,
} from "@nnhal/tflite";
import { elementTypeOf, isQuantized } from "./elements.ts";
import { NetworkError } from "./error.ts";
import { packedLabels } from "./labels.ts";
import type { Description } from "./session.ts";
import type { TensorInfo } from "./tensor-info.ts";
import { oneLine, plain } from "./text.ts";

/** Describes an imported model. Metadata that are broken are reported to `onWarning`, and left out. */
export function describeModel(
  file: Uint8Array,
  imported: ImportedModel,
  devices: readonly string[],
  onWarning: (message: string) => void = () => {},
): Description {
  const { states, signatures } = imported;
  const model = readTflite(file);
  const metadata = metadataOf(model, onWarning);
  const [main] = model.subgraphs;
  const tensors = model.subgraphs.flatMap((subgraph) => subgraph.tensors);
  const namesOf = (indexes: readonly number[] = []) => indexes.map((index) => main?.tensors[index]?.name);
  const stateInputs = new Set(states.map(({ input }) => input));
  const stateOutputs = new Set(states.flatMap(({ output }) => output ?? []));
  const describe = (kind: "input" | "output", excluded: ReadonlySet<number>): TensorInfo[] => {
    const list = kind === "input" ? imported.inputs : imported.outputs;
    const inMetadata = namesOf(main?.[`${kind}s`]);
    return list
      .filter((_, place) => !excluded.has(place))
      .map((tensor, place, all) => {
        // Metadata describe the tensors of the first subgraph, in its order.
        const about = metadata?.[`${kind}s`][inMetadata.indexOf(tensor.name)];
        const labels = kind === "output" ? packedLabels(file, tensor, onWarning)?.names : undefined;
        const name = nameOf(tensor, all) ?? `${kind}${place}`;
        const others = [tensor.name, about?.name ?? ""].filter((other) => other !== "" && other !== name);
        const normalization = about?.normalization;
        return {
          ...infoOf(tensor, name, tensors),
          otherNames: [...new Set(others)],
          ...(labels !== undefined && { labels }),
          ...(normalization !== undefined && normalization.mean.length > 0 && { normalization }),
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

/** The name in the signature, else the tensor's; undefined if another tensor has it, too. */
function nameOf(tensor: TensorDescription, all: readonly TensorDescription[]): string | undefined {
  const name = tensor.signatureName ?? tensor.name;
  const sharing = all.filter((other) => (other.signatureName ?? other.name) === name);
  return name === "" || sharing.length > 1 ? undefined : name;
}

function infoOf(
  { name: own, type: operandType, tensorType, shape, scale, zeroPoint }: TensorDescription,
  name: string,
  tensors: readonly TfliteTensor[],
): Omit<TensorInfo, "otherNames"> {
  // The last extent is the bytes of a row.
  if (tensorType === "STRING") return { name, type: "string", shape: shape.slice(0, -1) };
  const type = elementTypeOf(operandType);
  if (type === undefined) {
    const message = `the model cannot run: the tensor "${own}" has the type ${typeText(operandType)}, which has no array`;
    throw new NetworkError("CANNOT_RUN", message, { problems: [message] });
  }
  // Types of extensions have their quantisation elsewhere, so the file is asked.
  const inFile = scale === 0 ? tensors.find((tensor) => tensor.name === own)?.quantization : undefined;
  const [fileScale] = inFile?.scale.length === 1 ? inFile.scale : [];
  const quantization =
    fileScale === undefined ? { scale, zeroPoint } : { scale: fileScale, zeroPoint: Number(inFile?.zeroPoint[0] ?? 0) };
  const counts = quantization.scale !== 0 && isQuantized(quantization);
  return { name, type, shape, ...(counts && { quantization }) };
}

function metadataOf(
  model: ReturnType<typeof readTflite>,
  onWarning: (message: string) => void,
): ModelMetadata | undefined {
  try {
    return modelMetadata(model);
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    onWarning(`the metadata of the model cannot be read: ${oneLine(error.message)}`);
    return undefined;
  }
}
