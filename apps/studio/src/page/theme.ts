/**
 * Light or dark: as the system is, or as the person wants it. The choice is kept by the browser.
 */
import { effect, signal } from "@preact/signals";

const themes = ["system", "light", "dark"] as const;
type Theme = (typeof themes)[number];

const kept = "nnhal-studio-theme";

/** The theme that was chosen. */
export const theme = signal<Theme>(themes.find((name) => name === localStorage.getItem(kept)) ?? "system");

/** Counts changes of colors, also those of the system. */
export const paints = signal(0);

effect(() => {
  document.documentElement.dataset.theme = theme.value;
  localStorage.setItem(kept, theme.value);
  paints.value = paints.peek() + 1;
});

matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => {
  paints.value++;
});

/** Chooses the next theme. */
export function nextTheme(): void {
  theme.value = themes[(themes.indexOf(theme.value) + 1) % themes.length] ?? "system";
}

let probe: HTMLElement | undefined;

/** The color that a variable of the styles stands for: now, or always in one theme. */
export function resolveColor(variable: string, scheme: "light" | "dark" | "inherit" = "inherit"): string {
  if (probe === undefined) {
    probe = document.createElement("span");
    probe.hidden = true;
    document.documentElement.append(probe);
  }
  probe.style.colorScheme = scheme;
  probe.style.color = `var(${variable})`;
  return getComputedStyle(probe).color;
}
