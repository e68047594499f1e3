import { elementAt } from "@nnhal/operations";
import { withOperands } from "@nnhal/test-kit/examples";
import type { Request } from "@nnhal/types";
import { type RuleCode, requestIssues } from "@nnhal/validation";
import { describe, expect, it } from "vitest";
import { modelOf } from "../vectors/model.ts";
import { requestOf } from "../vectors/request.ts";
import { examples, freeze, twoOperations } from "./models.test-helper.ts";
import { nullFence, requestMutations, unknownToken } from "./request.ts";

const broken: Readonly<Record<string, readonly RuleCode[]>> = {
  removeRequestInput: ["argument-count"],
  removeRequestOutput: ["argument-count"],
  addRequestArgument: ["argument-count"],
  requestLocation: ["argument-location", "argument-no-value"],
  requestDimensions: ["argument-rank", "argument-extent"],
  requestPool: ["request-pool"],
};

/** The memory of a pool is too large to freeze element by element, and is not shared. */
function frozenRequest(request: Request): Request {
  const { inputs, outputs, pools } = request;
  return Object.freeze({ inputs: freeze(inputs), outputs: freeze(outputs), pools: Object.freeze([...pools]) });
}

const cases = examples.map((example) => ({
  model: modelOf({ example, name: example.name, unspecifiedOutputs: false }),
  request: frozenRequest(requestOf(example).request),
}));

it("the requests to mutate are valid", () => {
  for (const { request, model } of cases) expect(requestIssues(request, model)).toEqual([]);
});

/** Only the device can know the faults of these. */
const ofTheDevice = [unknownToken.name, nullFence.name];

it("every mutation but those of tokens and fences is one of rules on requests", () => {
  expect(requestMutations.map(({ name }) => name)).toEqual([...Object.keys(broken), ...ofTheDevice]);
});

describe.each(requestMutations.filter(({ name }) => !ofTheDevice.includes(name)))("$name", (mutation) => {
  it("makes requests that break the rule it is about", () => {
    const found = new Set<RuleCode>();
    for (const { request, model } of cases) {
      const mutants = [...mutation.mutate(request, model)];
      expect(mutants.length).toBeGreaterThan(0);
      for (const mutant of mutants) {
        const codes = requestIssues(mutant.request, model).map(({ code }) => code);
        const expected = codes.filter((code) => broken[mutation.name]?.includes(code));
        expect(expected, `${mutant.name}: refused for ${codes.join(", ") || "nothing"}`).not.toEqual([]);
        for (const code of expected) found.add(code);
      }
    }
    expect([...found].sort()).toEqual([...(broken[mutation.name] ?? [])].sort());
  });

  it("gives each mutant a name", () => {
    for (const { request, model } of cases) {
      const names = [...mutation.mutate(request, model)].map(({ name }) => name);
      expect(new Set(names).size, names.join("; ")).toBe(names.length);
    }
  });
});

it("a token of no buffer is one more pool, and a fence that is none leaves the request as it is", () => {
  const { request, model } = elementAt(cases, 0);
  const wrong = elementAt([...unknownToken.mutate(request, model)], 0);
  expect(wrong.request.pools.slice(request.pools.length)).toEqual([{ kind: "token", token: 0xffff_ffff }]);
  expect([...nullFence.mutate(request, model)]).toMatchObject([{ request, waitFor: [null] }]);
});

it("what the model leaves open is wrong only if the request leaves it open too", () => {
  const open = withOperands(twoOperations, { 0: { dimensions: [2, 0] }, 1: { dimensions: [] }, 4: { dimensions: [] } });
  const model = modelOf({ example: open, name: open.name, unspecifiedOutputs: false });
  const { request } = requestOf(open);
  const dimensions = requestMutations.find(({ name }) => name === "requestDimensions");
  const mutants = [...(dimensions?.mutate(request, model) ?? [])];
  expect(mutants.map(({ name }) => name)).toEqual([
    "input 0 has dimensions [2, 1, 1]",
    "input 0 has dimensions [1]",
    "input 0 has dimensions [3, 1]",
    "input 0 has dimensions [0, 1]",
    "input 0 has dimensions [2, 0]",
  ]);
  for (const { request: wrong, name } of mutants) expect(requestIssues(wrong, model), name).not.toEqual([]);
});
