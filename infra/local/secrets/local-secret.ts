import * as z from "zod/mini";
import { type SecretName, type SecretValue, secretTable } from "#lib/secrets/table/table.ts";
import { secretsPrefix } from "../../aws/stage-names.ts";
import { localFolder, localStage } from "../dev-file.ts";
import { openStore } from "./store.ts";

/** Secrets that exist only locally. */
type LocalName = "database/superuser" | "demo-passwords" | "demo-api-key";

export const localSecretName = (name: SecretName | LocalName): string =>
  `${secretsPrefix(localStage)}${name}`;

/** Reads a secret from a store, by default from that of the running `npm run dev`. */
export const readLocalSecret = <N extends SecretName>(
  name: N,
  store = openStore(`${localFolder}/secrets.json`),
): SecretValue<N> => {
  const value = JSON.parse(store.find(localSecretName(name))?.value ?? "null");
  return z.parse<z.ZodMiniType>(secretTable[name].schema(), value) as SecretValue<N>;
};
