/** Runs one program in a place, and checks its output. */
import { spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { runCommand } from "../process.ts";
import { freePort } from "../registry.ts";
import type { Command, Outcome, Place, ProgramName } from "./place.ts";

/** Milliseconds until a service must be ready, and must have ended. */
const serviceLimit = 60_000;

/** Tries a program in a place. Never rejects. */
export async function tryProgram(root: string, place: Place, program: ProgramName): Promise<Outcome> {
  const why = place.impossible?.[program];
  if (why !== undefined) return { kind: "impossible", why };
  const start = performance.now();
  try {
    await trials[program](root, place);
    return { kind: "run", seconds: (performance.now() - start) / 1000 };
  } catch (error) {
    return { kind: "failed", why: error instanceof Error ? error.message : String(error) };
  }
}

const trials: Readonly<Record<ProgramName, (root: string, place: Place) => Promise<void>>> = {
  "three lines": (root, place) => expectScript(root, place, "lines.mjs", "sees a 3, and 255 255 255"),
  "command line": (root, place) =>
    expectOutput(
      root,
      place,
      place.command("nnhal", "run", "digits.tflite", "--input", "digit.png", "--json"),
      '"top":[{"index":3,',
    ),
  worker: (root, place) => expectScript(root, place, "worker.mjs", "sees a 3"),
  async daemon(root, place) {
    const directory = mkdtempSync(join(tmpdir(), "nnhal-run-"));
    try {
      const daemon = place.command("nnhal-sample-driver", "--dir", directory, "--devices", "nnapi-sample_all");
      await withService(place, daemon, () =>
        expectOutput(root, place, place.script("client.mjs", directory), "sees a 3 with nnapi-sample_all"),
      );
    } finally {
      rmSync(directory, { recursive: true, force: true });
    }
  },
  server: (root, place) =>
    withService(place, place.command("nnhal-server", "digits.tflite", "--port", "0", "--grpc-port", "0"), (ready) => {
      const url = / rest=(\S+)/.exec(ready)?.[1] ?? "";
      return expectOutput(root, place, place.script("request.mjs", url), "answers as the model does here");
    }),
};

/** Runs a script, or requests the site's page that replaces it. Throws an Error with the answer unless that contains a text. */
async function expectScript(root: string, place: Place, script: string, text: string): Promise<void> {
  const { site } = place;
  if (site === undefined) return expectOutput(root, place, place.script(script), text);
  const port = await freePort();
  await withService(
    { ...place, env: { ...place.env, ...site.env(port) } },
    site.start(port),
    async () => {
      const response = await fetch(`http://127.0.0.1:${port}${site.route(script)}`);
      const answer = await response.text();
      if (!answer.includes(text)) throw new Error(`it answers ${response.status}: ${answer}`);
    },
    site.ready,
  );
}

/** Runs a command to its end. Throws an Error with its output unless that contains a text. */
async function expectOutput(root: string, place: Place, [command, ...args]: Command, text: string): Promise<void> {
  const { ok, output } = await runCommand(root, command, args, place.folder, place.env);
  if (!ok || !output.includes(text)) throw new Error(output.trim() === "" ? "it printed nothing" : output.trim());
}

/** Starts a service, does work while it is ready, and ends it with SIGTERM. Throws an Error if it fails or does not end. */
async function withService(
  place: Place,
  [command, ...args]: Command,
  work: (ready: string) => Promise<void>,
  readyLine = /^ready .*$/m,
): Promise<void> {
  // A process group: package managers start the program as a child of theirs.
  const child = spawn(command, args, {
    cwd: place.folder,
    stdio: ["ignore", "pipe", "pipe"],
    detached: true,
    env: { ...process.env, NO_COLOR: "1", FORCE_COLOR: undefined, ...place.env },
  });
  let output = "";
  const ended = once(child, "close");
  const failed = ended.then(() => {
    throw new Error(`it ended before it was ready: ${output.trim()}`);
  });
  failed.catch(() => {});
  ended.catch(() => {});
  const ready = new Promise<string>((resolve) => {
    for (const stream of [child.stdout, child.stderr]) {
      stream.setEncoding("utf8").on("data", (text: string) => {
        output += text;
        const line = readyLine.exec(output);
        if (line !== null) resolve(line[0]);
      });
    }
  });
  const end = (signal: NodeJS.Signals) => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, signal);
    } catch {
      // All of it has ended.
    }
  };
  try {
    await work(await within(Promise.race([ready, failed]), () => `it was not ready in time: ${output.trim()}`));
    end("SIGTERM");
    await within(ended, () => `it does not end after SIGTERM: ${output.trim()}`);
  } finally {
    end("SIGKILL");
  }
}

async function within<Value>(work: Promise<Value>, message: () => string): Promise<Value> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(message())), serviceLimit);
  });
  try {
    return await Promise.race([work, late]);
  } finally {
    clearTimeout(timer);
  }
}
