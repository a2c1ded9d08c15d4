import { brotliCompressSync, constants, gzipSync } from "node:zlib";

/** Brotli's quality 9 takes 1.5 s for the reference's scripts, 11 takes 15 s and saves a tenth. */
const params = { [constants.BROTLI_PARAM_QUALITY]: 9 };

/** The two stored forms of a text file: brotli for browsers, gzip for clients without it. */
const compress = (name: string, content: Buffer): readonly (readonly [string, Buffer])[] => [
  [`${name}.br`, brotliCompressSync(content, { params })],
  [`${name}.gz`, gzipSync(content, { level: 9 })],
];

/** Returns what is stored of a file of the site: pages get their addresses when they are read, pictures are compressed. */
export const storedForms = (name: string, content: Buffer): readonly (readonly [string, Buffer])[] =>
  /\.(js|css|svg)$/.test(name) ? compress(name, content) : [[name, content]];
