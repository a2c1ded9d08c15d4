import { describe, expect, onTestFinished, test, vi } from "vitest";
import { aimAt, serve } from "../steps/http-server.ts";

const employeeSystem = () => import("#lib/employee/employee-system.ts");
const legacyAuth = () => import("#lib/employee/legacy-auth.ts");

/** An old system that gives this one answer. */
const answering = async (body: unknown, status = 200) =>
  aimAt(await serve((_, response) => void response.writeHead(status).end(JSON.stringify(body))));

const summary = { peg_nip_baru: "1".repeat(18), peg_nama: "N", jab_name: "J", uk_nama: "U" };
const detail = {
  status: "success",
  message: "M",
  result: {
    pegawai: { peg_nama: "N", peg_nip: "1", url_photo: "https://images.example/1.jpg" },
    jabatan: [{ unit_name: "U", jab_name: "J", status_menjabat: "y" }],
    kepangkatan: [{ golongan: "III/a", pangkat: "" }],
  },
};
const list = async () => (await employeeSystem()).listEmployees({ nip: undefined, name: undefined });
const find = async () => (await employeeSystem()).findEmployee("t");

/** The reason with which `work` fails with 502: for the log, not for the caller. */
const reasonOf = async (work: () => Promise<unknown>): Promise<string> => {
  const fault = await work().then(
    () => undefined,
    (error: unknown) => error,
  );
  expect(fault).toMatchObject({
    status: 502,
    code: "bad_gateway",
    message: "A legacy system failed. Try again later.",
  });
  return String((fault as Error).cause);
};

describe("the employee system's answer", () => {
  test("loses fields outside the contract, at every depth", async () => {
    await answering({ status: "success", secret: 1, result: [{ ...summary, peg_gaji: 1 }] });
    expect(await list()).toEqual({ status: "success", result: [summary] });
    const { pegawai, jabatan, kepangkatan } = detail.result;
    await answering({
      ...{ ...detail, secret: 1 },
      result: {
        secret: 1,
        pegawai: { ...pegawai, peg_gaji: 1 },
        jabatan: [{ ...jabatan[0], tmt: 1 }],
        kepangkatan: [{ ...kepangkatan[0], tmt: 1 }],
      },
    });
    expect(await find()).toEqual(detail);
  });

  test("keeps other current-holder flags and blank rank names", async () => {
    const result = {
      ...detail.result,
      jabatan: [{ unit_name: "", jab_name: " J ", status_menjabat: "plt." }],
      kepangkatan: [{ golongan: "", pangkat: " " }],
    };
    await answering({ ...detail, result });
    expect(await find()).toEqual({ ...detail, result });
  });

  test("with null for a missing value becomes blank", async () => {
    await answering({ status: "success", result: [{ ...summary, jab_name: null, uk_nama: null }] });
    expect((await list()).result).toEqual([{ ...summary, jab_name: "", uk_nama: "" }]);
  });

  test.each([[null], [[]], [{}], [false]])(
    "without employees, positions and ranks, %j, has empty lists",
    async (none) => {
      await answering({ status: "success", result: none });
      expect(await list()).toEqual({ status: "success", result: [] });
      const result = { ...detail.result, jabatan: none, kepangkatan: none };
      await answering({ ...detail, result });
      expect(await find()).toEqual({ ...detail, result: { ...result, jabatan: [], kepangkatan: [] } });
    },
  );

  test("with numbers as keys, as PHP encodes a list with gaps, has the lists in their order", async () => {
    const other = { ...summary, peg_nama: "O" };
    await answering({ status: "success", result: { 10: other, 2: summary } });
    expect(await list()).toEqual({ status: "success", result: [summary, other] });
    const { jabatan, kepangkatan } = detail.result;
    await answering({
      ...detail,
      result: { ...detail.result, jabatan: { 1: jabatan[0] }, kepangkatan: { 3: kepangkatan[0] } },
    });
    expect(await find()).toEqual(detail);
  });

  test.each([
    [
      "no name in a row",
      { status: "success", result: [summary, { ...summary, peg_nama: undefined }] },
      "result.1.peg_nama",
    ],
    [
      "a NIP as number",
      { status: "success", result: [{ ...summary, peg_nip_baru: 1 }] },
      "result.0.peg_nip_baru",
    ],
    ["no result", { status: "success" }, "result"],
    ["another status", { status: "ok", result: [] }, "status"],
    ["a refusal", { status: "failed", message: "no" }, "status"],
    ["a list", [], "(whole)"],
    ["a text", "text", "(whole)"],
  ])("with %s is 502, and the log names the field", async (_, body, field) => {
    await answering(body);
    expect(await reasonOf(list)).toMatch(new RegExp(`another type: .*${RegExp.escape(field)}`));
  });

  test.each([
    [
      "no photo",
      { ...detail, result: { ...detail.result, pegawai: { peg_nama: "N", peg_nip: "1" } } },
      "result.pegawai.url_photo",
    ],
    ["no ranks", { ...detail, result: { ...detail.result, kepangkatan: undefined } }, "result.kepangkatan"],
    [
      "one rank in place of a list",
      { ...detail, result: { ...detail.result, kepangkatan: detail.result.kepangkatan[0] } },
      "result.kepangkatan",
    ],
    ["no message", { ...detail, message: undefined }, "message"],
  ])("for a profile with %s is 502, and the log names the field", async (_, body, field) => {
    await answering(body);
    expect(await reasonOf(find)).toContain(field);
  });

  test("that is wrong is not quoted in the log", async () => {
    await answering({ status: "success", result: [{ peg_nama: "SITI AMINAH", peg_nip_baru: 1 }] });
    expect(await reasonOf(list)).not.toContain("SITI");
  });

  test.each([200, 401, 403, 404])("with status %i rejects a ticket and a passphrase", async (status) => {
    await answering({ status: "failed" }, status);
    expect(await find()).toBeUndefined();
    expect(await (await employeeSystem()).findTicket("1", "p")).toBeUndefined();
  });

  test.each([
    ["an empty ticket", { tiket: "" }, 200],
    ["a ticket that is null", { tiket: null }, 200],
    ["a ticket with 500", { tiket: "t" }, 500],
    ["a refusal with 500", { status: "failed" }, 500],
  ])("with %s is 502", async (_, body, status) => {
    await answering(body, status);
    await reasonOf(async () => (await employeeSystem()).findTicket("1", "p"));
  });
});

