/**
 * A Redis of a test's own: a process with a socket and files in a private folder. A test that needs one is skipped, with the reason, if it
 * is not installed (Debian: apt-get install redis-server).
 */
import { type ChildProcess, spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { connect } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

/** True if redis-server is installed. */
export const hasRedis: boolean = spawnSync("redis-server", ["--version"]).status === 0;

/** Suffix of the names of tests that are skipped without it. */
export const redisRemedy: string = hasRedis ? "" : " (skipped: apt-get install redis-server)";

/** A Redis that keeps its data in a file. */
export interface TestRedis {
  /** The path of its socket. */
  readonly url: string;
  readonly folder: string;
  /** Ends the process by its id, abruptly or in order, and starts it again with the same files. */
  restart(signal: "SIGKILL" | "SIGTERM"): Promise<void>;
  /** Ends the process, until `restart`. */
  pause(): Promise<void>;
  stop(): Promise<void>;
}

/** Starts a Redis. */
export async function startRedis(): Promise<TestRedis> {
  const folder = mkdtempSync(join(tmpdir(), "nnhal-redis-"));
  const url = join(folder, "socket");
  let child = await start(folder, url);
  const end = async (signal: NodeJS.Signals) => {
    if (child.exitCode !== null || child.signalCode !== null) return;
    const ended = once(child, "exit");
    child.kill(signal);
    await ended;
  };
  return {
    url,
    folder,
    async restart(signal) {
      await end(signal);
      child = await start(folder, url);
    },
    pause: () => end("SIGKILL"),
    async stop() {
      await end("SIGKILL");
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function start(folder: string, socket: string): Promise<ChildProcess> {
  const settings = ["--port", "0", "--unixsocket", socket, "--dir", folder, "--save", "", "--appendonly", "yes"];
  const child = spawn("redis-server", settings, { stdio: "ignore" });
  // It ends with the test, however that ends.
  process.once("exit", () => child.kill("SIGKILL"));
  while (!(await answers(socket))) {
    if (child.exitCode !== null) throw new Error(`redis-server ended with the code ${child.exitCode}`);
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
  return child;
}

/** Returns whether it has read its files and takes commands. */
function answers(socket: string): Promise<boolean> {
  return new Promise((resolve) => {
    const connection = connect(socket, () => connection.write("PING\r\n"));
    connection.once("data", (data) => {
      resolve(data.toString().startsWith("+PONG"));
      connection.destroy();
    });
    connection.once("error", () => resolve(false));
    connection.once("close", () => resolve(false));
  });
}
