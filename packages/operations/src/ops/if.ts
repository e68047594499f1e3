/**
 * IF: runs one of two subgraphs. The executor interprets it; this file has its signature.
 */
import { OperationType } from "@nnhal/types";
import { defineOperation } from "../define.ts";
import { any, subgraph, tensor, variadic } from "../params.ts";

export const if_ = defineOperation({
  name: "IF",
  code: OperationType.IF,
  summary: "Runs one of two subgraphs, as a condition says.",
  params: [tensor("condition", "TENSOR_BOOL8"), subgraph("then"), subgraph("else"), variadic(any("inputs"))],
  outputs: [variadic(any("outputs"))],
  types: [["1.3"]],
  controlFlow: true,
});
