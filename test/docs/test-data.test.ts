import { readFileSync } from "node:fs";
import { expect, test } from "vitest";
import { inventResident } from "../../infra/local/seed/resident-rows.ts";

test.each(["en", "id"])(
  "the resident whom the guide to test data names for a verification is invented, in %s",
  (language) => {
    const guide = readFileSync(`lib/docs/guides/${language}/test-data.md`, "utf8");
    const [, nik, name] = guide.match(/"p_nik": "(\d{16})"` \w+ `"p_nama": "([^"]+)"`/) ?? [];
    const [inventedNik, , inventedName] = inventResident(16).values;
    expect([nik, name?.toUpperCase()]).toEqual([inventedNik, inventedName]);
  },
);
