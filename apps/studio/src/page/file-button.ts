/**
 * A button that lets a person choose a file.
 */
import { h } from "preact";
import { useRef } from "preact/hooks";

/** The button. `label` names its input for those who do not see the button. */
export function FileButton({
  title,
  label,
  accept,
  isQuiet = false,
  onFile,
}: {
  readonly title: string;
  readonly label: string;
  /** Endings of names, with commas between them. Default: all. */
  readonly accept?: string;
  /** True for one that is not the first thing to do. */
  readonly isQuiet?: boolean;
  readonly onFile: (file: File) => Promise<void>;
}) {
  const input = useRef<HTMLInputElement>(null);
  return h(
    "span",
    null,
    h("button", { type: "button", class: isQuiet ? undefined : "main", onClick: () => input.current?.click() }, title),
    h("input", {
      ref: input,
      type: "file",
      hidden: true,
      accept,
      "aria-label": label,
      onChange: () => {
        const [file] = input.current?.files ?? [];
        if (file !== undefined) void onFile(file);
        if (input.current !== null) input.current.value = "";
      },
    }),
  );
}
