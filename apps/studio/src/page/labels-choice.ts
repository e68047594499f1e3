/**
 * The choice of names for classes: those of the file, of a list, or of a file of the person.
 */
import { h } from "preact";
import { countOf } from "../text.ts";
import { FileButton } from "./file-button.ts";
import { giveLabels, labels, nameClasses, prepared } from "./session.ts";

/** Lists that come with nnhal. */
const lists: readonly (readonly [name: string, title: string])[] = [
  ["coco", "COCO, 90 numbers (TensorFlow)"],
  ["coco80", "COCO, 80 numbers (YOLO)"],
  ["pascal-voc", "PASCAL VOC, 21"],
];

/** The choice. A file that is dropped on it is one of labels. */
export function LabelsChoice() {
  const given = labels.value;
  const isFile = given?.kind === "file";
  const hasOwn = prepared.value?.outputs.some((output) => output.labels !== undefined) ?? false;
  return h(
    "p",
    { class: "actions", "data-labels": "" },
    h(
      "label",
      null,
      "labels ",
      h(
        "select",
        {
          value: isFile ? FILE : (given?.name ?? OWN),
          onChange: ({ currentTarget: { value } }: { currentTarget: HTMLSelectElement }) => {
            if (value !== FILE) void nameClasses(value === OWN ? undefined : { kind: "list", name: value });
          },
        },
        h("option", { value: OWN }, hasOwn ? "of the network" : "none: the network has none"),
        lists.map(([name, title]) => h("option", { key: name, value: name }, title)),
        isFile && h("option", { value: FILE }, `${given.name}: ${countOf(given.count, "label")}`),
      ),
    ),
    h(FileButton, {
      title: "A file of labels",
      label: "A file with one label a line",
      accept: ".txt",
      isQuiet: true,
      onFile: giveLabels,
    }),
  );
}

/** Values of the choice that name no list. */
const OWN = "";
const FILE = "file:";
