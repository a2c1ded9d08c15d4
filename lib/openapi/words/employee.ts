import type * as rows from "#lib/routes/employee.ts";
import type { AreaWords } from "../words.ts";

const token = {
  en: "Access token, a JWT; send it as `Authorization: Bearer`.",
  id: "Token akses, sebuah JWT; kirim sebagai `Authorization: Bearer`.",
};
const loginFields = {
  token,
  expires_in: { en: "Lifetime of the access token in seconds.", id: "Masa berlaku token akses dalam detik." },
  refresh_token: {
    en: "Valid for one refresh, and for at most 30 days after the login.",
    id: "Berlaku untuk satu kali refresh, dan paling lama 30 hari setelah login.",
  },
  scope: { en: "Scopes of the token, separated by spaces.", id: "Scope token, dipisahkan spasi." },
};
const login = {
  token: "eyJhbGciOiJIUzI1NiIsImtpZCI6IjEifQ.eyJzdWIiOiIxIn0.c2lnbmF0dXJl",
  expires_in: 900,
  refresh_token: "mir_Z3VlcmlsbGEtbm90LWEtcmVhbC10b2tlbi1hdC1hbGw",
  scope: "employee:read employee:ticket",
};

const name = { en: "Name of the employee.", id: "Nama pegawai." };
const position = { en: "Name of the position.", id: "Nama jabatan." };
const unit = { en: "Organisational unit.", id: "Unit kerja." };
const form = (value: string) => ({ en: `Always \`${value}\`.`, id: `Selalu \`${value}\`.` });

