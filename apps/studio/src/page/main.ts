/**
 * Entry of the page: shows it, and opens the file that it was started with, or the network of the demonstration.
 */
import { h, render } from "preact";
import { App } from "./app.ts";
import { keepHistory } from "./history.ts";
import { enterMachine, isServed } from "./machine.ts";
import { attempt, openFile, problem } from "./store.ts";

render(h(App, null), document.body);

const given = isServed() ? await attempt("connecting to nnhal studio", enterMachine) : undefined;
keepHistory();
const refusal = problem.value;
if (given !== undefined) await openFile(given.name, given.read);
else await openDemonstration();
// Why the devices of the machine are not there, and not the file that it was started with.
problem.value ??= refusal;

/** Opens the network that reads digits. It lies beside the page. */
async function openDemonstration(): Promise<void> {
  const read = async () => (await fetch("./demo/digits-uint8.tflite")).arrayBuffer();
  await openFile("digits-uint8.tflite", read, true);
}
