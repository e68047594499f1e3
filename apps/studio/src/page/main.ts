/**
 * Entry of the page: shows it, and opens the file that it was started with, or the network of the demonstration.
 */
import { h, render } from "preact";
import { App } from "./app.ts";
import { enterMachine, isServed } from "./machine.ts";
import { attempt, openFile } from "./store.ts";

render(h(App, null), document.body);

const given = isServed() ? await attempt("connecting to nnhal studio", enterMachine) : undefined;
if (given !== undefined) await openFile(given.name, given.read);
else await openDemonstration();

/** Opens the network that reads digits. It lies beside the page. */
async function openDemonstration(): Promise<void> {
  const read = async () => (await fetch("./demo/digits-uint8.tflite")).arrayBuffer();
  await openFile("digits-uint8.tflite", read, true);
}
