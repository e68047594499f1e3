/**
 * Memory of several devices that are presented as one: a buffer is allocated on the only device that uses its value,
 * and its token identifies that device.
 */
import { failedAllocation, failedExecution, failedFenced } from "@nnhal/driver-core/guard";
import { elementAt } from "@nnhal/operations";
import {
  type AllocateResult,
  type Device,
  ErrorStatus,
  type Model,
  type Outcome,
  type PreparedModel,
  type Request,
  type RequestArgument,
  type RequestMemoryPool,
} from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import { describeBuffer } from "@nnhal/validation";
import type { GuardedDevice } from "../guard/device.ts";
import { allocateFor, type WeightedRole } from "./device-memory.ts";
import type { DeviceRole } from "./device-role.ts";
import { onlyDevice } from "./device-role.ts";
import type { Divided } from "./divide.ts";

/** The memory of several devices, presented as that of one. */
export interface SharedTokens {
  readonly allocate: Required<Device>["allocate"];
  /** The prepared model of a division, which accepts the tokens of `allocate`. */
  present(divided: Divided, model: Model): PreparedModel;
}

/** The facts of a presented prepared model. */
interface Presented {
  readonly divided: Divided;
  readonly model: Model;
}

/** The memory of some devices. */
export function shareTokens(devices: readonly GuardedDevice[], log: Logger): SharedTokens {
  const records = new WeakMap<PreparedModel, Presented>();
  return {
    async allocate(desc, preparedModels, inputRoles, outputRoles) {
      const known = preparedModels.map((model) => (model === null ? null : (records.get(model) ?? null)));
      const { issues } = describeBuffer({ desc, preparedModels: known, inputRoles, outputRoles });
      const [issue] = issues;
      if (issue !== undefined) {
        return refuseAllocation(ErrorStatus.INVALID_ARGUMENT, `allocating a buffer: ${issue.path}: ${issue.message}`);
      }
      const roles: WeightedRole[] = [];
      const sides = [
        ["input", inputRoles],
        ["output", outputRoles],
      ] as const;
      for (const [side, list] of sides) {
        for (const { modelIndex, ioIndex, frequency } of list) {
          const used = known[modelIndex]?.divided.rolesOf(side, ioIndex) ?? null;
          if (used === null) {
            const why = `the runtime itself uses ${side} ${ioIndex} of prepared model ${modelIndex}`;
            return refuseAllocation(ErrorStatus.GENERAL_FAILURE, `allocating a buffer: ${why}`);
          }
          roles.push(...used.map((role) => ({ role, frequency })));
        }
      }
      const result = await allocateFor(desc, roles, log);
      const place = devices.indexOf(onlyDevice(roles.map(({ role }) => role)) ?? elementAt(devices, 0));
      return result.token === 0 ? result : { ...result, token: result.token * devices.length + place };
    },
    present(divided, model) {
      const presented = presentedModel(divided, devices);
      records.set(presented, { divided, model });
      return presented;
    },
  };
}

function refuseAllocation(status: ErrorStatus, message: string): AllocateResult {
  return failedAllocation({ status, message });
}

function presentedModel({ preparedModel, rolesOf }: Divided, devices: readonly GuardedDevice[]): PreparedModel {
  const { executeFenced, configureExecutionBurst, createReusableExecution } = preparedModel;
  const own = (request: Request) => withDeviceTokens(request, rolesOf, devices);
  return {
    async execute(request, options) {
      const translated = own(request);
      return "status" in translated ? failedExecution(translated) : preparedModel.execute(translated, options);
    },
    ...(executeFenced && {
      async executeFenced(request, waitFor, options) {
        const translated = own(request);
        return "status" in translated
          ? failedFenced(translated)
          : executeFenced.call(preparedModel, translated, waitFor, options);
      },
    }),
    ...(createReusableExecution && {
      async createReusableExecution(request, options) {
        const translated = own(request);
        return "status" in translated
          ? { ...translated, execution: null }
          : createReusableExecution.call(preparedModel, translated, options);
      },
    }),
    ...(configureExecutionBurst && { configureExecutionBurst: configureExecutionBurst.bind(preparedModel) }),
    close: () => preparedModel.close(),
  };
}

/** The request with the devices' own tokens. */
function withDeviceTokens(
  request: Request,
  rolesOf: Divided["rolesOf"],
  devices: readonly GuardedDevice[],
): Request | Required<Outcome> {
  if (!request.pools.some(({ kind }) => kind === "token")) return request;
  const wrong = wrongDevice(request.inputs, "input") ?? wrongDevice(request.outputs, "output");
  if (wrong !== undefined) return { status: ErrorStatus.INVALID_ARGUMENT, message: wrong };
  const pools = request.pools.map(
    (pool): RequestMemoryPool =>
      pool.kind === "token" ? { kind: "token", token: Math.floor(pool.token / devices.length) } : pool,
  );
  return { ...request, pools };

  /** The problem of an argument that lies in the memory of another device than the only one that uses it. */
  function wrongDevice(list: readonly RequestArgument[], side: DeviceRole["side"]): string | undefined {
    for (const [index, { hasNoValue, location }] of list.entries()) {
      const pool = hasNoValue ? undefined : request.pools[location.poolIndex];
      if (pool?.kind !== "token") continue;
      if (onlyDevice(rolesOf(side, index)) === devices[pool.token % devices.length]) continue;
      return `${side} ${index} is a device buffer that was not allocated for ${side} ${index} of this prepared model`;
    }
    return undefined;
  }
}
