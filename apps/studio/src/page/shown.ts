/**
 * The part of the page's state that drawing needs.
 */
import type { FileView } from "../engine/file-view.ts";
import type { GraphView } from "../engine/graph-view.ts";
import type { Group } from "../engine/groups.ts";

/** An open file with the graph that is shown. */
export interface Shown {
  readonly file: FileView;
  readonly subgraph: number;
  readonly graph: GraphView;
  /** Groups of operators that are drawn as one box, in their order. */
  readonly folded: readonly Group[];
}
