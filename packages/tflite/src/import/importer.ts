/**
 * Lowers the subgraphs of a file: the main one and those that its operators run. A problem of one operator does not end the
 * import, so that the others are examined too.
 */
import { elementAt } from "@nnhal/operations";
import type { Subgraph } from "@nnhal/types";
import { ensure, type Outcome, outcomeOf } from "../error.ts";
import type { TfliteModel, TfliteOperator, TfliteTensor } from "../model.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import { importOperator } from "./candidates.ts";
import { type Checks, createChecks } from "./checks.ts";
import type { Constants } from "./constants.ts";
import type { Dialect } from "./dialect.ts";
import { createGraph } from "./graph/create-graph.ts";
import { type Graph, MOST_NESTED, type StateOperands } from "./graph.ts";
import { createLowering, type ImportedSubgraph, type Surroundings } from "./lowering.ts";
import { createMadeSubgraphs } from "./made-subgraphs.ts";
import { narrowTensors } from "./narrow.ts";
import { createProblemList, type ProblemList } from "./problems.ts";
import { type OperatorReport, type Progress, reportsOf } from "./reports.ts";
import { rowOf } from "./rows.ts";
import { scheduleOperators } from "./schedule.ts";
import { shapeInputs } from "./shape-inputs.ts";
import { type ChosenShapes, isUnranked, openShape, type ShapeOptions, shapesOf } from "./shapes.ts";
import type { Procedure, Program } from "./state/procedure.ts";
import { eitherShape, VARIES, type Varying, withDeclared } from "./varying.ts";

/** A subgraph that was lowered. */
export interface Finished {
  readonly subgraph: Subgraph;
  readonly states: readonly StateOperands[];
  readonly graph: Graph;
  /** The shapes of its outputs. */
  readonly results: readonly Varying[];
}

/** The import of the subgraphs of one model. */
export interface Importer {
  /** Lowers the main subgraph. */
  importMain(): Finished;
  /** The other subgraphs that operators run, in the order in which they were finished. */
  readonly referenced: readonly Finished[];
  /** One for each operator of the file. */
  reports(): readonly OperatorReport[];
}

/** Operators that run other subgraphs. */
const callers: ReadonlySet<string> = new Set([
  "IF",
  "WHILE",
  "CALL",
  "CALL_ONCE",
  "STABLEHLO_COMPOSITE",
  "STABLEHLO_CASE",
]);

/** Greatest number of times that subgraphs are imported again for other shapes; a file that needs more is made to exhaust time. */
const MOST_ATTEMPTS = 2 ** 8;

/** Operators whose result TensorFlow Lite gives the type of their second input, whatever the file stores. */
const arithmetic: ReadonlySet<string> = new Set(["ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE"]);

const arithmeticTypes: ReadonlySet<TensorTypeName> = new Set(["FLOAT32", "INT32", "INT16", "INT8", "UINT8"]);

function settleType({ tensor, setType }: Graph, { name, inputs, outputs }: TfliteOperator): void {
  const [input, output] = [tensor(inputs[1] ?? -1), outputs[0]];
  if (!arithmetic.has(name) || input === undefined || output === undefined) return;
  if (arithmeticTypes.has(input.type) && tensor(output)?.type !== input.type) setType(output, input.type);
}

/** Gives an input the shape of what it gets. */
function adoptShape(graph: Graph, tensor: number, shape: Varying): void {
  const declared = graph.readDeclared(tensor);
  const isString = graph.tensor(tensor)?.type === "STRING";
  const adopted = withDeclared(isString ? shape.slice(0, -1) : shape, declared);
  if (adopted.join() !== graph.dimensions(tensor).join()) graph.setShape(tensor, adopted);
}

