/** Requests of small models through AIDL: arguments with offsets and padding, and the results to expect. */
import type { Memory } from "@nnhal/types";
import type { AIDL1 } from "@nnhal/types/aidl";
import { type Bench, smallModel } from "../bench.ts";
import { expectThat } from "../check.ts";
import { expectValues } from "../execution.ts";
import { type SmallModel, type SmallModelFacts, sampleValues } from "../small-models.ts";
import { bytesIn, bytesOf, newMemory, requestFor, sizeOf, untouched } from "../values.ts";
import { prepareModel, writeRequest } from "./driver.ts";

/** Where the arguments of a request lie: bytes before each, and after it. */
export interface Layout {
  readonly offset?: number;
  readonly padding?: number;
  /** Bytes of the output that are padding instead. Default 0. */
  readonly short?: number;
}

/** A request on memory of its own. */
export interface AidlTrial {
  readonly request: AIDL1.Request;
  readonly input: Memory;
  readonly output: Memory;
  /** Puts other values there, and clears the output. */
  fill(salt: number): void;
  /** Ends the case unless the output has the results of the values, and the bytes before it are as they were. */
  check(what: string): void;
}

/** A small model that is prepared through AIDL. */
export interface AidlModel {
  readonly small: SmallModel;
  readonly model: AIDL1.IPreparedModel;
  trial(layout?: Layout): AidlTrial;
}

/** Prepares a small model that the device supports. */
export async function prepareSmall(bench: Bench, facts?: Partial<SmallModelFacts>): Promise<AidlModel> {
  const small = await smallModel(bench, facts);
  return { small, model: await prepareModel(bench, small.model), trial: (layout) => trialOf(small, layout) };
}

function trialOf(small: SmallModel, { offset = 0, padding = 0, short = 0 }: Layout = {}): AidlTrial {
  const { type } = small;
  const size = sizeOf(type, [6]);
  const [input, output] = [newMemory(offset + size + padding), newMemory(offset + size + padding)];
  const hasOpen = small.model.main.operands.some(({ dimensions }) => dimensions.includes(0));
  const dimensions = hasOpen ? [2, 3] : [];
  const canonical = requestFor(
    [{ at: input, offset, length: size, dimensions }],
    [{ at: output, offset, length: size - short }],
  );
  const withPadding = (list: typeof canonical.inputs, more: number) =>
    list.map((argument) => ({ ...argument, location: { ...argument.location, padding: padding + more } }));
  let values: readonly number[] = [];
  const fill = (salt: number) => {
    values = sampleValues(type, 6, salt);
    bytesIn(input).set(bytesOf(type, values), offset);
    bytesIn(output).fill(untouched);
  };
  fill(0);
  return {
    request: writeRequest({
      ...canonical,
      inputs: withPadding(canonical.inputs, 0),
      outputs: withPadding(canonical.outputs, short),
    }),
    ...{ input, output, fill },
    check(what) {
      const [expected = []] = small.compute([values]);
      const own = { ...output, size, handle: handleAt(output, offset) };
      expectValues(`${what}: output 0`, type, own, expected);
      const isKept = bytesIn(output)
        .subarray(0, offset)
        .every((byte) => byte === untouched);
      expectThat(isKept, () => `${what}: bytes before output 0 were written`);
    },
  };
}

/** The handle of a memory from some byte on. */
function handleAt({ handle }: Memory, offset: number): Memory["handle"] {
  if (handle === null || handle.kind === "hardwareBuffer") return handle;
  return handle.kind === "buffer"
    ? { ...handle, byteOffset: handle.byteOffset + offset }
    : { ...handle, offset: handle.offset + offset };
}

/** A request with some fields of its first argument of a side replaced. */
export function withArgument(
  request: AIDL1.Request,
  side: "inputs" | "outputs",
  change: (argument: AIDL1.RequestArgument) => AIDL1.RequestArgument,
): AIDL1.Request {
  return { ...request, [side]: request[side].map((argument, index) => (index === 0 ? change(argument) : argument)) };
}

/** The same with some fields of its location replaced. */
export function withLocation(
  request: AIDL1.Request,
  side: "inputs" | "outputs",
  location: Partial<AIDL1.DataLocation>,
): AIDL1.Request {
  return withArgument(request, side, (argument) => ({ ...argument, location: { ...argument.location, ...location } }));
}
