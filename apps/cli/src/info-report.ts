/**
 * The report of `nnhal info`: what a file holds and what becomes of it, for people and as JSON.
 */
import { basename } from "node:path";
import { elementAt } from "@nnhal/operations";
import type {
  ImportedModel,
  ModelMetadata,
  OperatorReport,
  OperatorStatus,
  PackedFile,
  TensorDescription,
  TfliteInspection,
  TfliteModel,
  TfliteProblem,
  TfliteQuantization,
} from "@nnhal/tflite";
import type { EntryOptions } from "./option-values.ts";
import { byteText, columns, countText, formatCount, oneLine, openShapeText, plain } from "./text.ts";

/** An input or output of the file. */
export interface FileTensor {
  readonly name: string;
  /** The element type in the file. */
  readonly type: string;
  /** -1 is an extent that users may choose; [] is a scalar, or with `isUnranked` a shape that each run determines. */
  readonly shape: readonly number[];
  readonly isUnranked?: true;
  readonly quantization?: TfliteQuantization;
}

/** State that the model keeps from one run to the next. */
export interface FileState {
  readonly name: string;
  /** The element type in the file. */
  readonly type: string;
  /** -1 is an extent that changes. */
  readonly shape: readonly number[];
}

/** A SignatureDef: a name for a subgraph, and names for its inputs and outputs. */
export interface SignatureJson {
  readonly key: string;
  readonly subgraph: number;
  readonly inputs: readonly string[];
  readonly outputs: readonly string[];
}

/** Operators of one kind that have become the same. */
export interface OperatorGroup {
  readonly name: string;
  readonly customCode?: string;
  readonly version: number;
  readonly count: number;
  readonly status: OperatorStatus;
  /** The HAL operations that the first of them becomes. */
  readonly operations: readonly string[];
  /** Why the first of them is blocked. */
  readonly reason?: string;
}

/** Constants of the model that lie in another file. */
export interface ExternalFile {
  /** As the model names it. */
  readonly name: string;
  readonly count: number;
  readonly bytes: number;
}

/** Output of `--json`. */
export interface InfoJson {
  readonly model: string;
  readonly bytes: number;
  /** True if the HAL can express the model. */
  readonly runs: boolean;
  readonly description: string;
  readonly metadata: ModelMetadata | null;
  readonly packedFiles: readonly PackedFile[];
  /** Other files with constants. */
  readonly externalBuffers: readonly ExternalFile[];
  readonly signatures: readonly SignatureJson[];
  readonly inputs: readonly FileTensor[];
  readonly outputs: readonly FileTensor[];
  /** Empty if the model cannot run. */
  readonly states: readonly FileState[];
  readonly operators: readonly OperatorGroup[];
  readonly constants: TfliteInspection["constants"];
  readonly multiplyAdds: number;
  /** At most 100. */
  readonly problems: readonly TfliteProblem[];
  readonly problemCount: number;
  /** Faults of the metadata or the packed files. */
  readonly notes: readonly string[];
}

/** Most characters of a tensor's name that are shown: a file may name many tensors alike, at no cost to its size. */
export const MOST_NAME = 200;

