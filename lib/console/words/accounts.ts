const en = {
  heading: "Accounts",
  hint: "Connection, linking and unlinking on all pages are those of the account that is shown.",
  columns: {
    account: "Account",
    channel: "Channel",
    pool: "Pool",
    state: "State",
    number: "Number",
    connection: "Connection",
    waiting: "Waiting",
    page: "All pages",
  },
  channels: { whatsapp: "WhatsApp", "cloud-api": "Cloud API", sms: "SMS" },
  states: { active: "active", spare: "spare", retired: "retired" },
  /** @param code the platform's, with which it holds logins. */
  held: (code: number) => `logins are held, code ${code}`,
  unlinked: "not linked",
  unchecked: "not usable yet",
  usable: "usable",
  linked: "linked",
  show: (name: string) => `Show ${name}`,
  shown: "shown",
};

const id: typeof en = {
  heading: "Akun",
  hint: "Koneksi, penautan, dan pelepasan tautan di semua halaman adalah milik akun yang ditampilkan.",
  columns: {
    account: "Akun",
    channel: "Kanal",
    pool: "Pool",
    state: "Keadaan",
    number: "Nomor",
    connection: "Koneksi",
    waiting: "Menunggu",
    page: "Semua halaman",
  },
  channels: { whatsapp: "WhatsApp", "cloud-api": "Cloud API", sms: "SMS" },
  states: { active: "aktif", spare: "cadangan", retired: "pensiun" },
  held: (code) => `login ditahan, kode ${code}`,
  unlinked: "belum ditautkan",
  unchecked: "belum dapat dipakai",
  usable: "dapat dipakai",
  linked: "ditautkan",
  show: (name) => `Tampilkan ${name}`,
  shown: "ditampilkan",
};

/** The city's accounts, of which the page shows one. */
export const accounts = { en, id };
