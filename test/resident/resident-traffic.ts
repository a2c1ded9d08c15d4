import type postgres from "postgres";
import { Batch } from "#lib/import/batch.ts";
import type { Random } from "../steps/random.ts";
import { oddName } from "./odd-names.ts";

/** What became of the transactions of a writer. */
export interface Traffic {
  committed: number;
  rolledBack: number;
  /** Of REPEATABLE READ: boundaries moved since they began (SQLSTATE 40001). */
  repeated: number;
}

const columns =
  "nik, family_card_number, name, mother_name, address, hamlet, village, district, city, created_at";

/** Rows that a writer adds before it only brings back what it deleted: what is checked stays small. */
const enoughRows = 120;

/** More rows than a statement notes each by itself. */
const many = 110;

/** A time between rows that are there, often one that many rows have, sometimes the newest or oldest of all. */
const someTime = (random: Random): string => {
  if (random.chance(30)) return "2025-06-01 08:00:00.5";
  const year = random.pick([1900 + random.below(120), 2025, 2025, 2025, 2026]);
  const pad = (value: number) => String(value).padStart(2, "0");
  return `${year}-${pad(1 + random.below(12))}-${pad(1 + random.below(28))} ${pad(random.below(24))}:00:00.${random.below(1000)}`;
};

/**
 * One writer of residents of his own: every kind of statement that may change rows, in transactions of several,
 * some of them rolled back. Writers share no row, so that whatever they wait for is not each other's.
 */
export class Writer {
  readonly traffic: Traffic = { committed: 0, rolledBack: 0, repeated: 0 };
  readonly #sql: postgres.Sql;
  readonly #random: Random;
  readonly #number: number;
  readonly #isolation: string;
  #rows = 0;

  constructor(
    sql: postgres.Sql,
    random: Random,
    number: number,
    isolation: "read committed" | "repeatable read",
  ) {
    this.#sql = sql;
    this.#random = random;
    this.#number = number;
    this.#isolation = isolation;
  }

  /** @throws Error for every failure but 40001: a deadlock is one. */
  async write(): Promise<void> {
    const roll = new Error("rolled back on purpose");
    try {
      await this.#sql.begin(`isolation level ${this.#isolation}`, async (sql) => {
        for (let i = 1 + this.#random.below(3); i > 0; i--) await this.#change(sql);
        if (this.#random.chance(15)) throw roll;
      });
      this.traffic.committed += 1;
    } catch (error) {
      if (error === roll) this.traffic.rolledBack += 1;
      else if ((error as { code?: string }).code === "40001") this.traffic.repeated += 1;
      else throw error;
    }
  }

  #nik(row: number): string {
    return `99${String(this.#number).padStart(2, "0")}${String(row).padStart(12, "0")}`;
  }

  /** As JSON, which a statement parses. The NIK is also in a column that is shown. */
  #newRows(count: number, from = this.#rows): string {
    const rows = Array.from({ length: count }, (_, i) => ({
      nik: this.#nik(from + i),
      name: oddName(this.#random),
      created_at: someTime(this.#random),
    }));
    this.#rows = Math.max(this.#rows, from + count);
    return JSON.stringify(rows);
  }

  async #change(sql: postgres.TransactionSql): Promise<void> {
    const random = this.#random;
    const some = this.#nik(random.below(this.#rows + 1));
    const mine = `nik between '${some}' and '${this.#nik(99_999_999)}'`;
    const rows = (json: string) => `
      select nik, '9999010101009999' as card, name, 'IBU' as mother, 'JL' as road, nik as hamlet, 'V' as village, 'K' as k, 'C' as c, created_at
      from json_to_recordset('${json.replaceAll("'", "''")}') x (nik text, name text, created_at timestamp)`;
    const upserted = () =>
      this.#newRows(1 + random.below(20), random.below(Math.min(this.#rows + 1, enoughRows)));
    const inserted = () => (this.#rows < enoughRows ? this.#newRows(1 + random.below(40)) : this.#newRows(1));
    const ofMany = [
      () => `insert into resident.resident (${columns}) ${rows(this.#newRows(many, random.below(9)))}
        on conflict (nik) do update set created_at = excluded.created_at`,
      () =>
        `delete from resident.resident where nik between '${this.#nik(0)}' and '${this.#nik(99_999_999)}'`,
    ];
    const ofFew = [
      () => `insert into resident.resident (${columns}) ${rows(inserted())}`,
      () => `insert into resident.resident (${columns}) ${rows(this.#newRows(1))}`,
      () => `insert into resident.resident (${columns}) ${rows(upserted())}
        on conflict (nik) do update set name = excluded.name, created_at = excluded.created_at`,
      () => `merge into resident.resident r using (${rows(upserted())}) n on r.nik = n.nik
        when matched and n.created_at > '2025-06-01' then delete
        when matched then update set name = n.name, created_at = n.created_at
        when not matched then insert (${columns}) values (n.nik, '9999010101009999', n.name, 'IBU', 'JL', n.nik,
          'V', 'K', 'C', n.created_at)`,
      () =>
        `update resident.resident set created_at = '${someTime(random)}' where ${mine} and id % 7 = ${random.below(7)}`,
      () =>
        `update resident.resident set name = name || ' SITI' where ${mine} and length(name) < 60 and id % 5 = 0`,
      () => `update resident.resident set address = address where ${mine} and id % 3 = 0`,
      () => `delete from resident.resident where ${mine} and id % 4 = ${random.below(4)}`,
    ];
    const makeStatement = random.pick(random.chance(4) ? ofMany : ofFew);
    await sql.unsafe(makeStatement());
  }

  /** COPY in its own transaction, because it cannot fail within one. */
  async copy(): Promise<void> {
    const rows = JSON.parse(this.#newRows(3)) as { nik: string; name: string; created_at: string }[];
    const batch = Batch.of(
      rows.map(({ nik, name, created_at }) => ({
        values: [nik, nik, name, "IBU", "JL", nik, "V", "K", "C", created_at],
      })),
    );
    const copy = await this.#sql.unsafe(`copy resident.resident (${columns}) from stdin`).writable();
    const finished = new Promise((resolve, reject) => copy.on("finish", resolve).on("error", reject));
    copy.end(Buffer.concat(batch.text));
    await finished;
    this.traffic.committed += 1;
  }
}
