/**
 * Models that the page runs on the devices of the machine: each is a session of @nnhal/network, asked by the messages that a worker gets.
 */
import { serve } from "@nnhal/network/session";
import type { Device } from "@nnhal/types";
import { messageOf } from "../text.ts";

/** A device as the page lists it. */
export interface MachineDevice {
  readonly name: string;
  /** Why it does not work here; undefined: it works. */
  readonly problem?: string | undefined;
}

/** The devices of the machine. */
export interface MachineDevices {
  list(): Promise<readonly MachineDevice[]>;
  /** The devices of a list of names, in its order. Rejects with an Error that names those that exist. */
  select(names: string): Promise<readonly Device[]>;
}

/** The models of a page. */
export interface Sessions {
  /**
   * Passes a message to a session, which begins with its first one, and replies with the answer and with what comes before it. Resolves once
   * the answer has come. Rejects, without a reply, for a message that the page must not send.
   */
  ask(session: string, message: unknown, reply: (answer: unknown) => void): Promise<void>;
  close(): Promise<void>;
}

/** Models that are kept at a time: a page that was loaded again has left its models behind. */
const MOST_SESSIONS = 6;

/** Methods of a session that the page may call. */
const methods: ReadonlySet<string> = new Set([
  ...["compute", "explain", "profile", "diff"],
  ...["readState", "writeState", "close"],
]);

/** Options of `load` that the page may give: none that names files or modules. */
const openOptions = ["signature", "inputShapes", "dynamicShapes"] as const;

interface OneSession {
  send(message: unknown): void;
  readonly waiting: Map<number, (answer: unknown, isLast: boolean) => void>;
  next: number;
}

/** Sessions on some devices. */
export function createSessions(devices: MachineDevices): Sessions {
  const sessions = new Map<string, OneSession>();
  const begin = (): OneSession => {
    let receive: (message: unknown) => void = () => {};
    const waiting: OneSession["waiting"] = new Map();
    serve({
      listen: (onMessage) => {
        receive = onMessage;
      },
      post(answer) {
        const id = typeof answer === "object" && answer !== null && "id" in answer ? Number(answer.id) : undefined;
        const isProgress = typeof answer === "object" && answer !== null && "done" in answer;
        if (id !== undefined) return waiting.get(id)?.(answer, !isProgress);
        // Stages and warnings of the opening.
        for (const reply of waiting.values()) reply(answer, false);
      },
    });
    return { send: (message) => receive(message), waiting, next: 0 };
  };
  const end = async (name: string) => {
    const one = sessions.get(name);
    sessions.delete(name);
    if (one !== undefined) await passOn(one, { ask: "close", args: [], id: one.next }, () => {});
  };
  return {
    async ask(name, message, reply) {
      const checked = await checkMessage(message, devices);
      let one = sessions.get(name);
      if (one === undefined) {
        if (checked.ask !== "open") throw new RangeError(`the session ${name} does not exist, or has ended`);
        const [oldest] = sessions.keys();
        if (oldest !== undefined && sessions.size >= MOST_SESSIONS) await end(oldest);
        one = begin();
        sessions.set(name, one);
      }
      one.next = checked.id + 1;
      const asked = checked.ask === "diff" ? await withJudge(checked, devices).catch(messageOf) : checked;
      // The session stays: another judge may be there.
      if (typeof asked === "string") return reply({ id: checked.id, code: "NO_DEVICE", message: asked, problems: [] });
      await passOn(one, asked, reply);
      if (checked.ask === "close") sessions.delete(name);
    },
    async close() {
      await Promise.all([...sessions.keys()].map(end));
    },
  };
}

/** Sends a message, and waits for its answer. */
function passOn(one: OneSession, message: Checked, reply: (answer: unknown) => void): Promise<void> {
  if (message.ask === "stop") {
    one.send(message);
    return Promise.resolve();
  }
  return new Promise((resolve) => {
    one.waiting.set(message.id, (answer, isLast) => {
      reply(answer);
      if (!isLast) return;
      one.waiting.delete(message.id);
      resolve();
    });
    one.send(message);
  });
}

interface Checked {
  readonly ask: string;
  readonly id: number;
  readonly [key: string]: unknown;
}

/** A message with nothing but what the page may ask for. Throws a RangeError for any other. */
async function checkMessage(message: unknown, devices: MachineDevices): Promise<Checked> {
  const { ask, id, args, bytes, options, target } = recordOf(message);
  if (typeof id !== "number" || !Number.isInteger(id)) throw new RangeError("a message has no id");
  if (ask === "stop" && typeof target === "number") return { ask, id, target };
  if (ask === "open" && bytes instanceof Uint8Array) {
    const given = recordOf(options);
    const kept = Object.fromEntries(
      openOptions.flatMap((name) => (given[name] === undefined ? [] : [[name, given[name]]])),
    );
    return { ask, id, bytes, options: { ...kept, engines: [], devices: await devices.select(String(given.devices)) } };
  }
  if (typeof ask === "string" && methods.has(ask) && Array.isArray(args)) return { ask, id, args };
  throw new RangeError(`the message ${String(ask)} is not one of the page's`);
}

/** A comparison with devices of the machine as its judge in place of their names. Rejects as `select`. */
async function withJudge({ args, ...message }: Checked, devices: MachineDevices): Promise<Checked> {
  const asked = recordOf(Array.isArray(args) ? args[0] : undefined);
  return { ...message, args: [{ ...asked, against: await devices.select(String(asked.against)) }] };
}

function recordOf(value: unknown): Readonly<Record<string, unknown>> {
  if (typeof value === "object" && value !== null && !Array.isArray(value)) return { ...value };
  throw new RangeError("a message is not an object");
}
