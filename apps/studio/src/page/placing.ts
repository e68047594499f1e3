/**
 * Where the network runs, and its signature: the choice that runs and comparisons share.
 */
import { h } from "preact";
import { timeText } from "../text.ts";
import { machineDevices } from "./machine.ts";
import { place, placement, prepared } from "./session.ts";
import { shown } from "./store.ts";

/** Devices of a browser. */
const browserDevices: readonly (readonly [devices: string, title: string])[] = [
  ["auto", "this browser: the best engine for each operation"],
  ["wasm", "this browser: nnhal-wasm alone"],
  ["reference", "this browser: nnhal-reference alone"],
  ["tfjs", "this browser: nnhal-tfjs alone (TensorFlow.js)"],
];

const onMachine = "machine:";

/** The choice of devices and signature. */
export function Placing() {
  const { devices, isOnMachine, signature } = placement.value;
  const machine = machineDevices.value ?? [];
  const signatures = shown.value?.file.signatures ?? [];
  return h(
    "div",
    { class: "placing" },
    h(
      "label",
      null,
      "run on ",
      h(
        "select",
        {
          value: `${isOnMachine ? onMachine : ""}${devices}`,
          onChange: (event: { currentTarget: HTMLSelectElement }) => {
            const chosen = event.currentTarget.value;
            const isMachine = chosen.startsWith(onMachine);
            place({ devices: isMachine ? chosen.slice(onMachine.length) : chosen, isOnMachine: isMachine });
          },
        },
        browserDevices.map(([name, title]) => h("option", { key: name, value: name }, title)),
        machine.length > 0 && h("option", { value: `${onMachine}auto` }, "this machine: all its devices"),
        machine.map(({ name, problem }) =>
          h(
            "option",
            { key: name, value: `${onMachine}${name}`, disabled: problem !== undefined, title: problem },
            `this machine: ${name}${problem === undefined ? "" : " (not available)"}`,
          ),
        ),
      ),
    ),
    signatures.length > 1 &&
      h(
        "label",
        null,
        "signature ",
        h(
          "select",
          {
            value: signature ?? "",
            onChange: (event: { currentTarget: HTMLSelectElement }) =>
              place({ signature: event.currentTarget.value || undefined }),
          },
          h("option", { value: "" }, "the first subgraph"),
          signatures.map(({ key }) => h("option", { key, value: key }, key)),
        ),
      ),
    prepared.value !== undefined &&
      h("p", { class: "soft" }, `prepared on ${prepared.value.devices.join(", ")} in ${timeText(prepared.value.time)}`),
  );
}
