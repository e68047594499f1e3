/** A page that reads a digit in the browser, here or in a worker. */
import { load, picture, top } from "nnhal";
import { useState } from "react";

export default function Page() {
  const [digit, setDigit] = useState("?");
  const read = async (worker) => {
    const model = await load("/digits.tflite", { worker });
    const { scores } = await model.run({ input: await picture("/digit.png") });
    await model.close();
    setDigit(String(top(scores, 1)[0].index));
  };
  return (
    <>
      <button type="button" onClick={() => read(false)}>
        here
      </button>
      <button type="button" onClick={() => read(true)}>
        in a worker
      </button>
      <output>{digit}</output>
    </>
  );
}
