/**
 * Runs of the network: where it runs, its inputs, and what comes out.
 */
import type { TensorInfo } from "@nnhal/network";
import { useSignal } from "@preact/signals";
import { h } from "preact";
import { useEffect } from "preact/hooks";
import type { GivenInput } from "../engine/given-inputs.ts";
import { SOUND_RATE } from "../engine/sound-rate.ts";
import { countOf, timeText } from "../text.ts";
import { CameraInput } from "./camera-input.ts";
import { DrawingPad } from "./drawing-pad.ts";
import { FileButton } from "./file-button.ts";
import { pictureSize, soundLength, takesText } from "./input-kinds.ts";
import { LabelsChoice } from "./labels-choice.ts";
import { MicrophoneInput } from "./microphone-input.ts";
import { Placing } from "./placing.ts";
import { CHART, Results } from "./results.ts";
import {
  give,
  giveText,
  inputs,
  labels,
  lastRun,
  place,
  placement,
  prepare,
  prepared,
  resetState,
  run,
  runNow,
  steps,
  times,
} from "./session.ts";
import { problem, readFile, shown } from "./store.ts";

/** The part of the page that runs the network. */
export function RunPanel() {
  const file = shown.value?.file;
  const canRun = file?.examined === undefined || file.examined.problemCount === 0;
  useEffect(() => {
    if (canRun && prepared.value === undefined) void prepare();
  }, [file?.subgraphs[0]?.tensors, canRun, placement.value]);
  if (!canRun)
    return h(
      "main",
      { class: "cards" },
      h("section", { class: "card" }, "This network cannot run: the graph shows why."),
    );
  const model = prepared.value;
  const mayHaveClasses = lastRun.value?.task !== undefined || lastRun.value === undefined || labels.value !== undefined;
  return h(
    "main",
    { class: "cards" },
    h(
      "section",
      { class: "card" },
      h("h2", null, "Inputs"),
      h(Placing, null),
      model !== undefined && takesText(model.inputs) && h(TextInput, null),
      model?.inputs.map((info) => h(Input, { key: info.name, info })),
      model !== undefined &&
        h(
          "p",
          { class: "actions" },
          h("button", { type: "button", class: "main", onClick: () => void run() }, "Run"),
          model.inputs.length > 1 &&
            h("button", { type: "button", onClick: () => giveNoise(model.inputs) }, "Noise for all inputs"),
          model.states.length > 0 && [
            h("button", { key: "steps", type: "button", onClick: () => void run(STEPS) }, `Run ${STEPS} steps`),
            h("button", { key: "reset", type: "button", onClick: () => void resetState() }, "Set the state back"),
          ],
        ),
      model !== undefined &&
        model.states.length > 0 &&
        h(
          "p",
          { class: "soft" },
          `The network keeps ${countOf(model.states.length, "value")} from one run to the next: ${countOf(steps.value, "step")} since the start.`,
        ),
      model?.warnings.map((warning) => h("p", { key: warning, class: "soft" }, warning)),
    ),
    h(
      "section",
      { class: "card", "aria-live": "polite" },
      h("h2", null, "Outputs", times.value.length > 0 && h("small", null, timesText(times.value))),
      times.value.length > 1 && h(Times, null),
      model !== undefined && mayHaveClasses && h(LabelsChoice, null),
      lastRun.value === undefined
        ? h("p", { class: "soft" }, "Nothing has run yet.")
        : h(Results, { result: lastRun.value }),
    ),
  );
}

function timesText(all: readonly number[]): string {
  const sorted = [...all].sort((a, b) => a - b);
  const last = timeText(all.at(-1) ?? 0);
  return all.length === 1 ? last : `${last}, median ${timeText(sorted[all.length >> 1] ?? 0)} of ${all.length}`;
}

/** Runs of a model with states at a time. */
const STEPS = 10;

/** The times of the last runs as bars. */
function Times() {
  const most = Math.max(...times.value);
  const each = CHART.width / Math.max(20, times.value.length);
  return h(
    "svg",
    {
      class: "histogram",
      viewBox: `0 0 ${CHART.width} ${CHART.height}`,
      role: "img",
      "aria-label": `Times of the last runs, at most ${timeText(most)}`,
    },
    times.value.map((time, place) => {
      const height = (time / most) * CHART.height;
      return h("rect", { key: place, x: place * each, y: CHART.height - height, width: each - 1, height });
    }),
  );
}

/** The shape of an input, which can be another one: extents that the file leaves open, or a batch. */
function ShapeChoice({ info: { name, shape } }: { readonly info: TensorInfo }) {
  const text = useSignal(shape.join(", "));
  return h(
    "details",
    null,
    h("summary", { class: "soft" }, "shape"),
    h(
      "form",
      {
        class: "actions",
        onSubmit: (event: Event) => {
          event.preventDefault();
          const extents = text.value
            .split(/[\s,×x]+/)
            .filter((word) => word !== "")
            .map(Number);
          if (extents.some((extent) => !Number.isInteger(extent) || extent < 1))
            problem.value = `the shape of ${name}: expected whole numbers from 1 on, got ${text.value}`;
          else place({ inputShapes: { ...placement.value.inputShapes, [name]: extents } });
        },
      },
      h("input", {
        type: "text",
        "aria-label": `The shape of ${name}`,
        value: text.value,
        onInput: (event: { currentTarget: HTMLInputElement }) => {
          text.value = event.currentTarget.value;
        },
      }),
      h("button", { type: "submit" }, "Set the shape"),
    ),
  );
}

