/**
 * Lowers the subgraphs of a file: the main one and those that its operators run. A problem of one operator does not end the
 * import, so that the others are examined too.
 */
import { elementAt, type Operation } from "@nnhal/operations";
import type { Subgraph } from "@nnhal/types";
import { ensure, type ProblemOperator, problemText, quoted, TfliteError } from "../error.ts";
import type { TfliteModel, TfliteSubgraph } from "../model.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import { ensureNoOtherBlocks } from "./blocks.ts";
import { bytesOfIntegers, bytesOfWide, integersOf } from "./bytes.ts";
import type { Constants } from "./constants.ts";
import { createGraph } from "./create-graph.ts";
import type { Dialect } from "./dialect.ts";
import { folding } from "./folding.ts";
import { type Graph, MOST_NESTED, type StateOperands } from "./graph.ts";
import { type IntegerTensor, MOST_FOLDED } from "./integer-tensor.ts";
import { operatorWhere, problemOperator } from "./lowering/place.ts";
import { createLowering, type Lowering, type Surroundings } from "./lowering.ts";
import { narrowTensors } from "./narrow.ts";
import { packedRange } from "./packed-types.ts";
import { createProblemList, type ProblemList } from "./problems.ts";
import { rowOf } from "./rows.ts";
import { scheduleOperators } from "./schedule.ts";
import { shapeInputs } from "./shape-inputs.ts";
import { hasOpenShapes, openShape, type ShapeOptions, shapesOf } from "./shapes.ts";
import type { Procedure, Program } from "./state/procedure.ts";

/**
 * What becomes of an operator. `hal`: HAL operations. `extension`: operations of which at least one is of the extension. `constant`: a
 * constant, computed by the import. `state`: an input or output of the model, or the first value of one. `unused`: nothing, as no output
 * depends on it. `blocked`: it prevents the import.
 */
export type OperatorStatus = "hal" | "extension" | "constant" | "state" | "unused" | "blocked";

/** An operator of a file, and what becomes of it. */
export interface OperatorReport extends ProblemOperator {
  readonly status: OperatorStatus;
  /** The names of the operations that it becomes, in order; empty unless the status is `hal` or `extension`. */
  readonly operations: readonly string[];
  /** Why it is blocked. */
  readonly reason?: string;
}

/** A subgraph that was lowered. */
export interface Finished {
  readonly subgraph: Subgraph;
  readonly states: readonly StateOperands[];
  readonly graph: Graph;
}

/** The import of the subgraphs of one model. */
export interface Importer {
  /** Lowers the main subgraph. */
  importMain(): Finished;
  /** The other subgraphs that operators run, in the order in which they were finished. */
  readonly referenced: readonly Subgraph[];
  /** One for each operator of the file. */
  reports(): readonly OperatorReport[];
}

/** Computes an operator whose inputs are small integer constants; false if it is not one of those. */
function fold(op: Lowering): boolean {
  const { name, inputs, outputs } = op.operator;
  if (inputs.length === 0 || outputs.length !== 1) return false;
  const output = op.outputIndex(0);
  const { type, shape } = elementAt(op.graph.subgraph.tensors, output);
  if (!isInteger(type) || shape.includes(0) || op.graph.dimensions(output).includes(0)) return false;
  const constants: IntegerTensor[] = [];
  for (const [place, tensor] of inputs.entries()) {
    if (tensor < 0) return false;
    const input = op.inputTensor(place);
    const bytes = isInteger(input.type) && !input.quantization ? op.graph.constantBytes(tensor) : undefined;
    if (bytes === undefined || bytes.length > 8 * MOST_FOLDED) return false;
    constants.push({ values: integersOf(input.type, bytes, op.graph.tensorPath(tensor)), shape: input.shape });
  }
  const values = folding().foldedValues({ name, inputs: constants, shape, option: op.option });
  if (values === undefined) return false;
  op.graph.fold(output, type === "INT64" ? bytesOfWide(values) : bytesOfIntegers(values));
  return true;
}

function isInteger(type: TensorTypeName): boolean {
  return type === "INT32" || type === "INT64";
}

/** Operators whose results may have less than 8 bits: those that convert to them, and some that move elements. */
const packing: ReadonlySet<string> = new Set([
  ...[
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
  ],
]);

/** Refuses an operator that computes elements of less than 8 bits, which are held in 8. */
function ensurePackedResults(op: Lowering): void {
  const { name, outputs } = op.operator;
  if (packing.has(name)) return;
  const packed = outputs.find((output) => packedRange(elementAt(op.graph.subgraph.tensors, output).type) !== undefined);
  op.ensure(
    packed === undefined,
    () =>
      `tensor ${packed} has elements of less than 8 bits, which only operators that quantise or move elements can write`,
  );
}

