import { expect } from "vitest";
import { demoPhone } from "../../infra/local/messenger/messenger.ts";
import type { Question } from "../contract/system.ts";
import { formOf } from "../steps/messaging.ts";

const image = Buffer.from("iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJ", "base64");
const text = { phone: demoPhone, message: "x" };

/** One valid request for each endpoint. */
const questions: Readonly<Record<string, Question>> = {
  "employee/login": { path: "/v1/simpeg/auth/login", body: { username: "somebody", password: "p" } },
  "employee/refresh": {
    path: "/v1/simpeg/auth/refresh",
    body: new URLSearchParams({ grant_type: "refresh_token", refresh_token: "mir_x" }),
  },
  "employee/ticket": {
    method: "GET",
    path: `/v1/simpeg/tiket?user=servicelogin&username=${"1".repeat(18)}&pass=p`,
  },
  "employee/employees": { method: "GET", path: "/v1/simpeg/pegawai?nama=siti" },
  "resident/list": { path: "/v1/penduduk", body: { page_size: 1 } },
  "resident/search": { path: "/v1/penduduk/search", body: { p_nama: "siti" } },
  "tourism/categories": { method: "GET", path: "/v1/pariwisata/kategori" },
  "tourism/gallery": { method: "GET", path: "/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,1)" },
  "messaging/send-message": { api: "messaging", path: "/send/message", body: text },
  "messaging/send-image": {
    api: "messaging",
    path: "/send/image",
    body: formOf({ phone: demoPhone, image }, "a.png"),
  },
  "messaging/send-file": {
    api: "messaging",
    path: "/send/file",
    body: formOf({ phone: demoPhone, file: image }),
  },
  "messaging/message-status": { api: "messaging", method: "GET", path: "/messages/3EB0PLAYED" },
};
export const question = (fn: string): Question => questions[fn] ?? expect.fail(`no question for ${fn}`);
