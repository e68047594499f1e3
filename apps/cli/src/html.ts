/**
 * Pages that need nothing else: no scripts, no fonts, no pictures from elsewhere. Text in them is escaped.
 */
import { escapeXml } from "@nnhal/utils/graph";

/** Text, or an element. */
export type Content = string | readonly Content[] | Element;

/** An element, escaped already. */
export interface Element {
  readonly html: string;
}

/** An element. Text is escaped, attributes are the program's own. */
export function tag(name: string, attributes: string, ...content: readonly Content[]): Element {
  const start = attributes === "" ? name : `${name} ${attributes}`;
  return { html: `<${start}>${content.map(htmlOf).join("")}</${name}>` };
}

function htmlOf(content: Content): string {
  if (typeof content === "string") return escapeXml(content);
  return "html" in content ? content.html : content.map(htmlOf).join("");
}

/** A whole page with its styles. */
export function page(title: string, style: string, ...main: readonly Content[]): string {
  const head = [
    { html: '<meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">' },
    { html: '<meta name="color-scheme" content="light dark">' },
    tag("title", "", title),
    { html: `<style>${style}</style>` },
  ];
  const body = tag("body", "", tag("main", "", ...main));
  return `<!doctype html>\n${tag("html", 'lang="en"', tag("head", "", ...head), body).html}\n`;
}
