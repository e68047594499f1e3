/**
 * @nnhal/utils/graph: models as drawings of Graphviz, as pictures, and as plain objects. A program that shows no models does not load it.
 */
export type { ShownValue } from "./constant-value.ts";
export type { DotOptions } from "./dot.ts";
export { createDotWriter, type DotAttributes, type DotWriter, escapeLabel } from "./dot-writer.ts";
export { drawGraphs, escapeXml, type GraphPicture } from "./draw-graphs.ts";
export type { DrawnEdge, DrawnGraph, DrawnNode } from "./drawn-graph.ts";
export { extensionDataText } from "./extension-data.ts";
export { type GraphDumpOptions, type GraphDumpStream, graphDump, logStream } from "./graph-dump.ts";
export { graphToSvg } from "./graph-to-svg.ts";
export { type GraphJson, type GraphJsonSubgraph, graphToJson } from "./json.ts";
export { kindOf, type OperationKind } from "./kinds.ts";
export { type Edge, type GraphLayout, layOutGraph, type NodeSize } from "./layout.ts";
export {
  type GraphVisitor,
  type OperandDescription,
  type OperationDescription,
  type SubgraphDescription,
  type VisitOptions,
  visitGraph,
} from "./visit.ts";
