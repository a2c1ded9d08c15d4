// Loaded before AWS's runtime client (`node --import`): gives it our rapid-client in place of the compiled one.
import { registerHooks } from "node:module";
import { fileURLToPath } from "node:url";

const compiled = "./rapid-client.node";
const ours = fileURLToPath(new URL("./rapid-client.ts", import.meta.url));

registerHooks({
  resolve: (specifier, context, resolveNext) =>
    resolveNext(specifier === compiled ? ours : specifier, context),
});
