import type { AreaWords } from "../words.ts";

const token = {
  en: "The access token, a JWT: it goes into `Authorization: Bearer`.",
  id: "Token akses, sebuah JWT: dikirim di `Authorization: Bearer`.",
};
const loginFields = {
  token,
  expires_in: { en: "Life of the access token in seconds.", id: "Masa berlaku token akses dalam detik." },
  refresh_token: {
    en: "Good for one refresh, for 30 days after the login at most.",
    id: "Berlaku untuk satu kali refresh, paling lama 30 hari setelah login.",
  },
  scope: { en: "What the token opens, separated by spaces.", id: "Yang dibuka token ini, dipisah spasi." },
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
export const employeeWords: AreaWords = {
  "employee/login": {
    operationId: "login",
    summaryInIndonesian: "Menukar kredensial akun dengan token akses dan refresh token",
    text: {
      en: "Logs in with an account of the city's legacy system. Every refusal is the same 401, so that nobody learns which accounts exist. Five failures within 15 minutes for an account, or ten a minute from one address, are 429 until `Retry-After` has passed; no account is ever locked for good.",
      id: "Masuk dengan akun sistem lama kota. Setiap penolakan adalah 401 yang sama, agar tidak ada yang tahu akun mana yang ada. Lima kegagalan dalam 15 menit untuk satu akun, atau sepuluh per menit dari satu alamat, dijawab 429 sampai `Retry-After` berlalu; tidak ada akun yang dikunci selamanya.",
    },
    fields: {
      username: {
        text: {
          en: "A platform user or a NIP, as the account is configured.",
          id: "Pengguna platform atau NIP, sesuai pengaturan akun.",
        },
        example: "demo",
      },
      password: { text: { en: "The account's password.", id: "Kata sandi akun." }, example: "correct horse" },
    },
    examples: { login: { username: "demo", password: "correct horse" } },
    mistake: { where: "body", input: { username: "demo user", password: "" } },
    curl: `curl -s "{base}/v1/simpeg/auth/login" -H 'Content-Type: application/json' \\
  -d "{\\"username\\": \\"$USERNAME\\", \\"password\\": \\"$PASSWORD\\"}"`,
    reply: {
      name: "LoginToken",
      text: { en: "The session's first tokens.", id: "Token pertama dari sesi." },
      fields: loginFields,
      examples: { login },
    },
  },
  "employee/refresh": {
    operationId: "refresh",
    summaryInIndonesian: "Menukar refresh token dengan token akses dan refresh token berikutnya",
    text: {
      en: "OAuth clients understand answer and errors (RFC 6749); other fields, such as `client_id`, are ignored. Each refresh token is good once. Within 30 seconds it gives the same successor again, so that a lost answer or a second tab does no harm; used later, it ends the session, since two must hold it.",
      id: "Klien OAuth memahami jawaban dan kesalahannya (RFC 6749); isian lain, seperti `client_id`, diabaikan. Setiap refresh token berlaku satu kali. Dalam 30 detik ia memberi pengganti yang sama, sehingga jawaban yang hilang atau tab kedua tidak merugikan; dipakai setelah itu, sesi berakhir, karena berarti ada dua pemegangnya.",
    },
    fields: {
      grant_type: {
        text: form("refresh_token"),
        example: "refresh_token",
        schema: { type: "string", const: "refresh_token" },
      },
      refresh_token: {
        text: { en: "The one of the last login or refresh.", id: "Dari login atau refresh terakhir." },
        example: login.refresh_token,
      },
    },
    examples: { refresh: { grant_type: "refresh_token", refresh_token: login.refresh_token } },
    mistake: { where: "body", input: { grant_type: "refresh_token" } },
    curl: `curl -s "{base}/v1/simpeg/auth/refresh" -d grant_type=refresh_token -d refresh_token="$REFRESH_TOKEN"`,
    reply: {
      name: "RefreshedToken",
      text: {
        en: "The next tokens, in the names of login and in those of OAuth.",
        id: "Token berikutnya, dengan nama dari login dan nama dari OAuth.",
      },
      fields: {
        ...loginFields,
        access_token: { en: "The same as `token`.", id: "Sama dengan `token`." },
        token_type: form("Bearer"),
      },
      examples: { refreshed: { ...login, access_token: login.token, token_type: "Bearer" } },
    },
  },
  "employee/ticket": {
    operationId: "getTicket",
    summaryInIndonesian: "Menerbitkan tiket sesi untuk seorang pegawai",
    text: {
      en: "A ticket opens the profile of the employee whose NIP and passphrase are given. Guesses are limited like logins, by NIP and by the account that asks.",
      id: "Tiket membuka profil pegawai yang NIP dan frasa sandinya diberikan. Tebakan dibatasi seperti login, per NIP dan per akun yang meminta.",
    },
    fields: {
      user: { text: form("servicelogin"), example: "servicelogin" },
      username: {
        text: { en: "NIP of the employee, 18 digits.", id: "NIP pegawai, 18 angka." },
        example: "209905172120011001",
      },
      pass: {
        text: { en: "Passphrase of that NIP.", id: "Frasa sandi NIP tersebut." },
        example: "correct horse",
      },
    },
    mistake: { where: "query", input: { user: "servicelogin", username: "1234", pass: "p" } },
    curl: `curl -sG "{base}/v1/simpeg/tiket" -H "Authorization: Bearer $TOKEN" \\
  -d user=servicelogin -d username="$NIP" --data-urlencode pass="$PASS"`,
    reply: {
      name: "Ticket",
      text: { en: "The ticket.", id: "Tiketnya." },
      fields: { tiket: { en: "The session ticket.", id: "Tiket sesi." } },
      examples: { ticket: { tiket: "5f1d7a84c3e94b2f9c0a7b6d5e4f3a21" } },
    },
  },
  "employee/employees": {
    operationId: "readEmployees",
    summaryInIndonesian: "Mencari pegawai, atau dengan tiket mengambil profil seorang pegawai",
    text: {
      en: "The parameters choose one of two forms, which cannot be mixed.\n\n- **list**: without parameters everybody; `nip` and `nama` narrow, a blank one counts as absent. `pagetype`, `page` and `action` may be left out.\n- **detail**, a profile: `page=sso&action=getDataPegawai&tiket=…`, and nothing else.",
      id: "Parameter menentukan salah satu dari dua bentuk, yang tidak dapat dicampur.\n\n- **list**, daftar: tanpa parameter semua pegawai; `nip` dan `nama` menyaring, yang kosong dianggap tidak ada. `pagetype`, `page`, dan `action` boleh tidak dikirim.\n- **detail**, profil: `page=sso&action=getDataPegawai&tiket=…`, dan tidak ada yang lain.",
    },
    fields: {
      pagetype: { text: form("serviceauth"), example: "serviceauth" },
      page: {
        text: {
          en: "`Web-Service-WBS` of the list, `sso` of the detail.",
          id: "`Web-Service-WBS` untuk daftar, `sso` untuk detail.",
        },
        example: "sso",
      },
      action: {
        text: {
          en: "`getPegawai` of the list, `getDataPegawai` of the detail.",
          id: "`getPegawai` untuk daftar, `getDataPegawai` untuk detail.",
        },
        example: "getDataPegawai",
      },
      nip: { text: { en: "The whole NIP.", id: "NIP lengkap." }, example: "209905172120011001" },
      nama: { text: { en: "Part of the name.", id: "Bagian dari nama." }, example: "siti" },
      tiket: {
        text: { en: "From `GET /v1/simpeg/tiket`.", id: "Dari `GET /v1/simpeg/tiket`." },
        example: "5f1d7a84c3e94b2f9c0a7b6d5e4f3a21",
      },
    },
    examples: {
      list: { nama: "siti" },
      detail: { page: "sso", action: "getDataPegawai", tiket: "5f1d7a84c3e94b2f9c0a7b6d5e4f3a21" },
    },
    mistake: { where: "query", input: { page: "sso", action: "getDataPegawai" } },
    curl: `curl -s "{base}/v1/simpeg/pegawai?nama=siti" -H "Authorization: Bearer $TOKEN"
curl -s "{base}/v1/simpeg/pegawai?page=sso&action=getDataPegawai&tiket=$TICKET" -H "Authorization: Bearer $TOKEN"`,
    reply: {
      name: "Employees",
      text: {
        en: "The employees that match, none is an empty list; or the profile.",
        id: "Pegawai yang cocok, bila tidak ada berupa daftar kosong; atau profilnya.",
      },
      fields: {
        status: form("success"),
        message: { en: "What the employee system says.", id: "Keterangan dari sistem kepegawaian." },
        result: {
          en: "Of the list the summaries, of the profile the employee.",
          id: "Untuk daftar ringkasan pegawai, untuk profil datanya.",
        },
        "result.peg_nip_baru": { en: "NIP of the employee.", id: "NIP pegawai." },
        "result.peg_nama": name,
        "result.jab_name": position,
        "result.uk_nama": unit,
        "result.pegawai": { en: "The person.", id: "Orangnya." },
        "result.pegawai.peg_nama": name,
        "result.pegawai.peg_nip": { en: "NIP of the employee.", id: "NIP pegawai." },
        "result.pegawai.url_photo": { en: "Address of the photo.", id: "Alamat foto." },
        "result.jabatan": { en: "Positions, present and former.", id: "Jabatan, sekarang dan terdahulu." },
        "result.jabatan.unit_name": unit,
        "result.jabatan.jab_name": position,
        "result.jabatan.status_menjabat": {
          en: "`y` for a present position; other values pass as they are.",
          id: "`y` untuk jabatan sekarang; nilai lain diteruskan apa adanya.",
        },
        "result.kepangkatan": { en: "Ranks.", id: "Kepangkatan." },
        "result.kepangkatan.golongan": { en: "Rank group.", id: "Golongan." },
        "result.kepangkatan.pangkat": { en: "Rank name; may be blank.", id: "Nama pangkat; boleh kosong." },
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
