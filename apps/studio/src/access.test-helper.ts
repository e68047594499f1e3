/**
 * Parts of the page that some people could not use. The function runs in the page, so all that it needs is inside of it.
 */

/** Controls and pictures without a name, and texts whose contrast is below 4.5 to 1 (WCAG 2, AA), each with what is wrong. */
export function findBarriers(): string[] {
  const nameOf = (element: Element) =>
    [
      element.getAttribute("aria-label"),
      element.getAttribute("alt"),
      element.matches("button, summary, section, aside") ? element.textContent : "",
      element instanceof HTMLTableElement ? element.caption?.textContent : "",
      ...("labels" in element && element.labels instanceof NodeList ? element.labels : []),
    ]
      .map((part) => (part instanceof Node ? part.textContent : part) ?? "")
      .join("")
      .trim();
  const controls =
    "button, input:not([hidden]), select, textarea, summary, svg[role], canvas, img, table, section, nav";
  const unnamed = [...document.querySelectorAll(controls)]
    .filter((element) => nameOf(element) === "")
    .map((element) => `without a name: ${element.outerHTML.slice(0, 100)}`);
  const brightness = (color: string) => {
    const [red = 0, green = 0, blue = 0] = (color.match(/[\d.]+/g) ?? []).map((part) => {
      const share = Number(part) / 255;
      return share <= 0.03928 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const groundOf = (element: Element | null): string => {
    if (element === null) return "rgb(255, 255, 255)";
    const { backgroundColor } = getComputedStyle(element);
    return backgroundColor === "rgba(0, 0, 0, 0)" ? groundOf(element.parentElement) : backgroundColor;
  };
  const faint = [...document.querySelectorAll("body *:not(svg *, option)")].flatMap((element) => {
    const hasText = [...element.childNodes].some(({ nodeType, textContent }) => nodeType === 3 && textContent?.trim());
    const ground = groundOf(element);
    // Mixed colors are written as parts of 1.
    if (!hasText || !element.checkVisibility() || !ground.startsWith("rgb")) return [];
    const { color } = getComputedStyle(element);
    const [low = 0, high = 0] = [brightness(color), brightness(ground)].sort((a, b) => a - b);
    const contrast = (high + 0.05) / (low + 0.05);
    return contrast < 4.5
      ? [`contrast ${contrast.toFixed(2)}: ${color} on ${ground}, ${element.outerHTML.slice(0, 100)}`]
      : [];
  });
  return [...unnamed, ...new Set(faint)];
}
