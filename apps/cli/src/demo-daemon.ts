/** The daemon of the demo: it is started for it, in a folder of its own, and ended with it. */
import type { ChildProcess } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Device } from "@nnhal/types";
import type { DemoContext } from "./context.ts";

/** The demo's device in a process of its own. */
export interface DemoDaemon {
  readonly device: Device;
  /** Form in which memories cross to the device. */
  readonly memory: string;
  close(): Promise<void>;
}

/** The device that the daemon serves. */
const served = "nnhal-reference";

/** Milliseconds in which the daemon must be ready. */
const readyLimit = 20_000;

/** Starts the daemon and connects to it, or says why not. Never rejects. */
export async function startDemoDaemon(
  startDriver: NonNullable<DemoContext["startDriver"]>,
): Promise<DemoDaemon | { readonly unavailable: string }> {
  if (process.platform === "win32") return { unavailable: "Windows has no unix sockets of this kind" };
  let folder: string | undefined;
  let child: ChildProcess | undefined;
  const end = async () => {
    if (child !== undefined && child.exitCode === null && child.signalCode === null) {
      const ended = new Promise((resolve) => child?.once("exit", resolve));
      child.kill("SIGTERM");
      await ended;
    }
    if (folder !== undefined) rmSync(folder, { recursive: true, force: true });
  };
  try {
    folder = mkdtempSync(join(tmpdir(), "nnhal-demo-"));
    child = startDriver(["--devices", served, "--dir", folder, "--drain", "1", "--log-level", "warn"]);
    await isReady(child);
    const { connectService } = await import("@nnhal/service");
    const device = await connectService(served, { directory: folder });
    if ("unavailable" in device) throw new Error(device.unavailable);
    const { memoryWay: way } = device;
    return {
      device,
      memory: way.kind === "shared" ? "shared memory" : `copied memory: ${way.reason}`,
      async close() {
        device.close();
        await end();
      },
    };
  } catch (error) {
    await end();
    return { unavailable: error instanceof Error ? error.message : String(error) };
  }
}

/** Rejects if the daemon ends, or is not ready in time. */
function isReady(child: ChildProcess): Promise<void> {
  return new Promise((resolve, reject) => {
    const timeout = setTimeout(() => reject(new Error(`the daemon was not ready in ${readyLimit} ms`)), readyLimit);
    const settle = (action: () => void) => {
      clearTimeout(timeout);
      action();
    };
    let output = "";
    child.stdout?.on("data", (chunk) => {
      output += chunk;
      if (output.includes("\n")) settle(resolve);
    });
    child.once("error", (error) => settle(() => reject(error)));
    child.once("exit", (code) => settle(() => reject(new Error(`the daemon has ended with code ${code}`))));
  });
}
