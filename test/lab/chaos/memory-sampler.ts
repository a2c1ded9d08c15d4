// Makes a messenger log its memory after garbage collection on SIGUSR2.
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";

setFlagsFromString("--expose-gc");
const collect = runInNewContext("gc") as () => void;

process.on("SIGUSR2", () => {
  collect();
  process.stdout.write(`${JSON.stringify({ message: "memory", ...process.memoryUsage() })}\n`);
});
