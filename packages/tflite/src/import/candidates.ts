/**
 * The choice of what an operator becomes: a constant that the import computes, the HAL's operations by the operator's row, or the extension's
 * operation. Each candidate plans the operator in a draft of the graph, or says why it does not accept it. The draft of the first one that
 * accepts is kept; the others leave nothing.
 */
import { outcomeOf, TfliteError } from "../error.ts";
import { expanding } from "./expanding.ts";
import { folding } from "./folding.ts";
import type { Graph } from "./graph.ts";
import type { Lowering } from "./lowering.ts";
import { packings } from "./packed-types.ts";
import { rareRows } from "./rare-rows.ts";
import { rowOf } from "./rows.ts";

type OperatorRow = NonNullable<ReturnType<typeof rowOf>>;

/** Candidates by what they make. */
type Kind = "constant" | "row" | "extension";

/** One way to import an operator. */
interface Candidate {
  readonly kind: Kind;
  /** Plans the operator, whose graph is a draft. False if it is none of this kind. Throws a TfliteError that says why it is refused. */
  plan(op: Lowering): boolean;
}

/** An operator that nothing here has. */
const unknown: Candidate = { kind: "row", plan: (op) => rareRows().refuseUnknown(op) };

const constant: Candidate = { kind: "constant", plan: (op) => isOfConstants(op) && folding().foldOperator(op) };

/** True if an operator computes integers, and all its inputs are constants of integers. */
function isOfConstants({ operator: { inputs, outputs }, graph }: Lowering): boolean {
  const isInteger = (tensor: number) => ["INT32", "INT64"].includes(graph.tensor(tensor)?.type ?? "");
  const isConstant = (tensor: number) => isInteger(tensor) && graph.constantBytes(tensor) !== undefined;
  return inputs.length > 0 && outputs.length === 1 && outputs.every(isInteger) && inputs.every(isConstant);
}

/** Refuses an operator with tensors of less than 8 bits, or quantised by blocks, that it does not take. */
function ensureRareTensors(op: Lowering): void {
  const { inputs, outputs } = op.operator;
  const isRare = (tensor: number) => {
    const found = op.graph.tensor(tensor);
    return found !== undefined && (found.blocks !== undefined || packings[found.type] !== undefined);
  };
  if ([...inputs, ...outputs].some(isRare)) expanding().ensureRareTensors(op);
}

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
  ensureRareTensors(op);
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