/** An import, and what it has made so far. */
interface ImportWork {
  readonly model: TfliteModel;
  readonly program: Program;
  readonly constants: Constants;
  readonly options: ShapeOptions & { readonly chosen: ChosenShapes };
  readonly dialect: Dialect;
  readonly problems: ProblemList;
  /** Those of the program, and those that were made for operators. */
  readonly procedures: readonly Procedure[];
  readonly addSubgraph: Surroundings["addSubgraph"];
  readonly referenced: Finished[];
  /** By procedure and shapes of its inputs. */
  readonly imported: Map<string, Outcome<ImportedSubgraph>>;
  /** Procedures that are being imported. */
  readonly open: Set<Procedure>;
  /** By subgraph of the file; several subgraphs can be made from one. */
  readonly progress: Map<number, Progress[]>;
  /** Number of times that subgraphs were imported again for other shapes. */
  attempts: number;
}

/** A procedure to import. */
interface Request {
  readonly procedure: Procedure;
  readonly depth: number;
  readonly isMain: boolean;
  /** The shapes of what its inputs get; by default those that the file says. */
  readonly given?: readonly Varying[] | undefined;
  /**
   * True if a shape that the file stores makes the operators that compute it superfluous; if a stored shape turns out to be wrong, none
   * does.
   */
  readonly trusts: boolean;
}

/** The import of one procedure. */
interface Lowered {
  readonly request: Request;
  readonly graph: Graph;
  readonly surroundings: Surroundings;
  /** The operators to import, in order. */
  readonly order: readonly number[];
  readonly checks: Checks;
  /** True if no stored shape is trusted. */
  readonly isOther: boolean;
}

/** Starts the import of a model. */
export function createImporter(
  model: TfliteModel,
  program: Program,
  constants: Constants,
  options: ShapeOptions & { readonly chosen: ChosenShapes },
  dialect: Dialect,
  problems: ProblemList,
): Importer {
  const work: ImportWork = {
    ...{ model, program, constants, options, dialect, problems },
    ...createMadeSubgraphs(program.procedures),
    referenced: [],
    imported: new Map(),
    open: new Set(),
    progress: new Map(),
    attempts: 0,
  };
  return {
    referenced: work.referenced,
    importMain: () => importMain(work),
    reports: () =>
      model.subgraphs.flatMap((subgraph, index) => reportsOf(subgraph, index, work.progress.get(index) ?? [])),
  };
}

/** Returns a function that takes back everything that was made since. */
function mark({ constants, referenced, imported, progress }: ImportWork): () => void {
  const forgetConstants = constants.mark();
  const [count, known, reported] = [referenced.length, new Set(imported.keys()), new Map(progress)];
  return () => {
    forgetConstants();
    referenced.length = count;
    for (const key of imported.keys()) if (!known.has(key)) imported.delete(key);
    progress.clear();
    for (const [index, each] of reported) progress.set(index, each);
  };
}

function settleShapes(
  work: ImportWork,
  path: string,
  given: readonly Varying[],
  importWith: (given: readonly Varying[]) => readonly Varying[],
): void {
  for (let shapes = given; ; work.attempts++) {
    const most = () => `values change their shapes in loops that are nested too deep: ${MOST_ATTEMPTS} attempts`;
    ensure(work.attempts <= MOST_ATTEMPTS, path, most);
    const forget = mark(work);
    const next = importWith(shapes);
    if (JSON.stringify(next) === JSON.stringify(shapes)) return;
    forget();
    shapes = next;
  }
}

/** Imports the main subgraph. */
function importMain(work: ImportWork): Finished {
  const { main, cells } = work.program;
  let finished: Finished | undefined;
  // The size of a variable may change from one execution to the next.
  settleShapes(work, `subgraphs[${main.index}]`, [], (given) => {
    const known: Varying[] = [...given];
    const request = { procedure: main, depth: 1, isMain: true, trusts: true };
    finished = importSubgraph(work, given.length > 0 ? { ...request, given } : request);
    const { graph, results } = finished;
    for (const { input, output } of cells) {
      if (output === undefined) continue;
      const before = graph.findVarying(elementAt(graph.subgraph.inputs, input));
      const after = elementAt(results, output);
      const either = before.length === after.length ? eitherShape(before, after) : before;
      if (either.some((extent, i) => extent === VARIES && before[i] !== VARIES)) known[input] = either;
    }
    return known;
  });
  if (finished === undefined) throw new TypeError("the main subgraph is imported at least once");
  return finished;
}

