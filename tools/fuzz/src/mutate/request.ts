/** Changes of requests in terms of their arguments and pools. */
import type { RequestArgument } from "@nnhal/types";
import { readAs, writeAs } from "../model-input.ts";
import type { Random } from "../random.ts";
import { type RequestInput, requestInput } from "../request-input.ts";
import { mutateBytes, otherNumber } from "./bytes.ts";

/** Some changes of a request. Undefined if the input is not one. */
export function mutateRequest(input: Uint8Array, random: Random, other: Uint8Array): Uint8Array | undefined {
  let request = readAs(requestInput, input);
  if (request === undefined) return undefined;
  const steps = 1 + random.below(4);
  for (let step = 0; step < steps; step++) request = change(request, random, other);
  return writeAs(requestInput, request);
}

function change(request: RequestInput, random: Random, other: Uint8Array): RequestInput {
  switch (random.below(8)) {
    case 0:
      return { ...request, model: random.below(8) };
    case 1:
      return { ...request, way: random.below(8), measure: random.oneIn(4) ? random.below(256) : random.below(2) };
    case 2: {
      const pools = [...request.pools];
      const at = random.below(pools.length + 1);
      const { content } = { content: new Uint8Array(16), ...pools[at] };
      pools[at] = random.oneIn(6)
        ? { kind: "token", token: random.pick([0, 1, 2, -1, 0.5, 2 ** 32, Number.NaN]) }
        : { kind: "memory", content: mutateBytes(content, random, other, 256) };
      return { ...request, pools };
    }
    default: {
      const side = random.oneIn(2) ? "inputs" : "outputs";
      const list = [...request[side]];
      const at = random.below(list.length + (random.oneIn(6) ? 1 : 0));
      if (random.oneIn(10)) list.splice(at, 1);
      else list[at] = changedArgument(list[at] ?? { hasNoValue: false, location: nowhere, dimensions: [] }, random);
      return { ...request, [side]: list };
    }
  }
}

const nowhere = { poolIndex: 0, offset: 0, length: 0 };

function changedArgument(argument: RequestArgument, random: Random): RequestArgument {
  const field = random.pick(["poolIndex", "offset", "length"] as const);
  const near = () => (random.oneIn(3) ? otherNumber(argument.location[field], random) : random.below(9) * 4);
  switch (random.below(6)) {
    case 0:
      return { ...argument, hasNoValue: !argument.hasNoValue };
    case 1:
      return { ...argument, dimensions: Array.from({ length: random.below(6) }, () => random.below(5)) };
    case 2:
      return { ...argument, dimensions: argument.dimensions.map((extent) => otherNumber(extent, random)) };
    case 3:
      return { ...argument, location: nowhere, hasNoValue: true, dimensions: [] };
    default:
      return { ...argument, location: { ...argument.location, [field]: near() } };
  }
}
