/**
 * The part of the page that is shown, as a file that needs nothing else: HTML, SVG or PNG.
 */

/** A copy of what is shown. */
interface Snapshot {
  readonly element: HTMLElement;
  readonly styles: string;
  readonly theme: "light" | "dark";
  /** In pixels of the page. */
  readonly width: number;
  readonly height: number;
}

/** Elements with which a person does something: a file has no use for them. */
const controls = ".actions, .zoom, .spoken, .toolbar, .pad, .placing label, form, input, video, .back";

/** Letters that XML does not have. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are what is looked for
const unprintable = /[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]/g;

/** Longest side of a PNG, which browsers draw. */
const MOST_PIXELS = 16_000;

/** Copies what is shown. */
function copyShown(): Snapshot {
  const shown = document.querySelector("main");
  if (shown === null) throw new Error("expected a part of the page to save, got none");
  const element = document.importNode(shown, true);
  const copies = [...element.querySelectorAll<Pictured>("canvas, img")];
  for (const [place, original] of [...shown.querySelectorAll<Pictured>("canvas, img")].entries()) {
    const picture = document.createElement("img");
    picture.src = dataAddress(original);
    picture.className = original.className;
    picture.width = original.clientWidth;
    picture.height = original.clientHeight;
    picture.alt = original.getAttribute("aria-label") ?? original.getAttribute("alt") ?? "";
    copies[place]?.replaceWith(picture);
  }
  for (const control of element.querySelectorAll(controls)) control.remove();
  for (const button of element.querySelectorAll("button")) {
    const text = document.createElement("span");
    text.append(...button.childNodes);
    button.replaceWith(text);
  }
  const isGraph = shown.classList.contains("graph-panel");
  element.style.height = isGraph ? `${shown.clientHeight}px` : "auto";
  const rules = [...document.styleSheets].flatMap((sheet) => [...sheet.cssRules].map(({ cssText }) => cssText));
  const { colorScheme } = getComputedStyle(document.documentElement);
  const isDark =
    colorScheme === "dark" || (colorScheme !== "light" && matchMedia("(prefers-color-scheme: dark)").matches);
  return {
    element,
    styles: [...rules, "html, body, .app { height: auto }", "main { overflow: visible !important }"].join("\n"),
    theme: isDark ? "dark" : "light",
    width: shown.clientWidth,
    height: isGraph ? shown.clientHeight : shown.scrollHeight,
  };
}

type Pictured = HTMLCanvasElement | HTMLImageElement;

/** The pixels of an element as an address that holds them: those of files that were chosen are known to this page alone. */
function dataAddress(original: Pictured): string {
  if (original instanceof HTMLCanvasElement) return original.toDataURL();
  const canvas = document.createElement("canvas");
  canvas.width = Math.ceil(original.clientWidth * devicePixelRatio);
  canvas.height = Math.ceil(original.clientHeight * devicePixelRatio);
  canvas.getContext("2d")?.drawImage(original, 0, 0, canvas.width, canvas.height);
  return canvas.toDataURL();
}

/** The part that is shown, as a page. */
export function shownAsHtml(name: string): Blob {
  const { element, styles, theme } = copyShown();
  const title = document.createElement("title");
  title.textContent = name;
  const head = [
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'; img-src data:">`,
    title.outerHTML,
    `<style>\n${styles}\n</style>`,
  ];
  const page = `<html lang="en" data-theme="${theme}">\n<head>\n${head.join("\n")}\n</head>\n<body>\n${element.outerHTML}\n</body>\n</html>`;
  return new Blob([`<!doctype html>\n${page}\n`], { type: "text/html" });
}

/** The part that is shown, as a drawing. Names of files may have letters that XML lacks. */
function drawShown({ element, styles, theme, width, height }: Snapshot): string {
  const style = document.createElement("style");
  style.textContent = styles;
  const body = document.createElement("body");
  body.append(style, element);
  const markup = new XMLSerializer().serializeToString(body).replace(unprintable, "\u{fffd}");
  const size = `width="${width}" height="${height}" viewBox="0 0 ${width} ${height}"`;
  return `<svg xmlns="http://www.w3.org/2000/svg" data-theme="${theme}" ${size}><foreignObject width="100%" height="100%">${markup}</foreignObject></svg>\n`;
}

/** The part that is shown, as SVG. */
export function shownAsSvg(): Blob {
  return new Blob([drawShown(copyShown())], { type: "image/svg+xml" });
}

/** The part that is shown, as PNG, with the pixels of the screen. Rejects if the browser cannot draw it. */
export async function shownAsPng(): Promise<Blob> {
  const snapshot = copyShown();
  const { width, height } = snapshot;
  const picture = new Image();
  picture.src = `data:image/svg+xml;charset=utf-8,${encodeURIComponent(drawShown(snapshot))}`;
  await picture.decode();
  const scale = Math.min(devicePixelRatio, MOST_PIXELS / Math.max(width, height));
  const canvas = new OffscreenCanvas(Math.ceil(width * scale), Math.ceil(height * scale));
  const context = canvas.getContext("2d");
  if (context === null) throw new Error("expected a canvas to draw on, got none");
  context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  return canvas.convertToBlob({ type: "image/png" });
}
