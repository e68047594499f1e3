/**
 * The report of `nnhal diff` for people.
 */
import type { DiffReport, ReportedDifference, ReportedOperation } from "@nnhal/diff";
import { firstName, formatSigned, shareText, short, sizeText, stepsText } from "@nnhal/diff/text";
import { elementAt } from "@nnhal/operations";
import { columns, formatCount, plain, shapeText } from "../text.ts";
import type { SavedPiece, UnsavedPiece } from "./pieces.ts";

/** The report that `--json` prints. */
export interface DiffCommandReport extends DiffReport {
  readonly saved: readonly SavedPiece[];
  /** Wrong operations that were to be saved and could not be. */
  readonly unsaved: readonly UnsavedPiece[];
  /** The folder that has the device's tensors, if they were to be written. */
  readonly recorded?: { readonly folder: string; readonly tensors: number };
  /** Files with node data for Model Explorer. */
  readonly nodeData?: readonly string[];
}

/** The report for people. */
export function formatDiff(report: DiffCommandReport, { all = false }: { readonly all?: boolean | undefined }): string {
  const { operations, ranking, devices, against, inputs } = report;
  const differing = operations.filter(({ verdict }) => verdict === "wrong" || verdict === "failed");
  const worst = ranking.slice(0, Math.max(LISTED - differing.length, 0)).map((index) => elementAt(operations, index));
  const listed = all ? operations : [...new Set([...differing.slice(0, MOST_LISTED), ...worst])];
  const isOneDevice = new Set(listed.map(({ device }) => device)).size <= 1;
  const rows = listed.map((each) => rowOf(each, isOneDevice));
  const lines = [
    `${plain(report.model)}: ${devices.join(", ")} against ${against.join(", ")}, ${inputs.length === 1 ? inputs[0] : formatCount(inputs.length, "run")}`,
    "",
  ];
  if (rows.length > 0)
    lines.push(
      ...columns([
        [
          "",
          "operator",
          "output",
          ...(isOneDevice ? [] : ["device"]),
          "",
          "alone",
          "differ",
          "mean",
          "SNR",
          "network",
          "SNR",
        ],
        ...rows,
      ]),
    );
  const equal = operations.filter(({ outputs }) => outputs.every(({ alone }) => alone?.differing === 0)).length;
  const left = operations.length - listed.length;
  if (left > 0)
    lines.push(`${formatCount(left, "operation")} more (--all): ${equal} compute exactly what the judge does`);
  lines.push("");
  for (const { name, difference } of report.outputs)
    lines.push(`output ${plain(name ?? "")}: ${outputText(difference)}`);
  for (const { model, inputs: files } of report.saved) lines.push(`saved ${model} with ${files.join(", ")}`);
  for (const { operation, reason } of report.unsaved)
    lines.push(`not saved: operation ${operation + 1} (${elementAt(operations, operation).operation}): ${reason}`);
  if (report.recorded)
    lines.push(
      `recorded ${formatCount(report.recorded.tensors, "tensor")} of the first run in ${report.recorded.folder}`,
    );
  if (report.nodeData) lines.push(`for Model Explorer: ${report.nodeData.join(", ")}`);
  lines.push(report.verdict);
  return `${lines.join("\n")}\n`;
}

/** Operations that are listed, if so many differ; and the most that are. */
const LISTED = 12;
const MOST_LISTED = 40;

function rowOf(
  { index, operation, operator, outputs, device, verdict }: ReportedOperation,
  isOneDevice: boolean,
): string[] {
  const alone = outputs.flatMap((output) => output.alone ?? []).sort((a, b) => b.largestReal - a.largestReal)[0];
  const network = outputs
    .flatMap((output) => output.accumulated ?? [])
    .sort((a, b) => b.largestReal - a.largestReal)[0];
  return [
    String(index + 1),
    operator === "" ? operation : operator,
    firstName(outputs[0]?.name ?? "").slice(-MOST_NAME),
    ...(isOneDevice ? [] : [device ?? ""]),
    verdict === "right" ? "" : verdict,
    alone === undefined ? "" : largestText(alone),
    alone === undefined ? "" : shareText(alone.differing, alone.elements),
    alone === undefined || alone.isFloat ? "" : formatSigned(alone.mean),
    ratioColumn(alone),
    network === undefined ? "" : largestText(network),
    ratioColumn(network),
  ];
}

function ratioColumn(difference: ReportedDifference | undefined): string {
  if (difference === undefined) return "";
  const { signalToNoise, differing } = difference;
  return signalToNoise === null ? (differing === 0 ? "equal" : "") : `${signalToNoise.toFixed(0)} dB`;
}

const MOST_NAME = 24;

/** Floats in real numbers, others in steps. */
export function largestText({ isFloat, largest, largestReal, unusual, otherShape }: ReportedDifference): string {
  if (otherShape !== undefined) return `shape ${shapeText(otherShape)}`;
  if (unusual > 0) return `${unusual} NaN`;
  return largest === 0 ? "0" : isFloat ? short(largestReal) : stepsText(largest);
}

function outputText(difference: ReportedDifference): string {
  const { elements, differing, cosine, otherShape } = difference;
  if (otherShape !== undefined) return `the shape is ${shapeText(otherShape)}`;
  if (differing === 0) return `all ${elements} elements are equal`;
  return `${shareText(differing, elements)} of ${elements} elements differ, by up to ${sizeText(difference)}; cosine ${cosine.toFixed(6)}`;
}