/** Lowers an operator by its row, or if that is not possible to the extension's operation of its name. */
function lower(op: Lowering, graph: Graph): void {
  ensurePackedResults(op);
  ensureNoOtherBlocks(op);
  const row = rowOf(op.operator);
  if (row === undefined && (fold(op) || op.emitBuiltin())) return;
  // An operation that was registered for a custom operator precedes a row for it.
  const isPreferred = row?.prefersExtension?.(op) || op.operator.name === "CUSTOM";
  const derived = () => row?.derivedOptions?.(op) ?? {};
  if (isPreferred && builtinProblem(op, graph, derived) === undefined) return;
  let refused: TfliteError;
  try {
    graph.undoIfThrown(() => lowerByRow(op));
    return;
  } catch (error) {
    if (!(error instanceof TfliteError)) throw error;
    refused = error;
  }
  const problem = builtinProblem(op, graph, derived);
  if (problem === "none") throw refused;
  if (problem !== undefined) throw bothOf(refused, problem);
}

/** Emits the extension's operation for an operator, or returns why it does not accept its tensors; "none": there is no such operation. */
function builtinProblem(
  op: Lowering,
  graph: Graph,
  derived: () => Readonly<Record<string, number>>,
): TfliteError | "none" | undefined {
  let isDone = false;
  try {
    graph.undoIfThrown(() => {
      isDone = op.emitBuiltin(derived());
    });
  } catch (error) {
    if (error instanceof TfliteError) return error;
    throw error;
  }
  return isDone ? undefined : "none";
}

/** Why neither the HAL nor the extension has an operator. */
function bothOf(refused: TfliteError, extension: TfliteError): TfliteError {
  const [first, ...more] = refused.problems;
  const [other] = extension.problems;
  if (first === undefined || other === undefined) return refused;
  return new TfliteError([{ ...first, message: `${first.message}; ${other.message}` }, ...more], refused.problemCount);
}

function lowerByRow(op: Lowering): void {
  const { name, version, customCode } = op.operator;
  const row = rowOf(op.operator);
  if ((row === undefined || version <= row.version) && fold(op)) return;
  if (row === undefined) {
    const which = name === "CUSTOM" ? `the custom operator ${quoted(customCode ?? "")}` : `operator ${name}`;
    const help = "import it with customOperators: an extension with an operation of its name";
    op.fail(`the HAL has no counterpart of ${which}`, name === "CUSTOM" ? help : undefined);
  }
  op.ensure(version <= row.version, () => `version ${version} is not supported, only 1 to ${row.version}`);
  row.lower(op);
}

/** What has become of the operators of a subgraph. */
interface Progress {
  readonly graph: Graph;
  /** The operators that are used; places are those in the file. */
  readonly used: ReadonlySet<number>;
  /** Why operators are blocked, by their place in the file. */
  readonly blocked: ReadonlyMap<number, string>;
  readonly carried: ReadonlySet<number>;
}

