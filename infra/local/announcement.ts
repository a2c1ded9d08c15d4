import { styleText } from "node:util";
import type { City } from "./city.ts";
import { demoPhone } from "./messenger/messenger.ts";

export const consoleOf = ({ messengerUrl }: City): string => `${messengerUrl}/console`;

export const docsOf = ({ baseUrl }: City): string => `${baseUrl}/docs`;

/** Prints the addresses and credentials of the running system, and sample calls. */
export const announce = (city: City, logFile: string, seconds: string) => {
  const { baseUrl, messagingBaseUrl, apiKey, basic, database, upstreams, messenger } = city;
  const { username, password } = city.console;
  console.log(`
${styleText("bold", `Ready in ${seconds} s`)}   ${baseUrl}
Docs       ${docsOf(city)}
Messaging  ${messagingBaseUrl}
           ${basic.username}, password ${basic.password}
Console    ${consoleOf(city)}   ${username}, password ${password}
Platform   ${messenger?.platform ? `simulated; received messages: ${messenger.platform.controlUrl}/phones/${demoPhone}` : "real: pair a phone in the console"}
Database   ${database.adminUrl}
API key    ${apiKey}   (partner demo, scope resident:read)
Employee   ${upstreams.demo.username}, password ${upstreams.demo.password}
           NIP ${upstreams.demo.nip}, passphrase ${upstreams.demo.passphrase}   (for a ticket; also valid as a login)
Upstreams  legacy authentication ${upstreams.legacyAuthUrl}, employee system ${upstreams.employeeSystemUrl}

  curl -s ${baseUrl}/v1/penduduk -H 'apikey: ${apiKey}' \\
    -H 'Content-Type: application/json' -d '{"page_number": 1, "page_size": 3}'

  curl -s ${baseUrl}/v1/penduduk/search -H 'apikey: ${apiKey}' \\
    -H 'Content-Type: application/json' -d '{"p_nama": "siti", "page_size": 3}'

  TOKEN=$(curl -s ${baseUrl}/v1/simpeg/auth/login -H 'Content-Type: application/json' \\
    -d '${JSON.stringify({ username: upstreams.demo.username, password: upstreams.demo.password })}' | sed 's/.*"token":"\\([^"]*\\).*/\\1/')
  curl -s '${baseUrl}/v1/simpeg/pegawai?nama=siti' -H "Authorization: Bearer $TOKEN"
  curl -sG ${baseUrl}/v1/simpeg/tiket -H "Authorization: Bearer $TOKEN" -d user=servicelogin \\
    -d username=${upstreams.demo.nip} --data-urlencode 'pass=${upstreams.demo.passphrase}'
  curl -s "${baseUrl}/v1/simpeg/pegawai?page=sso&action=getDataPegawai&tiket=TICKET" -H "Authorization: Bearer $TOKEN"

  curl -s ${baseUrl}/v1/pariwisata/kategori
  curl -s '${baseUrl}/v1/pariwisata/destinasi/galeri?where=(pr_id,eq,1)'

  curl -s ${messagingBaseUrl}/send/message -u '${basic.username}:${basic.password}' \\
    -H 'Content-Type: application/json' -d '{"phone": "${demoPhone}", "message": "*Halo*"}'

Function logs: ${logFile}. Functions are rebuilt when their sources change. Ctrl-C stops.
`);
};
