/**
 * Lowers the subgraphs of a file: the main one and those that its operators run. A problem of one operator does not end the
 * import, so that the others are examined too.
 */
import { elementAt } from "@nnhal/operations";
import type { Subgraph } from "@nnhal/types";
import { ensure, quoted, TfliteError } from "../error.ts";
import type { TfliteModel, TfliteOperator, TfliteTensor } from "../model.ts";
import type { TensorTypeName } from "../schema/codes.ts";
import type { OptionValue } from "../schema/options.ts";
import { ensureNoOtherBlocks } from "./blocks.ts";
import { bytesOfIntegers, bytesOfWide, integersOf } from "./bytes.ts";
import type { Constants } from "./constants.ts";
import { createGraph } from "./create-graph.ts";
import type { Dialect } from "./dialect.ts";
import { folding } from "./folding.ts";
import { type Graph, MOST_NESTED, type StateOperands } from "./graph.ts";
import { type IntegerTensor, MOST_FOLDED } from "./integer-tensor.ts";
import { operatorWhere } from "./lowering/place.ts";
import { createLowering, type ImportedSubgraph, type Lowering, type Surroundings } from "./lowering.ts";
import { createMadeSubgraphs } from "./made-subgraphs.ts";
import { narrowTensors } from "./narrow.ts";
import { packedRange } from "./packed-types.ts";
import { createProblemList, type ProblemList } from "./problems.ts";
import { type OperatorReport, type Progress, reasonOf, reportsOf } from "./reports.ts";
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
  readonly referenced: readonly Subgraph[];
  /** One for each operator of the file. */
  reports(): readonly OperatorReport[];
}

/** Computes an operator whose inputs are small integer constants; false if it is not one of those. */
function fold(op: Lowering): boolean {
  const { name, inputs, outputs } = op.operator;
  if (inputs.length === 0 || outputs.length !== 1) return false;
  const output = op.outputIndex(0);
  const { type } = elementAt(op.graph.subgraph.tensors, output);
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
  if (readsIgnored(op)) throw refused;
  const problem = builtinProblem(op, graph, derived);
  if (problem === "none") throw refused;
  // A row without operations only says what has the operator.
  const isOfExtension = op.operator.name === "CUSTOM" && row?.operations.length === 0;
  if (problem !== undefined) throw isOfExtension ? problem : bothOf(refused, problem);
}

/** True if an input has no value since the operator's row ignores it: only its row may import the operator. */
function readsIgnored({ operator, graph, isRead }: Lowering): boolean {
  const { inputs, tensors } = graph.subgraph;
  return operator.inputs.some((tensor) => {
    const isGiven = tensor < 0 || inputs.includes(tensor) || tensors[tensor]?.isVariable === true || isRead(tensor);
    return !isGiven && graph.constantBytes(tensor) === undefined;
  });
}

/** Emits the extension's operation for an operator, or returns why it does not accept its tensors; "none": there is no such operation. */
function builtinProblem(
  op: Lowering,
  graph: Graph,
  derived: () => Readonly<Record<string, OptionValue>>,
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
    op.fail(`the HAL has no counterpart of ${which}`, helpFor(name));
  }
  op.ensure(version <= row.version, () => `version ${version} is not supported, only 1 to ${row.version}`);
  row.lower(op);
}

/** Remedy for an operator that is not known. */
function helpFor(name: string): string | undefined {
  if (name === "CUSTOM")
    return "give an extension with an operation of its name: --extension, extensions of load, customOperators of importTflite";
  if (name.startsWith("STABLEHLO_")) return "convert the model to the operators of TensorFlow Lite, not to StableHLO";
  return undefined;
}

/** Operators whose result TensorFlow Lite gives the type of their second input, whatever the file stores. */
const arithmetic: ReadonlySet<string> = new Set(["ADD", "SUB", "MUL", "DIV", "SQUARED_DIFFERENCE"]);

const arithmeticTypes: ReadonlySet<TensorTypeName> = new Set(["FLOAT32", "INT32", "INT16", "INT8", "UINT8"]);

function settleType({ subgraph: { tensors }, setType }: Graph, { name, inputs, outputs }: TfliteOperator): void {
  const [input, output] = [tensors[inputs[1] ?? -1], outputs[0]];
  if (!arithmetic.has(name) || input === undefined || output === undefined) return;
  if (arithmeticTypes.has(input.type) && tensors[output]?.type !== input.type) setType(output, input.type);
}