/** Starts the import of a model. */
export function createImporter(
  model: TfliteModel,
  program: Program,
  constants: Constants,
  options: ShapeOptions,
  dialect: Dialect,
  problems: ProblemList,
): Importer {
  const referenced: Subgraph[] = [];
  const imported = new Map<number, { readonly place: number; readonly subgraph: Subgraph } | TfliteError | "open">();
  /** By subgraph of the file; several subgraphs can be made from one. */
  const progress = new Map<number, Progress[]>();
  const { main, procedures } = program;

  function importSubgraph(procedure: Procedure, depth: number, isMain: boolean): Finished {
    const { subgraph, index, origins } = procedure;
    const originOf = (operator: number) => origins?.[operator] ?? operator;
    const path = `subgraphs[${index}]`;
    ensure(depth <= MOST_NESTED, path, () => `subgraphs name each other more than ${MOST_NESTED} deep`);
    // The problems of this subgraph and of those that its operators run; all of them are recorded for the model as well.
    const own = createProblemList();
    const blocked = new Map<number, string>();
    const place = { path, index };

    function attempt(work: () => void, operator?: number): boolean {
      try {
        work();
        return true;
      } catch (error) {
        if (!(error instanceof TfliteError)) throw error;
        const at =
          operator === undefined
            ? undefined
            : () => operatorWhere(place, elementAt(subgraph.operators, operator), originOf(operator));
        own.add(error, at);
        const problem = problems.add(error, at);
        if (operator !== undefined && problem !== undefined) {
          blocked.set(originOf(operator), reasonOf(problem, place, originOf(operator)));
        }
        return false;
      }
    }

    const shapes = shapesOf(subgraph, options, isMain);
    const hasExtension = dialect.typeOf("INT64") !== undefined;
    const trusted = hasExtension ? subgraph.tensors.map(openShape) : shapes;
    const { order, read } = scheduleOperators(subgraph, trusted, { ...place, originOf }, { attempt });
    const narrow = hasExtension ? new Set<number>() : narrowTensors(subgraph, order);
    const returnsStates = procedure.returnsStates === true;
    const graph = createGraph(subgraph, shapes, constants, { index, narrow, dialect, returnsStates });
    const known = progress.get(index) ?? [];
    const carried = procedure.carried ?? new Set<number>();
    progress.set(index, [...known, { graph, used: new Set(order.map(originOf)), blocked, carried }]);
    const surroundings: Surroundings = {
      dialect,
      isRead: (tensor) => read.has(tensor),
      infersShapes: !hasOpenShapes(options),
      importSubgraphs: (others) => importReferenced(others, depth + 1, path),
    };
    for (const input of subgraph.inputs) attempt(() => graph.operand(input));
    for (const each of order) {
      if (blocked.has(originOf(each))) continue;
      const operator = elementAt(subgraph.operators, each);
      // Without the extension stored shapes are kept: operations of the HAL seldom take shapes that are computed.
      const isComputed =
        hasExtension && shapeInputs(operator).some((input) => graph.constantBytes(input) === undefined);
      for (const tensor of operator.outputs) graph.loosen(tensor, isComputed ? undefined : operator.inputs);
      attempt(() => lower(createLowering(graph, operator, originOf(each), surroundings), graph), each);
    }
    own.throwIfAny();
    return { ...graph.finish(), graph };
  }

  function importOther(index: number, depth: number, path: string): { place: number; subgraph: Subgraph } {
    const procedure = procedures[index];
    const known = imported.get(index);
    ensure(
      procedure !== undefined && procedure.index !== main.index,
      path,
      () => `there is no subgraph ${index} that an operator may run`,
    );
    ensure(known !== "open", path, () => `subgraph ${procedure.index} runs itself`);
    if (known instanceof TfliteError) throw known;
    if (known !== undefined) return known;
    imported.set(index, "open");
    try {
      const finished = importSubgraph(procedure, depth, false);
      referenced.push(finished.subgraph);
      const done = { place: referenced.length - 1, subgraph: finished.subgraph };
      imported.set(index, done);
      return done;
    } catch (error) {
      if (error instanceof TfliteError) imported.set(index, error);
      throw error;
    }
  }

  /** Imports all of them before the problems of any are thrown. */
  function importReferenced(indexes: readonly number[], depth: number, path: string) {
    const together = createProblemList();
    const done = indexes.flatMap((index) => together.attempt(() => importOther(index, depth, path)) ?? []);
    together.throwIfAny();
    return done;
  }

  return {
    referenced,
    importMain: () => importSubgraph(main, 1, true),
    reports: () => model.subgraphs.flatMap((subgraph, index) => reportsOf(subgraph, index, progress.get(index) ?? [])),
  };
}

/** Why an operator is blocked: its own problem, or that of a subgraph that it runs. */
function reasonOf(
  problem: ReturnType<ProblemList["add"]> & object,
  place: { readonly index: number },
  operator: number,
): string {
  const { operator: at, message } = problem;
  const isOwn = at?.subgraph === place.index && at.index === operator;
  return isOwn ? message : `runs a subgraph that cannot be imported: ${problemText(problem)}`;
}

function reportsOf(subgraph: TfliteSubgraph, index: number, progress: readonly Progress[]): OperatorReport[] {
  const operations = new Map<number, Operation[]>();
  for (const { operation, origin } of progress.flatMap(({ graph }) => graph.emitted)) {
    const list = operations.get(origin);
    if (list === undefined) operations.set(origin, [operation]);
    else list.push(operation);
  }
  return subgraph.operators.map((operator, place): OperatorReport => {
    const facts = problemOperator(operator, place, index);
    const reason = progress.flatMap(({ blocked }) => blocked.get(place) ?? [])[0];
    if (reason !== undefined) return { ...facts, status: "blocked", operations: [], reason };
    const made = operations.get(place) ?? [];
    if (made.length === 0 && progress.some(({ carried }) => carried.has(place))) {
      return { ...facts, status: "state", operations: [] };
    }
    if (!progress.some(({ used }) => used.has(place))) return { ...facts, status: "unused", operations: [] };
    const isExtended = made.some(({ extension }) => extension !== undefined);
    const status = made.length === 0 ? "constant" : isExtended ? "extension" : "hal";
    return { ...facts, status, operations: made.map(({ name }) => name) };
  });
}
