/**
 * Which operations of a model a backend takes. An IF or WHILE is taken only if every operation of every subgraph that it
 * reaches is.
 */
import { type GraphSource, viewSubgraph } from "@nnhal/backend";
import type { Subgraph } from "@nnhal/types";
import { namedSubgraphs, subgraphsInnerFirst } from "../subgraph-order.ts";
import type { DeviceContext } from "./context.ts";
import type { GuardedSession } from "./guarded-session.ts";

/** Why a model cannot be prepared for the operations that it has; undefined where it can. */
export function whyUnsupported(source: GraphSource, { name, session }: DeviceContext): string | undefined {
  const reasons = supportOf(source, session).reasons.filter((reason) => reason !== undefined);
  return reasons.length === 0 ? undefined : `${name} does not support the model: ${reasons.join("; ")}`;
}

/** What a backend says of the operations of a main subgraph. */
export interface SubgraphSupport {
  /** Why an operation is not supported; undefined where it is. */
  readonly reasons: readonly (string | undefined)[];
  /** See `SupportedOperations`. */
  readonly launches: readonly number[];
}

/** What a backend says of the operations of the main subgraph. */
export function supportOf(source: GraphSource, session: Pick<GuardedSession, "supports">): SubgraphSupport {
  const { model } = source;
  /** Why a referenced subgraph is not supported, by its index; undefined where it is. */
  const known = new Map<number, string | undefined>();
  const supportIn = (subgraph: Subgraph): SubgraphSupport => {
    const { operations } = viewSubgraph(subgraph, source);
    const launches = operations.map(() => 1);
    const reasons = operations.map((view, index) => {
      if ("unknown" in view) return view.unknown;
      const support = session.supports(view);
      if (!support.supported) return support.reason;
      launches[index] = support.launches ?? 1;
      if (!view.definition.controlFlow) return undefined;
      const inside = namedSubgraphs(subgraph, index).map((named) => known.get(named));
      const reason = inside.find((one) => one !== undefined);
      return reason === undefined ? undefined : `${view.definition.name}: inside, ${reason}`;
    });
    return { reasons, launches };
  };
  for (const index of subgraphsInnerFirst(model)) {
    known.set(
      index,
      supportIn(model.referenced[index]).reasons.find((reason) => reason !== undefined),
    );
  }
  return supportIn(model.main);
}
