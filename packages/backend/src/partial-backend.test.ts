import { elementAt } from "@nnhal/operations";
import { constant, input, modelOf, operand, output, subgraphOf } from "@nnhal/test-kit/models";
import { DeviceType, OperationType } from "@nnhal/types";
import { describe, expect, it } from "vitest";
import { capabilitiesOf } from "./capabilities.ts";
import type { Backend, BackendSession } from "./contract.ts";
import { type OperationView, viewSubgraph } from "./graph.ts";
import { partialBackend } from "./partial-backend.ts";

const session: BackendSession = {
  version: "whole-1",
  capabilities: capabilitiesOf({ float: 1, quantised: 1 }),
  concurrency: 3,
  supports: ({ definition }) =>
    definition.name === "MUL" ? { supported: false, reason: "MUL: never" } : { supported: true, dispatches: 2 },
  compile: async () => {
    throw new Error("not called");
  },
  close: async () => {},
};
const whole: Backend = { name: "whole", deviceType: DeviceType.GPU, open: async () => session };

function viewOf(type: number): OperationView {
  const main = subgraphOf(
    [operand(input), operand(input), constant("INT32", 0, 4), operand(output)],
    [{ type, inputs: [0, 1, 2], outputs: [3] }],
  );
  const model = modelOf(main, { operandValues: new Uint8Array(4) });
  const view = elementAt(viewSubgraph(model.main, { model, pools: [] }).operations, 0);
  if ("unknown" in view) throw new Error(view.unknown);
  return view;
}

async function openPart(part: Parameters<typeof partialBackend>[1]): Promise<BackendSession> {
  const opened = await partialBackend(whole, part).open();
  if ("unavailable" in opened) throw new Error(opened.unavailable);
  return opened;
}

describe("partialBackend", () => {
  const whyNot = ({ definition: { name } }: OperationView) => (name === "SUB" ? "SUB: not here" : undefined);

  it("supports what the whole supports and it takes, with the facts of the whole", async () => {
    const part = await openPart({ whyNot });
    expect(part.supports(viewOf(OperationType.ADD))).toEqual({ supported: true, dispatches: 2 });
    expect(part.supports(viewOf(OperationType.SUB))).toEqual({ supported: false, reason: "SUB: not here" });
    expect(part.supports(viewOf(OperationType.MUL))).toEqual({ supported: false, reason: "MUL: never" });
    expect(part).toMatchObject({ version: "whole-1", capabilities: session.capabilities, concurrency: 3 });
    expect(partialBackend(whole, { whyNot })).toMatchObject({ name: "whole", deviceType: DeviceType.GPU });
  });

  it("has its own name, version and capabilities", async () => {
    const capabilities = capabilitiesOf({ float: 0.5, quantised: 0.5 });
    const part = await openPart({ whyNot, version: "part-1", capabilities });
    expect(part).toMatchObject({ version: "part-1", capabilities });
    expect(partialBackend(whole, { whyNot, name: "part" }).name).toBe("part");
  });

  it("opens the whole with its options, and has its choices", async () => {
    const choices = [{ subject: "sums", chosen: "exact" }];
    const outcomes = { read: async () => undefined, write: async () => {} };
    const seen: unknown[] = [];
    const open: Backend["open"] = async (options) => {
      seen.push(options);
      return { ...session, choices };
    };
    const part = partialBackend({ ...whole, open }, { whyNot });
    expect(await part.open({ outcomes })).toMatchObject({ choices });
    expect(seen).toEqual([{ outcomes }]);
  });

  it("is not available if the whole is not", async () => {
    const missing: Backend = { ...whole, open: async () => ({ unavailable: "no GPU" }) };
    expect(await partialBackend(missing, { whyNot }).open()).toEqual({ unavailable: "no GPU" });
  });
});
