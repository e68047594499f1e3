/**
 * Where the network runs, and its signature: the choice that runs and comparisons share.
 */
import { useSignal } from "@preact/signals";
import { h } from "preact";
import { useEffect } from "preact/hooks";
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
  ["gpujs", "this browser: nnhal-gpujs alone (gpu.js: WebGPU, or else WebAssembly)"],
];

const onMachine = "machine:";

/** The adapter of WebGPU, if this browser has one: gpu.js uses it then. */
function Adapter() {
  const text = useSignal("");
  useEffect(() => {
    void findAdapter().then((adapter) => {
      text.value = adapter === undefined ? "this browser has no WebGPU: in WebAssembly" : `on WebGPU: ${adapter}`;
    });
  }, []);
  return h("p", { class: "soft" }, text.value);
}

async function findAdapter(): Promise<string | undefined> {
  // Older browsers lack it.
  const adapter = await ("gpu" in navigator ? navigator.gpu.requestAdapter() : undefined);
  if (!adapter) return undefined;
  // Some versions of the types lack what it says of itself.
  const info: Partial<Record<"description" | "vendor" | "architecture", string>> = Reflect.get(adapter, "info") ?? {};
  const { description = "", vendor = "", architecture = "" } = info;
  return description || `${vendor} ${architecture}`.trim() || "an adapter without a name";
}

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
    devices === "gpujs" && !isOnMachine && h(Adapter, null),
  );
}
