/**
 * The subgraphs of a model as places to break something: each rule on the main subgraph is one on every other too. Nothing
 * here changes a model: a changed copy shares with it whatever is the same.
 */
import { elementAt } from "@nnhal/operations";
import {
  type Model,
  type Operand,
  OperandLifeTime,
  type Operation,
  type OperationTypeName,
  operationTypeNames,
  type Subgraph,
} from "@nnhal/types";

/** A subgraph in its model. */
export interface Site {
  readonly model: Model;
  readonly subgraph: Subgraph;
  /** As names of mutants write it: `main` or `referenced 1`. */
  readonly at: string;
  /** Undefined: the main subgraph. */
  readonly referencedIndex: number | undefined;
  /** The model with another subgraph in this place. */
  with(changes: Partial<Subgraph>): Model;
}

/** The main subgraph, then the referenced ones. */
export function sitesOf(model: Model): Site[] {
  const { main, referenced } = model;
  return [
    {
      model,
      subgraph: main,
      at: "main",
      referencedIndex: undefined,
      with: (changes: Partial<Subgraph>) => ({ ...model, main: { ...main, ...changes } }),
    },
    ...referenced.map((subgraph, index) => ({
      model,
      subgraph,
      at: `referenced ${index}`,
      referencedIndex: index,
      with: (changes: Partial<Subgraph>) => ({
        ...model,
        referenced: referenced.with(index, { ...subgraph, ...changes }),
      }),
    })),
  ];
}

/** An operand of a subgraph. */
export interface OperandSite extends Site {
  readonly operand: Operand;
  readonly index: number;
  /** As names of mutants write it: `main operand 3`. */
  readonly label: string;
}

/** Every operand of every subgraph. */
export function* operandSites(model: Model): Generator<OperandSite> {
  for (const site of sitesOf(model)) {
    for (const [index, operand] of site.subgraph.operands.entries()) {
      yield { ...site, operand, index, label: `${site.at} operand ${index}` };
    }
  }
}

/** The model with some fields of the operand changed. */
export function withOperand({ subgraph, index, operand, ...site }: OperandSite, changes: Partial<Operand>): Model {
  return site.with({ operands: subgraph.operands.with(index, { ...operand, ...changes }) });
}

/** An operation of a subgraph. */
export interface OperationSite extends Site {
  readonly operation: Operation;
  readonly index: number;
  readonly label: string;
}

/** Every operation of every subgraph. */
export function* operationSites(model: Model): Generator<OperationSite> {
  for (const site of sitesOf(model)) {
    for (const [index, operation] of site.subgraph.operations.entries()) {
      yield { ...site, operation, index, label: `${site.at} operation ${index} (${operationName(operation)})` };
    }
  }
}

/** The subgraph's operations with some fields of one of them changed. */
export function operationsWith({ subgraph, index, operation }: OperationSite, changes: Partial<Operation>) {
  return subgraph.operations.with(index, { ...operation, ...changes });
}

/** The name of an operation; undefined for an extension's. */
export function operationNameOf({ type }: Operation): OperationTypeName | undefined {
  return operationTypeNames.get(type);
}

function operationName(operation: Operation): string {
  return operationNameOf(operation) ?? String(operation.type);
}

/** One use of an operand by an operation. */
export interface Use {
  readonly operation: Operation;
  readonly side: "inputs" | "outputs";
  readonly position: number;
}

/**
 * Returns all uses of an operand: by operations of its subgraph and, for an input or output of a referenced subgraph, by the IF
 * and WHILE operations that reference the subgraph.
 */
export function usesOf({ model, subgraph, referencedIndex, index }: OperandSite): Use[] {
  const uses = usesIn(subgraph, (operand) => operand === index);
  if (referencedIndex === undefined) return uses;
  const { inputIndexes, outputIndexes } = subgraph;
  if (!inputIndexes.includes(index) && !outputIndexes.includes(index)) return uses;
  const callers = [model.main, ...model.referenced].flatMap((caller) =>
    usesIn(caller, (operand) => {
      const { lifetime, location } = elementAt(caller.operands, operand);
      return lifetime === OperandLifeTime.SUBGRAPH && location.offset === referencedIndex;
    }),
  );
  return [...uses, ...callers];
}

function usesIn({ operations }: Subgraph, isWanted: (operand: number) => boolean): Use[] {
  return operations.flatMap((operation) =>
    (["inputs", "outputs"] as const).flatMap((side) =>
      operation[side].flatMap((operand, position) => (isWanted(operand) ? [{ operation, side, position }] : [])),
    ),
  );
}

/** Returns operands with the numbers of consumers of some of them changed by one. */
export function withConsumers(operands: readonly Operand[], indexes: readonly number[], change: 1 | -1): Operand[] {
  const changed = [...operands];
  for (const index of indexes) {
    changed[index] = {
      ...elementAt(changed, index),
      numberOfConsumers: elementAt(changed, index).numberOfConsumers + change,
    };
  }
  return changed;
}

/** Returns true if an operation must write the operand. */
export function isWritten({ lifetime }: Operand): boolean {
  return lifetime === OperandLifeTime.TEMPORARY_VARIABLE || lifetime === OperandLifeTime.SUBGRAPH_OUTPUT;
}

/** Returns true if the operand has a value in the model. */
export function isConstant({ lifetime }: Operand): boolean {
  return lifetime === OperandLifeTime.CONSTANT_COPY || lifetime === OperandLifeTime.CONSTANT_REFERENCE;
}

/** The list without one place. */
export function without<Item>(list: readonly Item[], position: number): Item[] {
  return list.toSpliced(position, 1);
}

/** Where values lie that are nowhere. */
export const nowhere = { poolIndex: 0, offset: 0, length: 0 } as const;

/** The operand as one that an operation hands another, and that nothing reads. */
export function temporaryLike(operand: Operand): Operand {
  return { ...operand, lifetime: OperandLifeTime.TEMPORARY_VARIABLE, location: nowhere, numberOfConsumers: 0 };
}
