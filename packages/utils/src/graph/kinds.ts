/**
 * Kinds of operations: what a drawing colors them by.
 */

/** A kind with the color of its boxes, on which black text can be read. */
export interface OperationKind {
  readonly label: string;
  readonly color: string;
}

/** Kinds of the HAL's operations, by a part of their names; the first that is found counts. */
const halKinds: readonly (OperationKind & { readonly names: RegExp })[] = [
  {
    label: "layers with weights",
    color: "#cfe2f7",
    names: /CONV|FULLY_CONNECTED|MATMUL|LSTM|RNN|SVDF|EMBEDDING/,
  },
  {
    label: "pooling, reductions, normalisation",
    color: "#d5ecd0",
    names: /POOL|REDUCE|MEAN|ARG|SOFTMAX|NORMALIZATION|TOPK/,
  },
  {
    label: "reshaping and moving",
    color: "#eeeeee",
    names: /RESHAPE|TRANSPOSE|CONCAT|SPLIT|SLICE|PAD|GATHER|SQUEEZE|EXPAND|TILE|SPACE|DEPTH|SHUFFLE|SELECT/,
  },
  { label: "control flow", color: "#f7d6d6", names: /^(?:IF|WHILE)$/ },
];

const otherKind: OperationKind = { label: "elementwise and others", color: "#fbe8c8" };
const extensionKind: OperationKind = { label: "operations of extensions", color: "#e8d4f0" };
const unknownKind: OperationKind = { label: "unknown operations", color: "#ffffff" };

/** The kind of an operation, which `visitGraph` describes by its name. */
export function kindOf({ type, isKnown }: { readonly type: string; readonly isKnown: boolean }): OperationKind {
  if (!isKnown) return unknownKind;
  // Names of vendors have dots.
  if (type.includes(".")) return extensionKind;
  return halKinds.find(({ names }) => names.test(type)) ?? otherKind;
}
