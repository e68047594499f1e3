/**
 * Why a network runs as it does: the plan by device, the time of each operation, the error of each against a judge, and the memory.
 */
import { useComputed, useSignal } from "@preact/signals";
import { h } from "preact";
import { bytesText, countOf, countText, timeText } from "../text.ts";
import { errorText, noiseText, worstText } from "./difference-text.ts";
import { saveJson } from "./download.ts";
import { judgesOf } from "./judges.ts";
import { liveBytes } from "./liveness.ts";
import { machineDevices } from "./machine.ts";
import { partsOf } from "./parts.ts";
import { Placing } from "./placing.ts";
import { compare, difference, explain, explanation, measure, placement, profile } from "./session.ts";
import { colorMode, panel, selectOperator, shown, showSubgraph } from "./store.ts";
import { Timelines } from "./timeline.ts";

/** The part of the page that explains. */
export function WhyPanel() {
  const against = useSignal("reference");
  const judges = judgesOf(placement.value, machineDevices.value);
  const judge = judges.find(({ name }) => name === against.value) ?? judges[0];
  return h(
    "main",
    { class: "cards wide" },
    h(
      "section",
      { class: "card" },
      h("h2", null, "Ask"),
      h(Placing, null),
      h(
        "p",
        { class: "actions" },
        h("button", { type: "button", onClick: () => void explain() }, "Which device computes what"),
        h("button", { type: "button", onClick: () => void measure() }, "Measure each operation"),
        h(
          "button",
          { type: "button", onClick: () => judge && void compare(judge.name) },
          "Compare each operation with",
        ),
        h(
          "select",
          {
            "aria-label": "The judge",
            value: judge?.name,
            onChange: (event: { currentTarget: HTMLSelectElement }) => {
              against.value = event.currentTarget.value;
            },
          },
          judges.map(({ name, title }) => h("option", { key: name, value: name }, title)),
        ),
      ),
    ),
    explanation.value !== undefined && [h(Parts, { key: "parts" }), h(Plan, { key: "plan" })],
    h(Timelines, null),
    h(Memory, null),
  );
}

/** Shows an operator of the main subgraph in the graph. */
async function showOperator(operator: number | undefined): Promise<void> {
  const now = shown.value;
  if (now === undefined || operator === undefined || operator < 0) return;
  await showSubgraph(now.file.main);
  await selectOperator(operator);
  panel.value = "graph";
}

/** The parts of the plan, with the bytes at their borders. */
function Parts() {
  const parts = useComputed(() => {
    const { subgraphs, main, examined } = shown.value?.file ?? { subgraphs: [], main: 0, examined: undefined };
    const subgraph = subgraphs[main];
    const plan = explanation.value;
    return subgraph && plan && partsOf(subgraph, examined?.origins ?? [], plan, profile.value);
  });
  const sizeText = (bytes: number | undefined) => (bytes === undefined ? "–" : bytesText(bytes));
  const isMeasured = profile.value !== undefined;
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Parts and their borders"),
    h(
      "div",
      { class: "scroll stack" },
      h(
        "table",
        { "aria-label": "Parts" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            ["part", "device", "operations", "bytes in", "bytes out", "expected", isMeasured && "measured"].map(
              (title) => title && h("th", { key: title }, title),
            ),
          ),
        ),
        h(
          "tbody",
          null,
          parts.value?.map(({ device, operations, bytesIn, bytesOut, predictedTime, time }, part) =>
            h(
              "tr",
              { key: part },
              h("th", null, part + 1),
              h("td", { "data-label": "device" }, device),
              h("td", { "data-label": "operations" }, countText(operations)),
              h("td", { "data-label": "bytes in" }, sizeText(bytesIn)),
              h("td", { "data-label": "bytes out" }, sizeText(bytesOut)),
              h("td", { "data-label": "expected" }, timeText(predictedTime)),
              isMeasured && h("td", { "data-label": "measured" }, time === undefined ? "–" : timeText(time)),
            ),
          ),
        ),
      ),
    ),
  );
}

