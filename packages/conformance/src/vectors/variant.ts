/**
 * The forms in which one example is run: as it is written, and two forms derived from it. In `unspecified outputs` the
 * model does not state the extents of its outputs, so that the device must find them; in `signed` every unsigned
 * quantised value becomes a signed one, 128 less.
 */
import type { OperationTypeName } from "@nnhal/types";
import { type Example, type ExampleOperand, type ExampleSubgraph, subgraphsOf } from "./example.ts";

/** An example in one form. */
export interface VectorCase {
  /** The name of the example, with the form in brackets if it is a derived one. */
  readonly name: string;
  readonly example: Example;
  /** True if all extents of the main subgraph's outputs are 0 in the model. */
  readonly unspecifiedOutputs: boolean;
}

/**
 * Models with one of these operations have no form without output extents: a scalar output, or shapes found by a
 * subgraph.
 */
const notWithUnspecifiedOutputs: readonly OperationTypeName[] = ["RANK", "IF", "WHILE"];

/** Operations that do not read TENSOR_QUANT8_ASYMM as numbers with a zero point, or have no signed form. */
const notSigned: readonly OperationTypeName[] = [
  "HASHTABLE_LOOKUP",
  "LSH_PROJECTION",
  "PAD_V2",
  "CAST",
  "QUANTIZED_16BIT_LSTM",
];

/** The forms of an example: only the written one, or with `variants` the derived ones that make sense too. */
export function casesOf(example: Example, variants: boolean): readonly VectorCase[] {
  const written: VectorCase = { name: example.name, example, unspecifiedOutputs: false };
  if (!variants || example.expectFailure) return [written];
  const cases = [written];
  if (!example.main.operations.some(({ type }) => notWithUnspecifiedOutputs.includes(type))) {
    cases.push({ name: `${example.name} [unspecified outputs]`, example, unspecifiedOutputs: true });
  }
  if (hasSignedForm(example)) {
    cases.push({ name: `${example.name} [signed]`, example: toSigned(example), unspecifiedOutputs: false });
  }
  return cases;
}

/** Returns true if the signed form must have the same result. */
function hasSignedForm(example: Example): boolean {
  const operations = subgraphsOf(example).flatMap((subgraph) => subgraph.operations);
  return (
    example.main.operations.length === 1 &&
    !operations.some(({ type }) => notSigned.includes(type)) &&
    subgraphsOf(example).some(({ operands }) => operands.some(({ type }) => type === "TENSOR_QUANT8_ASYMM"))
  );
}

/** Converts every TENSOR_QUANT8_ASYMM operand to TENSOR_QUANT8_ASYMM_SIGNED with the same real values. */
export function toSigned(example: Example): Example {
  const signedSubgraph = (subgraph: ExampleSubgraph): ExampleSubgraph => ({
    ...subgraph,
    operands: subgraph.operands.map(signedOperand),
  });
  return { ...example, main: signedSubgraph(example.main), referenced: example.referenced.map(signedSubgraph) };
}

function signedOperand(operand: ExampleOperand): ExampleOperand {
  if (operand.type !== "TENSOR_QUANT8_ASYMM") return operand;
  return {
    ...operand,
    type: "TENSOR_QUANT8_ASYMM_SIGNED",
    zeroPoint: operand.zeroPoint - 128,
    // 128 less modulo 256 is the same byte with its upper bit flipped.
    data: operand.data?.map((byte) => byte ^ 0x80) ?? null,
  };
}
