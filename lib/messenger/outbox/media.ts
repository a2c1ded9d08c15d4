import type postgres from "postgres";
import { ApiError } from "#lib/errors/api-error.ts";
import { overloaded } from "#lib/errors/table.ts";

const chunkBytes = 1024 * 1024;

/** Bytes of stored media: of one sender, and in all. */
export const maxBytesOfSender = 1024 ** 3;
const maxBytesInAll = 4 * 1024 ** 3;

export interface MediaInfo {
  readonly contentType: string;
  readonly fileName: string | undefined;
}

interface StoredMedia extends MediaInfo {
  readonly id: number;
  readonly sizeBytes: number;
}

async function* toChunks(source: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let parts: Uint8Array[] = [];
  let size = 0;
  for await (const piece of source) {
    for (let at = 0; at < piece.length; ) {
      const part = piece.subarray(at, at + chunkBytes - size);
      parts.push(part);
      size += part.length;
      at += part.length;
      if (size < chunkBytes) continue;
      yield Buffer.concat(parts);
      parts = [];
      size = 0;
    }
  }
  if (size > 0) yield Buffer.concat(parts);
}

/**
 * Stores a stream with one chunk in memory at a time. No message refers to it yet: `deleteMedia` deletes incomplete
 * ones.
 *
 * @returns its id and size.
 * @throws ApiError 503 while too many bytes are stored, of this sender or in all.
 */
export const storeMedia = async (
  sql: postgres.Sql,
  sender: string,
  { contentType, fileName }: MediaInfo,
  source: AsyncIterable<Uint8Array>,
): Promise<{ id: number; sizeBytes: number }> => {
  const [row] = await sql<{ id: number }[]>`
    insert into messaging.media (sender, content_type, file_name)
    select ${sender}, ${contentType}, ${fileName ?? null}
    from (
      select coalesce(sum(size_bytes), 0) as in_all, coalesce(sum(size_bytes) filter (where sender = ${sender}), 0) as own
      from messaging.media
    ) stored
    where own < ${maxBytesOfSender} and in_all < ${maxBytesInAll}
    returning id`;
  if (!row) throw new ApiError(overloaded);
  const { id } = row;
  let sizeBytes = 0;
  let part = 0;
  for await (const bytes of toChunks(source)) {
    await sql`insert into messaging.media_chunk (media_id, part, bytes) values (${id}, ${part}, ${bytes})`;
    sizeBytes += bytes.length;
    part += 1;
  }
  await sql`update messaging.media set size_bytes = ${sizeBytes} where id = ${id}`;
  return { id, sizeBytes };
};

/** @throws Error for media that were deleted. */
export const getMedia = async (sql: postgres.Sql, id: number): Promise<StoredMedia> => {
  const [row] = await sql<(Omit<StoredMedia, "fileName"> & { fileName: string | null })[]>`
    select id, content_type as "contentType", file_name as "fileName", size_bytes as "sizeBytes"
    from messaging.media where id = ${id}`;
  if (!row) throw new Error("the media was deleted");
  return { ...row, fileName: row.fileName ?? undefined };
};

export async function* readMedia(sql: postgres.Sql, id: number): AsyncGenerator<Buffer> {
  for (let part = 0; ; part++) {
    const [row] = await sql<{ bytes: Buffer }[]>`
      select bytes from messaging.media_chunk where media_id = ${id} and part = ${part}`;
    if (!row) return;
    yield row.bytes;
  }
}

/** Deletes media that no message will refer to. */
export const discardMedia = async (sql: postgres.Sql, id: number): Promise<void> => {
  await sql`delete from messaging.media where id = ${id}`;
};

/** Deletes the media of a message that will not be sent. */
export const detachMedia = async (sql: postgres.Sql, id: number): Promise<void> => {
  await sql`update messaging.message set media_id = null where media_id = ${id}`;
  await discardMedia(sql, id);
};

/** Detaches the media of messages that ended over an hour ago. @returns how many; there may be more. */
export const releaseMedia = async (sql: postgres.Sql, limit: number): Promise<number> => {
  const { count } = await sql`
    update messaging.message set media_id = null where id in (
      select id from messaging.message
      where media_id is not null and not is_open and changed_at < now() - interval '1 hour' limit ${limit})`;
  return count;
};

/** Deletes media that no message refers to. @returns how many; there may be more. */
export const deleteMedia = async (sql: postgres.Sql, limit: number): Promise<number> => {
  const { count } = await sql`
    delete from messaging.media where id in (
      select id from messaging.media m
      where created_at < now() - interval '1 hour'
        and not exists (select from messaging.message using_it where using_it.media_id = m.id) limit ${limit})`;
  return count;
};