/** Plan, times and errors, one row for each operation. */
function Plan() {
  const plan = explanation.value;
  const measured = profile.value;
  const compared = difference.value;
  const rows = useComputed(() => {
    const origins = shown.value?.file.examined?.origins ?? [];
    return (explanation.value?.operations ?? []).map((operation, index) => ({
      ...operation,
      origin: origins[index],
      time: profile.value?.operations[index]?.time,
      error: difference.value?.operations[index],
    }));
  });
  if (plan === undefined) return null;
  const most = Math.max(1e-9, ...rows.value.map(({ time }) => time ?? 0));
  return h(
    "section",
    { class: "card" },
    h("h2", null, "The plan"),
    compared !== undefined && h("p", { class: `verdict ${compared.isRight ? "passed" : "failed"}` }, compared.verdict),
    h(
      "dl",
      null,
      h("dt", null, "devices"),
      h("dd", null, [...new Set(plan.operations.map(({ device }) => device ?? "the runtime"))].join(", ")),
      h("dt", null, "parts"),
      h("dd", null, `${plan.steps.length}, with ${countOf(plan.steps.length - 1, "border")} between devices`),
      h("dt", null, "expected time"),
      h("dd", null, timeText(plan.predictedTime)),
      measured !== undefined && [
        h("dt", { key: "t" }, "measured time"),
        h("dd", { key: "v" }, timeText(measured.time)),
      ],
      compared !== undefined && [
        h("dt", { key: "j" }, "compared with"),
        h("dd", { key: "w" }, compared.against.join(", ")),
      ],
    ),
    h(
      "p",
      { class: "actions" },
      h("button", { type: "button", onClick: () => colorGraphBy("device") }, "Color the graph by device"),
      measured !== undefined && h("button", { type: "button", onClick: () => colorGraphBy("time") }, "by time"),
      compared !== undefined && h("button", { type: "button", onClick: () => colorGraphBy("error") }, "by error"),
      compared !== undefined &&
        h("button", { type: "button", onClick: () => saveJson("diff.json", compared) }, "Save the comparison"),
    ),
    h(
      "div",
      { class: "scroll stack" },
      h(
        "table",
        { "aria-label": "Operations" },
        h(
          "thead",
          null,
          h(
            "tr",
            null,
            [
              "operation",
              "device",
              measured && "time",
              compared && "largest error",
              compared && "SNR",
              compared && "worst element",
              "why",
            ].map((title) => title && h("th", { key: title }, title)),
          ),
        ),
        h(
          "tbody",
          null,
          rows.value.map(({ index, operation, device, reason, origin, time, error }) => {
            const alone = error?.outputs[0]?.alone;
            return h(
              "tr",
              { key: index, class: error?.verdict === "wrong" || error?.verdict === "failed" ? "wrong" : undefined },
              h(
                "th",
                null,
                h(
                  "button",
                  { type: "button", class: "quiet", onClick: () => void showOperator(origin) },
                  `${index + 1} ${operation}`,
                ),
              ),
              h("td", { "data-label": "device" }, device ?? "the runtime"),
              measured &&
                h(
                  "td",
                  { "data-label": "time" },
                  time === undefined
                    ? "–"
                    : [
                        h("meter", { key: "bar", min: 0, max: most, value: time, "aria-label": "time" }),
                        timeText(time),
                      ],
                ),
              compared &&
                h("td", { "data-label": "largest error" }, alone ? errorText(alone) : (error?.verdict ?? "–")),
              compared && h("td", { "data-label": "SNR" }, alone ? noiseText(alone) : "–"),
              compared && h("td", { "data-label": "worst element" }, alone ? worstText(alone) : ""),
              h("td", { class: "why long", "data-label": "why" }, reason),
            );
          }),
        ),
      ),
    ),
  );
}

function colorGraphBy(mode: "device" | "time" | "error"): void {
  colorMode.value = mode;
  panel.value = "graph";
}

const CHART = { width: 900, height: 120 };

/** Bytes of the values that a run keeps, operator by operator. */
function Memory() {
  const live = useComputed(() => {
    const now = shown.value;
    const part = now?.file.subgraphs[now.file.main];
    return part === undefined ? [] : liveBytes(part);
  });
  const most = Math.max(1, ...live.value);
  const peak = live.value.indexOf(most);
  const each = CHART.width / Math.max(1, live.value.length);
  return h(
    "section",
    { class: "card" },
    h("h2", null, "Memory of values"),
    live.value.length === 0 || most === 1
      ? h("p", { class: "soft" }, "The shapes of this network are open.")
      : [
          h(
            "p",
            { key: "text", class: "soft" },
            `At most ${bytesText(most)}, at operator ${countText(peak)}: what is computed and still read, without constants.`,
          ),
          h(
            "svg",
            {
              key: "chart",
              class: "histogram long",
              viewBox: `0 0 ${CHART.width} ${CHART.height}`,
              role: "img",
              "aria-label": `Bytes by operator, at most ${bytesText(most)}`,
            },
            live.value.map((bytes, place) => {
              const height = (bytes / most) * CHART.height;
              return h("rect", {
                key: place,
                x: place * each,
                y: CHART.height - height,
                width: Math.max(0.5, each - 0.5),
                height,
              });
            }),
          ),
        ],
  );
}