/** Words of the employee service. */
export const employeeWords: AreaWords<typeof rows> = {
  "employee/login": {
    operationId: "login",
    summaryInIndonesian: "Menukar kredensial akun dengan token akses dan refresh token",
    en: "Logs in with an account of the city's legacy system. All failures return the same 401, so that responses do not reveal which accounts exist. These failures return 429 until `Retry-After` has passed: five within 15 minutes for an account from one network (an IPv4 /24 or IPv6 /56), ten per minute from one network for all accounts, or thirty per hour for an account from all networks together. The last limit does not affect a network from which the account has logged in within the last 30 days. Accounts are never locked permanently.",
    id: "Login dengan akun sistem lama kota. Semua kegagalan menghasilkan 401 yang sama, agar respons tidak mengungkapkan akun mana yang ada. Kegagalan berikut menghasilkan 429 sampai `Retry-After` berlalu: lima dalam 15 menit untuk satu akun dari satu jaringan (IPv4 /24 atau IPv6 /56), sepuluh per menit dari satu jaringan untuk semua akun, atau tiga puluh per jam untuk satu akun dari semua jaringan. Batas terakhir tidak berlaku bagi jaringan yang dipakai akun itu untuk login dalam 30 hari terakhir. Akun tidak pernah dikunci permanen.",
    fields: {
      username: {
        en: "A platform user or a NIP, depending on the account.",
        id: "Pengguna platform atau NIP, tergantung akunnya.",
        example: "demo",
      },
      password: { en: "The account's password.", id: "Kata sandi akun.", example: "correct horse" },
    },
    examples: { login: { username: "demo", password: "correct horse" } },
    mistake: { where: "body", input: { username: "demo user", password: "" } },
    curl: `curl -s "{base}/v1/simpeg/auth/login" -H 'Content-Type: application/json' \\
  -d "{\\"username\\": \\"$EMPLOYEE_USERNAME\\", \\"password\\": \\"$EMPLOYEE_PASSWORD\\"}"`,
    reply: {
      name: "LoginToken",
      en: "The first tokens of the session.",
      id: "Token pertama sesi ini.",
      fields: loginFields,
      examples: { login },
    },
  },
  "employee/refresh": {
    operationId: "refresh",
    summaryInIndonesian: "Menukar refresh token dengan token akses dan refresh token berikutnya",
    en: "Compatible with OAuth clients (RFC 6749); other fields, such as `client_id`, are ignored. Each refresh token can be used once. Repeated within 30 seconds, it returns the same successor, so lost responses and parallel tabs are harmless; from another network or `User-Agent` only while the successor is unused. Any other reuse revokes the session: someone else may hold a copy. A refresh asks the legacy system, at most once a minute, whether the account is still open and which scopes it has; a closed account gets `invalid_grant`. If that system is unavailable for a day, refreshes return 503 until it responds.",
    id: "Kompatibel dengan klien OAuth (RFC 6749); field lain, seperti `client_id`, diabaikan. Setiap refresh token hanya dapat dipakai satu kali. Bila diulangi dalam 30 detik, token pengganti yang sama dikembalikan, sehingga respons yang hilang atau tab paralel tidak menimbulkan masalah; dari jaringan atau `User-Agent` lain hanya selama penggantinya belum dipakai. Pemakaian ulang selain itu mencabut sesi: salinannya mungkin dipegang orang lain. Saat refresh, paling sering sekali per menit, layanan memeriksa di sistem lama apakah akun masih aktif dan scope apa yang dimilikinya; akun yang ditutup mendapat `invalid_grant`. Bila sistem itu tidak tersedia selama sehari, refresh menghasilkan 503 sampai sistem itu merespons.",
    fields: {
      grant_type: {
        ...form("refresh_token"),
        example: "refresh_token",
        schema: { type: "string", const: "refresh_token" },
      },
      refresh_token: {
        en: "The refresh token from the last login or refresh.",
        id: "Refresh token dari login atau refresh terakhir.",
        example: login.refresh_token,
      },
    },
    examples: { refresh: { grant_type: "refresh_token", refresh_token: login.refresh_token } },
    mistake: { where: "body", input: { grant_type: "refresh_token" } },
    curl: `curl -s "{base}/v1/simpeg/auth/refresh" -d grant_type=refresh_token -d refresh_token="$REFRESH_TOKEN"`,
    reply: {
      name: "RefreshedToken",
      en: "The next tokens, with the field names of login and of OAuth.",
      id: "Token berikutnya, dengan nama field dari login dan dari OAuth.",
      fields: {
        ...loginFields,
        access_token: { en: "Same as `token`.", id: "Sama dengan `token`." },
        token_type: form("Bearer"),
      },
      examples: { refreshed: { ...login, access_token: login.token, token_type: "Bearer" } },
    },
  },
  "employee/ticket": {
    operationId: "getTicket",
    summaryInIndonesian: "Menerbitkan tiket sesi untuk seorang pegawai",
    en: "A ticket gives access to the profile of the employee with this NIP and passphrase. Only the requesting account can use it. A wrong NIP or passphrase returns 403; attempts are rate-limited together with the logins of that NIP, and to ten failures per minute per requesting account.",
    id: "Tiket memberi akses ke profil pegawai dengan NIP dan frasa sandi ini. Hanya akun yang meminta yang dapat memakainya. NIP atau frasa sandi yang salah menghasilkan 403; percobaan dihitung bersama login dengan NIP itu, dan dibatasi sepuluh kegagalan per menit per akun yang meminta.",
    fields: {
      user: { ...form("servicelogin"), example: "servicelogin" },
      username: {
        en: "NIP of the employee, 18 digits.",
        id: "NIP pegawai, 18 digit.",
        example: "209905172120011001",
      },
      pass: { en: "Passphrase of that NIP.", id: "Frasa sandi NIP tersebut.", example: "correct horse" },
    },
    mistake: { where: "query", input: { user: "servicelogin", username: "1234", pass: "p" } },
    curl: `curl -sG "{base}/v1/simpeg/tiket" -H "Authorization: Bearer $TOKEN" \\
  -d user=servicelogin -d username="$NIP" --data-urlencode pass="$PASS"`,
    reply: {
      name: "Ticket",
      en: "The ticket.",
      id: "Tiketnya.",
      fields: { tiket: { en: "The session ticket.", id: "Tiket sesi." } },
      examples: { ticket: { tiket: "5f1d7a84c3e94b2f9c0a7b6d5e4f3a21" } },
    },
  },
  "employee/employees": {
    operationId: "readEmployees",
    summaryInIndonesian: "Mencari pegawai, atau dengan tiket mengambil profil seorang pegawai",
    en: "The parameters select one of two forms, which cannot be mixed.\n\n- **list**: returns all employees; `nip` and `nama` filter them, and blank values are ignored. `pagetype`, `page` and `action` are optional.\n- **detail**, a profile: `page=sso&action=getDataPegawai&tiket=…`, without other parameters. The ticket must have been issued to the same account within the last day, and the token needs the scope `employee:ticket` as well. Ten unknown tickets per minute return 429.",
    id: "Parameter menentukan salah satu dari dua bentuk, yang tidak dapat digabungkan.\n\n- **list**, daftar: mengembalikan semua pegawai; `nip` dan `nama` menyaringnya, dan nilai kosong diabaikan. `pagetype`, `page`, dan `action` opsional.\n- **detail**, profil: `page=sso&action=getDataPegawai&tiket=…`, tanpa parameter lain. Tiket harus diterbitkan untuk akun yang sama dalam sehari terakhir, dan token juga memerlukan scope `employee:ticket`. Sepuluh tiket tak dikenal per menit menghasilkan 429.",
    fields: {
      pagetype: { ...form("serviceauth"), example: "serviceauth" },
      page: {
        en: "`Web-Service-WBS` for the list, `sso` for the detail.",
        id: "`Web-Service-WBS` untuk daftar, `sso` untuk detail.",
        example: "Web-Service-WBS",
      },
      action: {
        en: "`getPegawai` for the list, `getDataPegawai` for the detail.",
        id: "`getPegawai` untuk daftar, `getDataPegawai` untuk detail.",
        example: "getPegawai",
      },
      nip: { en: "The full NIP.", id: "NIP lengkap.", example: "209905172120011001" },
      nama: { en: "Part of the name.", id: "Bagian dari nama.", example: "siti" },
      tiket: {
        en: "From `GET /v1/simpeg/tiket`.",
        id: "Dari `GET /v1/simpeg/tiket`.",
        example: "5f1d7a84c3e94b2f9c0a7b6d5e4f3a21",
      },
    },
    mistake: { where: "query", input: { name: "siti" } },
    curl: `curl -s "{base}/v1/simpeg/pegawai?nama=siti" -H "Authorization: Bearer $TOKEN"
curl -s "{base}/v1/simpeg/pegawai?page=sso&action=getDataPegawai&tiket=$TICKET" -H "Authorization: Bearer $TOKEN"`,
    reply: {
      name: "Employees",
      parts: {
        "0": "EmployeeList",
        "0.result.[]": "Employee",
        "1": "EmployeeProfile",
        "1.result.jabatan.[]": "Position",
        "1.result.kepangkatan.[]": "Rank",
      },
      en: "The matching employees (an empty list if there are none), or the profile.",
      id: "Pegawai yang cocok (daftar kosong bila tidak ada), atau profil.",
      fields: {
        status: form("success"),
        message: { en: "Message of the employee system.", id: "Pesan dari sistem kepegawaian." },
        result: {
          en: "The summaries of the list, or the employee of the profile.",
          id: "Ringkasan pegawai untuk daftar, atau data pegawai untuk profil.",
        },
        "result.peg_nip_baru": { en: "NIP of the employee.", id: "NIP pegawai." },
        "result.peg_nama": name,
        "result.jab_name": position,
        "result.uk_nama": unit,
        "result.pegawai": { en: "Personal data.", id: "Data diri." },
        "result.pegawai.peg_nama": name,
        "result.pegawai.peg_nip": { en: "NIP of the employee.", id: "NIP pegawai." },
        "result.pegawai.url_photo": { en: "URL of the photo.", id: "URL foto." },
        "result.jabatan": { en: "Current and former positions.", id: "Jabatan sekarang dan terdahulu." },
        "result.jabatan.unit_name": unit,
        "result.jabatan.jab_name": position,
        "result.jabatan.status_menjabat": {
          en: "`y` for a current position; other values are passed through.",
          id: "`y` untuk jabatan sekarang; nilai lain diteruskan apa adanya.",
        },
        "result.kepangkatan": { en: "Ranks.", id: "Kepangkatan." },
        "result.kepangkatan.golongan": { en: "Rank group.", id: "Golongan." },
        "result.kepangkatan.pangkat": { en: "Rank name; may be blank.", id: "Nama pangkat; dapat kosong." },
      },
      examples: {
        list: {
          status: "success",
          result: [
            {
              peg_nip_baru: "209905172120011001",
              peg_nama: "SITI CONTOH",
              jab_name: "Pranata Komputer",
              uk_nama: "DINAS KESEHATAN",
            },
          ],
        },
        detail: {
          status: "success",
          message: "Data pegawai ditemukan",
          result: {
            pegawai: {
              peg_nama: "SITI CONTOH",
              peg_nip: "209905172120011001",
              url_photo: "https://images.city.example/209905172120011001.jpg",
            },
            jabatan: [{ unit_name: "DINAS KESEHATAN", jab_name: "Pranata Komputer", status_menjabat: "y" }],
            kepangkatan: [{ golongan: "III/a", pangkat: "Penata Muda" }],
          },
        },
      },
    },
  },
};
