/**
 * The program that serves the page, if there is one: what it was started with, and the devices of its machine.
 */
import { signal } from "@preact/signals";
import type { MachineDevice } from "../server/sessions.ts";

/** The devices of the machine; undefined if the page stands alone. */
export const machineDevices = signal<readonly MachineDevice[] | undefined>(undefined);

/** Asks the program. Rejects with what it says. */
async function ask(path: string, body: BodyInit = ""): Promise<Response> {
  const response = await fetch(path, { method: "POST", body });
  if (!response.ok) throw new Error((await response.text()).trim());
  return response;
}

/** True if `nnhal studio` serves the page. */
export function isServed(): boolean {
  return document.querySelector('meta[name="nnhal-studio"]')?.getAttribute("content") === "served";
}

/** Shows the token of the address, which is taken out of it, and returns the file to open. Rejects if the program refuses. */
export async function enterMachine(): Promise<{ readonly name: string; read(): Promise<ArrayBuffer> } | undefined> {
  const token = new URLSearchParams(location.hash.slice(1)).get("token");
  if (token !== null) {
    history.replaceState(null, "", location.pathname);
    await ask("/api/enter", token);
  }
  // The program is of the same version as the page.
  const { model, devices }: { readonly model?: string; readonly devices: readonly MachineDevice[] } = await (
    await ask("/api/start")
  ).json();
  machineDevices.value = devices;
  if (model === undefined) return undefined;
  return { name: model, read: async () => (await ask("/api/model")).arrayBuffer() };
}
