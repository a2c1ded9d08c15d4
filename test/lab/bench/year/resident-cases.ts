import { listResidents, searchResidents, verifyClaims } from "#lib/resident/reader.ts";
import { liftGuessLimits } from "../../../steps/residents/reader.ts";
import type { Ground, Measurable } from "./groups.ts";

const reader = {
  ...{ partnerId: "p", keyId: "k", requestId: "bench" },
  ...{ purpose: null, caseReference: null, userReference: null },
};

const size = 10;
/** Names as the seed invents them, from the most common part to what nobody has. */
const names = {
  "one letter «a»": "a",
  "two letters «an»": "an",
  "common name «siti»": "siti",
  "two common words «siti nur»": "siti nur",
  "two rarer words «siti kusuma»": "siti kusuma",
  "rare «galih notonegoro»": "galih notonegoro",
  "three letters with a blank «b s»": "b s",
  "three letters with a blank «a b»": "a b",
  "nobody «zzqy»": "zzqy",
};

/** What partners ask. */
export async function* residentCases({ owner, sizes }: Ground): AsyncGenerator<Measurable> {
  await liftGuessLimits(owner);
  const known = await owner<{ nik: string; name: string }[]>`
    select nik, name from resident.resident where id % ${Math.ceil(sizes.residents / 500)} = 0 limit 500`;
  const one = (turn: number) => known[turn % known.length] ?? { nik: "", name: "" };
  const last = Math.ceil(sizes.residents / size);
  const pages = { first: 1, middle: Math.ceil(last / 2), last };
  for (const [page, number] of Object.entries(pages))
    yield { name: `residents: list, ${page} page`, run: () => listResidents({ number, size }, reader) };
  yield { name: "residents: list, page of 100", run: () => listResidents({ number: 3, size: 100 }, reader) };
  const search = (nik: string | undefined, name: string | undefined, number = 1) =>
    searchResidents({ nik, name }, { number, size }, reader);
  yield { name: "residents: search by number", run: (turn) => search(one(turn).nik, undefined) };
  yield {
    name: "residents: search by a number that nobody has",
    run: (turn) => search(`00${one(turn).nik.slice(2)}`, undefined),
  };
  for (const [what, name] of Object.entries(names)) {
    yield { name: `residents: search, ${what}`, run: () => search(undefined, name) };
    const { total } = await search(undefined, name);
    const end = Math.ceil(total / size);
    if (end > 1)
      yield { name: `residents: search, ${what}, last page`, run: () => search(undefined, name, end) };
  }
  const wrong = "Tidak Sama Dengan Siapa Pun";
  const verify = (p_nik: string, p_nama: string) =>
    verifyClaims({ p_nik, p_nama, p_nama_ibu: wrong }, reader);
  yield { name: "residents: verify, right name", run: (turn) => verify(one(turn).nik, one(turn).name) };
  yield { name: "residents: verify, wrong name", run: (turn) => verify(one(turn).nik, wrong) };
  yield {
    name: "residents: verify, number that nobody has",
    run: (turn) => verify(`00${one(turn).nik.slice(2)}`, wrong),
  };
}
