const en = {
  heading: "Callbacks",
  columns: {
    address: "Address",
    sender: "Sender",
    state: "State",
    waiting: "Waiting",
    dead: "Dead letters",
  },
  accepts: "accepts",
  rejects: (status: number | string) => `rejected a change: ${status}`,
  fails: (count: number, status: number | string) => `failed ${count} times in a row: ${status}`,
  noAnswer: "no answer",
  disabled: "disabled: answered 410",
  since: "the oldest",
  unavailable: "Callbacks are unavailable.",
  none: "No sender has an address for callbacks.",
};

const id: typeof en = {
  heading: "Callback",
  columns: {
    address: "Alamat",
    sender: "Pengirim",
    state: "Status",
    waiting: "Menunggu",
    dead: "Dead letter",
  },
  accepts: "menerima",
  rejects: (status) => `menolak satu perubahan: ${status}`,
  fails: (count, status) => `gagal ${count} kali berturut-turut: ${status}`,
  noAnswer: "tidak menjawab",
  disabled: "dinonaktifkan: menjawab 410",
  since: "tertua",
  unavailable: "Data callback tidak tersedia.",
  none: "Tidak ada pengirim yang memiliki alamat callback.",
};

/** Where changes of messages' states are sent, and what waits. */
export const callbacks = { en, id };
