/**
 * WHILE: runs a body subgraph as long as a condition subgraph returns true. The executor interprets it; this file has
 * its signature.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { any, subgraph, variadic } from "../params.ts";

export const while_ = defineOperation({
  name: "WHILE",
  code: OperationType.WHILE,
  summary: "Runs a body subgraph as long as a condition subgraph returns true; the body's outputs are its next inputs.",
  params: [subgraph("condition"), subgraph("body"), variadic(any("inputs"))],
  outputs: [variadic(any("outputs"))],
  types: [["1.3"]],
  controlFlow: true,
});