/** Gives each input noise of its own, and runs. */
function giveNoise(infos: readonly TensorInfo[]): void {
  for (const [place, { name }] of infos.entries()) give(name, { kind: "noise", seed: place + 1 });
  void run();
}

/** A text for all inputs: the tokeniser of the network cuts it. */
function TextInput() {
  const text = useSignal("");
  return h(
    "form",
    {
      class: "sentence",
      onSubmit: (event: Event) => {
        event.preventDefault();
        void giveText(text.value);
      },
    },
    h("textarea", {
      rows: 3,
      "aria-label": "A text for the network",
      placeholder: "a text, which becomes the values of all inputs",
      value: text.value,
      onInput: (event: { currentTarget: HTMLTextAreaElement }) => {
        text.value = event.currentTarget.value;
      },
    }),
    h("button", { type: "submit", class: "main" }, "Read the text"),
  );
}

/** An input with the ways to give it a value. */
function Input({ info }: { readonly info: TensorInfo }) {
  const text = useSignal("");
  const { name, type, shape, description } = info;
  const given = inputs.value[name];
  const size = pictureSize(info);
  const samples = soundLength(info);
  const isDigit = size !== undefined && size.width <= 64 && size.height <= 64;
  const set = (value: GivenInput) => {
    give(name, value);
    void run();
  };
  return h(
    "fieldset",
    { "data-input": name },
    h("legend", null, name, h("small", null, `${type} [${shape.join(", ")}]`)),
    description !== undefined && h("p", { class: "soft" }, description),
    h(ShapeChoice, { key: `shape ${shape.join()}`, info }),
    size !== undefined && given?.kind === "file" && h(Preview, { bytes: given.bytes, name }),
    isDigit && h(DrawingPad, { onDraw: (pixels) => set({ kind: "pixels", ...pixels }) }),
    h(
      "p",
      { class: "actions" },
      h(FileButton, {
        title: size === undefined ? "A file" : "A picture",
        label: `A file for ${name}`,
        isQuiet: true,
        onFile: async (file) => {
          const bytes = await readFile(file);
          if (bytes !== undefined) set({ kind: "file", bytes });
        },
      }),
      h("button", { type: "button", onClick: () => set({ kind: "noise", seed: 1 }) }, "Noise"),
      h("button", { type: "button", onClick: () => set({ kind: "zeros" }) }, "Zeros"),
      h("span", { class: "soft" }, givenText(given)),
      size !== undefined &&
        h(CameraInput, {
          onFrame: async (pixels) => {
            give(name, { kind: "pixels", ...pixels });
            await runNow();
          },
        }),
      samples !== undefined &&
        h(MicrophoneInput, {
          count: samples,
          rate: SOUND_RATE,
          onSamples: async (heard) => {
            give(name, { kind: "samples", samples: heard });
            await runNow();
          },
        }),
    ),
    size === undefined &&
      h(
        "form",
        {
          class: "actions",
          onSubmit: (event: Event) => {
            event.preventDefault();
            set({ kind: "text", text: text.value });
          },
        },
        h("input", {
          type: "text",
          "aria-label": type === "string" ? `The text of ${name}` : `The numbers of ${name}`,
          placeholder: type === "string" ? "a text" : "numbers, with commas or spaces",
          value: text.value,
          onInput: (event: { currentTarget: HTMLInputElement }) => {
            text.value = event.currentTarget.value;
          },
        }),
        h("button", { type: "submit" }, "Give"),
      ),
  );
}

/** The picture that an input was given; nothing if the browser does not show the file, such as one of numbers. */
function Preview({ bytes, name }: { readonly bytes: Uint8Array; readonly name: string }) {
  const address = useSignal<string | undefined>(undefined);
  useEffect(() => {
    const made = URL.createObjectURL(new Blob([new Uint8Array(bytes)]));
    address.value = made;
    return () => URL.revokeObjectURL(made);
  }, [bytes]);
  if (address.value === undefined) return null;
  return h("img", {
    class: "preview",
    src: address.value,
    alt: `The picture for ${name}`,
    onError: () => {
      address.value = undefined;
    },
  });
}

function givenText(given: GivenInput | undefined): string {
  if (given === undefined || given.kind === "zeros") return "now: zeros";
  const texts = {
    file: "a file",
    pixels: "a picture",
    samples: "a sound",
    text: "a text",
    sentence: "the text",
    noise: "noise",
  };
  return `now: ${texts[given.kind]}`;
}
