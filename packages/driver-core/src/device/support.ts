/**
 * Which operations of a model a backend takes. An IF or WHILE is taken only if every operation of every subgraph that it
 * reaches is.
 */
import { type BackendSession, type GraphSource, type OperandView, viewOperands, viewOperation } from "@nnhal/backend";
import { OperandLifeTime, type Subgraph } from "@nnhal/types";

/** For each operation of the main subgraph why it is not supported; undefined where it is. */
export function supportOf(source: GraphSource, session: BackendSession): (string | undefined)[] {
  const { main, referenced } = source.model;
  const known = new Map<number, string | undefined>();
  /** Why a referenced subgraph is not supported. Validation has made sure that references do not form a cycle. */
  const subgraphReason = (index: number): string | undefined => {
    if (!known.has(index))
      known.set(
        index,
        reasonsIn(referenced[index]).find((reason) => reason !== undefined),
      );
    return known.get(index);
  };
  const reasonsIn = (subgraph: Subgraph): (string | undefined)[] => {
    const operands = viewOperands(subgraph, source);
    return subgraph.operations.map((operation, index) => {
      const view = viewOperation(subgraph, index, operands, source);
      if ("unknown" in view) return view.unknown;
      const support = session.supports(view);
      if (!support.supported) return support.reason;
      for (const input of operation.inputs) {
        const reason = reasonThrough(operands[input], subgraphReason);
        if (reason !== undefined) return `${view.definition.name}: inside, ${reason}`;
      }
      return undefined;
    });
  };
  return reasonsIn(main);
}

function reasonThrough(
  operand: OperandView | undefined,
  subgraphReason: (index: number) => string | undefined,
): string | undefined {
  if (operand?.lifetime !== OperandLifeTime.SUBGRAPH || operand.data === undefined) return undefined;
  return subgraphReason(operand.data[0]);
}
