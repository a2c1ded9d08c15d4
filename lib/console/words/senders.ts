const en = {
  heading: "Senders",
  columns: {
    sender: "Sender",
    classes: "Classes",
    messages: "Messages today",
    bytes: "Bytes today",
    credentials: "Credentials",
  },
  every: "all",
  /** @param limit null for none. */
  used: (amount: string, limit: string | null) => (limit === null ? amount : `${amount} of ${limit}`),
  none: "none here that is active",
  active: (count: number) => `${count} active`,
  until: (time: string) => `the last until ${time}`,
  unavailable: "Senders are unavailable.",
  nobody: "No senders yet.",
};

const id: typeof en = {
  heading: "Pengirim",
  columns: {
    sender: "Pengirim",
    classes: "Kelas",
    messages: "Pesan hari ini",
    bytes: "Byte hari ini",
    credentials: "Kredensial",
  },
  every: "semua",
  used: (amount, limit) => (limit === null ? amount : `${amount} dari ${limit}`),
  none: "tidak ada yang aktif di sini",
  active: (count) => `${count} aktif`,
  until: (time) => `yang terakhir sampai ${time}`,
  unavailable: "Data pengirim tidak tersedia.",
  nobody: "Belum ada pengirim.",
};

/** Who may send, how much, and who has sent it today. */
export const senders = { en, id };