/** The report as JSON, of a signature or the first subgraph, in the shapes that were chosen. */
export function infoJson(
  model: string,
  bytes: number,
  inspection: TfliteInspection,
  { signature, inputShape }: EntryOptions = {},
): InfoJson {
  const { imported, metadata, packedFiles, operators, constants, multiplyAdds, problems, problemCount, notes } =
    inspection;
  const chosen = inspection.model.signatures.find(({ key }) => key === signature);
  const main = inspection.model.subgraphs[chosen?.subgraph ?? 0];
  const tensors = (indexes: readonly number[] = [], used: readonly TensorDescription[] = []) =>
    indexes.map((index, place): FileTensor => {
      const { name, type, shape, shapeSignature, quantization, hasRank } = elementAt(main?.tensors ?? [], index);
      return {
        name: name.slice(0, MOST_NAME),
        type,
        shape: chosenShape(shape, inputShape && used[place]) ?? shapeSignature ?? shape,
        // Old files store no shape for scalars either; the import has found out that they have one element.
        ...(shape.length === 0 && hasRank !== true && String(used[place]?.shape) !== "1" && { isUnranked: true }),
        ...(quantization && { quantization }),
      };
    });
  return {
    model,
    bytes,
    runs: imported !== undefined,
    description: inspection.model.description,
    metadata: metadata ?? null,
    packedFiles,
    externalBuffers: externalFiles(inspection.model),
    signatures: inspection.model.signatures.map(({ key, subgraph, inputs, outputs }) => ({
      key,
      subgraph,
      inputs: inputs.map(({ name }) => name),
      outputs: outputs.map(({ name }) => name),
    })),
    inputs: tensors(chosen?.inputs.map(({ tensor }) => tensor) ?? main?.inputs, imported?.inputs),
    outputs: tensors(chosen?.outputs.map(({ tensor }) => tensor) ?? main?.outputs, imported?.outputs),
    states: imported === undefined ? [] : statesOf(imported),
    operators: groupOperators(operators),
    constants,
    multiplyAdds,
    problems,
    problemCount,
    notes,
  };
}

/** The files of external buffers, each range once. */
function externalFiles({ subgraphs }: TfliteModel): ExternalFile[] {
  const files = new Map<string, Map<string, number>>();
  for (const { external } of subgraphs.flatMap(({ tensors }) => tensors)) {
    if (external?.group === undefined) continue;
    const { group, offset, length } = external;
    const ranges = files.get(group) ?? new Map<string, number>();
    files.set(group, ranges.set(`${offset}+${length}`, length));
  }
  return [...files].map(([name, ranges]) => ({
    name: name.slice(0, MOST_NAME),
    count: ranges.size,
    bytes: [...ranges.values()].reduce((sum, length) => sum + length, 0),
  }));
}

/** The extents of a tensor that a model was given other shapes for; -1 is unknown. */
function chosenShape(stored: readonly number[], used: TensorDescription | undefined): readonly number[] | undefined {
  // A scalar has one extent in the HAL.
  if (used === undefined || stored.length === 0) return undefined;
  return extentsOf(used);
}

/** Extents as the file has them: -1 is unknown, and the bytes of strings are none. */
function extentsOf({ tensorType: type, shape }: TensorDescription): readonly number[] {
  const extents = type === "STRING" ? shape.slice(0, -1) : shape;
  return extents.map((extent) => (extent === 0 ? -1 : extent));
}

function statesOf({ states, inputs }: ImportedModel): FileState[] {
  return states.map(({ name, input }) => {
    const info = elementAt(inputs, input);
    return { name: name.slice(0, MOST_NAME), type: info.tensorType, shape: extentsOf(info) };
  });
}

/** Operators with the same name, version and outcome as one, in the order in which they first occur. */
function groupOperators(operators: readonly OperatorReport[]): OperatorGroup[] {
  const groups = new Map<string, OperatorGroup>();
  for (const { name, customCode, version, status, operations, reason } of operators) {
    const key = JSON.stringify([name, customCode, version, status, operations]);
    const known = groups.get(key);
    const custom = customCode !== undefined && { customCode };
    groups.set(key, {
      ...(known ?? { name, ...custom, version, status, operations, ...(reason !== undefined && { reason }) }),
      count: (known?.count ?? 0) + 1,
    });
  }
  return [...groups.values()];
}

