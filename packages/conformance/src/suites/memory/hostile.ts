/**
 * Arguments of allocate, copyTo and copyFrom that are nothing of the kind: each gets a status, and the device goes on.
 */
import type { BufferDesc, BufferRole, Memory, PreparedModel } from "@nnhal/types";
import { endAsUnsupported } from "../../needs.ts";
import { type Bench, prepare, smallModel } from "../bench.ts";
import { asArgument, expectRefusal, type Hostile, hostileLists, hostileValues } from "../hostile.ts";
import { sampleValues } from "../small-models.ts";
import { casesOf, directly, type SuiteCase } from "../suite-case.ts";
import { memoryWith } from "../values.ts";
import { allocate, fill, role } from "./buffers.ts";

/** An argument of allocate, and a call with something else in its place. */
interface Argument {
  readonly name: string;
  readonly hostile: readonly Hostile[];
  ask(
    device: Required<Pick<Bench["device"], "allocate">>,
    model: PreparedModel,
    hostile: Hostile,
  ): ReturnType<NonNullable<Bench["device"]["allocate"]>>;
}

const open: BufferDesc = { dimensions: [] };

const allocateArguments: readonly Argument[] = [
  {
    name: "desc",
    // A description without dimensions may stand for one of unknown rank.
    hostile: hostileValues.filter(({ what }) => what === "null" || what === "an object that throws"),
    ask: (device, model, hostile) => device.allocate(asArgument<BufferDesc>(hostile), [model], [role(0)], []),
  },
  {
    name: "preparedModels",
    hostile: hostileLists,
    ask: (device, _model, hostile) => device.allocate(open, asArgument<PreparedModel[]>(hostile), [role(0)], []),
  },
  {
    name: "inputRoles",
    hostile: hostileLists,
    ask: (device, model, hostile) => device.allocate(open, [model], asArgument<BufferRole[]>(hostile), []),
  },
  {
    name: "outputRoles",
    hostile: hostileLists,
    ask: (device, model, hostile) => device.allocate(open, [model], [role(0)], asArgument<BufferRole[]>(hostile)),
  },
];

export const hostileCases: readonly SuiteCase[] = directly([
  ...allocateArguments.flatMap(({ name, hostile, ask }) =>
    casesOf(
      "hostile",
      "1.3",
      hostile,
      ({ what }) => `allocate with ${name} that are ${what} is refused`,
      async (bench, value) => {
        const { allocate: allocateOf } = bench.device;
        if (allocateOf === undefined) endAsUnsupported("device memory");
        const preparedModel = await prepare(bench, (await smallModel(bench)).model);
        const { buffer, token: _, ...outcome } = await ask({ allocate: allocateOf }, preparedModel, value);
        bench.after(() => buffer?.close?.());
        expectRefusal(`allocate with ${name} that are ${value.what}`, outcome);
        await allocate(bench, { models: [preparedModel], inputs: [role(0)] });
      },
    ),
  ),
  ...casesOf(
    "hostile",
    "1.3",
    hostileValues,
    ({ what }) => `memory for copyTo and copyFrom that is ${what} is refused`,
    async (bench, hostile) => {
      const small = await smallModel(bench);
      const preparedModel = await prepare(bench, small.model);
      const { buffer } = await allocate(bench, { models: [preparedModel], inputs: [role(0)] });
      const memory = asArgument<Memory>(hostile);
      expectRefusal(`copyFrom of ${hostile.what}`, await buffer.copyFrom(memory, []));
      await fill(buffer, memoryWith(small.type, sampleValues(small.type, 6)));
      expectRefusal(`copyTo ${hostile.what}`, await buffer.copyTo(memory));
      const given = memoryWith(small.type, sampleValues(small.type, 6));
      if (hostile.what !== "an empty object") {
        expectRefusal(
          `copyFrom with dimensions that are ${hostile.what}`,
          await buffer.copyFrom(given, asArgument(hostile)),
        );
      }
      await fill(buffer, given);
    },
  ),
]);
