/** The whole network on the device: which device takes which operation, and the results of its runs. */
import { whyUnsupported } from "@nnhal/driver-core/partition";
import { elementAt } from "@nnhal/operations";
import type { Device, Model } from "@nnhal/types";
import type { DiffContext } from "./context.ts";
import type { DeviceOf } from "./diff-operation.ts";
import { type Engine, messageOf, type PreparedPart, type TensorValue } from "./prepared-part.ts";
import { type KeptState, runInTurn } from "./states.ts";

type Values = readonly (readonly TensorValue[])[];

/** The results of the whole network. */
export interface WholeResult {
  /** By run. Empty if it failed, or if no device takes some of its operations. */
  readonly outputs: Values;
  /** By run, the inputs that it had; undefined: those of the judge. */
  readonly inputs?: Values | undefined;
  readonly failure: string | undefined;
}

/** The whole network on the device. */
export interface WholeNetwork {
  readonly devices: DeviceOf;
  /** Runs it, if its devices take all of it. Does not reject. */
  run(inputs: Values, states: readonly KeptState[] | undefined): Promise<WholeResult>;
  close(): void;
}

/**
 * Finds the device of each operation. The network is prepared for it only if several devices share it: a device that ends in the middle
 * of it can then be asked for its operations one by one before. Does not reject.
 */
export async function openWhole({ model, suspect, prepare }: DiffContext): Promise<WholeNetwork> {
  const all = [...suspect.devices, ...(suspect.cpu ? [suspect.cpu] : [])];
  const refusals = await whyUnsupported(model, all);
  if (refusals.some((refusal) => refusal !== undefined)) return openApart(model, all, refusals, suspect.way);
  let prepared: PreparedPart | undefined;
  let failure: string | undefined;
  const prepareOnce = async () => {
    prepared ??= await prepare(model, suspect);
    return prepared;
  };
  const [only] = all;
  let devices: DeviceOf = () => ({ name: all.length === 1 ? only?.name : undefined, engine: suspect });
  if (all.length > 1) {
    try {
      devices = devicesIn(await prepareOnce(), all, suspect.way);
    } catch (error) {
      failure = messageOf(error);
    }
  }
  return {
    devices,
    async run(inputs, states) {
      if (failure !== undefined) return { outputs: [], failure };
      try {
        return { ...(await runInTurn(await prepareOnce(), inputs, states)), failure: undefined };
      } catch (error) {
        return { outputs: [], failure: messageOf(error) };
      }
    },
    close: () => prepared?.close(),
  };
}

function devicesIn({ compilation }: PreparedPart, all: readonly Device[], way: Engine["way"]): DeviceOf {
  const { plan } = compilation;
  const byName = new Map(all.map((device) => [device.name, device]));
  return (operation) => {
    const { device: place } = elementAt(plan.choices, operation);
    const name = place === undefined ? undefined : plan.devices[place];
    const device = name === undefined ? undefined : byName.get(name);
    // The parts of an IF or WHILE may be on several devices.
    return { name: device?.name, engine: { devices: device ? [device] : all, way } };
  };
}

/** Of a network that cannot run as a whole, the first device that takes an operation. */
async function openApart(
  model: Model,
  all: readonly Device[],
  refusals: readonly (string | undefined)[],
  way: Engine["way"],
): Promise<WholeNetwork> {
  const taken = await Promise.all(all.map((device) => whyUnsupported(model, [device])));
  return {
    devices(operation) {
      const refusal = refusals[operation];
      if (refusal !== undefined) return { name: undefined, refusal };
      const place = taken.findIndex((reasons) => reasons[operation] === undefined);
      const device = all[place];
      return { name: device?.name, engine: { devices: device ? [device] : all, way } };
    },
    run: async () => ({ outputs: [], failure: undefined }),
    close() {},
  };
}
