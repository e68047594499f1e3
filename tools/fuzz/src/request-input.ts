/** Requests as inputs. */
import type { Request, RequestArgument } from "@nnhal/types";
import { bytes, type Codec, dataLocation, flag, float64, list, struct, uint8, uint32, union } from "@nnhal/utils/codec";
import { memoryWith } from "./model-input.ts";

/** A pool of a request. Memories have content of their own. */
type PoolInput =
  | { readonly kind: "memory"; readonly content: Uint8Array }
  | { readonly kind: "token"; readonly token: number };

/** A request for one of a list of models. */
export interface RequestInput {
  /** Which model, modulo their number. */
  readonly model: number;
  /** The way to execute, modulo their number. */
  readonly way: number;
  readonly measure: number;
  readonly inputs: readonly RequestArgument[];
  readonly outputs: readonly RequestArgument[];
  readonly pools: readonly PoolInput[];
}

const argument: Codec<RequestArgument> = struct<RequestArgument>({
  hasNoValue: flag,
  location: dataLocation,
  dimensions: list(uint32),
});

export const requestInput: Codec<RequestInput> = struct<RequestInput>({
  model: uint8,
  way: uint8,
  measure: uint8,
  inputs: list(argument),
  outputs: list(argument),
  pools: list(union<PoolInput>({ memory: struct({ content: bytes }), token: struct({ token: float64 }) })),
});

/** Builds the request of an input, with separate memories. */
export function requestOf({ inputs, outputs, pools }: RequestInput): Request {
  return {
    inputs,
    outputs,
    pools: pools.map((pool) => (pool.kind === "token" ? pool : { kind: "memory", memory: memoryWith(pool.content) })),
  };
}
