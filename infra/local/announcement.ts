import { styleText } from "node:util";
import type { City } from "./city.ts";
import { demoPhone } from "./messenger/messenger.ts";

export type DevFile = ReturnType<typeof describeCity>;

/** Returns the addresses and credentials of a running `npm run dev`, for tests, tools and commands. */
export const describeCity = ({ baseUrl, messenger, database, upstreams, ...city }: City) => ({
  baseUrl,
  apiKey: city.apiKey,
  messagingBaseUrl: city.messagingBaseUrl,
  docsUrl: `${baseUrl}/docs`,
  /** Credentials of the messaging API. */
  basic: city.basic,
  consoleUrl: `${city.messengerUrl}/console`,
  /** Credentials of the console. */
  console: city.console,
  /** Number of a phone on the simulated platform, and the platform's control API; null with a real phone. */
  phone: messenger?.platform ? demoPhone : null,
  platformUrl: messenger?.platform?.controlUrl ?? null,
  employee: upstreams.demo,
  databaseUrl: database.adminUrl,
  secretsUrl: city.secretsUrl,
  /** The simulated legacy systems, where failures are set. */
  legacyAuthUrl: upstreams.legacyAuthUrl,
  employeeSystemUrl: upstreams.employeeSystemUrl,
});

/** Prints the addresses and credentials of the running system, and sample calls. */
export const announce = (dev: DevFile, logFile: string, seconds: string) => {
  const { baseUrl, messagingBaseUrl, apiKey, basic, phone, employee } = dev;
  console.log(`
${styleText("bold", `Ready in ${seconds} s`)}   ${baseUrl}
Docs       ${dev.docsUrl}
Messaging  ${messagingBaseUrl}
           ${basic.username}, password ${basic.password}
Console    ${dev.consoleUrl}   ${dev.console.username}, password ${dev.console.password}
Platform   ${phone ? `simulated; received messages: ${dev.platformUrl}/phones/${phone}` : "real: pair a phone in the console"}
Database   ${dev.databaseUrl}
API key    ${apiKey}   (partner demo, all scopes)
Employee   ${employee.username}, password ${employee.password}
           NIP ${employee.nip}, passphrase ${employee.passphrase}   (for a ticket; also valid as a login)
Upstreams  legacy authentication ${dev.legacyAuthUrl}, employee system ${dev.employeeSystemUrl}

  curl -s ${baseUrl}/v1/penduduk -H 'apikey: ${apiKey}' \\
    -H 'Content-Type: application/json' -d '{"page_number": 1, "page_size": 3}'

  curl -s ${baseUrl}/v1/penduduk/search -H 'apikey: ${apiKey}' \\
    -H 'Content-Type: application/json' -d '{"p_nama": "siti", "page_size": 3}'

  TOKEN=$(curl -s ${baseUrl}/v1/simpeg/auth/login -H 'Content-Type: application/json' \\
    -d '${JSON.stringify({ username: employee.username, password: employee.password })}' | sed 's/.*"token":"\\([^"]*\\).*/\\1/')
  curl -s '${baseUrl}/v1/simpeg/pegawai?nama=siti' -H "Authorization: Bearer $TOKEN"
  curl -sG ${baseUrl}/v1/simpeg/tiket -H "Authorization: Bearer $TOKEN" -d user=servicelogin \\
    -d username=${employee.nip} --data-urlencode 'pass=${employee.passphrase}'
  curl -s "${baseUrl}/v1/simpeg/pegawai?page=sso&action=getDataPegawai&tiket=TICKET" -H "Authorization: Bearer $TOKEN"

  curl -s ${baseUrl}/v1/pariwisata/kategori
  curl -s '${baseUrl}/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,1)'

  curl -s ${messagingBaseUrl}/send/message -u '${basic.username}:${basic.password}' \\
    -H 'Content-Type: application/json' -d '{"phone": "${phone ?? "62…"}", "message": "*Halo*"}'

Function logs: ${logFile}. Functions are rebuilt when their sources change. Ctrl-C stops.
`);
};
