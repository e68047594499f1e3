/** The result of `nnhal conformance` in one line, as a picture for a README. */

import type { Counts } from "@nnhal/conformance";
import type { HalVersion } from "@nnhal/types";
import { escapeXml } from "@nnhal/utils/graph";

const height = 22;
/** Width of a character, on average, and room at both sides. */
const [perCharacter, room] = [6.6, 16];
const colours = { right: "#1a7f4b", wrong: "#c8322b", nothing: "#5c6570" };

/** A badge as a file of its own: what was tested, and how it came out. */
export function badgeFile(version: HalVersion, counts: Counts): string {
  return `${badgeOf(version, counts).replace("<svg ", '<svg xmlns="http://www.w3.org/2000/svg" ')}\n`;
}

/** A badge in a page. It needs no fonts or styles of its own. */
export function badgeOf(version: HalVersion, { passed, failed }: Counts): string {
  const name = `NN HAL ${version}`;
  const number = (count: number) => count.toLocaleString("en-US");
  const result = failed > 0 ? `${number(failed)} failed, ${number(passed)} passed` : `${number(passed)} passed`;
  const colour = failed > 0 ? colours.wrong : passed > 0 ? colours.right : colours.nothing;
  const left = widthOf(name) + room;
  const width = left + widthOf(result) + room;
  const text = (of: string, middle: number) =>
    `<text x="${middle}" y="15" text-anchor="middle" textLength="${widthOf(of)}">${escapeXml(of)}</text>`;
  return (
    `<svg width="${width}" height="${height}" role="img" aria-label="${escapeXml(`${name}: ${result}`)}">` +
    `<rect width="${width}" height="${height}" rx="4" fill="${colour}"/>` +
    `<path d="M4 0H${left}V${height}H4a4 4 0 0 1-4-4V4a4 4 0 0 1 4-4z" fill="#3a424b"/>` +
    `<g fill="#fff" font-family="Verdana,DejaVu Sans,sans-serif" font-size="11">` +
    `${text(name, left / 2)}${text(result, (left + width) / 2)}</g></svg>`
  );
}

function widthOf(text: string): number {
  return Math.round(text.length * perCharacter);
}
