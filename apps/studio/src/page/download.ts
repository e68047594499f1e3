/**
 * Files that the page saves.
 */

/** Saves a value as a JSON file. */
export function saveJson(name: string, value: unknown): void {
  save(name, new Blob([JSON.stringify(value)], { type: "application/json" }));
}

/** Saves a file. */
export function save(name: string, content: Blob): void {
  const address = URL.createObjectURL(content);
  const link = document.createElement("a");
  link.href = address;
  link.download = name;
  link.click();
  URL.revokeObjectURL(address);
}
