import { describe, expect, it } from "vitest";
import { drawableTaskOf, type ModelTensors, taskOf } from "./task-of.ts";

type Info = ModelTensors["outputs"][number];

function info(name: string, shape: readonly number[], more: Partial<Info> = {}): Info {
  return { name, otherNames: [], type: "float32", shape, ...more };
}

const image = info("image", [1, 64, 48, 3]);
const tasksOf = (outputs: readonly Info[], inputs: readonly Info[] = [image]) => ({
  sure: taskOf({ inputs, outputs }),
  drawable: drawableTaskOf({ inputs, outputs }),
});
const sure = (...outputs: readonly Info[]) => tasksOf(outputs).sure;

const detector = [info("a", [1, 10, 4]), info("b", [1, 10]), info("c", [1, 10]), info("d", [1])];

describe("the task of a network", () => {
  it("is to detect with boxes and two lists beside them", () => {
    expect(sure(...detector)).toBe("detect");
    const [boxes, ...lists] = detector as [Info, Info, Info, Info];
    expect(sure({ ...boxes, shape: [1, 10, 5] }, ...lists)).toBeUndefined();
    expect(sure({ ...boxes, shape: [1, 9, 4] }, ...lists)).toBeUndefined();
    expect(sure(boxes, lists[0])).toBeUndefined();
  });

  it("is nothing without one input that takes a picture", () => {
    expect(tasksOf(detector, [info("image", [1, 64, 48, 4])]).sure).toBeUndefined();
    expect(tasksOf(detector, [info("samples", [1, 64, 48])]).sure).toBeUndefined();
    expect(tasksOf(detector, [image, image]).sure).toBeUndefined();
    expect(tasksOf(detector, []).sure).toBeUndefined();
    expect(tasksOf(detector, [info("image", [0, 64, 48, 3])]).sure).toBe("detect");
  });

  it("is to find landmarks by names and by shapes", () => {
    expect(sure(info("Keypoints", [1, 5, 3]))).toBe("landmarks");
    expect(sure(info("a", [1, 5, 3], { otherNames: ["face_landmark"] }))).toBe("landmarks");
    expect(sure(info("pose", [1, 5, 3]))).toBe("landmarks");
    expect(sure(info("transpose_3", [1, 5, 3]))).toBeUndefined();
    expect(sure(info("a", [1, 5, 3]))).toBeUndefined();
    expect(sure(info("a", [1, 1, 17, 3]))).toBe("landmarks");
    expect(sure(info("a", [1, 1, 16, 3]))).toBeUndefined();
  });

  it("is not to find a hand in the scores of 63 classes", () => {
    const scores = info("Identity", [1, 63]);
    expect(tasksOf([scores])).toEqual({ sure: undefined, drawable: "landmarks" });
    expect(sure(scores, info("Identity_1", [1, 1]))).toBe("landmarks");
    expect(sure({ ...scores, labels: ["ant"] }, info("Identity_1", [1, 1]))).toBeUndefined();
  });

  it("is to segment with classes of pixels in the input's proportions", () => {
    const numbers = { type: "int64" } as const;
    expect(sure(info("a", [1, 64, 48], numbers))).toBe("segment");
    expect(sure(info("a", [1, 48, 64], numbers))).toBeUndefined();
    expect(sure(info("a", [2, 64, 48], numbers))).toBeUndefined();
    expect(sure(info("a", [1, 7, 5], numbers))).toBeUndefined();
    expect(sure(info("a", [1, 11, 8], numbers))).toBe("segment");
    expect(sure(info("a", [1, 64, 48]))).toBeUndefined();
    expect(sure(info("ArgMax", [1, 64, 48]))).toBe("segment");
    expect(sure(info("a", [1, 64, 48, 21]))).toBe("segment");
    expect(sure(info("a", [1, 64, 48, 256]))).toBe("segment");
    expect(sure(info("a", [1, 64, 48, 257]))).toBeUndefined();
    expect(sure(info("a", [1, 16, 12, 21]))).toBe("segment");
    expect(sure(info("a", [1, 15, 11, 21]))).toBeUndefined();
    expect(sure(info("a", [1, 64, 48, 21]), info("b", [1, 64, 48, 21]))).toBeUndefined();
  });

  it("is open for what may be a picture, depths or features, unless a name or labels say it", () => {
    for (const channels of [1, 3]) {
      const output = info("Identity", [1, 64, 48, channels]);
      expect(tasksOf([output])).toEqual({ sure: undefined, drawable: "segment" });
      expect(sure({ ...output, otherNames: ["segmentation_mask"] })).toBe("segment");
      expect(sure({ ...output, labels: ["person"] })).toBe("segment");
    }
    // The regressors of a face detector.
    expect(sure(info("regressors", [1, 896, 16]), info("classificators", [1, 896, 1]))).toBeUndefined();
  });
});
