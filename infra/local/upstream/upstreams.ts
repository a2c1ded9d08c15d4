import { randomBytes } from "node:crypto";
import type { OldSystem } from "#lib/routes/route.ts";
import { startEmployeeSystem } from "./employee-system.ts";
import { inventEmployees } from "./employees.ts";
import { startLegacyAuth } from "./legacy-auth.ts";

const employeeCount = 120;
const demoUsername = "demo";

/** What logs in to the legacy system, and whose ticket can be asked for. */
export interface DemoEmployee {
  /** A platform user who may list employees and get tickets. */
  readonly username: string;
  readonly password: string;
  /** An employee, who logs in by NIP. */
  readonly nip: string;
  /** For the employee's ticket, and as the password of the employee's own account. */
  readonly passphrase: string;
}

export interface Upstreams {
  readonly demo: DemoEmployee;
  readonly urls: Readonly<Record<OldSystem, string>>;
  /** Each system's own address, where its mood is set. */
  readonly legacyAuthUrl: string;
  readonly employeeSystemUrl: string;
  stop(): Promise<unknown>;
}

/** Passwords of the demo account, to be kept between starts. */
export const inventPasswords = () => ({
  password: randomBytes(9).toString("base64url"),
  passphrase: `${randomBytes(6).toString("base64url")} & ${randomBytes(3).toString("hex")}`,
});

/** The city's old systems on this machine, as real HTTP servers. */
export const startUpstreams = async ({
  password,
  passphrase,
}: ReturnType<typeof inventPasswords>): Promise<Upstreams> => {
  const employees = inventEmployees(employeeCount);
  const nip = employees[0]?.nip ?? "";
  const access = ["pegawai", "tiket"];
  const legacyAuth = await startLegacyAuth([
    { id: "1", loginBy: "username", username: demoUsername, nip, password, access },
    { id: "2", loginBy: "nip", username: "pegawai.demo", nip, password: passphrase, access },
    { id: "3", loginBy: "username", username: "reader", nip: "", password, access: ["pegawai", "laporan"] },
  ]);
  const employeeSystem = await startEmployeeSystem(employees, (of) => (of === nip ? passphrase : undefined));
  return {
    demo: { username: demoUsername, password, nip, passphrase },
    urls: {
      LEGACY_AUTH_URL: `${legacyAuth.url}/auth/login.php`,
      EMPLOYEE_SYSTEM_URL: employeeSystem.url,
    },
    legacyAuthUrl: legacyAuth.url,
    employeeSystemUrl: employeeSystem.url,
    stop: () => Promise.all([legacyAuth.stop(), employeeSystem.stop()]),
  };
};
