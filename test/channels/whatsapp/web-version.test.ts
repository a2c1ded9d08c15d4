import { expect, test } from "vitest";
import { ownVersion, parseVersion } from "#lib/channels/whatsapp/link/web-version.ts";

const [major, minor, own] = ownVersion;
const withRevision = (revision: number) => `${major}.${minor}.${revision}`;

test.each([
  [` ${withRevision(own)} `, [major, minor, own]],
  [withRevision(own + 100_000_000), [major, minor, own + 100_000_000]],
  [withRevision(own + 100_000_001), undefined],
  [withRevision(own - 1), undefined],
  [`${major + 97}.0.0`, undefined],
  [`${major}.${minor + 1}.${own}`, undefined],
  [`${major}.${minor}`, undefined],
  [`${withRevision(own)}.1`, undefined],
  [`${major}.${minor}.-1`, undefined],
  ["latest", undefined],
  ["", undefined],
])("the version %j is read as %j", (text, version) => expect(parseVersion(text)).toEqual(version));
