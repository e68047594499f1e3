/**
 * The choice of what an operator becomes: a constant that the import computes, the HAL's operations by the operator's row, or the extension's
 * operation. Each candidate plans the operator in a draft of the graph, or says why it does not accept it. The draft of the first one that
 * accepts is kept; the others leave nothing.
 */
import { outcomeOf, quoted, TfliteError } from "../error.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import { ensureNoOtherBlocks } from "./blocks.ts";
import { bytesOfIntegers, bytesOfWide, integersOf } from "./bytes.ts";
import { folding } from "./folding.ts";
import { type Graph, tensorOf } from "./graph.ts";
import { type IntegerTensor, MOST_FOLDED } from "./integer-tensor.ts";
import type { Lowering } from "./lowering.ts";
import { packedRange } from "./packed-types.ts";
import { rowOf } from "./rows.ts";

/** Operators whose results may have less than 8 bits: those that convert to them, and some that move elements. */
const packing: ReadonlySet<string> = new Set([
  "QUANTIZE",
  "DENSIFY",
  "RESHAPE",
  "SQUEEZE",
  "EXPAND_DIMS",
  "SLICE",
  "STRIDED_SLICE",
  "GATHER",
  "TRANSPOSE",
  "CONCATENATION",
]);

/** Refuses an operator that computes elements of less than 8 bits, which are held in 8. */
function ensurePackedResults(op: Lowering): void {
  const { name, outputs } = op.operator;
  if (packing.has(name)) return;
  const packed = outputs.find((output) => packedRange(tensorOf(op.graph, output).type) !== undefined);
  op.ensure(
    packed === undefined,
    () =>
      `tensor ${packed} has elements of less than 8 bits, which only operators that quantise or move elements can write`,
  );
}

/** Makes the result of an operator on small integer constants a constant; false if it is not such an operator. */
function foldOperator(op: Lowering): boolean {
  const { name, inputs, outputs } = op.operator;
  if (inputs.length === 0 || outputs.length !== 1) return false;
  const output = op.outputIndex(0);
  const { type } = tensorOf(op.graph, output);
  if (!isInteger(type)) return false;
  const constants: IntegerTensor[] = [];
  for (const [place, tensor] of inputs.entries()) {
    if (tensor < 0) return false;
    const input = op.inputTensor(place);
    const bytes = isInteger(input.type) && !input.quantization ? op.graph.constantBytes(tensor) : undefined;
    if (bytes === undefined || bytes.length > 8 * MOST_FOLDED) return false;
    constants.push({ values: integersOf(input.type, bytes, op.graph.placeOf(tensor)), shape: input.shape });
  }
  const folded = folding().foldedValues({ name, inputs: constants, option: op.option });
  if (folded === undefined) return false;
  const { values, shape } = folded;
  op.graph.fold(output, type === "INT64" ? bytesOfWide(values) : bytesOfIntegers(values), shape);
  return true;
}

function isInteger(type: TensorTypeName): boolean {
  return type === "INT32" || type === "INT64";
}

type OperatorRow = NonNullable<ReturnType<typeof rowOf>>;

/** Candidates by what they make. */
type Kind = "constant" | "row" | "extension";

/** One way to import an operator. */
interface Candidate {
  readonly kind: Kind;
  /** Plans the operator, whose graph is a draft. False if it is none of this kind. Throws a TfliteError that says why it is refused. */
  plan(op: Lowering): boolean;
}

const constant: Candidate = { kind: "constant", plan: foldOperator };

/** The candidates for an operator, the best one first. */
function candidatesOf(op: Lowering): readonly Candidate[] {
  const row = rowOf(op.operator);
  if (row === undefined) return [constant, { kind: "extension", plan: (draft) => draft.emitBuiltin() }, unknown];
  const extension: Candidate = {
    kind: "extension",
    plan: (draft) => draft.emitBuiltin(row.derivedOptions?.(draft) ?? {}),
  };
  // An operation that was registered for a custom operator precedes a row for it.
  const isPreferred = row.prefersExtension?.(op) || op.operator.name === "CUSTOM";
  const own = isKnownVersion(op, row) ? [constant, ...formsOf(op, row)] : [refusedVersion(row)];
  if (isPreferred) return [extension, ...own];
  return readsIgnored(op) ? own : [...own, extension];
}

