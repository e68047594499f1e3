/**
 * Which operations of a model a backend supports. An IF or WHILE is supported only if every operation of every subgraph
 * that it reaches is supported.
 */
import { type GraphSource, type GraphView, viewReferenced, viewSubgraph } from "@nnhal/backend";
import { elementAt } from "@nnhal/operations";
import type { Model, Subgraph } from "@nnhal/types";
import type { GuardedSession } from "../engine/guarded-session.ts";
import { namedSubgraphs, subgraphsInnerFirst } from "../subgraph-order.ts";
import type { DeviceContext } from "./context.ts";

/** Why a model with unsupported operations cannot be prepared; undefined if all are supported. */
export function whyUnsupported(source: GraphSource, { name, session }: DeviceContext): string | undefined {
  const reasons = supportOf(source, session).reasons.filter((reason) => reason !== undefined);
  return reasons.length === 0 ? undefined : `${name} does not support the model: ${reasons.join("; ")}`;
}

/** A backend's support of the operations of a main subgraph. */
export interface SubgraphSupport {
  /** For each operation, why it is not supported; undefined if it is. */
  readonly reasons: readonly (string | undefined)[];
  /** See `SupportedOperations`. */
  readonly dispatches: readonly number[];
}

/** By backend, by model. Models are sealed, so that an answer never changes. */
const answered = new WeakMap<Pick<GuardedSession, "supports">, WeakMap<Model, SubgraphSupport>>();

/** A backend's support of the operations of the main subgraph. The backend is asked once for each sealed model. */
export function supportOf(source: GraphSource, session: Pick<GuardedSession, "supports">): SubgraphSupport {
  let ofSession = answered.get(session);
  if (ofSession === undefined) {
    ofSession = new WeakMap();
    answered.set(session, ofSession);
  }
  let support = ofSession.get(source.model);
  if (support === undefined) {
    support = askFor(source, session);
    ofSession.set(source.model, support);
  }
  return support;
}

function askFor(source: GraphSource, session: Pick<GuardedSession, "supports">): SubgraphSupport {
  const { model } = source;
  /** By index of a referenced subgraph, why it is not supported; undefined if it is. */
  const known = new Map<number, string | undefined>();
  let graphs: readonly GraphView[] = [];
  let count = -1;
  /** The views of all subgraphs that are known to be supported. */
  const supportedSubgraphs = () => {
    if (count !== known.size)
      graphs = viewReferenced(source, (index) => known.has(index) && known.get(index) === undefined);
    count = known.size;
    return graphs;
  };
  const supportIn = (subgraph: Subgraph): SubgraphSupport => {
    const { operations } = viewSubgraph(subgraph, source);
    const dispatches = operations.map(() => 1);
    const reasons = operations.map((view, index) => {
      if ("unknown" in view) return view.unknown;
      if (view.definition.controlFlow) {
        const inside = namedSubgraphs(subgraph, index).map((named) => known.get(named));
        const reason = inside.find((one) => one !== undefined);
        if (reason !== undefined) return `${view.definition.name}: inside, ${reason}`;
      }
      const support = session.supports(view, view.definition.controlFlow ? supportedSubgraphs() : undefined);
      if (!support.supported) return support.reason;
      dispatches[index] = support.dispatches ?? 1;
      return undefined;
    });
    // Callers of the device get these lists.
    return { reasons: Object.freeze(reasons), dispatches: Object.freeze(dispatches) };
  };
  for (const index of subgraphsInnerFirst(model)) {
    known.set(
      index,
      supportIn(elementAt(model.referenced, index)).reasons.find((reason) => reason !== undefined),
    );
  }
  return supportIn(model.main);
}