/** Gives an input the shape of what it gets. */
function adoptShape(graph: Graph, tensor: number, shape: Varying): void {
  const declared = graph.declared(tensor);
  const isString = graph.subgraph.tensors[tensor]?.type === "STRING";
  const adopted = withDeclared(isString ? shape.slice(0, -1) : shape, declared);
  if (adopted.join() !== graph.dimensions(tensor).join()) graph.setShape(tensor, adopted);
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
  const referenced: Subgraph[] = [];
  /** By procedure and shapes of its inputs. */
  const imported = new Map<string, ImportedSubgraph | TfliteError>();
  const open = new Set<Procedure>();
  let attempts = 0;
  /** By subgraph of the file; several subgraphs can be made from one. */
  const progress = new Map<number, Progress[]>();
  const { main } = program;
  const { procedures, addSubgraph } = createMadeSubgraphs(program.procedures);

  /** Returns a function that takes back everything that was made since. */
  function mark(): () => void {
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
    path: string,
    given: readonly Varying[],
    work: (given: readonly Varying[]) => readonly Varying[],
  ): void {
    for (let shapes = given; ; attempts++) {
      const most = () => `values change their shapes in loops that are nested too deep: ${MOST_ATTEMPTS} attempts`;
      ensure(attempts <= MOST_ATTEMPTS, path, most);
      const forget = mark();
      const next = work(shapes);
      if (JSON.stringify(next) === JSON.stringify(shapes)) return;
      forget();
      shapes = next;
    }
  }

  /**
   * `given`: the shapes of what its inputs get; by default those that the file says. `trusts`: whether a shape that the file stores makes
   * the operators that compute it superfluous; if a stored shape turns out to be wrong, none does.
   */
  function importSubgraph(
    procedure: Procedure,
    depth: number,
    isMain: boolean,
    given?: readonly Varying[],
    trusts = true,
  ): Finished {
    const forget = mark();
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

    const shapes = shapesOf(subgraph, options);
    const hasChosen = options.chosen.size > 0;
    const hasExtension = dialect.typeOf("INT64") !== undefined;
    // Subgraphs may return values of other shapes than the file stores.
    const isCaller = subgraph.operators.some(({ name }) => callers.has(name));
    const unknown = (tensor: TfliteTensor) => (isUnranked(tensor) ? [-1] : tensor.shape.map(() => -1));
    const stored = (tensor: TfliteTensor) => (isUnranked(tensor) ? [-1] : openShape(tensor));
    const isOther = hasChosen || (hasExtension && (isCaller || given !== undefined || !trusts));
    const trusted = isOther ? subgraph.tensors.map(unknown) : hasExtension ? subgraph.tensors.map(stored) : shapes;
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
      infersShapes: options.dynamicShapes !== true,
      checksShapes: hasChosen,
      storedSubgraph: (place) => model.subgraphs[place],
      addSubgraph,
      importSubgraphs: (others, inputs) => importReferenced(others, inputs, depth + 1, path),
      settleShapes: (inputs, work) => settleShapes(path, inputs, work),
    };
    for (const [place, tensor] of subgraph.inputs.entries()) {
      const shape = given?.[place];
      if (shape !== undefined) attempt(() => adoptShape(graph, tensor, shape));
      const chosen = isMain ? options.chosen.get(place) : undefined;
      if (chosen !== undefined && chosen.join() !== graph.dimensions(tensor).join()) graph.setShape(tensor, chosen);
    }
    for (const input of subgraph.inputs) attempt(() => graph.operand(input));
    for (const each of order) {
      if (blocked.has(originOf(each))) continue;
      const operator = elementAt(subgraph.operators, each);
      // Without the extension stored shapes are kept: operations of the HAL seldom take shapes that are computed.
      const isComputed =
        hasExtension && shapeInputs(operator).some((input) => graph.constantBytes(input) === undefined);
      settleType(graph, operator);
      for (const tensor of operator.outputs) graph.loosen(tensor, operator.inputs, isComputed);
      const computed = rowOf(operator)?.asComputed?.(operator) ?? operator;
      attempt(() => lower(createLowering(graph, computed, originOf(each), surroundings), graph), each);
      if (hasExtension && !isOther && graph.isContradicted()) {
        forget();
        return importSubgraph(procedure, depth, isMain, given, false);
      }
    }
    own.throwIfAny();
    const done = graph.finish();
    return { ...done, graph, results: subgraph.outputs.map(graph.varying) };
  }

  function importOther(index: number, inputs: readonly Varying[], depth: number, path: string): ImportedSubgraph {
    const procedure = procedures[index];
    const key = `${index} ${JSON.stringify(inputs)}`;
    const known = imported.get(key);
    ensure(
      procedure !== undefined && procedure.index !== main.index,
      path,
      () => `there is no subgraph ${index} that an operator may run`,
    );
    ensure(!open.has(procedure), path, () => `subgraph ${procedure.index} runs itself`);
    if (known instanceof TfliteError) throw known;
    if (known !== undefined) return known;
    open.add(procedure);
    try {
      // Another number of values is refused by the operator.
      const isFitting = inputs.length === procedure.subgraph.inputs.length;
      const { subgraph, results } = importSubgraph(procedure, depth, false, isFitting ? inputs : undefined);
      referenced.push(subgraph);
      const done = { place: referenced.length - 1, subgraph, results };
      imported.set(key, done);
      return done;
    } catch (error) {
      if (error instanceof TfliteError) imported.set(key, error);
      throw error;
    } finally {
      open.delete(procedure);
    }
  }

  /** Imports all of them before the problems of any are thrown. */
  function importReferenced(
    indexes: readonly number[],
    inputs: readonly Varying[],
    depth: number,
    path: string,
  ): ImportedSubgraph[] {
    const together = createProblemList();
    const done = indexes.flatMap((index) => together.attempt(() => importOther(index, inputs, depth, path)) ?? []);
    together.throwIfAny();
    return done;
  }

  return {
    referenced,
    importMain() {
      let finished: Finished | undefined;
      // The size of a variable may change from one execution to the next.
      settleShapes(`subgraphs[${main.index}]`, [], (given) => {
        const known: Varying[] = [...given];
        finished = importSubgraph(main, 1, true, given.length > 0 ? given : undefined);
        const { graph, results } = finished;
        for (const { input, output } of program.cells) {
          if (output === undefined) continue;
          const before = graph.varying(elementAt(graph.subgraph.inputs, input));
          const after = elementAt(results, output);
          const either = before.length === after.length ? eitherShape(before, after) : before;
          if (either.some((extent, i) => extent === VARIES && before[i] !== VARIES)) known[input] = either;
        }
        return known;
      });
      if (finished === undefined) throw new TypeError("the main subgraph is imported at least once");
      return finished;
    },
    reports: () => model.subgraphs.flatMap((subgraph, index) => reportsOf(subgraph, index, progress.get(index) ?? [])),
  };
}
