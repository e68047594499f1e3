/**
 * A .tflite file as the page shows it: plain values that can be passed between threads, without the bytes of constants.
 */
import type { OperatorReport, TfliteInspection, TfliteModel, TfliteOperator, TfliteTensor } from "@nnhal/tflite";
import { kindOf } from "@nnhal/utils/graph";

/** A tensor without its elements. */
export interface TensorView {
  readonly index: number;
  readonly name: string;
  /** The type in the file, such as `FLOAT32`. */
  readonly type: string;
  /** Extents; -1 is one that callers choose. */
  readonly shape: readonly number[];
  readonly isConstant: boolean;
  /** True if operators keep it from one run to the next. */
  readonly isVariable: boolean;
  /** Bytes of the elements: of a constant as stored, of others computed from shape and type; undefined if that is open. */
  readonly bytes: number | undefined;
  /** Absent: the tensor is not quantised. */
  readonly quantization?: {
    /** At most `MOST_LISTED`; `count` has how many there are. */
    readonly scale: readonly number[];
    readonly zeroPoint: readonly number[];
    readonly count: number;
    readonly dimension: number;
  };
}

/** Outcome of an operator. `unread`: it has not been examined yet, or the file is too broken for that. */
export type OperatorState = OperatorReport["status"] | "unread";

/** An operator. */
export interface OperatorView {
  readonly index: number;
  /** The builtin operator, or the name of a custom one. */
  readonly name: string;
  readonly isCustom: boolean;
  readonly version: number;
  /** Group of operators that have a color in common. */
  readonly kind: string;
  readonly status: OperatorState;
  /** The HAL's or the extension's operations that it becomes. */
  readonly operations: readonly string[];
  /** Why it is blocked; undefined if it is not. */
  readonly reason: string | undefined;
  /** A remedy for that; undefined if nothing is known to help. */
  readonly help: string | undefined;
  readonly options: readonly (readonly [name: string, value: string])[];
  /** Indexes of tensors; -1 is an omitted one. */
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
  /** Subgraphs that it runs. */
  readonly subgraphs: readonly number[];
}

/** A graph of the file. */
export interface SubgraphView {
  readonly name: string;
  readonly tensors: readonly TensorView[];
  readonly operators: readonly OperatorView[];
  readonly inputs: readonly number[];
  readonly outputs: readonly number[];
}

/** Result of an examination of a file. */
export interface Examined {
  readonly constants: { readonly count: number; readonly bytes: number };
  readonly multiplyAdds: number;
  /** Why the model cannot run: at most 100. Empty if it can. */
  readonly problems: readonly { readonly path: string; readonly message: string; readonly help: string | undefined }[];
  readonly problemCount: number;
  readonly notes: readonly string[];
  /** For each operation of the imported model the place of its operator in the main subgraph; -1 for one that the import added. */
  readonly origins: readonly number[];
}

/** A file. */
export interface FileView {
  readonly name: string;
  readonly bytes: number;
  /** The maker's description. */
  readonly description: string;
  readonly subgraphs: readonly SubgraphView[];
  readonly signatures: readonly { readonly key: string; readonly subgraph: number }[];
  /** The subgraph that runs. */
  readonly main: number;
  /** undefined: it has not been examined yet. */
  readonly examined: Examined | undefined;
}

/** Scales and zero points that are passed to the page, and letters of a value in the list of options. */
export const MOST_LISTED = 64;
const MOST_OPTION = 200;

/** Bytes of an element by type; types with several elements in a byte have fractions. */
const elementBytes: Readonly<Record<string, number>> = {
  FLOAT64: 8,
  INT64: 8,
  UINT64: 8,
  COMPLEX64: 8,
  COMPLEX128: 16,
  FLOAT32: 4,
  INT32: 4,
  UINT32: 4,
  FLOAT16: 2,
  BFLOAT16: 2,
  INT16: 2,
  UINT16: 2,
  INT8: 1,
  UINT8: 1,
  BOOL: 1,
  INT4: 0.5,
  UINT4: 0.5,
  INT2: 0.25,
};

