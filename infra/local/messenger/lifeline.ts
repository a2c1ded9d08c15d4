import { enableCompileCache } from "node:module";

enableCompileCache();
// Ends the local messenger when the process that started it ends, even by SIGKILL.
process.stdin.on("close", () => process.exit(1)).resume();
