import { mintToken } from "#lib/opaque-token.ts";

/** Generates an API key. It is shown once; only its digest is stored. */
export const mintKey = (): string => mintToken("mia_");