/** Describes a file by what it holds alone. What becomes of its operators is not known yet. */
export function describeContent(name: string, bytes: number, model: TfliteModel): FileView {
  return {
    name,
    bytes,
    description: model.description,
    subgraphs: model.subgraphs.map((subgraph) => ({
      name: subgraph.name,
      tensors: subgraph.tensors.map(tensorView),
      operators: subgraph.operators.map(operatorView),
      inputs: subgraph.inputs,
      outputs: subgraph.outputs,
    })),
    signatures: model.signatures.map(({ key, subgraph }) => ({ key, subgraph })),
    main: 0,
    examined: undefined,
  };
}

/** Adds what an examination has found. `signature`: the key of the signature that was imported; default: the first subgraph. */
export function addOutcomes(file: FileView, inspection: TfliteInspection, signature?: string | undefined): FileView {
  const { operators, problems, problemCount, constants, multiplyAdds, notes, imported, metadata } = inspection;
  const keyOf = ({ subgraph, index }: { readonly subgraph: number; readonly index: number }) => `${subgraph} ${index}`;
  const reports = new Map<string, OperatorReport>(operators.map((report) => [keyOf(report), report]));
  const helps = new Map<string, string>(
    problems.flatMap(({ operator, help }) =>
      operator === undefined || help === undefined ? [] : [[keyOf(operator), help] as const],
    ),
  );
  return {
    ...file,
    description: metadata?.description || file.description,
    subgraphs: file.subgraphs.map((part, subgraph) => ({
      ...part,
      operators: part.operators.map((operator) => {
        const key = keyOf({ subgraph, index: operator.index });
        const report = reports.get(key);
        if (report === undefined) return operator;
        const { status, operations, reason } = report;
        return { ...operator, status, operations, reason, help: helps.get(key) };
      }),
    })),
    main: file.signatures.find(({ key }) => key === signature)?.subgraph ?? 0,
    examined: {
      constants,
      multiplyAdds,
      problems: problems.map(({ path, message, help }) => ({ path, message, help })),
      problemCount,
      notes,
      origins: imported?.operators.map(({ index }) => index) ?? [],
    },
  };
}

function tensorView(tensor: TfliteTensor, index: number): TensorView {
  const { name, type, shapeSignature, data, external, isVariable, quantization } = tensor;
  const shape = shapeSignature ?? tensor.shape;
  return {
    index,
    name,
    type,
    shape,
    isConstant: data !== undefined || external !== undefined,
    isVariable,
    bytes: data?.length ?? external?.length ?? bytesOf(type, shape),
    ...(quantization && {
      quantization: {
        scale: quantization.scale.slice(0, MOST_LISTED),
        zeroPoint: quantization.zeroPoint.slice(0, MOST_LISTED),
        count: quantization.scale.length,
        dimension: quantization.quantizedDimension,
      },
    }),
  };
}

function bytesOf(type: string, shape: readonly number[]): number | undefined {
  const each = elementBytes[type];
  if (each === undefined || shape.some((extent) => extent < 0)) return undefined;
  return Math.ceil(shape.reduce((product, extent) => product * extent, each));
}

function operatorView(operator: TfliteOperator, index: number): OperatorView {
  const { customCode, version, inputs, outputs, options } = operator;
  return {
    index,
    name: customCode ?? operator.name,
    isCustom: customCode !== undefined,
    version,
    kind: kindOf({ type: operator.name, isKnown: customCode === undefined }).label,
    status: "unread",
    operations: [],
    reason: undefined,
    help: undefined,
    options: Object.entries(options).map(([key, value]) => [key, optionText(value)]),
    inputs,
    outputs,
    subgraphs: Object.entries(options).flatMap(([key, value]) =>
      /SubgraphIndex$/.test(key) && typeof value === "number" ? [value] : [],
    ),
  };
}

function optionText(value: unknown): string {
  const text = ArrayBuffer.isView(value)
    ? `[${[...new Uint8Array(value.buffer, value.byteOffset, value.byteLength).slice(0, MOST_OPTION)].join(", ")}]`
    : String(value);
  return text.length > MOST_OPTION ? `${text.slice(0, MOST_OPTION)}…` : text;
}
