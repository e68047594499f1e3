/**
 * Graphs as they are drawn: boxes with text, edges between them, and a heading.
 */
import type { Edge } from "./layout.ts";

/** A box with text. */
export interface DrawnNode {
  /** The first is in bold. */
  readonly lines: readonly string[];
  /** Text that is equal for nodes that compute the same of equal sources: of many such nodes one is drawn. Default: the node is always drawn. */
  readonly kind?: string;
  /** A color of SVG. */
  readonly fill: string;
  /** Text that is shown while the pointer rests on it. Default: none. */
  readonly title?: string;
  /** Default: solid. */
  readonly border?: "solid" | "dashed";
  /** Corners. Default: a little rounded. */
  readonly shape?: "box" | "pill";
  /** Its results: for each the lines of text below the box, which describe the value on its edges. Default: none. */
  readonly results?: readonly (readonly string[])[];
}

/** An edge between two nodes; `to` is the higher index. */
export interface DrawnEdge extends Edge {
  /** Index of the result of `from`. Default: 0. */
  readonly result?: number;
  readonly title?: string;
  /** Default: thin. */
  readonly line?: "thin" | "thick";
}

/** A graph with a heading. */
export interface DrawnGraph {
  /** Default: none. */
  readonly heading?: string;
  readonly nodes: readonly DrawnNode[];
  readonly edges: readonly DrawnEdge[];
}
