// Loaded before every program of package.json. CommonJS, because the Node that runs it may be too old for anything else.
const fs = require("node:fs");
const path = require("node:path");

const wanted = 24;
const installed = fs.existsSync(path.join(__dirname, "../node_modules/node/bin/node"));
const explain = () => {
  if (!installed) return "Node 24 or its packages are missing: run npm ci, without --ignore-scripts.";
  if (Number.parseInt(process.versions.node, 10) >= wanted) return undefined;
  return `Node ${process.versions.node} is too old: start this with npm run, which uses the Node ${wanted} from npm ci.`;
};

// a third of the time of a short command
require("node:module").enableCompileCache?.();

const problem = explain();
if (problem) {
  console.error(problem);
  process.exit(1);
}
