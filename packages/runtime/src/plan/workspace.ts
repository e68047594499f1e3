/**
 * Workspaces: the memory for the values between the steps of a plan, or for the state of a loop. Each run has its own. It is
 * allocated by the first run, not when the plan is prepared, and a few are kept for later runs.
 *
 * A value that only one device uses lies in a buffer of that device if it has private memory, so that the value need not be read
 * back. All other values share one region of plain memory, by their lifetimes.
 */
import { allocateMemory } from "@nnhal/driver-core/memory";
import type { IBuffer } from "@nnhal/types";
import type { Logger } from "@nnhal/utils";
import { allocateFor } from "./device-memory.ts";
import type { DeviceRole } from "./device-role.ts";
import { onlyDevice } from "./device-role.ts";
import { type Layout, type Lifetime, layOut } from "./layout.ts";
import { type Place, poolOf } from "./place.ts";

/** A value that needs a place: see `Lifetime`, whose `operand` is any number that identifies the value. */
export interface Value extends Lifetime {
  readonly dimensions: readonly number[];
  /** Its roles; null if the runtime itself uses it. */
  readonly roles: readonly DeviceRole[] | null;
}

/** Places for one run. */
export interface Workspace {
  /** By value, in the order in which they were given. */
  readonly places: readonly Place[];
  readonly buffers: readonly IBuffer[];
}

/** The workspaces of a plan or loop. */
export interface Workspaces {
  /** Returns a workspace that no run uses, or a new one. */
  take(): Workspace | Promise<Workspace>;
  /** Returns a workspace for later runs. A few are kept. */
  giveBack(workspace: Workspace): void;
  /** Frees the workspaces that no run uses. */
  release(): void;
  /** Frees the workspaces that no run uses, and the others when they are returned. */
  close(): void;
}

const MOST_KEPT = 4;

const nothing: Workspace = { places: [], buffers: [] };

/** Makes workspaces for some values. They are allocated on first use. */
export function createWorkspaces(values: readonly Value[], log: Logger): Workspaces {
  const idle: Workspace[] = [];
  let closed = false;
  /** Which values lie in devices' memory. The first workspace determines it. */
  let arrangement: Promise<Arrangement> | undefined;
  const make = async (): Promise<Workspace> => {
    if (arrangement === undefined) {
      const first = allocateAll(values, log);
      arrangement = first.then((buffers) => arrange(values, buffers));
      return placesFor(values, await arrangement, await first, log);
    }
    const arranged = await arrangement;
    const wanted = values.map((value, index) => (arranged.onDevice[index] ? value : undefined));
    return placesFor(values, arranged, await allocateAll(wanted, log), log);
  };
  const release = () => {
    for (const workspace of idle.splice(0)) free(workspace, log);
  };
  return {
    take: () => (values.length === 0 ? nothing : (idle.pop() ?? make())),
    giveBack(workspace) {
      if (workspace === nothing) return;
      if (!closed && idle.length < MOST_KEPT) idle.push(workspace);
      else free(workspace, log);
    },
    release,
    close() {
      closed = true;
      release();
    },
  };
}

function free({ places, buffers }: Workspace, log: Logger): void {
  log.VLOG("MEMORY", () => `a workspace for ${places.length} values is freed, with ${buffers.length} device buffers`);
  for (const buffer of buffers) buffer.close?.();
}

/** By value whether it lies in a device's memory, and the layout of the others. */
interface Arrangement {
  readonly onDevice: readonly boolean[];
  readonly layout: Layout;
}

function arrange(values: readonly Value[], buffers: readonly (Allocated | undefined)[]): Arrangement {
  const onDevice = buffers.map((buffer) => buffer !== undefined);
  return { onDevice, layout: layOut(values.filter((_, index) => !onDevice[index])) };
}

interface Allocated {
  readonly buffer: IBuffer;
  readonly token: number;
}

/** By value its buffer; undefined if no device has one for it. */
function allocateAll(values: readonly (Value | undefined)[], log: Logger): Promise<(Allocated | undefined)[]> {
  return Promise.all(values.map((value) => value && allocateOn(value, log)));
}

async function allocateOn({ roles, dimensions }: Value, log: Logger): Promise<Allocated | undefined> {
  if (roles === null || onlyDevice(roles)?.allocate === undefined) return undefined;
  const weighted = roles.map((role) => ({ role, frequency: 1 }));
  const { buffer, token, inHostMemory } = await allocateFor({ dimensions }, weighted, log);
  if (buffer === null) return undefined;
  if (inHostMemory !== true) return { buffer, token };
  // The buffer has no advantage: plain memory can be shared by lifetimes.
  buffer.close?.();
  return undefined;
}

/** The places of a workspace. Falls back to plain memory if a device buffer cannot be allocated. */
function placesFor(
  values: readonly Value[],
  { onDevice, layout }: Arrangement,
  buffers: readonly (Allocated | undefined)[],
  log: Logger,
): Workspace {
  const region = layout.size === 0 ? undefined : poolOf(allocateMemory(layout.size));
  const places = values.map(({ operand, size, dimensions }, index): Place => {
    const own = buffers[index];
    if (own !== undefined) {
      const { buffer, token } = own;
      return { pool: { kind: "token", token }, offset: 0, length: 0, dimensions, buffer };
    }
    if (region !== undefined && !onDevice[index]) {
      return { pool: region, offset: layout.offsets.get(operand) ?? 0, length: size, dimensions };
    }
    return { pool: poolOf(allocateMemory(Math.max(size, 1))), offset: 0, length: size, dimensions };
  });
  log.VLOG("MEMORY", () => {
    const onDevices = buffers.filter((buffer) => buffer !== undefined).length;
    return `a workspace for ${values.length} values: ${layout.size} bytes of plain memory, ${onDevices} device buffers`;
  });
  return { places, buffers: buffers.flatMap((one) => one?.buffer ?? []) };
}