/** Imports a procedure; again without trust in stored shapes if one of them turns out to be wrong. */
function importSubgraph(work: ImportWork, request: Request): Finished {
  const forget = mark(work);
  const lowered = openSubgraph(work, request);
  lowerInputs(work, lowered);
  if (!lowerOperators(work, lowered)) {
    forget();
    return importSubgraph(work, { ...request, trusts: false });
  }
  const { graph, checks } = lowered;
  checks.throwIfAny();
  return { ...graph.finish(), graph, results: graph.subgraph.outputs.map(graph.findVarying) };
}

/** The place in the file of an operator of a procedure. */
function originOf({ origins }: Procedure, operator: number): number {
  return origins?.[operator] ?? operator;
}

/** Starts the graph of a procedure. */
function openSubgraph(work: ImportWork, request: Request): Lowered {
  const { options, dialect, constants, progress } = work;
  const { procedure, depth } = request;
  const { subgraph, index } = procedure;
  const path = `subgraphs[${index}]`;
  ensure(depth <= MOST_NESTED, path, () => `subgraphs name each other more than ${MOST_NESTED} deep`);
  const fileIndex = (operator: number) => originOf(procedure, operator);
  const checks = createChecks(work.problems, procedure, fileIndex);
  const shapes = shapesOf(subgraph, options);
  const { isOther, trusted } = trustedShapes(work, request, shapes);
  const { order, read } = scheduleOperators(subgraph, trusted, { path, index, originOf: fileIndex }, checks);
  const narrow = hasExtension(work) ? new Set<number>() : narrowTensors(subgraph, order);
  const returnsStates = procedure.returnsStates === true;
  const graph = createGraph(subgraph, shapes, constants, { index, narrow, dialect, returnsStates });
  const { carried = new Set<number>() } = procedure;
  const begun: Progress = { graph, used: new Set(order.map(fileIndex)), blocked: checks.blocked, carried };
  progress.set(index, [...(progress.get(index) ?? []), begun]);
  return { request, graph, order, checks, isOther, surroundings: surroundingsOf(work, path, depth, read) };
}

function hasExtension({ dialect }: ImportWork): boolean {
  return dialect.typeOf("INT64") !== undefined;
}

/** The shapes that make operators superfluous, -1 where none does; `isOther`: no stored one is trusted. */
function trustedShapes(
  work: ImportWork,
  { procedure: { subgraph }, given, trusts }: Request,
  shapes: readonly (readonly number[])[],
): { readonly isOther: boolean; readonly trusted: readonly (readonly number[])[] } {
  // Subgraphs may return values of other shapes than the file stores.
  const isCaller = subgraph.operators.some(({ name }) => callers.has(name));
  const isOther = work.options.chosen.size > 0 || (hasExtension(work) && (isCaller || given !== undefined || !trusts));
  const unknown = (tensor: TfliteTensor) => (isUnranked(tensor) ? [-1] : tensor.shape.map(() => -1));
  const store = (tensor: TfliteTensor) => (isUnranked(tensor) ? [-1] : openShape(tensor));
  if (isOther) return { isOther, trusted: subgraph.tensors.map(unknown) };
  return { isOther, trusted: hasExtension(work) ? subgraph.tensors.map(store) : shapes };
}

function surroundingsOf(work: ImportWork, path: string, depth: number, read: ReadonlySet<number>): Surroundings {
  const { model, options, dialect, addSubgraph } = work;
  return {
    dialect,
    isRead: (tensor) => read.has(tensor),
    infersShapes: options.dynamicShapes !== true,
    checksShapes: options.chosen.size > 0,
    storedSubgraph: (place) => model.subgraphs[place],
    addSubgraph,
    importSubgraphs: (others, inputs) => importReferenced(work, others, inputs, depth + 1, path),
    settleShapes: (inputs, importWith) => settleShapes(work, path, inputs, importWith),
  };
}