/** The forms of a row. */
function formsOf(op: Lowering, row: OperatorRow): Candidate[] {
  const forms = [...(row.betterForms?.(op) ?? []), row.lower];
  return forms.map((form) => ({
    kind: "row",
    plan(draft) {
      form(draft);
      return true;
    },
  }));
}

function isKnownVersion({ operator }: Lowering, { version }: OperatorRow): boolean {
  return operator.version <= version;
}

function refusedVersion({ version }: OperatorRow): Candidate {
  return {
    kind: "row",
    plan: (op) => op.fail(`version ${op.operator.version} is not supported, only 1 to ${version}`),
  };
}

/**
 * Imports an operator as the first candidate that accepts it. Throws a TfliteError if none does. `open`: opens the operator for lowering to
 * a graph.
 */
export function importOperator(graph: Graph, open: (graph: Graph) => Lowering): void {
  const op = open(graph);
  ensurePackedResults(op);
  ensureNoOtherBlocks(op);
  const refusals = new Map<Kind, TfliteError>();
  for (const { kind, plan } of candidatesOf(op)) {
    const { graph: draft, keep } = graph.draft();
    const outcome = outcomeOf(() => plan(open(draft)));
    if ("refused" in outcome) refusals.set(kind, outcome.refused);
    else if (outcome.result) {
      keep();
      return;
    }
  }
  throw refusalOf(op, refusals);
}

/** Why no candidate accepts an operator. */
function refusalOf(op: Lowering, refusals: ReadonlyMap<Kind, TfliteError>): TfliteError {
  const row = rowOf(op.operator);
  const [ofRow, ofExtension] = [refusals.get("row"), refusals.get("extension")];
  if (ofRow === undefined)
    throw new TypeError("an operator that no candidate accepts is refused by the last form of its row");
  if (ofExtension === undefined) return ofRow;
  // A row without operations only says what has the operator.
  const isOfExtension = op.operator.name === "CUSTOM" && row?.operations.length === 0;
  if (row === undefined || isOfExtension) return ofExtension;
  return readsIgnored(op) ? ofRow : bothOf(ofRow, ofExtension);
}

/** True if an input has no value since the operator's row ignores it: only its row may import the operator. */
function readsIgnored({ operator, graph, isRead }: Lowering): boolean {
  const { inputs } = graph.subgraph;
  return operator.inputs.some((tensor) => {
    const isGiven =
      tensor < 0 || inputs.includes(tensor) || graph.tensor(tensor)?.isVariable === true || isRead(tensor);
    return !isGiven && graph.constantBytes(tensor) === undefined;
  });
}

/** Why neither the HAL nor the extension has an operator. */
function bothOf(refused: TfliteError, extension: TfliteError): TfliteError {
  const [first, ...more] = refused.problems;
  const [other] = extension.problems;
  if (first === undefined || other === undefined) return refused;
  return new TfliteError([{ ...first, message: `${first.message}; ${other.message}` }, ...more], refused.problemCount);
}

/** Refuses an operator that nothing here has. */
const unknown: Candidate = {
  kind: "row",
  plan(op): never {
    const { name, customCode } = op.operator;
    const which = name === "CUSTOM" ? `the custom operator ${quoted(customCode ?? "")}` : `operator ${name}`;
    return op.fail(`the HAL has no counterpart of ${which}`, helpFor(name));
  },
};

/** Remedy for an operator that is not known. */
function helpFor(name: string): string | undefined {
  if (name === "CUSTOM")
    return "give an extension with an operation of its name: --extension, extensions of load, customOperators of importTflite";
  if (name.startsWith("STABLEHLO_")) return "convert the model to the operators of TensorFlow Lite, not to StableHLO";
  return undefined;
}