describe("the legacy system's answer", () => {
  const authenticate = async () => (await legacyAuth()).authenticate("u", "p");
  const accepted = (access: unknown, id: unknown = "7") => ({ status: "success", user: { id, access } });

  test.each([
    [
      ["pegawai", "tiket"],
      ["employee:read", "employee:ticket"],
    ],
    [
      ["tiket", "laporan", "pegawai", "pegawai"],
      ["employee:read", "employee:ticket"],
    ],
    [["laporan"], []],
    [{ 0: "laporan", 2: "tiket" }, ["employee:ticket"]],
    [{}, []],
    [false, []],
    [null, []],
    [["constructor", "__proto__"], []],
  ])("with access %j gives the scopes %j", async (access, scopes) => {
    await answering(accepted(access));
    expect(await authenticate()).toEqual({ id: "7", scopes });
  });

  test.each([200, 401, 403])("with status %i is a rejection", async (status) => {
    await answering({ status: "failed" }, status);
    expect(await authenticate()).toBeUndefined();
  });

  const check = async () => (await legacyAuth()).checkAccount("7");

  test.each([
    ["an open account", accepted(["pegawai"]), 200, { id: "7", scopes: ["employee:read"] }],
    ["a closed account", { status: "closed" }, 200, "closed"],
    ["no such question", { status: "failed" }, 200, "unsupported"],
    ["no such page", null, 404, "unsupported"],
    ["no such method", null, 405, "unsupported"],
  ])("about an account can be %s", async (_, body, status, expected) => {
    await answering(body, status);
    expect(await check()).toEqual(expected);
  });

  test.each([
    ["another account", accepted(["pegawai"], "8"), 200],
    ["closed with 500", { status: "closed" }, 500],
    ["failed with 500", { status: "failed" }, 500],
    ["nothing", null, 200],
  ])(
    "about an account that is %s is a failure, and neither closes nor limits anything",
    async (_, body, status) => {
      await answering(body, status);
      await reasonOf(check);
    },
  );

  test.each([
    ["acceptance without account", { status: "success" }, 200],
    ["an account without id", accepted(["pegawai"], ""), 200],
    ["an id that is a number", accepted(["pegawai"], 7), 200],
    ["an account without access", accepted(undefined), 200],
    ["access by name", accepted({ pegawai: "pegawai" }), 200],
    ["access as a text", accepted("pegawai"), 200],
    ["acceptance with 401", accepted(["pegawai"]), 401],
    ["acceptance with 302", accepted(["pegawai"]), 302],
    ["refusal with 500", { status: "failed" }, 500],
    ["neither", {}, 200],
    ["true", true, 200],
  ])("with %s is 502, never a login", async (_, body, status) => {
    await answering(body, status);
    await reasonOf(authenticate);
  });
});

test("of the 10 s that a caller waits, the list has 8 s and an identity check 5 s, after up to 4 s for the rate limit", async () => {
  await answering({ status: "failed" });
  const timeout = vi.spyOn(AbortSignal, "timeout");
  onTestFinished(() => timeout.mockRestore());
  await (await legacyAuth()).authenticate("u", "p");
  await (await employeeSystem()).findTicket("1", "p");
  await find();
  await list().catch(() => {});
  expect(timeout.mock.calls).toEqual([[5_000], [5_000], [5_000], [8_000]]);
});