/** Gives the inputs their shapes, and makes their operands. */
function lowerInputs({ options }: ImportWork, { request, graph, checks }: Lowered): void {
  const { inputs } = request.procedure.subgraph;
  for (const [place, tensor] of inputs.entries()) {
    const shape = request.given?.[place];
    if (shape !== undefined) checks.attempt(() => adoptShape(graph, tensor, shape));
    const chosen = request.isMain ? options.chosen.get(place) : undefined;
    if (chosen !== undefined && chosen.join() !== graph.dimensions(tensor).join()) graph.setShape(tensor, chosen);
  }
  for (const input of inputs) checks.attempt(() => graph.operand(input));
}

/** Imports the operators of a subgraph. False if a stored shape that was trusted turned out to be wrong. */
function lowerOperators(work: ImportWork, lowered: Lowered): boolean {
  const { request, graph, surroundings, order, checks, isOther } = lowered;
  const { procedure } = request;
  for (const each of order) {
    const origin = originOf(procedure, each);
    if (checks.blocked.has(origin)) continue;
    const operator = elementAt(procedure.subgraph.operators, each);
    // Without the extension stored shapes are kept: operations of the HAL seldom take shapes that are computed.
    const isComputed =
      hasExtension(work) && shapeInputs(operator).some((input) => graph.constantBytes(input) === undefined);
    settleType(graph, operator);
    for (const tensor of operator.outputs) graph.loosen(tensor, operator.inputs, isComputed);
    const computed = rowOf(operator)?.asComputed?.(operator) ?? operator;
    const open = (draft: Graph) => createLowering(draft, computed, origin, surroundings);
    checks.attempt(() => importOperator(graph, open), each);
    if (hasExtension(work) && !isOther && graph.isContradicted()) return false;
  }
  return true;
}

/** Imports a procedure that an operator runs, or returns it if it is imported for these inputs. */
function importOther(
  work: ImportWork,
  index: number,
  inputs: readonly Varying[],
  depth: number,
  path: string,
): ImportedSubgraph {
  const { procedures, program, open, imported } = work;
  const procedure = procedures[index];
  ensure(
    procedure !== undefined && procedure.index !== program.main.index,
    path,
    () => `there is no subgraph ${index} that an operator may run`,
  );
  ensure(!open.has(procedure), path, () => `subgraph ${procedure.index} runs itself`);
  const key = `${index} ${JSON.stringify(inputs)}`;
  let outcome = imported.get(key);
  if (outcome === undefined) {
    open.add(procedure);
    try {
      outcome = outcomeOf(() => importNew(work, procedure, inputs, depth));
    } finally {
      open.delete(procedure);
    }
    imported.set(key, outcome);
  }
  if ("refused" in outcome) throw outcome.refused;
  return outcome.result;
}

function importNew(
  work: ImportWork,
  procedure: Procedure,
  inputs: readonly Varying[],
  depth: number,
): ImportedSubgraph {
  // Another number of values is refused by the operator.
  const given = inputs.length === procedure.subgraph.inputs.length ? inputs : undefined;
  const finished = importSubgraph(work, { procedure, depth, isMain: false, given, trusts: true });
  const { subgraph, results } = finished;
  return { place: work.referenced.push(finished) - 1, subgraph, results };
}

/** Imports all of them before the problems of any are thrown. */
function importReferenced(
  work: ImportWork,
  indexes: readonly number[],
  inputs: readonly Varying[],
  depth: number,
  path: string,
): ImportedSubgraph[] {
  const together = createProblemList();
  const done = indexes.flatMap((index) => together.attempt(() => importOther(work, index, inputs, depth, path)) ?? []);
  together.throwIfAny();
  return done;
}