/** The report for people. */
export function formatInfo(info: InfoJson): string {
  const { metadata, constants, signatures } = info;
  const facts = [
    ["file", `${basename(info.model)}, ${byteText(info.bytes)}`],
    ["runs", info.runs ? "yes" : `no: ${formatCount(info.problemCount, "problem")}`],
    ["description", info.description],
    ["name", metadata?.name ?? ""],
    ["about", metadata?.description ?? ""],
    ["version", metadata?.version ?? ""],
    ["author", metadata?.author ?? ""],
    ["licence", metadata?.license ?? ""],
    ["constants", `${constants.count}, ${byteText(constants.bytes)}`],
    ["work", `${countText(info.multiplyAdds)} multiply-adds`],
    ["packed", info.packedFiles.map(({ name, size }) => `${name} (${byteText(size)})`).join(", ")],
    ...info.externalBuffers.map(({ name, count, bytes }) => [
      "external",
      `${plain(name)}: ${formatCount(count, "constant")}, ${byteText(bytes)}`,
    ]),
    ...signatures.map(({ key, inputs, outputs }) => [
      "signature",
      `${key}: ${inputs.join(", ")} → ${outputs.join(", ")}`,
    ]),
    ...info.notes.map((note) => ["note", note]),
  ];
  return [
    ...columns(facts.map(([name = "", value = ""]) => [name, oneLine(value)]).filter(([, value]) => value !== "")),
    "",
    "Inputs",
    ...formatTensors(info.inputs),
    "",
    "Outputs",
    ...formatTensors(info.outputs),
    ...(info.states.length === 0 ? [] : ["", "State", ...formatTensors(info.states)]),
    "",
    "Operators",
    ...columns(info.operators.map(formatGroup)),
    ...formatProblems(info),
    "",
  ].join("\n");
}

function formatTensors(tensors: readonly FileTensor[]): string[] {
  return columns(
    tensors.map(({ name, type, shape, isUnranked, quantization }, place) => [
      `  ${place}`,
      plain(name),
      `${type} ${isUnranked || shape.length > 0 ? openShapeText(shape) : "scalar"}`,
      quantizationText(quantization),
    ]),
  );
}

function quantizationText(quantization: TfliteQuantization | undefined): string {
  if (quantization === undefined) return "";
  const [scale, ...others] = quantization.scale;
  if (others.length > 0) return `a scale for each index of dimension ${quantization.quantizedDimension}`;
  return `scale ${scale}, zero point ${quantization.zeroPoint[0] ?? 0}`;
}

function formatGroup(group: OperatorGroup): string[] {
  const { name, customCode, version, count } = group;
  const label = customCode === undefined ? name : `${name} ${plain(customCode)}`;
  return [`  ${count}`, label, `version ${version}`, outcomeText(group)];
}

/** Text of the outcome of an operator. */
export function outcomeText({
  status,
  operations,
  reason = "",
}: Pick<OperatorGroup, "status" | "operations" | "reason">): string {
  switch (status) {
    case "hal":
      return `HAL: ${operationsText(operations)}`;
    case "extension":
      return `extension: ${operationsText(operations)}`;
    case "constant":
      return "a constant";
    case "state":
      return "state";
    case "unused":
      return "not used";
    case "blocked":
      return `blocked: ${oneLine(reason)}`;
  }
}

/** The names of operations; one that follows itself is counted. */
function operationsText(operations: readonly string[]): string {
  const runs: { readonly name: string; count: number }[] = [];
  for (const name of operations) {
    const last = runs.at(-1);
    if (last?.name === name) last.count++;
    else runs.push({ name, count: 1 });
  }
  return runs.map(({ name, count }) => (count === 1 ? name : `${count} x ${name}`)).join(", ");
}

/** The problems with what helps, after an empty line; nothing if there are none. */
export function formatProblems({ problems, problemCount }: Pick<InfoJson, "problems" | "problemCount">): string[] {
  if (problemCount === 0) return [];
  const rest = problemCount - problems.length;
  return [
    "",
    "Problems",
    ...problems.map(({ path, message, help }) => {
      const text = path === "" ? message : `${path}: ${message}`;
      return `  ${oneLine(help === undefined ? text : `${text}; ${help}`)}`;
    }),
    ...(rest > 0 ? [`  and ${rest} more`] : []),
  ];
}
