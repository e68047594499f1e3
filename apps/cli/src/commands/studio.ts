/**
 * `nnhal studio [MODEL]`: serves the page that shows, runs and explains networks, with the devices of this machine.
 */
import { spawn } from "node:child_process";
import { basename } from "node:path";
import { port as portNumber } from "@nnhal/program";
import { type MachineDevices, serveStudio } from "@nnhal/studio/server";
import type { Command } from "commander";
import type { ModelCommandContext } from "../context.ts";
import { failure, messageOf } from "../failure.ts";
import { readUserFile } from "../files.ts";
import { oneLine } from "../text.ts";

/** The command's options, as commander parses them. */
export interface StudioCommandOptions {
  readonly port: number;
  readonly open?: boolean;
}

const help = `
The page is served on 127.0.0.1 until Ctrl-C. The address has a token, which opens the page once: reload the page as often as
you like, and start the command again for another browser. What you open in the page stays on this machine.

In the page a network runs on the engines of the browser, or on the devices that nnhal devices lists here: those of
--driver and --backend, too.

Examples:
  nnhal studio
  nnhal studio mobilenet.tflite --open
  nnhal --driver sample studio mobilenet.tflite`;

/** Gives the command its arguments, options and work. */
export function registerStudioCommand(command: Command, context: () => Promise<ModelCommandContext>): void {
  command
    .argument("[model]", "the .tflite file to show (default: the page opens a network that reads digits)")
    .option("--port <number>", "the port to serve on (default: any that is free)", portNumber, 0)
    .option("--open", "open the page in the browser of this system")
    .addHelpText("after", help)
    .action(async (model: string | undefined, options: StudioCommandOptions) =>
      runStudioCommand(model, options, await context()),
    );
}

type StudioContext = Pick<ModelCommandContext, "cwd" | "stdout" | "stderr" | "devices" | "onInterrupt">;

/** Runs the command until it is interrupted. `serve`: what serves the page. Rejects with a CommandError. */
export async function runStudioCommand(
  path: string | undefined,
  { port, open = false }: StudioCommandOptions,
  { cwd, stdout, stderr, devices, onInterrupt }: StudioContext,
  serve = serveStudio,
): Promise<void> {
  const bytes = path === undefined ? undefined : await readUserFile(path, { what: "the model", cwd });
  const model =
    path !== undefined && bytes !== undefined ? { name: basename(path), read: async () => bytes } : undefined;
  const machine: MachineDevices = {
    list: async () =>
      (await devices.list()).map(({ name, opened }) => ({
        name,
        problem: "unavailable" in opened ? oneLine(opened.unavailable) : undefined,
      })),
    select: async (names) => (await devices.select(names)).devices,
  };
  const server = await serve({ port, model, devices: machine }).catch((error: unknown) => {
    throw failure(`the page cannot be served: ${oneLine(messageOf(error))}`, error);
  });
  const interrupted = new Promise<void>((resolve) => {
    onInterrupt?.(resolve);
  });
  stdout.write(`nnhal studio: ${server.url}\n`);
  if (open) openPage(server.url, (message) => stderr.write(`nnhal studio: note: ${message}\n`));
  await interrupted;
  await server.close();
}

/** Programs that open an address, by system. */
const openers: Readonly<Record<string, readonly [string, ...string[]]>> = {
  darwin: ["open"],
  win32: ["rundll32", "url.dll,FileProtocolHandler"],
};

function openPage(url: string, note: (message: string) => void): void {
  const [program, ...args] = openers[process.platform] ?? ["xdg-open"];
  const child = spawn(program, [...args, url], { stdio: "ignore", detached: true });
  child.once("error", (error) =>
    note(`the browser cannot be opened: ${oneLine(error.message)}; open the address yourself`),
  );
  child.unref();
}
