/**
 * Runs of the network: where it runs, its inputs, and what comes out.
 */
import type { TensorInfo } from "@nnhal/network";
import { useSignal } from "@preact/signals";
import { h } from "preact";
import { useEffect, useRef } from "preact/hooks";
import type { GivenInput, OutputView, RunView } from "../engine/runner.ts";
import { SOUND_RATE } from "../engine/sound-rate.ts";
import { countText, numberText, timeText } from "../text.ts";
import { CameraInput } from "./camera-input.ts";
import { Summary } from "./details.ts";
import { DrawingPad } from "./drawing-pad.ts";
import { MicrophoneInput, MOST_SAMPLES } from "./microphone-input.ts";
import { Placing } from "./placing.ts";
import {
  give,
  inputs,
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
import { problem, shown } from "./store.ts";

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
  return h(
    "main",
    { class: "cards" },
    h(
      "section",
      { class: "card" },
      h("h2", null, "Inputs"),
      h(Placing, null),
      model?.inputs.map((info) => h(Input, { key: info.name, info })),
      model !== undefined &&
        h(
          "p",
          { class: "actions" },
          h("button", { type: "button", class: "main", onClick: () => void run() }, "Run"),
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

function countOf(count: number, what: string): string {
  return `${countText(count)} ${what}${count === 1 ? "" : "s"}`;
}

const CHART = { width: 600, height: 60 };

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

/** Extents of a picture if an input can take one. */
function pictureSize({ shape, type }: TensorInfo): { readonly width: number; readonly height: number } | undefined {
  const [, second = 0, third = 0, last = 0] = shape;
  if (shape.length !== 4 || type === "string") return undefined;
  if ([1, 3].includes(last)) return { width: third || 224, height: second || 224 };
  return [1, 3].includes(second) ? { width: last || 224, height: third || 224 } : undefined;
}

/** Samples of a sound if an input can take one: its only extent. */
function soundLength({ shape, type }: TensorInfo): number | undefined {
  const count = shape.reduce((product, extent) => product * extent, 1);
  const isList = shape.filter((extent) => extent !== 1).length === 1;
  return type === "float32" && isList && count >= LEAST_SAMPLES && count <= MOST_SAMPLES ? count : undefined;
}

/** Shorter inputs are not of sound: a quarter of a second. */
const LEAST_SAMPLES = SOUND_RATE / 4;

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

/** An input with the ways to give it a value. */
function Input({ info }: { readonly info: TensorInfo }) {
  const chosen = useRef<HTMLInputElement>(null);
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
    null,
    h("legend", null, name, h("small", null, `${type} [${shape.join(", ")}]`)),
    description !== undefined && h("p", { class: "soft" }, description),
    h(ShapeChoice, { key: `shape ${shape.join()}`, info }),
    size !== undefined && given?.kind === "file" && h(Preview, { bytes: given.bytes, name }),
    isDigit && h(DrawingPad, { onDraw: (pixels) => set({ kind: "pixels", ...pixels }) }),
    h(
      "p",
      { class: "actions" },
      h(
        "button",
        { type: "button", onClick: () => chosen.current?.click() },
        size === undefined ? "A file" : "A picture",
      ),
      h("button", { type: "button", onClick: () => set({ kind: "noise", seed: 1 }) }, "Noise"),
      h("button", { type: "button", onClick: () => set({ kind: "zeros" }) }, "Zeros"),
      h("input", {
        ref: chosen,
        type: "file",
        hidden: true,
        "aria-label": `A file for ${name}`,
        onChange: async () => {
          const [file] = chosen.current?.files ?? [];
          if (file !== undefined) set({ kind: "file", bytes: new Uint8Array(await file.arrayBuffer()) });
        },
      }),
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
  const texts = { file: "a file", pixels: "a picture", samples: "a sound", text: "a text", noise: "noise" };
  return `now: ${texts[given.kind]}`;
}

const taskTitles: Readonly<Record<string, string>> = {
  classify: "The best classes",
  detect: "Things in the picture",
  segment: "Areas of the picture",
  landmarks: "Points in the picture",
};

function Results({ result }: { readonly result: RunView }) {
  const { found, task, drawn, outputs, states } = result;
  const most = Math.max(...found.map(({ score }) => Math.abs(score ?? 0)), 1e-9);
  return h(
    "div",
    null,
    drawn !== undefined && h(Drawn, { drawn }),
    task !== undefined && [
      h("h3", { key: "title" }, taskTitles[task] ?? task),
      found.length === 0 && h("p", { key: "none", class: "soft" }, "none"),
      h(
        "ol",
        { key: "found", class: "found" },
        found
          .slice(0, 40)
          .map(({ label, score }, place) =>
            h(
              "li",
              { key: place },
              h("span", { class: "name" }, label),
              score !== undefined &&
                h("meter", { min: 0, max: Math.max(1, most), value: Math.max(0, score), "aria-label": label }),
              score !== undefined && h("span", { class: "number" }, numberText(score, 4)),
            ),
          ),
      ),
    ],
    outputs.map((output) => h(Output, { key: output.name, output })),
    states.length > 0 && h("h3", null, "State"),
    states.map((state) => h(Output, { key: state.name, output: state })),
  );
}

function Output({ output: { name, type, shape, summary, points, strings } }: { readonly output: OutputView }) {
  return h(
    "details",
    { class: "tensor", open: true },
    h(
      "summary",
      null,
      h("span", { class: "name" }, name),
      h("span", { class: "type" }, `${type} [${shape.join(", ")}]`),
    ),
    strings === undefined
      ? [
          points.length > 1 && [
            h("p", { key: "caption", class: "caption" }, "in their order"),
            h(Chart, { key: "chart", points, name }),
            h("p", { key: "counts", class: "caption" }, "by value"),
          ],
          h(Summary, { key: "summary", summary, title: "values" }),
        ]
      : h(
          "ul",
          null,
          strings.slice(0, 100).map((text, place) => h("li", { key: place }, text)),
        ),
  );
}

/** Values in their order as bars from 0. */
function Chart({ points, name }: { readonly points: readonly number[]; readonly name: string }) {
  const finite = points.map((value) => (Number.isFinite(value) ? value : 0));
  const [most, least] = [Math.max(0, ...finite), Math.min(0, ...finite)];
  const unit = CHART.height / (most - least || 1);
  const each = CHART.width / points.length;
  return h(
    "svg",
    {
      class: "histogram chart",
      viewBox: `0 0 ${CHART.width} ${CHART.height}`,
      preserveAspectRatio: "none",
      role: "img",
      "aria-label": `Values of ${name} in their order, from ${numberText(least, 3)} to ${numberText(most, 3)}`,
    },
    finite.map((value, place) =>
      h("rect", {
        key: place,
        x: place * each,
        y: (most - Math.max(0, value)) * unit,
        width: Math.max(0.5, each * 0.9),
        height: Math.max(0.5, Math.abs(value) * unit),
      }),
    ),
  );
}

/** The picture with what was seen in it. */
function Drawn({ drawn: { width, height, data } }: { readonly drawn: NonNullable<RunView["drawn"]> }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    const pixels = new ImageData(width, height);
    pixels.data.set(data);
    canvas.current?.getContext("2d")?.putImageData(pixels, 0, 0);
  }, [data]);
  return h("canvas", {
    ref: canvas,
    class: "seen",
    width,
    height,
    role: "img",
    "aria-label": "The picture with what was seen in it",
  });
}
