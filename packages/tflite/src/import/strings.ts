/**
 * Operators on strings: one that moves strings becomes the same operator on their places, which are integers, between STRING_INDEXES and
 * STRING_GATHER. So every operator that moves integers moves strings.
 */
import type { TfliteOperator, TfliteTensor } from "../model.ts";
import type { Procedure, Program } from "./state/procedure.ts";

export { stringTensor } from "./string-constants.ts";

/** The place of the strings among the inputs of operators that move them. */
const movers: Readonly<Record<string, number>> = {
  EXPAND_DIMS: 0,
  FILL: 1,
  GATHER: 0,
  GATHER_ND: 0,
  RESHAPE: 0,
  SLICE: 0,
  SQUEEZE: 0,
  STRIDED_SLICE: 0,
  TILE: 0,
};

/** Operators that only need the shape of strings. */
const measurers: ReadonlySet<string> = new Set(["RANK", "SHAPE"]);

/** A program whose operators on strings are those of the extension. */
export function withStrings({ main, procedures, cells }: Program): Program {
  return { main: convert(main), procedures: procedures.map(convert), cells };
}

function convert(procedure: Procedure): Procedure {
  const { subgraph } = procedure;
  const tensors: TfliteTensor[] = [...subgraph.tensors];
  if (!tensors.some(({ type }) => type === "STRING")) return procedure;
  const operators: TfliteOperator[] = [];
  const origins: number[] = [];
  const isString = (tensor: number | undefined) => subgraph.tensors[tensor ?? -1]?.type === "STRING";

  for (const [place, operator] of subgraph.operators.entries()) {
    const { name, inputs, outputs } = operator;
    const origin = procedure.origins?.[place] ?? place;
    const emit = (each: TfliteOperator) => {
      operators.push(each);
      origins.push(origin);
    };
    const own = (code: string, given: readonly number[], results: readonly number[]) =>
      emit({ name: code, version: 1, inputs: given, outputs: results, options: {} });
    /** A tensor of another type with the shape of a tensor. */
    const like = (tensor: number, type: "INT32" | "BOOL"): number => {
      const { shape = [], shapeSignature, name: source = "" } = tensors[tensor] ?? {};
      tensors.push({ name: source, type, shape, ...(shapeSignature && { shapeSignature }), isVariable: false });
      return tensors.length - 1;
    };
    const [first = -1, second = -1] = inputs;
    const [output = -1] = outputs;
    const moved = movers[name];
    const strings = inputs[moved ?? 0];
    if (strings === undefined || !isString(strings)) {
      emit(operator);
    } else if (name === "EQUAL") {
      own("STRING_EQUAL", [first, second], outputs);
    } else if (name === "FILL" && isString(output)) {
      // The value is one string: its place is 0.
      tensors.push({ name: "", type: "INT32", shape: [], data: new Uint8Array(4), isVariable: false });
      const [zero, chosen] = [tensors.length - 1, like(output, "INT32")];
      emit({ ...operator, inputs: [first, zero], outputs: [chosen] });
      own("STRING_GATHER", [strings, chosen], [output]);
    } else if (name === "NOT_EQUAL") {
      const equal = like(output, "BOOL");
      own("STRING_EQUAL", [first, second], [equal]);
      own("LOGICAL_NOT", [equal], outputs);
    } else if (moved !== undefined && isString(output)) {
      const [places, chosen] = [like(strings, "INT32"), like(output, "INT32")];
      own("STRING_INDEXES", [strings], [places]);
      emit({ ...operator, inputs: inputs.with(moved, places), outputs: [chosen, ...outputs.slice(1)] });
      own("STRING_GATHER", [strings, chosen], [output]);
    } else if (measurers.has(name)) {
      const places = like(strings, "INT32");
      own("STRING_INDEXES", [strings], [places]);
      emit({ ...operator, inputs: [places, ...inputs.slice(1)] });
    } else emit(operator);
  }
  return { ...procedure, subgraph: { ...subgraph, tensors, operators }, origins };
}
